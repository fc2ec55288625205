"""Paths in the minimum of the residual network: NumPy checks them point by point, and the five parts one by one."""

import itertools
import math

import numpy as np
import pytest
import torch
from oracles.linear import EPS, at, data, leibniz, matrix, normal, residual_by_hand
from scipy import ndimage

from lmc_helpers._chapters import skip_connection as chapter
from lmc_helpers.linear_nets.walks import joined_classes


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("steps", [2, 5, 6])
def test_a_path_joins_any_two_minima_of_one_component(n, eps, steps):
    X, Y = data(n, seed=n)
    W1, W2 = normal(2, 24, n, n, seed=7)
    joined = set()
    found = chapter.residual_components(W1, W2, eps)
    for label in {tuple(c) for c in found.tolist()}:
        group = [i for i in range(24) if tuple(found[i].tolist()) == label]
        nets = chapter.residual_minimum(W1[group], W2[group], X, Y, eps)
        path = chapter.residual_path(at(nets, slice(None, -1)), at(nets, slice(1, None)), X, Y, eps, steps)
        assert {W.shape for W in path} == {(len(group) - 1, 5 * steps - 4, n, n)}
        assert (residual_by_hand(path, X, Y, eps) < 1e-13 * Y.square().sum().item()).all()
        assert (np.sign(leibniz(chapter.residual_map(*path[:2], eps).numpy())) == label[0]).all()
        for k in range(len(group) - 1):
            for end, i in ((0, k), (-1, k + 1)):
                for W, there in zip(path, nets, strict=True):
                    torch.testing.assert_close(W[k, end], there[i], rtol=1e-9, atol=1e-9 * there[i].abs().max().item())
        first = [np.sign(leibniz(W.numpy())) for W in W1[group]]
        joined |= {(label, *two) for two in itertools.pairwise(first)}
    crossed = {label for label, one, other in joined if one != other}
    assert crossed == {label for label in {tuple(c) for c in found.tolist()} if label[1] == 0}


@pytest.mark.parametrize(("n", "eps"), [(1, 0.7), (2, -1.3), (3, 0.7), (2, 0.0), (1, -1.3)])
def test_the_jumps_of_a_path_shrink_with_its_steps(n, eps):
    X, Y = data(n, seed=2)
    W1, W2 = normal(2, 12, n, n, seed=4)
    found = chapter.residual_components(W1, W2, eps)
    i, j = next(
        (i, j)
        for i, j in itertools.combinations(range(12), 2)
        if found[i].equal(found[j]) and (found[i, 1] != 0 or W1[i].det() * W1[j].det() < 0)
    )
    a, b = (chapter.residual_minimum(W1[k], W2[k], X, Y, eps) for k in (i, j))
    jumps = []
    for steps in (401, 801, 1601):
        path = chapter.residual_path(a, b, X, Y, eps, steps)
        jumps.append(max((W[1:] - W[:-1]).abs().max().item() for W in path))
    assert jumps[1] < 0.6 * jumps[0] and jumps[2] < 0.6 * jumps[1]


@pytest.mark.parametrize("eps", [2.0, -0.5])
def test_paths_from_singular_first_layers(eps):
    X, Y = data(3, seed=1)
    nil = torch.zeros(3, 3, dtype=torch.float64)
    one = torch.diag(matrix([1.0, 0.0, -2.0]))
    of_M = int(math.copysign(1, eps))
    other = torch.diag(matrix([1.0, -1.0, -1.0]))
    goal = chapter.residual_minimum(other, abs(eps) * torch.eye(3, dtype=torch.float64) / 4, X, Y, eps)
    for W1, W2 in ((nil, nil), (nil, one), (one, nil), (one, torch.diag(matrix([0.0, 5.0, 0.0])))):
        assert chapter.residual_components(W1, W2, eps).tolist() == [of_M**3, 0]
        path = chapter.residual_path(chapter.residual_minimum(W1, W2, X, Y, eps), goal, X, Y, eps, 9)
        assert chapter.residual_loss(path, X, Y, eps).max() < 1e-24 * Y.square().sum()


