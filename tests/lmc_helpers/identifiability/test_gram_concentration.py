"""Moments, laws and bounds of random Gram matrices against enumeration of all masks."""

import itertools
import math

import numpy as np
import pytest
import torch

from lmc_helpers.identifiability.gram_concentration import (
    all_masks,
    bernstein_bound,
    copies_law,
    copies_mean_square,
    exact_copies,
    mask_moments,
    mask_probabilities,
    syre_moments,
    variance_parameter,
)
from lmc_helpers.identifiability.input_subspace import coherence


def basis(d, k, seed=0):
    return torch.tensor(np.linalg.qr(np.random.default_rng([seed, d, k]).standard_normal((d, k)))[0])


def masks(d):
    return torch.tensor(list(itertools.product([0.0, 1.0], repeat=d)), dtype=torch.float64)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 1), (5, 5), (7, 3)])
@pytest.mark.parametrize("p", [0.2, 0.5])
def test_moment_over_all_masks(d, k, p):
    U, all_masks = basis(d, k), masks(d)
    weights = torch.where(all_masks == 0, p, 1 - p).double().prod(dim=1)
    S = torch.einsum("lk,ml,lj->mkj", U, all_masks, U)
    gap = S - (1 - p) * torch.eye(k)
    second = torch.einsum("m,mij,mjk->ik", weights, gap, gap)
    norm = np.linalg.norm(second.numpy(), 2)
    assert p * (1 - p) * variance_parameter(U).item() == pytest.approx(norm)


def test_mask_moments():
    for p in (0.0, 0.3, 1.0):
        m = mask_moments(p)
        values, weights = np.array([0.0, 1.0]), np.array([p, 1 - p])
        assert m.mean == pytest.approx(weights @ values)
        assert m.variance == pytest.approx(weights @ (values - m.mean) ** 2)
        assert m.distance == pytest.approx(np.abs(values - m.mean)[weights > 0].max())


@pytest.mark.parametrize("epsilon", [0.01, 0.4, 0.95])
def test_syre_moments_by_quadrature(epsilon):
    nodes, weights = np.polynomial.legendre.leggauss(200)
    square = 1 / (1 + epsilon * nodes)  # d² = 1/u
    mean, moments = weights @ square / 2, syre_moments(epsilon)
    assert moments.mean == pytest.approx(mean, rel=1e-10)
    assert moments.variance == pytest.approx(weights @ (square - mean) ** 2 / 2, rel=1e-8)
    assert moments.distance == pytest.approx(max(1 / (1 - epsilon) - mean, mean - 1 / (1 + epsilon)), rel=1e-12)


def test_syre_moments_refuse_a_bad_half_width():
    for epsilon in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="allowed"):
            syre_moments(epsilon)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_all_masks_and_their_probabilities(d):
    assert all_masks(d).equal(masks(d))
    for p in (0.0, 0.3, 1.0):
        found = mask_probabilities(all_masks(d), p)
        expected = [math.prod(1 - p if x else p for x in row) for row in masks(d).tolist()]
        assert found.tolist() == pytest.approx(expected) and found.sum().item() == pytest.approx(1)


@pytest.mark.parametrize(("copies", "k"), [(1, 1), (1, 3), (5, 1), (4, 3)])
@pytest.mark.parametrize("p", [0.0, 0.3, 0.5])
def test_law_of_exact_copies_over_all_masks(copies, k, p):
    U, all_of_them = exact_copies(copies * k, k, copies), masks(copies * k)
    weights = ((1 - all_of_them) * p + all_of_them * (1 - p)).prod(dim=1)
    S = torch.einsum("lk,ml,lj->mkj", U, all_of_them, U)
    norm = torch.linalg.matrix_norm(S - (1 - p) * torch.eye(k).double(), 2)
    values, law = copies_law(copies, k, p)
    assert (np.diff(values) > 0).all() and law[-1] == pytest.approx(1)
    for value, probability in zip(values, law, strict=True):
        assert weights[norm <= value + 1e-9].sum().item() == pytest.approx(probability)
    assert copies_mean_square(copies, k, p) == pytest.approx((weights @ norm.square()).item(), abs=1e-12)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (6, 2), (8, 8)])
def test_variance_parameter_lies_between(d, k):
    U = basis(d, k)
    nu, v = coherence(U).item(), variance_parameter(U).item()
    assert nu**2 <= v * (1 + 1e-12) and v <= nu * (1 + 1e-12)


@pytest.mark.parametrize(("d", "k", "copies"), [(12, 2, 5), (6, 3, 2), (4, 1, 4)])
def test_exact_copies(d, k, copies):
    U = exact_copies(d, k, copies)
    torch.testing.assert_close(U.T @ U, torch.eye(k).double())
    assert coherence(U).item() == pytest.approx(1 / copies)
    assert variance_parameter(U).item() == pytest.approx(1 / copies)


@pytest.mark.parametrize(("d", "k"), [(8, 1), (10, 3)])
@pytest.mark.parametrize("refined", [False, True])
def test_bound_over_all_masks(d, k, refined):
    U, all_masks, p = basis(d, k), masks(d), 0.3
    weights = torch.where(all_masks == 0, p, 1 - p).double().prod(dim=1)
    S = torch.einsum("lk,ml,lj->mkj", U, all_masks, U)
    size = torch.linalg.matrix_norm(S - (1 - p) * torch.eye(k), 2)
    for delta in (0.9, 0.1, 0.01):
        bound = bernstein_bound(U, mask_moments(p), delta, refined)
        assert weights[size > bound].sum() <= delta
        assert bound <= bernstein_bound(U, mask_moments(p), delta) + 1e-12
    log, m = math.log(2 * k / 0.1), mask_moments(p)
    t = bernstein_bound(U, m, 0.1, refined=True).item()
    tail = t**2 / 2 / (m.variance * variance_parameter(U).item() + m.distance * coherence(U).item() * t / 3)
    assert tail == pytest.approx(log)  # the root of eq. (63)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mask_moments(1.2), "p = 1.2"),
        (lambda: all_masks(0), "d = 0"),
        (lambda: all_masks(21), "d = 21"),
        (lambda: mask_probabilities(torch.ones(2), -0.1), "p = -0.1"),
        (lambda: copies_law(0, 1, 0.5), "copies = 0"),
        (lambda: copies_mean_square(1, 0, 0.5), "k = 0"),
        (lambda: copies_law(1, 1, 2.0), "p = 2.0"),
        (lambda: bernstein_bound(basis(3, 1), mask_moments(0.5), 1.0), "delta = 1.0"),
        (lambda: exact_copies(5, 2, 3), "copies = 3"),
        (lambda: variance_parameter(torch.ones(3, 2)), "orthonormal"),
        (lambda: bernstein_bound(torch.ones(2, 3), mask_moments(0.5), 0.1), "k <= d"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "allowed" in str(error.value)
