"""Small architectures drawn at random: the function is kept, or the trace refuses, which it does seldom."""

import os

import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from oracles.zoo import difference, drawn, moved, outputs
from torch import nn

from lmc_helpers.modules.symmetry import symmetry

SEED = os.environ.get("LMC_FUZZ_SEED")  # without it all draws are the same in every run
NORMS = {"layer": nn.LayerNorm, "rms": nn.RMSNorm, "batch": nn.BatchNorm1d, "group": nn.GroupNorm}
NORMS["instance"] = nn.InstanceNorm1d
OFTEN = "linear convolution norm activation residual again add concatenate attention grouped".split()
SELDOM = "concatenate gate packed shuffle slice excite softmax write pad roll place repeat".split()
STEPS = 2 * OFTEN + SELDOM


class Drawn(nn.Module):
    """A program on tokens (B, T, c): its steps know their layers, and earlier results."""

    def __init__(self):
        super().__init__()
        self.layers, self.steps, self.shown = nn.ModuleList(), [], []

    def layer(self, module):
        self.layers.append(module)
        return len(self.layers) - 1

    def then(self, name, step):
        self.shown.append(name)
        self.steps.append(step)

    def forward(self, x):
        results = [x]
        for step in self.steps:
            results.append(step(self.layers, results))
        return results[-1]

    def __repr__(self):
        return ", ".join(self.shown)


def channels_first(layer, h):
    return layer(h.transpose(1, 2)).transpose(1, 2)


def packed(layers, k, n, h):
    B, T, c = h.shape
    q, k, v = layers[k](h).view(B, T, 3, n, c // n).permute(2, 0, 3, 1, 4)
    return h + nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, T, c)


def written(h, k):
    out = torch.zeros_like(h)
    out[..., :k] = h[..., :k].tanh()
    out[..., k:] += h[..., k:]
    return out


