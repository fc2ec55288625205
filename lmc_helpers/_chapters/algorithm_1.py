"""Code of the chapter *Algorithm 1*; the chapter *matchers* also uses its barriers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.matching import (
    SLACK,
    Objective,
    _first_minimiser,
    _values,
    algorithm_1,
    best_permutation,
    pair_matching,
    row_types,
    weight_matching,
)
from lmc_helpers.teacher_student.population import population_loss

# ---------- matchings side by side
#
# Zhan, Li & Wu (section 4, Algorithm 1) call their matching "the best permutation". Each matching is compared with the
# best of all m! permutations, by the barrier of eq. (9): the largest L(λ W₁ + (1 − λ) W₂[p]) above the chord on the
# paper's grid.

BEST = "best of m!"
FLOOR = 1e-13  # smaller barriers are rounding errors


def barrier_objective(M: int) -> Objective:
    """The barriers (B,) on the grid 0, 0.1, …, 1 of W₁ (m, d) and permuted networks W₂[p] (B, m, d)."""

    def objective(W1: Tensor, permuted: Tensor) -> Tensor:
        ends = W1.expand_as(permuted)  # (B, m, d)
        return loss_barrier(lambda W: population_loss(W, M), ends, permuted, GRID)

    return objective


@dataclass(frozen=True)
class Comparison:
    """Results of several matchings of the same n pairs of minima, by the name of the matching."""

    barriers: dict[str, np.ndarray]  # (n,), at least 0
    same_types: dict[str, np.ndarray]  # (n,), number of rows paired with a row of their type

    def misses(self, name: str, slack: float = 1e-9) -> np.ndarray:
        """Pairs (n,), bool, whose barrier exceeds the best one by more than a relative slack and rounding."""
        return self.barriers[name] > self.barriers[BEST] * (1 + slack) + FLOOR

    def factor(self, name: str) -> float:
        """Mean barrier of a matching over the mean best barrier."""
        return float(self.barriers[name].mean() / self.barriers[BEST].mean())


def compare_matchings(W1: Tensor, W2: Tensor, M: int, tol: float = 1e-9) -> Comparison:
    """The barrier of each pair (n, m, d), m <= 9, after every matching, including the best of all m! permutations."""
    objective = barrier_objective(M)
    barriers: dict[str, list[float]] = {}
    same_types: dict[str, list[int]] = {}
    for a, b in zip(W1, W2, strict=True):
        matchings = {
            BEST: best_permutation(a, b, objective),
            "Algorithm 1": algorithm_1(a, b, tol),
            "without sorting": algorithm_1(a, b, tol, sort=False),
            "leftovers large with large": algorithm_1(a, b, tol, leftovers="sorted"),
            "leftovers large with small": algorithm_1(a, b, tol, leftovers="opposed"),
            "weight matching": weight_matching(a, b),
            "pair matching": pair_matching(a, b),
        }
        matchings["pair matching + swaps"] = swap_search(a, b, objective, matchings["pair matching"])
        heights = objective(a, torch.stack([b[p] for p in matchings.values()])).tolist()
        for (name, p), height in zip(matchings.items(), heights, strict=True):
            barriers.setdefault(name, []).append(max(height, 0.0))
            same_types.setdefault(name, []).append(int((row_types(a, tol) == row_types(b[p], tol)).sum()))
    return Comparison(
        {name: np.array(values) for name, values in barriers.items()},
        {name: np.array(values) for name, values in same_types.items()},
    )


# ---------- swap search


def _swapped(p: Tensor) -> Tensor:
    """All permutations one swap away from p (m,); shape (m(m − 1)/2, m)."""
    i, j = torch.triu_indices(len(p), len(p), offset=1, device=p.device)
    P = p.repeat(len(i), 1)
    P.scatter_(1, torch.stack([i, j], dim=1), torch.stack([p[j], p[i]], dim=1))
    return P


def swap_search(W1: Tensor, W2: Tensor, objective: Objective, p: Tensor, sweeps: int = 100) -> Tensor:
    """Descend from p, at each sweep by the best of all m(m − 1)/2 swaps, until none improves.

    ``objective`` is that of :func:`best_permutation`. A swap must improve it by more than relative 1e-12, and at most
    ``sweeps`` swaps are made.
    """
    p = p.to(W1.device, copy=True)
    value = _values(objective, W1, W2, p[None])[0]
    for _ in range(sweeps if len(p) > 1 else 0):
        P = _swapped(p)  # (m(m − 1)/2, m)
        values = _values(objective, W1, W2, P)
        best = _first_minimiser(values)
        if not values[best] < value - SLACK * value.abs():
            break
        p, value = P[best], values[best]
    return p
