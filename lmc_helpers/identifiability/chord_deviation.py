"""Chord deviation of a layer between two sets of weights (Bürgin, Herbst, Lin & Jegelka, section 5, appendix D).

For Gaussian inputs and one neuron with effective weights u, v and w = λu + (1−λ)v,

    ξ(λ; x) = η(w·x) − λ η(u·x) − (1−λ) η(v·x)                                                    (eq. (30))

depends on the plane of u and v only. As everywhere in this package λ = 1 is the first end u; the paper's λ is 1 − λ
here. For ReLU, with the angles θ₁ between u and w and θ₂ between w and v,

    E ξ² = (λ² ‖u‖² g(θ₁) + (1−λ)² ‖v‖² g(θ₂))/π,        g(θ) = θ − sin θ cos θ.

Everything is in coordinates in which the inputs are standard: for a covariance Σ multiply the weights by its root first
(:func:`in_standard_coordinates`). The largest E ξ² over all u, v in the ball of radius β ‖f‖ about f is known exactly
(:func:`worst_chord_deviation`) and at most β³ ‖f‖²/(3π).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch

from lmc_helpers.barrier import check_places
from lmc_helpers.seeds import torch_generator

__all__ = [
    "SMOOTH_ACTIVATIONS",
    "chord_deviation",
    "circular_segment",
    "deviation_by_quadrature",
    "in_standard_coordinates",
    "printed_relu_bound",
    "relu_bound",
    "search_worst_pair",
    "smooth_bound",
    "smooth_deviation",
    "worst_chord_deviation",
]

#: Smooth activations η of Thm D.1, each with the supremum of the absolute value of η''.
SMOOTH_ACTIVATIONS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float]] = {
    "tanh": (torch.tanh, 4 / (3 * math.sqrt(3))),
    "softplus": (lambda z: torch.nn.functional.softplus(z, threshold=40), 1 / 4),
    "sigmoid": (torch.sigmoid, 1 / (6 * math.sqrt(3))),
    "gelu": (torch.nn.functional.gelu, math.sqrt(2 / math.pi)),
}


def circular_segment(theta: torch.Tensor) -> torch.Tensor:
    """g(θ) = θ − sin θ cos θ, twice the area of a circular segment, without cancellation at small angles.

    Parameters
    ----------
    theta : torch.Tensor
        angles in [0, π], any shape.

    Returns
    -------
    torch.Tensor
        the same shape, in [0, π].

    Examples
    --------
    >>> t = torch.tensor([1e-6, math.pi], dtype=torch.float64)
    >>> [round(x, 12) for x in (circular_segment(t) / torch.tensor([2e-18 / 3, math.pi], dtype=torch.float64)).tolist()]
    [1.0, 1.0]
    """
    t2 = (2 * theta).square()
    series = 1.0 - t2 / 20 * (1 - t2 / 42 * (1 - t2 / 72 * (1 - t2 / 110 * (1 - t2 / 156))))  # (t − sin t)/(t³/6)
    return torch.where(theta < 0.3, 2 * theta.pow(3) / 3 * series, theta - theta.sin() * theta.cos())


def in_standard_coordinates(weights: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
    """Rows W Σ^(1/2), so that W x with x ~ N(0, Σ) has the law of W Σ^(1/2) z with standard z.

    Parameters
    ----------
    weights : torch.Tensor
        (..., m, d).
    covariance : torch.Tensor
        Σ (d, d), symmetric and positive semi-definite; it may be singular.

    Returns
    -------
    torch.Tensor
        (..., m, d).

    Examples
    --------
    >>> in_standard_coordinates(torch.ones(1, 2), torch.diag(torch.tensor([4.0, 0.0])))
    tensor([[2., 0.]])
    """
    d = weights.shape[-1]
    if covariance.shape != (d, d) or not torch.allclose(covariance, covariance.mT, rtol=1e-10, atol=0):
        raise ValueError(f"covariance has shape {tuple(covariance.shape)}; allowed: symmetric ({d}, {d})")
    values, vectors = torch.linalg.eigh(covariance)
    if values[0] < -1e-10 * values[-1].abs():
        raise ValueError(f"covariance has the eigenvalue {values[0].item():.3g}; allowed: none below 0")
    return weights @ (vectors * values.clamp(min=0).sqrt()) @ vectors.mT


def _check_beta(beta: float) -> None:
    if not (math.isfinite(beta) and beta >= 0):
        raise ValueError(f"beta = {beta}; allowed: a finite number >= 0")


def _places(u: torch.Tensor, v: torch.Tensor, lam: torch.Tensor | float) -> torch.Tensor:
    """λ as a tensor of any shape, each in [0, 1]."""
    if u.shape[-1] != v.shape[-1]:
        raise ValueError(f"u has shape {tuple(u.shape)}, v {tuple(v.shape)}; allowed: the same last dimension")
    places = torch.as_tensor(lam, dtype=u.dtype)
    check_places(places.reshape(-1), u.dtype)
    return places


def chord_deviation(u: torch.Tensor, v: torch.Tensor, lam: torch.Tensor | float) -> torch.Tensor:
    """E ξ(λ; x)² of eq. (30) for ReLU and standard Gaussian inputs, in closed form.

    The angles come from the part of u − v that is orthogonal to w, so that nothing cancels for nearly equal vectors.

    Parameters
    ----------
    u, v : torch.Tensor
        effective weights of one neuron at both ends, (..., d); they broadcast.
    lam : float or torch.Tensor
        λ in [0, 1], a number or (...); λ = 1 is u.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    Opposite vectors: in the middle w = 0 and ``ξ = −|u·x|/2``, so E ξ² = 1/4.

    >>> u = torch.tensor([1.0, 0.0], dtype=torch.float64)
    >>> chord_deviation(u, -u, 0.5).item(), chord_deviation(u, 3 * u, 0.5).item()
    (0.25, 0.0)
    """
    lam = _places(u, v, lam)
    across = u - v
    w = v + lam[..., None] * across
    length = torch.linalg.vector_norm(w, dim=-1, keepdim=True)
    unit = w / torch.where(length > 0, length, 1)
    height = torch.linalg.vector_norm(across - (across * unit).sum(-1, keepdim=True) * unit, dim=-1)  # |Δ⊥|
    first = torch.atan2((1 - lam) * height, (u * unit).sum(-1))  # θ₁
    second = torch.atan2(lam * height, (v * unit).sum(-1))  # θ₂
    p2, q2 = lam.square() * u.square().sum(-1), (1 - lam).square() * v.square().sum(-1)
    value = (p2 * circular_segment(first) + q2 * circular_segment(second)) / math.pi
    return torch.where(length[..., 0] > 0, value, q2)  # w = 0: λu = −(1−λ)v, ξ = −(1−λ)|v·x|


def deviation_by_quadrature(u: torch.Tensor, v: torch.Tensor, lam: float) -> float:
    """E ξ(λ; x)² for ReLU, two-dimensional weights and standard Gaussian inputs, without the closed form.

    The integral over the direction of x, E ``‖x‖²`` = 2, by Gauss–Legendre rules between the kinks.

    Parameters
    ----------
    u, v : torch.Tensor
        effective weights at both ends, (2,), float64.
    lam : float
        λ in [0, 1]; λ = 1 is u.

    Returns
    -------
    float
        to about 12 digits.

    Examples
    --------
    >>> u = torch.tensor([1.0, 0.0], dtype=torch.float64)
    >>> round(deviation_by_quadrature(u, -u, 0.5), 12)
    0.25
    """
    if u.shape != (2,) or v.shape != (2,):
        raise ValueError(f"u has shape {tuple(u.shape)}, v {tuple(v.shape)}; allowed: (2,)")
    check_places([lam])
    w = lam * u + (1 - lam) * v
    kinks = [math.atan2(z[1], z[0]) + math.pi / 2 for z in (u, v, w)]
    kinks = sorted({(a + b) % (2 * math.pi) for a in kinks for b in (0, math.pi)})
    kinks.append(kinks[0] + 2 * math.pi)
    x, weight = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for a, b in pairwise(kinks):
        angle = torch.from_numpy((a + b) / 2 + (b - a) / 2 * x)
        ray = torch.stack([angle.cos(), angle.sin()], dim=-1)
        xi = torch.relu(ray @ w) - (1 - lam) * torch.relu(ray @ v)
        xi = xi - lam * torch.relu(ray @ u)
        total += (b - a) / 2 * float(weight @ xi.square().numpy())
    return total / math.pi  # E ‖x‖² = 2, over 2π


def worst_chord_deviation(beta: float) -> float:
    """The largest ‖ξ(λ; ·)‖ over λ and over all u, v with ``|u − f|, |v − f| <= β |f|``, divided by ``|f|``; ReLU.

    It is taken at λ = ½ and, for ‖f‖ = 1, u, v = D f ± a e with a unit vector e orthogonal to f and a² + (1 − D)² = β²,
    where E ξ² = ((a² + D²) arctan(a/D) − a D)/(2π). What remains is a maximum over one number.

    Parameters
    ----------
    beta : float
        β >= 0; the paper has β < 1, which is not needed.

    Returns
    -------
    float
        between 0.97 and 1 times :func:`relu_bound` for β <= 1.

    Examples
    --------
    >>> round(worst_chord_deviation(0.01) / relu_bound(0.01), 5), round(worst_chord_deviation(1.0) / relu_bound(1.0), 5)
    (1.0, 0.98392)
    """
    _check_beta(beta)
    if beta == 0:
        return 0.0

    def square(t: torch.Tensor) -> torch.Tensor:  # D = 1 − βt, a = β √(1 − t²); divided by β³
        D, a = 1 - beta * t, beta * (1 - t * t).clamp(min=0).sqrt()
        return (a * a + D * D) * circular_segment(torch.atan2(a, D)) / (2 * math.pi * beta**3)

    low, high = -1.0, min(1.0, 1 / beta)
    for _ in range(12):  # shrinks the bracket by 20 each time; the maximum is flat
        t = torch.linspace(low, high, 81, dtype=torch.float64)
        values = square(t)
        best = int(values.argmax())
        low, high = t[max(best - 2, 0)].item(), t[min(best + 2, 80)].item()
    return math.sqrt(values[best].item() * beta**3)


def search_worst_pair(beta: float, seed: int, rounds: int = 120) -> float:
    """The largest ``‖ξ(λ; ·)‖`` that a random search finds over λ and u, v within β of a unit vector f of R³; ReLU.

    Eight searches, each of which moves to the best of 100 perturbed triples (u, v, λ) and shrinks the perturbation.

    Parameters
    ----------
    beta : float
        β >= 0, with ``‖u − f‖, ‖v − f‖ <= β``.
    seed : int
        of the perturbations, in [0, 2³²).
    rounds : int
        moves of each search, at least 1.

    Returns
    -------
    float
        at most :func:`worst_chord_deviation`, and near it after 120 rounds.

    Examples
    --------
    >>> round(search_worst_pair(0.5, seed=1) / worst_chord_deviation(0.5), 6)
    1.0
    """
    _check_beta(beta)
    if rounds < 1:
        raise ValueError(f"rounds = {rounds}; allowed: rounds >= 1")
    generator = torch_generator(seed, f"search {beta}")
    searches, children = 8, 100
    f = torch.tensor([1.0, 0.0, 0.0], dtype=torch.float64)

    def admissible(z: torch.Tensor) -> torch.Tensor:  # (v − f)/β, (u − f)/β and λ in one row
        a, b, lam = z[..., :3], z[..., 3:6], z[..., 6:].clamp(0, 1)
        return torch.cat([x / x.norm(dim=-1, keepdim=True).clamp(min=1) for x in (a, b)] + [lam], dim=-1)

    def square(z: torch.Tensor) -> torch.Tensor:
        return chord_deviation(f + beta * z[..., 3:6], f + beta * z[..., :3], z[..., 6])

    z = torch.randn(searches, 7, dtype=torch.float64, generator=generator)
    z[:, 6] = torch.rand(searches, dtype=torch.float64, generator=generator)
    z, radius = admissible(z), 1.0
    for _ in range(rounds):
        noise = torch.randn(searches, children, 7, dtype=torch.float64, generator=generator)
        noise[:, 0] = 0  # a search may stay
        tried = admissible(z[:, None] + radius * noise)
        z = tried[torch.arange(searches), square(tried).argmax(dim=1)]
        radius *= 0.88
    return square(z).max().sqrt().item()


def relu_bound(beta: float) -> float:
    """The sharp form of Thm 5.1: ``‖ξ_H(λ; ·)‖ <= β^(3/2)/√(3π) · ‖F Σ^(1/2)‖_F`` for all λ and β >= 0.

    Parameters
    ----------
    beta : float
        β >= 0.

    Returns
    -------
    float
        β^(3/2)/√(3π).

    Examples
    --------
    >>> round(relu_bound(1.0), 6)
    0.325735
    """
    return beta**1.5 / math.sqrt(3 * math.pi)


def printed_relu_bound(beta: float) -> float:
    """The constant that the proof of Thm 5.1 ends with, eq. (226): √(2π²/3) (1 + β) β^(3/2).

    Parameters
    ----------
    beta : float
        β >= 0.

    Returns
    -------
    float
        the factor of ``‖F Σ^(1/2)‖_F``.

    Examples
    --------
    >>> round(printed_relu_bound(1e-9) / relu_bound(1e-9), 4) == round(math.sqrt(2 * math.pi**3), 4)
    True
    """
    return math.sqrt(2 * math.pi**2 / 3) * (1 + beta) * beta**1.5


def _activation(name: str) -> tuple[Callable[[torch.Tensor], torch.Tensor], float]:
    if name not in SMOOTH_ACTIVATIONS:
        raise ValueError(f"activation = {name!r} is unknown; allowed: {', '.join(SMOOTH_ACTIVATIONS)}")
    return SMOOTH_ACTIVATIONS[name]


def smooth_deviation(
    u: torch.Tensor, v: torch.Tensor, lam: torch.Tensor | float, activation: str, nodes: int = 60
) -> torch.Tensor:
    """E ξ(λ; x)² for a smooth activation and standard Gaussian inputs, by Gauss–Hermite rules in the plane of u and v.

    Parameters
    ----------
    u, v : torch.Tensor
        effective weights at both ends, (..., d).
    lam : float or torch.Tensor
        λ in [0, 1], a number or (...); λ = 1 is u.
    activation : str
        a key of ``SMOOTH_ACTIVATIONS``.
    nodes : int
        nodes in each direction; 60 give ten digits while ``|u|`` and ``|v|`` are at most about 1.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    For small weights softplus is quadratic, ξ ≈ −λ(1−λ) ((u−v)·x)²/8, and E ξ² ≈ 3 ‖u−v‖⁴/1024 in the middle.

    >>> u = torch.tensor([1e-2, 0.0], dtype=torch.float64)
    >>> round(smooth_deviation(u, -u, 0.5, "softplus").item() / (3 * 0.02**4 / 1024), 3)
    1.0
    """
    eta, _ = _activation(activation)
    lam = _places(u, v, lam)
    x, weight = (torch.from_numpy(a) for a in np.polynomial.hermite_e.hermegauss(nodes))
    weight = weight / weight.sum()
    across = u - v  # coordinates along and across v of u − v, so that nothing cancels
    length = torch.linalg.vector_norm(v, dim=-1)
    unit = v / torch.where(length > 0, length, 1)[..., None]
    along = torch.where(length > 0, (across * unit).sum(-1), 0)
    rest = torch.linalg.vector_norm(across - along[..., None] * unit, dim=-1)
    zv = length[..., None, None] * x[:, None]  # (..., nodes, 1)
    dz = along[..., None, None] * x[:, None] + rest[..., None, None] * x  # (..., nodes, nodes)
    s = lam[..., None, None]
    xi = eta(zv + s * dz) - (1 - s) * eta(zv) - s * eta(zv + dz)
    return (xi.square() * weight[:, None] * weight).sum(dim=(-2, -1))


def smooth_bound(beta: float, sizes: torch.Tensor, activation: str) -> tuple[float, float]:
    """The bounds (244) and (232) of Thm D.1 on sup over λ of ‖ξ_H‖, from the sizes ``‖f_i‖_Σ``.

    Parameters
    ----------
    beta : float
        β >= 0.
    sizes : torch.Tensor
        ``‖f_i‖_Σ`` (m,).
    activation : str
        a key of ``SMOOTH_ACTIVATIONS``.

    Returns
    -------
    float, float
        (√3/2) L β² (Σ ‖f_i‖⁴)^(1/2) and (√3/2) L β² Σ ‖f_i‖², L = sup ``|η''|``; the second is larger.

    Examples
    --------
    >>> [round(b, 6) for b in smooth_bound(0.1, torch.ones(4), "softplus")]
    [0.00433, 0.00866]
    """
    _, curvature = _activation(activation)
    _check_beta(beta)
    scale = math.sqrt(3) / 2 * curvature * beta**2
    return scale * sizes.pow(4).sum().sqrt().item(), scale * sizes.square().sum().item()
