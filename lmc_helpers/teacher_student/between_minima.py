"""The loss and the barrier between two minima, by their structure (Zhan, Li & Wu, section 4).

A row of a minimum has at most one non-zero entry, so a row of λ W₁ + (1 − λ) W₂ has at most two. Rows that stay on
one axis add up to one row. The kernel of two rows that share no axis is κ(0)‖u‖‖v‖, which sums up to a product; only
pairs that share an axis need an arccosine. With the signed rows (student +, teacher −), norms ρ and signs s,

    L = κ(0) (Σ s_a ρ_a)² + Σ s_a s_b ρ_a ρ_b [κ(cos θ_ab) − κ(0)]   over pairs that share an axis.

At M = 500 and m = 5000 that is some thousand pairs instead of 5000². Barriers of many pairs of small minima are
computed by the dense loss in batches.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Float64
from scipy import sparse
from torch import Tensor

from lmc_helpers._typing import Integer, Positive, Reals, checked, require_finite
from lmc_helpers.barrier import GRID, as_lambdas, loss_barrier
from lmc_helpers.matching import Objective, algorithm_1, permute
from lmc_helpers.teacher_student.minima import Law, sample_minima, snap
from lmc_helpers.teacher_student.population import arc_cosine, population_loss

MANY = 500  # rows with two entries
PAIRS = 20_000  # of rows that share an axis, at a time
__all__ = ["losses_between", "minima_barriers", "permuted_and_direct", "uniform_barriers"]

BEST = "best of m!"  # the name of that permutation among matchers
FLOOR = 1e-13  # smaller barriers of small minima are rounding errors


def barrier_objective(M: int) -> Objective:
    """The barriers (B,) on the grid 0, 0.1, …, 1 of W₁ (m, d) and permuted networks W₂[p] (B, m, d)."""

    def objective(W1: Tensor, permuted: Tensor) -> Tensor:
        ends = W1.expand_as(permuted)  # (B, m, d)
        return loss_barrier(lambda W: population_loss(W, M), ends, permuted, GRID)

    return objective


def _one_entry(W: Tensor, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Axis (m,), −1 for a row 0, and entry (m,) of each row."""
    require_finite(**{name: W})
    rows = W.numpy(force=True)
    many = np.flatnonzero((rows != 0).sum(axis=1) > 1)
    if len(many) or (rows < 0).any():
        row = many[0] if len(many) else np.flatnonzero((rows < 0).any(axis=1))[0]
        raise ValueError(f"row {row} of {name} lies on no ray e_j; allowed: rows with one positive entry or none")
    axis = rows.argmax(axis=1)
    entry = rows[np.arange(len(rows)), axis]
    return np.where(entry > 0, axis, -1), entry


@checked
def losses_between(
    W1: Float[Tensor, "m d"], W2: Float[Tensor, "m d"], M: Positive, lambdas: Reals = GRID
) -> Float64[Tensor, " L"]:
    """L(λ W₁ + (1 − λ) W₂) for two matrices whose rows have one positive entry or none.

    W₂ is already permuted. Equals :func:`~lmc_helpers.teacher_student.population.population_loss` up to rounding.
    """
    return _losses_between(W1, W2, M, lambdas)


def _losses_between(W1: Tensor, W2: Tensor, M: int, lambdas: Reals) -> Tensor:
    (axis1, x1), (axis2, x2) = _one_entry(W1, "W1"), _one_entry(W2, "W2")
    d = W1.shape[1]
    if M > d:
        raise ValueError(f"M = {M} teacher neurons in dimension d = {d}; allowed: 1 <= M <= d")
    single = (axis1 == axis2) | (axis1 < 0) | (axis2 < 0)
    on_axis = np.where(axis1 < 0, axis2, axis1)[single]  # −1 where both rows are 0
    sums = [np.bincount(on_axis[on_axis >= 0], x[single][on_axis >= 0], minlength=d) for x in (x1, x2)]
    lam = as_lambdas(lambdas, torch.float64, None)[:, None]  # (L, 1)
    one, other = (torch.from_numpy(x) for x in sums)
    axes = lam * one + (1 - lam) * other  # students on an axis, (L, d)
    axes[:, :M] -= 1  # less the teacher: one signed row each
    rows = np.stack([axis1, axis2, x1, x2])[:, ~single]
    if rows.shape[1] > MANY:  # rows that are equal add up, too
        rows, times = np.unique(rows, axis=1, return_counts=True)
        rows[2:] *= times
    p, q = torch.from_numpy(rows[:2]).long()
    x, y = torch.from_numpy(rows[2:])
    return _loss(axes, p, lam * x, q, (1 - lam) * y)


