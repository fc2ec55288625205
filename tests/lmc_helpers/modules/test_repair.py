"""REPAIR against statistics of networks of torch.nn with hooks."""

import copy
import warnings

import pytest
import torch
from oracles.networks import by_functions, numbers, perturbed, scattered
from torch import nn
from torch.nn import functional as F

from lmc_helpers.modules.line import interpolate
from lmc_helpers.modules.repair import repair, repair_stacks
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20

MODELS = [
    MLP((5, 9, 8, 7, 3)),
    MLP((5, 9, 8, 3), "gelu", "layer"),
    MLP((5, 9, 8, 3), "relu", "layer", bias=False),
    MLP((5, 1, 4, 3), "tanh"),
    CNN(3, 4, pools=0, input_shape=(2, 4, 4), classes=3),
    CNN(4, 3, pools=0, norm="layer", input_shape=(2, 4, 3), classes=3),
    ResNet20(1, 2, base=2, input_shape=(2, 8, 8), classes=3),
    ResNet20(1, 1, norm_groups=None, base=3, input_shape=(2, 8, 8), classes=3),
]


def by_hand(stack, n, x):
    """Means and deviations of what every norm of network n makes, or every map but the last."""
    outputs, made, _ = by_functions(stack.model, {name: value[n] for name, value in stack.params.items()}, x)
    torch.testing.assert_close(outputs, stack.forward(x)[n])
    return [f(z) for z in made for f in (lambda z: z.mean(0), lambda z: z.std(0, correction=0))]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("lam", [0.5, 0.2])
def test_all_units_of_stacks_have_the_interpolated_statistics(model, lam):
    a, b = (perturbed(model, 2, seed) for seed in (1, 2))
    x = numbers(40, *model.input_shape)
    stack, found = repair_stacks(a, b, (x, x), lam)
    assert not any(dead.any() for dead in found.dead.values()) and not found.left
    for n in range(2):
        for za, zb, z in zip(*(by_hand(nets, n, x) for nets in (a, b, stack)), strict=True):
            torch.testing.assert_close(z, lam * za + (1 - lam) * zb)
    last = model.maps()[-1]  # outputs stay merged
    torch.testing.assert_close(stack.params[last], lam * a.params[last] + (1 - lam) * b.params[last])


def test_the_collapse_is_what_random_networks_show():
    """Independent weights halfway: variance 1/2, hence ratios near 1/√2 in the first layer."""
    a, b = MLP((50, 400, 400, 3)).initial([1], torch.float64), MLP((50, 400, 400, 3)).initial([2], torch.float64)
    x = numbers(200, 50)
    ratio = next(iter(repair_stacks(a, b, (x, x))[1].ratios.values()))
    assert abs(ratio.mean().item() - 0.5**0.5) < 0.03


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_dead_units_are_reported_and_get_their_mean(dtype):
    a, b = (perturbed(MLP((5, 6, 4, 3)), 1, seed) for seed in (1, 2))
    a.params["0.weight"][0, 2] = 0
    b.params["0.weight"][0, 2] = 0  # constant in all three
    a.params["0.weight"][0, 4] = -b.params["0.weight"][0, 4]  # constant halfway only
    a, b, x = a.to(dtype), b.to(dtype), numbers(40, 5).to(dtype)
    stack, found = repair_stacks(a, b, (x, x))
    assert next(iter(found.dead.values())).tolist() == [[False, False, True, False, True, False]]
    za, zb, z = (by_hand(nets.to(torch.float64), 0, x.double())[::2] for nets in (a, b, stack))
    for one, other, mean in zip(za, zb, z, strict=True):
        torch.testing.assert_close(mean, (one + other) / 2, rtol=1e-5, atol=1e-6)
    assert stack.params["0.weight"].dtype == dtype


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


