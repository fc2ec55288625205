"""Groups found by a trace: kept functions, numbers counted by hand, completeness by brute force, honest refusals."""

import contextlib
import itertools
import math
import random
from contextlib import nullcontext
from functools import partial

import pytest
import torch
from cases import CASES, Attention, Mixed, difference, drawn, made, moved, outputs
from torch import nn
from torch.nn import functional as F

from benchmarks.modules import ResNet, vgg16
from lmc_helpers import Axis, Symmetry, permuted, symmetry, verify

DOUBLE = torch.float64


@pytest.mark.parametrize("name", CASES)
def test_the_function_is_kept_and_half_permuted_networks_differ(name):
    module, x = made(name)
    found, expected = symmetry(module, x), outputs(module, x)
    assert len(found.sizes) == CASES[name].groups, found.sizes
    perms = drawn(found)
    mixed = dict(random.Random(3).sample(sorted(perms.items()), len(perms)))  # in any order
    other = permuted(module, found, mixed)
    assert difference(outputs(other, x), expected) < 1e-12
    by_hand = moved(module, found, perms).state_dict()
    assert all(value.equal(by_hand[key]) for key, value in other.state_dict().items())
    for group, p in perms.items():
        assert difference(outputs(moved(module, found, {group: p}), x), expected) < 1e-12
    check = verify(module, x, found)
    assert check.permuted["all"] < 1e-12
    idle = {axis for axis, effect in check.left_out.items() if effect < 1e-6}
    assert all(axis.name.endswith(CASES[name].idle) for axis in idle) if idle else not CASES[name].idle


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = nn.ModuleList(layers)

    def forward(self, x):
        first, *others = self.layers
        h = first(x)
        for layer in others[:-1]:
            h = h + torch.tanh(layer(h))
        return others[-1](h)


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = L(), L()

    def forward(self, x):
        return self.b(torch.tanh(self.b(torch.tanh(self.a(x)))))


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c, self.d = (L() for _ in range(4))

    def forward(self, x):
        return self.d(self.c(torch.tanh(self.a(x)) * self.b(x)))


L = partial(nn.Linear, 3, 3)
SQUARE = {  # every axis has length 3
    "mlp": lambda: nn.Sequential(L(), nn.LayerNorm(3), nn.Tanh(), L(), nn.Tanh(), L()),
    "residual": lambda: Residual(L(), L(bias=False), L(), L()),
    "norm": lambda: nn.Sequential(L(), nn.BatchNorm1d(3), nn.Tanh(), L()),
    "gate": Gate,
    "twice": Twice,
}


@pytest.mark.parametrize("name", SQUARE)
def test_no_group_is_missing_or_larger_than_it_must_be(name):
    """Of all sets of axes, exactly the unions of groups keep the function when they move together."""
    torch.manual_seed(4)
    module, x = SQUARE[name]().double().eval(), torch.randn(5, 3, dtype=DOUBLE)
    for value in [*module.parameters(), *module.buffers()]:
        value.data += torch.rand_like(value) if value.is_floating_point() else 0
    values = {key: value.detach() for key, value in [*module.named_parameters(), *module.named_buffers()] if value.ndim}
    axes = [(key, d) for key, value in values.items() for d in range(value.ndim)]
    turned = torch.tensor([1, 2, 0])
    expected = outputs(module, x)
    kept = set()
    for which in itertools.product([False, True], repeat=len(axes)):
        chosen = frozenset(axis for axis, moves in zip(axes, which, strict=True) if moves)
        changed = dict(values)
        for key, d in chosen:
            changed[key] = changed[key].index_select(d, turned)
        with torch.no_grad():
            found = torch.func.functional_call(module, changed, x)
        if difference(found.flatten(), expected) < 1e-10:
            kept.add(chosen)
    groups = [frozenset(place[:2] for place in places) for places in symmetry(module, x).groups.values()]
    unions = {frozenset().union(*part) for n in range(len(groups) + 1) for part in itertools.combinations(groups, n)}
    assert kept == unions


