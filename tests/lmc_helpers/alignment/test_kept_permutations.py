"""Cells against all permutations of small networks, and units that nothing tells apart."""

from itertools import permutations, product

import pytest
import torch

from lmc_helpers.alignment.kept_permutations import cells, shared
from lmc_helpers.identifiability.asymmetric import Syre, WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT

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


def test_units_with_equal_rows_and_columns_share_a_cell():
    D = torch.ones(1, 3, 2)
    D[0, 2, 1] = 0
    found = cells(MODEL.symmetry(), {"0.weight": (0 * D, D)})
    assert found["0"].tolist() in ([0, 0, 1], [1, 1, 0]) and len(found["1"].unique()) == 1
    assert shared(MODEL.symmetry(), {"0.weight": (0 * D, D)}) == 2 + 4


def test_values_tell_apart_what_masks_do_not():
    fixed = MODEL.fixed_parts(dict.fromkeys(MODEL.maps(), WAsymmetric(2, 1.0)), 1)
    outer = {name: pair for name, pair in fixed.items() if name != "1.weight"}
    assert shared(MODEL.symmetry(), {"0.weight": fixed["0.weight"]}) == 4  # values of F are all different
    assert shared(MODEL.symmetry(), {"0.weight": fixed["0.weight"]}, values=False) == 7
    assert shared(MODEL.symmetry(), outer) == 0
    assert shared(MODEL.symmetry(), MODEL.fixed_parts({"1.weight": Syre(1.0, 0.0)}, 1)) == 0


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
    for name, axis in symmetry.groups["stream 1"]:
        if name in moved:
            moved[name] = tuple(part.index_select(axis + 1, order) for part in moved[name])
    first, second = cells(symmetry, fixed), cells(symmetry, moved)
    assert {g: len(c.unique()) for g, c in first.items()} == {g: len(c.unique()) for g, c in second.items()}


def test_heads_are_units_too():
    model = ViT(patch=4, dimension=8, depth=1, heads=2, ratio=2, input_shape=(1, 8, 8))
    assert shared(model.symmetry(), {}) == 8 + 2 + 16
    fixed = model.fixed_parts(dict.fromkeys(model.maps(), WAsymmetric(3, 1.0)), 1)
    assert shared(model.symmetry(), fixed) == 0


def test_several_architectures_are_refused():
    F = torch.zeros(2, 3, 2)
    with pytest.raises(ValueError, match="F and D of 2 and 2 architectures; allowed: those of one"):
        cells(MODEL.symmetry(), {"0.weight": (F, F)})
