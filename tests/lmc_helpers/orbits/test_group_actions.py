"""Group actions against the functions that they keep and the group law."""

import numpy as np
import pytest
import torch
from oracles.draws import normal

from lmc_helpers.orbits.curves import flatten
from lmc_helpers.orbits.group_actions import GeneralLinear, Rescaling


def leaky(z):
    return torch.nn.functional.leaky_relu(z, 0.2)


def weights(h, n, m, *batch):
    return normal(*batch, h, n, seed=1), normal(*batch, m, h, seed=2)


@pytest.mark.parametrize(("h", "n", "m", "batch"), [(1, 1, 1, ()), (3, 5, 2, (4,)), (6, 2, 1, (2, 3))])
def test_general_linear_keeps_the_product_and_obeys_the_group_law(h, n, m, batch):
    w, g, f = weights(h, n, m, *batch), normal(*batch, h, h, seed=3), normal(*batch, h, h, seed=4)
    act = GeneralLinear().act
    moved = act(g, w)
    torch.testing.assert_close(moved[1] @ moved[0], w[1] @ w[0], rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(flatten(act(f, moved)), flatten(act(f @ g, w)), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(flatten(act(torch.eye(h).double(), w)), flatten(w))


@pytest.mark.parametrize(("degree", "sigma"), [(1.0, leaky), (2.0, lambda z: torch.relu(z) ** 2), (1.0, torch.relu)])
def test_rescaling_keeps_the_outputs_of_a_homogeneous_network(degree, sigma):
    w, X, g = weights(4, 3, 2, 5), normal(3, 6, seed=5), normal(5, 4, seed=6).exp()
    moved = Rescaling(degree).act(g, w)
    assert not torch.allclose(moved[0], w[0])
    torch.testing.assert_close(moved[1] @ sigma(moved[0] @ X), w[1] @ sigma(w[0] @ X))
    wrong = Rescaling(degree + 1).act(g, w)
    assert not torch.allclose(wrong[1] @ sigma(wrong[0] @ X), w[1] @ sigma(w[0] @ X), rtol=1e-2)


@pytest.mark.parametrize(("action", "shape"), [(GeneralLinear(), (4, 4)), (Rescaling(2.0), (4,))])
def test_generator_is_the_derivative_at_the_identity(action, shape):
    w, M, eps = weights(4, 3, 2), normal(*shape, seed=7), 1e-5
    ends = [flatten(action.act(action.exp(M, t), w)) for t in (eps, -eps)]
    torch.testing.assert_close(flatten(action.generator(M, w)), (ends[0] - ends[1]) / (2 * eps), rtol=1e-8, atol=1e-8)


def test_exp_of_a_grid_is_the_series():
    M = normal(2, 3, 3, seed=8)
    grid = GeneralLinear().exp(M, torch.tensor([0.0, 0.5]).double())
    series = sum(torch.linalg.matrix_power(M / 2, j) / float(np.prod(np.arange(1, j + 1))) for j in range(40))
    torch.testing.assert_close(grid[:, 0], torch.eye(3).double().expand(2, 3, 3))
    torch.testing.assert_close(grid[:, 1], series)
    assert Rescaling().exp(normal(2, 3), torch.arange(5).double()).shape == (2, 5, 3)
