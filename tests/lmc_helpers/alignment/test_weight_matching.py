"""Weight matching against brute force over all permutations of small networks, and planted permutations."""

import itertools

import pytest
import torch

import lmc_helpers.alignment.weight_matching as module
from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.permutations import Axis, Kinds, Symmetry, permute, random_permutations


def random_params(shapes, P, seed):
    g = torch.Generator().manual_seed(seed)
    return {name: torch.randn(P, *shape, generator=g, dtype=torch.float64) for name, shape in shapes.items()}


def by_hand(a, b, p, q):
    """⟨a, π b⟩ of a network with two hidden layers, with permutation matrices."""
    P, Q = (torch.eye(len(one), dtype=torch.float64)[list(one)] for one in (p, q))
    moved = [P @ b["0.weight"], P @ b["0.bias"], Q @ b["1.weight"] @ P.T, Q @ b["1.bias"], b["2.weight"] @ Q.T]
    names = ["0.weight", "0.bias", "1.weight", "1.bias", "2.weight"]
    return sum((a[name] * one).sum() for name, one in zip(names, moved, strict=True)).item()


def best_of_all(a, b, m):
    return max(by_hand(a, b, p, q) for p, q in itertools.product(itertools.permutations(range(m)), repeat=2))


@pytest.mark.parametrize("m", [2, 3, 4])
def test_restarts_find_the_best_of_all_permutations_in_most_pairs(m):
    """Of 12 random pairs 12, 12 and 11 for m = 2, 3, 4; the first descent alone finds 12, 10 and 5."""
    model, P = MLP((3, m, m, 2)), 12
    a, b = (random_params(model.shapes(), P, seed) for seed in (1, 2))
    found = weight_matching(a, b, model.symmetry(), restarts=20, seed=1)
    one = [({k: v[n] for k, v in a.items()}, {k: v[n] for k, v in b.items()}) for n in range(P)]
    outside = torch.stack([(a["2.bias"][n] * b["2.bias"][n]).sum() for n in range(P)])
    best = torch.tensor([best_of_all(*pair, m) for pair in one], dtype=torch.float64)
    reached = found.values.max(dim=0).values
    moved = permute(b, model.symmetry(), found.permutations)
    torch.testing.assert_close(reached, agreement(a, moved) - outside)
    assert (reached <= best + 1e-9).all()
    assert (reached >= best - 1e-9).sum() >= 11
    assert (found.values[0] >= best - 1e-9).sum() < 10 or m < 4


def test_one_hidden_layer_is_exact_whatever_the_start():
    model, P = MLP((3, 5, 2)), 4
    a, b = (random_params(model.shapes(), P, seed) for seed in (3, 4))
    found = weight_matching(a, b, model.symmetry(), restarts=3)
    for n in range(P):
        units = [torch.cat([e["0.weight"][n], e["0.bias"][n][:, None], e["1.weight"][n].T], dim=1) for e in (a, b)]
        products = (units[0] @ units[1].T).tolist()
        best = max(sum(products[i][j] for i, j in enumerate(p)) for p in itertools.permutations(range(5)))
        assert found.values[:, n].tolist() == pytest.approx([best] * 3)
    groups = {"h": (Axis("W", 0, 0, 1, 2),), "0": (Axis("W", 0),), "1": (Axis("V", 0),)}
    symmetry = Symmetry(groups, {"h": 2, "0": 2, "1": 2}, {"0": ("h", 0), "1": ("h", 1)})
    a = random_params({"W": (4, 2), "V": (2, 2)}, 1, 18)
    with pytest.raises(ValueError, match="allowed"):
        weight_matching(a, a, symmetry)


def test_group_by_group_each_layer_is_best_given_those_before():
    """The second of two layers also counts the outputs, which never move."""
    model, m = MLP((3, 4, 4, 2)), 4
    a, b = (random_params(model.shapes(), 3, seed) for seed in (1, 2))
    found = weight_matching(a, b, model.symmetry(), 0, sweeps=0, in_order=True).permutations.values()
    first, orders = {"0.weight", "0.bias"}, list(itertools.permutations(range(m)))
    for n in range(3):
        one, two = ({k: v[n] for k, v in end.items()} for end in (a, b))
        alone = {k: v if k in first else 0 * v for k, v in one.items()}
        p = max(orders, key=lambda p: by_hand(alone, two, p, range(m)))
        q = max(orders, key=lambda q: by_hand(one, two, p, q))
        assert [tuple(found_of[n].tolist()) for found_of in found] == [p, q]


