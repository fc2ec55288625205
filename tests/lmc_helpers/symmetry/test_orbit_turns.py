"""Curves exp(tM)·w that come back, against closed forms and a search over the minimum."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from scipy.optimize import minimize

from lmc_helpers.symmetry.orbit_turns import loop, midpoint_distance, turn

SIZES = torch.tensor([2.0, 10.0, 300.0], dtype=torch.float64)


def points(curve, a, t):
    """(W_1, W_2) at t by scipy's exponential."""
    (first, second), M = curve(SIZES, a)
    g = np.stack([scipy.linalg.expm(t * m) for m in M.numpy()])
    return g @ first.numpy(), second.numpy() @ np.linalg.inv(g)


@pytest.mark.parametrize("curve", [turn, loop])
@pytest.mark.parametrize("t", [0.3, 0.5, 1.0])
def test_the_function_stays(curve, t):
    first, second = points(curve, 0.1, t)
    start = points(curve, 0.1, 0.0)
    assert np.allclose(second @ first, start[1] @ start[0], rtol=1e-9, atol=1e-9)


def test_the_turn_is_a_rotation_and_a_hyperbola():
    t, a = 0.3, 0.2
    first, second = points(turn, a, t)
    c, s = math.cos(2 * math.pi * t), math.sin(2 * math.pi * t)
    for r, W_1, W_2 in zip(SIZES.tolist(), first, second, strict=True):
        assert np.allclose(W_1[:2, :2] / r, [[c, -s], [s, c]])
        assert np.allclose(W_2[:2, :2] / r, [[c, s], [-s, c]])
        assert np.allclose([W_1[2, 2], W_2[2, 2]], [math.exp((2 * t - 1) * a), math.exp((1 - 2 * t) * a)])


def test_the_loop_is_its_polynomial_and_its_logarithm_is_principal():
    t = 0.3
    first, _ = points(loop, 0.1, t)
    s = t - t**2
    for r, W_1 in zip(SIZES.tolist(), first, strict=True):
        assert np.allclose(W_1[:4, 0], [r * s, r * s * (1 - 2 * t), 0.01, 0.01 * t**3], atol=1e-9)
    N = loop(SIZES, 0.1)[1][:, :4, :4]
    assert (torch.linalg.matrix_power(N, 4).abs().amax(dim=(1, 2)) < 1e-6 * N.norm(dim=(1, 2))).all()  # nilpotent


@pytest.mark.parametrize("a", [0.1, 0.7])
def test_no_minimum_is_nearer_to_the_midpoint(a):
    """All minima of the turn's network are (X, Y X⁻¹); a search from many starts, with r = 2."""
    start, end = (np.stack([W[0] for W in points(turn, a, t)]) for t in (0.0, 1.0))
    P, Q = (start + end) / 2
    Y = start[1] @ start[0]

    def square(x):
        X = x.reshape(3, 3)
        return ((X - P) ** 2).sum() + ((Y @ np.linalg.inv(X) - Q) ** 2).sum()

    rng = np.random.default_rng(1)
    starts = [P + size * rng.normal(size=(3, 3)) for size in (0, 0.1, 0.5, 1, 1, 2, 2)]
    found = min(minimize(square, X.ravel(), method="BFGS").fun for X in starts)
    assert math.isclose(math.sqrt(found), midpoint_distance(a), rel_tol=1e-6)


@pytest.mark.parametrize("curve", [turn, loop])
@pytest.mark.parametrize(("r", "a"), [([-1.0], 0.1), ([1.0], 1.0), ([[1.0]], 0.1)])
def test_bad_sizes_are_refused(curve, r, a):
    with pytest.raises(ValueError, match="allowed"):
        curve(torch.tensor(r, dtype=torch.float64), a)
