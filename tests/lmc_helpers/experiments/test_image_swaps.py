"""Swap costs against brute force, fixed norms against torch's batch norm, ridge costs against a descent."""

import pytest
import torch
from torch import nn

from lmc_helpers.experiments.image_layers import Experiment, layer_moments
from lmc_helpers.experiments.image_swaps import (
    LAYERS,
    Swaps,
    fixed_norm,
    layer_parts,
    neighbours,
    one_metric_costs,
)
from lmc_helpers.networks.mlp import MLP

SMALL = dict(dataset="digits", width=16, images=150, epochs=2, stages=[0], pairs=2, ridge_networks=2, seed=3)


@pytest.fixture(scope="module")
def experiment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LMC_RUNS", str(tmp_path_factory.mktemp("runs")))
        some = Experiment(120, **SMALL)
        for name in some.runs:
            some.result(name)
        yield some


def least_norm(f, d, a, U):
    """The least squared norm of w with Uᵀ(f + d ⊙ w) = a, by a least-squares solver."""
    M = U.T * d
    w = torch.linalg.lstsq(M, a - U.T @ f, driver="gelsd").solution
    assert torch.allclose(M @ w, a - U.T @ f, atol=1e-9)
    return w.square().sum()


@pytest.mark.parametrize("name", ["W 0", "W 1", "syre 1", "W 1, batch norm"])
def test_costs_are_those_of_least_weights(experiment, name):
    swaps = Swaps(experiment, name)
    for place, n in enumerate(swaps.networks):
        for layer in LAYERS:
            F, D, W = layer_parts(swaps.stack, n, layer)
            U = swaps.bases[place][layer]
            a = (F + D * W) @ U
            for i, j in ((0, 1), (5, 2)):
                costs = [least_norm(F[p], D[p], a[q], U) for p, q in ((i, j), (j, i), (i, i), (j, j))]
                expected = costs[0] + costs[1] - costs[2] - costs[3]
                assert swaps.matrices[layer][place, i, j].item() == pytest.approx(expected.item(), rel=1e-6, abs=1e-8)
    assert swaps.costs(1)[0].tolist() == [swaps.matrices[1][0, 2 * i, 2 * i + 1].item() for i in range(8)]


def test_one_network_of_each_pair(experiment):
    assert list(Swaps(experiment, "W 1").networks) == [0, 2]
    assert list(Swaps(experiment, "W 1, batch norm").networks) == [0, 1]
    stack = experiment.result("W 1").stack
    F, D, W = layer_parts(stack, 2, 1)
    assert F.equal(stack.fixed["1.weight"][0][1].double()) and D.equal(stack.fixed["1.weight"][1][1].double())
    torch.testing.assert_close(F + D * W, stack.effective()["1.weight"][2].double())


def test_symmetric_layers_cost_nothing(experiment):
    for matrix in Swaps(experiment, "MLP").matrices:
        assert matrix.abs().max() < 1e-9


def test_one_metric(experiment):
    swaps = Swaps(experiment, "syre 1")
    for layer in LAYERS:
        for place, n in enumerate(swaps.networks):
            F, D, W = layer_parts(swaps.stack, n, layer)
            assert D.eq(1).all()
            found = one_metric_costs(F, W, swaps.bases[place][layer])
            torch.testing.assert_close(found, swaps.matrices[layer][place], rtol=1e-9, atol=1e-9)


def test_fixed_norms_are_those_of_torch():
    stack, x = MLP((4, 6, 5, 3), "gelu", "batch").initial([1, 2], torch.float64), 2 + torch.rand(50, 4).double()
    for name, value in stack.params.items():
        value += 0.1 * torch.randn(value.shape, generator=torch.Generator().manual_seed(len(name)))
    record = {}
    stack.forward(x, record)
    at = layer_moments(stack, 1, x)
    for layer, h in enumerate([x, record["0"][1]]):
        alpha, gamma = fixed_norm(stack, 1, layer, at[layer])
        seen = nn.functional.gelu(alpha * (h @ stack.params[f"{layer}.weight"][1].T) + gamma)
        torch.testing.assert_close(seen, record[str(layer)][1], rtol=0, atol=1e-9)


def test_ridge_costs_are_those_of_a_descent(experiment):
    """T_01 + T_10 − T_00 − T_11 by minimising eq. (254) over w itself."""
    swaps = Swaps(experiment, "W 1, batch norm")
    layer, B, beta = 1, 20, 0.5
    found, part = (both[0, 0].item() for both in swaps.ridge(layer, 1, B, beta))
    F, D, W = layer_parts(swaps.stack, 0, layer)
    record = {}
    swaps.stack.ordinary([0]).forward(experiment.x, record)
    h, (alpha, gamma) = record["0"][0].double(), fixed_norm(swaps.stack, 0, layer, swaps.moments[0][layer])

    def unit(i, w, x):
        return nn.functional.gelu(alpha[i] * (x @ (F[i] + D[i] * w)) + gamma[i])

    def least(i, j, start):
        w = start.clone().requires_grad_()
        optimiser = torch.optim.LBFGS([w], max_iter=500, tolerance_grad=1e-9, line_search_fn="strong_wolfe")

        def closure():
            optimiser.zero_grad()
            miss = unit(j, W[j], h[:B]) - unit(i, w, h[:B])
            value = miss.square().mean() / beta + w.square().sum()
            value.backward()
            return value

        optimiser.step(closure)
        return closure().item(), w.detach().square().sum().item()

    starts = torch.randn(6, W.shape[1], dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    values = [
        min(least(i, j, start) for start in (W[i], *starts)) for i, j in ((0, 1), (1, 0), (0, 0), (1, 1))
    ]  # the objective is not convex
    (there, norm_there), (back, norm_back), (own, norm_own), (other, norm_other) = values
    assert found == pytest.approx(there + back - own - other, rel=1e-4)
    assert part == pytest.approx(norm_there + norm_back - norm_own - norm_other, rel=1e-2)


def test_neighbours_are_disjoint():
    assert neighbours(7).flatten().tolist() == [0, 1, 2, 3, 4, 5]
