"""Approximation near random ReLU features, for the chapter *feature hardness* (Bürgin et al., App. C.4).

A network Σ α_i ReLU((f_i + w_i)·x) is compared with the combination Σ α_i ReLU(f_i·x) of its features and with a target
ReLU(w⋆·x), in L² for standard Gaussian x, where all inner products are exact (:func:`relu_kernel`).
"""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from scipy.special import gammaln, log_ndtr
from scipy.stats import norm


def _angle(u: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """``|u||v|`` and the angle of u and v, accurate near 0 and π."""
    nu, nv = (torch.linalg.vector_norm(x, dim=-1) for x in (u, v))
    a, b = nv[..., None] * u, nu[..., None] * v
    theta = 2 * torch.atan2(torch.linalg.vector_norm(a - b, dim=-1), torch.linalg.vector_norm(a + b, dim=-1))
    return nu * nv, theta


def relu_kernel(u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """E ReLU(u·x) ReLU(v·x) for standard Gaussian x: ``|u||v| (sin θ + (π − θ) cos θ)/2π``, θ the angle of u and v."""
    product, theta = _angle(u, v)
    return product * (theta.sin() + (math.pi - theta) * theta.cos()) / (2 * math.pi)


def relu_distance(u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """‖ReLU(u·x) − ReLU(v·x)‖ in L² for standard Gaussian x, at most ``|u − v|/√2`` (Lemma C.7 has ``|u − v|``)."""
    product, theta = _angle(u, v)
    loss = torch.where(theta < 1e-2, theta.pow(3) / 3 * (1 - theta.square() / 10), theta.sin() - theta * theta.cos())
    return ((u - v).square().sum(-1) / 2 - product * loss / math.pi).clamp(min=0).sqrt()


def feature_distance(F: torch.Tensor, W: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    """‖Σ α_i ReLU((f_i + w_i)·x) − Σ α_i ReLU(f_i·x)‖ in L², the left-hand side of Lemma C.8."""
    rows, coefficients = torch.cat([F + W, F]), torch.cat([alpha, -alpha])
    K = relu_kernel(rows[:, None], rows)  # (2m, 2m)
    return (coefficients @ K @ coefficients).clamp(min=0).sqrt()


@cache
def high_degree_part(degree: int) -> float:
    """τ_d, the norm of the part of ReLU of Hermite degree at least d.

    τ_d² is the sum of a_l² over l >= d, ReLU = Σ a_l h_l in orthonormal Hermite polynomials.
    """
    square, even, below = 1 / (4 * math.pi), 2, []
    if degree > 0:
        below.append(1 / (2 * math.pi))
    if degree > 1:
        below.append(1 / 4)
    while even < degree:
        below.append(square)
        square *= (even - 1) ** 2 / ((even + 1) * (even + 2))
        even += 2
    return math.sqrt(math.fsum([0.5, *(-x for x in below)]))


def error_bound(d: int, length: float, mass: float, failure: float, stray: float = 0.0) -> float:
    """Lower bound on the error of all networks near random features, with probability 1 − ``failure``.

    Thm C.10. The part of degree at least d of R ReLU(w·x) has the norm R τ_d. A feature of a random unit vector f of
    R^d has a correlation of at most ``τ_d |f·w|^d`` with it, and ``|f·w|^d`` has the mean 2^(1−d) exactly.
    """
    return high_degree_part(d) * (length - 2.0 ** (1 - d) * mass / failure) - stray / math.sqrt(2)


def nearest_features(F: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Coefficients and error of the combination of features ReLU(f_i·x) nearest to ReLU(target·x)."""
    K = relu_kernel(F[..., :, None, :], F[..., None, :, :])
    b = relu_kernel(F, target[..., None, :])
    alpha = torch.linalg.lstsq(K, b[..., None]).solution[..., 0]
    square = target.square().sum(-1) / 2 - 2 * (alpha * b).sum(-1) + ((K @ alpha[..., None])[..., 0] * alpha).sum(-1)
    return alpha, square.clamp(min=0).sqrt()


def _square(length: float, bias: float) -> float:
    """E ReLU(length z + bias)² for standard normal z and a bias of any sign."""
    x = bias / length
    return (bias**2 + length**2) * math.exp(log_ndtr(x)) + bias * length * float(norm.pdf(x))


def radial_variance(d: int) -> float:
    """Variance d − (E r)² of the length r of a standard normal vector, E r = √2 Γ((d+1)/2)/Γ(d/2); below 1/2."""
    return d - 2 * math.exp(2 * float(gammaln((d + 1) / 2) - gammaln(d / 2)))


def homogeneous_distance(d: int, length: float, bias: float) -> float:
    """Lower bound on the L² distance of ReLU(w·x + b) from every positively homogeneous function, x standard normal.

    A network without biases is positively homogeneous (Thm C.9). The nearest such function to h has the slope E[r h |
    x/r]/d, r = ``|x|``, so that of a constant b the part b √(Var r/d) remains. If b is large compared with ``|w|``, the
    target is w·x + b up to a negligible part.
    """
    return bias * math.sqrt(radial_variance(d) / d) - math.sqrt(max(_square(length, -bias), 0.0))


def biased_kernel(F: torch.Tensor, w: torch.Tensor, bias: float) -> torch.Tensor:
    """E ReLU(f_i·x) ReLU(w·x + b) for standard normal x, by Gauss–Legendre quadrature over w·x."""
    length = float(torch.linalg.vector_norm(w))
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
    """Coefficients and error of the combination of features ReLU(f_i·x) nearest to ReLU(w·x + b)."""
    K = relu_kernel(F[:, None], F)
    b = biased_kernel(F, w, bias)
    alpha = torch.linalg.lstsq(K, b[:, None], driver="gelsd").solution[:, 0]
    square = _square(float(torch.linalg.vector_norm(w)), bias) + float(alpha @ K @ alpha - 2 * alpha @ b)
    return alpha, math.sqrt(max(square, 0.0))
