"""Chapter *curvature*: plane curves and necks."""

import math

import numpy as np
import pytest
import torch
from oracles.draws import normal
from scipy.linalg import block_diag, expm
from scipy.optimize import minimize

from lmc_helpers._chapters import curvature as chapter
from lmc_helpers.orbits.curves import curvature

PHI = torch.linspace(0, math.pi, 5001, dtype=torch.float64)
WIDTHS = [1e-4, 1e-2, 0.1, 0.2]


@pytest.mark.parametrize(("steps", "pieces"), [(601, 6), (101, 1), (8, 7)])
def test_random_plane_curves_are_arcs_of_their_lengths(steps, pieces):
    lengths, points = chapter.random_plane_curves(400, steps, seed=3, pieces=pieces)
    assert points.shape == (400, steps, 2) and not points[:, 0].any()
    edges = points.diff(dim=1)
    torch.testing.assert_close(edges.norm(dim=-1).sum(dim=1), lengths)
    assert 0.1 * math.pi <= lengths.min() and lengths.max() <= 1.9 * math.pi
    assert abs(lengths.mean().item() / math.pi - 1) < 3.3 * 1.8 / math.sqrt(12 * 400)
    before, after = edges[:, :-1], edges[:, 1:]
    cross = before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0]
    turns = torch.atan2(cross, (before * after).sum(-1))
    kappa = turns * (steps - 1) / lengths[:, None]  # left > 0
    assert kappa.abs().max() <= 1 + 1e-9
    if steps < 3 * pieces:  # two pieces meet at every point
        return
    left = (kappa[:, 0] > 0).double().mean().item()
    assert abs(left - 0.9) < 3.3 * math.sqrt(0.09 / 400)
    fast = (kappa[:, 0].abs() > 1 - 1e-9).double().mean().item()
    assert abs(fast - 0.5) < 3.3 * math.sqrt(0.25 / 400)


@pytest.mark.parametrize("size", [1.0, 2.5])
@pytest.mark.parametrize("e", WIDTHS)
def test_network_neck_lies_in_the_minimum_and_closes_up(e, size):
    w, *_ = chapter.network_neck(PHI, e**2 / 2, size)
    torch.testing.assert_close((w[:, :2] * w[:, 2:]).sum(-1), torch.full_like(PHI, e**2 / 2), rtol=1e-9, atol=1e-16)
    start = torch.tensor([1.0, 0.0, 1.0, 0.0]).double() * e / math.sqrt(2)
    torch.testing.assert_close(w[0], start, rtol=0, atol=1e-15)
    torch.testing.assert_close(w[-1], -start, rtol=0, atol=1e-14)


