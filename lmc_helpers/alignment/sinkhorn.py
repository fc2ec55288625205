"""Sinkhorn re-basin (Peña et al. 2023, Re-basin via implicit Sinkhorn differentiation): soft permutations.

A permutation matrix is replaced by a doubly stochastic one, the point that Sinkhorn's iterations reach from exp(X/τ):

    S_τ(X) = argmax_P ⟨P, X⟩ + τ H(P)      over doubly stochastic P, H the entropy.

As τ → 0 it tends to the permutation with the largest Σ_i X_ip(i), if that is unique. Networks b with their units mixed
by soft permutations are differentiable in X, and Adam descends on a cost of a and the soft π b:

- ``"midpoint"``: the loss at (a + π b)/2;
- ``"random"``: the loss at λ a + (1 − λ) π b, λ uniform in [0, 1], redrawn at every step;
- ``"distance"``: ‖a − π b‖², without data.

The soft π b does not compute b's function and may have less loss, alone or halfway, than any permuted b; hence the
cost of the midpoint often stops at soft permutations that harden badly; random λ ties π b itself to a small loss.

At the end the largest assignment of X is taken. Iterations run in log space. Gradients go through the iterations; the
paper differentiates their limit implicitly.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.assignment import _assign, _start
from lmc_helpers.alignment.midpoint import Best, Loss, _interpolated, _midpoint_losses
from lmc_helpers.networks.permutations import Permutations, Symmetry, replace_units, units_of
from lmc_helpers.progress import progress
from lmc_helpers.seeds import torch_generator

__all__ = ()  # what packages of ours lend each other


def _log_sinkhorn(X: Tensor, tau: float, iterations: int = 20) -> Tensor:
    """log S_τ(X), (..., m, m), approximately, by alternating normalisation of columns and rows, rows last."""
    log_P = X / tau
    for _ in range(iterations):
        log_P = log_P - log_P.logsumexp(dim=-2, keepdim=True)
        log_P = log_P - log_P.logsumexp(dim=-1, keepdim=True)
    return log_P


def _mixed(params: Tensors, symmetry: Symmetry, matrices: dict[str, Tensor]) -> Tensors:
    """Unit i of a group becomes Σ_j M_ij (unit j of before), M (N, m, m), on each of its axes."""
    mixed = dict(params)
    for group, M in matrices.items():
        for place in symmetry.groups[group]:
            d, value = place.axis + 2, mixed[place.name]
            units = units_of(value, place, M.shape[-1]).movedim(d, 1)  # (N, m, …)
            mixed[place.name] = replace_units(value, place, (M @ units.flatten(2)).view_as(units).movedim(1, d))
    return mixed


def sinkhorn_rebasin(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    loss: Loss,
    cost: Literal["midpoint", "random", "distance"] = "random",
    steps: int = 100,
    rate: float = 0.1,
    tau: float = 1.0,
    iterations: int = 20,
    seed: int = 0,
    start: Permutations | None = None,
    judge_every: int = 10,
) -> Best:
    """Permute b so that a cost of a and π b is small, by Adam over soft permutations of temperature ``tau``.

    ``a`` and ``b`` are P pairs, name → (P, …). ``loss`` takes them to (P,); it judges the hardened permutations, every
    ``judge_every`` steps and at the end, and gives the cost with data. X begins with the matrix of ``start``, else of
    the identity, plus noise of size 0.1.
    """
    p = _start(a, b, symmetry, start)
    like = next(iter(a.values()))
    generator = torch_generator(seed, "Sinkhorn re-basin")
    best = Best(p, _midpoint_losses(a, b, symmetry, p, loss)[None])
    X = {g: (_matrix(one) + 0.1 * _noise(one, generator)).to(like).requires_grad_() for g, one in p.items()}
    adam = torch.optim.Adam(X.values(), lr=rate)
    for step in progress(range(steps + 1), "step"):
        if step % judge_every == 0 or step == steps:
            hard = {g: _assign(one) for g, one in X.items()}
            best = best._seen(hard, _midpoint_losses(a, b, symmetry, hard, loss))
        if step < steps:
            soft = _mixed(b, symmetry, {g: _log_sinkhorn(one, tau, iterations).exp() for g, one in X.items()})
            lam = torch.rand((), generator=generator).item() if cost == "random" else 0.5
            adam.zero_grad()
            (_squared_distance(a, soft) if cost == "distance" else loss(_interpolated(a, soft, lam))).sum().backward()
            adam.step()
    return best


def _squared_distance(a: Tensors, b: Tensors) -> Tensor:
    """‖a − b‖² of each pair, (P,)."""
    return torch.stack([(value - b[name]).square().flatten(1).sum(dim=1) for name, value in a.items()]).sum(dim=0)


def _matrix(p: Tensor) -> Tensor:
    """Permutation matrices (P, m, m) with M_ip(i) = 1, float64."""
    return torch.eye(p.shape[-1], dtype=torch.float64, device=p.device)[p]


def _noise(p: Tensor, generator: torch.Generator) -> Tensor:
    """Normal numbers (1, m, m), shared by all pairs: no result depends on which pairs are computed together."""
    m = p.shape[-1]
    return torch.randn(1, m, m, dtype=torch.float64, generator=generator).to(p.device)
