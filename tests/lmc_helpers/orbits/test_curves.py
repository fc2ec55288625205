"""Symmetry curves: ends, constant outputs, and derivatives, curvature and length against finite differences."""

import math

import pytest
import torch
from oracles.draws import normal

from lmc_helpers.orbits.curves import chord, curvature, curve, derivatives, distance_between_ends, flatten, length
from lmc_helpers.orbits.group_actions import GeneralLinear, Rescaling

T = torch.linspace(0, 1, 11, dtype=torch.float64)


def case(name, *batch, h=3):
    w = normal(*batch, h, 4, seed=1), normal(*batch, 2, h, seed=2)
    if name == "gl":
        return GeneralLinear(), normal(*batch, h, h, seed=3) / 2, w
    return Rescaling(1.5), normal(*batch, h, seed=4), w


def orbit_curvature(action, M, w, t):
    dims = 1 if isinstance(action, Rescaling) else 2
    return curvature(*derivatives(action, M.unsqueeze(-1 - dims), curve(action, M, w, t)))


def circumscribed(a, b, c):
    """Curvature of the circle through three points."""
    x, y, z = (torch.linalg.vector_norm(u - v, dim=-1) for u, v in ((a, b), (b, c), (c, a)))
    dot = ((b - a) * (c - a)).sum(-1)
    area = ((x * z) ** 2 - dot**2).clamp(min=0).sqrt() / 2
    return 4 * area / (x * y * z)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)])
@pytest.mark.parametrize("name", ["gl", "rescaling"])
def test_curvature_is_that_of_circles_through_three_points(name, batch):
    action, M, w = case(name, *batch)
    centre, step = 0.4, 1e-3
    t = torch.tensor([centre - step, centre, centre + step], dtype=torch.float64)
    path = flatten(curve(action, M, w, t))
    assert path.shape == (*batch, 3, 3 * 4 + 2 * 3)
    menger = circumscribed(*path.unbind(-2))
    closed = orbit_curvature(action, M, w, t)
    assert closed.shape == (*batch, 3)
    torch.testing.assert_close(closed[..., 1], menger, rtol=1e-4, atol=0)


@pytest.mark.parametrize("name", ["gl", "rescaling"])
def test_derivatives_by_differences_and_length_by_a_fine_polygon(name):
    action, M, w = case(name, 4)
    eps = 1e-4
    before, here, after = flatten(curve(action, M, w, torch.tensor([-eps, 0.0, eps]).double())).unbind(-2)
    velocity, acceleration = derivatives(action, M, w)
    torch.testing.assert_close(velocity, (after - before) / (2 * eps), rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(acceleration, (after - 2 * here + before) / eps**2, rtol=1e-5, atol=1e-5)
    path = flatten(curve(action, M, w, torch.linspace(0, 1, 4001, dtype=torch.float64)))
    polygon = torch.linalg.vector_norm(path.diff(dim=-2), dim=-1).sum(-1)
    torch.testing.assert_close(length(action, M, w), polygon, rtol=1e-6, atol=0)


def test_chord_has_the_ends_of_its_curve_and_is_straight():
    action, M, w = case("gl", 2)
    path = curve(action, M, w, T)
    points = flatten(chord(path, T[::2]))
    torch.testing.assert_close(points[:, 0], flatten(w))
    torch.testing.assert_close(points[:, -1], flatten(path)[:, -1])
    assert points.shape == (2, 6, 18) and points.diff(n=2, dim=1).abs().max() < 1e-14
    path = normal(2, 3, 9, 4, seed=5)
    torch.testing.assert_close(distance_between_ends(path), (path[:, :, 8] - path[:, :, 0]).square().sum(-1).sqrt())


def test_orbits_of_rotations_are_circles():
    M = torch.tensor([[0.0, -2.0], [2.0, 0.0]], dtype=torch.float64)
    w = normal(2, 3, seed=11), normal(4, 2, seed=12)
    radius = flatten(w).norm()
    torch.testing.assert_close(orbit_curvature(GeneralLinear(), M, w, T), (1 / radius).expand(11))
    assert length(GeneralLinear(), M, w).item() == pytest.approx(2 * radius.item(), rel=1e-12)


def test_curvature_of_a_helix_in_any_parametrisation_and_frame():
    a, b, t = 1.3, 0.4, 0.9
    Q = torch.linalg.qr(normal(5, 5))[0][:, :3]
    p1, p2 = 1 + 2 * t, 2.0  # s = t + t², so that γ(s(t)) has these derivatives of s
    s = t + t**2
    first = torch.tensor([-a * math.sin(s), a * math.cos(s), b], dtype=torch.float64)
    second = torch.tensor([-a * math.cos(s), -a * math.sin(s), 0.0], dtype=torch.float64)
    kappa = curvature(Q @ (p1 * first), Q @ (p1**2 * second + p2 * first))
    assert kappa.item() == pytest.approx(a / (a**2 + b**2), rel=1e-12)
    assert curvature(first, 5 * first).item() == pytest.approx(0, abs=1e-14)
