"""Exact gradients and Hessians of a batched loss, and the inertia of the Hessians.

A loss takes θ (..., p) to L (...), each entry from its own θ alone, and is twice differentiable by torch. Then the
gradient of Σ_b L(θ_b) holds all ∇L(θ_b), and the gradient of Σ_b ∂_i L(θ_b) holds row i of every Hessian: p backward
passes for a whole batch. The loss is opaque here; of a ReLU network this is the Hessian inside the linear regions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

Loss = Callable[[torch.Tensor], torch.Tensor]


class Inertia(NamedTuple):
    """Numbers of negative, zero and positive eigenvalues, each (...), long."""

    negative: torch.Tensor
    zero: torch.Tensor
    positive: torch.Tensor


def gradient(loss: Loss, theta: torch.Tensor) -> torch.Tensor:
    """∇L(θ) for every θ of a batch.

    Parameters
    ----------
    loss : callable
        takes (..., p) to (...).
    theta : torch.Tensor
        (..., p); it is not changed.

    Returns
    -------
    torch.Tensor
        (..., p).

    Examples
    --------
    >>> gradient(lambda t: t.square().sum(dim=-1), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([[2., 4.],
            [6., 8.]])
    """
    return _gradient(loss, theta.detach().requires_grad_(), create_graph=False)


def hessian(loss: Loss, theta: torch.Tensor, chunk: int = 16) -> torch.Tensor:
    """∇²L(θ) for every θ of a batch, symmetrised.

    Parameters
    ----------
    loss : callable
        takes (..., p) to (...), twice differentiable.
    theta : torch.Tensor
        (..., p); it is not changed.
    chunk : int
        parameter vectors that are differentiated together; it bounds the memory.

    Returns
    -------
    torch.Tensor
        (..., p, p).

    Examples
    --------
    L = x² y at (1, 2):

    >>> hessian(lambda t: t[..., 0] ** 2 * t[..., 1], torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    if chunk < 1:
        raise ValueError(f"chunk = {chunk}; allowed: chunk >= 1")
    p = theta.shape[-1]
    H = torch.zeros(*theta.shape, p, dtype=theta.dtype, device=theta.device)
    for part, rows in zip(theta.reshape(-1, p).split(chunk), H.view(-1, p, p).split(chunk), strict=True):
        part = part.detach().requires_grad_()
        g = _gradient(loss, part, create_graph=True)  # (b, p)
        for i, unit in enumerate(torch.eye(p).to(theta)):
            rows[:, i] = _derivative(g, part, unit.expand_as(g), create_graph=False)
    if not torch.isfinite(H).all():
        raise ValueError("the Hessian holds values that are not finite; allowed: a loss with finite second derivatives")
    return (H + H.mT) / 2


def inertia(H: torch.Tensor, tol: float) -> Inertia:
    """How many eigenvalues are negative, zero and positive; abs(λ) <= tol · max abs(λ) counts as zero.

    Parameters
    ----------
    H : torch.Tensor
        symmetric matrices (..., p, p).
    tol : float
        0 < tol < 1.

    Returns
    -------
    Inertia
        three counts (...), with the sum p.

    Examples
    --------
    >>> inertia(torch.diag(torch.tensor([-1.0, 1e-9, 2.0, 3.0])), tol=1e-6)
    Inertia(negative=tensor(1), zero=tensor(1), positive=tensor(2))
    """
    if not 0 < tol < 1:
        raise ValueError(f"tol = {tol}; allowed: 0 < tol < 1")
    if H.ndim < 2 or H.shape[-1] != H.shape[-2] or H.shape[-1] < 1:
        raise ValueError(f"H has shape {tuple(H.shape)}; allowed: (..., p, p) with p >= 1")
    if not torch.isfinite(H).all():
        raise ValueError("H holds values that are not finite; allowed: finite matrices")
    skew = (H - H.mT).abs().amax(dim=(-2, -1))
    if not (skew <= tol * H.abs().amax(dim=(-2, -1))).all():
        raise ValueError(f"H − Hᵀ has an entry {skew.max().item():.1e}; allowed: matrices that are symmetric to tol")
    eigenvalues = torch.linalg.eigvalsh((H + H.mT) / 2)  # (..., p)
    bound = tol * eigenvalues.abs().amax(dim=-1, keepdim=True)
    zero = eigenvalues.abs() <= bound
    return Inertia(*(kind.sum(dim=-1) for kind in (~zero & (eigenvalues < 0), zero, ~zero & (eigenvalues > 0))))


def separated(H: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """Whether no eigenvalue's size lies strictly between ``low`` and ``high`` times the largest one.

    Then every tolerance in [low, high) counts the same zero eigenvalues in :func:`inertia`. Rounding moves a zero to
    about 1e-15 times the condition of the gradient; sloppy directions of a network go down to any size.

    Parameters
    ----------
    H : torch.Tensor
        symmetric matrices (..., p, p).
    low, high : float
        0 < low < high < 1.

    Returns
    -------
    torch.Tensor
        (...), bool.

    Examples
    --------
    >>> separated(torch.diag(torch.tensor([1e-9, -0.5, 1.0])), low=1e-6, high=1e-3)
    tensor(True)
    >>> separated(torch.diag(torch.tensor([1e-4, -0.5, 1.0])), low=1e-6, high=1e-3)
    tensor(False)
    """
    if not 0 < low < high < 1:
        raise ValueError(f"low = {low}, high = {high}; allowed: 0 < low < high < 1")
    size = torch.linalg.eigvalsh(H).abs()  # (..., p)
    largest = size.amax(dim=-1, keepdim=True)
    return ((size <= low * largest) | (size >= high * largest)).all(dim=-1)


def _gradient(loss: Loss, theta: torch.Tensor, create_graph: bool) -> torch.Tensor:
    with torch.enable_grad():
        value = loss(theta)
    if value.shape != theta.shape[:-1]:
        raise ValueError(f"the loss has shape {tuple(value.shape)}; allowed: {tuple(theta.shape[:-1])}")
    return _derivative(value, theta, torch.ones_like(value), create_graph)


def _derivative(value: torch.Tensor, theta: torch.Tensor, weights: torch.Tensor, create_graph: bool) -> torch.Tensor:
    """The gradient of Σ weights · value, 0 where it does not depend on θ; the graph of the value is kept."""
    if not value.requires_grad:
        return torch.zeros_like(theta)
    return torch.autograd.grad(
        value, theta, weights, create_graph=create_graph, retain_graph=True, materialize_grads=True
    )[0]