def test_names_and_places_of_a_group():
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(16, 2))
    places = (Axis("0.weight", 0), Axis("0.bias", 0), Axis("2.weight", 1, inner=4))
    assert symmetry(net, torch.ones(1, 1, 4, 4)) == Symmetry({"0": places}, {"0": 4})
    found = symmetry(Attention(2, 2, 3, 6), torch.randn(1, 3, 5))
    assert list(found.sizes) == ["inp", "q", "q[0]", "q[1]", "v[0]", "v[1]"]
    assert found.within == {f"{part}[{j}]": ("q", j) for part in "qv" for j in range(2)}
    packed = symmetry(*made("GPT")).sizes
    assert list(packed)[:4] == ["embed", "qkv.heads", "qkv.queries[0]", "qkv.queries[1]"] and packed["qkv.heads"] == 3
    deep = ResNet((3, 4, 6, 3), 2, 4)
    for module, size, groups in ((ResNet((3, 3, 3), 4, 1), 8, 12), (vgg16(2), 64, 15), (deep, 8, 37)):
        assert len(symmetry(module, torch.randn(2, 3, size, size)).sizes) == groups


class Inner(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.inp, self.step, self.out = nn.Linear(4, 5), step, nn.Linear(5, 2)

    def forward(self, x):
        return self.out(self.step(self.inp(x)))


class Text(nn.Module):
    def forward(self, x):
        return "text"


calls = itertools.count(1)
REFUSED = {
    "outputs change.*allowed": Inner(lambda h: h * h.detach().numpy()[0, 0].item()),  # a number that no rule sees
    "at every call.*allowed": Inner(lambda h: h * next(calls)),
    "no tensor.*allowed": Text(),
}


@pytest.mark.filterwarnings("ignore:groups are checked with numbers that the module reads by numpy")
@pytest.mark.parametrize("message", REFUSED)
def test_what_is_not_proven_is_refused(message):
    with pytest.raises(ValueError, match=message) as raised:
        symmetry(REFUSED[message], torch.rand(6, 4))
    assert ". " not in str(raised.value)  # one sentence


@pytest.mark.filterwarnings("ignore:groups are checked with numbers that the module reads by numpy")
def test_only_groups_that_are_not_proven_are_left_alone():
    module = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 4), REFUSED["outputs change.*allowed"])
    x = torch.rand(6, 4)
    found = symmetry(module, x)
    assert (
        found.sizes == {"0": 3, "2": 4}
        and found.left["the outputs, which change with their order"][0] == "3.inp.weight[0]"
    )
    assert difference(outputs(permuted(module, found, {"0": [2, 0, 1]}), x), outputs(module, x)) < 1e-6


def test_wrapped_modules_types_and_ties():
    module, x = made("GPT")
    found = symmetry(module, x)
    assert symmetry(nn.DataParallel(module), x) == found == symmetry(module, {"i": x})
    assert symmetry(module.bfloat16(), x) == found
    other = permuted(module, found, drawn(found))
    assert other.head.weight is other.embed.weight and other.embed.weight.dtype == torch.bfloat16
    assert other.places.equal(module.places)


def test_what_a_module_keeps_in_its_own_dict_is_of_one_call():
    class Keeping(nn.Sequential):
        def forward(self, x):
            return self[1](self[0](x).tanh() + self.kept.setdefault("bias", self[0].bias.exp()))

    net = Keeping(nn.Linear(3, 5), nn.Linear(5, 2))
    net.kept = {}
    assert symmetry(net, torch.randn(4, 3)).sizes == {"0": 5} and net.kept == {}


def test_verify_finds_wrong_lists():
    module, x = made("resnet")
    right = symmetry(module, x)
    assert verify(module, x, right).holds() and verify(module, x, right, left_out=False).left_out == {}
    short = {group: axes[:-1] for group, axes in right.groups.items()}
    assert verify(module, x, Symmetry(short, right.sizes)).permuted["all"] > 1e-3
    more = {**right.groups, "more": (Axis("5.bias", 0),)}
    assert not verify(module, x, Symmetry(more, {**right.sizes, "more": 5})).holds()
    with pytest.raises(ValueError, match="allowed"):
        verify(module, x, Symmetry({"a": (Axis("nothing", 0),)}, {"a": 3}))


