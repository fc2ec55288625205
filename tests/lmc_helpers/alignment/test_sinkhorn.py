"""Soft permutations against their definition and limits; Sinkhorn re-basin on planted permutations."""

import itertools

import pytest
import torch
from oracles.draws import normal as gaussian

from lmc_helpers.alignment.midpoint import _midpoint_losses, data_loss
from lmc_helpers.alignment.sinkhorn import _mixed, _sinkhorn, sinkhorn_rebasin
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import Axis, Symmetry, permute, random_permutations


@pytest.mark.parametrize("tau", [0.3, 1.0, 30.0])
def test_the_limit_is_doubly_stochastic_and_has_the_most_entropy(tau):
    """Rows and columns sum to 1, and P maximises ⟨P, X⟩ + τ H(P): no doubly stochastic step along a cycle gains."""
    X = gaussian(2, 5, 5, seed=1)
    P = _sinkhorn(X, tau, 2000)
    for dim in (-1, -2):
        torch.testing.assert_close(P.sum(dim), torch.ones(2, 5, dtype=torch.float64))
    value = (P * X).sum((-2, -1)) - tau * (P * P.log()).sum((-2, -1))
    for i, j, k, m in [(0, 1, 0, 1), (1, 4, 2, 3), (3, 2, 4, 0)]:
        for step in (1e-3, -1e-3):
            Q = P.clone()
            Q[:, i, k] += step * P.min()
            Q[:, j, m] += step * P.min()
            Q[:, i, m] -= step * P.min()
            Q[:, j, k] -= step * P.min()
            assert ((Q * X).sum((-2, -1)) - tau * (Q * Q.log()).sum((-2, -1)) <= value + 1e-12).all()


def test_cold_is_the_assignment_and_hot_is_flat():
    X = gaussian(4, 4, seed=2)
    best = max(itertools.permutations(range(4)), key=lambda p: sum(X[i, j] for i, j in enumerate(p)))
    cold = _sinkhorn(X, 0.02, 5000)
    torch.testing.assert_close(cold, torch.eye(4, dtype=torch.float64)[list(best)], rtol=0, atol=1e-3)
    torch.testing.assert_close(_sinkhorn(X, 1e9), torch.full((4, 4), 0.25, dtype=torch.float64))
    X = gaussian(3, 3, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(lambda X: _sinkhorn(X, 0.5, 30), X)


def test_mixing_by_permutation_matrices_permutes():
    symmetry = Symmetry({"h": (Axis("W", 0), Axis("b", 0), Axis("V", 1)), "k": (Axis("V", 0),)}, {"h": 4, "k": 3})
    params = {"W": gaussian(2, 4, 2, 2, seed=4), "b": gaussian(2, 4, seed=5), "V": gaussian(2, 3, 4, 3, 3, seed=6)}
    p = random_permutations(symmetry, 2, torch.Generator().manual_seed(1))
    mixed = _mixed(params, symmetry, {g: torch.eye(one.shape[1], dtype=torch.float64)[one] for g, one in p.items()})
    for name, value in permute(params, symmetry, p).items():
        torch.testing.assert_close(mixed[name], value)
    M = gaussian(2, 4, 4, seed=7)
    soft = _mixed(params, symmetry, {"h": M})
    torch.testing.assert_close(soft["V"], torch.einsum("nij,nojxy->noixy", M, params["V"]))
    torch.testing.assert_close(soft["b"], torch.einsum("nij,nj->ni", M, params["b"]))


def test_planted_permutations_are_found():
    model, x = MLP((6, 5, 4, 3)), gaussian(100, 6, seed=8)
    a = {name: 3 * value for name, value in model.initial([1], torch.float64).params.items()}
    symmetry, loss = model.symmetry(), data_loss(model, x, model.forward(a, x)[0].argmax(dim=1))
    planted = random_permutations(symmetry, 1, torch.Generator().manual_seed(1))
    b = {name: value + 1e-3 * gaussian(*value.shape) for name, value in permute(a, symmetry, planted).items()}
    found = sinkhorn_rebasin(a, b, symmetry, loss, steps=60)
    halfway = _midpoint_losses(a, b, symmetry, found.permutations, loss)
    torch.testing.assert_close(halfway, found.losses.min(dim=0).values)
    assert all(found.permutations[g].equal(p.argsort(dim=-1)) for g, p in planted.items())


def test_a_pair_does_not_depend_on_those_beside_it():
    model, x = MLP((4, 5, 3)), gaussian(20, 4, seed=9)
    y = torch.arange(20) % 3
    a, b = (model.initial(seeds, torch.float64).params for seeds in ([1, 2], [3, 4]))
    settings = {"steps": 12, "judge_every": 5}
    both = sinkhorn_rebasin(a, b, model.symmetry(), data_loss(model, x, y), **settings)
    ends = ({k: v[1:] for k, v in end.items()} for end in (a, b))
    alone = sinkhorn_rebasin(*ends, model.symmetry(), data_loss(model, x, y), **settings)
    assert both.losses.shape == (1 + 4, 2)
    torch.testing.assert_close(both.losses[:, 1:], alone.losses)
