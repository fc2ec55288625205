"""What separates the components of a linear network's minimum: a pass of height σ_min(Y)², no more and no less.

A path between two components of the minimum of ``‖Y − W_l … W_1 X‖²`` holds a point where a factor is singular. There
W_l … W_1 X has rank < h and L >= σ_min(Y)² (Eckart & Young), a bound that :func:`path_over_obstruction` attains.

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X and Y are (h, h).


TODO merge

Permutations of the hidden neurons of a linear network: they join every two components of the minimum if h >= 2.

An odd permutation of layer k turns round the sign of det(W_k … W_1 X), the orientation of that layer's activations,
and of no other layer (Prop. 5.2, with the action that leaves W_l … W_1 unchanged).

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X is (h, h).
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import torch

from lmc_helpers.general_linear import require_invertible, require_square
from lmc_helpers.linear_nets.minimum import component, named, product, require_minimum, require_pair

__all__ = ["joining_permutations", "obstruction", "path_over_obstruction", "permute_layers"]


def obstruction(Y: torch.Tensor) -> float:
    """σ_min(Y)²: every path between different components of the minimum reaches this loss, and one no more than it.

    On the way a determinant changes its sign. Where it is 0, W_l … W_1 X has rank < h, and by Eckart & Young no such
    matrix is closer to Y than σ_min(Y). For the path see :func:`path_over_obstruction`.

    Parameters
    ----------
    Y : torch.Tensor
        targets (h, h), invertible.

    Returns
    -------
    float
        the loss.

    Raises
    ------
    ValueError
        if Y is not a square float64 matrix or singular to rounding.

    Examples
    --------
    >>> obstruction(torch.diag(torch.tensor([3.0, -0.5], dtype=torch.float64)))
    0.25
    """
    if Y.ndim != 2:
        raise ValueError(f"Y has shape {tuple(Y.shape)}; allowed: (h, h)")
    require_square({"Y": Y})
    require_invertible({"Y": Y})
    return torch.linalg.svdvals(Y)[-1].item() ** 2


def path_over_obstruction(
    weights: list[torch.Tensor], X: torch.Tensor, Y: torch.Tensor, layer: int, steps: int
) -> list[torch.Tensor]:
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

    Parameters
    ----------
    weights : list of torch.Tensor
        a minimum, W_1, …, W_l, each (..., h, h).
    X, Y : torch.Tensor
        inputs and targets (h, h).
    layer : int
        k, 1 <= k <= l − 1.
    steps : int
        points of the path, both ends included; at least 3, so that one lies in the second third.

    Returns
    -------
    list of torch.Tensor
        l tensors (..., steps, h, h), all but W_k and W_{k+1} constant. The last point is a minimum up to the rounding
        of the product, some 1e-16 ``‖W_l‖ … ‖W_1‖ ‖X‖`` for its own weights, which grow with the condition of C.

    Raises
    ------
    ValueError
        if steps < 3, there is no such layer, the shapes do not fit, X or Y is singular to rounding, or the weights have
        a loss above 1e-16 ``‖Y‖²``.

    Examples
    --------
    >>> from lmc_helpers.linear_nets.minimum import loss
    >>> from lmc_helpers.linear_nets.minimum import component
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> path = path_over_obstruction([I, I, 2 * I], I, 2 * I, layer=2, steps=7)
    >>> component([W[0] for W in path], I), component([W[-1] for W in path], I)
    ((1, 1), (1, -1))
    >>> round(loss(path, I, 2 * I).max().item(), 12), round(obstruction(2 * I), 12)
    (4.0, 4.0)
    """
    if steps < 3:
        raise ValueError(f"steps = {steps}; allowed: steps >= 3")
    require_minimum("the network", weights, X, Y)
    if not 1 <= layer < len(weights):
        raise ValueError(f"layer = {layer}; allowed: 1 <= layer <= {len(weights) - 1}")
    v = torch.linalg.svd(Y).Vh[-1]  # (h,)
    C = product(weights[:layer], X)  # (..., h, h)
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


def permute_layers(weights: list[torch.Tensor], perms: list[torch.Tensor]) -> list[torch.Tensor]:
    """(P_1 W_1, P_2 W_2 P_1⁻¹, …, W_l P_{l−1}⁻¹), the same function with its hidden neurons in another order.

    The paper prints (W_1 P_1, P_1⁻¹ W_2 P_2, …) in Prop. 5.2, which has another product W_l … W_1.

    Parameters
    ----------
    weights : list of torch.Tensor
        W_1, …, W_l, each (..., h, h).
    perms : list of torch.Tensor
        l − 1 permutations (h,), int64; row j of P_i W is row ``perms[i - 1][j]`` of W.

    Returns
    -------
    list of torch.Tensor
        l tensors (..., h, h).

    Raises
    ------
    ValueError
        if the shapes do not fit, their number is not l − 1, or one is no permutation.

    Examples
    --------
    >>> W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    >>> first, second = permute_layers([W, W], [torch.tensor([1, 0])])
    >>> bool(torch.equal(second @ first, W @ W)), first[0].tolist()
    (True, [3.0, 4.0])
    """
    require_square(named(weights))
    h = weights[0].shape[-1]
    if len(perms) != len(weights) - 1:
        raise ValueError(f"{len(perms)} permutations for {len(weights)} layers; allowed: {len(weights) - 1}")
    for i, perm in enumerate(perms, start=1):
        if perm.ndim != 1 or sorted(perm.tolist()) != list(range(h)):
            raise ValueError(f"permutation {i} is {perm.tolist()}; allowed: each of 0, ..., {h - 1} once")
    rows = [W[..., perm, :] for W, perm in zip(weights[:-1], perms, strict=True)]
    return [rows[0], *(W[..., perm] for W, perm in zip([*rows[1:], weights[-1]], perms, strict=True))]


def joining_permutations(a: list[torch.Tensor], b: list[torch.Tensor], X: torch.Tensor) -> list[torch.Tensor]:
    """Permutations that bring a into the component of b; Prop. 5.2, which needs h >= 2.

    From sgn(P_i) sgn(P_{i−1}) sgn det g_i(a) = sgn det g_i(b), sgn P_i is the product of the first i sign changes. An
    even P_i is the identity here, an odd one exchanges neurons 0 and 1.

    Parameters
    ----------
    a, b : list of torch.Tensor
        two networks, W_1, …, W_l, each (h, h).
    X : torch.Tensor
        inputs (h, h).

    Returns
    -------
    list of torch.Tensor
        l − 1 permutations (h,), int64, for :func:`permute_layers`.

    Raises
    ------
    ValueError
        if the shapes do not fit, X or a weight is singular to rounding, or h = 1 and the components differ.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> flip = torch.diag(torch.tensor([1.0, -1.0], dtype=torch.float64))
    >>> perms = joining_permutations([I, I, I], [flip, I, flip], I)
    >>> [perm.tolist() for perm in perms], component(permute_layers([I, I, I], perms), I)
    ([[1, 0], [1, 0]], (-1, 1))
    """
    require_pair(a, b)
    here, there = component(a, X), component(b, X)
    h = len(X)
    if h == 1 and here != there:
        raise ValueError(f"h = 1 and the components {here} and {there} differ; allowed: h >= 2 or equal components")
    even = torch.arange(h, device=X.device)
    odd = torch.cat([even[:2].flip(0), even[2:]])
    return [even if sign > 0 else odd for sign in accumulate(map(mul, here, there), mul)]
