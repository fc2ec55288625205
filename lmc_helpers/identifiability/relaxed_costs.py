"""Realization costs with an approximation error allowed (Bürgin et al., App. E).

The relaxed cost of a function h for a neuron with rows f and d, eq. (254), is

    inf_w { E (h(x) − η((f + d ⊙ w)ᵀx))² / β + ``‖w‖²`` }.

For h(x) = η(uᵀx) with an L-Lipschitz η it is at most the quadratic surrogate of Theorem E.4. With Σ = E xxᵀ, ρ = Σ^½
(u − f) and B = Σ^½ diag(d) the surrogate is ρᵀ (BBᵀ + (β/L²) I)⁻¹ ρ, which equals eq. (257) but does not subtract
numbers of size 1/β. As β → 0 it increases to the least ``‖w‖²`` with which the neuron computes the *linear* function
uᵀx, infinite unless ρ is in the image of B. That is the squared realization cost where η(uᵀx) determines uᵀx
(Assumption 4.1); where it does not, for a ReLU on non-negative inputs say, it is larger (:func:`relu_function_cost`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import minimize, nnls

from lmc_helpers.identifiability.costs import realization_cost

__all__ = [
    "Relaxed",
    "quadratic_surrogate",
    "relaxed_cost",
    "relaxed_objective",
    "relu_function_cost",
    "ridgeless_limit",
    "tail_energy",
]

ZERO = 1e-13  # eigenvalues of Σ up to ZERO times the largest count as 0


@dataclass(frozen=True)
class Relaxed:
    """A value of the relaxed cost or of its surrogate, and the weight that attains it.

    Attributes
    ----------
    value : torch.Tensor
        (...).
    w : torch.Tensor
        (..., d).
    """

    value: torch.Tensor
    w: torch.Tensor


def _spectrum(Sigma: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Eigenvalues in decreasing order, rounded to 0 where they are rounding, and eigenvectors."""
    Sigma = Sigma.double()
    if Sigma.ndim != 2 or Sigma.shape[0] != Sigma.shape[1] or not Sigma.isfinite().all():
        raise ValueError(f"Sigma has shape {tuple(Sigma.shape)}; allowed: (d, d) with finite entries")
    if not torch.allclose(Sigma, Sigma.T, rtol=1e-10, atol=1e-12 * float(Sigma.abs().max())):
        raise ValueError("Sigma is not symmetric; allowed: a second moment E xxᵀ")
    values, vectors = torch.linalg.eigh(Sigma)
    values, vectors = values.flip(0), vectors.flip(1)
    if values[-1] < -1e-10 * values.abs().max():
        raise ValueError(f"Sigma has the eigenvalue {values[-1].item():.3g}; allowed: none below 0")
    return torch.where(values > ZERO * values[0], values, 0), vectors


def _check_price(beta: float, lipschitz: float) -> None:
    if not (math.isfinite(beta) and beta > 0):
        raise ValueError(f"beta = {beta}; allowed: a finite number > 0")
    if not (math.isfinite(lipschitz) and lipschitz > 0):
        raise ValueError(f"lipschitz = {lipschitz}; allowed: a finite number > 0")


def tail_energy(Sigma: torch.Tensor) -> torch.Tensor:
    """Tail energies τ_0 … τ_d of eq. (247): what the top k principal directions leave of the second moment.

    Parameters
    ----------
    Sigma : torch.Tensor
        second moment E xxᵀ (d, d), not centred.

    Returns
    -------
    torch.Tensor
        (d + 1,), from the trace to 0.

    Examples
    --------
    >>> tail_energy(torch.diag(torch.tensor([1.0, 4.0]))).tolist()
    [5.0, 1.0, 0.0]
    """
    values, _ = _spectrum(Sigma)
    return torch.cat([values.flip(0).cumsum(0).flip(0), values.new_zeros(1)])


def quadratic_surrogate(
    u: torch.Tensor, f: torch.Tensor, d: torch.Tensor, Sigma: torch.Tensor, beta: float, lipschitz: float = 1.0
) -> Relaxed:
    """The minimum over w of the quadratic surrogate, eqs. (255) to (257), in closed form.

    Parameters
    ----------
    u : torch.Tensor
        target weights (..., d), h(x) = η(uᵀx).
    f, d : torch.Tensor
        the neuron's rows (..., d) of F and D.
    Sigma : torch.Tensor
        second moment (d, d) of the inputs.
    beta : float
        price of the approximation error is 1/β, β > 0.
    lipschitz : float
        Lipschitz constant L of η, L > 0.

    Returns
    -------
    Relaxed
        value (...) and minimiser (..., d).

    Examples
    --------
    One input of unit variance: min_w (2 − w)²/β + w² = 4/(1 + β) at w = 2/(1 + β).

    >>> one = torch.ones(1)
    >>> best = quadratic_surrogate(2 * one, 0 * one, one, torch.eye(1), beta=1.0)
    >>> best.value.item(), best.w.item()
    (2.0, 1.0)
    """
    _check_price(beta, lipschitz)
    u, f, d = (x.double() for x in (u, f, d))
    if not all(x.isfinite().all() and x.shape[-1] == Sigma.shape[0] for x in (u, f, d)):
        raise ValueError(f"rows u, f, d; allowed: {Sigma.shape[0]} finite entries each")
    values, vectors = _spectrum(Sigma)
    root = values.sqrt()[:, None] * vectors.T  # rootᵀ root = Σ
    rho = ((u - f) @ root.T)[..., None]  # (..., d, 1)
    left, s, right = torch.linalg.svd(root * d[..., None, :])
    parts = (left.mT @ rho)[..., 0]
    price = beta / lipschitz**2
    value = (parts.square() / (s.square() + price)).sum(dim=-1)
    w = (right.mT @ (parts * s / (s.square() + price))[..., None])[..., 0]
    return Relaxed(value, w)


