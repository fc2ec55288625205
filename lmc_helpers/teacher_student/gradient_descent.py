"""Gradient descent on the population loss, many networks in one batch (Zhan, Li & Wu, B.1).

    W ← W − η ∇L(W)

with the exact gradient of the loss (3), which carries no factor ½. All networks of a batch take their steps together;
a network leaves the batch when its gradient is small enough or its weights are out of bounds, and the record says which
and when.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from lmc_helpers.seeds import torch_generator
from lmc_helpers.teacher_student.population import population_gradient, population_loss
from lmc_helpers.training.progress import progress as progress_bar

__all__ = ["BOUND", "EVERY", "Descent", "gradient_descent", "initial_weights"]

EVERY = 50  # steps between two looks at the gradients
BOUND = 1e6  # Frobenius norm beyond which a network counts as diverged


@dataclass(frozen=True)
class Descent:
    """Where a batch of networks came to rest.

    Attributes
    ----------
    W : torch.Tensor
        (..., m, d), the last weights.
    loss, gradient_norm : torch.Tensor
        (...), at W.
    steps : torch.Tensor
        (...), steps that were taken.
    converged, diverged : torch.Tensor
        (...), bool; a network that is neither used up the budget.
    """

    W: torch.Tensor
    loss: torch.Tensor
    gradient_norm: torch.Tensor
    steps: torch.Tensor
    converged: torch.Tensor
    diverged: torch.Tensor


def initial_weights(m: int, d: int, n: int, seed: int, scale: float | None = None) -> torch.Tensor:
    """Students at the start of a descent: Gaussian weights with standard deviation 1/(md), as B.1 states, or ``scale``.

    Parameters
    ----------
    m, d, n : int
        rows, input dimension, networks, all at least 1.
    seed : int
        seed of the weights.
    scale : float, optional
        another standard deviation; the weights are those of 1/(md) in other units.

    Returns
    -------
    torch.Tensor
        (n, m, d), float64.

    Examples
    --------
    >>> initial_weights(4, 3, 2, seed=1).shape
    torch.Size([2, 4, 3])
    """
    if min(m, d, n) < 1:
        raise ValueError(f"m = {m}, d = {d}, n = {n}; allowed: m >= 1, d >= 1, n >= 1")
    generator = torch_generator(seed, f"initial weights m={m} d={d}")
    scale = 1 / (m * d) if scale is None else scale
    return scale * torch.randn(n, m, d, dtype=torch.float64, generator=generator)


def gradient_descent(
    W: torch.Tensor, M: int, rate: float, steps: int, tol: float = 1e-8, progress: bool = False
) -> Descent:
    """Descend from W with a constant step size until ‖∇L‖ <= tol or the budget is spent.

    Parameters
    ----------
    W : torch.Tensor
        initial weights (n, m, d); they are not changed.
    M : int
        teacher neurons.
    rate : float
        step size η > 0.
    steps : int
        budget, steps >= 0; a multiple of 50 is used up exactly.
    tol : float
        Frobenius norm of the gradient at which a network has converged. It is looked at every 50 steps.
    progress : bool
        show a bar where tqdm is installed.

    Returns
    -------
    Descent
        one entry a network.

    Examples
    --------
    Two teachers, two students in the plane:

    >>> done = gradient_descent(initial_weights(2, 2, 5, seed=1), M=2, rate=0.5, steps=2000)
    >>> bool(done.converged.all()), bool((done.loss < 1e-12).all())
    (True, True)
    """
    if W.ndim != 3:
        raise ValueError(f"W has shape {tuple(W.shape)}; allowed: (n, m, d)")
    if not (rate > 0 and math.isfinite(rate)):
        raise ValueError(f"rate = {rate}; allowed: a finite number > 0")
    if steps < 0 or not tol >= 0:
        raise ValueError(f"steps = {steps}, tol = {tol}; allowed: steps >= 0 and tol >= 0")
    population_loss(W, M)  # checks shapes, M and finiteness
    W = W.clone()
    taken = torch.zeros(len(W), dtype=torch.long, device=W.device)
    active = torch.arange(len(W), device=W.device)
    for start in progress_bar(range(0, steps, EVERY), description="gradient descent", disable=not progress):
        moving, count = W[active], min(EVERY, steps - start)
        gradient = population_gradient(moving, M)
        going = (_norm(gradient) > tol) & (_norm(moving) < BOUND)
        active, moving, gradient = active[going], moving[going], gradient[going]
        if not len(active):
            break
        for step in range(count):
            moving = moving - rate * (gradient if step == 0 else population_gradient(moving, M))
        moving = torch.where(torch.isfinite(moving), moving, 2 * BOUND)
        W[active] = moving
        taken[active] += count
    norm = _norm(population_gradient(W, M))
    diverged = _norm(W) >= BOUND
    return Descent(W, population_loss(W, M), norm, taken, (norm <= tol) & ~diverged, diverged)


def _norm(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(x, dim=(-2, -1))
