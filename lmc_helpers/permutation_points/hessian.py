"""Exact gradients and Hessians of a batched loss, and the inertia of the Hessians.

A loss takes θ (..., p) to L (...), each entry from its own θ alone, and is twice differentiable by torch. Then the
gradient of Σ_b L(θ_b) holds all ∇L(θ_b), and the gradient of Σ_b ∂_i L(θ_b) holds row i of every Hessian: p backward
passes for a whole batch. Of a ReLU network this is the Hessian inside the linear regions. A loss that carries its
derivatives in closed form (``Differentiable``) is asked for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Full, Number, Positive, checked, require_finite, returned

__all__ = ["Inertia", "Loss", "gradient", "hessian", "inertia"]

Loss = Callable[[Tensor], Tensor]


@runtime_checkable
class Differentiable(Protocol):
    """A loss with its derivatives in closed form, of θ (..., p)."""

    def value_and_gradient(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """L (...) and ∇L (..., p)."""

    def gradient_and_hessian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """∇L (..., p) and ∇²L (..., p, p)."""


class Inertia(NamedTuple):
    """Numbers of negative, zero and positive eigenvalues, each (...), long."""

    negative: Tensor
    zero: Tensor
    positive: Tensor


@checked
def gradient(loss: Loss, theta: Float[Tensor, "*batch p"]) -> Float[Tensor, "*batch p"]:
    """∇L(θ) for every θ of a batch."""
    return _value_and_gradient(loss, theta)[1]


@checked
def hessian(loss: Loss, theta: Float[Tensor, "*batch p"], chunk: Positive = 16) -> Float[Tensor, "*batch p p"]:
    """∇²L(θ) for every θ of a batch, symmetrised.

    ``chunk`` parameter vectors are differentiated together, which bounds the memory.

    Examples
    --------
    L = x² y at (1, 2):

    >>> hessian(lambda t: t[..., 0] ** 2 * t[..., 1], torch.tensor([1.0, 2.0]))
    tensor([[4., 2.],
            [2., 0.]])
    """
    p = theta.shape[-1]
    parts = theta.reshape(-1, p).split(chunk)
    H = torch.cat([_gradient_and_hessian(loss, part)[1] for part in parts]).view(*theta.shape, p)
    if not torch.isfinite(H).all():
        raise ValueError("the Hessian holds values that are not finite; allowed: a loss with finite second derivatives")
    return (H + H.mT) / 2


@checked
def inertia(H: Full[Tensor, "*batch p p"], tol: Number) -> Inertia:
    """Number of negative, zero and positive eigenvalues; abs(λ) <= tol · max abs(λ) counts as zero.

    Examples
    --------
    >>> inertia(torch.diag(torch.tensor([-1.0, 1e-9, 2.0, 3.0])), tol=1e-6)
    Inertia(negative=tensor(1), zero=tensor(1), positive=tensor(2))
    """
    if not 0 < tol < 1:
        raise ValueError(f"tol = {tol}; allowed: 0 < tol < 1")
    require_finite(H=H)
    skew = (H - H.mT).abs().amax(dim=(-2, -1))
    if not (skew <= tol * H.abs().amax(dim=(-2, -1))).all():
        raise ValueError(f"H − Hᵀ has an entry {skew.max().item():.1e}; allowed: matrices that are symmetric to tol")
    eigenvalues = torch.linalg.eigvalsh((H + H.mT) / 2)  # (..., p)
    bound = tol * eigenvalues.abs().amax(dim=-1, keepdim=True)
    zero = eigenvalues.abs() <= bound
    return Inertia(*(kind.sum(dim=-1) for kind in (~zero & (eigenvalues < 0), zero, ~zero & (eigenvalues > 0))))


def _value_and_gradient(loss: Loss, theta: Tensor) -> tuple[Tensor, Tensor]:
    """L (...) and ∇L (..., p) at θ (..., p)."""
    theta = theta.detach()
    if isinstance(loss, Differentiable):
        value, g = loss.value_and_gradient(theta)
        return returned("the loss", value, theta.shape[:-1]), g
    return _differentiated(loss, theta.requires_grad_(), create_graph=False)


def _gradient_and_hessian(loss: Loss, theta: Tensor) -> tuple[Tensor, Tensor]:
    """∇L (..., p) and ∇²L (..., p, p) at θ (..., p)."""
    theta = theta.detach()
    if isinstance(loss, Differentiable):
        return loss.gradient_and_hessian(theta)
    _, g = _differentiated(loss, theta.requires_grad_(), create_graph=True)
    require_finite(gradient=g)
    rows = [_derivative(g, theta, unit.expand_as(g), create_graph=False) for unit in torch.eye(g.shape[-1]).to(g)]
    return g.detach(), torch.stack(rows, dim=-2)


def _differentiated(loss: Loss, theta: Tensor, create_graph: bool) -> tuple[Tensor, Tensor]:
    """L and ∇L by torch."""
    with torch.enable_grad():
        value = returned("the loss", loss(theta), theta.shape[:-1])
    return value.detach(), _derivative(value, theta, torch.ones_like(value), create_graph)


def _derivative(value: Tensor, theta: Tensor, weights: Tensor, create_graph: bool) -> Tensor:
    """The gradient of Σ weights · value, 0 where it does not depend on θ; the graph of the value is kept."""
    if not value.requires_grad:
        return torch.zeros_like(theta)
    return torch.autograd.grad(
        value, theta, weights, create_graph=create_graph, retain_graph=True, materialize_grads=True
    )[0]
