"""What chapter *curvature* computes, against independent oracles."""

import math

import numpy as np
import pytest
import scipy.linalg
import torch
from scipy.linalg import expm
from scipy.optimize import minimize

from lmc_helpers._chapters.curvature import loop, midpoint_distance, orbit_chords, turn

# ---------- orbit chords
#
# Chords of GL_h orbits: lengths and distances of fine polygons, circles, sampled difference quotients.


TIMES = torch.linspace(0, 1, 401, dtype=torch.float64)
PLACES = torch.linspace(0, 1, 11, dtype=torch.float64)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def case(B, h=3, size=0.6):
    w = normal(B, h, 4, seed=1), normal(B, 2, h, seed=2)
    return w, size * normal(B, h, h, seed=3), normal(B, 4, 5, seed=4)


def points(w, M, t):
    """γ(t) by SciPy's matrix exponentials, (steps, p)."""
    g = torch.from_numpy(expm(t[:, None, None].numpy() * M.numpy()))
    return torch.cat([(g @ w[0]).flatten(1), (w[1] @ torch.linalg.inv(g)).flatten(1)], dim=1)


@pytest.mark.parametrize(("B", "h"), [(1, 1), (4, 3)])
def test_chord_length_ends_and_distance_are_those_of_a_polygon(B, h):
    w, M, X = case(B, h)
    found = orbit_chords(w, M, X, TIMES, PLACES)
    for b in range(B):
        path = points((w[0][b], w[1][b]), M[b], TIMES)
        assert found.length[b].item() == pytest.approx(path.diff(dim=0).norm(dim=1).sum().item(), rel=1e-4)
        assert found.D[b].item() == pytest.approx((path[-1] - path[0]).norm().item(), rel=1e-10)
        line = PLACES[:, None] * path[-1] + (1 - PLACES[:, None]) * path[0]
        chord = torch.cat([found.chord[0][b].flatten(1), found.chord[1][b].flatten(1)], dim=1)
        torch.testing.assert_close(chord, line)
        nearest = torch.cdist(line, path).amin(dim=1).max().item()
        assert found.distance[b].item() == pytest.approx(nearest, rel=1e-2)


def test_rotations_draw_circles():
    M = torch.tensor([[[0.0, -1.0], [1.0, 0.0]]], dtype=torch.float64)
    w = normal(1, 2, 3, seed=5), normal(1, 4, 2, seed=6)
    r = torch.cat([W.flatten() for W in w]).norm().item()
    found = orbit_chords(w, M, normal(1, 3, 2), TIMES, PLACES)
    assert found.kappa.item() == pytest.approx(1 / r, rel=1e-10)
    assert found.length.item() == pytest.approx(r, rel=1e-10)
    assert found.D.item() == pytest.approx(2 * r * math.sin(0.5), rel=1e-10)
    assert found.distance.item() == pytest.approx(r * (1 - math.cos(0.5)), rel=1e-4)


@pytest.mark.parametrize("size", [0.1, 0.6, 1.5])
def test_lipschitz_constant_bounds_difference_quotients(size):
    w, M, X = case(6, size=size)
    found = orbit_chords(w, M, X, TIMES, PLACES)
    for b in range(6):
        path = points((w[0][b], w[1][b]), M[b], TIMES[::20])
        U_1, U_2 = path[:, :12].reshape(-1, 3, 4), path[:, 12:].reshape(-1, 2, 3)
        V_1, V_2 = (part[b][:, None] for part in found.chord)
        apart = ((V_1 - U_1).square().sum(dim=(-2, -1)) + (V_2 - U_2).square().sum(dim=(-2, -1))).sqrt()
        change = torch.linalg.matrix_norm((V_2 @ V_1 - U_2 @ U_1) @ X[b])
        far = apart > 1e-9
        assert far.sum() > 200 and (change <= found.lipschitz[b] * apart * (1 + 1e-9))[far].all()
        curve = [(p[:12].reshape(3, 4), p[12:].reshape(2, 3)) for p in points((w[0][b], w[1][b]), M[b], TIMES)]
        first = max(np.linalg.norm((W_1 @ X[b]).numpy(), 2) for W_1, _ in (curve[0], curve[-1]))
        second = max(np.linalg.norm(W_2.numpy(), 2) for _, W_2 in curve) * np.linalg.norm(X[b].numpy(), 2)
        assert found.lipschitz[b].item() == pytest.approx(math.hypot(first, second))


# ---------- orbit turns
#
# Curves exp(tM)·w that come back, against closed forms and a search over the minimum.


SIZES = torch.tensor([2.0, 10.0, 300.0], dtype=torch.float64)


def points_of_orbit_turns(curve, a, t):
    """(W_1, W_2) at t by scipy's exponential."""
    (first, second), M = curve(SIZES, a)
    g = np.stack([scipy.linalg.expm(t * m) for m in M.numpy()])
    return g @ first.numpy(), second.numpy() @ np.linalg.inv(g)


@pytest.mark.parametrize("curve", [turn, loop])
@pytest.mark.parametrize("t", [0.3, 0.5, 1.0])
def test_the_function_stays(curve, t):
    first, second = points_of_orbit_turns(curve, 0.1, t)
    start = points_of_orbit_turns(curve, 0.1, 0.0)
    assert np.allclose(second @ first, start[1] @ start[0], rtol=1e-9, atol=1e-9)


def test_the_turn_is_a_rotation_and_a_hyperbola():
    t, a = 0.3, 0.2
    first, second = points_of_orbit_turns(turn, a, t)
    c, s = math.cos(2 * math.pi * t), math.sin(2 * math.pi * t)
    for r, W_1, W_2 in zip(SIZES.tolist(), first, second, strict=True):
        assert np.allclose(W_1[:2, :2] / r, [[c, -s], [s, c]])
        assert np.allclose(W_2[:2, :2] / r, [[c, s], [-s, c]])
        assert np.allclose([W_1[2, 2], W_2[2, 2]], [math.exp((2 * t - 1) * a), math.exp((1 - 2 * t) * a)])


def test_the_loop_is_its_polynomial_and_its_logarithm_is_principal():
    t = 0.3
    first, _ = points_of_orbit_turns(loop, 0.1, t)
    s = t - t**2
    for r, W_1 in zip(SIZES.tolist(), first, strict=True):
        assert np.allclose(W_1[:4, 0], [r * s, r * s * (1 - 2 * t), 0.01, 0.01 * t**3], atol=1e-9)
    N = loop(SIZES, 0.1)[1][:, :4, :4]
    assert (torch.linalg.matrix_power(N, 4).abs().amax(dim=(1, 2)) < 1e-6 * N.norm(dim=(1, 2))).all()  # nilpotent


@pytest.mark.parametrize("a", [0.1, 0.7])
def test_no_minimum_is_nearer_to_the_midpoint(a):
    """All minima of the turn's network are (X, Y X⁻¹); a search from many starts, with r = 2."""
    start, end = (np.stack([W[0] for W in points_of_orbit_turns(turn, a, t)]) for t in (0.0, 1.0))
    P, Q = (start + end) / 2
    Y = start[1] @ start[0]

    def square(x):
        X = x.reshape(3, 3)
        return ((X - P) ** 2).sum() + ((Y @ np.linalg.inv(X) - Q) ** 2).sum()

    rng = np.random.default_rng(1)
    starts = [P + size * rng.normal(size=(3, 3)) for size in (0, 0.1, 0.5, 1, 1, 2, 2)]
    found = min(minimize(square, X.ravel(), method="BFGS").fun for X in starts)
    assert math.isclose(math.sqrt(found), midpoint_distance(a), rel_tol=1e-6)
