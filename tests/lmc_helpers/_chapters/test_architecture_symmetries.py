"""What chapter *architecture symmetries* computes, against independent oracles."""

from itertools import permutations, product

import pytest
import torch
from torch.autograd.functional import jacobian

from lmc_helpers._chapters.architecture_symmetries import cells, equations, move_heads, preserving_map, shared
from lmc_helpers.identifiability import Syre, WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT

# Equations against autograd, dimensions against small cases, maps against the attention that they leave alone


def drawn(h, d, per_row, seed=1, columns=None):
    generator = torch.Generator().manual_seed(seed)
    U, V = (torch.randn(shape, dtype=torch.float64, generator=generator) for shape in ((h, d), (d, h)))
    masks = [torch.rand(shape, generator=generator).argsort(dim=-1) < per_row for shape in ((h, d), (h, d))]
    return U, V, masks[0], masks[1].mT


def test_the_equations_are_the_derivative():
    U, V, a, b = drawn(3, 5, 2)

    def entries(g):
        return torch.cat([(g @ U)[a], -(V @ torch.linalg.inv(g))[b]])

    derivative = jacobian(entries, torch.eye(3, dtype=torch.float64)).flatten(1)
    torch.testing.assert_close(equations(U, V, a, b), derivative)


@pytest.mark.parametrize("per_row, left", [(0, 64), (1, 48), (3, 16), (4, 0), (5, 0)])
def test_dimensions_of_what_is_kept(per_row, left):
    A = equations(*drawn(8, 20, per_row))
    assert 64 - (torch.linalg.matrix_rank(A).item() if len(A) else 0) == left


@pytest.mark.parametrize("per_row, left", [(1, 48), (3, 16), (4, 8), (5, 8)])
def test_fixed_zeros_leave_all_diagonal_maps(per_row, left):
    U, V, a, b = drawn(8, 20, per_row)
    A = equations(U.masked_fill(a, 0), V.masked_fill(b, 0), a, b)
    assert 64 - torch.linalg.matrix_rank(A).item() == left
    assert A[:, torch.arange(8) * 9].eq(0).all()


