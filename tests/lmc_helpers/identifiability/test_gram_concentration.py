"""Moments and bounds of random Gram matrices against enumeration of all masks and quadrature."""

import itertools
import math

import numpy as np
import pytest
import scipy.integrate
import torch

from lmc_helpers.identifiability.gram_concentration import (
    bernstein_bound,
    exact_copies,
    frobenius_moment,
    mask_moments,
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
    assert frobenius_moment(U, p * (1 - p)).item() == pytest.approx((weights @ gap.square().sum(dim=(1, 2))).item())
    second = torch.einsum("m,mij,mjk->ik", weights, gap, gap)
    norm = np.linalg.norm(second.numpy(), 2)
    assert p * (1 - p) * variance_parameter(U).item() == pytest.approx(norm)


@pytest.mark.parametrize(("d", "k", "fixed"), [(2, 1, 1), (5, 5, 2), (7, 3, 4), (6, 2, 6)])
def test_moment_with_a_fixed_number(d, k, fixed):
    U = basis(d, k)
    chosen = [x for x in masks(d) if (x == 0).sum() == fixed]
    gaps = [U.T @ (x[:, None] * U) - (1 - fixed / d) * torch.eye(k) for x in chosen]
    mean = torch.stack(gaps).square().sum(dim=(1, 2)).mean()
    p = fixed / d
    assert frobenius_moment(U, p * (1 - p), fixed_number=True).item() == pytest.approx(mean.item(), abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 0.6])
def test_syre_moments_by_quadrature(epsilon):
    low, high = 1 - epsilon, 1 + epsilon
    mean, square = (scipy.integrate.quad(lambda u, n=n: u**-n, low, high)[0] / (high - low) for n in (1, 2))
    m = syre_moments(epsilon)
    assert m.mean == pytest.approx(mean) and m.variance == pytest.approx(square - mean**2)
    assert m.distance == pytest.approx(max(abs(1 / low - mean), abs(1 / high - mean)))


def test_mask_moments():
    for p in (0.0, 0.3, 1.0):
        m = mask_moments(p)
        values, weights = np.array([0.0, 1.0]), np.array([p, 1 - p])
        assert m.mean == pytest.approx(weights @ values)
        assert m.variance == pytest.approx(weights @ (values - m.mean) ** 2)
        assert m.distance == pytest.approx(np.abs(values - m.mean)[weights > 0].max())


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
        (lambda: syre_moments(1.0), "epsilon = 1.0"),
        (lambda: bernstein_bound(basis(3, 1), mask_moments(0.5), 1.0), "delta = 1.0"),
        (lambda: exact_copies(5, 2, 3), "copies = 3"),
        (lambda: frobenius_moment(torch.ones(1, 1), 1.0, fixed_number=True), "d = 1"),
        (lambda: variance_parameter(torch.ones(3, 2)), "orthonormal"),
        (lambda: bernstein_bound(torch.ones(2, 3), mask_moments(0.5), 0.1), "k <= d"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message) as error:
        call()
    assert "allowed" in str(error.value)
