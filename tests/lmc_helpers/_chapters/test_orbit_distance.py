"""What chapter *orbit distance* computes: quartics, projectors, the contraction of the proof."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from oracles.orbits import SHAPES, factorisation, lower_bound, normal, scalar_distance
from scipy.optimize import minimize

from lmc_helpers._chapters import orbit_distance as chapter
from lmc_helpers.orbits.distance import orbit_distance


@pytest.mark.parametrize("shape", SHAPES)
def test_distance_to_zero_product_is_the_least_over_projectors(shape):
    U, V = factorisation(*shape)
    expected = chapter.distance_to_zero_product(U, V).item()
    h = shape[1]

    def value(Q, rank):
        Pi = Q[:, :rank] @ Q[:, :rank].T
        return math.hypot(np.linalg.norm(U.numpy() @ Pi), np.linalg.norm((np.eye(h) - Pi) @ V.numpy()))

    rng = np.random.default_rng(0)
    trials = [value(np.linalg.qr(rng.normal(size=(h, h)))[0], rank) for rank in range(h + 1) for _ in range(200)]
    Q = np.linalg.eigh((U.T @ U - V @ V.T).numpy())[1]
    assert min(value(Q, rank) for rank in range(h + 1)) == pytest.approx(expected, rel=1e-10)
    assert min(trials) >= expected * (1 - 1e-12)


def any_point_bound(U, V, A):
    """The lower bound on the distance of (U, V) from {X Z = A}, with d_0 from a search over projectors, h <= 2."""
    angles = np.linspace(0, np.pi, 20001)[:, None]
    lines = np.hstack([np.cos(angles), np.sin(angles)]) if U.shape[1] == 2 else np.ones((1, 1))
    on_a_line = np.square(lines @ U.T).sum(axis=1) + np.square(V).sum() - np.square(lines @ V).sum(axis=1)
    d = math.sqrt(min(np.square(U).sum(), np.square(V).sum(), on_a_line.min()))
    a = math.sqrt(np.linalg.svd(A, compute_uv=False).sum())
    return (math.sqrt(2) * (d - a) if d <= 2 * a else math.sqrt(d * d - 2 * a * a)) if d >= a else 0.0


def test_any_number_pair_is_as_far_from_a_hyperbola_as_the_theorem_says():
    shares = []
    for u, v, a in product(np.linspace(-4, 4, 17), np.linspace(0.1, 4, 9), (0.3, 1.0, -0.6)):
        low = any_point_bound(*(np.array([[x]]) for x in (u, v, a)))
        exact = scalar_distance(u, v, a)
        assert low <= exact + 1e-6
        shares.append(low / exact if exact else 0)
    assert max(shares) > 0.999


@pytest.mark.parametrize("seed", range(4))
def test_no_group_element_brings_an_average_nearer_than_the_theorem_says(seed):
    W1, W2 = (W.numpy() for W in factorisation(3, 2, 2, seed))
    rng = np.random.default_rng(seed)
    g = rng.normal(size=(2, 2, 2)) * np.array([9.0, 1 / 9])[:, None, None]
    U, V = W1 @ np.linalg.inv(g).mean(axis=0), g.mean(axis=0) @ W2

    def value(x):
        x = x.reshape(2, 2)
        return np.linalg.norm(U - W1 @ np.linalg.inv(x)) ** 2 + np.linalg.norm(V - x @ W2) ** 2

    found = min(minimize(value, rng.normal(size=4) * 2, method="Nelder-Mead").fun for _ in range(16))
    assert 0 < any_point_bound(U, V, W1 @ W2) <= math.sqrt(found) + 1e-6


@pytest.mark.parametrize("c", [1.0, 1.3, 2.0, 7.0])
def test_bounds_hold_for_the_quartic(c):
    for seed in range(5):
        w1, w2 = factorisation(1, 1, 1, seed)
        exact = scalar_distance(c * w1.item(), c * w2.item(), (w1 * w2).item())
        low, high = chapter.midpoint_bounds(w1, w2, c)
        assert low.item() - 1e-9 <= exact <= high.item() + 1e-9
        assert lower_bound(c * w1, c * w2, w1 @ w2) <= exact + 1e-9
        even = chapter.balanced_factorisation((w1 * w2).abs())
        exact = scalar_distance(c * even[0].item(), c * even[1].item(), (w1 * w2).abs().item())
        assert chapter.balanced_distance(c, w1 * w2).item() == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("t", [0.2, 1.0, 2.9])
def test_lower_bound_is_attained_inside_the_hyperbola(t):
    u, a = torch.tensor([[t]], dtype=torch.float64), torch.tensor([[9.0]], dtype=torch.float64)
    assert scalar_distance(t, t, 9.0) == pytest.approx(math.sqrt(2) * (3 - t), rel=1e-9)
    assert lower_bound(u, u, a) == pytest.approx(math.sqrt(2) * (3 - t), rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_balanced_distance_is_the_minimum(n):
    A = normal(n, n)
    W1, W2 = chapter.balanced_factorisation(A)
    torch.testing.assert_close(W1 @ W2, A)
    torch.testing.assert_close(W1.mT @ W1, W2 @ W2.mT)
    c = torch.tensor([1.0, 1.4, 2.0, 2.3, 9.0], dtype=torch.float64)
    batch = c[:, None, None]
    foot = orbit_distance(batch * W1, batch * W2, W1, W2)
    torch.testing.assert_close(foot.distance, chapter.balanced_distance(c, A), rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(foot.X @ foot.Z, A.expand(5, n, n), rtol=1e-9, atol=1e-9)
