"""Sinkhorn re-basin (Peña et al. 2023, Re-basin via implicit Sinkhorn differentiation): soft permutations.

A permutation matrix is replaced by a doubly stochastic one, the point that Sinkhorn's iterations reach from exp(X/τ):

    S_τ(X) = argmax_P ⟨P, X⟩ + τ H(P)      over doubly stochastic P, H the entropy.

As τ → 0 it tends to the permutation with the largest Σ_i X_ip(i), if that is unique. Networks b with their units mixed
by soft permutations are differentiable in X, and Adam descends on the loss at λ a + (1 − λ) π b, λ uniform in [0, 1],
redrawn at every step. The soft π b does not compute b's function and may have less loss, alone or halfway, than any
permuted b; hence the loss halfway often stops at soft permutations that harden badly; random λ ties π b itself to a
small loss.

At the end the largest assignment of X is taken. Gradients go through the iterations; the paper differentiates their
limit implicitly.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.assignment import _assign, _start
from lmc_helpers.alignment.midpoint import Best, Loss, _interpolated, _midpoint_losses
from lmc_helpers.networks.permutations import Permutations, Symmetry, replace_units, units_of
from lmc_helpers.progress import progress
from lmc_helpers.seeds import torch_generator

__all__ = ()  # what packages of ours lend each other


def _sinkhorn(X: Tensor, tau: float, iterations: int = 20) -> Tensor:
    """S_τ(X), (..., m, m), approximately: columns and rows of exp(X/τ) are scaled to sum 1 in turn, rows last."""
    X = X / tau
    for dim in (-1, -2):  # a 1 in every row and column of K: no scale is infinite
        X = X - X.detach().amax(dim=dim, keepdim=True)
    K = X.exp()
    u = torch.ones_like(K[..., :1])
    for _ in range(iterations):
        v = 1 / (K.mT @ u)
        u = 1 / (K @ v)
    return u * K * v.mT


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
    steps: int = 100,
    rate: float = 0.1,
    tau: float = 1.0,
    iterations: int = 20,
    seed: int = 0,
    start: Permutations | None = None,
    judge_every: int = 10,
) -> Best:
    """Permute b so that losses between a and π b are small, by Adam over soft permutations of temperature ``tau``.

    ``a`` and ``b`` are P pairs, name → (P, …). ``loss`` takes them to (P,); it judges the hardened permutations, every
    ``judge_every`` steps and at the end. X begins with the matrix of ``start``, else of the identity, plus noise of
    size 0.1.
    """
    p = _start(a, b, symmetry, start)
    like = next(iter(a.values()))
    generator = torch_generator(seed, "Sinkhorn re-basin")
    best = Best(p, _midpoint_losses(a, b, symmetry, p, loss)[None])
    X = {g: _near(one, generator).to(like).requires_grad_() for g, one in p.items()}
    adam = torch.optim.Adam(X.values(), lr=rate)
    for step in progress(range(steps + 1), "step"):
        if step % judge_every == 0 or step == steps:
            hard = {g: _assign(one) for g, one in X.items()}
            best = best._seen(hard, _midpoint_losses(a, b, symmetry, hard, loss))
        if step < steps:
            soft = _mixed(b, symmetry, {g: _sinkhorn(one, tau, iterations) for g, one in X.items()})
            lam = torch.rand((), generator=generator).item()
            adam.zero_grad()
            loss(_interpolated(a, soft, lam)).sum().backward()
            adam.step()
    return best


def _near(p: Tensor, generator: torch.Generator) -> Tensor:
    """Matrices (P, m, m), float64, 1 at ip(i) and else 0, plus noise that all pairs share: none depends on others."""
    m = p.shape[-1]
    noise = torch.randn(1, m, m, dtype=torch.float64, generator=generator)
    return (torch.eye(m, dtype=torch.float64)[p.cpu()] + 0.1 * noise).to(p.device)
