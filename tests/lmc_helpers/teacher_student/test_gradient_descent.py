"""Batched descent against the plain loop, its record, and its refusals."""

import math

import pytest
import torch

from lmc_helpers.teacher_student import BOUND, distance_to_minima, initial_weights, population_gradient, population_loss
from lmc_helpers.teacher_student.gradient_descent import gradient_descent


def plain(W: torch.Tensor, M: int, rate: float, steps: int) -> torch.Tensor:
    """Gradient descent with automatic differentiation of a Monte-Carlo-free naive loss, one network."""
    d = W.shape[1]
    for _ in range(steps):
        W = W.clone().requires_grad_()
        rows = torch.cat([W, torch.eye(M, d, dtype=W.dtype)])
        norms = rows.norm(dim=1)
        t = (rows @ rows.T / (norms[:, None] * norms)).clamp(-1 + 1e-14, 1 - 1e-14)
        kernel = ((math.pi - torch.arccos(t)) * t + torch.sqrt(1 - t * t)) / (2 * math.pi * d)
        mass = norms * torch.cat([torch.ones(len(W)), -torch.ones(M)])
        (mass @ kernel @ mass).backward()
        W = (W - rate * W.grad).detach()
    return W


@pytest.mark.parametrize(("m", "M", "d"), [(2, 1, 1), (3, 5, 6), (6, 2, 3)])
@pytest.mark.parametrize("steps", [0, 1, 49, 50, 120])
def test_batched_descent_is_the_plain_loop(m, M, d, steps):
    W = initial_weights(m, d, 3, seed=1, scale=0.5)
    done = gradient_descent(W, M, rate=0.4, steps=steps, tol=0.0)
    for start, end in zip(W, done.W, strict=True):
        torch.testing.assert_close(end, plain(start, M, 0.4, steps), rtol=1e-5, atol=1e-6)
    assert (done.steps == steps).all()
    torch.testing.assert_close(done.loss, population_loss(done.W, M))
    norms = population_gradient(done.W, M).norm(dim=(1, 2))
    torch.testing.assert_close(done.gradient_norm, norms)


def test_a_row_0_stays_and_the_others_follow_the_gradient():
    W = initial_weights(4, 3, 2, seed=1, scale=0.5)
    W[0, 1] = 0
    end = gradient_descent(W, 2, 0.4, 1, tol=0.0).W
    torch.testing.assert_close(end, W - 0.4 * population_gradient(W, 2))
    assert not end[0, 1].any()


def test_each_network_has_its_own_rate_and_the_batch_does_not_matter(monkeypatch):
    W, rates = initial_weights(5, 3, 7, seed=1), torch.linspace(0.1, 0.7, 7, dtype=torch.float64)
    monkeypatch.setattr("lmc_helpers.teacher_student.gradient_descent.STACK", 3 * 5 * (5 + 2))
    together = gradient_descent(W, 2, rates, 300, tol=1e-4)
    for i, rate in enumerate(rates.tolist()):
        alone = gradient_descent(W[i : i + 1], 2, rate, 300, tol=1e-4)
        torch.testing.assert_close(alone.W[0], together.W[i], rtol=1e-10, atol=1e-12)
        assert alone.steps[0] == together.steps[i]
    with pytest.raises(ValueError, match=r"rate = 0\.0; allowed: rates above 0"):
        gradient_descent(W, 2, rates - 0.1, 300)


def test_divergence_is_recorded_and_stays_finite():
    W = initial_weights(6, 3, 5, seed=1, scale=1.0)
    done = gradient_descent(W, 3, rate=200.0, steps=2000)
    assert done.diverged.all() and not done.converged.any()
    assert torch.isfinite(done.W).all() and (done.W.norm(dim=(1, 2)) >= BOUND).all()
    assert (done.steps < 2000).all()
    done = gradient_descent(initial_weights(6, 3, 5, seed=1), 3, 0.01, 10, tol=1e-12)
    assert not done.converged.any() and not done.diverged.any() and (done.steps == 10).all()
    done = gradient_descent(initial_weights(3, 3, 20, seed=2), 3, 0.5, 20_000, tol=1e-7)
    assert done.converged.all() and not done.diverged.any()
    assert (done.gradient_norm <= 1e-7).all() and (done.steps < 20_000).all() and (done.steps % 50 == 0).all()
    assert distance_to_minima(done.W, 3).max() < 1e-3


def test_initial_weights_have_the_stated_law():
    W = initial_weights(10, 4, 2000, seed=1)
    assert W.std().item() == pytest.approx(1 / 40, rel=0.01) and abs(W.mean()) < 4 / 40 / W.numel() ** 0.5
    torch.testing.assert_close(initial_weights(10, 4, 2000, seed=1, scale=0.3), 12 * W)
    assert W.equal(initial_weights(10, 4, 2000, seed=1)) and not W.equal(initial_weights(10, 4, 2000, seed=2))
