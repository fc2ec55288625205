"""Swap costs from relaxed realization costs: ridge regression on outputs, not a subspace (Bürgin et al., App. E, F.7).

Neuron i computes η(α_i (f_i + d_i ⊙ w)ᵀx + γ_i), where α_i, γ_i hold its bias and its fixed batch norm, or are 1 and
0. The relaxed cost of a function h for it, eq. (254), is the least E (h(x) − …)²/β + ``‖w‖²`` over w. Inputs enter
through z = Uᵀx, U an orthonormal basis of their span, and w through M_i w, M_i = Uᵀ diag(d_i). So the minimiser lies
in the row space of M_i: with S_i = M_i M_iᵀ = EΛEᵀ (Λ of full rank), w = M_iᵀ EΛ^(−½) c and

    ``φ(c) = E (h − η(α_i (v_i + EΛ^½ c)ᵀz + γ_i))²/β + ‖c‖²``

has the same minimum, with k unknowns instead of d. All problems are solved at once by the Levenberg–Marquardt method.

The functions compute U from the inputs X; unlike the costs of
:mod:`~lmc_helpers.identifiability.costs` they do not suppose a low-dimensional subspace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float64, Int64, Real
from torch import Tensor

from lmc_helpers._typing import PositiveNumber, checked, require_finite, returned
from lmc_helpers.identifiability.input_subspace import pca_basis

__all__ = ["ridge_swaps"]

CUT = 1e-10  # eigenvalues of S_i up to CUT times the largest are 0
ROUNDS, TOLERANCE = 100, 1e-6


@dataclass(frozen=True)
class _Ridge:
    """Relaxed costs of B problems, (B,) each."""

    value: Tensor  # least value of the objective
    norm: Tensor  # its part ``‖w‖²``
    gradient: Tensor  # norm of the remaining gradient


def ridge_costs(
    F: Tensor,
    D: Tensor,
    W: Tensor,
    X: Tensor,
    problems: Tensor,
    beta: float,
    activation: Callable[[Tensor], Tensor],
    scale: Tensor | None = None,
    shift: Tensor | None = None,
) -> _Ridge:
    """Relaxed cost of the function of neuron j for neuron i, for a list of (i, j).

    The objective is not convex. Each problem starts from neuron i's present weight and from the least weight with which
    its preactivation is nearest to that of neuron j; the better result is an upper bound of the infimum.

    The arguments are those of :func:`ridge_swaps`.
    """
    F, D, W, X = (t.double() for t in (F, D, W, X))
    m = len(F)
    require_finite(F=F, D=D, W=W, scale=F if scale is None else scale, shift=F if shift is None else shift)
    if ((problems < 0) | (problems >= m)).any():
        raise ValueError(f"problems names neurons {problems.min()} to {problems.max()}; allowed: 0 to {m - 1}")
    alpha = torch.ones(m).double() if scale is None else scale.double()
    gamma = torch.zeros(m).double() if shift is None else shift.double()
    i, j = problems.T
    U = pca_basis(X, explained=1.0)
    Z = X @ U  # (n, k)
    v, a = F @ U, (F + D * W) @ U
    target = alpha[j, None] * (a[j] @ Z.T) + gamma[j, None]  # (B, n)
    target = returned("the activation", activation(target), target.shape)
    require_finite(activation=target)

    M = U.T * D[:, None, :]  # (m, k, d)
    values, vectors = torch.linalg.eigh(M @ M.mT)
    keep = values > CUT * values[:, -1:]
    root = vectors * torch.where(keep, values, 0).sqrt()[:, None, :]  # EΛ^½, (m, k, k)
    inverse = (vectors * torch.where(keep, values, 1).rsqrt()[:, None, :] * keep[:, None, :]).mT  # Λ^(−½)Eᵀ
    # α_i a = α_j a_j; the shifts are not matched
    matched = torch.where(alpha[i] == 0, 0, alpha[j] / alpha[i])[:, None] * a[j]

    def least(B: Tensor, point: Tensor) -> tuple[Tensor, ...]:
        """From the weights with v_i + M_i w = point, for some of the problems."""
        k = i[B]
        start = (inverse[k] @ (point[B] - v[k])[..., None])[..., 0]
        return _minimise(start, Z, v[k], root[k], target[B], beta, activation, alpha[k], gamma[k])

    c, value, gradient = least(torch.arange(len(i)), a[i])
    other = (i != j).nonzero()[:, 0]  # else both starts are one
    again = least(other, matched)
    better = again[1] < value[other]
    for ends, found in zip((c, value, gradient), again, strict=True):
        ends[other[better]] = found[better]
    return _Ridge(value, c.square().sum(dim=1), gradient)


@checked
def ridge_swaps(
    F: Real[Tensor, "m d"],
    D: Real[Tensor, "m d"],
    W: Real[Tensor, "m d"],
    X: Real[Tensor, "n d"],
    pairs: Int64[Tensor, "B 2"],
    beta: PositiveNumber,
    activation: Callable[[Tensor], Tensor],
    scale: Real[Tensor, " m"] | None = None,
    shift: Real[Tensor, " m"] | None = None,
) -> tuple[Float64[Tensor, " B"], Float64[Tensor, " B"]]:
    """Swap costs T_ij + T_ji − T_ii − T_jj with relaxed costs T, for pairs of neurons.

    They come from the values of eq. (254), and from their parts ``‖w‖²`` alone. X are inputs, ``beta`` is β,
    ``activation`` η, elementwise on tensors and differentiable, ``scale`` and ``shift`` are α and γ, 1 and 0 if not
    given.
    """
    first, second = pairs.T
    orders = ((first, second), (second, first), (first, first), (second, second))
    problems = torch.cat([torch.stack(order, dim=1) for order in orders])
    costs = ridge_costs(F, D, W, X, problems, beta, activation, scale, shift)
    T, norms = costs.value.view(4, -1), costs.norm.view(4, -1)
    return T[0] + T[1] - T[2] - T[3], norms[0] + norms[1] - norms[2] - norms[3]


def _minimise(c, Z, v, root, target, beta, activation, alpha, gamma):
    """Levenberg–Marquardt from c (B, k) for all problems at once: minimisers, values and gradient norms."""
    weight = 1 / (len(Z) * beta)
    eye = torch.eye(c.shape[1], dtype=c.dtype)
    ends, values, sizes = c.clone(), torch.zeros_like(alpha), torch.zeros_like(alpha)
    active = torch.arange(len(c))
    features = Z @ root  # (B, n, k): the preactivation is linear in c
    start = (Z @ v[..., None])[..., 0]  # (B, n)

    def state(c, features, start, target, alpha, gamma):
        s = (alpha[:, None] * (start + (features @ c[..., None])[..., 0]) + gamma[:, None]).requires_grad_()
        with torch.enable_grad():
            out = activation(s)
            (slope,) = torch.autograd.grad(out.sum(), s)
        miss = (out - target).detach()
        return weight * miss.square().sum(dim=1) + c.square().sum(dim=1), miss, slope * alpha[:, None]

    data = [features, start, target, alpha, gamma]
    value, miss, slope = state(c, *data)
    damping = torch.full_like(value, 1e-3)
    for step in range(ROUNDS):
        J = slope[..., None] * data[0]
        gradient = weight * (J.mT @ miss[..., None])[..., 0] + c
        size = torch.linalg.vector_norm(gradient, dim=1) / (1 + torch.linalg.vector_norm(c, dim=1))
        ends[active], values[active], sizes[active] = c, value, size
        going = (size > TOLERANCE) & (damping < 1e10)
        if not going.any() or step == ROUNDS - 1:
            break
        if not going.all():
            active, c, value, miss, slope, damping, J, gradient, *data = (
                t[going] for t in (active, c, value, miss, slope, damping, J, gradient, *data)
            )
        A = weight * (J.mT @ J) + eye
        A = A + damping[:, None, None] * (A.diagonal(dim1=1, dim2=2)[:, :, None] * eye)
        trial = c - torch.linalg.solve(A, gradient)
        new, new_miss, new_slope = state(trial, *data)
        good = new < value
        c, miss, slope = (
            torch.where(good[:, None], q, p) for p, q in ((c, trial), (miss, new_miss), (slope, new_slope))
        )
        value = torch.where(good, new, value)
        damping = torch.where(good, damping / 5, damping * 4).clamp(min=1e-14)
    return ends, values, sizes
