"""Group actions on the weights of two neighbouring layers (Zhao, Dehmamy, Walters & Yu, sections 5 and 6).

An action maps g and w = (W_1, W_2) to g·w:

- :class:`GeneralLinear`, g in GL_h: (g W_1, W_2 g⁻¹), which preserves W_2 W_1 (linear layers);
- :class:`Rescaling`, g > 0 in R^h: (diag(g) W_1, W_2 diag(g)^(−k)), which preserves W_2 σ(W_1 X) if
  σ(c x) = c^k σ(x) for c > 0.

Each has ``exp(M, t)``, the group element exp(tM), ``act(g, w)``, and, as both act linearly on w, ``generator(M, w)``,
the linear map d/dt exp(tM)·w at t = 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from lmc_helpers._typing import Number, PositiveNumber, checked

__all__ = ["GeneralLinear", "Rescaling", "Weights"]

#: W_1 and W_2 of two neighbouring layers
Weights = tuple[Float64[Tensor, "... h n"], Float64[Tensor, "... m h"]]
#: a number, or a grid of them
Times = Number | Float64[Tensor, ""] | Float64[Tensor, " steps"]

EPS = torch.finfo(torch.float64).eps


def checked_inverse(g: Tensor) -> Tensor:
    """g⁻¹, or ValueError if ``‖g‖ ‖g⁻¹‖ >= 1/(16 h ε)`` for some g, singular to rounding."""
    inverse, info = torch.linalg.inv_ex(g)
    with torch.no_grad():
        condition = torch.linalg.matrix_norm(g) * torch.linalg.matrix_norm(inverse)
        good = (info == 0) & (condition < 1 / (16 * g.shape[-1] * EPS))
    if not good.all():
        worst = condition[~good].flatten()[0].item()
        raise ValueError(f"g is singular to rounding: ‖g‖ ‖g⁻¹‖ = {worst:.1e}; allowed: invertible g")
    return inverse


@dataclass(frozen=True)
class GeneralLinear:
    """GL_h on two neighbouring linear layers: g·(W_1, W_2) = (g W_1, W_2 g⁻¹).

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> first, second = GeneralLinear().act(4 * W, (W, W))
    >>> first[0, 0].item(), second[0, 0].item()
    (4.0, 0.25)
    """

    @checked
    def exp(self, M: Float64[Tensor, "... h h"], t: Times = 1.0) -> Float64[Tensor, " ..."]:
        """exp(tM), (..., h, h) or, for a grid, (..., steps, h, h)."""
        return torch.linalg.matrix_exp(_times(t, M, 2).contiguous())  # of others it raises an error (torch 2.13)

    @checked
    def act(self, g: Float64[Tensor, "... h h"], w: Weights) -> Weights:
        """g·w for an invertible g."""
        # not torch.linalg.solve: its second derivative in nested forward mode is half of what it should be (torch 2.13)
        return g @ w[0], w[1] @ checked_inverse(g)

    @checked
    def generator(self, M: Float64[Tensor, "... h h"], w: Weights) -> Weights:
        """(M W_1, −W_2 M), the velocity of exp(tM)·w at t = 0."""
        return M @ w[0], -w[1] @ M


@checked
@dataclass(frozen=True)
class Rescaling:
    """One positive factor a neuron: g·(W_1, W_2) = (diag(g) W_1, W_2 diag(g)^(−k)).

    ``degree``: k with σ(c x) = c^k σ(x) for c > 0; 1 for ReLU and leaky ReLU.

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> first, second = Rescaling(degree=2).act(torch.tensor([2.0, 1.0]).double(), (W, W))
    >>> first.diagonal().tolist(), second.diagonal().tolist()
    ([2.0, 1.0], [0.25, 1.0])
    """

    degree: PositiveNumber = 1.0

    @checked
    def exp(self, M: Float64[Tensor, "... h"], t: Times = 1.0) -> Float64[Tensor, " ..."]:
        """exp(tM) of logarithms M of the factors, (..., h) or, for a grid, (..., steps, h)."""
        return torch.exp(_times(t, M, 1))

    @checked
    def act(self, g: Float64[Tensor, "... h"], w: Weights) -> Weights:
        """g·w for positive factors g."""
        if not (g > 0).all():
            raise ValueError(f"g has the factor {g.min().item():g}; allowed: positive factors")
        return g[..., :, None] * w[0], w[1] * g[..., None, :] ** -self.degree

    @checked
    def generator(self, M: Float64[Tensor, "... h"], w: Weights) -> Weights:
        """(diag(M) W_1, −k W_2 diag(M)), the velocity of exp(tM)·w at t = 0."""
        return M[..., :, None] * w[0], -self.degree * w[1] * M[..., None, :]


def _times(t: Tensor | float, M: Tensor, dims: int) -> Tensor:
    """t M for a number, or for a grid (steps,) with the steps before the last ``dims`` dimensions of M."""
    t = torch.as_tensor(t, dtype=torch.float64, device=M.device)
    return t * M if t.ndim == 0 else t.reshape(-1, *[1] * dims) * M.unsqueeze(-1 - dims)
