"""Bounds on distances from orbits: quartics, projectors, and the contraction of the proof built explicitly."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch

from lmc_helpers.seeds import torch_generator
from lmc_helpers.symmetry.orbit_distance import (
    balanced,
    balanced_distance,
    distance_to_zero_product,
    lower_bound,
    midpoint_bounds,
)

SHAPES = [(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 2, 3)]  # m, h, n


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"orbits {shape}"))


def pair(m, h, n, seed=0):
    return normal(m, h, seed=seed), normal(h, n, seed=100 + seed)


def scalar_distance(u, v, a):
    """Distance of (u, v) from the hyperbola xz = a: real roots of x⁴ − u x³ + a v x − a²."""
    x = np.roots([1, -u, 0, a * v, -a * a])
    x = x[abs(x.imag) < 1e-9].real
    return min(math.hypot(u - t, v - a / t) for t in x)


@pytest.mark.parametrize("shape", SHAPES)
def test_distance_to_zero_product_is_the_least_over_projectors(shape):
    U, V = pair(*shape)
    expected = distance_to_zero_product(U, V).item()
    h = shape[1]

    def value(Q, rank):
        Pi = Q[:, :rank] @ Q[:, :rank].T
        return math.hypot(np.linalg.norm(U.numpy() @ Pi), np.linalg.norm((np.eye(h) - Pi) @ V.numpy()))

    rng = np.random.default_rng(0)
    trials = [value(np.linalg.qr(rng.normal(size=(h, h)))[0], rank) for rank in range(h + 1) for _ in range(200)]
    Q = np.linalg.eigh((U.T @ U - V @ V.T).numpy())[1]
    assert min(value(Q, rank) for rank in range(h + 1)) == pytest.approx(expected, rel=1e-10)
    assert min(trials) >= expected * (1 - 1e-12)


def parrott(W1, W2):
    """A contraction Γ with Γ W_2ᵀ Π = W_1 Π and Γᵀ W_1 (I − Π) = W_2ᵀ (I − Π), as in the proof."""
    values, Q = np.linalg.eigh(W1.T @ W1 - W2 @ W2.T)
    X, Z = Q[:, values < 0], Q[:, values >= 0]
    M, N = scipy.linalg.orth(W2.T @ X), scipy.linalg.orth(W1 @ Z)
    M = np.hstack([M, scipy.linalg.null_space(M.T)]) if M.size else np.eye(W2.shape[1])
    N = np.hstack([N, scipy.linalg.null_space(N.T)]) if N.size else np.eye(W1.shape[0])
    r, s = X.shape[1], Z.shape[1]
    column = W1 @ X @ np.linalg.pinv(W2.T @ X) @ M[:, :r]  # Γ on the first r vectors of M
    row = (W2.T @ Z @ np.linalg.pinv(W1 @ Z) @ N[:, :s]).T  # the first s rows of Γ
    a, below = N[:, :s].T @ column, N[:, s:].T @ column
    beside = row @ M[:, r:]
    K = below @ np.linalg.pinv(scipy.linalg.sqrtm(np.eye(r) - a.T @ a)) if r else below
    L = np.linalg.pinv(scipy.linalg.sqrtm(np.eye(s) - a @ a.T)) @ beside if s else beside
    return N @ np.block([[a, beside], [below, -K @ a.T @ L]]) @ M.T


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 3, 3), (4, 2, 3)])
def test_the_contraction_of_the_proof_gives_the_lower_bound(shape, seed):
    W1, W2 = (W.numpy() for W in pair(*shape, seed=seed))
    G = parrott(W1, W2).real
    values, Q = np.linalg.eigh(W1.T @ W1 - W2 @ W2.T)
    Pi = Q[:, values < 0] @ Q[:, values < 0].T
    rest = np.eye(len(Pi)) - Pi
    assert np.linalg.norm(G, 2) <= 1 + 1e-9
    np.testing.assert_allclose(G @ W2.T @ Pi, W1 @ Pi, atol=1e-9)
    np.testing.assert_allclose(G.T @ W1 @ rest, W2.T @ rest, atol=1e-9)
    d2 = distance_to_zero_product(*map(torch.from_numpy, (W1, W2))).item() ** 2
    assert (G * (W1 @ W2)).sum() == pytest.approx(d2, rel=1e-9)


@pytest.mark.parametrize("c", [1.0, 1.3, 2.0, 7.0])
def test_bounds_hold_for_the_quartic(c):
    for seed in range(5):
        w1, w2 = pair(1, 1, 1, seed)
        exact = scalar_distance(c * w1.item(), c * w2.item(), (w1 * w2).item())
        low, high = midpoint_bounds(w1, w2, c)
        assert low.item() - 1e-9 <= exact <= high.item() + 1e-9
        assert lower_bound(c * w1, c * w2, w1 @ w2).item() <= exact + 1e-9
        even = balanced((w1 * w2).abs())
        exact = scalar_distance(c * even[0].item(), c * even[1].item(), (w1 * w2).abs().item())
        assert balanced_distance(c, w1 * w2).item() == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("t", [0.2, 1.0, 2.9])
def test_lower_bound_is_attained_inside_the_hyperbola(t):
    u, a = torch.tensor([[t]], dtype=torch.float64), torch.tensor([[9.0]], dtype=torch.float64)
    assert scalar_distance(t, t, 9.0) == pytest.approx(math.sqrt(2) * (3 - t), rel=1e-9)
    assert lower_bound(u, u, a).item() == pytest.approx(math.sqrt(2) * (3 - t), rel=1e-12)


I2 = torch.eye(2, dtype=torch.float64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: distance_to_zero_product(I2, I2[:1]), r"shapes \(2, 2\) and \(1, 2\); allowed"),
        (lambda: distance_to_zero_product(I2.float(), I2), "float32; allowed: matrices of torch.float64"),
        (lambda: distance_to_zero_product(I2, I2 * math.nan), "V holds values that are not finite"),
        (lambda: lower_bound(I2, I2, I2[:1]), r"A has shape \(1, 2\); allowed: \(2, 2\)"),
        (lambda: midpoint_bounds(I2, I2, 0.5), "c = 0.5; allowed: finite numbers >= 1"),
        (lambda: balanced(torch.ones(2, 2, dtype=torch.float64)), "A is singular to rounding; allowed: full rank"),
        (lambda: balanced(I2[:1]), r"A has shape \(1, 2\); allowed: \(..., n, n\)"),
        (lambda: balanced_distance(-1.0, I2), "c = -1.0; allowed: finite numbers >= 0"),
        (lambda: balanced_distance(2.0, 0 * I2), "A is singular to rounding"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
