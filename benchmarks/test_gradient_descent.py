"""Batched exact gradient descent against a loop over networks and against the usual autograd loop.

100 students with m = 20, d = 8 and M = 6 take the same number of steps from the same weights in every row; the results
agree. The rows of a group are to be read as ratios.
"""

import pytest
import torch

from lmc_helpers.teacher_student.gradient_descent import initial_weights
from lmc_helpers.teacher_student.population import population_gradient

RATE, TEACHERS = 0.3, 6


def batched(W: torch.Tensor, steps: int) -> torch.Tensor:
    for _ in range(steps):
        W = W - RATE * population_gradient(W, TEACHERS)
    return W


def one_by_one(W: torch.Tensor, steps: int) -> torch.Tensor:
    return torch.stack([batched(w, steps) for w in W])


def differentiable_loss(W: torch.Tensor) -> torch.Tensor:
    """The loss as one would write it for autograd, with cosines kept off ±1."""
    rows = torch.cat([W, torch.eye(TEACHERS, W.shape[1], dtype=W.dtype)])
    norms = rows.norm(dim=1)
    t = (rows @ rows.T / (norms[:, None] * norms)).clamp(-1 + 1e-12, 1 - 1e-12)
    kernel = ((torch.pi - torch.arccos(t)) * t + torch.sqrt(1 - t * t)) / (2 * torch.pi * W.shape[1])
    mass = norms * torch.cat([torch.ones(len(W)), -torch.ones(TEACHERS)])
    return mass @ kernel @ mass


def autograd(W: torch.Tensor, steps: int) -> torch.Tensor:
    done = []
    for w in W:
        w = w.clone().requires_grad_()
        optimiser = torch.optim.SGD([w], lr=RATE)
        for _ in range(steps):
            optimiser.zero_grad()
            differentiable_loss(w).backward()
            optimiser.step()
        done.append(w.detach())
    return torch.stack(done)


@pytest.mark.parametrize("m", [10, 20, 40, 80])
@pytest.mark.parametrize("method", [batched, one_by_one, autograd], ids=lambda f: f.__name__)
def test_descent(benchmark, method, m):
    torch.set_num_threads(2)
    benchmark.group = f"gradient descent, 100 networks, m = {m}, d = 8, 10 steps"
    W = initial_weights(m, 8, 100, seed=1)
    done = benchmark.pedantic(method, args=(W, 10), rounds=5, warmup_rounds=1)
    torch.testing.assert_close(done, batched(W, 10), rtol=1e-6, atol=1e-8)