@st.composite
def networks(draw):
    """A module of 2 to 8 steps after a first layer, in random order; its last layer reads means or all tokens."""
    net, widths, reads = Drawn(), [3], {}

    def whole(low, high):
        return draw(st.integers(low, high))

    def divisor(c):
        return draw(st.sampled_from([n for n in range(1, c + 1) if c % n == 0]))

    def layer(module, i, o):
        k = net.layer(module)
        reads.setdefault(i, []).append((k, o))
        return k

    def linear(c, o=None):
        o = o or 2 * whole(1, 4)
        k = layer(nn.Linear(c, o, bias=draw(st.booleans())), c, o)
        net.then(f"linear {o}", lambda layers, h: layers[k](h[-1]))
        return o

    def step(name, c):
        if name == "linear":
            return linear(c)
        if name == "convolution":
            o, size = 2 * whole(1, 4), draw(st.sampled_from([1, 3]))
            k = net.layer(nn.Conv1d(c, o, size, padding=size // 2))
            net.then(f"convolution {o}", lambda layers, h: channels_first(layers[k], h[-1]))
            return o
        if name == "grouped":
            n = divisor(c)
            o = n * whole(1, 3)
            k = net.layer(nn.Conv1d(c, o, 3, padding=1, groups=n))
            net.then(f"{n} groups {o}", lambda layers, h: channels_first(layers[k], h[-1]))
            return o
        if name == "norm":
            kind = draw(st.sampled_from(sorted(NORMS)))
            args = (divisor(c), c) if kind == "group" else (c,)
            k = net.layer(NORMS[kind](*args, **({"affine": True} if kind == "instance" else {})))
            last = kind in ("layer", "rms")
            net.then(f"{kind} norm", lambda layers, h: layers[k](h[-1]) if last else channels_first(layers[k], h[-1]))
        elif name == "activation":
            f = draw(
                st.sampled_from([torch.tanh, nn.functional.gelu, nn.functional.silu, torch.sin, nn.functional.elu])
            )
            net.then("activation", lambda layers, h: f(h[-1]))
        elif name == "residual":
            m = 2 * whole(1, 4)
            a, b = net.layer(nn.Linear(c, m)), net.layer(nn.Linear(m, c))
            net.then(f"residual {m}", lambda layers, h: h[-1] + layers[b](layers[a](h[-1]).tanh()))
        elif name == "again" and c in reads:  # a layer that was used before
            k, o = draw(st.sampled_from(reads[c]))
            net.then(f"layer {k} again", lambda layers, h: layers[k](h[-1]))
            return o
        elif name in ("add", "concatenate"):
            earlier = [k for k, w in enumerate(widths) if k and (w == c or name == "concatenate")]
            k = draw(st.sampled_from(earlier))
            if name == "add":
                net.then(f"add {k}", lambda layers, h: h[-1] + h[k])
            elif c + widths[k] <= 16:
                net.then(f"concatenate {k}", lambda layers, h: torch.cat([h[k], h[-1]], -1))
                return c + widths[k]
        elif name == "gate" and c % 2 == 0:
            net.then("gate", lambda layers, h: nn.functional.glu(h[-1], -1))
            return c // 2
        elif name == "attention":
            k = net.layer(nn.MultiheadAttention(c, divisor(c), batch_first=True))
            net.then("attention", lambda layers, h: h[-1] + layers[k](h[-1], h[-1], h[-1])[0])
        elif name == "packed":
            n, k = divisor(c), net.layer(nn.Linear(c, 3 * c))
            net.then(f"packed {n}", lambda layers, h: packed(layers, k, n, h[-1]))
        elif name == "shuffle":
            n = divisor(c)
            net.then(f"shuffle {n}", lambda layers, h: h[-1].unflatten(-1, (n, -1)).transpose(-1, -2).flatten(-2))
        elif name == "slice" and c > 2:
            a = whole(0, 1)
            net.then("slice", lambda layers, h: h[-1][..., a : c - 1 + a])
            return c - 1
        elif name == "excite":
            a, b = net.layer(nn.Linear(c, 3)), net.layer(nn.Linear(3, c))
            net.then("excite", lambda layers, h: h[-1] * layers[b](layers[a](h[-1].mean(1, True)).relu()).sigmoid())
        elif name == "softmax":
            net.then("softmax", lambda layers, h: h[-1].softmax(-1))
        elif name == "write":
            k = whole(1, c)
            net.then(f"write {k}", lambda layers, h: written(h[-1], k))
        elif name == "pad":
            k = whole(0, 2)
            net.then(f"pad {k}", lambda layers, h: nn.functional.pad(h[-1], (k, 1)))
            return c + k + 1
        elif name == "roll":
            dim = draw(st.sampled_from([1, 1, 2]))
            net.then(f"roll {dim}", lambda layers, h: h[-1] + h[-1].roll(1, dim))
        elif name == "place":
            k = net.layer(nn.ParameterList([torch.randn(4, c)]))
            net.then("place", lambda layers, h: h[-1] + layers[k][0])
        elif name == "repeat":
            net.then("repeat", lambda layers, h: h[-1].repeat_interleave(2, -1))
            return 2 * c
        return c

    names = st.sampled_from(STEPS)
    widths.append(linear(3))
    for name in draw(st.lists(names, min_size=2, max_size=8)):
        before, c = len(net.steps), step(name, widths[-1])
        widths += [c] * (len(net.steps) - before)
    if draw(st.booleans()):
        net.then("mean", lambda layers, h: h[-1].mean(1))
    else:
        net.then("flat", lambda layers, h: h[-1].flatten(1))
        c = 4 * widths[-1]
    last = net.layer(nn.Linear(c if net.shown[-1] == "flat" else widths[-1], 2))
    net.then("linear 2", lambda layers, h: layers[last](h[-1]))
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
            found = symmetry(net, x)
        except ValueError as error:
            refused.append(f"{net}: {error}")
            return
        groups.append(len(found.sizes))
        expected = outputs(net, x)
        changed = difference(outputs(moved(net, found, drawn(found)), x), expected)
        assert changed < 1e-9, (changed, found)

    (keeps_its_function if SEED is None else seed(int(SEED))(keeps_its_function))()
    assert len(refused) <= (len(refused) + len(groups)) / 10, refused
    assert sum(n > 0 for n in groups) >= 0.8 * len(groups) >= 0.4 * draws  # what is drawn has something to permute
