"""The embeddings against their definition, entry by entry."""

import math

import pytest
import torch

from lmc_helpers.data.coherence_inputs import (
    Frame,
    check_orthonormal,
    exact_copy,
    latents,
    random_frame,
    sample_frame,
    target,
    unequal_copy,
)
from lmc_helpers.identifiability.input_subspace import leverages


def families(d):
    frame = sample_frame(3, d)
    return [lambda k: exact_copy(k, d), lambda k: random_frame(k, frame)]


@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("family", [0, 1])
def test_columns_are_orthonormal_and_the_coherence_is_one_over_k(d, family):
    for k in range(1, d // 2 + 1):
        U = families(d)[family](k)
        assert U.shape == (d, 2)
        torch.testing.assert_close(U.T @ U, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-14)
        projection = U @ torch.linalg.inv(U.T @ U) @ U.T  # does not depend on the basis
        torch.testing.assert_close(leverages(U), projection.diagonal())
        assert leverages(U).max().item() == pytest.approx(1 / k, abs=1e-14)
        assert int((leverages(U) > 0).sum()) == 2 * k


def test_exact_copy_entry_by_entry():
    U = exact_copy(3, 8)
    for row in range(1, 9):  # counted from 1, as the paper does
        for column in (1, 2):
            copied = row <= 6 and row % 2 == column % 2
            assert U[row - 1, column - 1].item() == (1 / math.sqrt(3) if copied else 0)


def test_random_frame_entry_by_entry():
    frame = Frame(torch.tensor([4, 0, 3, 1, 2]), torch.tensor([0.3, 2.0], dtype=torch.float64))
    U = random_frame(2, frame)
    for r, angle in enumerate((0.3, 2.0)):
        rows = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        for place, expected in zip((2 * r, 2 * r + 1), rows, strict=True):
            found = U[frame.permutation[place]].tolist()
            assert found == pytest.approx([value / math.sqrt(2) for value in expected])
    assert U[2].tolist() == [0, 0]


@pytest.mark.parametrize(("k", "nu"), [(2, 0.5), (2, 0.9), (5, 0.2), (5, 0.7), (5, 1.0)])
def test_unequal_copies(k, nu):
    U = unequal_copy(k, nu, 11)
    torch.testing.assert_close(U.T @ U, torch.eye(2, dtype=torch.float64), rtol=0, atol=1e-14)
    assert leverages(U).max().item() == pytest.approx(nu, abs=1e-14)
    same = exact_copy(k, 11) if nu < 1 else exact_copy(1, 11)
    assert ((U != 0) == (same != 0)).all()
    torch.testing.assert_close(unequal_copy(k, 1 / k, 11), exact_copy(k, 11))


def test_the_draw_is_reused_for_all_k():
    frame = sample_frame(9)
    for k in range(1, 10):
        small, large = random_frame(k, frame) * math.sqrt(k), random_frame(k + 1, frame) * math.sqrt(k + 1)
        used = frame.permutation[: 2 * k]
        torch.testing.assert_close(small[used], large[used])
    assert not sample_frame(10).permutation.equal(frame.permutation)
    assert ((frame.angles >= 0) & (frame.angles < math.pi)).all()


def test_latents_and_target():
    z = latents(200_000, seed=4)
    assert z.mean(dim=0).abs().max() < 4.5 / math.sqrt(200_000)
    assert target(z).square().mean().item() == pytest.approx(1, abs=4.5 * math.sqrt(5 / 200_000))
    assert target(z).mean().item() == pytest.approx(1 / math.sqrt(math.pi), abs=0.01)
    assert latents(5, 4).equal(latents(5, 4)) and not latents(5, 4).equal(latents(5, 4, "test"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exact_copy(0), "k = 0 copies in dimension 20; allowed: an integer from 1 to 10"),
        (lambda: exact_copy(11), "k = 11"),
        (lambda: exact_copy(True), "k = True"),
        (lambda: exact_copy(2.0), "k = 2.0"),
        (lambda: random_frame(3, sample_frame(1, 5)), "k = 3 copies in dimension 5; allowed: an integer from 1 to 2"),
        (lambda: unequal_copy(1, 1.0), "k = 1, nu = 1.0; allowed: k >= 2"),
        (lambda: unequal_copy(4, 0.2), "k = 4, nu = 0.2"),
        (lambda: unequal_copy(4, 1.1), "k = 4, nu = 1.1"),
        (lambda: latents(0, 1), "n = 0 examples"),
        (lambda: check_orthonormal(exact_copy(2) * 1.01), "not orthonormal"),
        (lambda: check_orthonormal(torch.ones(1, 2)), r"U has shape \(1, 2\)"),
        (lambda: check_orthonormal(exact_copy(2) * float("nan")), "not orthonormal"),
        (lambda: check_orthonormal(torch.stack([exact_copy(2), exact_copy(2).roll(1, 0) * 2])), "not orthonormal"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
