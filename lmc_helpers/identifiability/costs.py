"""What it costs neuron i to compute the function of neuron j (Bürgin et al., sections 4.1 to 4.3).

Neuron i has the centre v_i = Uᵀf_i and the map M_i = Uᵀ diag(d_i), and computes the function with coefficients a if
a = v_i + M_i w (:mod:`~lmc_helpers.identifiability.input_subspace`). The *realization cost* of that function is the
least ``‖w‖``,

    ``‖h_a‖_i² = (a − v_i)ᵀ S_i⁺ (a − v_i)``  if a − v_i is in the image of M_i, else ∞          (eqs. (8) to (10)),

with the Gram matrix S_i = M_i M_iᵀ, eq. (9), attained by w = M_i⁺(a − v_i), eq. (48). The squared costs T_ij of the
function of neuron j on neuron i decide everything: if each neuron i takes the function of neuron π(i), the cost changes
by

    Δ_π = Σ_i (T_iπ(i) − T_ii)                                                                    (eq. (14)),

for a swap by Δ_(ij), eq. (16).

A difference a − v counts as in the image if what is left of it after projection is at most RTOL times the larger of
``‖a‖`` and ``‖v‖``; singular values of M_i up to RTOL times the largest ``|d_i|`` count as 0.

The function of a ReLU neuron need not determine its coefficients a. On inputs c another weight a + n has the same
function if and only if n·c = 0 on the active inputs (a·c > 0) and (a + n)·c <= 0 on the others. If no input has a·c =
0, small multiples of any n that is orthogonal to the active inputs do: a is *determined* if and only if the active
inputs span the space.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.optimize import linprog

from lmc_helpers import expect
from lmc_helpers.identifiability.input_subspace import (
    RTOL,
    AsymmetricLayer,
    check_basis,
    neuron_slices,
    whiteners,
)

__all__ = [
    "cost_table",
    "determined",
    "least_norm_weight",
    "output_sensitivity",
    "realization_cost",
    "swap_costs",
    "twin_distance",
]

BOUNDARY = 1e-12  # abs(a·c) up to this fraction of ‖a‖‖c‖ counts as 0


def _least_norm(
    gap: torch.Tensor, scale: torch.Tensor, d: torch.Tensor, U: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """M⁺ gap (..., d), and whether gap (..., k) lies in the image of M = Uᵀ diag(d)."""
    M = U.mT * d[..., None, :]  # (..., k, d)
    left, s, right = torch.linalg.svd(M, full_matrices=False)
    keep = s > RTOL * d.abs().amax(dim=-1, keepdim=True)
    parts = (left.mT @ gap[..., None])[..., 0] * keep  # coordinates of gap in the image
    inside = torch.linalg.vector_norm(gap - (left @ parts[..., None])[..., 0], dim=-1) <= RTOL * scale
    return (right.mT @ (parts / torch.where(keep, s, 1))[..., None])[..., 0], inside


def _broadcast(
    a: torch.Tensor, f: torch.Tensor, d: torch.Tensor, U: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """a − v and its scale, and d and U with the same leading dimensions."""
    a, f, d, U = (x.double() for x in (a, f, d, U))
    check_basis(U, f, d)
    if a.shape[-1] != U.shape[-1] or not a.isfinite().all():
        raise ValueError(f"a has shape {tuple(a.shape)}; allowed: (..., {U.shape[-1]}) with finite entries")
    v = (U.mT @ f[..., None])[..., 0]
    gap = a - v
    scale = torch.maximum(torch.linalg.vector_norm(a, dim=-1), torch.linalg.vector_norm(v, dim=-1))
    lead = torch.broadcast_shapes(gap.shape[:-1], d.shape[:-1], U.shape[:-2])
    return gap.expand(*lead, -1), scale.expand(lead), d.expand(*lead, -1), U.expand(*lead, -1, -1)


def least_norm_weight(a: torch.Tensor, f: torch.Tensor, d: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """The least weight with which a neuron computes the function a, M⁺(a − v) of eq. (48).

    Parameters and errors are those of :func:`realization_cost`.

    Returns
    -------
    torch.Tensor
        (..., d), float64; NaN where the neuron cannot compute the function.

    Examples
    --------
    >>> least_norm_weight(torch.tensor([3.0]), torch.zeros(2), torch.tensor([1.0, 2.0]), torch.tensor([[0.6], [0.8]]))
    tensor([0.6164, 1.6438], dtype=torch.float64)
    """
    gap, scale, d, U = _broadcast(a, f, d, U)
    w, inside = _least_norm(gap, scale, d, U)
    return torch.where(inside[..., None], w, math.nan)


def realization_cost(a: torch.Tensor, f: torch.Tensor, d: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Realization cost of eq. (10): the norm, not its square, of the least weight; infinite outside the class.

    Parameters
    ----------
    a : torch.Tensor
        coefficients (..., k) of the function, a = Uᵀ w_eff.
    f, d : torch.Tensor
        the neuron's rows (..., d) of F and D.
    U : torch.Tensor
        orthonormal basis (..., d, k) of the inputs. Leading dimensions broadcast.

    Returns
    -------
    torch.Tensor
        (...), float64, in [0, ∞].

    Examples
    --------
    A neuron that sees only the first of two coordinates, at half strength. Its function reads that one, and then
    the other one, which is outside its class:

    >>> f, d, U = torch.zeros(2), torch.tensor([0.5, 0.0]), torch.eye(2)
    >>> realization_cost(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), f, d, U)
    tensor([6., inf], dtype=torch.float64)
    """
    expect.tensor(a, "a", "... k")
    expect.tensor(f, "f", "... d")
    expect.tensor(d, "d", "... d")
    expect.tensor(U, "U", "... d k")
    gap, scale, d, U = _broadcast(a, f, d, U)
    w, inside = _least_norm(gap, scale, d, U)
    return torch.where(inside, torch.linalg.vector_norm(w, dim=-1), math.inf)


