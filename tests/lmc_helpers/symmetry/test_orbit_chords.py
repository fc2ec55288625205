"""Chords of GL_h orbits: lengths and distances of fine polygons, circles, sampled difference quotients."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers.symmetry.orbit_chords import orbit_chords

TIMES = torch.linspace(0, 1, 401, dtype=torch.float64)
PLACES = torch.linspace(0, 1, 11, dtype=torch.float64)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def case(B, h=3, size=0.6):
    w = normal(B, h, 4, seed=1), normal(B, 2, h, seed=2)
    return w, size * normal(B, h, h, seed=3), normal(B, 4, 5, seed=4)


def points(w, M, t):
    """γ(t) one matrix exponential at a time, (steps, p)."""
    rows = []
    for s in t.tolist():
        g = torch.matrix_exp(s * M)
        rows.append(torch.cat([(g @ w[0]).flatten(), (w[1] @ torch.linalg.inv(g)).flatten()]))
    return torch.stack(rows)


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
        for V_1, V_2 in zip(found.chord[0][b], found.chord[1][b], strict=True):
            for point in path:
                U_1, U_2 = point[:12].reshape(3, 4), point[12:].reshape(2, 3)
                apart = torch.cat([(V_1 - U_1).flatten(), (V_2 - U_2).flatten()]).norm()
                if apart > 1e-9:
                    change = ((V_2 @ V_1 - U_2 @ U_1) @ X[b]).norm()
                    assert change <= found.lipschitz[b] * apart * (1 + 1e-9)
        curve = [(p[:12].reshape(3, 4), p[12:].reshape(2, 3)) for p in points((w[0][b], w[1][b]), M[b], TIMES)]
        first = max(np.linalg.norm((W_1 @ X[b]).numpy(), 2) for W_1, _ in (curve[0], curve[-1]))
        second = max(np.linalg.norm(W_2.numpy(), 2) for _, W_2 in curve) * np.linalg.norm(X[b].numpy(), 2)
        assert found.lipschitz[b].item() == pytest.approx(math.hypot(first, second))


def test_bad_input_is_named():
    w, M, X = case(2)
    with pytest.raises(ValueError, match="a velocity is 0"):
        orbit_chords(w, 0 * M, X, TIMES, PLACES)
    with pytest.raises(ValueError, match="allowed"):
        orbit_chords(w, M[:, :2, :2], X, TIMES, PLACES)
    with pytest.raises(ValueError, match="places has shape"):
        orbit_chords(w, M, X, TIMES, PLACES[:, None])
