"""Permutations of the hidden neurons of a linear network: they join every two components of the minimum if h >= 2.

An odd permutation of layer k turns round the sign of det(W_k … W_1 X), the orientation of that layer's activations,
and of no other layer (Prop. 5.2, with the action that leaves W_l … W_1 unchanged).

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X is (h, h).
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul

import torch

from lmc_helpers.general_linear import require_square
from lmc_helpers.linear_loss import named, require_pair
from lmc_helpers.linear_nets import component

__all__ = ["joining_permutations", "permute_layers"]


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
