"""Why a network without biases misses a target with one (Bürgin et al., App. C.4: Thms C.9, C.10).

A network Σ α_i ReLU(u_i·x) without biases is positively homogeneous: g(sx) = s g(x) for s > 0. The target
ReLU(w·x + b) with b > 0 is not. For standard normal x the length r = ``|x|`` is independent of the direction, and the
best positively homogeneous approximation of a function h has E[r h | x/r]/d in the place of its slope, so that what is
left of the number b has the norm

    b √(Var r/d),      Var r = d − (E r)² ≈ 1/2.

Where b is large against ``|w|`` the target is w·x + b but for a negligible part (:func:`homogeneous_distance`).
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import torch
from scipy.special import gammaln, log_ndtr
from scipy.stats import norm

from lmc_helpers.identifiability.feature_hardness import relu_kernel

__all__ = ["biased_kernel", "homogeneous_distance", "nearest_to_biased", "radial_variance"]


def _check(length: float, bias: float) -> None:
    if not (math.isfinite(length) and length > 0 and math.isfinite(bias) and bias >= 0):
        raise ValueError(f"length = {length}, bias = {bias}; allowed: length > 0 and bias >= 0, finite")


def _square(length: float, bias: float) -> float:
    """E ReLU(length z + bias)² for standard normal z and a bias of any sign."""
    x = bias / length
    return (bias**2 + length**2) * math.exp(log_ndtr(x)) + bias * length * float(norm.pdf(x))


def radial_variance(d: int) -> float:
    """Variance d − (E r)² of the length r of a standard normal vector, E r = √2 Γ((d+1)/2)/Γ(d/2); below 1/2.

    Parameters
    ----------
    d : int
        dimension, at least 1.

    Examples
    --------
    >>> abs(radial_variance(2) - (2 - math.pi / 2)) < 1e-14, round(radial_variance(1000), 3)
    (True, 0.5)
    """
    if d < 1:
        raise ValueError(f"d = {d}; allowed: d >= 1")
    return d - 2 * math.exp(2 * float(gammaln((d + 1) / 2) - gammaln(d / 2)))


def homogeneous_distance(d: int, length: float, bias: float) -> float:
    """Lower bound on the L² distance of ReLU(w·x + b) from every positively homogeneous function, x standard normal.

        b √(Var r/d) − ‖ReLU(−w·x − b)‖

    Parameters
    ----------
    d : int
        dimension of the inputs.
    length : float
        ``|w|`` > 0.
    bias : float
        b >= 0.

    Returns
    -------
    float
        may be negative where the bias is small; then it says nothing.

    Examples
    --------
    A target without bias is positively homogeneous; one with the bias of Thm C.10 is far from all networks:

    >>> homogeneous_distance(41, 41**2, 0.0) < 0, round(homogeneous_distance(41, 41**2, 6 * 41**3 + 1))
    (True, 45525)
    """
    _check(length, bias)
    return bias * math.sqrt(radial_variance(d) / d) - math.sqrt(max(_square(length, -bias), 0.0))


def biased_kernel(F: torch.Tensor, w: torch.Tensor, bias: float) -> torch.Tensor:
    """E ReLU(f_i·x) ReLU(w·x + b) for standard normal x, by Gauss–Legendre quadrature over w·x.

    Parameters
    ----------
    F : torch.Tensor
        features (m, d).
    w : torch.Tensor
        (d,), not 0.
    bias : float
        b >= 0.

    Returns
    -------
    torch.Tensor
        (m,), float64.

    Examples
    --------
    Without a bias it is the kernel of two ReLU neurons:

    >>> e = torch.eye(2, dtype=torch.float64)
    >>> biased_kernel(e, e[0], 0.0).sub(relu_kernel(e, e[0])).abs().max().item() < 1e-12
    True
    """
    length = float(torch.linalg.vector_norm(w))
    _check(length, bias)
    low, high = max(-bias / length, -10.0), 10.0  # where the target is not 0
    nodes, weights = np.polynomial.legendre.leggauss(400)
    edges = [low, 0.0, high] if low < 0 else [low, high]  # panels; the features bend near 0
    total = torch.zeros(len(F), dtype=torch.float64)
    size = torch.linalg.vector_norm(F, dim=-1)
    along = (F @ w / length)[:, None]  # f·ŵ
    across = (size[:, None].square() - along.square()).clamp(min=0).sqrt().clamp(min=1e-12)
    for start, stop in pairwise(edges):
        z = torch.tensor(start + (stop - start) * (nodes + 1) / 2)
        mass = torch.tensor(weights * (stop - start) / 2) * torch.exp(-z.square() / 2) / math.sqrt(2 * math.pi)
        mean = along * z  # of f·x given w·x = length z
        ratio = mean / across
        feature = mean * torch.special.ndtr(ratio) + across * torch.exp(-ratio.square() / 2) / math.sqrt(2 * math.pi)
        total += (feature * mass * (length * z + bias)).sum(dim=1)
    return total


def nearest_to_biased(F: torch.Tensor, w: torch.Tensor, bias: float) -> tuple[torch.Tensor, float]:
    """The combination of the features ReLU(f_i·x) that is nearest to ReLU(w·x + b): coefficients and its error.

    Parameters
    ----------
    F : torch.Tensor
        features (m, d).
    w, bias : torch.Tensor, float
        the target, as for :func:`biased_kernel`.

    Returns
    -------
    torch.Tensor, float
        α (m,) and the L² error.

    Examples
    --------
    >>> alpha, error = nearest_to_biased(torch.eye(2).double(), torch.tensor([3.0, 0.0]).double(), 0.0)
    >>> [round(a, 6) + 0.0 for a in alpha.tolist()], error < 1e-5
    ([3.0, 0.0], True)
    """
    K = relu_kernel(F[:, None], F)
    b = biased_kernel(F, w, bias)
    alpha = torch.linalg.lstsq(K, b[:, None], driver="gelsd").solution[:, 0]
    square = _square(float(torch.linalg.vector_norm(w)), bias) + float(alpha @ K @ alpha - 2 * alpha @ b)
    return alpha, math.sqrt(max(square, 0.0))