def test_one_dimension_crosses_only_where_the_skip_connection_carries_the_sign():
    one = matrix([[1.0]])
    a, b = (chapter.residual_minimum(s * one, s * one / 4, one, one, 1.0) for s in (1, -1))
    path = chapter.residual_path(a, b, one, one, 1.0, 9)
    middle = path[0].flatten().abs().argmin()
    assert path[0].flatten()[middle].item() == 0 and path[2].flatten()[middle].item() == pytest.approx(1)
    ends = ([matrix([[s]]), matrix([[-2.0 * s]]), matrix([[-1.0]])] for s in (1, -1))
    with pytest.raises(ValueError, match="different components"):
        chapter.residual_path(*ends, *[matrix([[1.0]])] * 2, 1.0, 3)


@pytest.mark.parametrize(("n", "h"), [(1, 1), (3, 3), (2, 3), (3, 1)])
@pytest.mark.parametrize("eps", EPS)
def test_the_misfit_is_the_root_of_the_loss_and_its_derivative_autograd(n, h, eps):
    X, Y = data(n, seed=n)
    points = normal(4, (2 * h + n) * n, seed=3)
    misfit, derivative = chapter.residual_misfit(X, Y, eps, h)
    for one, r, J in zip(points, misfit(points), derivative(points), strict=True):
        weights = one[: h * n].reshape(h, n), one[h * n : 2 * h * n].reshape(n, h), one[2 * h * n :].reshape(n, n)
        loss = float(residual_by_hand(weights, X, Y, eps))
        assert float(r.square().sum()) == pytest.approx(loss / float(Y.square().sum()), rel=1e-10)
        expected = torch.autograd.functional.jacobian(lambda v: misfit(v[None])[0], one)
        torch.testing.assert_close(J, expected)


@pytest.mark.parametrize(("n", "widths"), [(1, (1, 2)), (2, (1, 3))])
def test_the_misfit_of_two_blocks_is_that_of_numpy_and_its_derivative_autograd(n, widths):
    X, Y = data(n, seed=n)
    shapes = [shape for h in widths for shape in ((h, n), (n, h))] + [(n, n)]
    points = normal(3, sum(a * b for a, b in shapes), seed=3)
    misfit, derivative = chapter.two_blocks_misfit(X, Y, (0.7, -1.3), widths)
    for one, r, J in zip(points, misfit(points), derivative(points), strict=True):
        A, B, C, D, E = (p.view(s).numpy() for p, s in zip(one.split([a * b for a, b in shapes]), shapes, strict=True))
        expected = E @ (D @ C - 1.3 * np.eye(n)) @ (B @ A + 0.7 * np.eye(n)) @ X.numpy() - Y.numpy()
        np.testing.assert_allclose(r, (expected / np.linalg.norm(Y)).ravel(), rtol=1e-10)
        torch.testing.assert_close(J, torch.autograd.functional.jacobian(lambda v: misfit(v[None])[0], one))


@pytest.mark.parametrize(("widths", "number"), [((1, 1), 9), ((1, 2), 6)])
def test_the_components_of_two_blocks_multiply(widths, number):
    """n = 1: the pairs of branches with M_1, M_2 ≠ 0 on a grid, face by face; and walks from random minima."""
    ticks = np.linspace(-2.1, 2.1, 20 if widths == (1, 1) else 10)  # M is 0 nowhere on them
    grid = np.meshgrid(*[ticks] * (2 * sum(widths)), indexing="ij", sparse=True)
    one = 1 + sum(a * b for a, b in zip(grid[: widths[0]], grid[widths[0] : 2 * widths[0]], strict=True))
    rest = grid[2 * widths[0] :]
    other = sum(a * b for a, b in zip(rest[: widths[1]], rest[widths[1] :], strict=True)) - 1
    parts = [ndimage.label((s * one > 0) & (t * other > 0))[1] for s, t in itertools.product((1, -1), repeat=2)]
    assert sum(parts) == number
    W = 2 * normal(400, 2 * sum(widths), seed=7)
    first, second = W.split([2 * h for h in widths], dim=1)
    M = [(x[:, :h] * x[:, h:]).sum(dim=1) for x, h in ((first, widths[0]), (second, widths[1]))]
    last = 1 / ((M[0] + 1) * (M[1] - 1))
    near = (last.abs() < 2) & (last.abs() > 0.02)
    unit = matrix([[1.0]])
    points = torch.cat([W, last[:, None]], dim=1)[near]
    classes = joined_classes(chapter.two_blocks_misfit(unit, unit, (1.0, -1.0), widths), points, tries=10)
    assert len(classes.unique()) == number
