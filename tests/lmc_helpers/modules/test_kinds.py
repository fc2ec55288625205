"""Kinds of axes: those of small networks by hand and by brute force; what is claimed is proven by other code."""

import itertools

import pytest
import torch
from cases import CASES, acted, claimed, difference, made, outputs
from torch import nn

from lmc_helpers.modules.symmetry import symmetry
from lmc_helpers.networks.permutations import Kinds


def brute_force(net, x, found, group):
    """All sets of places in which every other unit may change its sign."""
    expected, m = outputs(net, x), found.sizes[group]

    def keeps(e, first):
        signs = [-1.0 if (u + first) % 2 == 0 else 1.0 for u in range(m)]
        moved = acted(net, found, {group: lambda t, units: units * torch.tensor(signs) if e[t] else units})
        return difference(outputs(moved, x), expected) < 1e-9

    return {e for e in itertools.product((0, 1), repeat=len(found.groups[group])) if keeps(e, 0) and keeps(e, 1)}


def spanned(vectors, n):
    sums = itertools.product((0, 1), repeat=len(vectors))
    return {tuple(sum(k * v[t] for k, v in zip(ks, vectors, strict=True)) % 2 for t in range(n)) for ks in sums}


#: Beyond this many places of a group brute force is too slow for a test.
MOST = 7


def check(net, x, found):
    draw = torch.Generator().manual_seed(3)
    moves = {group: claimed(found, group, draw) for group in found.groups}
    assert difference(outputs(acted(net, found, moves), x), outputs(net, x)) < 1e-8
    alike = {group.partition("[")[0]: group for group, places in found.groups.items() if len(places) <= MOST}
    for group in alike.values():
        n = len(found.groups[group])
        assert spanned(found.kinds[group].signs, n) == brute_force(net, x, found, group), group


SEVERAL = [name for name in CASES if name not in ("bottleneck", "padded", "encoder", "GRU", "RNN")]
SEVERAL.remove("Chosen")  # an expert that no example chooses may have any signs


@pytest.mark.parametrize("name", SEVERAL)
def test_claims_hold_and_no_sign_is_missed(name):
    net, x = made(name)
    try:
        found = symmetry(net, x, kinds=True)
    except ValueError:
        return  # refused, as test_symmetry tells
    assert set(found.kinds) == set(found.groups) and (len(found.groups) > 3 or found == symmetry(net, x))
    check(net, x, found)


def two(*between, after=()):
    return nn.Sequential(nn.Linear(3, 5), *between, nn.Linear(5, 2), *after)


class Abs(nn.Module):
    def forward(self, x):
        return x.abs()


class Stream(nn.Module):
    """Two layers on a stream of units."""

    def __init__(self, norm, between):
        super().__init__()
        self.inp, self.norm, self.up, self.between = nn.Linear(3, 4), norm, nn.Linear(4, 6), between
        self.down, self.out = nn.Linear(6, 4, bias=False), nn.Linear(4, 2)

    def forward(self, x):
        x = self.inp(x)
        return self.out(self.norm(x + self.down(self.between(self.up(self.norm(x))))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.o = nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x):
        return self.o((self.q(x) @ self.k(x).mT).softmax(-1) @ self.v(x))


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell, self.out = kind(3, 4, batch_first=True), nn.Linear(4, 2)

    def forward(self, x):
        return self.out(self.cell(x)[0])


def gates(*flipped, of):
    """Recurrent units: rows of input and hidden weights, columns of these, both biases, columns of the last layer."""
    rows = tuple(int(k in flipped) for k in range(of))
    shifts = torch.cat([torch.zeros(of, 2 * of + 1), torch.eye(of), -torch.eye(of), torch.zeros(of, 1)], dim=1)
    shifts = shifts[:2] if of == 3 else shifts  # the reset gate of a GRU stands between the biases of its third
    return Kinds((rows + rows + (1,) + rows + rows + (1,),), (), tuple(map(tuple, shifts.tolist())))


ODD, POSITIVE, FREE = ((1, 1, 1),), ((1.0, 1.0, -1.0),), (1, 1, -1)
KINDS = {
    "tanh": (two(nn.Tanh()), {"0": Kinds(ODD)}),
    "ReLU": (two(nn.ReLU()), {"0": Kinds((), POSITIVE)}),
    "GELU": (two(nn.GELU()), {"0": Kinds()}),
    "softmax": (two(nn.Softmax(-1)), {"0": Kinds()}),
    "absolute values": (two(Abs()), {"0": Kinds(((1, 1, 0),), POSITIVE)}),
    "slopes": (two(nn.PReLU(5)), {"0": Kinds((), ((1.0, 1.0, 0.0, -1.0),))}),
    "nothing between": (two(), {"0": Kinds(ODD, POSITIVE, (), FREE, True)}),
    # what is before the norm, its mean and its gain, or gain, shift and reader; a factor and its inverse; bias and mean
    "norm": (
        two(nn.BatchNorm1d(5), nn.Tanh()),
        {
            "0": Kinds(
                ((1, 1, 0, 1, 1, 1, 0), (0, 0, 1, 1, 1, 0, 0)),
                ((1.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0),),
                ((0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0),),
            )
        },
    ),
    "rotations": (
        Stream(nn.RMSNorm(4, elementwise_affine=False), nn.ReLU()),
        {"inp": Kinds(((1, 1, 1, 1, 1),), (), (), (), True), "up": Kinds((), POSITIVE)},
    ),
    "gain": (
        Stream(nn.RMSNorm(4), nn.Tanh()),
        {"inp": Kinds(((1, 1, 0, 1, 1, 1), (0, 0, 1, 1, 0, 1)), ((0.0, 0.0, 1.0, -1.0, 0.0, -1.0),)), "up": Kinds(ODD)},
    ),
    "linear stream": (
        Stream(nn.Identity(), nn.Tanh()),
        {"inp": Kinds(((1,) * 5,), ((1.0, 1.0, -1.0, 1.0, -1.0),), (), (1, 1, -1, 1, -1), True), "up": Kinds(ODD)},
    ),
    # the bias of keys shifts all scores of a query alike
    "attention": (
        Attention(),
        {
            "q": Kinds(
                ((1, 1, 1, 0), (0, 0, 0, 1)),
                ((1.0, 1.0, -1.0, 0.0), (0.0, 0.0, 0.0, 1.0)),
                ((0.0, 0.0, 0.0, 1.0),),
                (1, 1, -1, 1),
                True,
            ),
            "v": Kinds(ODD, POSITIVE, (), FREE, True),
        },
    ),
    "LSTM": (Recurrent(nn.LSTM), {"cell.weight_ih_l0": gates(2, of=4)}),
    "GRU": (Recurrent(nn.GRU), {"cell.weight_ih_l0": gates(2, of=3)}),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_small_networks(name):
    torch.manual_seed(2)
    net, expected = KINDS[name]
    for value in itertools.chain(net.parameters(), net.buffers()):
        value.data = torch.rand(value.shape) - (0.4 if isinstance(value, nn.Parameter) else 0)
    x = torch.randn(4, 3) if name not in ("attention", "LSTM", "GRU") else torch.randn(2, 5, 3)
    found = symmetry(net, x, kinds=True)
    assert found.kinds == expected
    check(net.double().eval(), x.double(), found)
