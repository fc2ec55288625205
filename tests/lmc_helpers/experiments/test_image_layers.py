"""Moments and subspaces against the activations themselves, and which networks the runs share."""

import numpy as np
import pytest
import torch

from lmc_helpers.experiments import asymmetric_mlps
from lmc_helpers.experiments.image_layers import (
    Coherences,
    Experiment,
    Moments,
    coherences,
    layer_moments,
    principal_basis,
    runs,
)
from lmc_helpers.identifiability.input_subspace import coherence, pca_basis
from lmc_helpers.networks.mlp import MLP

SMALL = dict(dataset="digits", width=16, images=150, epochs=2, stages=[0, 1], pairs=3, ridge_networks=2, seed=3)


def inputs(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_moments_are_those_of_the_activations(norm):
    stack, x = MLP((4, 6, 5, 3), "gelu", norm).initial([1, 2]), 2 + inputs(50, 4)
    record = {}
    outputs = stack.forward(x, record)
    seen = [x, record["0"][1], record["1"][1], outputs[1]]
    for found, Z in zip(layer_moments(stack, 1, x), seen, strict=True):
        Z = Z.detach().double().numpy()
        np.testing.assert_allclose(found.mean, Z.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(found.covariance, np.cov(Z.T, bias=True), atol=1e-6)


def test_coherences_are_those_of_principal_components():
    stack, x = MLP((4, 6, 5, 3), "gelu", "layer").initial([1, 2]), inputs(50, 4)
    record = {}
    outputs = stack.forward(x, record).detach()
    found = coherences(stack, x)
    for n in range(2):
        seen = [x, record["0"][n], record["1"][n], outputs[n]]
        for place, Z in enumerate(seen):
            U = pca_basis(Z, 0.9, centred=True)  # by a singular value decomposition
            assert found.k[n, place] == U.shape[1] and found.d[place] == len(U)
            assert found.nu[n, place].item() == pytest.approx(coherence(U).item(), abs=1e-5)


def test_a_subspace_ends_where_the_share_is_reached():
    for shares, k in (([0.5, 0.4, 0.1], 2), ([0.5, 0.39, 0.11], 3), ([1.0, 0.0, 0.0], 1)):
        C = torch.diag(torch.tensor(shares, dtype=torch.float64))
        assert principal_basis(Moments(torch.zeros(3), C)).shape == (3, k)


def test_excess_and_relative_at_both_ends():
    some = Coherences(torch.tensor([[0.25, 1.0, 1.0]]), torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([4, 4, 3]))
    assert some.excess.tolist() == [[0, 1, 0]] and some.relative.tolist() == [[1, 2, 1]]


def test_runs_are_those_of_the_chapter_on_asymmetric_mlps():
    every = dict(SMALL, sigmas=[5.0], shares=[0.5], sweep_pairs=2)
    del every["ridge_networks"]
    shared = {run.digest for run in asymmetric_mlps.runs(**every)}
    mine = runs(**SMALL)
    assert {run.digest for run in mine[:4]} <= shared and len({run.digest for run in mine}) == 8
    for layered, normed in zip(mine[:4], mine[4:], strict=True):
        assert normed.seeds == layered.seeds[:4:2] and normed.model.norm == "batch" and normed.keep == ()
        assert normed.schemes() == layered.schemes()
    firsts = [run.fixed()["1.weight"][0] for run in (mine[2], mine[6])]
    assert firsts[0][:2].equal(firsts[1])


def test_an_experiment_averages_over_pairs(tmp_path, monkeypatch):
    monkeypatch.setenv("LMC_RUNS", str(tmp_path))
    some = Experiment(100, **SMALL)
    for epoch in (0, None):
        found = some.coherences("W 1", epoch)
        assert found.nu.shape == (6, 5) and found.nu[:, 0].unique().numel() == 1
        pairs = some.by_pair("W 1", epoch)
        assert pairs[1].tolist() == pytest.approx(found.nu[2:4].mean(dim=0).tolist())
        assert some.hidden("W 1", epoch).tolist() == pytest.approx(pairs[:, 1:4].mean(dim=1).tolist())
    assert not some.coherences("W 1", 0).nu.equal(some.coherences("W 1").nu)
    value, error = some.higher("W 1", None, "relative")
    mean = {name: some.hidden(name, None, "relative").mean().item() for name in ("W 1", "MLP", "W 0")}
    assert value == pytest.approx(mean["W 1"] / max(mean["MLP"], mean["W 0"])) and error > 0


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="ridge_networks = 4; allowed: an integer from 1 to pairs = 3"):
        runs(**(SMALL | {"ridge_networks": 4}))
