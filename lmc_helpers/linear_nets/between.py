"""Paths between two minima of a linear network: straight lines, and passes of height σ_min(Y)².

*Straight lines.* On the line from b (λ = 0) to a (λ = 1) layer i is λ A_i + (1 − λ) B_i.

*The obstruction.* A path between two components of the minimum of ``‖Y − W_l … W_1 X‖²`` holds a point where a factor
is singular. There W_l … W_1 X has rank < h and L >= σ_min(Y)² (Eckart & Young), a bound that
:func:`path_over_obstruction` attains.

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X and Y are (h, h).
"""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Tensor

from lmc_helpers._typing import Integer, Reals, checked
from lmc_helpers.barrier import check_lambdas
from lmc_helpers.general_linear import require_invertible
from lmc_helpers.linear_nets.minimum import Weights, _product, _require_minimum, _require_same_depth

__all__ = ["obstruction", "path_over_obstruction", "straight_line"]


@checked
def straight_line(a: Weights, b: Weights, lambdas: Reals) -> Weights:
    """The straight line λ a + (1 − λ) b, layer by layer.

    λ = 1 is a; places come before the axes of the matrices, (..., L, h, h).
    """
    _require_same_depth(a, b)
    weight = check_lambdas(lambdas, a[0].dtype, a[0].device)[:, None, None]
    return [torch.lerp(B[..., None, :, :], A[..., None, :, :], weight) for A, B in zip(a, b, strict=True)]


@checked
def obstruction(Y: Float64[Tensor, "h h"]) -> float:
    """σ_min(Y)²: every path between different components of the minimum reaches this loss, and one does not exceed it.

    On the way a determinant changes its sign. Where it is 0, W_l … W_1 X has rank < h, and by Eckart & Young no such
    matrix is closer to Y than σ_min(Y). For the path see :func:`path_over_obstruction`.

    Examples
    --------
    >>> obstruction(torch.diag(torch.tensor([3.0, -0.5], dtype=torch.float64)))
    0.25
    """
    require_invertible({"Y": Y})
    return torch.linalg.svdvals(Y)[-1].item() ** 2


@checked
def path_over_obstruction(
    weights: Weights, X: Float64[Tensor, "h h"], Y: Float64[Tensor, "h h"], layer: Integer, steps: Integer
) -> Weights:
    """A path to the component where det W_k and det W_{k+1} have changed signs, k = ``layer``; max L = σ_min(Y)².

    Let Y v = σ_min u and r = C v, s = C⁻ᵀ v with C = W_k … W_1 X. As sᵀr = 1, the matrix D(τ) = I − (1 − τ) r sᵀ
    multiplies the direction r by τ, det D(τ) = τ, and W_l … W_{k+1} D(τ) C = Y − (1 − τ) σ_min u vᵀ. With the weights
    W_k(τ) = D(τ) W_k and W_{k+1}(φ) = W_{k+1} D(φ) the path has three thirds:

    1. τ goes from 1 to 0, the loss (1 − τ)² σ_min² rises;
    2. φ goes from 1 to −1, which the product does not see, because D(φ) D(0) = D(0);
    3. τ goes from 0 to −1, the loss (1 + τ)² σ_min² falls to 0, because D(−1) D(τ) = D(−τ).

    Of the signs of :func:`~lmc_helpers.linear_nets.minimum.component`, those at k and k + 1 change for k < l − 1, and
    only the last for k = l − 1. These changes compose to every one, so σ_min(Y)² is the barrier between any two
    components.

    The path (..., steps, h, h) ends at a minimum up to the rounding of the product, some 1e-16 ``‖W_l‖ … ‖W_1‖ ‖X‖`` of
    its own weights, which grow with the condition of C.

    Examples
    --------
    >>> from lmc_helpers.linear_nets.minimum import component, loss
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> path = path_over_obstruction([I, I, 2 * I], I, 2 * I, layer=2, steps=7)
    >>> component([W[0] for W in path], I), component([W[-1] for W in path], I)
    ((1, 1), (1, -1))
    >>> round(loss(path, I, 2 * I).max().item(), 12), round(obstruction(2 * I), 12)
    (4.0, 4.0)
    """
    if steps < 3:
        raise ValueError(f"steps = {steps}; allowed: steps >= 3")
    _require_minimum("the network", weights, X, Y)
    if not 1 <= layer < len(weights):
        raise ValueError(f"layer = {layer}; allowed: 1 <= layer <= {len(weights) - 1}")
    v = torch.linalg.svd(Y).Vh[-1]  # (h,)
    C = _product(weights[:layer], X)  # (..., h, h)
    s = torch.linalg.solve(C.mT, v[:, None].expand(*C.shape[:-1], 1))  # (..., h, 1)
    r = (C @ v)[..., None]
    projection = (r @ s.mT / (s.mT @ r))[..., None, :, :]  # r sᵀ, (..., 1, h, h); sᵀr = 1 up to rounding

    t = torch.linspace(0, 1, steps, dtype=X.dtype, device=X.device)[:, None, None]
    tau = (1 - 3 * t).clamp(0, 1) - (3 * t - 2).clamp(0, 1)
    phi = 1 - 2 * (3 * t - 1).clamp(0, 1)
    eye = torch.eye(len(X)).to(X)
    path = [W[..., None, :, :].expand(*W.shape[:-2], steps, -1, -1) for W in weights]
    path[layer - 1] = (eye - (1 - tau) * projection) @ path[layer - 1]
    path[layer] = path[layer] @ (eye - (1 - phi) * projection)
    return path
