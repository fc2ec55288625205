"""Stacked networks against nn.Module, one at a time: outputs, inputs of layers, permuted neurons, norms."""

import pytest
import torch
from oracles.ensembles import module
from torch import nn

from lmc_helpers.networks.stacked_mlp import Architecture, Networks, check_data, effective

DOUBLE = torch.float64


def perturbed(net, seeds=(1, 2, 3)):
    """Networks whose gains, shifts and statistics are not 1 and 0."""
    networks = net.initial(seeds, DOUBLE)
    draw = torch.Generator().manual_seed(5)
    for value in networks.params.values():
        value += 0.3 * torch.randn(value.shape, generator=draw, dtype=DOUBLE)
    for value in networks.statistics.values():
        value += 0.5 * torch.rand(value.shape, generator=draw, dtype=DOUBLE)
    return networks


def masks(net, layers, G, seed=1):
    draw = torch.Generator().manual_seed(seed)
    shapes = {k: (G, net.sizes[k + 1], net.sizes[k]) for k in layers}
    return {k: tuple(torch.randn(2, *shape, generator=draw, dtype=DOUBLE).unbind()) for k, shape in shapes.items()}


@pytest.mark.parametrize("activation", ["relu", "gelu", "tanh"])
@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
def test_forward_is_that_of_torch_modules(activation, norm):
    networks = perturbed(Architecture((3, 5, 4, 2), activation, norm), [1, 2])
    x = torch.randn(6, 3, dtype=DOUBLE, generator=torch.Generator().manual_seed(1))
    models = [module(networks, i)[0] for i in range(2)]
    tested = networks.forward(x)
    trained = networks.forward(x, training=True)
    for i, model in enumerate(models):
        torch.testing.assert_close(tested[i], model.eval()(x))
        torch.testing.assert_close(trained[i], model.train()(x))
        torch.testing.assert_close(networks.forward(x)[i], model.eval()(x))  # the running statistics have moved alike


@pytest.mark.parametrize("G", [1, 2, 4])
def test_forward_with_fixed_parts_is_that_of_torch_modules(G):
    net = Architecture((3, 5, 4, 1), norm="layer", output="ones", loss="mse")
    networks = net.initial([1, 2, 3, 4], DOUBLE, masks(net, (0, 1), G))
    x = torch.randn(4, 6, 3, dtype=DOUBLE, generator=torch.Generator().manual_seed(1))
    for some in (networks, networks.ordinary()):
        outputs = some.forward(x)
        for i in range(4):
            torch.testing.assert_close(outputs[i], module(networks, i)[0](x[i]))


def test_initial_weights_follow_the_law_of_torch():
    net = Architecture((50, 400, 3))
    torch.manual_seed(0)
    linear = torch.nn.Linear(50, 400)
    W = net.initial([1]).params["0.weight"][0]
    assert W.abs().max() <= 50**-0.5 and W.std().item() == pytest.approx(linear.weight.std().item(), rel=0.02)
    assert W.mean().item() == pytest.approx(0, abs=3 * W.std().item() / 20_000**0.5)
    assert net.initial([1, 2]).params["0.weight"][0].equal(W) and not net.initial([2]).params["0.weight"][0].equal(W)


