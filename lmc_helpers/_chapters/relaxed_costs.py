"""Realization costs with an approximation error allowed, for the chapter *relaxed costs* (Bürgin et al., App. E).

The relaxed cost of a function h for a neuron with rows f and d is

    inf_w { E (h(x) − η((f + d ⊙ w)ᵀx))² / β + ``‖w‖²`` }.                                             (254)

For h(x) = η(uᵀx) with an L-Lipschitz η it is at most the quadratic surrogate of Theorem E.4, which increases, as β → 0,
to the least ``‖w‖²`` with which the neuron computes the *linear* function uᵀx. That is the squared realization cost
where η(uᵀx) determines uᵀx (Assumption 4.1); where it does not, for a ReLU on non-negative inputs say, it is larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize, nnls

from lmc_helpers.identifiability import realization_cost

ZERO = 1e-13  # eigenvalues of Σ up to ZERO times the largest count as 0


@dataclass(frozen=True)
class Relaxed:
    """A value of the relaxed cost or of its surrogate, and the weight that attains it."""

    value: torch.Tensor  # (...)
    w: torch.Tensor  # (..., d)


def _spectrum(Sigma: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues in decreasing order, set to 0 below ZERO times the largest, and eigenvectors."""
    Sigma = Sigma.double()
    values, vectors = torch.linalg.eigh(Sigma)
    values, vectors = values.flip(0), vectors.flip(1)
    return torch.where(values > ZERO * values[0], values, 0), vectors


def tail_energy(Sigma: torch.Tensor) -> torch.Tensor:
    """Tail energies τ_0 … τ_d of eq. (247): the second moment outside the top k principal directions."""
    values, _ = _spectrum(Sigma)
    return torch.cat([values.flip(0).cumsum(0).flip(0), values.new_zeros(1)])


def quadratic_surrogate(
    u: torch.Tensor, f: torch.Tensor, d: torch.Tensor, Sigma: torch.Tensor, beta: float, lipschitz: float = 1.0
) -> Relaxed:
    """The minimum over w of the quadratic surrogate, eqs. (255) to (257), in closed form.

    With Σ = E xxᵀ, ρ = Σ^½ (u − f) and B = Σ^½ diag(d) it is ρᵀ (BBᵀ + (β/L²) I)⁻¹ ρ, which equals eq. (257) but does
    not subtract numbers of size 1/β.
    """
    u, f, d = (x.double() for x in (u, f, d))
    values, vectors = _spectrum(Sigma)
    root = values.sqrt()[:, None] * vectors.T  # rootᵀ root = Σ
    rho = ((u - f) @ root.T)[..., None]  # (..., d, 1)
    left, s, right = torch.linalg.svd(root * d[..., None, :])
    parts = (left.mT @ rho)[..., 0]
    ridge = beta / lipschitz**2
    value = (parts.square() / (s.square() + ridge)).sum(dim=-1)
    w = (right.mT @ (parts * s / (s.square() + ridge))[..., None])[..., 0]
    return Relaxed(value, w)


def ridgeless_limit(u: torch.Tensor, f: torch.Tensor, d: torch.Tensor, Sigma: torch.Tensor) -> torch.Tensor:
    """The limit β → 0 of the surrogate: the least ``‖w‖²`` with which the neuron computes uᵀx on the inputs' span.

    It is infinite unless ρ is in the image of B.
    """
    values, vectors = _spectrum(Sigma)
    U = vectors[:, values > 0]
    return realization_cost(u.double() @ U, f, d, U).square()


def relu_function_cost(u: torch.Tensor, f: torch.Tensor, d: torch.Tensor, X: torch.Tensor) -> Relaxed:
    """Squared realization cost of ReLU(uᵀx) on given inputs by its definition, eq. (8), without Assumption 4.1."""
    u, f, d, X = (x.double() for x in (u, f, d, X))
    n = X.shape[-1]
    active = X @ u > 0
    on, off = X[active] * d, X[~active] * d
    target = X[active] @ (u - f)
    G = torch.cat([on, -on, -off]).numpy()  # (2·active + inactive, d)
    h = torch.cat([target, -target, X[~active] @ f]).numpy()
    E, last = np.concatenate([G.T, h[None]]), np.eye(n + 1)[-1]
    r = E @ nnls(E, last, maxiter=100 * len(h) + 1000)[0] - last
    if -r[-1] < 1e-10:
        return Relaxed(torch.tensor(math.inf, dtype=torch.float64), torch.full((n,), math.nan, dtype=torch.float64))
    w = torch.tensor(-r[:-1] / r[-1]) + 0.0
    return Relaxed(w.square().sum(), w)


def relaxed_objective(
    w: torch.Tensor,
    h: torch.Tensor,
    X: torch.Tensor,
    f: torch.Tensor,
    d: torch.Tensor,
    beta: float,
    activation: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """The braces of eq. (254), E (h(x) − η((f + d ⊙ w)ᵀx))²/β + ``‖w‖²``, over given inputs."""
    return (h - activation((f + d * w) @ X.T)).square().mean(dim=-1) / beta + w.square().sum(dim=-1)


def relaxed_cost(
    h: torch.Tensor,
    X: torch.Tensor,
    f: torch.Tensor,
    d: torch.Tensor,
    beta: float,
    activation: Callable[[torch.Tensor], torch.Tensor],
    starts: torch.Tensor,
) -> Relaxed:
    """Relaxed realization cost of eq. (254) over given inputs by direct minimisation (L-BFGS from every start)."""
    h, X, f, d, starts = (x.double() for x in (h, X, f, d, starts))

    def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
        point = torch.tensor(w, requires_grad=True)
        value = beta * relaxed_objective(point, h, X, f, d, beta, activation)  # of the size of h²
        (slope,) = torch.autograd.grad(value, point)
        return value.item(), slope.numpy()

    runs = [
        minimize(
            objective, w.numpy(), jac=True, method="L-BFGS-B", options={"ftol": 1e-16, "gtol": 1e-14, "maxiter": 5000}
        )
        for w in starts
    ]
    points = torch.tensor(np.array([run.x for run in runs]))
    values = relaxed_objective(points, h, X, f, d, beta, activation)
    best = int(values.argmin())
    return Relaxed(values[best], points[best])
