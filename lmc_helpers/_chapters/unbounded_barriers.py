"""The rescaling barrier of homogeneous networks, for the chapter *unbounded barriers*.

Zhao, Dehmamy, Walters & Yu, 5.2 and 5.3. On λ (m · W) + (1 − λ) W, of :mod:`lmc_helpers.orbits.homogeneous`, the output
is multiplied by φ(λ) >= 1, so that from a minimum with loss 0 the loss is (φ(λ) − 1)² ``‖Y‖²``. ln φ is strictly
concave in λ for m ≠ 1; its maximum φ* increases strictly in abs(ln m), and m and 1/m have the same. Forward passes on
the lines check these closed forms.

With bounded weights m stays in an interval, and the least bound on the loss is that of its ends or, for lines between
two points of the orbit, of their ratio (Prop. 5.6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch

from lmc_helpers.orbits.homogeneous import HomogeneousNet, activation
from lmc_helpers.seeds import normal

WIDTHS = (8, 16, 32, 16, 8, 4)  # of the network of Fig. 4, inputs and outputs included
SAMPLES = 4  # of Fig. 4
SLOPE = 0.01  # of leaky ReLU, which Fig. 4 does not state
RATE = 0.01  # of gradient descent


def lambda_of_largest_loss(net: HomogeneousNet, m: torch.Tensor) -> torch.Tensor:
    """The λ of largest loss on the lines from W to m · W, m (B,), by bisection of its measured derivative."""
    ends = net.rescaled(m[:, None].expand(-1, net.last.shape[1]))  # (B, o, h), (B, h, d)
    low, high = torch.zeros_like(m), torch.ones_like(m)
    for _ in range(50):
        lam = ((low + high) / 2).requires_grad_()
        t = lam[:, None, None]
        losses = net.loss(*((1 - t) * x + t * y for x, y in zip(net.layers, ends, strict=True)))  # (B,)
        (slope,) = torch.autograd.grad(losses.sum(), lam)
        lam = lam.detach()
        low, high = torch.where(slope > 0, lam, low), torch.where(slope > 0, high, lam)
    return lam


def five_layer_minimum(seed: int, steps: int) -> tuple[HomogeneousNet, float]:
    """A minimum of the network of Fig. 4 with loss 0 to rounding, and the loss after gradient descent alone.

    Five layers with leaky ReLU, widths 8, 16, 32, 16, 8, 4, and normal X (8, 4) and Y (4, 4). After full-batch gradient
    descent of half the squared error at the rate 0.01, Gauss–Newton steps of least norm, halved until the error falls,
    reduce it to rounding.
    """

    def drawn(purpose: str, *shape: int) -> torch.Tensor:
        return normal(shape, seed, f"{purpose} {shape}")

    X, Y = drawn("X of Fig. 4", WIDTHS[0], SAMPLES), drawn("Y of Fig. 4", WIDTHS[-1], SAMPLES)

    def sigma(z: torch.Tensor) -> torch.Tensor:
        return activation(z, 1, negative=-SLOPE)

    def features(weights: Sequence[torch.Tensor]) -> torch.Tensor:
        F = X
        for W in weights[:-2]:
            F = sigma(W @ F)
        return F

    def residual(*weights: torch.Tensor) -> torch.Tensor:
        return (weights[-1] @ sigma(weights[-2] @ features(weights)) - Y).flatten()

    weights = [drawn(f"layer {i} of Fig. 4", b, a) * math.sqrt(2 / a) for i, (a, b) in enumerate(pairwise(WIDTHS))]
    for _ in range(steps):
        weights = [W.requires_grad_() for W in weights]
        half = residual(*weights).square().sum() / 2
        gradients = torch.autograd.grad(half, weights)
        weights = [(W - RATE * g).detach() for W, g in zip(weights, gradients, strict=True)]
    weights = _gauss_newton(residual, weights)
    return HomogeneousNet(weights[-1], weights[-2], features(weights), Y, 1, -SLOPE), 2 * half.item()


def _gauss_newton(residual, weights: list[torch.Tensor]) -> list[torch.Tensor]:
    """Steps of least norm towards residual = 0, halved until its norm falls; stops when no step lowers it."""
    sizes = [W.numel() for W in weights]
    for _ in range(60):
        r = residual(*weights)
        jacobians = torch.func.jacrev(residual, argnums=tuple(range(len(weights))))(*weights)
        flat = torch.cat([J.flatten(1) for J in jacobians], dim=1)  # (outputs, parameters)
        least_norm = torch.linalg.lstsq(flat, r, driver="gelsd").solution
        for halvings in range(30):
            trial = [
                W - s.reshape(W.shape) / 2**halvings for W, s in zip(weights, least_norm.split(sizes), strict=True)
            ]
            if residual(*trial).norm() < r.norm():
                break
        else:
            break  # rounding
        weights = trial
    return weights


def orbit_interval(last: torch.Tensor, before: torch.Tensor, k: float, c: float) -> tuple[float, float]:
    """The open interval of all m with ``‖W_l m^{−k}‖ < c`` and ``‖m W_{l−1}‖ < c``."""
    norms = [torch.linalg.vector_norm(W).item() for W in (last, before)]
    low, high = (norms[0] / c) ** (1 / k), c / norms[1]
    if not low < high:
        least = (norms[0] * norms[1] ** k) ** (1 / (k + 1))
        raise ValueError(f"c = {c}; allowed: c > {least:.6g}, the least bound for which this orbit has a point")
    return low, high


def orbit_bound(low: float, high: float, k: float, norm: float, pairs: bool = False) -> float:
    """The least b with L < b on all lines from W to m · W, low < m < high, or on all lines between two such points.

    φ* increases in abs(ln m), so b = (φ*(M) − 1)² ``‖Y‖²`` with M the end that is farthest from 1 in abs(ln m); for
    pairs M = high/low.
    """
    ends = torch.tensor([high / low] if pairs else [low, high], dtype=torch.float64)
    return (largest_factor(ends, k)[1].max().item() - 1) ** 2 * norm**2


def output_factor(m: torch.Tensor | float, k: float, lam: torch.Tensor | float) -> torch.Tensor:
    """φ(λ) = (1 − λ + λ m^{−k}) (1 − λ + λ m)^k, the factor of the output on the line; eq. (14)."""
    m, lam = (torch.as_tensor(x, dtype=torch.float64) for x in (m, lam))
    return (1 - lam + lam * m.pow(-k)) * (1 - lam + lam * m).pow(k)


def largest_factor(m: torch.Tensor | float, k: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The maximum of φ on the line: its position α* and its value φ*.

    With A = 1 − m^{−k} and B = m − 1, the derivative of ln φ vanishes at α* = (k/A − 1/B)/(1 + k), where
    φ* = k^k/(1 + k)^{1+k} · ``|A + B|^{1+k}/(|B| |A|^k)``. For k = 1 it is α* = ½ and φ* = (m + 1)²/(4m). For m → 1
    α* → ½, by its series below abs(ln m) max(1, k) = 0.01.
    """
    m = torch.as_tensor(m, dtype=torch.float64)
    u = m.log()
    near = u.abs() * max(1.0, k) < 0.01
    away = torch.where(near, torch.ones_like(u), u)
    # α* = (k/A − 1/B)/(1 + k), with x/(1 − e^{−x}) = 1 + x/2 + x²/12 − x⁴/720 + … next to 0
    alpha = (k / -torch.expm1(-k * away) - 1 / torch.expm1(away)) / (1 + k)
    series = 0.5 + (k - 1) * u / 12 - (k - 1) * (k * k + 1) * u**3 / 720
    alpha = torch.where(near, series, alpha).clamp(0, 1)
    return alpha, output_factor(m, k, alpha)