def test_what_cannot_be_set_is_said():
    class Router(nn.Linear):
        def forward(self, x):
            return super().forward(x), x

    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
            self.free = nn.Linear(4, 4, bias=False)
            self.tied = nn.Linear(4, 4)
            self.other = nn.Linear(4, 4)
            self.other.weight = self.tied.weight
            self.twice = nn.Linear(4, 4)
            self.router = Router(4, 4)
            self.head = nn.Linear(4, 2)

        def forward(self, x):
            h = self.free(self.layer(x)).relu()
            h = self.twice(self.twice(h).relu()).relu()
            h = self.router(h)[0].relu()
            return self.head(self.other(self.tied(h).relu()).relu())

    a, b = scattered(Attention(), 1), scattered(Attention(), 2)
    with pytest.warns(UserWarning, match="layer.self_attn"):
        merged, found = repair(a, b, (numbers(6, 5, 4), numbers(6)), details=True)
    assert list(found.left) == ["layer.self_attn", "free", "twice", "router", "tied", "other"]
    assert list(found.ratios) == ["layer.norm1", "layer.linear1", "layer.linear2", "layer.norm2"]
    assert merged.other.weight is merged.tied.weight


def test_the_last_layer_of_a_module_with_parameters_of_its_own_stays():
    class Own(nn.Sequential):
        def __init__(self):
            super().__init__(*(nn.Linear(5, 5) for _ in range(3)), nn.Linear(5, 2))
            self.scale = nn.Parameter(torch.ones(1))

        def forward(self, x):
            h = torch.func.vmap(self[0])(x * self.scale)
            return self[3]((self[1](h) + self[2](h.mean(0, keepdim=True))).relu())

    a, b, x = scattered(Own(), 1), scattered(Own(), 2), numbers(9, 5)
    with pytest.warns(UserWarning, match="units that stay as merged: the module has parameters of its own"):
        merged, done = repair(a, b, (x, x), details=True)
    assert list(done.ratios) == ["1"] and merged[3].bias.equal((a[3].bias + b[3].bias) / 2)
    assert done.left["0"] == "runs inside a transform of torch.func" and done.left["2"].startswith("runs on fewer than")


class Leaving(nn.Module):
    """Confident examples leave early, past layers that a function applies."""

    def __init__(self, bias):
        super().__init__()
        self.a, self.b, self.c, self.o = nn.Linear(5, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 3)
        scattered(self, 1).o.bias.data[0] += bias

    def forward(self, x):
        h = F.linear(self.a(x).relu(), self.c.weight).relu()
        y = self.o(h)
        late = y.softmax(1)[:, 0] < 0.9
        return torch.where(late[:, None], self.o(self.b(h).relu()) if late.any() else y, y)


@pytest.mark.parametrize("biases", [(-150, 99), (99, -150), (99, 99)])
def test_layers_that_do_not_run_or_that_a_function_applies_are_named(biases):
    x = numbers(30, 5)
    with pytest.warns(
        UserWarning, match=r"units that stay as merged: c has a weight that another module reads(; b runs on fewer.*)?$"
    ):
        _, done = repair(*map(Leaving, biases), (x, x), details=True)
    assert list(done.ratios) == ["a"]


class Heads(nn.Module):
    """A trunk and heads a, b and c, by which a function computes the outputs."""

    def __init__(self, outputs):
        super().__init__()
        self.trunk, self.b, self.c, self.a = nn.Linear(5, 6), nn.Linear(6, 3), nn.Linear(6, 3), nn.Linear(6, 3)
        self.outputs = outputs

    def forward(self, x):
        return self.outputs(self, self.trunk(x).relu())


@pytest.mark.parametrize(
    ("outputs", "named", "hidden"),
    [
        (lambda net, h: (net.b(h).softmax(1), net.a(h), net.c(h).exp()), "bc", ""),  # a mixture density network
        (lambda net, h: {"mean": net.b(h).tanh(), "value": net.a(h)}, "b", ""),
        (lambda net, h: net.b(h).tanh_() + net.c(h), "bc", ""),
        (lambda net, h: torch.cat([net.b(h), net.c(h).softmax(1)], 1), "bc", ""),
        (lambda net, h: ((f := net.b(h)), net.a(f.relu().repeat(1, 2))), "b", ""),
        (lambda net, h: (net.b(h).softmax(1).unsqueeze(1) @ net.c(h).view(-1, 3, 1)).squeeze(2), "bc", ""),
        (lambda net, h: F.linear(net.b(h).relu(), net.a.weight[:, :3]), "a", "b"),
        (lambda net, h: F.log_softmax(net.a(net.b(h).relu().repeat(1, 2)), 1), "", "b"),
    ],
)
def test_heads_stay_and_are_named(outputs, named, hidden):
    a, b = (scattered(Heads(outputs), k) for k in (1, 2))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        merged, done = repair(a, b, (numbers(30, 5), numbers(30)), details=True)
    assert list(done.left) == list(named) and bool(told) == bool(named)
    assert set(done.left.values()) <= {"makes outputs, beside others", "has a weight that another module reads"}
    plain = interpolate(a, b, 0.5)
    assert all(merged.get_submodule(name).weight.equal(plain.get_submodule(name).weight) for name in (*named, "a"))
    assert list(done.ratios) == ["trunk", *hidden]


