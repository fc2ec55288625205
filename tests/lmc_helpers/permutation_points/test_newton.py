"""Trust-region Newton against SciPy, at saddles and in valleys, its record, and its refusals."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from oracles.draws import f64, normal
from scipy.optimize import brentq
from scipy.optimize import minimize as scipy_minimize

from lmc_helpers.permutation_points import minimise
from lmc_helpers.permutation_points.newton import _subproblem


def rosenbrock(t: torch.Tensor) -> torch.Tensor:
    return ((1 - t[..., :-1]) ** 2 + 100 * (t[..., 1:] - t[..., :-1] ** 2) ** 2).sum(dim=-1)


@pytest.mark.parametrize("p", [2, 5])
def test_rosenbrock_ends_where_scipy_ends(p):
    starts = 2 * normal(8, p)
    done = minimise(rosenbrock, starts, steps=200, tol=1e-12)
    assert done.converged.all() and (done.steps < 200).all()
    for start, end in zip(starts, done.theta, strict=True):

        def plain(t):
            return sum((1 - a) ** 2 + 100 * (b - a * a) ** 2 for a, b in pairwise(t))

        near = scipy_minimize(plain, end.numpy(), method="BFGS", options={"gtol": 1e-9})
        np.testing.assert_allclose(end, near.x, atol=1e-6)
        assert plain(end.numpy()) <= plain(start.numpy())
    if p == 2:  # one minimum only
        np.testing.assert_allclose(done.theta, 1.0, atol=1e-9)


def double_well(t: torch.Tensor) -> torch.Tensor:
    """Minima ±1 on the first axis, a strict saddle at 0."""
    return (t[..., 0] ** 2 - 1) ** 2 + t[..., 1:].square().sum(dim=-1)


@pytest.mark.parametrize("start", [(0.0, 0.0, 0.0), (0.0, 3.0, -1.0), (1e-200, 1e-3, 0.0)])
def test_a_strict_saddle_is_left(start):
    done = minimise(double_well, f64(start), steps=50, tol=1e-12)
    assert done.converged.all()
    torch.testing.assert_close(done.theta.abs(), f64([1.0, 0.0, 0.0]), rtol=0, atol=1e-10)


@pytest.mark.parametrize("offset", [0.0, 1.0])
@pytest.mark.parametrize("tol", [1e-10, 1e-12])
def test_a_curved_valley_of_minima_does_not_hurt(offset, tol):
    """The sphere of radius 2 is the set of minima: p − 1 zero modes; with an offset the decrease drowns in rounding."""
    starts = torch.cat([normal(6, 4), 5 * normal(5, 4)])
    done = minimise(lambda t: (t.square().sum(-1) - 4) ** 2 + offset, starts, steps=60, tol=tol)
    assert done.converged.all()
    np.testing.assert_allclose(np.linalg.norm(done.theta, axis=1), 2, atol=1e-11)


@pytest.mark.parametrize("condition", [1e4, 1e8, 1e11])
def test_nearly_singular_problems_reach_small_gradients(condition):
    scale = torch.logspace(0, -math.log10(condition), 7, dtype=torch.float64)
    rotation = torch.linalg.qr(normal(7, 7))[0]

    def loss(t):
        u = t @ rotation
        return (scale * (u.square() + u.sin().square() / 4)).sum(-1) / 2 + 1

    done = minimise(loss, normal(5, 7), steps=100, tol=1e-13)
    assert (done.gradient_norm <= 1e-13).all() and done.converged.all()


def test_slopes_are_followed_infinite_losses_avoided_and_no_loss_rises():
    done = minimise(lambda t: t.sum(-1), torch.zeros(1, 2, dtype=torch.float64), steps=5, tol=1e-12)
    assert not done.converged.any() and done.steps.item() == 5
    assert done.loss.item() == pytest.approx(-math.sqrt(2) * (1 + 2 + 4 + 8 + 16))
    done = minimise(lambda t: (t - t.log()).sum(-1), f64([1e-3, 30.0]), steps=50, tol=1e-12, radius=100.0)
    assert done.converged.all()
    np.testing.assert_allclose(done.theta, [[1.0, 1.0]], atol=1e-12)
    starts, last = normal(6, 4), None
    for steps in range(12):
        value = minimise(rosenbrock, starts, steps=steps, tol=0.0).loss
        assert last is None or (value <= last).all()
        last = value


def test_the_record_is_that_of_the_last_parameters():
    starts = normal(4, 2)
    for steps in (0, 1, 3):
        done = minimise(rosenbrock, starts, steps=steps, tol=1e-12)
        assert not done.converged.any() and (done.steps == steps).all() and done.theta.equal(starts) == (steps == 0)
        x, y = done.theta.numpy().T
        np.testing.assert_allclose(done.loss, (1 - x) ** 2 + 100 * (y - x * x) ** 2)
        slope = np.stack([-2 * (1 - x) - 400 * x * (y - x * x), 200 * (y - x * x)])
        np.testing.assert_allclose(done.gradient_norm, np.linalg.norm(slope, axis=0))
    assert minimise(rosenbrock, starts[:0], steps=3, tol=1e-12).theta.shape == (0, 2)


def test_projection_fixes_the_gauge():
    """L depends on xy alone; |x| = |y| is kept."""

    def balanced(t):
        size = t.prod(dim=-1, keepdim=True).abs().sqrt()
        return t.sign() * size

    done = minimise(lambda t: (t.prod(-1) - 4) ** 2, f64([1.0, 3.0], [-5.0, -0.1]), 60, 1e-12, project=balanced)
    assert done.converged.all()
    np.testing.assert_allclose(done.theta, [[2.0, 2.0], [-2.0, -2.0]], atol=1e-10)


def secular(lam: np.ndarray, a: np.ndarray, radius: float) -> np.ndarray:
    """The subproblem by bracketing ν, or the Newton step; not for the hard case."""

    def length(nu):
        return np.linalg.norm(a / (lam + nu))

    if lam[0] > 0 and length(0.0) <= radius:
        return -a / lam
    low = max(0.0, -lam[0]) + 1e-14
    nu = brentq(lambda nu: length(nu) - radius, low, low + np.linalg.norm(a) / radius, xtol=1e-15, rtol=1e-15)
    return -a / (lam + nu)


@pytest.mark.parametrize("radius", [1e-6, 0.3, 2.0, 1e3])
@pytest.mark.parametrize("lam", [[1.0, 2.0, 9.0], [-3.0, -3.0, 4.0], [-5.0, 1e-3, 1e3], [-2.0, -1.0, -0.5], [0.5] * 3])
def test_the_subproblem_is_solved_exactly(lam, radius):
    a = normal(5, 3)
    s, predicted = _subproblem(f64(lam).expand(5, 3), a, torch.full((5,), radius, dtype=torch.float64))
    for i in range(5):
        expected = secular(np.array(lam), a[i].numpy(), radius)
        np.testing.assert_allclose(s[i], expected, rtol=1e-7, atol=1e-9 * radius)
        model = a[i].numpy() @ expected + np.sum(np.array(lam) * expected**2) / 2
        assert predicted[i].item() == pytest.approx(-model, rel=1e-7)


@pytest.mark.parametrize("tiny", [0.0, 1e-300, 1e-18, -1e-18])
def test_the_hard_case_reaches_the_boundary_along_the_lowest_eigenvector(tiny):
    s, predicted = _subproblem(f64([-1.0, 1.0, 3.0]), f64([tiny, 1.0, 0.0]), f64(2.0))
    np.testing.assert_allclose(s.abs(), [[math.sqrt(4 - 0.25), 0.5, 0.0]], atol=1e-9)
    assert predicted.item() == pytest.approx(0.5 - 0.125 + (4 - 0.25) / 2) and s[0, 0] * tiny <= 0


def test_a_known_hessian_gives_the_same_descent():
    start = torch.tensor([[2.0, -1.0], [0.5, 3.0]], dtype=torch.float64)

    def quartic(t):
        return t.pow(4).sum(dim=-1) + t.prod(dim=-1)

    def second(t):
        return torch.diag_embed(12 * t.square()) + torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)

    one, other = minimise(quartic, start, 50, 1e-10), minimise(quartic, start, 50, 1e-10, second=second)
    torch.testing.assert_close(one.theta, other.theta)
    assert one.steps.equal(other.steps)
