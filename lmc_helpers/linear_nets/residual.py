"""The residual network W_3 (W_2 W_1 + ε I) X of equation (2): the components of its minimum, and paths inside them.

X and Y are invertible. At the minimum M = W_2 W_1 + ε I is invertible and

    W_3 = Y X⁻¹ M⁻¹,

so that the minimum is the graph of a function over U = {(W_1, W_2): det M ≠ 0}. Where det W_1 ≠ 0, U has the four
components of (W_1, M) in GL_n × GL_n, told apart by the signs of det M and det W_1. W_1 may pass a singular matrix
inside U

- for ε ≠ 0 and n >= 2 at either sign of det M: two components;
- for ε ≠ 0 and n = 1 only at M = ε, the sign of ε: three components (Prop. 4.3 of Zhao, Dehmamy, Walters & Yu);
- for ε = 0 never: four components.

The paths of :func:`residual_path` are those of the proof: in GL_n × GL_n to a corner, and there through a singular W_1
where the other end has another sign of det W_1.

Weights are float64 tensors (..., n, n), X and Y are (n, n), ε is a number.
"""

from __future__ import annotations

import math

import torch

from lmc_helpers.general_linear import (
    determinant_sign,
    path_in_group,
    rank_tolerance,
    require_finite,
    require_invertible,
    require_square,
    times_inverse,
)
from lmc_helpers.linear_nets.minimum import AT_MINIMUM, Weights, numbered

__all__ = [
    "require_residual_minimum",
    "residual_components",
    "residual_loss",
    "residual_map",
    "residual_minimum",
    "residual_path",
]

FirstTwo = tuple[torch.Tensor, torch.Tensor]  # W_1 and W_2, or W_1 and M


def residual_map(W1: torch.Tensor, W2: torch.Tensor, eps: float) -> torch.Tensor:
    """M = W_2 W_1 + ε I.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (..., n, n).
    eps : float
        ε, the factor of the skip connection.

    Returns
    -------
    torch.Tensor
        (..., n, n).

    Examples
    --------
    >>> residual_map(torch.ones(1, 1), torch.ones(1, 1), 0.5).item()
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

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> residual_loss([I, 2 * I, I], I, 4 * I, eps=1.0)
    tensor(2., dtype=torch.float64)
    """
    if len(weights) != 3:
        raise ValueError(f"{len(weights)} matrices W_i; allowed: W_1, W_2, W_3")
    _require_fitting(weights, eps, X=X, Y=Y)
    W1, W2, W3 = weights
    return (Y - W3 @ residual_map(W1, W2, eps) @ X).square().sum(dim=(-2, -1))


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

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> residual_minimum(I, 2 * I, I, 6 * I, eps=1.0)[2]
    tensor([[2., 0.],
            [0., 2.]], dtype=torch.float64)
    """
    _require_fitting([W1, W2], eps, X=X, Y=Y)
    require_invertible({"X": X, "Y": Y})
    M = residual_map(W1, W2, eps)
    _require_regular_middle(W1, W2, M, eps)
    return [W1, W2, times_inverse(times_inverse(Y, X), M)]


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

    Examples
    --------
    >>> W = torch.diag(torch.tensor([0.0, 2.0], dtype=torch.float64))
    >>> residual_components(W, W, eps=1.0).tolist(), residual_components(W, -W, eps=1.0).tolist()
    ([1, 0], [-1, 0])
    >>> one = torch.ones(1, 1, dtype=torch.float64)
    >>> residual_components(one, -3 * one, eps=1.0).tolist()
    [-1, 1]
    """
    _require_fitting([W1, W2], eps)
    M = residual_map(W1, W2, eps)
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

    Parameters
    ----------
    name : str
        what the error message calls the network.
    weights : list of torch.Tensor
        W_1, W_2, W_3, each (..., n, n).
    X, Y : torch.Tensor
        inputs and targets (n, n).
    eps : float
        ε.

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


def _require_fitting(weights: Weights, eps: float, **data: torch.Tensor) -> None:
    matrices = numbered(weights)
    require_square(matrices, **data)
    require_finite(matrices)
    if not math.isfinite(eps):
        raise ValueError(f"eps = {eps}; allowed: a finite number")


def _require_regular_middle(W1: torch.Tensor, W2: torch.Tensor, M: torch.Tensor, eps: float) -> None:
    """σ_min(M) is above the rounding errors of M, which are in units of ‖W_2‖ ‖W_1‖ + |ε|."""
    size = torch.linalg.matrix_norm(W2, ord=2) * torch.linalg.matrix_norm(W1, ord=2) + abs(eps)
    least, allowed = torch.linalg.svdvals(M)[..., -1], rank_tolerance(M.shape[-1]) * size
    singular = ~(least > allowed)
    if singular.any():
        raise ValueError(
            f"W_2 W_1 + eps I has the singular value {least[singular][0].item():.1e}; "
            f"allowed: > {allowed[singular][0].item():.1e}"
        )