@pytest.mark.parametrize("jet", [lambda t: chapter.network_neck(t, 0.02, 1.7), lambda t: chapter.planar_neck(t, 0.3)])
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
    w, velocity, acceleration = chapter.network_neck(PHI, delta)
    kappa = curvature(velocity, acceleration).max().item()
    assert kappa <= chapter.curvature_bound(delta)
    bound = chapter.arc_height(chapter.curvature_bound(delta), 2 * e).item()
    directions = torch.randn(20_000, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    directions /= directions.norm(dim=-1, keepdim=True)
    inner = (directions[:, :2] * directions[:, 2:]).sum(-1)
    nearest = (delta / inner[inner > 0]).sqrt().min().item()  # of the minimum, along these rays from 0
    assert e <= nearest < 1.1 * e
    assert chapter.distance_to_curve(torch.zeros(1, 4).double(), w).item() == pytest.approx(e, rel=1e-6)
    assert e > bound
    if e <= 0.18:
        assert chapter.lipschitz_loss(torch.zeros(4).double(), delta).abs().item() > 1.5 * bound


@pytest.mark.parametrize("delta", [1e-6, 0.01, 1.0])
def test_the_loss_is_lipschitz_and_vanishes_on_the_minimum(delta):
    generator = torch.Generator().manual_seed(2)
    w = torch.randn(4000, 4, dtype=torch.float64, generator=generator)
    w = (w * torch.logspace(-4, 3, 4000, dtype=torch.float64)[:, None]).requires_grad_()
    (gradient,) = torch.autograd.grad(chapter.lipschitz_loss(w, delta).sum(), w)
    steepest = gradient.norm(dim=-1).max().item()
    assert 0.6 < steepest <= 1.5
    on = chapter.network_neck(PHI, delta)[0]
    assert chapter.lipschitz_loss(on, delta).abs().max().item() < 1e-15 * (1 + 1 / delta)


@pytest.mark.parametrize("e", [*WIDTHS, 1.0])
def test_planar_neck_is_the_level_set_with_its_neck_at_the_origin(e):
    theta = torch.linspace(0, 2 * math.pi, 20_001, dtype=torch.float64)
    point, velocity, _ = chapter.planar_neck(theta, e)
    x, y = point.unbind(-1)
    torch.testing.assert_close(y**2, (e + x**2) ** 2 * (1 - x**2), rtol=1e-9, atol=1e-12)
    assert point.norm(dim=-1).min().item() == pytest.approx(e, rel=1e-9)
    assert velocity.norm(dim=-1).min().item() > 0.05


def test_curvature_of_the_planar_necks_is_bounded():
    kappas = [curvature(*chapter.planar_neck(PHI, e)[1:]).max().item() for e in (0.2, 0.1, 1e-2, 1e-4, 1e-6)]
    assert max(kappas) < 9


TIMES = torch.linspace(0, 1, 401, dtype=torch.float64)
PLACES = torch.linspace(0, 1, 11, dtype=torch.float64)


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
    found = chapter.orbit_chords(w, M, X, TIMES, PLACES)
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
    found = chapter.orbit_chords(w, M, normal(1, 3, 2), TIMES, PLACES)
    assert found.kappa.item() == pytest.approx(1 / r, rel=1e-10)
    assert found.length.item() == pytest.approx(r, rel=1e-10)
    assert found.D.item() == pytest.approx(2 * r * math.sin(0.5), rel=1e-10)
    assert found.distance.item() == pytest.approx(r * (1 - math.cos(0.5)), rel=1e-4)


@pytest.mark.parametrize("size", [0.1, 0.6, 1.5])
def test_lipschitz_constant_bounds_difference_quotients(size):
    w, M, X = case(6, size=size)
    found = chapter.orbit_chords(w, M, X, TIMES, PLACES)
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


SIZES = torch.tensor([2.0, 10.0, 300.0], dtype=torch.float64)


def points_of_orbit_turns(curve, a, t):
    """(W_1, W_2) at t by scipy's exponential."""
    (first, second), M = curve(SIZES, a)
    g = np.stack([expm(t * m) for m in M.numpy()])
    return g @ first.numpy(), second.numpy() @ np.linalg.inv(g)


@pytest.mark.parametrize("curve", [chapter.turn, chapter.loop])
@pytest.mark.parametrize("t", [0.3, 0.5, 1.0])
def test_the_function_stays(curve, t):
    first, second = points_of_orbit_turns(curve, 0.1, t)
    start = points_of_orbit_turns(curve, 0.1, 0.0)
    assert np.allclose(second @ first, start[1] @ start[0], rtol=1e-9, atol=1e-9)


def test_turn_and_loop_are_what_their_formulas_say():
    t, a = 0.3, 0.2
    first, second = points_of_orbit_turns(chapter.turn, a, t)
    c, s = math.cos(2 * math.pi * t), math.sin(2 * math.pi * t)
    for r, W_1, W_2 in zip(SIZES.tolist(), first, second, strict=True):
        assert np.allclose(W_1[:2, :2] / r, [[c, -s], [s, c]])
        assert np.allclose(W_2[:2, :2] / r, [[c, s], [-s, c]])
        assert np.allclose([W_1[2, 2], W_2[2, 2]], [math.exp((2 * t - 1) * a), math.exp((1 - 2 * t) * a)])
    t = 0.3
    first, _ = points_of_orbit_turns(chapter.loop, 0.1, t)
    s = t - t**2
    for r, W_1 in zip(SIZES.tolist(), first, strict=True):
        assert np.allclose(W_1[:4, 0], [r * s, r * s * (1 - 2 * t), 0.01, 0.01 * t**3], atol=1e-9)
    N = chapter.loop(SIZES, 0.1)[1][:, :4, :4]
    assert (torch.linalg.matrix_power(N, 4).abs().amax(dim=(1, 2)) < 1e-6 * N.norm(dim=(1, 2))).all()  # nilpotent


def nearest_minimum(P, Q, Y, starts):
    """Distance from (P, Q) to the minima (X, Y X⁻¹) of a network, by searches."""

    def square(x):
        X = x.reshape(P.shape)
        return ((X - P) ** 2).sum() + ((Y @ np.linalg.inv(X) - Q) ** 2).sum()

    return math.sqrt(min(minimize(square, X.ravel(), method="BFGS").fun for X in starts))


@pytest.mark.parametrize("a", [0.1, 0.7])
def test_no_minimum_is_nearer_to_the_midpoint(a):
    """Of the turn's network, with r = 2."""
    start, end = (np.stack([W[0] for W in points_of_orbit_turns(chapter.turn, a, t)]) for t in (0.0, 1.0))
    P, Q = (start + end) / 2
    rng = np.random.default_rng(1)
    starts = [P + size * rng.normal(size=(3, 3)) for size in (0, 0.1, 0.5, 1, 1, 2, 2)]
    found = nearest_minimum(P, Q, start[1] @ start[0], starts)
    assert math.isclose(found, chapter.midpoint_distance(a), rel_tol=1e-6)


@pytest.mark.parametrize("r", [1.0, 3.0])
def test_a_half_turn_beside_a_full_one_leaves_the_middle_as_far_as_the_ends(r):
    """The curve by matrix exponentials, curvature by differences, distance by searches over X with Z = Y X⁻¹."""
    J, first = np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([1.0, 1.0, r, r])
    M = block_diag(np.pi * J, 2 * np.pi * J)
    path = np.array([np.ravel([expm(t * M) @ first, first @ expm(-t * M)]) for t in np.linspace(0, 1, 2001)])
    edges = np.diff(path, axis=0)
    steps = np.linalg.norm(edges, axis=1)
    kappa = np.linalg.norm(np.diff(edges / steps[:, None], axis=0), axis=1) / steps[1:]
    np.testing.assert_allclose(kappa, math.sqrt(1 + 16 * r * r) / (2 + 8 * r * r), rtol=1e-4)
    D = np.linalg.norm(path[-1] - path[0])
    assert D == pytest.approx(4) and kappa.max() * D < 2
    P, Q = (path[0] + path[-1]).reshape(2, 4, 4) / 2
    rng = np.random.default_rng(2)
    starts = [first + size * rng.normal(size=(4, 4)) for size in (0.1, 0.5, 1, 1, 2, 2)]
    assert nearest_minimum(P, Q, first @ first, starts) == pytest.approx(D / 2, rel=1e-6)


@pytest.mark.parametrize(("R", "angle"), [(1.0, 0.1), (3.0, 2.0), (0.2, math.pi)])
def test_arc_height_is_the_height_of_the_arc(R, angle):
    height = R - R * math.cos(angle / 2)
    assert chapter.arc_height(1 / R, 2 * R * math.sin(angle / 2)).item() == pytest.approx(height, rel=1e-9)


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
        furthest = chapter.distance_to_curve(path[:1] + ends * (path[-1:] - path[:1]), path).max().item()
        assert furthest <= chapter.chord_bound(1.0, D, length).item() + (length / 300) ** 2 / 8  # the bulge of an arc


def test_chord_bounds_heights_and_distances_in_special_cases():
    D = 2 * math.sin(1.2)
    assert chapter.chord_bound(1.0, D, 2.4).item() == pytest.approx(1 - math.cos(1.2), rel=1e-12)
    assert chapter.chord_bound(1.0, D, 2 * math.pi - 2.4).item() == pytest.approx(D / 2)  # too long
    assert chapter.chord_bound(1.0, 2.5, 2.6).item() == pytest.approx(math.sqrt(2.6**2 - 2.5**2) / 2)  # D > 2/κ
    assert chapter.chord_bound(1e9, 1.0, 1.0).item() == 0
    batch = chapter.chord_bound(torch.tensor([1.0, 10.0]).double(), D, torch.tensor([2.4, 2.4]).double())
    assert batch.shape == (2,) and batch[0] < batch[1]
    kappa, D = torch.tensor([0.5, 1.0, 2.0]).double(), torch.tensor([3.0, 1.0, 0.9]).double()
    printed = (1 - (1 - (kappa * D / 2) ** 2).sqrt()) / kappa
    torch.testing.assert_close(chapter.arc_height(kappa, D), printed)
    assert chapter.arc_height(1.0, 1e-9).item() == pytest.approx(1e-18 / 8, rel=1e-12)
    assert chapter.arc_height(1.0, 0.0).item() == 0
    path = torch.tensor([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0]]).double() + 100
    assert chapter.distance_to_curve(path, path).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("q", "steps", "p"), [(1, 2, 1), (7, 30, 2), (5, 9, 12)])
def test_distance_to_curve_is_the_naive_one(q, steps, p):
    points, path = normal(3, q, p, seed=1), normal(3, steps, p, seed=2)
    dense = torch.linspace(0, 1, 20_001, dtype=torch.float64)[:, None]
    for b in range(3):
        for i in range(q):
            edges = (path[b, j] + dense * (path[b, j + 1] - path[b, j]) for j in range(steps - 1))
            naive = min((edge - points[b, i]).norm(dim=-1).min().item() for edge in edges)
            assert chapter.distance_to_curve(points, path)[b, i].item() == pytest.approx(naive, rel=1e-4, abs=1e-4)
