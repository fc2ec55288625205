"""The chord bounds against brute force on circles, random curves of bounded curvature and a naive distance."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers.symmetry.chord_bound import chord_bound, curvature, distance_to_curve, largest_deviation


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
def test_largest_deviation_is_the_height_of_the_arc(R, angle):
    height = R - R * math.cos(angle / 2)
    assert largest_deviation(1 / R, 2 * R * math.sin(angle / 2)).item() == pytest.approx(height, rel=1e-9)


def test_largest_deviation_as_printed_and_for_tiny_arcs():
    kappa, D = torch.tensor([0.5, 1.0, 2.0]).double(), torch.tensor([3.0, 1.0, 0.9]).double()
    printed = (1 - (1 - (kappa * D / 2) ** 2).sqrt()) / kappa
    torch.testing.assert_close(largest_deviation(kappa, D), printed)
    assert largest_deviation(1.0, 1e-9).item() == pytest.approx(1e-18 / 8, rel=1e-12)
    assert largest_deviation(1.0, 0.0).item() == 0


@pytest.mark.parametrize("seed", range(3))
def test_no_curve_in_space_leaves_its_bound(seed):
    rng = np.random.default_rng(seed)
    for _ in range(60):
        steps, length = 1500, rng.uniform(0.2, 6.0)
        ds = length / steps
        T = np.array([1.0, 0.0, 0.0])
        points = [np.zeros(3)]
        normals = rng.standard_normal((rng.integers(1, 4), 3))
        for i in range(steps):
            n = normals[i * len(normals) // steps]
            n = n - (n @ T) * T
            n /= np.linalg.norm(n)
            middle = math.cos(ds / 2) * T + math.sin(ds / 2) * n
            points.append(points[-1] + ds * middle)
            T = math.cos(ds) * T + math.sin(ds) * n
        path = torch.from_numpy(np.array(points))
        D = (path[-1] - path[0]).norm().item()
        ends = torch.linspace(0, 1, 31, dtype=torch.float64)[:, None]
        furthest = distance_to_curve(path[:1] + ends * (path[-1:] - path[:1]), path).max().item()
        assert furthest <= chord_bound(1.0, D, length).item() + 1e-5


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: largest_deviation(0.0, 1.0), "kappa = 0; allowed: κ > 0"),
        (lambda: largest_deviation(-2.0, 1.0), "kappa = -2; allowed"),
        (lambda: largest_deviation(1.0, -1.0), "chord = -1; allowed"),
        (lambda: largest_deviation(1.0, 2.1), "D = 2.1 > 2/κ = 2"),
        (lambda: chord_bound(1.0, 1.0, 0.5), "length is smaller"),
        (lambda: chord_bound(0.0, 1.0, 2.0), "kappa = 0"),
        (lambda: chord_bound(1.0, 1.0, math.inf), "length = inf"),
        (lambda: curvature(torch.zeros(3), torch.ones(3)), "a velocity is 0"),
        (lambda: curvature(torch.ones(3), torch.ones(2)), r"γ' has shape \(3,\) and γ'' \(2,\)"),
        (lambda: distance_to_curve(torch.ones(1, 3), torch.ones(5, 2)), r"points \(1, 3\) and curve \(5, 2\)"),
        (lambda: distance_to_curve(torch.ones(1, 2), torch.ones(1, 2)), "steps >= 2"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
