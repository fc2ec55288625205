"""Laws of what neurons see, against enumeration of all masks and the definition of the cost."""

import itertools

import pytest
import torch

from lmc_helpers.data.coherence_inputs import exact_copy, random_frame, sample_frame
from lmc_helpers.experiments.visibility import (
    bernoulli_masks,
    mask_probability,
    mean_cost,
    rank_law,
    ranks,
    relative_anisotropy,
    same_counts,
)


def all_masks(d, p):
    """Every mask of d entries with its probability."""
    masks = torch.tensor(list(itertools.product([0.0, 1.0], repeat=d)), dtype=torch.float64)
    seen = masks.sum(dim=1)
    return masks, p**seen * (1 - p) ** (d - seen)


@pytest.mark.parametrize("p", [0.0, 0.15, 0.6, 1.0])
@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("family", ["exact-copy", "random-frame"])
def test_rank_law_by_enumeration(k, p, family):
    U = exact_copy(k, 8) if family == "exact-copy" else random_frame(k, sample_frame(2, 8))
    masks, weight = all_masks(8, p)
    by_svd = torch.tensor([torch.linalg.matrix_rank(mask[:, None] * U) for mask in masks])
    assert ranks(U, masks).equal(by_svd)
    for rank, expected in enumerate(rank_law(k, p, family)):
        assert weight[by_svd == rank].sum().item() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("k", "p"), [(1, 0.15), (2, 0.4), (4, 0.15), (3, 1.0)])
def test_mean_cost_and_anisotropy_by_enumeration(k, p):
    U = exact_copy(k, 2 * k)
    masks, weight = all_masks(2 * k, p)
    S = torch.stack([U.T @ torch.diag(mask**2) @ U for mask in masks])
    both = torch.linalg.matrix_rank(S) == 2
    one = torch.ones(2, dtype=torch.float64)
    cost = torch.stack([one @ torch.linalg.inv(s) @ one for s in S[both]])
    assert mean_cost(k, p) == pytest.approx((weight[both] @ cost / weight[both].sum()).item())
    first = S[:, 0, 0]
    mean = weight @ first
    variance = weight @ (first - mean) ** 2
    assert mean.item() == pytest.approx(p)
    assert relative_anisotropy(k, p) == pytest.approx((variance / mean**2).item(), abs=1e-12)


@pytest.mark.parametrize(("k", "p"), [(1, 0.15), (3, 0.4)])
def test_same_counts_by_enumeration(k, p):
    masks, weight = all_masks(2 * k, p)
    counts = torch.stack([masks[:, 0::2].sum(dim=1), masks[:, 1::2].sum(dim=1)], dim=1)
    both = (counts > 0).all(dim=1)
    weight, counts = weight[both] / weight[both].sum(), counts[both]
    equal = (counts[:, None] == counts).all(dim=-1).double()
    assert same_counts(k, p) == pytest.approx((weight @ equal @ weight).item())


def test_a_cost_is_the_least_norm():
    """Eq. (10) against the least-norm weights from numpy's least squares."""
    U, d = exact_copy(3, 6), torch.tensor([1.0, 0, 1, 1, 0, 0], dtype=torch.float64)
    least = torch.linalg.lstsq((d[:, None] * U).T, torch.ones(2, 1, dtype=torch.float64), driver="gelsd").solution
    assert least.square().sum().item() == pytest.approx(3 * (1 / 2 + 1 / 1))


@pytest.mark.parametrize("v", [0.0, 1e-9, 0.15, 0.8, 1.0])
@pytest.mark.parametrize("k", [1, 3, 10])
def test_mask_probability_inverts_the_visibility(k, v):
    assert 1 - (1 - mask_probability(k, v)) ** k == pytest.approx(v, rel=1e-6)


def test_anisotropy_at_fixed_visibility_is_nearly_fixed():
    """Between (1 − v)/v at k = 1 and 1/ln(1/(1 − v)) for k → ∞."""
    for v in (0.15, 0.8):
        values = [relative_anisotropy(k, mask_probability(k, v)) for k in (1, 2, 5, 10, 10_000)]
        assert values == sorted(values) and values[0] == pytest.approx((1 - v) / v)
        assert values[-1] == pytest.approx(-1 / torch.log1p(torch.tensor(-v)).item(), rel=1e-3)


def test_masks_are_bernoulli_and_nested():
    masks = [bernoulli_masks(10, 128, 20, p, seed=3) for p in (0.15, 0.5)]
    assert masks[0].mean().item() == pytest.approx(0.15, abs=4.5 * (0.15 * 0.85 / 25_600) ** 0.5)
    assert (masks[1] >= masks[0]).all() and set(masks[0].unique().tolist()) == {0.0, 1.0}
    assert bernoulli_masks(10, 128, 20, 0.15, seed=3).equal(masks[0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rank_law(0, 0.5, "exact-copy"), "k = 0"),
        (lambda: rank_law(1, 1.5, "exact-copy"), "p = 1.5"),
        (lambda: rank_law(1, 0.5, "copies"), "family = 'copies'"),
        (lambda: mean_cost(2, 0), "p = 0"),
        (lambda: relative_anisotropy(2, 0), "p = 0"),
        (lambda: same_counts(2, 0), "p = 0"),
        (lambda: mask_probability(2, 1.1), "v = 1.1"),
        (lambda: mask_probability(0, 0.5), "k = 0"),
        (lambda: bernoulli_masks(1, 1, 1, -0.1, 0), "p = -0.1"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
