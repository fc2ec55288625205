"""Symmetries as data: acting, undoing; and the check finds wrong lists."""

from dataclasses import dataclass

import torch
from oracles.networks import numbers

from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import Axis, Symmetry, permute, random_permutations, verify

A, B = (Axis("W", 0), Axis("b", 0), Axis("V", 1)), (Axis("V", 0), Axis("U", 2))
SYMMETRY = Symmetry({"a": A, "b": B}, {"a": 5, "b": 3})
PARAMS = {"W": numbers(2, 5, 4), "b": numbers(2, 5), "V": numbers(2, 3, 5), "U": numbers(2, 2, 6, 3)}
PARAMS["other"] = numbers(2, 7)


def test_permute_is_indexing_of_each_network():
    p = random_permutations(SYMMETRY, 2, torch.Generator().manual_seed(1))
    moved = permute(PARAMS, SYMMETRY, p)
    for n in range(2):
        a, b = p["a"][n], p["b"][n]
        assert moved["W"][n].equal(PARAMS["W"][n][a]) and moved["b"][n].equal(PARAMS["b"][n][a])
        assert moved["V"][n].equal(PARAMS["V"][n][b][:, a]) and moved["U"][n].equal(PARAMS["U"][n][:, :, b])
    assert moved["other"] is PARAMS["other"]
    assert permute(PARAMS, SYMMETRY, {"b": p["b"]})["W"] is PARAMS["W"]
    symmetry = Symmetry({"h": (Axis("W", 0, 0, 1, 2),), "k": (Axis("W", 0, 0, 3, 1),)}, {"h": 3, "k": 2})
    W, p, q = numbers(1, 6, 1), torch.tensor([[2, 0, 1]]), torch.tensor([[1, 0]])
    moved = permute({"W": W}, symmetry, {"h": p, "k": q})["W"]
    assert moved.flatten().equal(W.view(3, 2)[p[0]][:, q[0]].flatten())


def test_heads_are_moved_before_the_units_inside_them():
    """Three heads of two rows: unit i of the head at place j is unit q_j(i) of head p(j)."""
    inside = {f"in {j}": (Axis("W", 0, 2 * j),) for j in range(3)}
    symmetry = Symmetry(
        {"heads": (Axis("W", 0, 0, 1, 2),), **inside},
        {"heads": 3} | dict.fromkeys(inside, 2),
        {f"in {j}": ("heads", j) for j in range(3)},
    )
    p = random_permutations(symmetry, 2, torch.Generator().manual_seed(4))
    W = numbers(2, 7, 4)  # one row is no head's
    moved = permute({"W": W}, symmetry, dict(reversed(p.items())))["W"]
    for n in range(2):
        rows = [2 * p["heads"][n, j] + p[f"in {j}"][n, i] for j in range(3) for i in range(2)]
        assert moved[n].equal(W[n][torch.stack([*rows, torch.tensor(6)])])


def test_random_permutations_are_uniform():
    p = random_permutations(SYMMETRY, 6000, torch.Generator().manual_seed(3))["b"]
    counts = torch.bincount(p[:, 0] * 3 + p[:, 1], minlength=9)  # the first two places fix a permutation of three
    counts = counts[counts > 0]
    assert len(counts) == 6 and (counts - 1000).abs().max() < 4 * (1000 * 5 / 6) ** 0.5


@dataclass(frozen=True)
class Wrong(MLP):
    """An MLP whose list misses an axis, or has one too many."""

    lacks: tuple = ()
    extra: tuple = ()

    def symmetry(self):
        right = super().symmetry()
        groups = {group: tuple(a for a in axes if a != self.lacks) for group, axes in right.groups.items()}
        return Symmetry(groups | {"0": (*groups["0"], *self.extra)}, right.sizes)


def test_verify_finds_wrong_lists():
    sizes = (3, 6, 6, 2)
    assert verify(Wrong(sizes, norm="layer")).holds()
    for axis in (("0.shift", 0), ("1.weight", 1), ("1.gain", 0), ("2.weight", 1)):
        check = verify(Wrong(sizes, norm="layer", lacks=Axis(*axis)))
        assert not check.holds() and Axis(*axis) in check.unpermuted
        group = "0" if axis[0][0] == "0" or axis == ("1.weight", 1) else "1"
        assert check.permuted[group] > 1e-3 and check.permuted["01".replace(group, "")] < 1e-12
    check = verify(Wrong(sizes, lacks=Axis("1.bias", 0), extra=(Axis("1.bias", 0),)))
    assert not check.holds() and check.left_out[Axis("1.bias", 0)] < 1e-12
