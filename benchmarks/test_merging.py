"""All ten pairs of the toy as one batch against one pair after another, for both minimisers."""

import itertools

import pytest
import torch

from lmc_helpers.device import fix_threads
from lmc_helpers.permutation_points.merging import descent_minimiser, merge_neurons, newton_minimiser
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.pair import PairChart

NET = MLP((2, 5, 1), "tanh")
PAIRS = list(itertools.combinations(range(5), 2))
DISTANCES = torch.logspace(0, -2, 20, dtype=torch.float64)
SETTINGS = {"descent": ("paper", descent_minimiser(100, 0.05)), "newton": ("centred", newton_minimiser(20, 1e-10))}


def problem():
    fix_threads(1)
    theta = NET.initial(1, seed=2, scale=2.5)[0]
    x = torch.randn(1000, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    return squared_loss(NET, x, NET.forward(theta, x)), theta


def batched(name):
    loss, theta = problem()
    chart, minimiser = SETTINGS[name]
    return merge_neurons(loss, PairChart(NET, 1, chart), theta, PAIRS, DISTANCES, minimiser).loss


def one_by_one(name):
    loss, theta = problem()
    chart, minimiser = SETTINGS[name]
    paths = [merge_neurons(loss, PairChart(NET, 1, chart), theta, [two], DISTANCES, minimiser) for two in PAIRS]
    return torch.cat([path.loss for path in paths], dim=1)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("method", [batched, one_by_one])
def test_ten_pairs(benchmark, name, method):
    benchmark.group = f"ten pairs, {name}"
    result = benchmark.pedantic(method, args=(name,), rounds=3)
    if name == "descent":
        torch.testing.assert_close(result, one_by_one(name), rtol=1e-8, atol=1e-14)
