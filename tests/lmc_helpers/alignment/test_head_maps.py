"""Equations against autograd, dimensions against small cases, maps against the attention that they leave alone."""

import pytest
import torch
from torch.autograd.functional import jacobian

from lmc_helpers.alignment.head_maps import equations, kept_map, move_heads
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.vit import ViT


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


def test_a_kept_map_changes_weights_and_nothing_else():
    U, V, a, b = drawn(8, 20, 2)
    towards = 0.3 * torch.randn(8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    g = kept_map(U, V, a, b, towards)
    gU, Vg = g @ U, V @ torch.linalg.inv(g)
    torch.testing.assert_close(Vg @ gU, V @ U)
    assert (gU - U)[a].abs().max() < 1e-11 and (Vg - V)[b].abs().max() < 1e-11
    assert (gU - U).norm() > 0.1 * U.norm() and (Vg - V).norm() > 0.1 * V.norm()


def test_without_fixed_entries_the_map_is_the_exponential():
    U, V, a, b = drawn(4, 6, 0)
    towards = torch.randn(4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(kept_map(U, V, a, b, towards), torch.linalg.matrix_exp(towards))


def test_with_too_many_fixed_entries_only_the_identity_is_left():
    U, V, a, b = drawn(4, 12, 3)
    towards = 0.1 * torch.ones(4, 4, dtype=torch.float64)
    torch.testing.assert_close(kept_map(U, V, a, b, towards), torch.eye(4, dtype=torch.float64))


def test_shapes_that_do_not_fit_are_refused():
    U, V, a, b = drawn(4, 6, 1)
    with pytest.raises(ValueError, match="U, V and their masks have shapes"):
        equations(U, V.mT, a, b)


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
