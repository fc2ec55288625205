"""The chord bounds against brute force on circles, random curves and a naive distance; necks by differences."""

import math

import numpy as np
import pytest
import torch

from lmc_helpers.symmetry.chord_bound import (
    arc_height,
    chord_bound,
    curvature,
    curvature_bound,
    distance_between_ends,
    distance_to_curve,
    lipschitz_loss,
    network_neck,
    planar_neck,
    random_plane_curves,
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


@pytest.mark.parametrize(("steps", "pieces"), [(601, 6), (101, 1), (8, 7)])
def test_random_plane_curves_are_arcs_of_their_lengths(steps, pieces):
    lengths, points = random_plane_curves(400, steps, seed=3, pieces=pieces)
    assert points.shape == (400, steps, 2) and not points[:, 0].any()
    edges = points.diff(dim=1)
    torch.testing.assert_close(edges.norm(dim=-1).sum(dim=1), lengths)
    assert 0.1 * math.pi <= lengths.min() and lengths.max() <= 1.9 * math.pi
    assert abs(lengths.mean().item() / math.pi - 1) < 3.3 * 1.8 / math.sqrt(12 * 400)
    turns = torch.atan2(
        edges[:, :-1, 0] * edges[:, 1:, 1] - edges[:, :-1, 1] * edges[:, 1:, 0], (edges[:, :-1] * edges[:, 1:]).sum(-1)
    )
    kappa = turns * (steps - 1) / lengths[:, None]  # left > 0
    assert kappa.abs().max() <= 1 + 1e-9
    if steps < 3 * pieces:  # two pieces meet at every point
        return
    left = (kappa[:, 0] > 0).double().mean().item()
    assert abs(left - 0.9) < 3.3 * math.sqrt(0.09 / 400)
    fast = (kappa[:, 0].abs() > 1 - 1e-9).double().mean().item()
    assert abs(fast - 0.5) < 3.3 * math.sqrt(0.25 / 400)


def test_distance_between_ends_of_many_curves():
    path = normal(2, 3, 9, 4, seed=5)
    torch.testing.assert_close(distance_between_ends(path), (path[:, :, 8] - path[:, :, 0]).square().sum(-1).sqrt())


PHI = torch.linspace(0, math.pi, 5001, dtype=torch.float64)
WIDTHS = [1e-4, 1e-2, 0.1, 0.2]


@pytest.mark.parametrize("size", [1.0, 2.5])
@pytest.mark.parametrize("e", WIDTHS)
def test_network_neck_lies_in_the_minimum_and_closes_up(e, size):
    w, *_ = network_neck(PHI, e**2 / 2, size)
    torch.testing.assert_close((w[:, :2] * w[:, 2:]).sum(-1), torch.full_like(PHI, e**2 / 2), rtol=1e-9, atol=1e-16)
    start = torch.tensor([1.0, 0.0, 1.0, 0.0]).double() * e / math.sqrt(2)
    torch.testing.assert_close(w[0], start, rtol=0, atol=1e-15)
    torch.testing.assert_close(w[-1], -start, rtol=0, atol=1e-14)


@pytest.mark.parametrize("jet", [lambda t: network_neck(t, 0.02, 1.7), lambda t: planar_neck(t, 0.3)])
def test_derivatives_by_differences(jet):
    t, eps = PHI[::500], 1e-5
    point, velocity, acceleration = jet(t)
    after, before = jet(t + eps), jet(t - eps)
    torch.testing.assert_close(velocity, (after[0] - before[0]) / (2 * eps), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(acceleration, (after[1] - before[1]) / (2 * eps), rtol=1e-8, atol=1e-8)
    assert point.shape == velocity.shape == acceleration.shape


@pytest.mark.parametrize("e", WIDTHS)
def test_the_network_contradicts_theorem_6_2(e):
    delta = e**2 / 2
    w, velocity, acceleration = network_neck(PHI, delta)
    kappa = curvature(velocity, acceleration).max().item()
    assert kappa <= curvature_bound(delta)
    bound = arc_height(curvature_bound(delta), 2 * e).item()
    directions = torch.randn(20_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    directions /= directions.norm(dim=-1, keepdim=True)
    inner = (directions[:, :2] * directions[:, 2:]).sum(-1)
    nearest = (delta / inner[inner > 0]).sqrt().min().item()  # of the minimum, along these rays from 0
    assert e <= nearest < 1.1 * e
    assert distance_to_curve(torch.zeros(1, 4).double(), w).item() == pytest.approx(e, rel=1e-6)
    assert e > bound
    if e <= 0.18:
        assert lipschitz_loss(torch.zeros(4).double(), delta).abs().item() > 1.5 * bound


@pytest.mark.parametrize("delta", [1e-6, 0.01, 1.0])
def test_the_loss_is_lipschitz_and_vanishes_on_the_minimum(delta):
    generator = torch.Generator().manual_seed(2)
    w = torch.randn(4000, 4, dtype=torch.float64, generator=generator)
    w = (w * torch.logspace(-4, 3, 4000, dtype=torch.float64)[:, None]).requires_grad_()
    (gradient,) = torch.autograd.grad(lipschitz_loss(w, delta).sum(), w)
    steepest = gradient.norm(dim=-1).max().item()
    assert 0.6 < steepest <= 1.5
    on = network_neck(PHI, delta)[0]
    assert lipschitz_loss(on, delta).abs().max().item() < 1e-15 * (1 + 1 / delta)


@pytest.mark.parametrize("e", [*WIDTHS, 1.0])
def test_planar_neck_is_the_level_set_with_its_neck_at_the_origin(e):
    theta = torch.linspace(0, 2 * math.pi, 20_001, dtype=torch.float64)
    point, velocity, _ = planar_neck(theta, e)
    x, y = point.unbind(-1)
    torch.testing.assert_close(y**2, (e + x**2) ** 2 * (1 - x**2), rtol=1e-9, atol=1e-12)
    assert point.norm(dim=-1).min().item() == pytest.approx(e, rel=1e-9)
    assert velocity.norm(dim=-1).min().item() > 0.05


def test_curvature_of_the_planar_necks_is_bounded():
    kappas = [curvature(*planar_neck(PHI, e)[1:]).max().item() for e in (0.2, 0.1, 1e-2, 1e-4, 1e-6)]
    assert max(kappas) < 9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arc_height(0.0, 1.0), "kappa = 0; allowed: κ > 0"),
        (lambda: arc_height(-2.0, 1.0), "kappa = -2; allowed"),
        (lambda: arc_height(1.0, -1.0), "chord = -1; allowed"),
        (lambda: arc_height(1.0, 2.1), "D = 2.1 > 2/κ = 2"),
        (lambda: chord_bound(1.0, 1.0, 0.5), "length is smaller"),
        (lambda: chord_bound(0.0, 1.0, 2.0), "kappa = 0"),
        (lambda: chord_bound(1.0, 1.0, math.inf), "length = inf"),
        (lambda: curvature(torch.zeros(3), torch.ones(3)), "a velocity is 0"),
        (lambda: curvature(torch.ones(3), torch.ones(2)), r"γ' has shape \(3,\) and γ'' \(2,\)"),
        (lambda: distance_to_curve(torch.ones(1, 3), torch.ones(5, 2)), r"points \(1, 3\) and curve \(5, 2\)"),
        (lambda: distance_to_curve(torch.ones(1, 2), torch.ones(1, 2)), "steps >= 2"),
        (lambda: network_neck(PHI, 0.0), "delta = 0.0; allowed"),
        (lambda: network_neck(PHI, 0.1, -1.0), "size = -1.0; allowed"),
        (lambda: curvature_bound(0.5), r"√\(2δ\) = 1 and a = 1; allowed"),
        (lambda: lipschitz_loss(torch.zeros(3), 0.1), r"w has shape \(3,\)"),
        (lambda: lipschitz_loss(torch.zeros(4), math.nan), "delta = nan"),
        (lambda: planar_neck(PHI, 0.0), "e = 0.0; allowed"),
        (lambda: planar_neck(PHI, 1.5), "e = 1.5; allowed"),
        (lambda: random_plane_curves(0, 10, 1), "number = 0"),
        (lambda: random_plane_curves(3, 6, 1), "steps = 6, pieces = 6; allowed"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