def ridgeless_limit(u: torch.Tensor, f: torch.Tensor, d: torch.Tensor, Sigma: torch.Tensor) -> torch.Tensor:
    """The limit β → 0 of the surrogate: the least ``‖w‖²`` with which the neuron computes uᵀx on the inputs' span.

    It is the squared realization cost of η(uᵀx), the limit of Thm E.5, where Assumption 4.1 holds, and above it else.

    Parameters and errors are those of :func:`quadratic_surrogate`.

    Returns
    -------
    torch.Tensor
        (...), float64, infinite outside the class.

    Examples
    --------
    The second neuron cannot read the second input.

    >>> u, f, d = torch.tensor([1.0, 1.0]), torch.zeros(2), torch.tensor([[0.5, 1.0], [1.0, 0.0]])
    >>> [round(x, 9) for x in ridgeless_limit(u, f, d, torch.eye(2)).tolist()]
    [5.0, inf]
    """
    values, vectors = _spectrum(Sigma)
    U = vectors[:, values > 0]
    return realization_cost(u.double() @ U, f, d, U).square()


def relu_function_cost(u: torch.Tensor, f: torch.Tensor, d: torch.Tensor, X: torch.Tensor) -> Relaxed:
    """Squared realization cost of ReLU(uᵀx) on given inputs by its definition, eq. (8), without Assumption 4.1.

    The neuron has the function if and only if (f + d ⊙ w)·x = u·x where u·x > 0, and <= 0 at the other inputs. The
    least ``‖w‖`` under these constraints, G w >= h, is a least-distance problem: with y >= 0 that brings E y nearest to
    e, E = (Gᵀ; hᵀ), e the last unit vector, and r = E y − e, it is w = −r/r_last (Lawson and Hanson).

    Parameters
    ----------
    u, f, d : torch.Tensor
        target weights and the neuron's rows of F and D, (d,).
    X : torch.Tensor
        inputs (n, d).

    Returns
    -------
    Relaxed
        the squared cost () and its weight (d,); ∞ and NaN where the neuron cannot have the function.

    Examples
    --------
    On positive inputs the function 0 costs nothing, whatever u is that has it:

    >>> one = torch.ones(1)
    >>> relu_function_cost(-one, 0 * one, one, torch.tensor([[1.0], [2.0]])).value.item()
    0.0
    """
    u, f, d, X = (x.double() for x in (u, f, d, X))
    n = X.shape[-1]
    if X.ndim != 2 or not u.shape == f.shape == d.shape == (n,):
        shapes = ", ".join(str(tuple(x.shape)) for x in (u, f, d, X))
        raise ValueError(f"u, f, d, X have shapes {shapes}; allowed: (d,), (d,), (d,), (n, d)")
    if not all(x.isfinite().all() for x in (u, f, d, X)):
        raise ValueError("an entry is not finite; allowed: finite numbers")
    active = X @ u > 0
    on, off = X[active] * d, X[~active] * d
    goal = X[active] @ (u - f)
    G = torch.cat([on, -on, -off]).numpy()  # (2·active + others, d)
    h = torch.cat([goal, -goal, X[~active] @ f]).numpy()
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
    """The braces of eq. (254), E (h(x) − η((f + d ⊙ w)ᵀx))²/β + ``‖w‖²``, over given inputs.

    Parameters
    ----------
    w : torch.Tensor
        weights (..., d).
    h, X, f, d, beta, activation
        as in :func:`relaxed_cost`.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> one = torch.ones(1)
    >>> relaxed_objective(one, 2 * one, one[None], 0 * one, one, beta=0.5, activation=torch.relu).item()
    3.0
    """
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
    """Relaxed realization cost of eq. (254) over given inputs by direct minimisation (L-BFGS from every start).

    The problem is not convex for nonlinear η, so that the value is an upper bound of the infimum.

    Parameters
    ----------
    h : torch.Tensor
        target values (n,).
    X : torch.Tensor
        inputs (n, d).
    f, d : torch.Tensor
        the neuron's rows (d,) of F and D.
    beta : float
        price of the approximation error is 1/β, β > 0.
    activation : callable
        η, on tensors.
    starts : torch.Tensor
        weights (number, d) to start from.

    Returns
    -------
    Relaxed
        the best value () and its weight (d,).

    Examples
    --------
    >>> X, one = torch.tensor([[1.0], [-1.0]]).double(), torch.ones(1).double()
    >>> best = relaxed_cost(2 * X[:, 0], X, 0 * one, one, 1.0, lambda s: s, starts=one[None])
    >>> round(best.value.item(), 9), round(best.w.item(), 6)
    (2.0, 1.0)
    """
    _check_price(beta, 1.0)
    h, X, f, d, starts = (x.double() for x in (h, X, f, d, starts))
    n = X.shape[1]
    if h.shape != X.shape[:1] or f.shape != (n,) or d.shape != (n,) or starts.ndim != 2 or starts.shape[1] != n:
        shapes = ", ".join(str(tuple(x.shape)) for x in (h, X, f, d, starts))
        raise ValueError(f"h, X, f, d, starts have shapes {shapes}; allowed: (n,), (n, d), (d,), (d,), (number, d)")
    if not all(x.isfinite().all() for x in (h, X, f, d, starts)):
        raise ValueError("an entry is not finite; allowed: finite numbers")

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
