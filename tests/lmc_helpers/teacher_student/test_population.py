"""Closed forms against Monte Carlo, quadrature, automatic differentiation and finite differences."""

import math

import pytest
import torch
from scipy import integrate

from lmc_helpers import teacher_student as ts

SIZES = [(1, 1, 1), (1, 1, 2), (2, 3, 3), (5, 3, 4), (9, 1, 6)]  # m, M, d; m < M too


def weights(m: int, d: int, *batch: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*batch, m, d, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def sphere(n: int, d: int) -> torch.Tensor:
    x = torch.randn(n, d, dtype=torch.float64, generator=torch.Generator().manual_seed(9))
    return x / x.norm(dim=-1, keepdim=True)


@pytest.mark.parametrize("t", [-1.0, -0.7, 0.0, 0.3, 1.0])
def test_kappa_is_the_mean_over_the_circle(t):
    angle = math.acos(t)
    integrand = lambda a: max(math.cos(a), 0) * max(math.cos(a - angle), 0) / (2 * math.pi)  # noqa: E731
    kinks = sorted({-math.pi / 2, math.pi / 2, angle - math.pi / 2})
    value = integrate.quad(integrand, -math.pi, math.pi, points=kinks, epsabs=1e-13)[0]
    assert ts.kappa(t, d=2).item() == pytest.approx(value, abs=1e-12)
    assert ts.kappa(t, d=7).item() == pytest.approx(value * 2 / 7, abs=1e-12)


@pytest.mark.parametrize(("m", "M", "d"), SIZES)
def test_loss_against_monte_carlo_and_derivatives_against_finite_differences(m, M, d):
    W = weights(m, d, seed=1)
    step = 1e-6 * torch.eye(m * d, dtype=torch.float64).reshape(-1, m, d)
    slope = (ts.population_loss(W + step, M) - ts.population_loss(W - step, M)) / 2e-6
    torch.testing.assert_close(ts.population_gradient(W, M).flatten(), slope, rtol=1e-6, atol=1e-8)
    bend = (ts.population_gradient(W + step, M) - ts.population_gradient(W - step, M)) / 2e-6
    torch.testing.assert_close(ts.population_hessian(W, M), bend.flatten(1), rtol=1e-5, atol=1e-7)
    W, x = weights(m, d), sphere(400_000, d)
    squares = (torch.relu(x @ W.T).sum(-1) - torch.relu(x[:, :M]).sum(-1)).square()
    assert abs(ts.population_loss(W, M) - squares.mean()) <= 4 * squares.std() / math.sqrt(len(x))


def test_zero_and_parallel_rows_are_harmless():
    W = torch.zeros(4, 3, dtype=torch.float64)
    W[1], W[2], W[3] = (torch.tensor(r, dtype=torch.float64) for r in ([1, 2, 0], [2, 4, 0], [-1, -2, 0]))
    W.requires_grad_()
    ts.population_loss(W, 2).backward()
    assert torch.isfinite(W.grad).all() and (W.grad[0] == 0).all()
    merged = torch.stack([W[1] + W[2], W[3]]).detach()
    torch.testing.assert_close(ts.population_loss(W, 2), ts.population_loss(merged, 2))
    torch.testing.assert_close(W.grad[1], ts.population_gradient(merged, 2)[0])
    W, p = weights(6, 4), torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(ts.population_loss(W[p], 3), ts.population_loss(W, 3), rtol=1e-14, atol=0)
    half = W.clone()
    half[:, :2] = W[p][:, :2]
    assert abs(ts.population_loss(half, 3) - ts.population_loss(W, 3)) > 1e-3


def test_no_descent_below_zero():
    W = ts.sample_minima(12, 4, 6, 50, seed=1)
    assert ts.population_loss(W, 4).abs().max() < 1e-14
    assert ts.population_gradient(W, 4).abs().max() < 1e-15
    assert torch.linalg.eigvalsh(ts.population_hessian(W, 4)).min() > -1e-14
    W = weights(4, 3, 2).requires_grad_()
    assert torch.autograd.gradcheck(lambda W: ts.population_loss(W, 2), (W,))


@pytest.mark.parametrize("size", [1e-1, 1e-3, 1e-6])
def test_distance_grows_with_a_perturbation(size):
    W = ts.sample_minima(9, 3, 5, 1, seed=1)[0]
    noise = weights(9, 5, seed=3)
    noise *= size / noise.norm()
    d = ts.distance_to_minima(W + noise, 3).item()
    assert 0.05 * size < d < 5 * size
    assert ts.distance_to_minima(W, 3) < 1e-15
    assert ts.distance_to_minima(torch.zeros(9, 5, dtype=torch.float64), 3).item() == pytest.approx(3**0.5)
