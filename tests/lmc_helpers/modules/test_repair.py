"""REPAIR of modules against that of stacks, which shares no hook with it, and against statistics seen by hand."""

import copy

import pytest
import torch
from oracles.networks import as_module, numbers, scattered
from torch import nn
from torch.nn import functional as F

from lmc_helpers.alignment.repair import repair as repair_stack
from lmc_helpers.modules.line import interpolate
from lmc_helpers.modules.repair import repair
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20

MODELS = [
    MLP((5, 9, 8, 7, 3)),
    MLP((5, 9, 8, 3), "gelu", "layer"),
    MLP((5, 9, 8, 3), "relu", "layer", bias=False),
    CNN(3, 4, pools=0, input_shape=(2, 4, 4), classes=3),
    CNN(4, 3, pools=0, norm="layer", input_shape=(2, 4, 3), classes=3),
    ResNet20(1, 2, base=2, input_shape=(2, 8, 8), classes=3),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_modules_are_repaired_like_stacks(model):
    a, b = (model.initial([seed], torch.float64) for seed in (1, 2))
    for stack, seed in ((a, 3), (b, 4)):
        for k, (name, value) in enumerate(stack.params.items()):
            if not name.endswith("weight"):
                value += 0.3 * numbers(*value.shape, seed=100 * seed + k)
    x = numbers(40, *model.input_shape)
    (net, tensors), (other, _) = as_module(a), as_module(b)
    torch.testing.assert_close(net(x), a.forward(x)[0])
    expected = repair_stack(a, b, x, 0.3)
    merged, found = repair(net, other, (x, x), 0.3, details=True)
    names = {id(value): name for name, value in net.named_parameters()}
    for name, value in expected.stack.params.items():
        torch.testing.assert_close(merged.get_parameter(names[id(tensors[name])]).data, value[0], rtol=1e-9, atol=1e-9)
    kind = "shift" if any(name.endswith("shift") for name in tensors) else "bias"
    ratios = {names[id(tensors[f"{layer}.{kind}"])].rpartition(".")[0]: r for layer, r in expected.ratios.items()}
    assert set(ratios) == set(found.ratios)
    for name, ratio in found.ratios.items():
        torch.testing.assert_close(ratio, ratios[name][0])


class Odd(nn.Module):
    """Batch norm, grouped and transposed convolutions, an output behind its layer."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(4, 6, 3, padding=1, groups=2)
        self.norm = nn.BatchNorm2d(6)
        self.wide = nn.ConvTranspose2d(6, 4, 2, stride=2, groups=2)
        self.flat = nn.Linear(4, 5)
        self.norm1 = nn.BatchNorm1d(5)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        h = self.norm(self.first(x)).relu_()
        h = self.norm1(self.flat(self.wide(h).relu().mean((2, 3)))).relu()
        return F.log_softmax(self.head(h), dim=1)


def seen(net, names, x):
    """Means and deviations of the channels that some modules make."""
    found = {name: [] for name in names}
    for name in names:
        net.get_submodule(name).register_forward_hook(
            lambda _m, _x, z, name=name: found[name].append(z.movedim(1, -1).flatten(0, -2).detach().clone())
        )
    net.eval()(x)
    return [f(torch.cat(z)) for z in found.values() for f in (lambda z: z.mean(0), lambda z: z.std(0, correction=0))]


@pytest.mark.parametrize("lam", [0.0, 0.3, 1.0])
def test_all_units_have_the_interpolated_statistics(lam):
    a, b = scattered(Odd(), 1), scattered(Odd(), 2)
    x = numbers(24, 4, 3, 3)
    data = [(x[:10], None), (x[10:], None)]
    merged = repair(a, b, data, lam)
    names = ["norm", "wide", "norm1"]
    ends = [seen(copy.deepcopy(net), names, x) for net in (a, b)]
    for za, zb, z in zip(*ends, seen(merged, names, x), strict=True):
        torch.testing.assert_close(z, lam * za + (1 - lam) * zb)
    plain = interpolate(a, b, lam)
    for name in ("first.weight", "flat.bias", "head.weight", "head.bias", "norm.running_mean"):
        assert merged.state_dict()[name].equal(plain.state_dict()[name])
    if lam in (0, 1):
        torch.testing.assert_close(merged(x), (a if lam else b).eval()(x))


def test_nothing_of_the_caller_s_changes():
    a, b = scattered(Odd(), 1), scattered(Odd(), 2)
    states = [copy.deepcopy(net.state_dict()) for net in (a, b)]
    repair(a, b, iter([(numbers(9, 4, 3, 3), None)]))
    for net, state in zip((a, b), states, strict=True):
        assert net.training and all(not module._forward_hooks for module in net.modules())
        assert all(value.equal(state[name]) for name, value in net.state_dict().items())


def test_what_cannot_be_set_is_said():
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
            self.free = nn.Linear(4, 4, bias=False)
            self.tied = nn.Linear(4, 4)
            self.other = nn.Linear(4, 4)
            self.other.weight = self.tied.weight
            self.twice = nn.Linear(4, 4)
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            h = self.free(self.layer(x)).relu()
            h = self.twice(self.twice(h).relu()).relu()
            return self.head(self.other(self.tied(h).relu()).relu())

    a, b = scattered(Attention(), 1), scattered(Attention(), 2)
    with pytest.warns(UserWarning, match="layer.self_attn"):
        merged, found = repair(a, b, (numbers(6, 5, 4), numbers(6)), details=True)
    assert list(found.left) == ["layer.self_attn", "free", "twice", "tied", "other"]
    assert list(found.ratios) == ["layer.norm1", "layer.linear1", "layer.linear2", "layer.norm2"]
    assert merged.other.weight is merged.tied.weight


@pytest.mark.parametrize("inplace", [False, True])
def test_an_activation_before_a_norm_keeps_its_layer(inplace):
    layers = (nn.Linear(4, 6), nn.ReLU(inplace), nn.BatchNorm1d(6), nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 3))
    a, b = (scattered(nn.Sequential(*copy.deepcopy(layers)), seed) for seed in (1, 2))
    assert list(repair(a, b, (numbers(30, 4), numbers(30)), details=True)[1].ratios) == ["0", "2", "4"]


@pytest.mark.parametrize(
    "change",
    [
        {"b": nn.Linear(5, 2)},
        {"data": (torch.ones(1, 5), torch.ones(1))},
        {"data": (torch.full((4, 5), torch.nan), torch.ones(4))},
        {"data": torch.ones(4, 5)},
    ],
)
def test_bad_input_is_refused(change):
    a, b = (nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)) for _ in range(2))
    with pytest.raises((TypeError, ValueError), match="allowed"):
        repair(**{"a": a, "b": b, "data": (torch.ones(4, 5), torch.ones(4))} | change)