def cost_table(F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Squared realization costs T_ij of the function of neuron j on neuron i, for all pairs at once.

    Parameters
    ----------
    F, D, W : torch.Tensor
        fixed part, multiplier and raw weights (..., m, d) of a layer.
    U : torch.Tensor
        orthonormal basis (d, k) of its inputs.

    Returns
    -------
    torch.Tensor
        (..., m, m), float64, infinite where neuron i cannot compute that function.

    Examples
    --------
    >>> F, D = torch.tensor([[0.0], [2.0]]), torch.tensor([[1.0], [0.5]])
    >>> cost_table(F, D, torch.tensor([[1.0], [1.0]]), torch.eye(1))
    tensor([[1.0000, 6.2500],
            [4.0000, 1.0000]], dtype=torch.float64)
    """
    layer = AsymmetricLayer(F, D, W, U)
    v, D, U = layer.centres, layer.D, layer.U
    a = v + layer.trained_parts
    size_a, size_v = (torch.linalg.vector_norm(x, dim=-1) for x in (a, v))
    rows = []
    for part in neuron_slices(D, U):
        B, deficient, off = whiteners(D[..., part, :], U)
        gap = a[..., None, :, :] - v[..., part, None, :]  # (..., c, m, k)
        table = (gap @ B.mT).square_().sum(dim=-1)
        if off is not None and deficient.any():
            left = torch.linalg.vector_norm(gap[deficient] @ off, dim=-1)
            scale = torch.maximum(size_a[..., None, :], size_v[..., part, None])[deficient]
            table[deficient] = torch.where(left <= RTOL * scale, table[deficient], math.inf)
        rows.append(table)
    return torch.cat(rows, dim=-2)


def output_sensitivity(table: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Δ_π of eq. (14) for permutations of the neurons: Σ_i (T_iπ(i) − T_ii).

    Parameters
    ----------
    table : torch.Tensor
        :func:`cost_table` of one layer, (m, m).
    p : torch.Tensor
        permutations (..., m); neuron i takes the function of neuron p[i].

    Returns
    -------
    torch.Tensor
        (...), infinite if a neuron would leave its class.

    Examples
    --------
    >>> table = torch.tensor([[1.0, 6.25], [4.0, 1.0]], dtype=torch.float64)
    >>> output_sensitivity(table, torch.tensor([[0, 1], [1, 0]]))
    tensor([0.0000, 8.2500], dtype=torch.float64)
    """
    m = table.shape[-1]
    order = torch.arange(m, device=table.device)
    if p.shape[-1] != m or not (p.sort(dim=-1).values == order).all():
        raise ValueError(f"p of shape {tuple(p.shape)} is not made of permutations of {m} neurons")
    change = table[order, p] - table.diagonal()
    return torch.where(p != order, change, 0).sum(dim=-1)


def swap_costs(F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Squared sensitivity Δ_(ij) to the exchange of neurons i and j, eq. (16), for all pairs; 0 on the diagonal.

    Parameters and errors are those of :func:`cost_table`; W is raw, D is applied inside. A pair that cannot exchange
    its functions has the cost ∞.

    Returns
    -------
    torch.Tensor
        (..., m, m), float64, symmetric; negative where the exchange makes the weights smaller.

    Examples
    --------
    Two neurons on one coordinate with centres 0 and 1 and weights 3 and −1 compute 3x and 0. Exchanged, they need the
    weights 0 and 2.

    >>> F, W = torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [-1.0]])
    >>> swap_costs(F, torch.ones(2, 1), W, torch.eye(1))
    tensor([[ 0., -6.],
            [-6.,  0.]], dtype=torch.float64)
    """
    expect.tensor(F, "F", "... m d")
    expect.tensor(D, "D", "... m d")
    expect.tensor(W, "W", "... m d")
    expect.tensor(U, "U", "... d k")
    table = cost_table(F, D, W, U)
    change = table - table.diagonal(dim1=-2, dim2=-1)[..., :, None]  # neuron i takes the function of neuron j
    swap = change + change.mT
    swap.diagonal(dim1=-2, dim2=-1).zero_()
    return swap


def _activity(a: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """Signs (..., n) of a·c; an input on a neuron's boundary is refused."""
    if a.shape[-1] != C.shape[-1] or C.ndim != 2:
        raise ValueError(f"a {tuple(a.shape)} and inputs {tuple(C.shape)}; allowed: (..., k) and (n, k)")
    if not (a.isfinite().all() and C.isfinite().all()):
        raise ValueError("an entry is not finite; allowed: finite numbers")
    s = a @ C.T
    size = torch.linalg.vector_norm(a, dim=-1)[..., None] * torch.linalg.vector_norm(C, dim=-1)
    if (s.abs() <= BOUNDARY * size).any():
        raise ValueError("an input is 0 or lies on a neuron's boundary, a·c = 0; allowed: a·c ≠ 0")
    return s


