"""Linear networks of invertible weights: the loss, its minimum, the components and paths inside them.

The loss is equation (1) of Zhao, Dehmamy, Walters & Yu,

    L(W_1, …, W_l) = ``‖Y − W_l … W_1 X‖²``,

with all matrices h × h, X and Y invertible. At L = 0 every factor is invertible and W_l follows from the others, so
that the minimum is homeomorphic to GL_h^{l−1} (Prop. 4.1),

    (W_1, …, W_l)  ↔  (g_1, …, g_{l−1}) = (W_1 X, W_2, …, W_{l−1}),    W_l = Y g_1⁻¹ g_2⁻¹ … g_{l−1}⁻¹,

and has 2^{l−1} components, one for each choice of the signs of det g_i (Cor. 4.2). What lies between two of them is in
:mod:`lmc_helpers.linear_nets.between`.

Weights are a list [W_1, …, W_l] of float64 tensors (..., h, h), l >= 2; X and Y are (h, h).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from lmc_helpers._typing import Integer, checked, many, require_finite
from lmc_helpers.general_linear import determinant_sign, path_in_group, require_invertible, times_inverse

__all__ = ["component", "components", "from_group", "loss", "path_in_minimum"]

if TYPE_CHECKING:
    Weights = list[Tensor]
    Network = list[Tensor]
else:
    Weights = many(Float64[Tensor, "*batch h h"], "a list of matrices (..., h, h) of torch.float64")
    Network = many(Float64[Tensor, "h h"], "a list of matrices (h, h) of torch.float64")

#: a minimum has L <= AT_MINIMUM · ‖Y‖²
AT_MINIMUM = 1e-16


@checked
def loss(weights: Weights, X: Float64[Tensor, "h h"], Y: Float64[Tensor, "h h"]) -> Float[Tensor, " *batch"]:
    """L = ``‖Y − W_l … W_1 X‖²``, the squared Frobenius norm; equation (1)."""
    _numbered(weights)
    return (Y - _product(weights, X)).square().sum(dim=(-2, -1))


def _product(weights: list[Tensor], X: Tensor) -> Tensor:
    for W in weights:
        X = W @ X
    return X


def _numbered(matrices: list[Tensor], letter: str = "W", least: int = 2) -> dict[str, Tensor]:
    """The matrices under the names W_1, W_2, … that error messages use."""
    if len(matrices) < least:
        raise ValueError(f"{len(matrices)} matrices {letter}_i; allowed: at least {least}")
    return {f"{letter}_{i}": A for i, A in enumerate(matrices, start=1)}


def _require_minimum(name: str, weights: list[Tensor], X: Tensor, Y: Tensor) -> None:
    """Raise unless X and Y are invertible and the loss is at most AT_MINIMUM ‖Y‖²."""
    relative = loss(weights, X, Y) / Y.square().sum()
    require_invertible({"X": X, "Y": Y})
    require_finite(**_numbered(weights))
    if not (relative <= AT_MINIMUM).all():
        raise ValueError(
            f"{name} has loss {relative.max().item():.1e} ‖Y‖²; allowed: a minimum, loss <= {AT_MINIMUM:.0e} ‖Y‖²"
        )


def _require_same_depth(a: list[Tensor], b: list[Tensor]) -> None:
    if len(a) != len(b):
        raise ValueError(f"a has {len(a)} matrices, b has {len(b)}; allowed: the same number")


def _to_group(weights: Weights, X: Float64[Tensor, "h h"]) -> Weights:
    """(g_1, …, g_{l−1}) = (W_1 X, W_2, …, W_{l−1}) in GL_h^{l−1}; Prop. 4.1."""
    require_invertible({"X": X} | _numbered(weights[:-1], least=1))
    return [weights[0] @ X, *weights[1:-1]]


@checked
def from_group(g: Weights, X: Float64[Tensor, "h h"], Y: Float64[Tensor, "h h"]) -> Weights:
    """The minimum with W_1 = g_1 X⁻¹, W_i = g_i and W_l = Y g_1⁻¹ … g_{l−1}⁻¹, by solves; inverse of Prop. 4.1."""
    require_invertible({"X": X, "Y": Y} | _numbered(g, "g", least=1))
    last = Y
    for g_i in g:
        last = times_inverse(last, g_i)
    return [times_inverse(g[0], X), *g[1:], last]


@checked
def components(weights: Weights, X: Float64[Tensor, "h h"]) -> Int64[Tensor, "*batch k"]:
    """Signs of det(W_1 X), det W_2, …, det W_{l−1}, which tell the components of the minimum apart (Cor. 4.2).

    A matrix counts as singular if σ_min <= 16 h ε σ_max with ε = 2⁻⁵², where rounding may decide the sign.
    """
    require_invertible({"X": X} | _numbered(weights))
    first, *others = (determinant_sign(W) for W in weights[:-1])
    return torch.stack([first * determinant_sign(X), *others], dim=-1).long()


@checked
def component(weights: Network, X: Float64[Tensor, "h h"]) -> tuple[int, ...]:
    """The component of the minimum that one network lies in: :func:`components` without a batch.

    Examples
    --------
    >>> I = torch.eye(3, dtype=torch.float64)
    >>> component([I, -I, I, I], I)
    (1, -1, 1)
    """
    return tuple(components(weights, X).tolist())


@checked
def path_in_minimum(
    a: Weights, b: Weights, X: Float64[Tensor, "h h"], Y: Float64[Tensor, "h h"], steps: Integer
) -> Weights:
    """A path from a to b on which the loss is 0 up to rounding, if both lie in one component (Prop. 4.1).

    Every g_i of Prop. 4.1 follows :func:`~lmc_helpers.general_linear.path_in_group`, and W_l(t) the others by
    :func:`from_group`. Points lie at equal distances of t, (..., steps, h, h).

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> path = path_in_minimum([I, 2 * I], [-I, -2 * I], I, 2 * I, steps=5)
    >>> path[0].shape, bool(loss(path, I, 2 * I).max() < 1e-28)
    (torch.Size([5, 2, 2]), True)
    """
    if steps < 2:
        raise ValueError(f"steps = {steps}; allowed: steps >= 2")
    _require_same_depth(a, b)
    _require_minimum("a", a, X, Y)
    _require_minimum("b", b, X, Y)
    here, there = components(a, X), components(b, X)  # (..., l − 1)
    differ = (here != there).any(dim=-1)
    if differ.any():
        raise ValueError(
            f"a lies in component {tuple(here[differ][0].tolist())}, b in {tuple(there[differ][0].tolist())}; "
            "allowed: two minima of one component"
        )
    ends = zip(_to_group(a, X), _to_group(b, X), strict=True)
    return from_group([path_in_group(here, there, steps) for here, there in ends], X, Y)
