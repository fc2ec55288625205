"""Networks for tests of modules: of many kinds, with their groups counted by hand; permutations entry by entry."""

import copy
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import spectral_norm, weight_norm

from benchmarks.modules import ResNet


@dataclass(frozen=True)
class Case:
    """A module, its input, the number of its groups, and parameters that no output depends on."""

    make: Callable[[], nn.Module]
    x: Callable[[], Any]
    groups: int
    idle: tuple[str, ...] = ()  # ends of names: biases that a softmax or a norm forgets


def outputs(module, x):
    with torch.no_grad():
        found = module(*x) if isinstance(x, tuple) else module(x)
    leaves = torch.utils._pytree.tree_leaves(found)
    return torch.cat([leaf.flatten() for leaf in leaves])


def difference(a, b):
    return ((a - b).abs().max() / b.abs().max()).item()


def drawn(found, seed=2):
    draw = torch.Generator().manual_seed(seed)
    return {group: torch.randperm(m, generator=draw) for group, m in found.sizes.items()}


def effective(module):
    """Weights that torch's own parametrisations compute become plain ones."""
    for part in list(module.modules()):
        own = getattr(part, "parametrizations", {})
        if own and all("torch" in type(one).__module__ for several in own.values() for one in several):
            values = {name: getattr(part, name).detach() for name in own}
            del part.parametrizations
            part.__class__ = type(part).__bases__[0]
            for name, value in values.items():
                part.register_parameter(name, nn.Parameter(value))
    return module


def moved(module, found, perms):
    """Entries of each axis put in order one by one, groups inside others last."""
    other = effective(copy.deepcopy(module))
    values = dict([*other.named_parameters(), *other.named_buffers()])
    for group in sorted(perms, key=lambda group: group in found.within):
        m, p = found.sizes[group], perms[group].tolist()
        for name, axis, offset, outer, inner, where in found.groups[group]:
            order, part = list(range(values[name].shape[axis])), values[name].data.clone()
            values[name].data = part
            for d, first, n in where:
                part = part.narrow(d, first, n)
            for o, u, i in itertools.product(range(outer), range(m), range(inner)):
                order[offset + (o * m + u) * inner + i] = offset + (o * m + p[u]) * inner + i
            part.copy_(part.index_select(axis, torch.tensor(order)))
    return other


def acted(module, found, acts):
    """Units, the last axis of each block of entries, by a function of the number of their place: group → function."""
    other = effective(copy.deepcopy(module))
    values = dict([*other.named_parameters(), *other.named_buffers()])
    for group, act in acts.items():
        m = found.sizes[group]
        for t, (name, axis, offset, outer, inner, where) in enumerate(found.groups[group]):
            part = values[name].data = values[name].data.clone()
            for d, first, n in where:
                part = part.narrow(d, first, n)
            for o, i in itertools.product(range(outer), range(inner)):
                at = torch.tensor([offset + (o * m + u) * inner + i for u in range(m)])
                units = part.index_select(axis, at).movedim(axis, -1)
                part.index_copy_(axis, at, act(t, units).movedim(-1, axis))
    return other


def claimed(found, group, draw):
    """A random move of every kind that is claimed of a group, one after the other, as a function for :func:`acted`."""
    kinds, m = found.kinds[group], found.sizes[group]
    signs = [(e, 1 - 2 * torch.randint(2, (m,), generator=draw).double()) for e in kinds.signs]
    scales = [(e, 0.5 + torch.rand(m, generator=draw, dtype=torch.float64)) for e in kinds.scales]
    shifts = [(e, torch.randn(m, generator=draw, dtype=torch.float64)) for e in kinds.translations]
    M = torch.eye(m).double() + 0.3 * torch.randn(m, m, generator=draw, dtype=torch.float64)
    Q = torch.linalg.qr(M)[0]

    def act(t, units):
        for e, c in (*signs, *scales):
            units = units * c ** e[t]
        for e, c in shifts:
            units = units + e[t] * c
        if kinds.linear:
            units = units @ (M.T if kinds.linear[t] > 0 else torch.linalg.inv(M)).to(units)
        return units @ Q.T.to(units) if kinds.rotations else units

    return act


CASES: dict[str, Case] = {}


def doubled(x):
    if isinstance(x, tuple):
        return tuple(map(doubled, x))
    return x.to(torch.float64) if x.is_floating_point() else x


def made(name):
    """The module of a case with random parameters and buffers, and its input."""
    torch.manual_seed(1)
    module, x = CASES[name].make().double().eval(), doubled(CASES[name].x())
    for value in module.parameters():
        value.data += 0.1 * torch.randn_like(value)
    for value in module.buffers():
        if value.is_floating_point() and value.ndim == 1:
            value.data += torch.rand_like(value)
    return module, x