def _loss(axes: Tensor, p: Tensor, x: Tensor, q: Tensor, y: Tensor) -> Tensor:
    """L (L,) of signed rows ``axes`` (L, d) on the axes and of rows x e_p + y e_q, p ≠ q (u,), with x, y (L, u)."""
    d = axes.shape[1]
    at_right_angle, parallel = arc_cosine(torch.tensor([0.0, 1.0], dtype=torch.float64), d)

    def excess(cosines: Tensor) -> Tensor:
        return arc_cosine(cosines.clamp(-1, 1), d) - at_right_angle

    norms = torch.hypot(x, y)  # (L, u)
    x, y = (entry / torch.where(norms > 0, norms, 1) for entry in (x, y))
    squares = norms.square().sum(dim=1) + axes.square().sum(dim=1)
    with_axes = axes[:, p] * excess(x) + axes[:, q] * excess(y)
    loss = at_right_angle * (norms.sum(dim=1) + axes.sum(dim=1)) ** 2 + (parallel - at_right_angle) * squares
    loss = loss + 2 * (norms * with_axes).sum(dim=1)
    for a, b in zip(*(ends.split(PAIRS) for ends in _sharing(p, q, d)), strict=True):
        along = x[:, a] * ((p[a] == p[b]) * x[:, b] + (p[a] == q[b]) * y[:, b])
        along += y[:, a] * ((q[a] == p[b]) * x[:, b] + (q[a] == q[b]) * y[:, b])
        loss += 2 * (norms[:, a] * norms[:, b] * excess(along)).sum(dim=1)
    return loss


def _sharing(p: Tensor, q: Tensor, d: int) -> Tensor:
    """All pairs a < b of rows with an axis in common, (2, pairs), of rows on the axes p and q (u,)."""
    u = len(p)
    if u <= MANY:  # else a sparse product is faster
        return ((p[:, None] == p) | (p[:, None] == q) | (q[:, None] == p) | (q[:, None] == q)).triu(1).nonzero().T
    ends = np.tile(np.arange(u), 2), np.concatenate([p, q])
    leans = sparse.csr_array((np.ones(2 * u), ends), (u, d))
    return torch.from_numpy(np.stack(sparse.triu(leans @ leans.T, 1).nonzero())).long()


@checked
def minima_barriers(
    W1: Float[Tensor, "*batch m d"], W2: Float[Tensor, "*batch m d"], M: Positive, lambdas: Reals = GRID
) -> np.ndarray:
    """The barriers between pairs of minima, whose own losses are 0: the largest of :func:`losses_between` of each."""
    pairs = zip(W1.reshape(-1, *W1.shape[-2:]), W2.reshape(-1, *W2.shape[-2:]), strict=True)
    return np.array([_losses_between(a, b, M, lambdas).max().item() for a, b in pairs]).reshape(W1.shape[:-2])[()]


@checked
def permuted_and_direct(
    W1: Float[Tensor, "n m d"], W2: Float[Tensor, "n m d"], M: Positive, chunk: Positive = 100
) -> Float[Tensor, "2 n"]:
    """Barriers of pairs near minima after Algorithm 1, rows typed by ``minima.snap``, and without a permutation.

    They are taken on the grid 0, 0.1, …, 1, with the losses of the ends taken off (eq. 9); ``chunk`` bounds the memory.
    """
    matched = permute(W2, algorithm_1(snap(W1, M), snap(W2, M)))
    rows = []
    for ends in (matched, W2):
        chunks = zip(W1.split(chunk), ends.split(chunk), strict=True)
        rows.append(torch.cat([loss_barrier(lambda W: population_loss(W, M), a, b) for a, b in chunks]))
    return torch.stack(rows)


@checked
def uniform_barriers(
    m: Positive, M: Positive, d: Positive, n: Positive, seed: Integer, law: Law = "exponential"
) -> np.ndarray:
    """Barriers of n pairs of sampled minima, after Algorithm 1 and without a permutation.

    Up to m + M = 80 by the dense loss (:func:`permuted_and_direct`), above by :func:`minima_barriers`. Shape (2, n).
    """
    W1, W2 = sample_minima(m, M, d, 2 * n, seed, law).split(n)
    if m + M <= 80:
        return permuted_and_direct(W1, W2, M).numpy()
    permuted = permute(W2, algorithm_1(W1, W2))
    return np.stack([minima_barriers(W1, ends, M) for ends in (permuted, W2)])