class Tied(nn.Linear):
    """The weight of a layer inside is that of the next one, too."""

    def __init__(self):
        super().__init__(5, 5)
        self.inner = nn.Linear(5, 5)

    def forward(self, x):
        return super().forward(F.linear(self.inner(x).relu(), self.inner.weight.T))


class Standard(nn.Linear):
    def forward(self, x):
        w = self.weight - self.weight.mean(1, keepdim=True)
        return F.linear(x, w / w.norm(dim=1, keepdim=True), self.bias)


@pytest.mark.parametrize(
    ("first", "named"), [(Tied, "0.inner has a weight that another"), (lambda: Standard(5, 5), "0 makes its units not")]
)
def test_layers_whose_weights_say_more_or_less_than_their_units_stay(first, named):
    a, b = (
        scattered(nn.Sequential(first(), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)), k) for k in (1, 2)
    )
    with pytest.warns(UserWarning, match=named):
        merged, done = repair(a, b, (numbers(30, 5), numbers(30)), details=True)
    name = named.split()[0]
    assert set(done.ratios) == {"0", "2"} - {name} and list(done.left) == [name]
    assert merged.get_submodule(name).weight.equal(interpolate(a, b, 0.5).get_submodule(name).weight)


def test_what_state_does_not_hold_is_compared_by_outputs():
    class Scaled(nn.Linear):
        def forward(self, x):
            return super().forward(x) * self.scales[0]

    for scales, calls in ((([torch.tensor(2.0)], [torch.tensor(3.0)]), (interpolate, repair)), (([2], [3]), (repair,))):
        a, b = Scaled(5, 3), Scaled(5, 3)
        a.scales, b.scales = scales
        for call in calls:
            with pytest.raises(ValueError, match=r"differs.*; allowed"):
                call(a, b, 0.5 if call is interpolate else (numbers(9, 5), numbers(9)))


@pytest.mark.parametrize("inplace", [False, True])
def test_an_activation_before_a_norm_keeps_its_layer(inplace):
    layers = (nn.Linear(4, 6), nn.ReLU(inplace), nn.BatchNorm1d(6), nn.Linear(6, 6), nn.LayerNorm(6), nn.Linear(6, 3))
    a, b = (scattered(nn.Sequential(*copy.deepcopy(layers)), seed) for seed in (1, 2))
    assert list(repair(a, b, (numbers(30, 4), numbers(30)), details=True)[1].ratios) == ["0", "2", "4"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"b": nn.Linear(5, 2)}, "allowed"),
        ({"data": (torch.ones(1, 5), torch.ones(1))}, "^fewer than 2 samples of the units of '0'; allowed: at least 2"),
        ({"data": (torch.full((4, 5), torch.nan), torch.ones(4))}, "^the units of '0' are not all finite; allowed"),
        ({"data": torch.ones(4, 5)}, "allowed"),
    ],
)
def test_bad_input_is_refused(change, message):
    a, b = (nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3)) for _ in range(2))
    with pytest.raises((TypeError, ValueError), match=message):
        repair(**{"a": a, "b": b, "data": (torch.ones(4, 5), torch.ones(4))} | change)


def test_layers_of_other_classes_are_named():
    class Own(nn.Linear.__base__):
        def __init__(self, i, o):
            super().__init__()
            self.weight, self.slope = nn.Parameter(torch.randn(i, o) / i**0.5), nn.PReLU()

        def forward(self, x):
            return self.slope(x @ self.weight)

    a, b = (nn.Sequential(Own(5, 6), nn.Linear(6, 4), nn.ReLU(), Own(4, 2)) for _ in range(2))
    x = numbers(30, 5).float()
    with pytest.warns(UserWarning, match="units that stay as merged: 0 is a Own, which is not known to REPAIR$"):
        _, done = repair(a, b, (x, x), details=True)
    assert list(done.ratios) == ["1"] and list(done.left) == ["0"]  # the last one makes the outputs
