"""Curves with known folds, branch points and neighbours: cubics, a pitchfork, its unfolding, a triple point, sheets."""

import numpy as np
import pytest
import torch
from oracles.draws import f64

from lmc_helpers.permutation_points.continuation import trace_curves


def cubic(rows, y):
    """λ = u³ − 3u: folds at (1, −2) and (−1, 2)."""
    u, lam = y[:, 0], y[:, 1]
    return (lam - u**3 + 3 * u)[:, None], torch.stack([3 - 3 * u**2, torch.ones_like(u)], dim=1)[:, None]


@pytest.mark.parametrize("largest", [0.05, 0.3])
def test_a_cubic_is_followed_through_both_folds(largest):
    start = f64([2.5, 2.5**3 - 7.5], [2.0, 2.0])
    both = trace_curves(cubic, start, -1.0, lambda rows, y: y[:, 1] < -3, steps=2000, largest=largest)
    for curve in both:
        u, lam = curve.points.T
        torch.testing.assert_close(lam, u**3 - 3 * u, rtol=0, atol=1e-9)
        assert len(curve.folds) == 2 and not curve.stuck
        torch.testing.assert_close(u[curve.folds], f64(1.0, -1.0), rtol=0, atol=2 * largest)
        assert u[-1] < -2 and lam[-1] < -3  # the third sheet, which no search at fixed λ from above reaches
        assert (u.diff() < 0).all()  # once along the curve, never back and no jump
        assert not len(curve.switches)
        gaps = curve.points.diff(dim=0).norm(dim=1)
        assert (gaps <= 1.2 * curve.steps).all() and (gaps >= 0.8 * curve.steps).all()


@pytest.mark.parametrize("largest", [0.02, 0.3])
@pytest.mark.parametrize("offset", [0.0, 0.01, -0.01])
def test_the_parabola_of_a_pitchfork(offset, largest):
    """u λ − u³ + ε = 0 from u = 1: through the branch point to u = −1 for ε = 0, along the unfolding else."""

    def pitchfork(rows, y):
        u, lam = y[:, 0], y[:, 1]
        return (u * lam - u**3 + offset)[:, None], torch.stack([lam - 3 * u**2, u], dim=1)[:, None]

    start = f64([1.0, 1 - offset])
    [curve] = trace_curves(pitchfork, start, -1.0, lambda rows, y: y[:, 1].abs() > 1.5, steps=2000, largest=largest)
    u, lam = curve.points.T
    torch.testing.assert_close(u * lam, u**3 - offset, rtol=0, atol=1e-9)
    if offset > 0:  # u stays positive and the curve goes on to λ → −∞
        assert (u > 0).all() and lam[-1] < -1.4 and not len(curve.folds)
    elif offset < 0:  # it turns back at λ = 3 (ε/2)^(2/3) and u goes to 0 for λ → ∞
        torch.testing.assert_close(lam.min(), f64(3 * (0.01 / 2) ** (2 / 3))[0], rtol=0, atol=1e-3 + largest**2 / 10)
        assert (u > 0).all() and len(curve.folds) == 1 and u[-1] < 0.1
    else:
        assert u[-1] < -1.2 and len(curve.folds) == 1
        crossed(curve, u, largest)


def crossed(curve, side, largest):
    """One branch point, where ``side`` changes its sign: a short step, on which the tangent hardly turns."""
    [k] = curve.switches.tolist()
    assert side[k] > 0 > side[k + 1]
    assert curve.steps[k] <= 2e-4 * largest
    assert curve.tangents[k] @ curve.tangents[k + 1] > 1 - 1e-8


def test_a_triple_branch_point_is_crossed():
    """a (v − λ² c) = 0, a = λ with v in ℝ³: where a neuron's output weight a is 0, its parameters v are free."""
    c = f64([1.0, -0.5, 0.3])

    def weight(rows, y):
        v, a, lam = y[:, :3], y[:, 3:4], y[:, 4:]
        J = torch.zeros(len(y), 4, 5, dtype=y.dtype)
        J[:, :3, :3], J[:, :3, 3], J[:, :3, 4] = a[..., None] * torch.eye(3), v - lam**2 * c, -2 * a * lam * c
        J[:, 3, 3], J[:, 3, 4] = 1, -1
        return torch.cat([a * (v - lam**2 * c), a - lam], dim=1), J

    start = torch.cat([c, f64([1.0, 1.0])], dim=1)
    [curve] = trace_curves(weight, start, -1.0, lambda rows, y: y[:, 4] < -1, steps=400)
    lam = curve.points[:, 4:]
    assert lam[-1] < -1
    torch.testing.assert_close(curve.points[:, :3], lam**2 * c, rtol=0, atol=1e-4)
    crossed(curve, lam[:, 0], 0.3 * curve.points.norm(dim=1).max() / start.norm())


def near_sheets(gap):
    """u² = λ² + ε²: two sheets, u > 0 and u < 0, 2ε apart at λ = 0."""

    def field(rows, y):
        u, lam = y[:, 0], y[:, 1]
        return (u**2 - lam**2 - gap**2)[:, None], torch.stack([2 * u, -2 * lam], dim=1)[:, None]

    return field


def bold_step(gap, lam, h):
    """Where Newton's method ends, in the line across the tangent at length h from a point of the upper sheet."""
    u = np.hypot(lam, gap)
    t = -np.array([lam, u]) / np.hypot(lam, u)  # towards smaller λ
    predicted = np.array([u, lam]) + h * t
    across = np.array([-t[1], t[0]])
    s = 0.0
    for _ in range(20):
        at = predicted + s * across
        s -= (at[0] ** 2 - at[1] ** 2 - gap**2) / (2 * at[0] * across[0] - 2 * at[1] * across[1])
    return predicted + s * across, s


@pytest.mark.parametrize("gap", [0.05, 0.02, 1e-3])
@pytest.mark.parametrize("largest", [0.02, 0.3])
def test_the_follower_does_not_jump_across_a_gap(gap, largest):
    """A bold step converges close to its predictor and lands on the other sheet; the curve that is found never does."""
    landed, correction = bold_step(gap, 0.15, 0.3)
    assert landed[0] < 0 and abs(correction) < 0.1 * 0.3
    start = f64([(1 + gap**2) ** 0.5, 1.0])
    [curve] = trace_curves(
        near_sheets(gap), start, -1.0, lambda rows, y: y[:, 1].abs() > 2, steps=2000, largest=largest
    )
    u, lam = curve.points.T
    torch.testing.assert_close(u, (lam**2 + gap**2).sqrt(), rtol=0, atol=1e-6)  # u > 0
    assert lam[-1] < -2 and not len(curve.folds) and not len(curve.switches)


def test_a_step_across_a_gap_too_narrow_to_see_is_on_record():
    start = f64([1.0, 1.0])
    [curve] = trace_curves(near_sheets(1e-7), start, -1.0, lambda rows, y: y[:, 1].abs() > 2, steps=2000)
    u, lam = curve.points.T
    assert lam[-1] < -2 and u[-1] < -2 and not len(curve.folds)
    crossed(curve, u, 0.3)

    def root(rows, y):  # u = √λ, with no solution at λ < 0, and no derivative at 0
        return (y[:, :1] - y[:, 1:].sqrt()), torch.stack([torch.ones(len(y)), -0.5 / y[:, 1].sqrt()], dim=1)[:, None]

    [curve] = trace_curves(root, f64([1.0, 1.0]), -1.0, lambda rows, y: y[:, 1] < -1, steps=5000)
    assert curve.stuck and 0 <= curve.points[-1, 1] < 1e-2