def test_no_sweep_loses_and_the_end_is_a_local_optimum():
    model = MLP((4, 12, 12, 12, 3))
    a, b = (random_params(model.shapes(), 5, seed) for seed in (6, 7))
    found = weight_matching(a, b, model.symmetry(), restarts=4, seed=2)
    assert len(found.traces) == len(found.values) == 4
    for trace, value in zip(found.traces, found.values, strict=True):
        assert (trace.diff(dim=0) >= 0).all()
        assert trace[-1].equal(value)
    again = weight_matching(a, b, model.symmetry(), start=found.permutations)
    torch.testing.assert_close(again.values[0], found.values.max(dim=0).values)


def test_a_pair_does_not_depend_on_those_beside_it():
    model = MLP((4, 9, 9, 3))
    a, b = (random_params(model.shapes(), 4, seed) for seed in (8, 9))
    together = weight_matching(a, b, model.symmetry(), restarts=3, seed=5)
    third = ({k: v[2:3] for k, v in params.items()} for params in (a, b))
    alone = weight_matching(*third, model.symmetry(), 3, 5)
    assert all(p[2:3].equal(alone.permutations[g]) for g, p in together.permutations.items())
    torch.testing.assert_close(together.values[:, 2:3], alone.values)


def test_a_weight_from_a_group_to_itself_never_loses():
    """⟨A, p B pᵀ⟩ is quadratic: the best of all 24 is reached by restarts, and no sweep loses."""
    symmetry = Symmetry({"h": (Axis("W", 0), Axis("W", 1), Axis("b", 0))}, {"h": 4})
    a, b = (random_params({"W": (4, 4), "b": (4,)}, 6, seed) for seed in (10, 11))
    found = weight_matching(a, b, symmetry, restarts=20)
    assert all((trace.diff(dim=0) >= 0).all() for trace in found.traces)
    for n in range(6):
        values = []
        for p in itertools.permutations(range(4)):
            p = list(p)
            values.append(((a["W"][n] * b["W"][n][p][:, p]).sum() + (a["b"][n] * b["b"][n][p]).sum()).item())
        assert found.values[:, n].max().item() == pytest.approx(max(values))
        expected = agreement(a, permute(b, symmetry, found.permutations))[n]
        torch.testing.assert_close(found.values[:, n].max(), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("P", [1, 3])
@pytest.mark.parametrize("small", [0, 2**23])
def test_gains_add_up_over_descents_with_signs_in_threads_and_in_single_precision(monkeypatch, P, small):
    """Sums of gains change by the columns that move; two maps side by side, one with 4 pixels, are read together."""
    groups = {
        "maps": (Axis("K", 0), Axis("V", 1, 0, 1, 4), Axis("T", 1)),
        "units": (Axis("W", 0), Axis("V", 1, 24)),
        "read": (Axis("V", 0), Axis("T", 2), Axis("U", 1)),
    }
    kinds = {"units": Kinds(signs=((1, 1),)), "read": Kinds(signs=((1, 1, 1), (0, 0, 1)))}
    symmetry = Symmetry(groups, {"maps": 6, "units": 5, "read": 7}, kinds=kinds)
    shapes = {"K": (6, 2, 3, 3), "T": (2, 6, 7), "W": (5, 8), "V": (7, 31), "U": (3, 7)}
    a, b = ({name: v.float() for name, v in random_params(shapes, P, seed).items()} for seed in (18, 19))
    alone = weight_matching(a, b, symmetry, 6, signs=True, in_order=True)
    monkeypatch.setattr(module, "_COPIED", small)
    monkeypatch.setattr(module, "_FACTOR", 50)  # columns in parts
    monkeypatch.setattr(module, "_PAIRS" if P > 1 else "_STEPS", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    found = weight_matching(a, b, symmetry, 6, signs=True, in_order=True)
    assert all(p.equal(alone.permutations[g]) for g, p in found.permutations.items())
    moved = permute(b, symmetry, found.permutations, found.signs)
    torch.testing.assert_close(found.values.max(dim=0).values, agreement(a, moved), rtol=1e-12, atol=0)
    again = weight_matching(a, b, symmetry, 1, 0, found.permutations, signs=True, start_signs=found.signs)
    torch.testing.assert_close(again.traces[0][0], agreement(a, moved), rtol=1e-12, atol=0)


def attention(h, k, d, packed):
    """Heads of an attention with k + k rows of queries and keys and k of values each, and residual units d, by hand."""
    step = 3 * k if packed else k  # packed: the rows of a head stand together
    starts = [0, k, 2 * k] if packed else [0, h * k, 2 * h * k]
    whole = [Axis("in", 0, 0, 1, step)] if packed else [Axis("in", 0, at, 1, k) for at in starts]
    groups = {"heads": (*whole, Axis("out", 1, 0, 1, k)), "stream": (Axis("in", 1), Axis("out", 0), Axis("gain", 0))}
    for j in range(h):
        groups[f"queries {j}"] = tuple(Axis("in", 0, at + j * step) for at in starts[:2])
        groups[f"values {j}"] = (Axis("in", 0, starts[2] + j * step), Axis("out", 1, j * k))
    within = {f"{kind} {j}": ("heads", j) for j in range(h) for kind in ("queries", "values")}
    sizes = {"heads": h, "stream": d} | dict.fromkeys(within, k)
    return Symmetry(groups, sizes, within), {"in": (3 * h * k, d), "out": (d, h * k), "gain": (d,)}


@pytest.mark.parametrize("packed", [False, True])
def test_heads_and_the_units_inside_are_solved_exactly(packed):
    """With the stream fixed the heads are one step: the best of all 3! · 2!⁶ permutations, by running through them."""
    symmetry, shapes = attention(3, 2, 4, packed)
    heads = Symmetry(
        {g: axes for g, axes in symmetry.groups.items() if g != "stream"},
        {g: m for g, m in symmetry.sizes.items() if g != "stream"},
        symmetry.within,
    )
    a, b = (random_params(shapes, 1, seed) for seed in (12, 13))
    best, swaps = -torch.inf, [torch.tensor([[0, 1]]), torch.tensor([[1, 0]])]
    for p in itertools.permutations(range(3)):
        outer = {"heads": torch.tensor([p])}
        for inner in itertools.product(swaps, repeat=6):
            best = max(best, agreement(a, permute(b, heads, outer | dict(zip(heads.within, inner, strict=True)))))
    for seed in range(3):
        start = random_permutations(heads, 1, torch.Generator().manual_seed(seed))
        found = weight_matching(a, b, heads, seed=seed, start=start)
        outside = (a["gain"] * b["gain"]).sum()
        torch.testing.assert_close(found.values[0], best - outside)
        torch.testing.assert_close(agreement(a, permute(b, heads, found.permutations)), best)


def test_units_in_blocks_of_a_concatenation_and_of_flattened_pixels_are_found():
    """Units of two maps side by side, read together, one of them with 4 pixels each."""
    groups = {
        "maps": (Axis("K", 0), Axis("V", 1, 0, 1, 4)),
        "units": (Axis("W", 0), Axis("c", 0), Axis("V", 1, 24)),
        "read": (Axis("V", 0), Axis("U", 1)),
    }
    symmetry = Symmetry(groups, {"maps": 6, "units": 5, "read": 7})
    a = random_params({"K": (6, 2, 3, 3), "W": (5, 8), "c": (5,), "V": (7, 31), "U": (3, 7)}, 2, 15)
    planted = random_permutations(symmetry, 2, torch.Generator().manual_seed(3))
    found = weight_matching(a, permute(a, symmetry, planted), symmetry, restarts=5)
    for group, p in planted.items():
        assert found.permutations[group].equal(p.argsort(dim=-1))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_products_are_of_double_precision_whatever_the_type(dtype):
    model = MLP((4, 9, 9, 3))
    a, b = ({k: v.to(dtype) for k, v in random_params(model.shapes(), 2, seed).items()} for seed in (16, 17))
    wide = weight_matching(*({k: v.double() for k, v in end.items()} for end in (a, b)), model.symmetry(), restarts=3)
    found = weight_matching(a, b, model.symmetry(), restarts=3)
    assert all(p.equal(wide.permutations[g]) for g, p in found.permutations.items())
    assert found.values.equal(wide.values)