@pytest.mark.parametrize("G", [1, 2, 6])
def test_fixed_parts_are_shared_by_neighbours(G):
    W = torch.randn(6, 3, 2)
    F, D = torch.randn(2, G, 3, 2).unbind()
    expected = torch.stack([F[i * G // 6] + D[i * G // 6] * W[i] for i in range(6)])
    torch.testing.assert_close(effective(W, F, D), expected)


def test_shapes_count_every_parameter():
    net = Architecture((3, 5, 4, 2), norm="layer")
    model, _ = module(net.initial([1], DOUBLE), 0)
    expected = sum(p.numel() for p in model.parameters())
    assert sum(torch.Size(shape).numel() for shape in net.shapes().values()) == expected
    assert list(Architecture((3, 5, 1), bias=False, output="ones").shapes()) == ["0.weight"]


@pytest.mark.parametrize(("norm", "bias"), [("none", True), ("none", False), ("layer", True), ("batch", True)])
def test_layer_inputs_are_those_of_torch(norm, bias):
    networks = perturbed(Architecture((3, 7, 5, 4, 2), activation="gelu", norm=norm, bias=bias))
    x = torch.randn(3, 11, 3, generator=torch.Generator().manual_seed(1)).double()
    inputs = networks.layer_inputs(x)
    assert len(inputs) == 4
    for i in range(3):
        model = module(networks, i)[0].eval()
        ends = [place + 1 for place, layer in enumerate(model) if isinstance(layer, nn.GELU)]
        for k, end in enumerate([0, *ends]):
            assert torch.allclose(inputs[k][i], model[:end](x[i]), atol=1e-12)


def test_layer_inputs_of_one_hidden_layer_and_of_fixed_outputs():
    x = torch.randn(4, 2, dtype=DOUBLE, generator=torch.Generator().manual_seed(1))
    assert len(Architecture((2, 3, 1), output="ones").initial([1]).layer_inputs(x)) == 1
    networks = Architecture((2, 3, 1)).initial([1], DOUBLE)
    hidden = torch.relu(x @ networks.params["0.weight"][0].T + networks.params["0.bias"][0])
    torch.testing.assert_close(networks.layer_inputs(x)[1][0], hidden)


@pytest.mark.parametrize("norm", ["none", "layer", "batch"])
def test_permuted_networks_compute_the_same_function(norm):
    networks = perturbed(Architecture((3, 7, 5, 4, 2), activation="gelu", norm=norm))
    draw = torch.Generator().manual_seed(7)
    sizes = networks.architecture.sizes
    perms = {k: torch.stack([torch.randperm(sizes[k + 1], generator=draw) for _ in range(3)]) for k in range(3)}
    other = networks.permuted(perms)
    x = torch.randn(9, 3, generator=draw).double()
    assert torch.allclose(networks.forward(x), other.forward(x), atol=1e-12)
    before, after = networks.layer_inputs(x), other.layer_inputs(x)
    for k in range(3):
        assert torch.allclose(after[k + 1], torch.take_along_dim(before[k + 1], perms[k][:, None], dim=2), atol=1e-12)
    half = Networks(other.architecture, {**other.params, "1.weight": networks.params["1.weight"]}, other.statistics)
    assert not torch.allclose(networks.forward(x), half.forward(x), atol=1e-3)


def test_ordinary_networks_have_the_effective_weights():
    net = Architecture((2, 3, 2), norm="batch")
    F, D = torch.randn(2, 2, 3, 2, generator=torch.Generator().manual_seed(1)).unbind()
    networks = net.initial([1, 2, 3, 4], fixed={0: (F, D)})
    networks.statistics["0.mean"] += torch.arange(4.0)[:, None]
    some = networks.ordinary([3, 0])
    assert not some.fixed and len(some) == 2
    torch.testing.assert_close(some.params["0.weight"][0], F[1] + D[1] * networks.params["0.weight"][3])
    assert some.params["1.weight"][1].equal(networks.params["1.weight"][0])
    assert some.statistics["0.mean"][0].equal(networks.statistics["0.mean"][3])


@pytest.mark.parametrize("bias", [True, False])
def test_norm_as_affine_is_that_of_torch(bias):
    networks = perturbed(Architecture((3, 7, 5, 2), norm="batch", bias=bias))
    h = torch.randn(3, 6, 7, dtype=DOUBLE, generator=torch.Generator().manual_seed(3))  # s = W x
    alpha, gamma = networks.norm_as_affine(0)
    for i in range(3):
        model = module(networks, i)[0].eval()
        expected = model[1](h[i] + model[0].bias if bias else h[i])
        torch.testing.assert_close(alpha[i] * h[i] + gamma[i], expected)


NET = Architecture((2, 3, 3))
NETS = NET.initial([1, 2])
X, Y = torch.ones(4, 2), torch.tensor([0, 1, 0, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Networks(NET, {}), "parameters have shapes"),
        (lambda: Networks(NET, {**NETS.params, "0.bias": torch.zeros(1, 3)}), "parameters have shapes"),
        (lambda: Networks(NET, NETS.params, {"0.mean": torch.zeros(2, 3)}), "statistics have shapes"),
        (lambda: Networks(Architecture((2, 3, 3), norm="batch"), NETS.params), "parameters have shapes"),
        (lambda: Networks(NET, NETS.params, {}, {2: (X, X)}), "F and D of layer 2"),
        (lambda: NET.initial([]), "0 networks"),
        (lambda: NET.initial([-1]), "seed = -1"),
        (lambda: NETS.permuted({1: torch.zeros(2, 3, dtype=torch.long)}), "map 1 is no hidden one"),
        (lambda: NETS.permuted({0: torch.zeros(2, 3, dtype=torch.long)}), "allowed: permutations"),
        (lambda: NET.initial([1], fixed={0: (torch.ones(1, 3, 2),) * 2}).permuted({}), "allowed: ordinary networks"),
        (lambda: NETS.norm_as_affine(0), "no batch norm"),
        (lambda: check_data(NET, X, Y, 0), "0 networks"),
        (lambda: check_data(NET, X[:, :1], Y, 2), r"inputs \(1, 4, 1\)"),
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
