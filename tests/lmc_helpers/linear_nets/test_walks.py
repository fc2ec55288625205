"""Walks that see no sign, against signs by Leibniz, derivatives by autograd and plain gradient descent."""

import itertools

import numpy as np
import pytest
import torch
from oracles.draws import normal
from oracles.linear import by_hand, data, leibniz, matrix, minimum

from lmc_helpers.linear_nets.walks import joined, joined_classes, product_misfit, widths_misfit


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (2, 3), (3, 2)])
def test_classes_of_walks_are_those_of_signs(layers, h):
    X, Y = data(h, seed=3)
    signs = list(itertools.product((1, -1), repeat=layers - 1)) * 3
    nets = [minimum(layers, X, Y, seed=s, signs=c) for s, c in enumerate(signs)]
    classes = joined_classes(product_misfit(layers, X, Y), rows(nets), at_once=3).tolist()
    assert layers > 2 or classes == joined_classes(product_misfit(layers, X, Y), rows(nets), at_once=1).tolist()
    assert len(set(zip(classes, signs, strict=True))) == len(set(classes)) == 2 ** (layers - 1)


def test_a_walk_may_lead_through_a_long_way_round():
    """Two matrices that differ by a half turn, and a reflection, which no walk leads to."""
    eye = torch.eye(2, dtype=torch.float64)
    turn, mirror = matrix([[-1.0, 0.3], [0.0, -1.0]]), matrix([[1.0, 0.0], [0.0, -1.0]])
    start = rows([[eye, eye]] * 2)
    goals = rows([[g, torch.linalg.inv(g)] for g in (turn, mirror)])
    assert joined(product_misfit(2, eye, eye), start, goals).tolist() == [True, False]


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 2), (4, 3)])
def test_the_misfit_and_its_derivative_are_those_of_the_product(layers, h):
    X, Y = data(h, seed=2)
    points = normal(3, layers * h * h, seed=5)
    r, derivative = product_misfit(layers, X, Y)

    def by_loop(one):
        product = X
        for W in one.reshape(layers, h, h):
            product = W @ product
        return ((product - Y) / torch.linalg.matrix_norm(Y)).flatten()

    for one, value, J in zip(points, r(points), derivative(points), strict=True):
        torch.testing.assert_close(value, by_loop(one))
        torch.testing.assert_close(J, torch.autograd.functional.jacobian(by_loop, one))


def rows(nets):
    return torch.stack([torch.cat([W.flatten() for W in net]) for net in nets])


@pytest.mark.parametrize("widths", [(2, 3, 2), (1, 1, 2, 1), (2, 3, 2, 4, 2)])
def test_the_misfit_of_other_widths_is_that_of_numpy_and_its_derivative_autograd(widths):
    X, Y = data(widths[0], seed=2)
    shapes = [(b, a) for a, b in itertools.pairwise(widths)]
    sizes = [a * b for a, b in shapes]
    points = normal(3, sum(sizes), seed=5)
    r, derivative = widths_misfit(list(widths), X, Y)
    for one, value, J in zip(points, r(points), derivative(points), strict=True):
        weights = [part.view(shape) for part, shape in zip(one.split(sizes), shapes, strict=True)]
        assert value.square().sum().item() == pytest.approx(by_hand(weights, X, Y) / Y.square().sum().item())
        torch.testing.assert_close(J, torch.autograd.functional.jacobian(lambda v: r(v[None])[0], one))


@pytest.mark.parametrize("widths", [(2, 3, 2), (2, 2, 3, 2), (1, 1, 3, 1, 1), (2, 3, 4, 2)])
def test_walks_tell_apart_the_signs_at_the_bottlenecks_and_no_others(widths):
    n, rng = widths[0], np.random.default_rng(4)
    X, Y = data(n, seed=3)
    nets, signs = [], []
    for _ in range(32):
        A, weights, sign = X.numpy(), [], []
        for h in widths[1:-1]:
            after = rng.normal(size=(h, n))
            weights.append(after @ np.linalg.pinv(A))
            weights[-1] += rng.normal(size=weights[-1].shape) @ (np.eye(len(A)) - A @ np.linalg.pinv(A)) / 2
            A = after
            sign += [np.sign(leibniz(A))] if h == n else []
        nets.append([torch.from_numpy(W) for W in (*weights, Y.numpy() @ np.linalg.pinv(A))])
        signs.append(tuple(sign))
    classes = joined_classes(widths_misfit(list(widths), X, Y), rows(nets)).tolist()
    assert len(set(zip(classes, signs, strict=True))) == len(set(classes)) == 2 ** widths[1:-1].count(n)


def test_plain_gradient_descent_ends_in_each_component_of_a_network_with_two_bottlenecks_alike():
    """W_4 W_3 W_2 W_1 = 1 with 1, 2 and 1 hidden neurons: four components, by the signs of W_1 and W_3 W_2 W_1."""
    rng = np.random.default_rng(0)
    a, d = rng.normal(size=(2, 4000))
    b, c = rng.normal(size=(2, 2, 4000))
    for _ in range(20_000):
        middle = (b * c).sum(axis=0)
        miss = a * middle * d - 1
        step = 0.01 * miss / (1 + a**2 + d**2 + (b**2 + c**2).sum(axis=0))
        a, b, c, d = a - step * middle * d, b - step * a * c * d, c - step * a * b * d, d - step * a * middle
        if (abs(miss) < 0.5).all():
            break
    counts = np.bincount(2 * (a > 0) + (a * (b * c).sum(axis=0) > 0), weights=abs(miss) < 0.5)
    assert counts.sum() > 3900
    assert abs(counts / counts.sum() - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / 4000)