def test_a_preserving_map_changes_weights_and_nothing_else():
    U, V, a, b = drawn(8, 20, 2)
    towards = 0.3 * torch.randn(8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    g = preserving_map(U, V, a, b, towards)
    gU, Vg = g @ U, V @ torch.linalg.inv(g)
    torch.testing.assert_close(Vg @ gU, V @ U)
    assert (gU - U)[a].abs().max() < 1e-11 and (Vg - V)[b].abs().max() < 1e-11
    assert (gU - U).norm() > 0.1 * U.norm() and (Vg - V).norm() > 0.1 * V.norm()
    towards = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(preserving_map(*drawn(4, 6, 0), towards), torch.linalg.matrix_exp(towards))
    torch.testing.assert_close(preserving_map(*drawn(4, 12, 3), 0.1 * towards), torch.eye(4, dtype=torch.float64))


def test_moved_heads_are_the_same_transformer():
    model = ViT(patch=4, dimension=12, depth=2, heads=2, ratio=1, std=0.4, input_shape=(1, 8, 8))
    fixed = model.fixed_parts(dict.fromkeys(model.maps(), WAsymmetric(1, 1.0)), 1)
    stack = model.initial([1], torch.float64, fixed)
    before = {name: value.clone() for name, value in stack.effective().items()}
    moved = move_heads(model, stack.effective(), fixed, 0.5, torch.Generator().manual_seed(1))
    x = torch.randn(5, 1, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(model.forward(moved, x), model.forward(before, x), rtol=1e-9, atol=1e-12)
    for name, (_, D) in fixed.items():
        assert (moved[name] - before[name])[D == 0].abs().max() < 1e-11
        attention = name.split(".")[1] in ("query", "key", "value", "out")
        assert ((moved[name] - before[name]).norm() > 0.05 * before[name].norm()) == attention
    assert all(value.equal(before[name]) for name, value in stack.effective().items())


MODEL = MLP((2, 3, 4, 2))


def kept(fixed, values=True):
    """All pairs of permutations of the hidden units of MODEL that keep F and D, by trying them."""
    parts = [(n, part[0]) for n, (F, D) in fixed.items() for part in ((F, D) if values else (D,))]

    def keeps(p, q):
        units = {"0": (p, range(2)), "1": (q, p), "2": (range(2), q)}  # rows and columns of each map
        return all(part[list(units[n[0]][0])][:, list(units[n[0]][1])].equal(part) for n, part in parts)

    return [(p, q) for p, q in product(permutations(range(3)), permutations(range(4))) if keeps(p, q)]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("entries", [0, 1])
def test_no_permutation_that_keeps_the_masks_leaves_a_cell(seed, entries):
    schemes = dict(
        zip(MODEL.maps(), (WAsymmetric(1, 0.0), WAsymmetric(1 + entries, 0.0), WAsymmetric(1, 0.0)), strict=True)
    )
    fixed = MODEL.fixed_parts(schemes, seed)
    found, every = cells(MODEL.symmetry(), fixed), kept(fixed)
    for p, q in every:
        assert found["0"][list(p)].equal(found["0"]) and found["1"][list(q)].equal(found["1"])
    if shared(MODEL.symmetry(), fixed) == 0:
        assert len(every) == 1


def test_units_share_a_cell_where_nothing_tells_them_apart():
    fixed = MODEL.fixed_parts(dict.fromkeys(MODEL.maps(), WAsymmetric(2, 1.0)), 1)
    outer = {name: pair for name, pair in fixed.items() if name != "1.weight"}
    assert shared(MODEL.symmetry(), {"0.weight": fixed["0.weight"]}) == 4  # values of F are all different
    assert shared(MODEL.symmetry(), {"0.weight": fixed["0.weight"]}, values=False) == 7
    assert shared(MODEL.symmetry(), outer) == 0
    assert shared(MODEL.symmetry(), MODEL.fixed_parts({"1.weight": Syre(1.0, 0.0)}, 1)) == 0
    D = torch.ones(1, 3, 2)
    D[0, 2, 1] = 0
    found = cells(MODEL.symmetry(), {"0.weight": (0 * D, D)})
    assert found["0"].tolist() in ([0, 0, 1], [1, 1, 0]) and len(found["1"].unique()) == 1
    assert shared(MODEL.symmetry(), {"0.weight": (0 * D, D)}) == 2 + 4
    model = ViT(patch=4, dimension=8, depth=1, heads=2, ratio=2, input_shape=(1, 8, 8))
    assert shared(model.symmetry(), {}) == 8 + 2 + 16
    fixed = model.fixed_parts(dict.fromkeys(model.maps(), WAsymmetric(3, 1.0)), 1)
    assert shared(model.symmetry(), fixed) == 0


def test_colours_travel_through_a_network():
    """The first mask tells the first units apart, these tell the second ones: no other mask is needed there."""
    D0, D1 = torch.ones(1, 3, 2), torch.ones(1, 4, 3)
    D0[0, 0, 0] = D0[0, 1, 1] = 0
    D1[0, 0, 0] = D1[0, 1, 1] = D1[0, 2, 2] = 0
    alone, both = {"1.weight": (0 * D1, D1)}, {"0.weight": (0 * D0, D0), "1.weight": (0 * D1, D1)}
    assert shared(MODEL.symmetry(), both) == 0 and len(kept(both)) == 1
    assert shared(MODEL.symmetry(), alone) == 6 and len(kept(alone)) == 6  # a diagonal: p = q on three of four


def test_relabelled_masks_have_relabelled_cells():
    model = ResNet20(width=1, base=2, input_shape=(1, 8, 8))
    fixed = model.fixed_parts(dict.fromkeys(model.maps(), WAsymmetric(1, 0.0)), 3)
    symmetry, order = model.symmetry(), torch.tensor([1, 0])
    moved = dict(fixed)
    for name, axis in ((place.name, place.axis) for place in symmetry.groups["stream 1"]):
        if name in moved:
            moved[name] = tuple(part.index_select(axis + 1, order) for part in moved[name])
    first, second = cells(symmetry, fixed), cells(symmetry, moved)
    assert {g: len(c.unique()) for g, c in first.items()} == {g: len(c.unique()) for g, c in second.items()}