def residual_path(a: Weights, b: Weights, X: torch.Tensor, Y: torch.Tensor, eps: float, steps: int) -> Weights:
    """A path from a to b on which the loss is 0 up to rounding, if both lie in one component.

    With e = ε, or 1 if ε = 0, it has five parts of equal length in the curve parameter:

    1. W_1 = P Σ Qᵀ becomes W_1 + τ P Qᵀ, whose singular values are larger by τ. M stays invertible as long as
       τ ``‖W_2‖`` < σ_min(M); τ goes up to half of that, and at most to 1.
    2. (W_1, M) moves in GL_n × GL_n to the corner W_1 = diag(±1, 1, …, 1), M = e diag(1, …, 1, ±1).
    3. If the first sign of W_1 is another one at b, it changes there: W_1 = diag(t, 1, …, 1) and
       W_2 = diag(0, …, 0, m_n − ε), t from 1 to −1. For n >= 2, M stays at the corner.
    4. The parts 2 and 1 of b, backwards, are the last two.

    Where W_1 is invertible W_2 = (M − ε I) W_1⁻¹; W_3 follows everywhere from W_1 and W_2.

    Parameters
    ----------
    a, b : list of torch.Tensor
        two minima, W_1, W_2, W_3, each (..., n, n), of the same shapes.
    X, Y : torch.Tensor
        inputs and targets (n, n).
    eps : float
        ε.
    steps : int
        points of each part; at least 2. Two parts share the point where they meet.

    Returns
    -------
    list of torch.Tensor
        W_1, W_2, W_3, each (..., 5 steps − 4, n, n); the ends are a and b up to the rounding of W_3.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> flip = torch.diag(torch.tensor([-1.0, 1.0], dtype=torch.float64))
    >>> a, b = residual_minimum(I, I, I, I, eps=1.0), residual_minimum(flip, flip, I, I, eps=1.0)
    >>> path = residual_path(a, b, I, I, eps=1.0, steps=4)
    >>> path[0].shape, bool(residual_loss(path, I, I, eps=1.0).max() < 1e-28)
    (torch.Size([16, 2, 2]), True)
    """
    if steps < 2:
        raise ValueError(f"steps = {steps}; allowed: steps >= 2")
    for name, weights in (("a", a), ("b", b)):
        require_residual_minimum(name, weights, X, Y, eps)
    if a[0].shape != b[0].shape:
        raise ValueError(f"a has matrices {tuple(a[0].shape)}, b has {tuple(b[0].shape)}; allowed: the same")
    here, there = (residual_components(weights[0], weights[1], eps) for weights in (a, b))
    differ = (here != there).any(dim=-1)
    if differ.any():
        raise ValueError(
            f"a lies in component {tuple(here[differ][0].tolist())}, b in {tuple(there[differ][0].tolist())}; "
            "allowed: two minima of one component"
        )
    (lift_a, down_a, sign_a), (lift_b, down_b, sign_b) = (_to_corner(w[0], w[1], eps, steps) for w in (a, b))
    t = torch.linspace(0, 1, steps, dtype=X.dtype, device=X.device)
    first = torch.lerp(sign_a[..., None], sign_b[..., None], t)  # (..., steps)
    cross = _crossing(first, here[..., 0], len(X), eps)
    parts = [lift_a, down_a, cross, _reverse(down_b), _reverse(lift_b)]
    W1, W2 = (
        torch.cat([W if i == 0 else W[..., 1:, :, :] for i, W in enumerate(layer)], dim=-3)
        for layer in zip(*parts, strict=True)
    )
    return residual_minimum(W1, W2, X, Y, eps)


def _to_corner(W1: torch.Tensor, W2: torch.Tensor, eps: float, steps: int) -> tuple[FirstTwo, FirstTwo, torch.Tensor]:
    """Parts 1 and 2 of the path, W_1 and W_2 each (..., steps, n, n), and the sign of det W_1 at the corner."""
    M = residual_map(W1, W2, eps)
    P, _, Qh = torch.linalg.svd(W1)
    size = torch.linalg.matrix_norm(W2, ord=2)
    room = torch.linalg.svdvals(M)[..., -1] / (2 * size)
    height = torch.where(size > 0, room, torch.ones_like(size)).clamp(max=1)  # (...)
    t = torch.linspace(0, 1, steps, dtype=W1.dtype, device=W1.device)[:, None, None]
    lift = W1[..., None, :, :] + t * (height[..., None, None] * (P @ Qh))[..., None, :, :]
    W2_lift = W2[..., None, :, :].expand(lift.shape)

    start = lift[..., -1, :, :]
    M = residual_map(start, W2, eps)
    sign = determinant_sign(start)
    corner_W1, corner_M = _corner(sign, determinant_sign(M), W1.shape[-1], eps)
    down_W1, down_M = path_in_group(start, corner_W1, steps), path_in_group(M, corner_M, steps)
    eye = torch.eye(W1.shape[-1]).to(W1)
    return (lift, W2_lift), (down_W1, times_inverse(down_M - eps * eye, down_W1)), sign


def _corner(of_W1: torch.Tensor, of_M: torch.Tensor, n: int, eps: float) -> FirstTwo:
    """diag(±1, 1, …, 1) and e diag(1, …, 1, ±1) with determinants of the given signs (...)."""
    scale = eps if eps else 1.0
    W1, M = torch.ones(2, *of_W1.shape, n).to(of_W1)
    W1[..., 0] = of_W1
    M[..., -1] = of_M * math.copysign(1, scale) ** n
    return torch.diag_embed(W1), torch.diag_embed(scale * M)


def _crossing(first: torch.Tensor, of_M: torch.Tensor, n: int, eps: float) -> FirstTwo:
    """Part 3: W_1 = diag(first, 1, …, 1) and W_2, (..., steps, n, n); ``first`` (..., steps) changes sign or stays."""
    W1, M = (
        D.diagonal(dim1=-2, dim2=-1) for D in _corner(first, of_M[..., None].expand(first.shape).to(first), n, eps)
    )
    W2 = torch.where(M == eps, torch.zeros_like(M), (M - eps) / W1)  # 0/0 = 0, where W_1 passes 0
    return torch.diag_embed(W1), torch.diag_embed(W2)


def _reverse(part: FirstTwo) -> FirstTwo:
    return part[0].flip(-3), part[1].flip(-3)
