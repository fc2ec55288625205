"""MLPs against nn.Sequential, the papers' sizes and laws of initial weights."""

import pytest
import torch
from oracles.networks import ACTIVATIONS, DOUBLE, fill, numbers, perceptron, perturbed, weights_of
from torch import nn

from lmc_helpers.identifiability import WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Axis, random_permutations, verify


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm", ["none", "layer", "batch"])  # torch's modules are in training, too
@pytest.mark.parametrize("bias", [True, False])
def test_mlp_is_that_of_torch(activation, norm, bias):
    model = MLP((5, 7, 6, 8, 3), activation, norm, bias)
    stack, x, record = perturbed(model), numbers(4, 5), {}
    outputs = stack.forward(x, record)
    for i in range(3):
        net, _ = perceptron(stack, i)
        torch.testing.assert_close(outputs[i], net(x), rtol=0, atol=1e-12)
        ends = [place + 1 for place, layer in enumerate(net) if isinstance(layer, ACTIVATIONS[activation])]
        for k, end in enumerate(ends):
            torch.testing.assert_close(record[str(k)][i], net[:end](x), rtol=0, atol=1e-12)
    assert list(record) == ["0", "1", "2"]


def test_batch_norm_knows_each_network_s_own_inputs():
    stack = perturbed(MLP((5, 7, 3), "gelu", "batch"))
    x = numbers(3, 6, 5)
    outputs = stack.forward(x)
    for i in range(3):
        torch.testing.assert_close(stack.ordinary([i]).forward(x[i])[0], outputs[i], rtol=0, atol=1e-12)
    found = verify(stack.model)
    assert max(found.permuted.values()) < 1e-10
    assert {axis.name for axis, change in found.left_out.items() if change < 1e-6} == {"0.bias"}  # the norm takes it


@pytest.mark.parametrize("bias", [True, False])
def test_running_statistics_are_those_of_torch(bias):
    model = MLP((5, 7, 6, 3), "gelu", "running", bias)
    stack, x, record = perturbed(model), numbers(4, 5), {}
    nets = [perceptron(stack, i) for i in range(3)]
    tested = stack.forward(x, record)
    trained = model._outputs(stack.params, x[None], training=True)
    for i, (net, tensors) in enumerate(nets):
        torch.testing.assert_close(tested[i], net.eval()(x), rtol=0, atol=1e-12)
        torch.testing.assert_close(record["0"][i], net[:3](x), rtol=0, atol=1e-12)
        torch.testing.assert_close(trained[i], net.train()(x), rtol=0, atol=1e-12)
        for name in model.statistics():
            torch.testing.assert_close(stack.params[name][i], tensors[name], rtol=0, atol=1e-12)
    assert model.statistics() == {"0.mean", "0.variance", "1.mean", "1.variance"}
    p = random_permutations(model.symmetry(), 3, torch.Generator().manual_seed(1))
    moved, before = stack.permuted(p), stack.forward(x)
    torch.testing.assert_close(moved.forward(x), before, rtol=0, atol=1e-12)
    for name in model.statistics():
        half = Stack(model, moved.params | {name: stack.params[name]})
        assert not torch.allclose(half.forward(x), before, atol=1e-6)


class Gate(nn.Module):
    """h ↦ h_i / (1 + exp(−Σ_j G_ij h_j))."""

    def __init__(self, m):
        super().__init__()
        self.register_buffer("G", torch.zeros(m, m, dtype=DOUBLE))

    def forward(self, h):
        return h / (1 + (-(self.G * h[..., None, :]).sum(dim=-1)).exp())


def figlu(model):
    """A σ-asymmetric network of torch modules, whose gates are fixed, and its parameters by our names."""
    layers, tensors = [], {}
    for k, (before, after) in enumerate(zip(model.sizes[:-1], model.sizes[1:], strict=True)):
        layers.append(nn.Linear(before, after, dtype=DOUBLE))
        tensors |= weights_of(layers[-1], str(k))
        if k < len(model.sizes) - 2:
            layers.append(nn.LayerNorm(after, dtype=DOUBLE))
            tensors |= weights_of(layers[-1], str(k), "gain", "shift")
            layers.append(Gate(after))
            tensors[f"{k}.gate"] = layers[-1].G
    return nn.Sequential(*layers), tensors


def test_gated_mlp_is_that_of_modules_and_gates_are_permuted_or_fixed():
    model = MLP((5, 7, 6, 3), "figlu", "layer")
    stack, x, record = perturbed(model), numbers(4, 5), {}
    outputs = stack.forward(x, record)
    net, tensors = figlu(model)
    for i in range(3):
        fill(tensors, {name: value[i] for name, value in stack.params.items()})
        torch.testing.assert_close(outputs[i], net(x), rtol=0, atol=1e-12)
        for k, end in enumerate((3, 6)):
            torch.testing.assert_close(record[str(k)][i], net[:end](x), rtol=0, atol=1e-12)
    found = verify(model)
    assert max(found.permuted.values()) < 1e-12 and min(found.left_out.values()) > 1e-6
    assert {Axis("0.gate", 0), Axis("0.gate", 1)} <= set(found.left_out)
    schemes = {"0.gate": WAsymmetric(7, 1.0), "1.gate": WAsymmetric(6, 1.0)}
    stack = perturbed(model, fixed=model.fixed_parts(schemes, seed=3))
    first, second, third = stack.effective()["0.gate"]
    assert first.equal(second) and first.equal(third) and 0.5 < first.std() < 1.5
    plain = MLP((5, 7, 6, 3), "gelu", "layer").initial([4]).params
    assert all(model.initial([4]).params[name].equal(value) for name, value in plain.items())


def test_the_sizes_of_the_papers():
    model = MLP((784, 512, 512, 512, 10), "gelu", "layer")
    net, _ = perceptron(model.initial([1]), 0)
    assert model.parameters() == sum(p.numel() for p in net.parameters())
    assert MLP((784, 512, 512, 512, 10)).parameters() == 932_362
    symmetry = MLP((784, 15, 16, 17, 10), init="he").symmetry()
    assert symmetry.sizes == {"0": 15, "1": 16, "2": 17}
    assert symmetry.groups["2"] == (Axis("2.weight", 0), Axis("2.bias", 0), Axis("3.weight", 1))
    stack = perturbed(MLP((5, 7, 3)))
    stack.params["0.weight"].requires_grad_()
    assert stack.forward(numbers(4, 5), {}).requires_grad


def test_initial_weights():
    drawn = MLP((50, 400, 3), norm="running").initial([7]).params
    assert 50**-0.5 >= drawn["0.weight"].abs().max() > 400**-0.5 >= drawn["1.bias"].abs().max() > 0
    assert all(drawn[f"0.{kind}"].eq(value).all() for kind, value in {"mean": 0, "variance": 1}.items())
    assert drawn["0.weight"].equal(MLP((50, 400, 3)).initial([7]).params["0.weight"])
    he = MLP((50, 400, 3), init="he").initial([1]).params
    assert he["0.weight"].std().item() == pytest.approx((2 / 50) ** 0.5, rel=0.03) and he["0.bias"].eq(0).all()
