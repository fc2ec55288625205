"""What counts in a module: effective weights, buffers by kind, all that a copy must have; proof by several inputs.

Half-way networks are made by hand from the weights that a module computes with; orders are planted, and outputs on
other inputs are those of the module as it was given.
"""

import copy
import itertools
import warnings
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from oracles.networks import numbers, scattered
from torch import nn
from torch.nn import functional as F
from torch.nn import utils
from torch.nn.functional import mse_loss
from torch.nn.utils import parametrizations, parametrize, prune

from lmc_helpers import interpolate, line, match, merge_path, permuted, symmetry, verify

X, Y = numbers(40, 5, seed=1), numbers(40, 3, seed=2)


def dense():
    net = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    nn.init.normal_(net[2].weight)
    return net


class Net(nn.Module):
    """a then b; kinds of it are below."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 8), nn.Linear(8, 3)
        self.more()
        self.double().eval()

    def more(self):
        pass

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def change(net, other, *x):
    with torch.no_grad():
        return (net(*x) - other(*x)).abs().max().item()


def of_losses(found, ends, x=X, y=Y):
    """Losses at λ = 0 and 1 are those of b and a."""
    with torch.no_grad():
        expected = [mse_loss(end(x), y).item() for end in ends]
    return [found.losses[0].item(), found.losses[-1].item()] == pytest.approx(expected, rel=1e-9)


class Exponential(nn.Module):
    def forward(self, w):
        return w.exp()


class Factors(nn.Module):
    def forward(self, u, v):
        return u @ v

    def right_inverse(self, w):
        return torch.randn(len(w), 2).to(w), torch.randn(2, w.shape[1]).to(w)


class Mask(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.register_buffer("mask", (torch.rand_like(w) < 0.5).to(w))

    def forward(self, w):
        return w * self.mask


class Frozen(Mask):
    """A fixed part, the same in both, and weights that do not enter it linearly."""

    def __init__(self, w):
        super().__init__(w)
        self.register_buffer("fixed", torch.linspace(0, 1, w.numel()).view(w.shape).to(w))
        self.mask = (self.fixed > 0.3).to(w)

    def forward(self, w):
        return self.fixed + w.exp() * self.mask


def both(net):
    return [(net[0], "weight"), (net[2], "weight")]


COMPUTED = {
    "pruned": lambda net: [prune.l1_unstructured(*one, 0.5) for one in both(net)],
    "pruned biases and rows": lambda net: (
        prune.random_unstructured(net[0], "bias", 0.5),
        prune.ln_structured(net[0], "weight", 0.3, 2, 0),
    ),
    "old spectral norm": lambda net: utils.spectral_norm(net[0], n_power_iterations=30),
    "old weight norm": lambda net: (utils.weight_norm(net[0]), utils.weight_norm(net[2], dim=None)),
    "spectral norm": lambda net: (parametrizations.spectral_norm(net[0]), parametrizations.weight_norm(net[2])),
    "exponential": lambda net: parametrize.register_parametrization(*both(net)[0], Exponential()),
    "factors": lambda net: parametrize.register_parametrization(*both(net)[0], Factors(), unsafe=True),
    "mask": lambda net: parametrize.register_parametrization(*both(net)[0], Mask(net[0].weight)),
    "fixed": lambda net: parametrize.register_parametrization(*both(net)[0], Frozen(net[0].weight)),
}


def computed(name):
    torch.manual_seed(3)
    nets = [dense(), dense()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own about the old functions
        for net in nets:
            COMPUTED[name](net)
            net(X).sum().backward()  # what hooks compute has a graph
    return [net.eval() for net in nets]


def plain(net):
    """The same function with the weights that the module has after a call."""
    with torch.no_grad():
        net(X)
    other = dense()
    for k, kind in itertools.product((0, 2), ("weight", "bias")):
        getattr(other[k], kind).data = getattr(net[k], kind).detach().clone()
    return other


@pytest.mark.parametrize("name", COMPUTED)
def test_effective_weights_are_interpolated_and_matched(name):
    a, b = computed(name)
    keys = list(a.state_dict())
    ends = plain(a), plain(b)
    half = dense()
    for slot, u, v in zip(half.parameters(), *(end.parameters() for end in ends), strict=True):
        slot.data = ((u + v) / 2).detach()
    assert change(interpolate(a, b, 0.5), half, X) < 1e-12
    found = line(a, b, mse_loss, (X, Y), [0, 0.5, 1])
    assert found.losses[1].item() == pytest.approx(mse_loss(half(X), Y).item(), rel=1e-9)
    assert of_losses(found, (b, a)) and ("computed by" in found.buffers)
    assert symmetry(a, X).sizes == ({"0": 8} if name != "fixed" else {})  # a fixed part belongs to the architecture
    order = torch.randperm(8, generator=torch.Generator().manual_seed(1))
    moved = copy.deepcopy(ends[0])
    moved[0].weight.data, moved[0].bias.data = ends[0][0].weight.data[order], ends[0][0].bias.data[order]
    moved[2].weight.data = ends[0][2].weight.data[:, order]
    back = match(a, moved, X)
    assert all(torch.equal(u, v) for u, v in zip(back.parameters(), ends[0].parameters(), strict=True))
    if name == "spectral norm":
        path = merge_path(a, "0", 0, 1, mse_loss, (X, Y), torch.tensor([1.0]), steps=1)
        assert path.start == pytest.approx(mse_loss(a(X), Y).item(), rel=1e-12)
        assert torch.linalg.matrix_norm(interpolate(a, b, 0.5)[0].weight, 2) <= 1 + 1e-3
    a.train()(X).sum().backward()  # as it was
    assert list(a.state_dict()) == keys


def test_a_parametrised_buffer_is_a_plain_buffer():
    nets = [nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3)).double() for _ in range(2)]
    for k, net in enumerate(nets):
        scattered(net, k + 1).eval()[1].running_var.copy_(numbers(8, seed=k).exp())
    plain, x = interpolate(*nets, 0.5), numbers(9, 5)
    for net in nets:
        net[1].running_var.log_()
        parametrize.register_parametrization(net[1], "running_var", Exponential(), unsafe=True)
    made = interpolate(*nets, 0.5)
    assert change(made, plain, x) < 1e-12 and made(x).requires_grad and "1.running_var" in dict(made.named_buffers())
    assert symmetry(nets[0], x).sizes == {"0": 8}


def test_statistics_of_instance_norms_are_those_of_the_data():
    x, nets = numbers(30, 2, 4, 4), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        norm = nn.InstanceNorm2d(4, affine=True, track_running_stats=True)
        net = nn.Sequential(nn.Conv2d(2, 4, 3), norm, nn.Flatten(), nn.Linear(16, 3)).double()
        nets.append(net.train())
        net(x * seed + seed)
        net.eval()
    found = line(*nets, mse_loss, [(x, Y[:30])], [0, 0.5, 1])
    assert found.buffers == "running statistics of 1 instance norms interpolated like weights"
    again = line(*nets, mse_loss, [(x, Y[:30])], [0, 0.5, 1], "recomputed")
    half = interpolate(*nets, 0.5)
    z = half[0](x).detach()
    half[1].running_mean, half[1].running_var = z.mean((0, 2, 3)), z.var((2, 3)).mean(0)
    assert again.losses[1].item() == pytest.approx(mse_loss(half(x), Y[:30]).item(), rel=1e-9)


class Table(Net):
    """A buffer that calls make; where it is made of weights it must be made anew at each place."""

    saved, of_weights = False, False

    def forward(self, x):
        if not hasattr(self, "table"):
            made = self.a.bias.detach().exp() if self.of_weights else torch.linspace(0, 1, 8).to(x)
            self.register_buffer("table", made, persistent=self.saved)
        return self.b(torch.tanh(self.a(x)) * self.table)


@pytest.mark.parametrize("saved", [False, True])
@pytest.mark.parametrize("of_weights", [False, True])
def test_buffers_that_calls_make(saved, of_weights):
    kind = type("Table", (Table,), {"saved": saved, "of_weights": of_weights})
    nets = [kind(), kind()]
    for ends in (copy.deepcopy(nets), nets):
        fresh = copy.deepcopy(ends)
        found = line(*ends, mse_loss, (X, Y), [0, 0.5, 1])
        assert of_losses(found, (fresh[1], fresh[0])) and "table" not in dict(ends[0].named_buffers())
        assert symmetry(ends[0], X).sizes == ({"a": 8} if of_weights else {})  # the places of a table are in order
        if not of_weights:
            ends[0](X)  # one of them has it
            assert symmetry(ends[0], X).sizes == ({"a": 8} if saved else {})
            assert of_losses(line(*ends, mse_loss, (X, Y), [0, 0.5, 1]), (fresh[1], fresh[0]))


class Masked(Net):
    def more(self):
        self.register_buffer("mask", torch.rand(8, 5) < 0.5)

    def forward(self, x):
        return self.b(torch.tanh(F.linear(x, self.a.weight * self.mask, self.a.bias)))


class OwnNorm(Net):
    def more(self):
        self.register_buffer("mean", torch.randn(8))

    def forward(self, x):
        return self.b(torch.tanh(self.a(x) - self.mean))


def test_other_buffers_are_named():
    a, b = OwnNorm(), OwnNorm()
    found, half = line(a, b, mse_loss, (X, Y), [0, 0.5, 1]), copy.deepcopy(a)
    for slot, value in half.state_dict().items():
        value.copy_((value + b.state_dict()[slot]) / 2)
    assert found.losses[1].item() == pytest.approx(mse_loss(half(X), Y).item(), rel=1e-9)
    assert found.buffers == "no running statistics; 'mean' interpolated like weights"


class Kept(Net):
    def more(self):
        self.factor = torch.rand(()).item()

    def forward(self, x):
        return super().forward(x) * self.factor


class Stale(Net):
    def more(self):
        self.double()
        self.register_buffer("twice", 2 * self.a.weight.detach())

    def forward(self, x):
        return self.b(torch.tanh(x @ self.twice.T))


class Closure(Net):
    def more(self):
        a = self.a
        self.run = lambda x: torch.tanh(a(x))

    def forward(self, x):
        return self.b(self.run(x))


class Weights(Net):
    def more(self):
        w = self.a.weight
        self.a.register_forward_hook(lambda _, x, out: x[0] @ w.T)


ELSEWHERE = []


class Listed(Net):
    def more(self):
        self.number = len(ELSEWHERE)
        ELSEWHERE.append([self.a])

    def forward(self, x):
        return self.b(torch.tanh(ELSEWHERE[self.number][0](x)))


class Hidden(Net):
    def more(self):
        self.hidden = [nn.Linear(8, 8).double()]

    def forward(self, x):
        return self.b(self.hidden[0](torch.tanh(self.a(x))))


class Method(Net):
    """Bound methods and lists go along with a copy."""

    def more(self):
        self.first, self.layers = self.a.forward, [self.b]

    def forward(self, x):
        return self.layers[0](torch.tanh(self.first(x)))


class Remembers(Net):
    def forward(self, x):
        self.last = torch.tanh(self.a(x))  # has a graph
        return self.b(self.last)


NOT_COPIED = {Closure: "'a' is also", Weights: "'a.weight' is also", Listed: "'a' is also"}
REFUSED = NOT_COPIED | {Kept: "other outputs", Stale: "a.weight", Hidden: "other outputs", Masked: "'mask', a mask"}


@pytest.mark.parametrize("kind", REFUSED)
def test_copies_that_would_be_others_are_refused(kind):
    a, b = kind(), kind()
    with pytest.raises(ValueError, match=f"{REFUSED[kind]}.*allowed"):
        line(a, b, mse_loss, (X, Y))
    if kind is not Stale:
        with pytest.raises(ValueError, match="allowed"):
            interpolate(a, b, 0.5)
    if kind in NOT_COPIED:
        for call in (symmetry, partial(match, a)):
            with pytest.raises(ValueError, match="allowed"):
                call(b, X)


@pytest.mark.parametrize("kind", [Method, Remembers])
def test_copies_that_run_their_own_weights(kind):
    a, b = kind(), kind()
    a(X), b(X)
    assert of_losses(line(a, b, mse_loss, (X, Y), [0, 0.5, 1]), (b, a))
    assert symmetry(a, X).sizes == {"a": 8} and change(match(a, b, X), b, X) < 1e-12


class Expert(nn.Module):
    def __init__(self, condition=False, experts=4):
        super().__init__()
        self.inp, self.gate, self.out = nn.Linear(5, 8), nn.Linear(8, experts), nn.Linear(8, 3)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(8, 9), nn.ReLU(), nn.Linear(9, 8)) for _ in range(experts))
        self.condition = nn.Embedding(5, 8) if condition else None
        self.double().eval()

    def forward(self, x, label=None):
        h = self.inp(x) if label is None else self.inp(x) + self.condition(label)
        chosen = self.gate(h).argmax(-1)
        for e in chosen.unique().tolist():
            t = (chosen == e).nonzero()[:, 0]
            h = h.index_add(0, t, self.experts[e](h[t]))
        return self.out(h)


@pytest.mark.filterwarnings("ignore:groups are checked with numbers that the module reads by tolist")
def test_experts_that_no_token_chose_are_followed():
    torch.manual_seed(0)
    a, b, other = Expert(), Expert(), numbers(300, 5, seed=9)
    found = symmetry(a, X[:1])
    assert found.sizes == {"inp": 8} | {f"experts.{e}.0": 9 for e in range(4)}
    assert change(match(a, b, X[:1]), b, other) < 1e-12
    with pytest.raises(ValueError, match=r"other entries by an index.*allowed"):
        match(a, b, X, "activations")


class Head(Net):
    def more(self):
        self.aux = nn.Linear(8, 2)


class Elsewhere(Net):
    def more(self):
        self.aux = nn.Linear(3, 7)  # on no axis of eight


@pytest.mark.filterwarnings("ignore:groups are checked with numbers that the module reads by tolist")
def test_what_no_input_reads_is_refused_by_name_or_followed():
    labels = torch.arange(40) % 5
    for net, name in ((Expert(condition=True), "condition.weight"), (Head(), "aux.weight")):
        with pytest.raises(ValueError, match=f"no pass reads '{name}'.*allowed"):
            symmetry(net, X)
    net = Expert(condition=True)
    found = symmetry(net, X, also=[(X, labels)])
    perms = {g: torch.arange(m).roll(1) for g, m in found.sizes.items()}
    moved = permuted(net, found, perms)
    assert change(moved, net, X) < 1e-12 and change(moved, net, X, labels) < 1e-12
    assert symmetry(Elsewhere(), X).sizes == {"a": 8}


class Held:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Nested:
    def __init__(self, x):
        self.inside = {"parts": [Held(x)]}

    @property
    def x(self):
        return self.inside["parts"][0].x


class Graph(Net):
    def forward(self, graph):
        return super().forward(graph.x)


@pytest.mark.parametrize("kind", [Held, Nested, lambda x: SimpleNamespace(x=x)])
def test_inputs_in_objects_are_inputs(kind):
    net, ones = Graph(), kind(torch.ones(6, 5))
    found = symmetry(net, ones)
    assert found.sizes == {"a": 8} and verify(net, ones).holds()
    assert change(permuted(net, found, {"a": torch.arange(8).flip(0)}), net, kind(X)) < 1e-12
    assert ones.x.equal(torch.ones(6, 5))


class Branch(Net):
    def more(self):
        self.c = nn.Linear(5, 8)

    def forward(self, x):
        h = torch.tanh(self.a(x) if x.mean() > 0 else self.c(x))
        return self.b(h.cumsum(-1) if x.abs().mean() > 5 and self.ordered else h)

    ordered = False


class Ordered(Branch):
    ordered = True


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.inner, self.out = nn.Embedding(9, 6), nn.Linear(6, 8), nn.Linear(8, 3)
        self.double().eval()

    def forward(self, ids, lengths, mask):
        assert (1 <= lengths).all() and (lengths <= ids.shape[1]).all() and mask.any(-1).all() and (ids >= 0).all()
        keep = mask & (torch.arange(ids.shape[1]) < lengths[:, None])
        return self.out((torch.tanh(self.inner(self.embed(ids))) * keep[..., None]).sum(1))


class Picky(Net):
    def forward(self, x, n):
        assert n.tolist() == [3, 1]
        return super().forward(x)


def test_integers_and_masks_are_drawn_in_kind_or_named():
    ids, lengths = torch.arange(12).view(3, 4) % 9, torch.tensor([4, 2, 1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert symmetry(Tokens(), (ids, lengths, torch.ones(3, 4, dtype=torch.bool))).sizes == {"embed": 6, "inner": 8}
    with pytest.warns(UserWarning, match=r"without other values of input tensors 1 of shape \(2,\)"):
        assert symmetry(Picky(), (X, torch.tensor([3, 1]))).sizes == {"a": 8}


class Splines(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.register_buffer("grid", torch.linspace(-1, 1, 4).expand(i, -1).clone())
        self.weight = nn.Parameter(torch.randn(o, i, 4))

    def forward(self, x):
        return torch.einsum("bik,oik->bo", torch.relu(x[..., None] - self.grid), self.weight)


def test_equal_rows_of_a_buffer_move():
    net = nn.Sequential(Splines(5, 6), Splines(6, 3)).double()
    found = symmetry(net, X)
    assert found.sizes["0"] == 6 and {"0.weight", "1.weight", "1.grid"} == {p.name for p in found.groups["0"]}
    other = copy.deepcopy(net)
    other[1].grid += torch.linspace(0, 1, 6)[:, None]  # rows that differ move, too
    order = torch.tensor([3, 0, 5, 1, 2, 4])
    assert change(permuted(other, found, {"0": order}), other, X) < 1e-12
    net = Branch()
    found = symmetry(net, X.abs() - 0.1)
    assert {place.name for place in found.groups["a"]} == {"a.weight", "a.bias", "c.weight", "c.bias", "b.weight"}
    assert symmetry(Ordered(), X.abs() - 0.1).sizes == {}


class Noisy(Net):
    def more(self):
        self.c = nn.Linear(8, 8)

    def forward(self, x):
        z = self.a(x) + 0.3 * torch.randn_like(self.a(x))
        return self.b(torch.tanh(self.c(z)))


class Switched(Net):
    def forward(self, x):
        return self.b(torch.bernoulli(torch.sigmoid(self.a(x))))


calls = itertools.count(1)


class Counted(Net):
    def forward(self, x):
        return super().forward(x) * next(calls)


def test_noise_is_fixed_place_by_place():
    assert symmetry(Noisy(), X).sizes == {"c": 8} and symmetry(Switched(), X).sizes == {}
    a, b = Noisy(), Noisy()
    for net in (a, Counted()):
        with pytest.raises(ValueError, match=r"other outputs at every call.*allowed"):
            line(net, net, mse_loss, (X, Y))
    with pytest.raises(ValueError, match=r"other outputs at every call.*allowed"):
        line(Counted(), Counted(), mse_loss, (X, Y), seeds=5)
    flat = line(a, a, mse_loss, (X, Y), seeds=3).losses
    assert flat.equal(flat[:1].expand(11))
    found = line(a, b, mse_loss, (X, Y), [0, 1], seeds=100).losses
    with torch.no_grad():  # Monte Carlo with numbers of its own
        draws = torch.stack([torch.stack([mse_loss(net(X), Y) for net in (b, a)]) for _ in range(100)])
    error = (2 * draws.var(dim=0) / 100).sqrt()
    assert ((found - draws.mean(dim=0)).abs() < 4 * error).all()


class Flow(Net):
    def forward(self, x):
        for _ in range(50):
            step = F.pad(super().forward(x), (0, 2))
            x = x + 0.3 * step
            if step.abs().max() < 0.5:
                break
        return x


def test_depths_that_differ_are_told():
    torch.manual_seed(1)
    a, b = Flow(), Flow()
    with torch.no_grad():
        b.b.weight *= 0.1
        b.b.bias *= 0.1
    assert change(match(a, b, X), b, X) < 1e-9
    with pytest.raises(ValueError, match=r"units of 'a' are read \d+ times in a and 1 times in b.*allowed"):
        match(a, b, X, "activations")
    shuffled = permuted(a, symmetry(a, X), {"a": torch.tensor([3, 1, 0, 2, 7, 6, 5, 4])})
    assert match(a, shuffled, X, "activations").a.weight.equal(a.a.weight)
