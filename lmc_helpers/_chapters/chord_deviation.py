"""Chord deviations in closed form and of trained pairs, for the chapter *chord deviation*.

Bürgin et al., section 5 and App. D. For Gaussian inputs and one neuron with effective weights u, v and
w = λu + (1 − λ)v the deviation

    ξ(λ; x) = η(w·x) − λ η(u·x) − (1 − λ) η(v·x)                                                    (30)

depends only on the plane of u and v. λ = 1 is the first end, u; the paper's λ is our 1 − λ. Inputs are standard: for a
covariance Σ multiply the weights by its root first (:func:`in_standard_coordinates`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch

from lmc_helpers.barrier import check_lambdas
from lmc_helpers.seeds import torch_generator


@dataclass(frozen=True)
class Checkpoint:
    """The weights of both networks of n pairs after some steps."""

    step: int
    W: torch.Tensor  # (n, 2, m, d)
    A: torch.Tensor  # (n, 2, classes, m)


@dataclass(frozen=True)
class ChordPairs:
    """n trained pairs; both networks of a pair share F and D."""

    F: torch.Tensor  # (n, 1, m, d)
    D: torch.Tensor  # (n, 1, m, d)
    checkpoints: list[Checkpoint]

    def outputs(self, W: torch.Tensor, A: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """z = A ReLU((F + D ⊙ W) x), (n, 2, N, classes), of inputs x (N, d)."""
        return torch.relu(x @ (self.F + self.D * W).mT) @ A.mT


def cross_entropy(z: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy, the mean over examples."""
    return (z.logsumexp(-1) - z[..., torch.arange(len(labels)), labels]).mean(-1)


def train_pairs(
    images: torch.Tensor,
    labels: torch.Tensor,
    *,
    scales: Sequence[float],
    networks: int,
    hidden: int,
    fixed: int,
    steps: int,
    seed: int,
) -> ChordPairs:
    """Train ``networks`` pairs (Prop. 5.2) for each scale σ_F, all at once.

    Each row of F has a fixed number of entries σ_F N(0, 1) at uniform positions, where D is 0. W and A of both networks
    start from independent numbers and are trained with AdamW; all pairs see the same batches.
    """
    d, n = images.shape[1], len(scales) * networks
    generator = torch_generator(seed, "networks")

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    mask = normal(n, 1, hidden, d).argsort(dim=-1) < fixed
    scale = torch.tensor(scales).double().repeat_interleave(networks)
    F = scale[:, None, None, None] * mask * normal(n, 1, hidden, d)
    W = (normal(n, 2, hidden, d) / 8).requires_grad_()
    A = (normal(n, 2, 10, hidden) / 8).requires_grad_()
    pairs = ChordPairs(F, (~mask).double(), [])
    optimiser = torch.optim.AdamW([W, A], lr=0.01, weight_decay=0.01)
    stored = {0, steps // 15, steps // 5, steps // 2, steps}
    for step in range(steps + 1):
        if step in stored:
            pairs.checkpoints.append(Checkpoint(step, W.detach().clone(), A.detach().clone()))
        batch = torch.randint(len(images), (256,), generator=generator)
        loss = cross_entropy(pairs.outputs(W, A, images[batch]), labels[batch]).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return pairs


#: Smooth activations η of Thm D.1, each with the supremum of the absolute value of η''.
SMOOTH_ACTIVATIONS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], float]] = {
    "tanh": (torch.tanh, 4 / (3 * math.sqrt(3))),
    "softplus": (lambda z: torch.nn.functional.softplus(z, threshold=40), 1 / 4),
    "sigmoid": (torch.sigmoid, 1 / (6 * math.sqrt(3))),
    "gelu": (torch.nn.functional.gelu, math.sqrt(2 / math.pi)),
}


def circular_segment(theta: torch.Tensor) -> torch.Tensor:
    """g(θ) = θ − sin θ cos θ, twice the area of a circular segment, without cancellation at small angles."""
    t2 = (2 * theta).square()
    series = 1.0 - t2 / 20 * (1 - t2 / 42 * (1 - t2 / 72 * (1 - t2 / 110 * (1 - t2 / 156))))  # (t − sin t)/(t³/6)
    return torch.where(theta < 0.3, 2 * theta.pow(3) / 3 * series, theta - theta.sin() * theta.cos())