class Twofold(nn.Module):
    """Units that an operation takes which is not followed, and others; states beside the outputs."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.both = nn.Linear(4, 5), nn.Linear(4, 5), Exponential()
        self.c, self.d, self.out = nn.Linear(5, 7), nn.Linear(7, 8), nn.Linear(8, 2)

    def forward(self, x):
        h = self.c(self.both(self.a(x), self.b(x))).tanh()
        return {"out": self.out(self.d(h).tanh()), "states": h}


class Exponential(nn.Module):
    def forward(self, a, b):
        return torch.linalg.matrix_exp(a[:, :, None] * b[:, None] / 9).sum(-1)


def test_what_is_not_followed_is_named_and_the_rest_is_found():
    module, x = Twofold(), torch.randn(3, 4)
    found = symmetry(module, x)
    assert found.sizes == {"d": 8} and verify(module, x, found).holds()
    (why,) = (why for why in found.left if "followed" in why)
    assert "'linalg_matrix_exp' of 'both'" in why
    assert set(found.left[why]) == {"a.weight[0]", "a.bias[0]", "b.weight[0]", "b.bias[0]", "c.weight[1]"}
    assert {"c.weight[0]", "out.bias[0]"} <= set(found.left["the outputs"])
    assert found.left["the inputs"] == ("a.weight[1]", "b.weight[1]")
    assert f"left alone by {why}" in str(found) and "'d' 8" in str(found)


class Step(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, *x):
        return self.step(*x)


def shuffled(h):
    return h.unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2)


C = partial(nn.Conv1d, kernel_size=1)
LEFT = {  # what has one order for all, or is left alone without need: a network, its input, why, and where
    "outer pieces": (
        *((nn.Linear(4, 12), Step(lambda h: h.view(-1, 3, 4).max(1)[0]), nn.Linear(4, 2)), (5, 4)),
        *("between each other", {"0.weight[0]", "0.bias[0]"}),
    ),
    "shuffled channels": (
        *((C(4, 8, groups=2), Step(shuffled), nn.ReLU(), C(8, 4, groups=2), nn.Tanh()), (2, 4, 3)),
        *("between each other", {"0.weight[0]", "0.bias[0]", "3.weight[1]"}),
    ),
    "shuffled across groups": (
        *((C(4, 12), C(12, 10, groups=2), Step(shuffled), C(10, 6, groups=2), nn.Tanh(), C(6, 2)), (2, 4, 3)),
        *("'convolution' of '3'", {"1.weight[0]", "1.bias[0]", "3.weight[1]"}),
    ),
    "order of heads": (
        *((CASES["heads on None"].make(),), (2, 7, 5)),
        *("which takes parts in their order", {"q.weight[0]", "k.weight[0]", "v.weight[0]", "proj.weight[1]"}),
    ),
    "groups in groups": (
        *((C(4, 8), nn.GroupNorm(4, 8), nn.Tanh(), nn.GroupNorm(2, 8), C(8, 2)), (2, 4, 3)),
        *("between each other", {"0.weight[0]", "0.bias[0]", "4.weight[1]"}),
    ),
    "groups that are cut": (
        *((Mixed(2, False),), (2, 4, 3)),
        *("'convolution' of '0.mix', all groups", {"qkv.weight[0]", "mix.weight[0]", "mix.weight[1]", "out.weight[1]"}),
    ),
    "index arithmetic": (
        *((nn.Linear(4, 6), Step(lambda h: F.one_hot((h.argmax(-1) + 1) % 6, 6) * h.sum()), nn.Linear(6, 2)), (5, 4)),
        *("'add'", {"0.weight[0]", "0.bias[0]"}),
    ),
    "a constant": (
        *((nn.Linear(4, 3), Step(lambda h: h * torch.tensor([1.0, 2.0, 3.0])), nn.Linear(3, 2)), (5, 4)),
        *("'tensor' of '1'", {"0.weight[0]", "0.bias[0]", "2.weight[1]"}),
    ),
    "one entry": (
        *((nn.Linear(4, 6), Step(lambda h: h * h[:, :1].sigmoid()), nn.Linear(6, 2)), (5, 4)),
        *("one by one", {"0.weight[0]", "0.bias[0]", "2.weight[1]"}),
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_maximal_is_named(name):
    layers, shape, why, where = LEFT[name]
    module, x = nn.Sequential(*layers).double(), torch.randn(shape, dtype=DOUBLE)
    found = symmetry(module, x)
    (at,) = (at for reason, at in found.left.items() if why in reason)
    assert where <= {one.removeprefix("0.") if len(layers) == 1 else one for one in at}
    assert difference(outputs(permuted(module, found, drawn(found)), x), outputs(module, x)) < 1e-12


def test_parts_with_units_of_their_own_are_free():
    class Branches(nn.Module):
        def __init__(self):
            super().__init__()
            self.f, self.g, self.u, self.v = nn.Linear(4, 5), nn.Linear(4, 5), nn.Linear(5, 2), nn.Linear(5, 2)

        def forward(self, x):
            f, g = torch.cat([self.f(x), self.g(x)]).softmax(-1).chunk(2)
            return self.u(f) * self.v(g)

    found = symmetry(Branches(), torch.randn(3, 4))
    assert found.sizes == {"f": 5, "g": 5} and set(found.left) == {"the inputs", "the outputs"}


def test_only_the_outputs_that_count_fix_units():
    module, x, out = Twofold().double(), torch.randn(3, 4, dtype=DOUBLE), lambda outputs: outputs["out"]
    found = symmetry(module, x, outputs=out)
    assert found.sizes == {"c": 7, "d": 8} and verify(module, x, found, outputs=out).holds()
    assert not verify(module, x, found).holds()
    assert difference(permuted(module, found, drawn(found))(x)["out"], module(x)["out"]) < 1e-12


def written(n):
    index = torch.arange(2)
    index[1] = n[0]
    return index


def some(h, index):
    return h + h[:, index].sum(1, keepdim=True)


BY_NUMBER = {  # what a number n of the input does with six units, or with positions → the sizes of groups
    "constant": (lambda h, n: some(h, torch.arange(2)), [2, 4]),
    "index": (lambda h, n: some(h, torch.tensor([n.item() - 1, 1])), []),
    "written": (lambda h, n: some(h, written(n)), []),
    "int": (lambda h, n: some(h, slice(int(n))), []),
    "item": (lambda h, n: some(h, slice(n.item(), None)), []),
    "slice": (lambda h, n: some(h, slice(n[0])), []),
    "tolist": (lambda h, n: some(h, slice(n.tolist()[0])), []),
    "step": (lambda h, n: some(h, slice(None, None, int(n) + 1)), []),
    "window": (lambda h, n: some(h, slice(int(n), int(n) + 2)), []),
    "shape": (lambda h, n: some(h, slice(len((torch.arange(5) < n).nonzero()))), []),
    "narrow": (lambda h, n: h + h.narrow(1, 0, int(n)).sum(1, keepdim=True), []),
    "split": (lambda h, n: h + h.split(int(n) + 1, 1)[0].sum(1, keepdim=True), []),
    "sizes": (lambda h, n: torch.cat(h.split([int(n), 6 - int(n)], 1)[::-1], 1), []),
    "arange": (lambda h, n: some(h, torch.arange(int(n))), []),
    "entry": (lambda h, n: h * h[:, int(n)].sigmoid()[:, None], []),
    "loop": (lambda h, n: h + sum(h[:, k : k + 1] for k in range(int(n) + 1)), []),
    "data": (lambda h, n: h * torch.tensor([float(k < int(n)) for k in range(6)]), []),
    "pad": (lambda h, n: F.pad(h, (int(n), 0))[:, :6], []),
    "crop": (lambda h, n: h + F.pad(h, (0, -int(n))).sum(1, keepdim=True), []),
    "roll": (lambda h, n: h.roll(int(n), 1), []),
    "view": (lambda h, n: h + h.view(4, 1 + int(n), -1).amax(1).sum(1, keepdim=True), []),
    "dim": (lambda h, n: h[:, :, None].expand(4, 6, 6).cumsum(1 + int(n)).sum(2), []),
    "branch": (lambda h, n: h if n > 0 else h.flip(1), []),
    "threshold": (lambda h, n: h.flip(1) if n.item() > 2 else h, []),
    "inside": (lambda h, n: some(h, slice(int(n))) if n > 1 else h, []),
    "sum": (lambda h, n: h + h.topk(1 + int(n))[0].sum(1, keepdim=True) * int(n), [6]),
    "times": (lambda h, n: h.expand(1 + int(n), 4, 6).sum(0), [6]),
    "positions": (lambda h, n: h[:, None].repeat(1, 5, 1)[:, : 1 + int(n)].softmax(1).mean(1) * h, [6]),
}


@pytest.mark.parametrize("name", BY_NUMBER)
def test_units_that_a_number_of_the_input_picks_are_not_free(name):
    step, sizes = BY_NUMBER[name]

    class ByNumber(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(3, 6), nn.Linear(6, 2)

        def forward(self, x, n):
            return self.down(step(self.up(x).tanh(), n))

    module, x = ByNumber(), torch.randn(4, 3)
    with pytest.warns(UserWarning, match="by tolist") if name == "tolist" else nullcontext():
        found = symmetry(module, (x, torch.tensor([1])))
    assert sorted(found.sizes.values()) == sizes
    check_by_number(module, found, x)
    named = dict.fromkeys(("index", "written", "arange"), "'index'") | dict.fromkeys(("branch", "threshold"), "'flip'")
    named |= dict.fromkeys(("loop", "pad"), "one by one")
    assert sizes or any(named.get(name, "depend on the inputs") in why for why in found.left)


BRANCHES = {  # conditions that hold for no input that is drawn
    "bool": lambda net, x: x.mean() > 3,
    "constant": lambda net, x: x.abs().max().item() > 1e5,
    "attribute": lambda net, x: net.most < float(x.norm()),
    "window": lambda net, x: -5.5 < x.mean().item() < -5,
    "integer": lambda net, x: int(x.sum() * 0 + 5) == net.special,
    "not a number": lambda net, x: math.isnan(x.sum().item()),
    "infinite": lambda net, x: math.isinf(x.sum().item()),
    "search": lambda net, x: len((x > 50).nonzero()) > 0,
    "masked": lambda net, x: x[x.sum(1) > 99].shape[0] > 2,
    "distinct": lambda net, x: len(x.unique()) < 2,
    "many": lambda net, x: len(x) > net.many,
    "one": lambda net, x: x.shape[0] == 1,
    "odd": lambda net, x: x.size(0) % 2,
    "numpy": lambda net, x: x.numpy().max() > 100,
    "tolist": lambda net, x: max(x[0].tolist()) > 100,
}


@pytest.mark.parametrize("name", BRANCHES)
def test_a_branch_that_no_drawn_input_takes_is_followed_or_told(name):
    class Branching(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down, self.most, self.special, self.many = nn.Linear(3, 6), nn.Linear(6, 2), 1e6, 7, 64

        def forward(self, x):
            h = self.up(x).tanh()
            return self.down(h.flip(1) if BRANCHES[name](self, x) else h)

    told = name in ("numpy", "tolist")
    with pytest.warns(UserWarning, match=f"numbers that the module reads by {name}") if told else nullcontext():
        assert symmetry(Branching(), torch.randn(4, 3)).sizes == ({"up": 6} if told else {})


def check_by_number(module, found, x):
    other = moved(module, found, drawn(found))
    for n in range(5):
        with contextlib.suppress(RuntimeError, IndexError):
            assert difference(*(outputs(one, (x, torch.tensor([n]))) for one in (other, module))) < 1e-5


def test_a_mask_picks_entries_and_leaves_their_units_free():
    class Masked(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.inner, self.late, self.down = (nn.Linear(*z) for z in ((3, 6), (6, 5), (5, 6), (6, 2)))

        def forward(self, x, mask):
            h = self.up(x)
            h[mask] = self.late(self.inner(h[mask]).relu())
            h[:, mask[0]] = h[:, mask[0]].tanh()
            return self.down(h[mask].tanh()), h.relu().sum((1, 2))

    module, x, mask = Masked(), torch.randn(4, 5, 3), torch.arange(20).view(4, 5) % 3 > 0
    found = symmetry(module, (x, mask))
    assert found.sizes == {"up": 6, "inner": 5} and verify(module, (x, mask), found).holds()


def test_depth_that_a_number_of_the_input_says():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.up, self.down = nn.Linear(3, 6), nn.Linear(6, 2)
            self.layers = nn.ModuleList(nn.Linear(6, 6) for _ in range(3))

        def forward(self, x, n):
            h = self.up(x).tanh()
            for k in range(int(n)):
                h = self.layers[k](h).tanh()
            return self.down(h)

    module, x = Deep(), torch.randn(4, 3)
    found = symmetry(module, (x, torch.tensor([3])))
    assert found.sizes == {"up": 6}
    check_by_number(module, found, x)