def images(*shape):
    return lambda: torch.randn(*shape)


def case(groups, x, idle=()):
    """Register a class of modules."""

    def register(cls):
        CASES[cls.__name__] = Case(cls, x, groups, idle)
        return cls

    return register


def add(name, groups, x, *layers, idle=()):
    CASES[name] = Case(lambda: nn.Sequential(*(layer() for layer in layers)), x, groups, idle)


def of(cls, *args, **kwargs):
    return lambda: cls(*args, **kwargs)


VECTORS, PIXELS, TOKENS = images(4, 5), images(2, 3, 8, 8), images(2, 7, 5)
HEAD = (of(nn.AdaptiveAvgPool2d, 1), of(nn.Flatten))
add("mlp", 2, VECTORS, of(nn.Linear, 5, 7), of(nn.ReLU), of(nn.Linear, 7, 6), of(nn.LayerNorm, 6), of(nn.Linear, 6, 3))
add("batch norm", 1, VECTORS, of(nn.Linear, 5, 7), of(nn.BatchNorm1d, 7), of(nn.PReLU, 7), of(nn.Linear, 7, 3))
# channels; groups of the norm, and units in each of the three; neurons
add(
    "vgg",
    1 + 1 + 3 + 1,
    PIXELS,
    *(of(nn.Conv2d, 3, 8, 3, 1, 1), of(nn.ReLU), of(nn.MaxPool2d, 2), of(nn.Conv2d, 8, 6, 3, 1, 1)),
    *(of(nn.GroupNorm, 3, 6), of(nn.ReLU), of(nn.Flatten), of(nn.Linear, 96, 10), of(nn.ReLU), of(nn.Linear, 10, 4)),
)
# channels of the depthwise layer; groups that are read, one order inside all of them, made units in each of the three
add(
    "mobile",
    1 + 1 + 3 + 3,
    PIXELS,
    *(of(nn.Conv2d, 3, 8, 1), of(nn.ReLU6), of(nn.Conv2d, 8, 8, 3, 1, 1, groups=8), of(nn.BatchNorm2d, 8)),
    *(of(nn.Conv2d, 8, 6, 1), of(nn.Hardswish), of(nn.Conv2d, 6, 12, 3, groups=3), *HEAD, of(nn.Linear, 12, 3)),
)
add(
    "transposed",
    2,
    PIXELS,
    *(of(nn.Conv2d, 3, 6, 3), of(nn.InstanceNorm2d, 6, affine=True), of(nn.ConvTranspose2d, 6, 4, 3)),
    *(of(nn.Upsample, scale_factor=2), of(nn.Conv2d, 4, 2, 1)),
    idle=("0.bias",),
)
SHUFFLE = of(nn.PixelShuffle, 2)
add("pixel shuffle", 2, PIXELS, of(nn.Conv2d, 3, 8, 1), SHUFFLE, of(nn.Conv2d, 2, 4, 1), of(nn.Conv2d, 4, 1, 1))
LAYERS = [of(nn.TransformerEncoderLayer, 12, 3, 20, batch_first=True, norm_first=first) for first in (False, True)]
# the residual stream; in each layer heads, units of queries and of values in each of the three, neurons
ENDS = of(nn.Linear, 5, 12), of(nn.Linear, 12, 3)
add("encoder", 1 + 2 * (1 + 3 + 3 + 1), TOKENS, ENDS[0], *LAYERS, ENDS[1], idle=("in_proj_bias",))
add("weight norm", 1, VECTORS, lambda: weight_norm(nn.Linear(5, 7)), of(nn.Tanh), of(nn.Linear, 7, 3))
add("spectral norm", 1, VECTORS, lambda: spectral_norm(nn.Linear(5, 7)), of(nn.Tanh), of(nn.Linear, 7, 3))


class Basic(nn.Module):
    def __init__(self, i, o, stride=1):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(i, o, 3, stride, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.norm2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.short = nn.Identity() if i == o else nn.Sequential(nn.Conv2d(i, o, 1, stride), nn.BatchNorm2d(o))

    def forward(self, x):
        return torch.relu_(self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x))))).add_(self.short(x)))


class Padded(Basic):
    """The shortcut of ResNet20: channels of zeros before and behind."""

    def __init__(self, i, o, stride=1):
        super().__init__(i, o, stride)
        del self.short

    def forward(self, x):
        short = F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 2, 2))
        return torch.tanh(self.norm2(self.conv2(torch.relu(self.norm1(self.conv1(x))))) + short)


