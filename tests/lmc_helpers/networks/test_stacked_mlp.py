"""Stacked networks against nn.Module, one at a time."""

import pytest
import torch
from oracles.ensembles import module

from lmc_helpers.networks.stacked_mlp import Architecture, effective

DOUBLE = torch.float64


@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
def test_forward_is_that_of_torch_modules(activation, norm):
    net = Architecture((3, 5, 4, 2), activation, norm)
    params = net.initial([1, 2], DOUBLE)
    params = {name: value + 0.1 * torch.randn_like(value) for name, value in params.items()}
    statistics = net.statistics(2, DOUBLE)
    x = torch.randn(6, 3, dtype=DOUBLE)
    trained = net.forward(params, statistics, x, training=True)
    tested = net.forward(params, statistics, x)
    for i in range(2):
        model, _ = module(net, params, i)
        torch.testing.assert_close(trained[i], model(x))
        torch.testing.assert_close(tested[i], model.eval()(x))


def test_initial_weights_follow_the_law_of_torch():
    net = Architecture((50, 400, 3))
    torch.manual_seed(0)
    linear = torch.nn.Linear(50, 400)
    W = net.initial([1])["0.weight"][0]
    assert W.abs().max() <= 50**-0.5 and W.std().item() == pytest.approx(linear.weight.std().item(), rel=0.02)
    assert W.mean().item() == pytest.approx(0, abs=3 * W.std().item() / 20_000**0.5)
    assert net.initial([1, 2])["0.weight"][0].equal(W) and not net.initial([2])["0.weight"][0].equal(W)


@pytest.mark.parametrize("G", [1, 2, 6])
def test_fixed_parts_are_shared_by_neighbours(G):
    W = torch.randn(6, 3, 2)
    F, D = torch.randn(2, G, 3, 2).unbind()
    expected = torch.stack([F[i * G // 6] + D[i * G // 6] * W[i] for i in range(6)])
    torch.testing.assert_close(effective(W, F, D), expected)


def test_shapes_count_every_parameter():
    net = Architecture((3, 5, 4, 2), norm="layer")
    model, _ = module(net, net.initial([1], DOUBLE), 0)
    expected = sum(p.numel() for p in model.parameters())
    assert sum(torch.Size(shape).numel() for shape in net.shapes().values()) == expected
    assert list(Architecture((3, 5, 1), bias=False, output="ones").shapes()) == ["0.weight"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Architecture((2, 3)), r"sizes = \(2, 3\)"),
        (lambda: Architecture((2, 0, 3)), r"sizes = \(2, 0, 3\)"),
        (lambda: Architecture([2, 3, 3]), r"sizes = \[2, 3, 3\]"),
        (lambda: Architecture((2, 3, 3), activation="swish"), "activation = 'swish' is unknown"),
        (lambda: Architecture((2, 3, 3), norm="group"), "norm = 'group'"),
        (lambda: Architecture((2, 3, 3), output="zeros"), "output = 'zeros'"),
        (lambda: Architecture((2, 3, 3), loss="hinge"), "loss = 'hinge'"),
        (lambda: Architecture((2, 3, 3), output="ones"), "output weights fixed to 1 with 3 outputs"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
