"""What chapter *swaps on images* computes, against independent oracles."""

import numpy as np
import pytest
import torch
from oracles.costs import swap
from torch import nn

from lmc_helpers._chapters import swaps_on_images as chapter
from lmc_helpers.identifiability import coherence, pca_basis, ridge_swaps
from lmc_helpers.identifiability.printed_networks import Training
from lmc_helpers.networks.mlp import MLP

SIZES = dict(dataset="digits", width=16, images=150, epochs=2, batch=64, seed=3)
PARAMETERS = chapter.Parameters(**SIZES, stages=[0, 1], pairs=3, ridge_networks=2)


def inputs(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("norm", ["layer", "batch"])
def test_moments_are_those_of_the_activations(norm):
    stack, x = MLP((4, 6, 5, 3), "gelu", norm).initial([1, 2]), 2 + inputs(50, 4)
    record = {}
    outputs = stack.forward(x, record)
    seen = [x, record["0"][1], record["1"][1], outputs[1]]
    for found, Z in zip(chapter.layer_moments(stack, 1, x), seen, strict=True):
        Z = Z.detach().double().numpy()
        np.testing.assert_allclose(found.mean, Z.mean(axis=0), atol=1e-6)
        np.testing.assert_allclose(found.covariance, np.cov(Z.T, bias=True), atol=1e-6)


def test_coherences_are_those_of_principal_components():
    stack, x = MLP((4, 6, 5, 3), "gelu", "layer").initial([1, 2]), inputs(50, 4)
    record = {}
    outputs = stack.forward(x, record).detach()
    found = chapter.coherences(stack, x)
    for n in range(2):
        seen = [x, record["0"][n], record["1"][n], outputs[n]]
        for place, Z in enumerate(seen):
            U = pca_basis(Z, 0.9, centred=True)  # by a singular value decomposition
            assert found.k[n, place] == U.shape[1] and found.d[place] == len(U)
            assert found.nu[n, place].item() == pytest.approx(coherence(U).item(), abs=1e-5)


def test_a_subspace_ends_where_the_share_is_reached_and_excess_is_0_or_1_at_both_ends():
    for shares, k in (([0.5, 0.4, 0.1], 2), ([0.5, 0.39, 0.11], 3), ([1.0, 0.0, 0.0], 1)):
        C = torch.diag(torch.tensor(shares, dtype=torch.float64))
        assert chapter.Moments(torch.zeros(3), C).basis.shape == (3, k)
    some = chapter.Coherences(
        torch.tensor([[0.25, 1.0, 1.0]]), torch.tensor([[1.0, 2.0, 3.0]]), torch.tensor([4, 4, 3])
    )
    assert some.excess.tolist() == [[0, 1, 0]] and some.relative.tolist() == [[1, 2, 1]]
    assert chapter.neighbours(7).flatten().tolist() == [0, 1, 2, 3, 4, 5]


def test_runs_are_those_of_the_chapter_on_asymmetric_mlps():
    every = Training(**SIZES, stages=[0, 1], pairs=3, sigmas=[5.0], shares=[0.5], sweep_pairs=2)
    shared = {run.digest for run in every.training_runs().values()}
    mine = PARAMETERS.runs()
    assert {run.digest for run in mine[:4]} <= shared and len({run.digest for run in mine}) == 8
    for layered, normed in zip(mine[:4], mine[4:], strict=True):
        assert normed.seeds == layered.seeds[:4:2] and normed.model.norm == "batch" and normed.keep == ()
        assert normed.schemes() == layered.schemes()
    firsts = [run.fixed()["1.weight"][0] for run in (mine[2], mine[6])]
    assert firsts[0][:2].equal(firsts[1])


def test_an_experiment_averages_over_pairs():
    some = chapter.Experiment(PARAMETERS, 100)
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


FEW = chapter.Parameters(**SIZES, stages=[0], pairs=2, ridge_networks=2)


@pytest.fixture(scope="module")
def experiment():
    return chapter.Experiment(FEW, 120)


@pytest.mark.parametrize("name", ["W 0", "W 1", "syre 1", "W 1, batch norm"])
def test_costs_are_those_of_least_weights(experiment, name):
    swaps = chapter.Swaps(experiment, name)
    for place, n in enumerate(swaps.networks):
        for layer in chapter.LAYERS:
            F, D, W = chapter.layer_parts(swaps.stack, n, layer)
            U = swaps.bases[place][layer]
            for i, j in ((0, 1), (5, 2)):
                expected = swap(F, D, W, U, i, j)
                assert swaps.matrices[layer][place, i, j].item() == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert swaps.costs(1)[0].tolist() == [swaps.matrices[1][0, 2 * i, 2 * i + 1].item() for i in range(8)]


def test_one_network_of_each_pair_and_costs_in_one_metric(experiment):
    assert list(chapter.Swaps(experiment, "W 1").networks) == [0, 2]
    assert list(chapter.Swaps(experiment, "W 1, batch norm").networks) == [0, 1]
    stack = experiment.result("W 1").stack
    F, D, W = chapter.layer_parts(stack, 2, 1)
    assert F.equal(stack.fixed["1.weight"][0][1].double()) and D.equal(stack.fixed["1.weight"][1][1].double())
    torch.testing.assert_close(F + D * W, stack.effective()["1.weight"][2].double())
    swaps = chapter.Swaps(experiment, "syre 1")
    for layer in chapter.LAYERS:
        for place, n in enumerate(swaps.networks):
            F, D, W = chapter.layer_parts(swaps.stack, n, layer)
            assert D.eq(1).all()
            found = chapter.one_metric_costs(F, W, swaps.bases[place][layer])
            torch.testing.assert_close(found, swaps.matrices[layer][place], rtol=1e-9, atol=1e-9)


def test_fixed_norms_are_those_of_torch():
    stack, x = MLP((4, 6, 5, 3), "gelu", "batch").initial([1, 2], torch.float64), 2 + torch.rand(50, 4).double()
    for name, value in stack.params.items():
        value += 0.1 * torch.randn(value.shape, generator=torch.Generator().manual_seed(len(name)))
    record = {}
    stack.forward(x, record)
    at = chapter.layer_moments(stack, 1, x)
    for layer, h in enumerate([x, record["0"][1]]):
        alpha, gamma = chapter.fixed_norm(stack, 1, layer, at[layer])
        seen = nn.functional.gelu(alpha * (h @ stack.params[f"{layer}.weight"][1].T) + gamma)
        torch.testing.assert_close(seen, record[str(layer)][1], rtol=0, atol=1e-9)


def test_ridge_costs_are_those_of_the_layer_with_its_norms_fixed(experiment):
    """Eq. (254) with what the layer reads and the norm of its own statistics; ridge_swaps has its own oracle."""
    swaps, layer, B, beta = chapter.Swaps(experiment, "W 1, batch norm"), 1, 20, 0.5
    F, D, W = chapter.layer_parts(swaps.stack, 0, layer)
    record = {}
    swaps.stack.ordinary([0]).forward(experiment.x, record)
    h, (alpha, gamma) = record["0"][0].double(), chapter.fixed_norm(swaps.stack, 0, layer, swaps.moments[0][layer])
    pair, gelu = torch.tensor([[0, 1]]), nn.functional.gelu
    for found, expected in zip(
        swaps.ridge(layer, 1, B, beta), ridge_swaps(F, D, W, h[:B], pair, beta, gelu, alpha, gamma), strict=True
    ):
        assert found[0, 0].item() == pytest.approx(expected.item(), rel=1e-5)