add("resnet", 4, PIXELS, of(nn.Conv2d, 3, 8, 3), of(Basic, 8, 8), of(Basic, 8, 12, 2), *HEAD, of(nn.Linear, 12, 5))
# in each of two stages, two groups inside and the stream; smaller inputs leave all units in there dead
add("bottleneck", 1 + 2 * (2 + 1), lambda: 10 * PIXELS(), of(ResNet, (1, 1), 4, 4))
add("padded", 4, PIXELS, of(nn.Conv2d, 3, 8, 3), of(Padded, 8, 12, 2), *HEAD, of(nn.Linear, 12, 5))


@case(4, PIXELS)
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.down, self.up = nn.Conv2d(3, 6, 3, 1, 1), nn.Conv2d(6, 8, 3, 2, 1), nn.ConvTranspose2d(8, 5, 2, 2)
        self.both, self.out = nn.Conv2d(11, 4, 3, 1, 1), nn.Conv2d(4, 2, 1)

    def forward(self, x):
        a = torch.relu(self.a(x))
        return self.out(torch.relu(self.both(torch.cat([a, torch.relu(self.up(torch.relu(self.down(a))))], 1))))


@case(2, PIXELS)
class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.deep, self.norm = nn.Conv2d(3, 6, 2, 2), nn.Conv2d(6, 6, 3, 1, 1, groups=6), nn.LayerNorm(6)
        self.up, self.down, self.scale = nn.Linear(6, 10), nn.Linear(10, 6), nn.Parameter(torch.full((6, 1, 1), 1e-6))
        self.out = nn.Linear(6, 3)

    def forward(self, x):
        h = self.stem(x)
        y = self.down(F.gelu(self.up(self.norm(self.deep(h).permute(0, 2, 3, 1))))).permute(0, 3, 1, 2)
        return self.out((h + self.scale * y).mean((-1, -2)))


@case(1 + 1 + 3 + 3 + 1, PIXELS, ("in_proj_bias",))
class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch, self.first = nn.Conv2d(3, 12, 4, 4), nn.Parameter(torch.randn(1, 1, 12))
        self.place, self.norm1, self.norm2 = nn.Parameter(torch.randn(1, 5, 12)), nn.LayerNorm(12), nn.LayerNorm(12)
        self.attention = nn.MultiheadAttention(12, 3, batch_first=True)
        self.mlp, self.out = nn.Sequential(nn.Linear(12, 20), nn.GELU(), nn.Linear(20, 12)), nn.Linear(12, 4)

    def forward(self, x):
        h = self.patch(x).flatten(2).transpose(1, 2)
        h = torch.cat([self.first.expand(len(h), -1, -1), h], 1) + self.place
        z = self.norm1(h)
        h = h + self.attention(z, z, z, need_weights=False)[0]
        return self.out((h + self.mlp(self.norm2(h)))[:, 0])


@case(1 + 1 + 3 + 3 + 1, lambda: torch.randint(0, 11, (2, 7)), ("qkv.bias",))
class GPT(nn.Module):
    """Tied embeddings, packed queries, keys and values, a causal mask in a buffer that is longer than the text."""

    def __init__(self):
        super().__init__()
        self.embed, self.place, self.head = nn.Embedding(11, 12), nn.Embedding(9, 12), nn.Linear(12, 11, bias=False)
        self.qkv, self.proj = nn.Linear(12, 36), nn.Linear(12, 12)
        self.norm1, self.norm2 = nn.LayerNorm(12), nn.RMSNorm(12)
        self.up, self.down = nn.Linear(12, 20), nn.Linear(20, 12)
        self.head.weight = self.embed.weight
        self.register_buffer("mask", torch.tril(torch.ones(9, 9))[None, None])
        self.register_buffer("places", torch.arange(9))

    def forward(self, i):
        B, T = i.shape
        h = self.embed(i) + self.place(self.places[:T])
        q, k, v = (part.view(B, T, 3, 4).transpose(1, 2) for part in self.qkv(self.norm1(h)).split(12, dim=2))
        scores = (q @ k.transpose(-2, -1) / 2).masked_fill(self.mask[:, :, :T, :T] == 0, -math.inf)
        h = h + self.proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, 12))
        return self.head(h + self.down(F.gelu(self.up(self.norm2(h)))))


class Attention(nn.Module):
    """Heads of 4 units with separate projections, 2 heads of keys and values for 4 of queries."""

    def __init__(self, heads=4, shared=2, d=4, width=16):
        super().__init__()
        self.heads, self.shared, self.d, self.inp = heads, shared, d, nn.Linear(5, width)
        self.q, self.k, self.v = nn.Linear(width, heads * d), nn.Linear(width, shared * d), nn.Linear(width, shared * d)
        self.proj, self.out = nn.Linear(heads * d, width), nn.Linear(width, 2)

    def parts(self, h):
        shape = (*h.shape[:2], -1, self.d)
        q, k, v = (f(h).view(shape).transpose(1, 2) for f in (self.q, self.k, self.v))
        repeat = self.heads // self.shared
        return q, *(part.repeat_interleave(repeat, dim=1) if repeat > 1 else part for part in (k, v))

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)

    def forward(self, x):
        h = self.inp(x)
        return self.out(h + self.proj(self.attend(*self.parts(h)).transpose(1, 2).flatten(2)))


