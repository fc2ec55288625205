"""The rescaling symmetry of the last two layers and the barrier it makes (Zhao, Dehmamy, Walters & Yu, 5.2 and 5.3).

The loss is L = ``‖Y − W_l σ(W_{l−1} F)‖²``, equation (3), with features F = f(W_{l−2}, …, W_1, X) and an activation
that acts on entries and has σ(cz) = c^k σ(z) for c > 0. For m > 0 the point

    m · W = (W_l m^{−k}, m W_{l−1}, W_{l−2}, …, W_1)

computes the same function, and on the line λ (m · W) + (1 − λ) W its output is multiplied by

    φ(λ) = (1 − λ + λ m^{−k}) (1 − λ + λ m)^k  >=  1        (means of arithmetic and geometry).

From a minimum with loss 0 the loss on the line is (φ(λ) − 1)² ``‖Y‖²``, equation (14). ln φ is strictly concave in λ
for m ≠ 1, so that it has one maximum φ*; φ increases strictly in abs(ln m) on either side of m = 1, and m and 1/m
have the same φ*. With bounded weights m stays in an interval, and the least bound on the loss is that of its ends
(Prop. 5.6).

The paper and chapter 33 write α for λ on the line from W (λ = 0) to m · W (λ = 1).
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float64
from torch import Tensor

from lmc_helpers._typing import PositiveNumber, Reals, checked
from lmc_helpers.barrier import check_lambdas

__all__ = ["largest_factor", "output_factor"]


@checked
def output_factor(m: Reals, k: PositiveNumber, lam: Reals) -> Float64[Tensor, " ..."]:
    """φ, by which the output is multiplied on the line from W to m · W; equation (14).

        φ(λ) = (1 − λ + λ m^{−k}) (1 − λ + λ m)^k

    Parameters
    ----------
    m
        finite, > 0; it broadcasts with ``lam``.
    k
        degree of σ.
    lam
        λ in [0, 1], the weight of m · W (the paper's α).

    Examples
    --------
    (m + 1)²/(4m) at the middle for k = 1:

    >>> output_factor(4.0, 1, 0.5)
    tensor(1.5625, dtype=torch.float64)
    """
    m, lam = _scale(m), check_lambdas(lam, row=False)
    return (1 - lam + lam * m.pow(-k)) * (1 - lam + lam * m).pow(k)


@checked
def largest_factor(m: Reals, k: PositiveNumber) -> tuple[Float64[Tensor, "*batch"], Float64[Tensor, "*batch"]]:
    """The maximum of φ on the line: its position α* and its value φ*.

    With A = 1 − m^{−k} and B = m − 1, the derivative of ln φ vanishes at α* = (k/A − 1/B)/(1 + k), where
    φ* = k^k/(1 + k)^{1+k} · ``|A + B|^{1+k}/(|B| |A|^k)``. For k = 1 it is α* = ½ and φ* = (m + 1)²/(4m). For m → 1
    α* → ½, by its series below abs(ln m) max(1, k) = 0.01.

    Parameters
    ----------
    m
        finite, > 0.
    k
        degree of σ.

    Examples
    --------
    >>> alpha, value = largest_factor(torch.tensor([4.0, 1e12]), 2)
    >>> round(alpha[1].item(), 6), bool(value[0] > output_factor(4.0, 2, 0.5))
    (0.666667, True)
    """
    m = _scale(m)
    u = m.log()
    near = u.abs() * max(1.0, k) < 0.01
    away = torch.where(near, torch.ones_like(u), u)
    # α* = (k/A − 1/B)/(1 + k), with x/(1 − e^{−x}) = 1 + x/2 + x²/12 − x⁴/720 + … next to 0
    alpha = (k / -torch.expm1(-k * away) - 1 / torch.expm1(away)) / (1 + k)
    series = 0.5 + (k - 1) * u / 12 - (k - 1) * (k * k + 1) * u**3 / 720
    alpha = torch.where(near, series, alpha).clamp(0, 1)
    return alpha, output_factor(m, k, alpha)


def _scale(m: Any) -> Tensor:
    m = torch.as_tensor(m, dtype=torch.float64)
    bad = m[~((m > 0) & torch.isfinite(m))]
    if bad.numel():
        raise ValueError(f"m = {bad.flatten()[0].item()}; allowed: finite numbers > 0")
    return m
