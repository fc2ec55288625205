"""Gradient descent on the population loss, many networks in one batch (Zhan, Li & Wu, B.1).

    W ← W − η ∇L(W)

with the exact gradient of the loss (3), which carries no factor ½. All networks of a batch take their steps together; a
network leaves the batch when its gradient is small enough or its weights are out of bounds, and the record states which
and when.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Integer, Natural, NonNegative, Number, Positive, PositiveNumber, checked, require_finite
from lmc_helpers.seeds import torch_generator
from lmc_helpers.teacher_student.population import _check_teacher, _gradient, population_loss

__all__ = ["BOUND", "EVERY", "Descent", "gradient_descent", "initial_weights"]

STACK = 40_000  # entries of the kernel matrices (m, m + M) of the networks that descend together
EVERY = 50  # steps between two looks at the gradients
BOUND = 1e6  # Frobenius norm beyond which a network counts as diverged


@dataclass(frozen=True)
class Descent:
    """Final points of a batch of networks."""

    W: Tensor  # (n, m, d), the last weights
    loss: Tensor  # (n,), at W
    gradient_norm: Tensor
    steps: Tensor  # (n,), that were taken
    converged: Tensor  # (n,), bool; a network that is neither used up the budget
    diverged: Tensor


@checked
def initial_weights(
    m: Positive, d: Positive, n: Positive, seed: Integer, scale: Number | None = None
) -> Float[Tensor, "n m d"]:
    """Gaussian students at the start of a descent, with standard deviation 1/(md) as B.1 states, or ``scale``."""
    generator = torch_generator(seed, f"initial weights m={m} d={d}")
    scale = 1 / (m * d) if scale is None else scale
    return scale * torch.randn(n, m, d, dtype=torch.float64, generator=generator)


@checked
def gradient_descent(
    W: Float[Tensor, "n m d"],
    M: Positive,
    rate: PositiveNumber | Float[Tensor, " n"],
    steps: Natural,
    tol: NonNegative = 1e-8,
) -> Descent:
    """Descend from W with a constant step size, or one for each network, until ‖∇L‖ <= tol or the budget is spent.

    Gradients are looked at every 50 steps.

    Examples
    --------
    Two teachers, two students in the plane:

    >>> done = gradient_descent(initial_weights(2, 2, 5, seed=1), M=2, rate=0.5, steps=2000)
    >>> bool(done.converged.all()), bool((done.loss < 1e-12).all())
    (True, True)
    """
    _check_teacher(M, W.shape[-1])
    m = W.shape[-2]
    rates = torch.as_tensor(rate, dtype=W.dtype, device=W.device).expand(len(W))
    require_finite(W=W, rate=rates)
    if not (rates > 0).all():
        raise ValueError(f"rate = {rates.min().item()}; allowed: rates above 0")
    size = max(1, STACK // (m * (m + M)))
    stacks = zip(W.split(size), rates.split(size), strict=True)
    found = [_descend(part, M, own[:, None, None], steps, tol) for part, own in stacks]
    W, taken = (torch.cat(parts) for parts in zip(*found, strict=True))
    norm = _norm(_gradient(W, M))
    diverged = _norm(W) >= BOUND
    return Descent(W, population_loss(W, M), norm, taken, (norm <= tol) & ~diverged, diverged)


def _descend(W: Tensor, M: int, rates: Tensor, steps: int, tol: float) -> tuple[Tensor, Tensor]:
    """The last weights of one stack and the steps that each network took; rates (n, 1, 1)."""
    W = W.clone()
    taken = torch.zeros(len(W), dtype=torch.long, device=W.device)
    active = torch.arange(len(W), device=W.device)
    for start in range(0, steps, EVERY):
        moving, count = W[active], min(EVERY, steps - start)
        going = (_norm(_gradient(moving, M)) > tol) & (_norm(moving) < BOUND)
        active, moving, rates = active[going], moving[going], rates[going]
        if not len(active):
            break
        moving = _steps(moving, M, rates, count)
        W[active] = torch.where(torch.isfinite(moving), moving, 2 * BOUND)
        taken[active] += count
    return W, taken


@np.errstate(all="ignore")  # networks that diverge
def _steps(W: Tensor, M: int, rates: Tensor, count: int) -> Tensor:
    """W after some steps along :func:`_gradient`, in place: NumPy's products of small matrices take half the time."""
    moved, (n, m, d) = W.detach().cpu().numpy().copy(), W.shape
    units, mass = np.zeros((n, m + M, d), moved.dtype), np.full((n, m + M, 1), -1, moved.dtype)
    units[:, m:] = np.eye(M, d)
    own, norms, vectors = units[:, :m], mass[:, :m], -units  # û, ‖u‖, s v
    cosines = torch.empty(n, m, m + M, dtype=W.dtype)
    angles = torch.empty_like(cosines)  # π − θ
    sines, angle, rate = cosines.numpy(), angles.numpy(), rates.cpu().numpy() / (math.pi * d)
    for _ in range(count):
        np.sqrt(np.einsum("nmd,nmd->nm", moved, moved), out=norms[..., 0])
        np.divide(moved, norms + (norms == 0), out=own)
        vectors[:, :m] = moved
        np.matmul(own, units.swapaxes(1, 2), out=sines)
        torch.arccos(cosines.clamp_(-1, 1), out=angles)  # NumPy's takes thrice the time
        np.subtract(math.pi, angle, out=angle)
        np.sqrt(np.subtract(1, np.square(sines, out=sines), out=sines), out=sines)
        moved -= rate * (norms > 0) * (angle @ vectors + (sines @ mass) * own)
    return torch.from_numpy(moved).to(W.device)


def _norm(x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x, dim=(-2, -1))
