"""Activations of stacked networks against torch.nn, matching against brute force, permutations against functions."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from lmc_helpers.matching import correlations, match_activations
from lmc_helpers.networks.stacked_mlp import Architecture, layer_inputs, permute_neurons


def networks(norm, bias=True, sizes=(3, 7, 5, 4, 2)):
    net = Architecture(sizes, activation="gelu", norm=norm, bias=bias)
    params = net.initial([1, 2, 3], torch.float64)
    draw = torch.Generator().manual_seed(5)
    for name in params:  # gains and shifts that are not 1 and 0
        params[name] = params[name] + 0.3 * torch.randn(params[name].shape, generator=draw, dtype=torch.float64)
    statistics = net.statistics(3, torch.float64)
    for value in statistics.values():
        value += 0.5 * torch.rand(value.shape, generator=draw, dtype=torch.float64)
    return net, params, statistics


def plain(net, params, statistics, i):
    """Network i as torch.nn modules, one list per hidden layer."""
    layers = []
    for k in range(len(net.sizes) - 2):
        linear = nn.Linear(net.sizes[k], net.sizes[k + 1], bias=net.bias).double()
        linear.weight.data = params[f"{k}.weight"][i]
        if net.bias:
            linear.bias.data = params[f"{k}.bias"][i]
        block = [linear]
        if net.norm != "none":
            norm = (nn.LayerNorm if net.norm == "layer" else nn.BatchNorm1d)(net.sizes[k + 1]).double().eval()
            norm.weight.data, norm.bias.data = params[f"{k}.gain"][i], params[f"{k}.shift"][i]
            if net.norm == "batch":
                norm.running_mean, norm.running_var = (
                    statistics[f"{k}.mean"][i],
                    statistics[f"{k}.variance"][i],
                )
            block.append(norm)
        layers.append(nn.Sequential(*block, nn.GELU()))
    return layers


@pytest.mark.parametrize(("norm", "bias"), [("none", True), ("none", False), ("layer", True), ("batch", True)])
def test_layer_inputs_are_those_of_torch(norm, bias):
    net, params, statistics = networks(norm, bias)
    x = torch.randn(3, 11, 3, generator=torch.Generator().manual_seed(1)).double()
    inputs = layer_inputs(net, params, statistics, x)
    assert len(inputs) == 4
    for i in range(3):
        h = x[i]
        assert torch.equal(inputs[0][i], h)
        for k, block in enumerate(plain(net, params, statistics, i)):
            h = block(h)
            assert torch.allclose(inputs[k + 1][i], h.detach(), atol=1e-12)


def test_correlations_are_numpys():
    draw = torch.Generator().manual_seed(2)
    a, b = torch.randn(2, 30, 4, generator=draw), torch.randn(2, 30, 3, generator=draw)
    S = correlations(a, b)
    for i in range(2):
        together = np.corrcoef(a[i].double().numpy().T, b[i].double().numpy().T)[:4, 4:]
        assert np.allclose(S[i], together, atol=1e-12)


def test_constant_neurons_have_correlation_0():
    a = torch.randn(20, 3, generator=torch.Generator().manual_seed(3))
    a[:, 1] = 0.1  # not a multiple of 2⁻ⁿ: its mean is rounded
    assert correlations(a, a)[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("m", [1, 2, 5])
def test_matching_is_the_best_permutation(m):
    draw = torch.Generator().manual_seed(m)
    a, b = torch.randn(3, 12, m, generator=draw), torch.randn(3, 12, m, generator=draw)
    found = match_activations(a, b)
    for i in range(3):
        S = np.corrcoef(a[i].double().numpy().T, b[i].double().numpy().T)[:m, m:]
        best = max(itertools.permutations(range(m)), key=lambda p: sum(S[r, p[r]] for r in range(m)))
        assert tuple(found[i].tolist()) == best


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
def test_permuted_networks_compute_the_same_function(norm):
    net, params, statistics = networks(norm)
    draw = torch.Generator().manual_seed(7)
    perms = {k: torch.stack([torch.randperm(net.sizes[k + 1], generator=draw) for _ in range(3)]) for k in range(3)}
    other, moved = permute_neurons(params, statistics, perms)
    x = torch.randn(9, 3, generator=draw).double()
    assert torch.allclose(net.forward(params, statistics, x), net.forward(other, moved, x), atol=1e-12)
    before, after = (layer_inputs(net, *end, x) for end in ((params, statistics), (other, moved)))
    for k in range(3):
        assert torch.allclose(after[k + 1], torch.take_along_dim(before[k + 1], perms[k][:, None], dim=2), atol=1e-12)
        assert torch.equal(match_activations(before[k + 1], after[k + 1]), perms[k].argsort(dim=1))


def test_errors():
    _, params, statistics = networks("none")
    with pytest.raises(ValueError, match="map 3 is no hidden one"):
        permute_neurons(params, statistics, {3: torch.zeros(3, 2, dtype=torch.long)})
    with pytest.raises(ValueError, match="allowed: permutations"):
        permute_neurons(params, statistics, {0: torch.zeros(3, 7, dtype=torch.long)})
    with pytest.raises(ValueError, match="equal shapes"):
        match_activations(torch.zeros(4, 2), torch.zeros(4, 3))
    with pytest.raises(ValueError, match="n >= 2"):
        match_activations(torch.zeros(1, 2), torch.zeros(1, 2))
