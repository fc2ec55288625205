"""The residual network W_3 (W_2 W_1 + ε I) X of equation (2): the components of its minimum, and paths inside them.

X and Y are invertible. At the minimum M = W_2 W_1 + ε I is invertible and W_3 = Y X⁻¹ M⁻¹, so that the minimum is the
graph of a function over U = {(W_1, W_2): det M ≠ 0}. Where det W_1 ≠ 0, U has the four components of (W_1, M) in
GL_n × GL_n, told apart by the signs of det M and det W_1. W_1 may pass a singular matrix inside U

- for ε ≠ 0 and n >= 2 at either sign of det M: two components;
- for ε ≠ 0 and n = 1 only at M = ε, the sign of ε: three components (Prop. 4.3);
- for ε = 0 never: four components.

Weights are float64 tensors (..., n, n), X and Y are (n, n), ε is a number.
"""

from __future__ import annotations

import math

import torch

from lmc_helpers.general_linear import (
    determinant_sign,
    divide,
    require_finite,
    require_invertible,
    require_square,
    rounding,
)
from lmc_helpers.linear_loss import AT_MINIMUM

__all__ = ["middle", "require_residual_minimum", "residual_components", "residual_loss", "residual_minimum"]

Weights = list[torch.Tensor]


def middle(W1: torch.Tensor, W2: torch.Tensor, eps: float) -> torch.Tensor:
    """M = W_2 W_1 + ε I.

    Examples
    --------
    >>> middle(torch.ones(1, 1), torch.ones(1, 1), 0.5).item()
    1.5
    """
    return W2 @ W1 + eps * torch.eye(W1.shape[-1]).to(W1)


def residual_loss(weights: Weights, X: torch.Tensor, Y: torch.Tensor, eps: float) -> torch.Tensor:
    """``‖Y − W_3 (W_2 W_1 + ε I) X‖²``, the square of the Frobenius norm in equation (2).

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, W_2, W_3, each (..., n, n).
    X, Y : torch.Tensor
        inputs and targets (n, n).
    eps : float
        ε, the factor of the skip connection.

    Returns
    -------
    torch.Tensor
        (...), differentiable.

    Raises
    ------
    ValueError
        if there are not three weights, the shapes do not fit, a tensor is not float64 or ε is not finite.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> residual_loss([I, 2 * I, I], I, 4 * I, eps=1.0)
    tensor(2., dtype=torch.float64)
    """
    if len(weights) != 3:
        raise ValueError(f"{len(weights)} matrices W_i; allowed: W_1, W_2, W_3")
    _check(weights, eps, X=X, Y=Y)
    W1, W2, W3 = weights
    return (Y - W3 @ middle(W1, W2, eps) @ X).square().sum(dim=(-2, -1))


def residual_minimum(W1: torch.Tensor, W2: torch.Tensor, X: torch.Tensor, Y: torch.Tensor, eps: float) -> Weights:
    """The minimum over (W_1, W_2): W_3 = Y X⁻¹ (W_2 W_1 + ε I)⁻¹.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (..., n, n), with W_2 W_1 + ε I invertible.
    X, Y : torch.Tensor
        inputs and targets (n, n), invertible.
    eps : float
        ε.

    Returns
    -------
    list of torch.Tensor
        W_1, W_2, W_3.

    Raises
    ------
    ValueError
        if the shapes do not fit, ε is not finite, or X, Y or W_2 W_1 + ε I is singular to rounding.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> residual_minimum(I, 2 * I, I, 6 * I, eps=1.0)[2]
    tensor([[2., 0.],
            [0., 2.]], dtype=torch.float64)
    """
    _check([W1, W2], eps, X=X, Y=Y)
    require_invertible({"X": X, "Y": Y})
    M = middle(W1, W2, eps)
    _require_regular_middle(W1, W2, M, eps)
    return [W1, W2, divide(divide(Y, X), M)]


def residual_components(W1: torch.Tensor, W2: torch.Tensor, eps: float) -> torch.Tensor:
    """The component of the minimum over (W_1, W_2): the sign of det M, and that of det W_1 where it cannot change.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (..., n, n).
    eps : float
        ε, the factor of the skip connection.

    Returns
    -------
    torch.Tensor
        (..., 2), int64: the sign of det(W_2 W_1 + ε I), and the sign of det W_1 if ε = 0, or if n = 1 and the first
        sign is not that of ε; else 0, as W_1 passes a singular matrix inside the component.

    Raises
    ------
    ValueError
        if the shapes do not fit, ε is not finite, W_2 W_1 + ε I is singular to rounding, or W_1 is where its sign
        counts.

    Examples
    --------
    >>> W = torch.diag(torch.tensor([0.0, 2.0], dtype=torch.float64))
    >>> residual_components(W, W, eps=1.0).tolist(), residual_components(W, -W, eps=1.0).tolist()
    ([1, 0], [-1, 0])
    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> residual_components(one, -3 * one, eps=1.0).tolist()
    [-1, 1]
    """
    _check([W1, W2], eps)
    M = middle(W1, W2, eps)
    _require_regular_middle(W1, W2, M, eps)
    of_middle = determinant_sign(M).long()
    counts = torch.full_like(of_middle, eps == 0, dtype=torch.bool)
    if W1.shape[-1] == 1 and eps != 0:
        counts = of_middle != math.copysign(1, eps)
    if counts.any():
        require_invertible({"W_1": W1[counts]})
    return torch.stack([of_middle, torch.where(counts, determinant_sign(W1).long(), 0)], dim=-1)


def require_residual_minimum(name: str, weights: Weights, X: torch.Tensor, Y: torch.Tensor, eps: float) -> None:
    """Raise unless X and Y are invertible and the loss is at most 1e-16 ``‖Y‖²``.

    Raises
    ------
    ValueError
        says what does not fit, a shape, a singular matrix or the loss, and what is allowed.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> require_residual_minimum("a", [I, I, I], I, I, eps=1.0)
    Traceback (most recent call last):
        ...
    ValueError: a has loss 1.0e+00 ‖Y‖²; allowed: a minimum, loss <= 1e-16 ‖Y‖²
    """
    relative = residual_loss(weights, X, Y, eps) / Y.square().sum()
    require_invertible({"X": X, "Y": Y})
    if not (relative <= AT_MINIMUM).all():
        raise ValueError(
            f"{name} has loss {relative.max().item():.1e} ‖Y‖²; allowed: a minimum, loss <= {AT_MINIMUM:.0e} ‖Y‖²"
        )


def _check(weights: Weights, eps: float, **data: torch.Tensor) -> None:
    named = {f"W_{i}": W for i, W in enumerate(weights, start=1)}
    require_square(named, **data)
    require_finite(named)
    if not math.isfinite(eps):
        raise ValueError(f"eps = {eps}; allowed: a finite number")


def _require_regular_middle(W1: torch.Tensor, W2: torch.Tensor, M: torch.Tensor, eps: float) -> None:
    """σ_min(M) is above the rounding errors of M, which are in units of ‖W_2‖ ‖W_1‖ + |ε|."""
    size = torch.linalg.matrix_norm(W2, ord=2) * torch.linalg.matrix_norm(W1, ord=2) + abs(eps)
    least, allowed = torch.linalg.svdvals(M)[..., -1], rounding(M.shape[-1]) * size
    singular = ~(least > allowed)
    if singular.any():
        raise ValueError(
            f"W_2 W_1 + eps I has the singular value {least[singular][0].item():.1e}; "
            f"allowed: > {allowed[singular][0].item():.1e}"
        )