def in_standard_coordinates(weights: torch.Tensor, covariance: torch.Tensor) -> torch.Tensor:
    """Rows W Σ^(1/2), so that W x with x ~ N(0, Σ) has the law of W Σ^(1/2) z with standard z."""
    values, vectors = torch.linalg.eigh(covariance)
    return weights @ (vectors * values.clamp(min=0).sqrt()) @ vectors.mT


def _lambdas(lam: torch.Tensor | float, dtype: torch.dtype) -> torch.Tensor:
    """λ as a tensor of any shape, each in [0, 1]."""
    lambdas = torch.as_tensor(lam, dtype=dtype)
    check_lambdas(lambdas.reshape(-1), dtype)
    return lambdas


def chord_deviation(u: torch.Tensor, v: torch.Tensor, lam: torch.Tensor | float) -> torch.Tensor:
    """E ξ(λ; x)² of eq. (30) for ReLU and standard Gaussian inputs, in closed form.

    It is (λ² ``‖u‖²`` g(θ₁) + (1 − λ)² ``‖v‖²`` g(θ₂))/π with the angles θ₁ between u and w and θ₂ between w and v, and
    g of :func:`circular_segment`.
    """
    lam = _lambdas(lam, u.dtype)
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

    In extended precision, where there is any: the angles between u, v and w, which bound the arcs, can be tiny.
    """
    check_lambdas([lam])
    ends = np.array([u.tolist(), v.tolist()], dtype=np.longdouble)
    share, pi = np.array([lam, 1 - np.longdouble(lam)]), np.arctan2(np.longdouble(0), np.longdouble(-1))
    w = share @ ends
    kinks = [np.arctan2(z[1], z[0]) + pi / 2 for z in (*ends, w)]
    kinks = sorted({(a + b) % (2 * pi) for a in kinks for b in (0, pi)})
    kinks.append(kinks[0] + 2 * pi)
    x, weight = np.polynomial.legendre.leggauss(12)
    total = np.longdouble(0)
    for a, b in pairwise(kinks):
        angle = (a + b) / 2 + (b - a) / 2 * x
        ray = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        xi = np.maximum(ray @ w, 0) - np.maximum(ray @ ends.T, 0) @ share
        total += (b - a) / 2 * (weight @ xi**2)
    return float(total / pi)  # E ‖x‖² = 2, over 2π


def worst_chord_deviation(beta: float) -> float:
    """The largest ‖ξ(λ; ·)‖ over λ and over all u, v with ``|u − f|, |v − f| <= β |f|``, divided by ``|f|``; ReLU.

    Its square is at most β³/(3π).
    """
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
    """The largest ``‖ξ(λ; ·)‖`` that a random search finds over λ and u, v within β of a unit vector f of R³; ReLU."""
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
        noise[:, 0] = 0  # keep the present point
        candidates = admissible(z[:, None] + radius * noise)
        z = candidates[torch.arange(searches), square(candidates).argmax(dim=1)]
        radius *= 0.88
    return square(z).max().sqrt().item()


def relu_bound(beta: float) -> float:
    """The sharp form of Thm 5.1: ``‖ξ_H(λ; ·)‖ <= β^(3/2)/√(3π) · ‖F Σ^(1/2)‖_F`` for all λ and β >= 0."""
    return beta**1.5 / math.sqrt(3 * math.pi)


def printed_relu_bound(beta: float) -> float:
    """The constant that the proof of Thm 5.1 ends with, eq. (226): √(2π²/3) (1 + β) β^(3/2)."""
    return math.sqrt(2 * math.pi**2 / 3) * (1 + beta) * beta**1.5


def smooth_deviation(
    u: torch.Tensor, v: torch.Tensor, lam: torch.Tensor | float, activation: str, nodes: int = 60
) -> torch.Tensor:
    """E ξ(λ; x)² for a smooth activation and standard Gaussian inputs, by Gauss–Hermite rules in the (u, v) plane."""
    eta, _ = SMOOTH_ACTIVATIONS[activation]
    lam = _lambdas(lam, u.dtype)
    x, weight = (torch.from_numpy(a) for a in np.polynomial.hermite_e.hermegauss(nodes))
    weight = weight / weight.sum()
    across = u - v  # its parts along v and normal to v, so that nothing cancels
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
    """The bounds (244) and (232) of Thm D.1 on sup over λ of ‖ξ_H‖, from the sizes ``‖f_i‖_Σ``."""
    _, curvature = SMOOTH_ACTIVATIONS[activation]
    scale = math.sqrt(3) / 2 * curvature * beta**2
    return scale * sizes.pow(4).sum().sqrt().item(), scale * sizes.square().sum().item()
