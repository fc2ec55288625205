"""The chord bounds against brute force on circles and random curves, and a naive distance."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers.symmetry.chord_bound import (
    arc_height,
    chord_bound,
    curvature,
    distance_between_ends,
    distance_to_curve,
)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


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


@pytest.mark.parametrize(("R", "angle"), [(1.0, 0.1), (3.0, 2.0), (0.2, math.pi)])
def test_arc_height_is_the_height_of_the_arc(R, angle):
    height = R - R * math.cos(angle / 2)
    assert arc_height(1 / R, 2 * R * math.sin(angle / 2)).item() == pytest.approx(height, rel=1e-9)


def test_arc_height_as_printed_and_for_tiny_arcs():
    kappa, D = torch.tensor([0.5, 1.0, 2.0]).double(), torch.tensor([3.0, 1.0, 0.9]).double()
    printed = (1 - (1 - (kappa * D / 2) ** 2).sqrt()) / kappa
    torch.testing.assert_close(arc_height(kappa, D), printed)
    assert arc_height(1.0, 1e-9).item() == pytest.approx(1e-18 / 8, rel=1e-12)
    assert arc_height(1.0, 0.0).item() == 0


@pytest.mark.parametrize("seed", range(3))
def test_no_curve_in_space_leaves_its_bound(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        length, pieces = rng.uniform(0.2, 6.0), rng.integers(1, 4)
        places = np.linspace(0, length / pieces, 300 // pieces + 1)[1:, None]
        T, path = np.array([1.0, 0.0, 0.0]), np.zeros((1, 3))
        for n in rng.standard_normal((pieces, 3)):
            n -= (n @ T) * T
            n /= np.linalg.norm(n)
            path = np.vstack([path, path[-1] + np.sin(places) * T + (1 - np.cos(places)) * n])  # an arc of radius 1
            T = np.cos(places[-1]) * T + np.sin(places[-1]) * n
        path = torch.from_numpy(path)
        D = (path[-1] - path[0]).norm().item()
        ends = torch.linspace(0, 1, 31, dtype=torch.float64)[:, None]
        furthest = distance_to_curve(path[:1] + ends * (path[-1:] - path[:1]), path).max().item()
        assert furthest <= chord_bound(1.0, D, length).item() + (length / 300) ** 2 / 8  # the bulge of an arc


def test_chord_bound_takes_the_least_that_holds():
    D = 2 * math.sin(1.2)
    assert chord_bound(1.0, D, 2.4).item() == pytest.approx(1 - math.cos(1.2), rel=1e-12)
    assert chord_bound(1.0, D, 2 * math.pi - 2.4).item() == pytest.approx(D / 2)  # too long
    assert chord_bound(1.0, 2.5, 2.6).item() == pytest.approx(math.sqrt(2.6**2 - 2.5**2) / 2)  # D > 2/κ
    assert chord_bound(1e9, 1.0, 1.0).item() == 0
    batch = chord_bound(torch.tensor([1.0, 10.0]).double(), D, torch.tensor([2.4, 2.4]).double())
    assert batch.shape == (2,) and batch[0] < batch[1]


@pytest.mark.parametrize(("q", "steps", "p"), [(1, 2, 1), (7, 30, 2), (5, 9, 12)])
def test_distance_to_curve_is_the_naive_one(q, steps, p):
    points, path = normal(3, q, p, seed=1), normal(3, steps, p, seed=2)
    dense = torch.linspace(0, 1, 20_001, dtype=torch.float64)[:, None]
    for b in range(3):
        for i in range(q):
            naive = min(
                (path[b, j] + dense * (path[b, j + 1] - path[b, j]) - points[b, i]).norm(dim=-1).min().item()
                for j in range(steps - 1)
            )
            assert distance_to_curve(points, path)[b, i].item() == pytest.approx(naive, rel=1e-4, abs=1e-4)


def test_distance_of_points_on_the_curve_and_of_repeated_points():
    path = torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]).double() + 100
    assert distance_to_curve(path, path).tolist() == [0.0, 0.0, 0.0]


def test_distance_between_ends_of_many_curves():
    path = normal(2, 3, 9, 4, seed=5)
    torch.testing.assert_close(distance_between_ends(path), (path[:, :, 8] - path[:, :, 0]).square().sum(-1).sqrt())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arc_height(0.0, 1.0), "kappa = 0; allowed: κ > 0"),
        (lambda: arc_height(1.0, 2.1), "D = 2.1 > 2/κ = 2"),
        (lambda: chord_bound(1.0, 1.0, 0.5), "length is smaller"),
        (lambda: chord_bound(1.0, 1.0, math.inf), "length = inf"),
        (lambda: curvature(torch.zeros(3), torch.ones(3)), "a velocity is 0"),
        (lambda: distance_to_curve(torch.ones(1, 2), torch.ones(1, 2)), "at least two"),
    ],
)
def test_what_the_geometry_forbids_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
