"""Small architectures drawn at random: the function is kept, or the trace refuses, which it does seldom."""

import os
from functools import partial

import pytest
import torch
from cases import acted, claimed, difference, drawn, moved, outputs
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from lmc_helpers.modules.symmetry import symmetry

SEED = os.environ.get("LMC_FUZZ_SEED")  # without it all draws are the same in every run
NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "batch": nn.BatchNorm1d}
NORMS["instance"] = partial(nn.InstanceNorm1d, affine=True)


class Drawn(nn.Module):
    """A program on tokens (B, T, c): a step takes the last result, layers, and earlier results by their numbers."""

    def __init__(self):
        super().__init__()
        self.layers, self.program, self.shown, self.widths = nn.ModuleList(), [], [], [3]

    def then(self, name, width, f, *more):
        self.layers.extend(layer for layer in more if isinstance(layer, nn.Module) and layer not in self.layers)
        self.program.append((f, more))
        self.shown.append(f"{name} {width}")
        self.widths.append(width)

    def forward(self, x):
        results = [x]
        for f, more in self.program:
            results.append(f(results[-1], *(results[one] if isinstance(one, int) else one for one in more)))
        return results[-1]

    def __repr__(self):
        return ", ".join(self.shown)


def applied(h, layer):
    return layer(h)


def channels_first(h, layer):
    return layer(h.transpose(1, 2)).transpose(1, 2)


def whole(draw, low, high):
    return draw(st.integers(low, high))


def divisor(draw, c):
    return draw(st.sampled_from([n for n in range(1, c + 1) if c % n == 0]))


def linear(draw, c, net):
    o = 2 * whole(draw, 1, 4)
    return o, applied, nn.Linear(c, o, bias=draw(st.booleans()))


def again(draw, c, net):
    """A layer that was used before."""
    used = [more[0] for f, more in net.program if f is applied and getattr(more[0], "in_features", 0) == c]
    if used:
        layer = draw(st.sampled_from(used))
        return layer.out_features, applied, layer


