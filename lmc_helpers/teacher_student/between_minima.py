"""The loss between two minima, by their structure (Zhan, Li & Wu, section 4).

A row of a minimum has at most one non-zero entry, so a row of λ W₁ + (1 − λ) W₂ has at most two. Rows that stay on
one axis add up to one row. The kernel of two rows that share no axis is κ(0)‖u‖‖v‖, which sums up to a product; only
pairs that share an axis need an arccosine. With the signed rows (student +, teacher −), norms ρ and signs s,

    L = κ(0) (Σ s_a ρ_a)² + Σ s_a s_b ρ_a ρ_b [κ(cos θ_ab) − κ(0)]   over pairs that share an axis.

At M = 500 and m = 5000 that is some thousand pairs instead of 5000².
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.matching import algorithm_1, permute
from lmc_helpers.teacher_student.population import kappa, population_loss


def _one_entry(W: torch.Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Axis (m,), −1 for a row 0, and entry (m,) of each row."""
    if W.ndim != 2:
        raise ValueError(f"{name} has shape {tuple(W.shape)}; allowed: (m, d)")
    W = W.detach().cpu().numpy()
    if not np.isfinite(W).all():
        raise ValueError(f"{name} holds values that are not finite; allowed: finite weights")
    many = np.flatnonzero((W != 0).sum(axis=1) > 1)
    if len(many) or (W < 0).any():
        row = many[0] if len(many) else np.flatnonzero((W < 0).any(axis=1))[0]
        raise ValueError(f"row {row} of {name} lies on no ray e_j; allowed: rows with one positive entry or none")
    axis = W.argmax(axis=1)
    entry = W[np.arange(len(W)), axis]
    return np.where(entry > 0, axis, -1), entry


def losses_between(W1: torch.Tensor, W2: torch.Tensor, M: int, lambdas=GRID) -> torch.Tensor:
    """L(λ W₁ + (1 − λ) W₂) for two matrices whose rows have one positive entry or none.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (m, d), for example minima; W2 already permuted.
    M : int
        teacher neurons, M <= d.
    lambdas : sequence of float
        points of [0, 1].

    Returns
    -------
    torch.Tensor
        (len(lambdas),), float64. Equals :func:`lmc_helpers.teacher_student.population.population_loss` up to rounding.

    Raises
    ------
    ValueError
        if a row has more than one entry or a negative one, shapes differ, M > d or a λ lies outside [0, 1].

    Examples
    --------
    Two students of two teachers, exchanged: halfway both rows are (½, ½).

    >>> W = torch.eye(2, dtype=torch.float64)
    >>> from lmc_helpers.teacher_student.population import population_loss
    >>> halfway = population_loss(torch.full((2, 2), 0.5, dtype=torch.float64), M=2)
    >>> torch.allclose(losses_between(W, W.flip(0), 2, [0.5])[0], halfway)
    True
    """
    lambdas = np.atleast_1d(np.asarray(lambdas, dtype=float))
    if W1.shape != W2.shape:
        raise ValueError(f"W1 and W2 have shapes {tuple(W1.shape)} and {tuple(W2.shape)}; allowed: equal shapes")
    if not ((lambdas >= 0) & (lambdas <= 1)).all():
        raise ValueError(f"lambda = {lambdas[~((lambdas >= 0) & (lambdas <= 1))][0]}; allowed: 0 <= lambda <= 1")
    (axis1, x1), (axis2, x2) = _one_entry(W1, "W1"), _one_entry(W2, "W2")
    d = W1.shape[1]
    if not 1 <= M <= d:
        raise ValueError(f"M = {M} teacher neurons in dimension d = {d}; allowed: 1 <= M <= d")
    single = (axis1 == axis2) | (axis1 < 0) | (axis2 < 0)
    on_axis = np.where(axis1 < 0, axis2, axis1)[single]  # −1 where both rows are 0
    sums = [np.bincount(on_axis[on_axis >= 0], x[single][on_axis >= 0], minlength=d) for x in (x1, x2)]
    teacher = (np.arange(d) < M).astype(float)
    pairs = (axis1[~single], x1[~single], axis2[~single], x2[~single])
    return torch.tensor([_loss(x, sums, teacher, pairs, d) for x in lambdas], dtype=torch.float64)


def _loss(x: float, sums: list[np.ndarray], teacher: np.ndarray, pairs: tuple[np.ndarray, ...], d: int) -> float:
    axis1, x1, axis2, x2 = pairs
    u = len(axis1)
    rows = sparse.csr_array(
        (np.concatenate([x * x1, (1 - x) * x2]), (np.tile(np.arange(u), 2), np.concatenate([axis1, axis2]))), (u, d)
    )
    norms = np.hypot(x * x1, (1 - x) * x2)
    alive = norms > 0
    units = sparse.diags_array(np.where(alive, 1 / np.where(alive, norms, 1), 0)) @ rows
    axes = x * sums[0] + (1 - x) * sums[1] - teacher  # students on an axis, less the teacher: one signed row each
    units = sparse.vstack([units, sparse.eye_array(d)]).tocsr()
    mass = np.concatenate([norms, axes])  # (u + d,)
    cosines = (units @ units.T).tocoo()  # pairs that share an axis
    at_right_angle = float(kappa(0.0, d))
    shared = kappa(torch.from_numpy(cosines.data), d).numpy() - at_right_angle
    return float(at_right_angle * mass.sum() ** 2 + (mass[cosines.row] * mass[cosines.col]) @ shared)