# the residual stream; shared heads, and in each of the two heads of queries, units of queries, units of values
CASES["grouped queries"] = Case(Attention, TOKENS, 1 + 1 + 2 + 2 + 2, ("k.bias",))


class Rotary(Attention):
    def __init__(self):
        super().__init__(3, 3, 4, 12)
        angles = torch.arange(7)[:, None] * torch.tensor([1.0, 0.1]).repeat(2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def attend(self, q, k, v):
        def turned(x):
            a, b = x.chunk(2, dim=-1)
            return x * self.cos + torch.cat([-b, a], -1) * self.sin

        return super().attend(turned(q), turned(k), v)


class Across(Attention):
    """Heads attend to heads: queries have heads of their own, and the units of all heads one order."""

    def __init__(self):
        super().__init__(3, 3, 4, 12)

    def attend(self, q, k, v):
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        return (torch.softmax(q @ k.mT, -1) @ v).transpose(1, 2)


class Packed(Rotary):
    """Queries, keys and values inside each of three heads; some of their units turn."""

    def __init__(self, turning=0):
        super().__init__()
        self.qkv, self.turning = nn.Linear(12, 36), turning
        del self.q, self.k, self.v
        self.cos, self.sin = self.cos[:, :turning], self.sin[:, :turning]

    def parts(self, h):
        return (one.transpose(1, 2) for one in self.qkv(h).view(*h.shape[:2], 3, 3, 4).unbind(3))

    def attend(self, q, k, v):
        def turned(x):
            x, still = x[..., : self.turning], x[..., self.turning :]
            a, b = x.chunk(2, dim=-1)
            return torch.cat([x * self.cos + torch.cat([-b, a], -1) * self.sin, still], -1)

        return F.scaled_dot_product_attention(turned(q), turned(k), v)


class Repeated(Attention):
    """Every other head of queries has the same keys."""

    def parts(self, h):
        q, k, v = (f(h).view(*h.shape[:2], -1, self.d).transpose(1, 2) for f in (self.q, self.k, self.v))
        return q, k.repeat(1, 2, 1, 1), v.repeat(1, 2, 1, 1)


class Chunks(Attention):
    """Heads cut from queries, keys and values and put on an axis, or on that of examples, one after another."""

    def __init__(self, dim=None):
        super().__init__(3, 3, 4, 12)
        self.dim = dim

    def forward(self, x):
        h = self.inp(x)
        parts = (f(h).chunk(3, -1) for f in (self.q, self.k, self.v))
        z = self.attend(*(torch.cat(one) if self.dim is None else torch.stack(one, self.dim) for one in parts))
        return self.out(h + self.proj(torch.cat(z.chunk(3) if self.dim is None else z.unbind(self.dim), -1)))


class Fused(Attention):
    """For each of two groups its heads of queries, their key and their value side by side, as in Falcon."""

    def __init__(self, parts):
        super().__init__()
        self.qkv, self.part = nn.Linear(16, 32), parts
        del self.q, self.k, self.v

    def parts(self, h):
        q, k, v = self.part(self.qkv(h).view(*h.shape[:2], 2, 4, 4))
        return (one.expand(q.shape).flatten(2, 3).transpose(1, 2) for one in (q, k, v))


# the residual stream; in each head, whose order cat and stack fix, units of queries, units of values
for dim in (None, 0, 1):
    CASES[f"heads on {dim}"] = Case(of(Chunks, dim), TOKENS, 1 + 3 + 3, ("k.bias",))
FUSED = {
    "slices": lambda z: (z[..., :2, :], z[..., 2:3, :], z[..., 3:, :]),
    "lists": lambda z: (z[..., :-2, :], z[..., [-2], :], z[..., [-1], :]),
    "entries": lambda z: (z[..., :-2, :], z[..., 2, :][..., None, :], z.select(-2, -1).unsqueeze(-2)),
}
for name, parts in FUSED.items():  # the residual stream; shared heads, in each heads, units of queries, of values
    CASES[f"fused {name}"] = Case(of(Fused, parts), TOKENS, 1 + 1 + 2 + 2 + 2, ("qkv.bias",))
# the residual stream; heads, and in each of the three, units of queries that do not turn, units of values
CASES["packed inside heads"] = Case(Packed, TOKENS, 1 + 1 + 3 + 3, ("qkv.bias",))
CASES["partly rotary"] = Case(of(Packed, 2), TOKENS, 1 + 1 + 3 + 3, ("qkv.bias",))
CASES["packed rotary"] = Case(of(Packed, 4), TOKENS, 1 + 1 + 3)
# the residual stream; which of two heads with the same keys, in one order for all; shared heads with units in each
CASES["repeated keys"] = Case(Repeated, TOKENS, 1 + 1 + 1 + 2 + 2, ("k.bias",))


class Mixed(nn.Module):
    """Queries, keys and values inside each head, of a convolution of their groups, or before and behind one."""

    def __init__(self, n, both):
        super().__init__()
        self.both, groups = both, 12 * n if both else 3 * n
        self.qkv, self.mix = nn.Conv1d(4, 12 * n, 1), nn.Conv1d(12 * n, 12 * n, 1, groups=groups)
        self.out = nn.Conv1d(4 * n * (1 + both), 2, 1)

    def forward(self, x):
        z = self.qkv(x)
        z = torch.cat([z, self.mix(z)], 1) if self.both else self.mix(z)
        q, k, v = z.tanh().view(len(z), -1, 12, z.shape[-1]).chunk(3, 2)
        return self.out((q.mT @ (k @ v.mT)).mT.flatten(1, 2))


# queries, keys and values before, then those of queries and keys, and of values; heads, and in each those
CASES["mixed in groups"] = Case(of(Mixed, 1, False), images(2, 4, 3), 3 + 2)
CASES["heads twice"] = Case(of(Mixed, 2, True), images(2, 4, 3), 1 + 2 + 2)
CASES["norm in heads"] = Case(
    of(
        nn.Sequential,
        *(nn.Linear(5, 12), nn.Unflatten(-1, (3, 4)), nn.LayerNorm(4), nn.Flatten(-2), nn.Tanh(), nn.Linear(12, 3)),
    ),
    VECTORS,
    2,
)
CASES["rotary"] = Case(Rotary, TOKENS, 1 + 1 + 3)  # no units of queries
CASES["across"] = Case(Across, TOKENS, 1 + 2 + 1 + 1)


@case(2 + 1 + 3 + 3, lambda: (torch.randn(7, 2, 4), torch.randn(6, 2, 3)))
class Cross(nn.Module):
    """Two inputs, a dict of outputs; keys and values of other widths, extra ones, tokens first."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(4, 12), nn.Linear(3, 5)
        self.attention = nn.MultiheadAttention(12, 3, kdim=5, vdim=5, add_bias_kv=True, add_zero_attn=True)
        self.out = nn.Linear(12, 2)

    def forward(self, x, y):
        x, y = self.a(x), self.b(y)
        z, weights = self.attention(x, y, y)
        return {"out": (self.out(x + z), weights)}


@case(2, TOKENS)
class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.out = nn.LSTMCell(5, 6), nn.GRUCell(6, 4), nn.Linear(4, 2)

    def forward(self, x):
        state, h = None, None
        for step in x.unbind(1):
            state = self.lstm(step, state)
            h = self.gru(state[0], h)
        return self.out(h)


for kind in (nn.RNN, nn.GRU, nn.LSTM):  # a first layer, and two layers, in both directions each

    @case(1 + 4, TOKENS)
    class Recurrent(nn.Module):
        def __init__(self, kind=kind):
            super().__init__()
            self.inp, self.out = nn.Linear(5, 6), nn.Linear(8, 2)
            self.rnn = kind(6, 4, num_layers=2, batch_first=True, bidirectional=True)

        def forward(self, x):
            return self.out(self.rnn(self.inp(x))[0])

    CASES[kind.__name__] = CASES.pop("Recurrent")


@case(1, PIXELS)
class Waves(nn.Module):
    """A convolution in Fourier space, with complex weights."""

    def __init__(self):
        super().__init__()
        self.inp, self.out = nn.Conv2d(3, 6, 1), nn.Conv2d(6, 2, 1)
        self.W = nn.Parameter(torch.randn(6, 6, dtype=torch.cdouble))

    def forward(self, x):
        h = self.inp(x)
        low = torch.fft.rfft2(h)[..., :3, :3].to(torch.cdouble)
        low = torch.fft.irfft2(torch.einsum("bixy,oi->boxy", low, self.W), s=(8, 8)).to(h.dtype)
        return self.out(h + low.roll(1, dims=-1))


@case(2, PIXELS)
class Turned(nn.Module):
    """Filters in four directions, all with one bias."""

    def __init__(self):
        super().__init__()
        self.filters, self.bias = nn.Parameter(torch.randn(4, 3, 3, 3)), nn.Parameter(torch.randn(4))
        self.mid, self.out = nn.Linear(4, 5), nn.Linear(5, 2)

    def forward(self, x):
        every = torch.stack([self.filters.rot90(k, (-2, -1)) for k in range(4)], 1).flatten(0, 1)
        h = F.conv2d(x, every).unflatten(1, (4, 4)).relu().amax(2).mean((-1, -2))
        return self.out(self.mid(h + self.bias).tanh())


ORDERED = {  # what makes the order of hidden units count
    "sort": lambda h: h * h.sort(-1).indices,
    "argmax": lambda h: h * h.argmax(-1, keepdim=True),
    "topk": lambda h: h + h.topk(2, dim=-1).indices.sum(-1, keepdim=True),
    "largest": lambda h: h + h.max(-1, keepdim=True)[1],
    "not followed": lambda h: h + torch.linalg.pinv(h[:, None] * h[:, :, None]).sum(-1),
    "cumsum": lambda h: h.cumsum(-1),
    "neighbours": lambda h: F.pad(h[:, 1:] - h[:, :-1], (0, 1)),
    "looked up": lambda h: h * torch.linspace(0, 1, 6, dtype=h.dtype)[h.argmax(-1)][:, None],
    "position": lambda h: torch.where(torch.arange(6) < 3, h, -h),
    "index": lambda h: h[:, [0, 1, 1, 2, 5, 5]],
    "index write": lambda h: h.index_put((torch.arange(len(h)), torch.arange(len(h))), h.new_tensor(2.0)),
    "slice write": lambda h: h.clone().index_fill_(1, torch.tensor([1]), 0.5),
    "entry write": lambda h: torch.stack([h[:, 0] * 2, *h.unbind(1)[1:]], 1),
    "scatter": lambda h: h.scatter(1, torch.ones(len(h), 1, dtype=torch.long), 3.0),
    "roll": lambda h: h + h.roll(1, -1),
    "flip": lambda h: h + h.flip(-1),
    "pixels": lambda h: F.avg_pool1d(h[:, None], 3, 1, 1)[:, 0],
    "triangle": lambda h: torch.einsum("bi,bj->bij", h, h).tril().sum(1),
    "odd": lambda h: torch.cat([h[..., ::4], h[..., 1:5]], -1),
    "table": lambda h: h + torch.linspace(0, 1, 6, dtype=h.dtype)[(h > 0).long()].cumsum(-1),
    "matrix": lambda h: h @ torch.vander(torch.arange(6, dtype=h.dtype)),
}


def zeroed(h):
    h[h < 0] = 0
    h[h.sum(-1) > 1] = h.mean(0).tanh()
    return h


FREE = {  # what does not: values by their size, units that an index of them picks, and forms in place
    "one-hot": lambda h: h * F.one_hot(h.argmax(-1), 6),
    "largest kept": lambda h: torch.zeros_like(h).scatter(-1, h.topk(2, -1)[1], h.topk(2, -1)[0].relu()),
    "least": lambda h: h - h.tanh().gather(-1, h.argsort(-1)[:, :2]).sum(-1, keepdim=True),
    "largest value": lambda h: h * h.max(-1, keepdim=True)[0],
    "rounded": lambda h: torch.fake_quantize_per_tensor_affine(h, 0.05, 0, -99, 99),
    "steps": lambda h: torch.fake_quantize_per_channel_affine(h, torch.full((6,), 0.1), torch.zeros(6).int(), 1, -9, 9),
    "median": lambda h: h - h.median(-1, keepdim=True)[0],
    "threshold": lambda h: h * (h >= h.topk(4, -1)[0][..., -1:]),
    "sorted values": lambda h: h * (h.sort(-1)[0] * torch.arange(6, dtype=h.dtype)).sum(-1, keepdim=True),
    "third": lambda h: h * h.kthvalue(3, -1, keepdim=True)[0],
    "zeroed": zeroed,
    "between each other": lambda h: h * torch.cat([h[..., ::2], h[..., 1::2]], -1).square().sum(-1, keepdim=True),
    "masked": lambda h: h.masked_fill_(h < 0, 0.5),
    "in place": lambda h: F.mish(F.threshold(h.abs_(), 0.1, 0.0, inplace=True), inplace=True),
    "shapes": lambda h: h.tanh() + torch.zeros_like(h[:, :1]) + h[:, 0].new_ones(1),
    "numbers": lambda h: h.tanh() * int(torch.div(h.shape[1], 2, rounding_mode="trunc")),
}


class Ordered(nn.Module):
    def __init__(self, step):
        super().__init__()
        self.inp, self.out, self.step = nn.Linear(5, 6), nn.Linear(6, 2), (ORDERED | FREE)[step]

    def forward(self, x):
        return self.out(self.step(self.inp(x)))


@case(3, VECTORS)
class Layers(nn.Module):
    """Layers stacked in one parameter and taken out one by one: units before, between and after them."""

    def __init__(self):
        super().__init__()
        self.inp, self.W, self.out = nn.Linear(5, 6), nn.Parameter(torch.randn(2, 6, 6) / 2), nn.Linear(6, 2)

    def forward(self, x):
        h = self.inp(x)
        for W in self.W:
            h = torch.tanh(h @ W)
        return self.out(h)


@case(1 + 2, VECTORS)
class Experts(nn.Module):
    """Experts that a router weighs: they may be exchanged, and the units of each."""

    def __init__(self):
        super().__init__()
        self.up, self.bias, self.down = (nn.Parameter(torch.randn(2, *n)) for n in ((5, 4), (4,), (4, 3)))
        self.router = nn.Linear(5, 2)

    def forward(self, x):
        h = torch.einsum("bi,nih->bnh", x, self.up) + self.bias
        return (torch.einsum("bnh,nho->bno", h.tanh(), self.down) * self.router(x).softmax(-1)[..., None]).sum(1)


@case(3, images(6, 4, 5))
class Mixer(nn.Module):
    """Channels are samples to the layers that mix tokens."""

    def __init__(self):
        super().__init__()
        self.inp, self.up, self.down = nn.Linear(5, 6), nn.Linear(4, 9), nn.Linear(9, 4)
        self.between, self.out = nn.Linear(6, 7), nn.Linear(7, 2)

    def forward(self, x):
        h = self.inp(x)
        return self.out(self.between(h + self.down(self.up(h.mT).tanh()).mT).tanh())


@case(2, VECTORS)
class Members(Experts):
    """Networks stacked in an ensemble, whose outputs are apart."""

    def forward(self, x):
        h = torch.einsum("bi,nih->bnh", x, self.up) + self.bias
        return torch.einsum("bnh,nho->bno", h.tanh(), self.down), self.router(x)


@case(1 + 2, VECTORS)
class Chosen(Experts):
    """The expert that the router prefers."""

    def forward(self, x):
        w, e = self.router(x).softmax(-1).topk(1, -1)
        h = torch.einsum("bi,bkih->bkh", x, self.up[e]) + self.bias[e]
        return torch.einsum("bkh,bkho,bk->bo", h.tanh(), self.down[e], w)


@case(1 + 2, VECTORS, ("router.bias",))
class Choosing(Experts):
    """Experts that take the examples they prefer."""

    def forward(self, x):
        w, at = self.router(x).T.softmax(-1).topk(3, -1)
        z = (x[at] @ self.up + self.bias[:, None]).tanh() @ self.down * w[..., None]
        return z.new_zeros(len(x), 3).index_add(0, at.flatten(), z.flatten(0, 1))


@case(1 + 3, VECTORS)
class Gathered(nn.Module):
    """Experts of modules of their own, whose weights are put together for one product."""

    def __init__(self):
        super().__init__()
        self.up, self.down = (nn.ModuleList(nn.Linear(*n) for _ in range(3)) for n in ((6, 4), (4, 6)))
        self.inp, self.router, self.out = nn.Linear(5, 6), nn.Linear(6, 3), nn.Linear(6, 2)

    def forward(self, x):
        h = self.inp(x)
        z = h.expand(3, -1, -1)
        for layer in (self.up, self.down):
            W, b = (torch.stack([getattr(one, kind) for one in layer]) for kind in ("weight", "bias"))
            z = torch.baddbmm(b[:, None], z.tanh(), W.mT)
        return self.out(h + torch.einsum("ebd,be->bd", z, self.router(h).softmax(-1)))


@case(2, VECTORS)
class Codes(nn.Module):
    """The nearest code, and what another table has at its index."""

    def __init__(self):
        super().__init__()
        self.code, self.more, self.out = nn.Embedding(6, 5), nn.Parameter(torch.randn(6, 3)), nn.Linear(3, 2)

    def forward(self, x):
        k = torch.cdist(x, self.code.weight).argmin(-1)
        return self.code(k), self.out(self.more[k].tanh())


@case(2 + 2 * (1 + 2 + 2) + 1, lambda: (torch.randn(2, 4, 8), torch.randn(2, 6, 8)), ("in_proj_bias",))
class Decoder(nn.Module):
    """Two streams, which rows of one weight read apart: queries, and keys and values."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 2)
        self.layer = nn.TransformerDecoderLayer(8, 2, 12, batch_first=True)

    def forward(self, x, y):
        return self.out(self.layer(self.a(x), self.b(y)))


@case(2, TOKENS)
class Sequences(nn.Module):
    """Of several lengths, in any order; last states of both directions side by side; more rows than the text reads."""

    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM(5, 4, bidirectional=True), nn.Linear(8, 2)
        self.places = nn.Parameter(torch.randn(7, 1, 8))

    def forward(self, x):
        h, (last, _) = self.rnn(nn.utils.rnn.pack_padded_sequence(x, [5, 7], True, enforce_sorted=False))
        h, places = nn.utils.rnn.pad_packed_sequence(h, True)[0], self.places.expand(7, 2, 8)[:4].flatten(0, 1)
        return self.out((h + last.transpose(0, 1).flatten(1)[:, None] + places[:7]).tanh())


@case(1 + 2 + 1 + 3, VECTORS)
class Beside(nn.Module):
    """Heads of two layers side by side, two and three."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(5, 8), nn.Linear(5, 12), nn.Linear(20, 2)

    def forward(self, x):
        return self.out(torch.cat([f(x).view(len(x), -1, 4).softmax(-1) for f in (self.a, self.b)], 1).flatten(1))


@case(1 + 1 + 2, images(5, 3, 8, 8))
class Divided(nn.Module):
    """Channels of two layers, 2 and 4, read in groups of 3."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 2, 1), nn.Conv2d(3, 4, 1), nn.Conv2d(6, 4, 3, groups=2)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.c(torch.cat([self.a(x), self.b(x)], 1).tanh()).tanh().mean((2, 3)))


@case(2 + 1 + 2, PIXELS)
class Across(nn.Module):
    """Groups of four channels over 2 and 10: the two of a, two of b, and two whole groups of b with their channels."""

    def __init__(self, *before):
        super().__init__()
        self.a, self.norm, self.out = nn.Conv2d(3, 2, 1), nn.GroupNorm(3, 12), nn.Linear(12, 2)
        self.b = nn.Sequential(nn.Conv2d(3, 10, 1), *before)

    def forward(self, x):
        return self.out(self.norm(torch.cat([self.a(x), self.b(x)], 1)).relu().mean((2, 3)))


@case(4, PIXELS)
class Places(nn.Module):
    """Channels that are folded, moved by a transformer of places, met in pairs, and looked up in bags."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.bags = nn.Conv2d(3, 4, 1), nn.Conv2d(3, 5, 1), nn.EmbeddingBag(9, 6)
        self.both, self.out = nn.Bilinear(4, 5, 7), nn.Linear(7, 2)
        self.turn, self.last = nn.Linear(5, 6), nn.Linear(6, 2)

    def forward(self, x):
        a, b = F.fold(F.unfold(self.a(x), 3, padding=1), (8, 8), 3, padding=1), self.b(x)
        grid = F.affine_grid(self.turn(b.mean((2, 3))).tanh().view(-1, 2, 3), b.shape, align_corners=False)
        h = self.both(a.mean((2, 3)), F.grid_sample(b, grid, align_corners=False).mean((2, 3)))
        bags = self.bags(torch.arange(8).view(2, 4))
        return self.out(h.tanh() * F.mse_loss(h, h.tanh())) + self.last(bags.tanh())


CASES["norm across"] = CASES.pop("Across")
# the two of a; the pair of b that is cut off; two groups, in each two pairs, and in one order for both the two of these
CASES["norms across"] = Case(lambda: Across(nn.GroupNorm(5, 10)), PIXELS, 1 + 1 + 1 + 2 + 2)


for step in ORDERED | FREE:
    CASES[step] = Case(lambda step=step: Ordered(step), VECTORS, int(step in FREE))


class Masked(nn.Linear):
    """A mask of weights belongs to the architecture."""

    def __init__(self, i, o):
        super().__init__(i, o)
        self.register_buffer("mask", (torch.rand(o, i) < 0.7).float())

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)


class Shifted(nn.Module):
    """F + D ⊙ W with F and D fixed."""

    def __init__(self, W):
        super().__init__()
        self.register_buffer("F", torch.randn_like(W))
        self.register_buffer("D", torch.rand_like(W))

    def forward(self, W):
        return self.F + self.D * W


def shifted(layer, *names):
    for name in names:
        parametrize.register_parametrization(layer, name, Shifted(getattr(layer, name)))
    return layer


add("mask", 0, VECTORS, of(Masked, 5, 6), of(nn.ReLU), of(nn.Linear, 6, 2))
add("asymmetric", 1, VECTORS, lambda: shifted(nn.Linear(5, 6), "weight"), of(nn.Linear, 6, 4), of(nn.Linear, 4, 2))
add("asymmetric bias", 1, VECTORS, lambda: shifted(nn.Linear(5, 6), "bias"), of(nn.Linear, 6, 4), of(nn.Linear, 4, 2))
