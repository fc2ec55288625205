"""Linear networks: determinants by permutations, losses in NumPy, closed forms."""

import itertools

import numpy as np
import pytest
import torch
from oracles.linear import SIZES, at, by_hand, data, leibniz, matrix, minimum, normal, rounding

from lmc_helpers.linear_nets import component, components, from_group, loss, path_in_minimum


@pytest.mark.parametrize(("layers", "h"), SIZES)
def test_the_loss_of_a_batch_is_that_of_each_network(layers, h):
    X, Y = data(h)
    weights = [normal(2, 3, h, h, seed=i) for i in range(layers)]
    batch = loss(weights, X, Y)
    assert batch.shape == (2, 3)
    for index in np.ndindex(2, 3):
        assert batch[index].item() == pytest.approx(by_hand(at(weights, *index), X, Y), rel=1e-12)


@pytest.mark.parametrize(("layers", "h"), SIZES)
@pytest.mark.parametrize("batch", [(), (3,), (2, 8)])
def test_group_elements_and_minima_are_inverse(layers, h, batch):
    X, Y = data(h)
    g = [normal(*batch, h, h, seed=i) + 3 * torch.eye(h, dtype=torch.float64) for i in range(layers - 1)]
    weights = from_group(g, X, Y)
    assert [W.shape for W in weights] == [(*batch, h, h)] * layers
    for index in np.ndindex(*batch):
        assert by_hand(at(weights, *index), X, Y) < 1e-20
    for there, back in zip(g, [weights[0] @ X, *weights[1:-1]], strict=True):
        torch.testing.assert_close(back, there, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("layers", "h"), [(2, 1), (3, 1), (2, 2), (3, 3), (5, 2), (4, 5)])
@pytest.mark.parametrize("seed", range(4))
def test_the_component_is_the_signs_of_the_determinants(layers, h, seed):
    X, Y = data(h, seed)
    weights = minimum(layers, X, Y, seed)
    signs = [np.sign(leibniz(g)) for g in (weights[0].numpy() @ X.numpy(), *(W.numpy() for W in weights[1:-1]))]
    assert component(weights, X) == tuple(signs)
    assert all(type(sign) is int for sign in component(weights, X))


def test_every_choice_of_signs_is_a_component():
    X, Y = data(3, seed=5)
    X[0] *= -np.sign(leibniz(X.numpy()))  # det X < 0 takes part
    found = set()
    for signs in itertools.product((1, -1), repeat=3):
        weights = minimum(4, X, Y, seed=2, signs=signs)
        assert component(weights, X) == signs
        found.add(signs)
    batch = [torch.stack([minimum(4, X, Y, 2, signs)[i] for signs in sorted(found)]) for i in range(4)]
    assert components(batch, X).tolist() == [list(signs) for signs in sorted(found)]
    I = torch.eye(3, dtype=torch.float64)  # noqa: E741
    assert component([1e-200 * I, -1e200 * I, I], I) == (1, -1)
    assert component([torch.diag(matrix([1e12, 1.0, -1.0])), I], I) == (-1,)
    X = torch.diag(matrix([1.0, 1.0, 1e-10]))
    assert component([torch.diag(matrix([1.0, 1.0, -1e-10])), I], X) == (-1,)


@pytest.mark.parametrize(("layers", "h"), [*SIZES, (5, 1), (3, 8), (4, 7), (5, 5)])
@pytest.mark.parametrize("steps", [2, 7, 8])
def test_a_path_stays_in_the_minimum_and_joins_its_ends(layers, h, steps):
    X, Y = data(h, seed=h)
    a = minimum(layers, X, Y, seed=1)
    b = minimum(layers, X, Y, seed=2, signs=component(a, X))
    path = path_in_minimum(a, b, X, Y, steps)
    assert [W.shape for W in path] == [(steps, h, h)] * layers
    bound = rounding(path, X)
    assert (by_hand(path, X, Y) <= bound).all() and bound <= 1e-8 * Y.square().sum()
    for t in range(steps):
        assert component(at(path, t), X) == component(a, X)
    for end, index in ((a, 0), (b, -1)):
        for there, W in zip(end, path, strict=True):
            torch.testing.assert_close(W[index], there, rtol=1e-8, atol=1e-8 * there.abs().max().item())


def test_a_path_is_continuous_and_its_factors_stay_as_regular_as_the_ends():
    X, Y = data(4, seed=3)
    a = minimum(3, X, Y, seed=4)
    b = minimum(3, X, Y, seed=5, signs=component(a, X))
    jumps = []
    for steps in (101, 201):
        path = path_in_minimum(a, b, X, Y, steps)
        jumps.append(max((W[1:] - W[:-1]).abs().max().item() for W in path))
        for g, ga, gb in zip((path[0] @ X, path[1]), (a[0] @ X, a[1]), (b[0] @ X, b[1]), strict=True):
            sigma = np.linalg.svd(g.numpy(), compute_uv=False)
            ends = np.linalg.svd(np.stack([ga.numpy(), gb.numpy()]), compute_uv=False)
            assert sigma.min() >= ends.min() * (1 - 1e-10) and sigma.max() <= ends.max() * (1 + 1e-10)
    assert jumps[1] < 0.6 * jumps[0]
