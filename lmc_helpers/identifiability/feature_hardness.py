"""How well networks near random ReLU features approximate one neuron (Bürgin et al., C.4: Lemmas C.7, C.8, Thm C.10).

A network f(x) = Σ α_i ReLU((f_i + w_i)·x) is compared with the combination Σ α_i ReLU(f_i·x) of its features, and with
a target ReLU(w⋆·x), in L² for standard Gaussian x, where all inner products are exact (:func:`relu_kernel`).

In orthonormal Hermite polynomials h_l, ReLU = Σ a_l h_l, and E h_l(f·x) h_l(w·x) = (f·w)^l for unit vectors. The target
R ReLU(w·x) has a part of degree d and more, of norm R τ_d, where τ_d² is the sum of a_l² over l ≥ d. A feature of a
random unit vector f has a correlation of at most ``τ_d |f·w|^d`` with it, and ``|f·w|^d`` has the mean 2^(1−d) exactly.
"""

from __future__ import annotations

import math
from functools import cache

import torch

__all__ = [
    "error_bound",
    "feature_distance",
    "high_degree_part",
    "nearest_features",
    "relu_distance",
    "relu_kernel",
]


def relu_kernel(u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """E ReLU(u·x) ReLU(v·x) for standard Gaussian x: ``|u||v| (sin θ + (π − θ) cos θ)/2π``, θ the angle of u and v.

    Parameters
    ----------
    u, v : torch.Tensor
        (..., d).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> e = torch.eye(2, dtype=torch.float64)
    >>> relu_kernel(e[0], e[0]).item(), relu_kernel(e[0], e[1]).item() == 1 / (2 * math.pi)
    (0.5, True)
    """
    nu, nv = (torch.linalg.vector_norm(x, dim=-1) for x in (u, v))
    a, b = nv[..., None] * u, nu[..., None] * v
    theta = 2 * torch.atan2(torch.linalg.vector_norm(a - b, dim=-1), torch.linalg.vector_norm(a + b, dim=-1))
    return nu * nv * (theta.sin() + (math.pi - theta) * theta.cos()) / (2 * math.pi)


def relu_distance(u: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """‖ReLU(u·x) − ReLU(v·x)‖ in L² for standard Gaussian x, at most ``|u − v|/√2`` (Lemma C.7 has ``|u − v|``).

    The square is ``|u − v|²/2 − |u||v| (sin θ − θ cos θ)/π``.

    Parameters
    ----------
    u, v : torch.Tensor
        (..., d).

    Returns
    -------
    torch.Tensor
        (...), at most ``|u − v|/√2``.

    Examples
    --------
    >>> e = torch.tensor([1.0, 0.0], dtype=torch.float64)
    >>> abs(relu_distance(3 * e, e).item() - math.sqrt(2)) < 1e-12
    True
    """
    nu, nv = (torch.linalg.vector_norm(x, dim=-1) for x in (u, v))
    a, b = nv[..., None] * u, nu[..., None] * v
    theta = 2 * torch.atan2(torch.linalg.vector_norm(a - b, dim=-1), torch.linalg.vector_norm(a + b, dim=-1))
    loss = torch.where(theta < 1e-2, theta.pow(3) / 3 * (1 - theta.square() / 10), theta.sin() - theta * theta.cos())
    return ((u - v).square().sum(-1) / 2 - nu * nv * loss / math.pi).clamp(min=0).sqrt()


def feature_distance(F: torch.Tensor, W: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    """‖Σ α_i ReLU((f_i + w_i)·x) − Σ α_i ReLU(f_i·x)‖ in L², the left-hand side of Lemma C.8.

    Parameters
    ----------
    F, W : torch.Tensor
        rows f_i and w_i (m, d).
    alpha : torch.Tensor
        (m,).

    Returns
    -------
    torch.Tensor
        a number, at most ‖α‖₂ ‖W‖_F/√2.

    Examples
    --------
    >>> f = torch.tensor([[3.0, 0.0]], dtype=torch.float64)
    >>> round(feature_distance(f, f, torch.ones(1).double()).item() * math.sqrt(2), 12)
    3.0
    """
    rows, coefficients = torch.cat([F + W, F]), torch.cat([alpha, -alpha])
    K = relu_kernel(rows[:, None], rows)  # (2m, 2m)
    return (coefficients @ K @ coefficients).clamp(min=0).sqrt()


@cache
def high_degree_part(degree: int) -> float:
    """τ_d, the norm of the part of ReLU of Hermite degree d = ``degree`` and more.

    The squares a_l² are 1/2π, 1/4, 1/4π for l = 0, 1, 2, those of even l have the ratios (l − 1)²/((l + 1)(l + 2)),
    odd ones beyond 1 vanish, and the sum of all is 1/2.

    Parameters
    ----------
    degree : int
        d, in 0, …, 10⁴.

    Examples
    --------
    >>> round(high_degree_part(0) ** 2, 12), round(high_degree_part(2) ** 2, 12) == round(1 / 4 - 1 / (2 * math.pi), 12)
    (0.5, True)
    """
    if not 0 <= degree <= 10_000:
        raise ValueError(f"degree = {degree}; allowed: 0, …, 10000")
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
    """Lower bound on the error of all networks near random features, with probability 1 − ``failure`` over those.

    With f_1, …, f_m uniform on the sphere, for all α and W at once

        ‖Σ α_i ReLU((f_i + w_i)·x) − ReLU(w⋆·x)‖ ≥ τ_d (‖w⋆‖ − 2^(1−d) m‖α‖_∞/failure) − ‖α‖₂ ‖W‖_F/√2.

    Parameters
    ----------
    d : int
        dimension of the inputs, at least 2.
    length : float
        ``|w⋆|``.
    mass : float
        m‖α‖_∞.
    failure : float
        probability of failure, in (0, 1).
    stray : float
        ‖α‖₂ ‖W‖_F.

    Examples
    --------
    >>> error_bound(50, 2500.0, 1e6, 1e-6) > 20
    True
    """
    if not (d >= 2 and length > 0 and mass >= 0 and 0 < failure < 1 and stray >= 0):
        raise ValueError(
            f"d = {d}, length = {length}, mass = {mass}, failure = {failure}, stray = {stray}; "
            "allowed: d >= 2, length > 0, mass >= 0, 0 < failure < 1, stray >= 0"
        )
    return high_degree_part(d) * (length - 2.0 ** (1 - d) * mass / failure) - stray / math.sqrt(2)


def nearest_features(F: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The combination of the features ReLU(f_i·x) that is nearest to ReLU(target·x): coefficients and its error.

    Parameters
    ----------
    F : torch.Tensor
        features (..., m, d).
    target : torch.Tensor
        (..., d).

    Returns
    -------
    torch.Tensor, torch.Tensor
        α (..., m) and the L² error (...).

    Examples
    --------
    >>> F = torch.eye(2, dtype=torch.float64)
    >>> alpha, error = nearest_features(F, 3 * F[0])
    >>> [round(a, 9) + 0.0 for a in alpha.tolist()], error.item() < 1e-7
    ([3.0, 0.0], True)
    """
    K = relu_kernel(F[..., :, None, :], F[..., None, :, :])
    b = relu_kernel(F, target[..., None, :])
    alpha = torch.linalg.lstsq(K, b[..., None]).solution[..., 0]
    square = target.square().sum(-1) / 2 - 2 * (alpha * b).sum(-1) + ((K @ alpha[..., None])[..., 0] * alpha).sum(-1)
    return alpha, square.clamp(min=0).sqrt()