def determined(a: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """Whether no other weight has a ReLU neuron's function: the active inputs span the space.

    Parameters
    ----------
    a : torch.Tensor
        coefficients (..., k) of neurons.
    C : torch.Tensor
        inputs (n, k), none with a·c = 0.

    Returns
    -------
    torch.Tensor
        (...), bool.

    Examples
    --------
    On positive inputs a neuron with negative weights is dead, and so is every other one.

    >>> C = torch.tensor([[1.0, 2.0], [2.0, 1.0]])
    >>> determined(torch.tensor([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]), C).tolist()
    [True, False, False]
    """
    a, C = a.double(), C.double()
    active = (_activity(a, C) > 0).double()
    return torch.linalg.matrix_rank(active[..., None] * C, rtol=1e-10) == C.shape[-1]


def twin_distance(a: torch.Tensor, C: torch.Tensor) -> float:
    """How far a twin of a ReLU neuron, another weight a + n with its function, can lie in one coefficient, at most 1.

    The largest ``|n_j|`` is found by 2k linear programs over n with all ``|n_j| <= 1``. It is 0 if and only if the
    neuron is :func:`determined`.

    Parameters and errors are those of :func:`determined`, with a (k,).

    Returns
    -------
    float
        in [0, 1].

    Examples
    --------
    >>> twin_distance(torch.tensor([1.0, -0.9]), torch.tensor([[1.0, 2.0], [2.0, 1.0]])) > 0.5
    True
    """
    a, C = a.double(), C.double()
    s = _activity(a, C).numpy()
    inputs, active = C.numpy(), s > 0
    k = len(a)
    best = 0.0
    for j in range(k):
        for sign in (1.0, -1.0):
            goal = np.zeros(k)
            goal[j] = -sign
            found = linprog(
                goal,
                A_ub=inputs[~active] if (~active).any() else None,
                b_ub=-s[~active] if (~active).any() else None,
                A_eq=inputs[active] if active.any() else None,
                b_eq=np.zeros(active.sum()) if active.any() else None,
                bounds=[(-1.0, 1.0)] * k,
                method="highs",
            )
            best = max(best, -float(found.fun))
    return best