def convolution(draw, c, net):
    o, size = 2 * whole(draw, 1, 4), draw(st.sampled_from([1, 3]))
    return o, channels_first, nn.Conv1d(c, o, size, padding=size // 2)


def grouped(draw, c, net):
    o = (n := divisor(draw, c)) * whole(draw, 1, 3)
    return o, channels_first, nn.Conv1d(c, o, 3, padding=1, groups=n)


def norm(draw, c, net):
    kind = draw(st.sampled_from(["group", *NORMS]))
    layer = nn.GroupNorm(divisor(draw, c), c) if kind == "group" else NORMS[kind](c)
    return c, applied if kind in ("layer", "rms") else channels_first, layer


def concatenate(draw, c, net):
    k = whole(draw, 1, len(net.widths) - 1)
    return (c + net.widths[k], lambda h, g: torch.cat([g, h], -1), k) if c + net.widths[k] <= 16 else None


def packed(draw, c, net):
    def attend(h, layer):
        q, k, v = layer(h).unflatten(-1, (3, n, c // n)).permute(2, 0, 3, 1, 4)
        return h + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(h.shape)

    n = divisor(draw, c)
    return c, attend, nn.Linear(c, 3 * c)


def written(h, k):
    out = torch.zeros_like(h)
    out[..., :k] = h[..., :k].tanh()
    out[..., k:] += h[..., k:]
    return out


#: A step's new width, its function, and what that takes after the last result; None where the step is not possible.
STEPS = {step.__name__: step for step in (linear, again, convolution, grouped, norm, concatenate, packed)} | {
    "activation": lambda draw, c, net: (c, draw(st.sampled_from([torch.tanh, F.gelu, F.silu, torch.sin, F.elu]))),
    "residual": lambda draw, c, net: (
        *(c, lambda h, a, b: h + b(a(h).tanh())),
        *(nn.Linear(c, m := 2 * whole(draw, 1, 4)), nn.Linear(m, c)),
    ),
    "add": lambda draw, c, net: (
        *(c, torch.add, draw(st.sampled_from([k for k, w in enumerate(net.widths) if k and w == c]))),
    ),
    "attention": lambda draw, c, net: (
        *(c, lambda h, f: h + f(h, h, h)[0]),
        nn.MultiheadAttention(c, divisor(draw, c), batch_first=True),
    ),
    "gate": lambda draw, c, net: (c // 2, F.glu) if c % 2 == 0 else None,
    "shuffle": lambda draw, c, net: (
        *(c, partial(lambda n, h: h.unflatten(-1, (n, -1)).transpose(-1, -2).flatten(-2), divisor(draw, c))),
    ),
    "slice": lambda draw, c, net: (
        (c - 1, partial(lambda a, h: h[..., a : c - 1 + a], whole(draw, 0, 1))) if c > 2 else None
    ),
    "excite": lambda draw, c, net: (
        *(c, lambda h, a, b: h * b(a(h.mean(1, True)).relu()).sigmoid()),
        *(nn.Linear(c, 3), nn.Linear(3, c)),
    ),
    "softmax": lambda draw, c, net: (c, partial(F.softmax, dim=-1)),
    "write": lambda draw, c, net: (c, partial(written, k=whole(draw, 1, c))),
    "pad": lambda draw, c, net: (c + (k := whole(draw, 0, 2)) + 1, partial(F.pad, pad=(k, 1))),
    "roll": lambda draw, c, net: (c, partial(lambda dim, h: h + h.roll(1, dim), draw(st.sampled_from([1, 1, 2])))),
    "place": lambda draw, c, net: (c, lambda h, places: h + places[0], nn.ParameterList([torch.randn(4, c)])),
    "repeat": lambda draw, c, net: (2 * c, lambda h: h.repeat_interleave(2, -1)),
}
OFTEN = "linear convolution norm activation residual again add concatenate attention grouped".split()
SELDOM = "concatenate gate packed shuffle slice excite softmax write pad roll place repeat".split()


@st.composite
def networks(draw):
    """A module of 2 to 8 steps after a first layer, in random order; its last layer reads means or all tokens."""
    net = Drawn()
    for name in ["linear", *draw(st.lists(st.sampled_from(2 * OFTEN + SELDOM), min_size=2, max_size=8))]:
        if step := STEPS[name](draw, net.widths[-1], net):
            net.then(name, *step)
    c = net.widths[-1]
    if draw(st.booleans()):
        net.then("mean", c, lambda h: h.mean(1))
    else:
        net.then("flat", 4 * c, lambda h: h.flatten(1))
    net.then("linear", 2, applied, nn.Linear(net.widths[-1], 2))
    return net


@pytest.mark.parametrize("draws", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_drawn_modules(draws):
    refused, groups = [], []

    @settings(
        max_examples=draws, derandomize=SEED is None, database=None, deadline=None, suppress_health_check=HealthCheck
    )
    @given(networks())
    def keeps_its_function(net):
        draw = torch.Generator().manual_seed(1)
        x = torch.randn(2, 4, 3, dtype=torch.float64, generator=draw)
        for value in net.double().eval().parameters():
            value.data = torch.randn(value.shape, dtype=torch.float64, generator=draw) / 2
        try:
            found = symmetry(net, x, kinds=len(groups) % 4 == 0)
        except ValueError as error:
            refused.append(f"{net}: {error}")
            return
        groups.append(len(found.sizes))
        expected = outputs(net, x)
        changed = difference(outputs(moved(net, found, drawn(found)), x), expected)
        assert changed < 1e-9, (changed, found)
        changed = difference(outputs(acted(net, found, {g: claimed(found, g, draw) for g in found.kinds}), x), expected)
        assert changed < 1e-7, (changed, found, found.kinds)

    (keeps_its_function if SEED is None else seed(int(SEED))(keeps_its_function))()
    assert len(refused) <= (len(refused) + len(groups)) / 10, refused
    assert sum(n > 0 for n in groups) >= 0.8 * len(groups) >= 0.4 * draws  # what is drawn has something to permute
