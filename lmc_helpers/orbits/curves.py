"""Curves γ(t) = exp(tM)·w of group actions on weights (Zhao, Dehmamy, Walters & Yu, eqs. (4) and (5)).

An action that preserves the loss preserves it along γ. If it is linear, with generator
ρ(M)w = d/dt exp(tM)·w at t = 0, then

    γ'(t) = ρ(M) γ(t),    γ''(t) = ρ(M)² γ(t)    at every t,

for GL_h with (W_1, W_2) at γ(t): γ' = (M W_1, −W_2 M) and γ'' = (M² W_1, W_2 M²), which gives the length and,
by :func:`curvature`, the curvature.

Actions are the objects of :mod:`lmc_helpers.orbits.group_actions`; M is (..., h, h), or (..., h) for
rescalings; weights are (W_1, W_2) with the same leading dimensions. A point of the curve is one vector of R^p: the rows
of W_1, then of W_2.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from lmc_helpers._typing import Positive, checked
from lmc_helpers.orbits.group_actions import GeneralLinear, Rescaling, Weights

__all__ = ["Action", "chord", "curvature", "curve", "derivatives", "distance_between_ends", "flatten", "length"]

LinearAction = GeneralLinear | Rescaling


@runtime_checkable
class Action(Protocol):
    """Group elements exp(tM) and their action on weights."""

    def exp(self, M: Any, t: Any) -> Any:
        """exp(tM) for every t of a grid."""

    def act(self, g: Any, w: Any) -> Any:
        """g·w."""


@checked
def flatten(w: tuple[Float[Tensor, "*batch h n"], Float[Tensor, "*batch m h"]]) -> Float[Tensor, "*batch p"]:
    """One vector for each (W_1, W_2): the rows of W_1, then those of W_2; p = h n + m h."""
    return torch.cat([W.flatten(start_dim=-2) for W in w], dim=-1)


@checked
def curve(action: Action, M: Float64[Tensor, "... h"], w: Weights, t: Float64[Tensor, " steps"]) -> Weights:
    """γ(t) = exp(tM)·w, equation (4); with M = log g and t in [0, 1], equation (5).

    Returns
    -------
    tuple of torch.Tensor
        (..., steps, h, n) and (..., steps, m, h).

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> M, t = torch.diag(torch.tensor([1.0, 0.0]).double()), torch.arange(3).double()
    >>> first, second = curve(GeneralLinear(), M, (W, W), t)
    >>> (first[:, 0, 0] * second[:, 0, 0]).tolist()
    [1.0, 1.0, 1.0]
    """
    if isinstance(action, GeneralLinear) and M.ndim < 2:
        raise ValueError(f"M has shape {tuple(M.shape)}; allowed: (..., h, h)")
    return action.act(action.exp(M, t), (w[0].unsqueeze(-3), w[1].unsqueeze(-3)))


@checked
def chord(
    path: tuple[Float[Tensor, "... steps h n"], Float[Tensor, "... steps m h"]], t: Float[Tensor, " q"]
) -> tuple[Tensor, Tensor]:
    """The straight line between a curve's ends, (1 − t) γ(0) + t γ(1), at the same t as the curve.

    Returns
    -------
    tuple of torch.Tensor
        (..., q, h, n) and (..., q, m, h).
    """
    t = t[:, None, None]
    first, second = ((1 - t) * W[..., :1, :, :] + t * W[..., -1:, :, :] for W in path)
    return first, second


@checked
def derivatives(
    action: LinearAction, M: Float64[Tensor, "... h"], w: Weights
) -> tuple[Float64[Tensor, "*batch p"], Float64[Tensor, "*batch p"]]:
    """γ' and γ'' of γ(t) = exp(tM)·w at t = 0: ρ(M)w and ρ(M)²w."""
    velocity = action.generator(M, w)
    return flatten(velocity), flatten(action.generator(M, velocity))


@checked
def length(
    action: LinearAction, M: Float64[Tensor, "... h"], w: Weights, nodes: Positive = 40
) -> Float64[Tensor, " ..."]:
    """Length of γ on [0, 1] by Gauss-Legendre quadrature of ``‖γ'‖`` with that many nodes.

    Examples
    --------
    A rotation by 1 of a W_1 and a W_2 of norm 1, on a circle of radius √2:

    >>> M = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    >>> e = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    >>> round(length(GeneralLinear(), M, (e, e.T)).item() / 2**0.5, 12)
    1.0
    """
    x, weight = (torch.from_numpy(a) for a in np.polynomial.legendre.leggauss(nodes))
    dims = 1 if isinstance(action, Rescaling) else 2
    path = curve(action, M, w, (x + 1) / 2)
    velocity, _ = derivatives(action, M.unsqueeze(-1 - dims), path)
    return torch.linalg.vector_norm(velocity, dim=-1) @ (weight / 2).to(velocity)


@checked
def curvature(velocity: Float[Tensor, "*batch p"], acceleration: Float[Tensor, "*batch p"]) -> Float[Tensor, " *batch"]:
    """κ = ``√(‖γ'‖²‖γ''‖² − ⟨γ', γ''⟩²) / ‖γ'‖³``, which is ``‖T'‖/‖γ'‖`` with ``T = γ'/‖γ'‖``, in any parametrisation.

    Computed as the norm of the part of γ'' normal to γ', over ``‖γ'‖²``, which does not cancel where the two are nearly
    parallel.

    Examples
    --------
    A circle of radius 2, at any speed:

    >>> curvature(torch.tensor([0.0, 6.0]).double(), torch.tensor([-18.0, 5.0]).double())
    tensor(0.5000, dtype=torch.float64)
    """
    square = velocity.square().sum(dim=-1, keepdim=True)
    if not (square > 0).all():
        raise ValueError("a velocity is 0; allowed: regular curves, γ' ≠ 0")
    along = (velocity * acceleration).sum(dim=-1, keepdim=True) / square
    return torch.linalg.vector_norm(acceleration - along * velocity, dim=-1) / square[..., 0]


@checked
def distance_between_ends(path: Float[Tensor, "*batch steps p"]) -> Float[Tensor, " *batch"]:
    """D = ``‖γ(1) − γ(0)‖``."""
    return torch.linalg.vector_norm(path[..., -1, :] - path[..., 0, :], dim=-1)