def minima_barrier(W1: torch.Tensor, W2: torch.Tensor, M: int, lambdas=GRID) -> float:
    """The barrier between two minima, whose own losses are 0: the largest of :func:`losses_between`.

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> minima_barrier(W, W, M=2) < 1e-15
    True
    """
    return float(losses_between(W1, W2, M, lambdas).max())


def pair_matching(W1: torch.Tensor, W2: torch.Tensor) -> torch.Tensor:
    """The permutation p that minimises ``E|f − f*|`` halfway between the minima W₁ and W₂[p], among all m!.

    Halfway, row i contributes Δ_i = σ(½(u + v)·x) − ½σ(u·x) − ½σ(v·x) <= 0 to f − f*, with u, v its two ends. Nothing
    cancels in the sum, so that ``E|f − f*| = Σ_i E|Δ_i|``, and ``E|Δ_i|`` is proportional to
    ‖u‖ + ‖v‖ − ‖u + v‖. That is a linear assignment problem. The loss is the mean square of the same sum, which this
    does not minimise exactly.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (m, d), one pair.

    Returns
    -------
    torch.Tensor
        p (m,), torch.long.

    Raises
    ------
    ValueError
        if the shapes differ or a weight is not finite.

    Examples
    --------
    >>> W = torch.eye(3, dtype=torch.float64)
    >>> pair_matching(W, W[[2, 0, 1]])
    tensor([1, 2, 0])
    """
    if W1.ndim != 2 or W1.shape != W2.shape:
        raise ValueError(f"W1 and W2 have shapes {tuple(W1.shape)} and {tuple(W2.shape)}; allowed: equal shapes (m, d)")
    if not (torch.isfinite(W1).all() and torch.isfinite(W2).all()):
        raise ValueError("W1 or W2 holds values that are not finite; allowed: finite weights")
    norm1, norm2 = torch.linalg.vector_norm(W1, dim=-1), torch.linalg.vector_norm(W2, dim=-1)  # (m,)
    together = torch.linalg.vector_norm(W1[:, None] + W2, dim=-1)  # (m, m)
    cost = norm1[:, None] + norm2 - together
    return torch.from_numpy(linear_sum_assignment(cost.cpu().numpy())[1])


def snap(W: torch.Tensor, M: int) -> torch.Tensor:
    """Each row moved to its nearest point of the rays {a e_j: a >= 0}, j <= M; what its type and entry are.

    Parameters
    ----------
    W : torch.Tensor
        (..., m, d), for example networks that gradient descent has brought close to a minimum.
    M : int
        teacher neurons, M <= d.

    Returns
    -------
    torch.Tensor
        (..., m, d); a row without a positive entry among the first M becomes 0.

    Raises
    ------
    ValueError
        if M is not in 1 … d.

    Examples
    --------
    >>> snap(torch.tensor([[0.9, 0.1], [-0.2, -0.1]]), M=2)
    tensor([[0.9000, 0.0000],
            [0.0000, 0.0000]])
    """
    if not 1 <= M <= W.shape[-1]:
        raise ValueError(f"M = {M} teacher neurons in dimension d = {W.shape[-1]}; allowed: 1 <= M <= d")
    entry, types = W[..., :M].max(dim=-1)
    return torch.zeros_like(W).scatter(-1, types[..., None], entry.clamp(min=0)[..., None])


def permuted_and_direct(W1: torch.Tensor, W2: torch.Tensor, M: int, chunk: int = 50) -> torch.Tensor:
    """Barriers of pairs near minima after Algorithm 1, rows typed by :func:`snap`, and without a permutation.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (n, m, d).
    M : int
        teacher neurons.
    chunk : int
        pairs that are held in memory at a time.

    Returns
    -------
    torch.Tensor
        (2, n): permuted, direct; on the grid 0, 0.1, …, 1, with the losses of the ends taken off (eq. 9).

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)[None]
    >>> permuted, direct = permuted_and_direct(W, W.flip(1), M=2)
    >>> bool(permuted < 1e-12), bool(direct > 0.01)
    (True, True)
    """
    matched = permute(W2, algorithm_1(snap(W1, M), snap(W2, M)))
    rows = []
    for ends in (matched, W2):
        chunks = zip(W1.split(chunk), ends.split(chunk), strict=True)
        rows.append(torch.cat([loss_barrier(lambda W: population_loss(W, M), a, b) for a, b in chunks]))
    return torch.stack(rows)
