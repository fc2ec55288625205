"""Activation matching against NumPy's correlations, brute force, and networks whose units are shuffled."""

import functools
import itertools

import numpy as np
import pytest
import torch
from oracles.draws import normal as gaussian

from lmc_helpers.alignment import activation_matching as module
from lmc_helpers.matching import _correlations, match_activations
from lmc_helpers.networks.mlp import MLP


def in_batches(za, zb, sizes):
    parts = zip(za.split(sizes, dim=1), zb.split(sizes, dim=1), strict=True)
    return functools.reduce(module.merged_moments, itertools.starmap(module.moments_of, parts))


@pytest.mark.parametrize("sizes", [[9], [1, 8], [4, 4, 1], [1] * 9])
def test_batches_give_the_correlations_of_the_whole(sizes):
    za, zb = gaussian(2, 9, 3, seed=1) + 100, gaussian(2, 9, 3, seed=2) ** 2
    whole = in_batches(za, zb, sizes)
    for n in range(2):
        expected = np.corrcoef(za[n].T.numpy(), zb[n].T.numpy())[:3, 3:]
        np.testing.assert_allclose(whole.correlations()[n], expected, atol=1e-12)
    np.testing.assert_allclose(whole.squares, 9 * np.var([za.numpy(), zb.numpy()], axis=2), rtol=1e-12)
    torch.testing.assert_close(whole.correlations(), _correlations(za, zb))


def test_dead_units_are_counted_and_small_variations_survive():
    za = gaussian(1, 50, 4, seed=4)
    zb = za[:, :, [3, 0, 1, 2]].clone()
    za[..., 1], zb[..., 3], zb[..., 0] = 0.0, 0.1, 7.3  # unit 1 of a, and units 3 (=2 of a) and 0 (=3 of a) of b
    for batches in ([50], [7, 20, 23]):
        found = module.match_moments({"h": in_batches(za, zb, batches)})
        assert found.dead["h"][:, 0].tolist() == [[False, True, False, False], [True, False, False, True]]
        assert found.gains["h"].isfinite().all() and (found.gains["h"][0, 1] == 0).all()
        assert found.permutations["h"][0, 0] == 1
        assert found.permutations["h"][0].sort().values.tolist() == [0, 1, 2, 3]
    found = module.match_moments({"h": module.moments_of(torch.zeros(1, 5, 3), torch.ones(1, 5, 3))})
    assert found.objective()["h"].item() == 0 and found.dead["h"].all()
    z = 1e6 + gaussian(1, 1000, 2, seed=3)
    np.testing.assert_allclose(in_batches(z, z, 100).squares[0, 0], 1000 * z[0].numpy().var(axis=0), rtol=1e-8)


@pytest.mark.parametrize("objective", module.OBJECTIVES)
def test_objectives_against_all_permutations(objective):
    """Optimal, identity, and mean and deviation of random ones, from all 120 permutations of 5 units."""
    za, zb = gaussian(1, 30, 5, seed=5).abs(), gaussian(1, 30, 5, seed=6).abs()
    S = np.corrcoef(za[0].T.numpy(), zb[0].T.numpy())[:5, 5:]
    product = za[0].numpy().T @ zb[0].numpy() / 30
    C = {"correlation": S, "product": product, "absolute": np.abs(S), "published": 1 - np.abs(S)}[objective]
    found = module.match_moments({"h": module.moments_of(za, zb)}, objective)
    values = np.array([np.mean([C[i, j] for i, j in enumerate(p)]) for p in itertools.permutations(range(5))])
    assert found.objective()["h"].item() == pytest.approx(values.max())
    assert found.identity()["h"].item() == pytest.approx(values[0])
    mean, deviation = found.random()["h"]
    assert mean.item() == pytest.approx(values.mean())
    assert deviation.item() == pytest.approx(values.std())
    some = {"h": torch.tensor([[4, 3, 2, 1, 0]])}
    assert found.objective(some)["h"].item() == pytest.approx(values[-1])


def test_published_matches_the_least_correlated_units():
    """Equal networks: every sensible objective gives the identity, the published one moves every unit."""
    z = gaussian(1, 200, 6, seed=7)
    both = {"h": module.moments_of(z, z)}
    for objective in ("correlation", "product", "absolute"):
        assert module.match_moments(both, objective).permutations["h"].tolist() == [list(range(6))]
    assert (module.match_moments(both, "published").permutations["h"] != torch.arange(6)).all()
    opposite = {"h": module.moments_of(z, -z)}
    assert module.match_moments(opposite, "absolute").permutations["h"].tolist() == [list(range(6))]
    assert (module.match_moments(opposite, "correlation").permutations["h"] != torch.arange(6)).all()


def test_activations_are_those_of_a_network_by_hand():
    model = MLP((4, 6, 5, 2))
    a, b = model.initial([1, 2], torch.float64), model.initial([3, 4], torch.float64)
    x = gaussian(40, 4, seed=9)
    found = module.activation_matching(a, b, x, batch=16)
    for n in range(2):
        hidden = []
        for nets in (a, b):
            h = [x]
            for k in range(2):
                h.append(torch.relu(h[-1] @ nets.params[f"{k}.weight"][n].T + nets.params[f"{k}.bias"][n]))
            hidden.append(h)
        for k in range(2):
            p = match_activations(hidden[0][k + 1], hidden[1][k + 1])
            S = _correlations(hidden[0][k + 1], hidden[1][k + 1])
            assert found.objective()[str(k)][n].item() == pytest.approx(S[torch.arange(len(p)), p].mean().item())
