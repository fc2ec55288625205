"""Barriers of teacher–student minima after several matchings, for the chapter *Algorithm 1*.

Zhan, Li & Wu (section 4) call the matching of Algorithm 1 "the best permutation"; here each matching is compared with
the best of all m! permutations, by the barrier of eq. (9) on the paper's grid.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lmc_helpers.barrier import GRID
from lmc_helpers.matching import (
    CHUNK,
    SLACK,
    algorithm_1,
    all_permutations,
    first_minimiser,
    pair_matching,
    row_types,
    weight_matching,
)
from lmc_helpers.teacher_student.between_minima import BEST, FLOOR
from lmc_helpers.teacher_student.population import arc_cosine, units_and_cosines

Heights = Callable[[Tensor], Tensor]  # permutations (B, m) → what is to be small (B,)


def barriers_of_orders(W1: Tensor, W2: Tensor, M: int) -> Heights:
    """The barriers (B,) on the grid between W1 (m, d) and W2[p], for permutations (B, m).

    Place i holds one of m² rows, r = λ w1_i + (1 − λ) w2_j with j = p(i), whose kernels are computed once:

        L = Σ_i [k(r_i, r_i) − 2 Σ_t k(r_i, e_t)] + 2 Σ_{i<i'} k(r_i, r_i') + Σ_{s,t} k(e_s, e_t).
    """
    m, d = W1.shape
    x = torch.tensor(GRID, dtype=W1.dtype, device=W1.device)  # (11,)
    rows = torch.lerp(W2, W1[:, None], x[:, None, None, None]).flatten(1, 2)  # (11, m², d)
    _, mass, cosines = units_and_cosines(rows, M)
    k = (mass[:, : m * m, None] * arc_cosine(cosines, d) * mass[:, None]).movedim(0, -1).contiguous()  # (m², m²+M, 11)
    own = k.diagonal().T + 2 * k[:, m * m :].sum(dim=1)  # (m², 11)
    teacher = arc_cosine(torch.eye(M, dtype=W1.dtype, device=W1.device), d).sum()
    i, j = torch.triu_indices(m, m, 1)

    def barriers(P: Tensor) -> Tensor:
        at = m * torch.arange(m) + P  # (B, m)
        loss = teacher + own[at].sum(dim=1) + 2 * k[at[:, i], at[:, j]].sum(dim=1)  # (B, 11)
        return (loss - x * loss[:, -1:] - (1 - x) * loss[:, :1]).amax(dim=1)

    return barriers


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
    P = all_permutations(W1.shape[1])
    barriers: dict[str, list[float]] = {}
    same_types: dict[str, list[int]] = {}
    for a, b in zip(W1, W2, strict=True):
        height = barriers_of_orders(a, b, M)
        matchings = {
            BEST: P[first_minimiser(torch.cat([height(p) for p in P.split(CHUNK)]))],
            "Algorithm 1": algorithm_1(a, b, tol),
            "without sorting": algorithm_1(a, b, tol, sort=False),
            "leftovers large with large": algorithm_1(a, b, tol, leftovers="sorted"),
            "leftovers large with small": algorithm_1(a, b, tol, leftovers="opposed"),
            "weight matching": weight_matching(a, b),
            "pair matching": pair_matching(a, b),
        }
        matchings["pair matching + swaps"] = swap_search(height, matchings["pair matching"])
        values = height(torch.stack([*matchings.values()])).tolist()
        for (name, p), value in zip(matchings.items(), values, strict=True):
            barriers.setdefault(name, []).append(max(value, 0.0))
            same_types.setdefault(name, []).append(int((row_types(a, tol) == row_types(b[p], tol)).sum()))
    return Comparison(
        {name: np.array(values) for name, values in barriers.items()},
        {name: np.array(values) for name, values in same_types.items()},
    )


def _swapped(p: Tensor) -> Tensor:
    """All permutations one swap away from p (m,); shape (m(m − 1)/2, m)."""
    i, j = torch.triu_indices(len(p), len(p), offset=1, device=p.device)
    P = p.repeat(len(i), 1)
    P.scatter_(1, torch.stack([i, j], dim=1), torch.stack([p[j], p[i]], dim=1))
    return P


def swap_search(height: Heights, p: Tensor, sweeps: int = 100) -> Tensor:
    """Descend from p, at each sweep by the best of all m(m − 1)/2 swaps, until none improves.

    A swap must improve the height by more than relative 1e-12, and at most ``sweeps`` swaps are made.
    """
    p = p.clone()
    value = height(p[None])[0]
    for _ in range(sweeps if len(p) > 1 else 0):
        P = _swapped(p)  # (m(m − 1)/2, m)
        values = height(P)
        best = first_minimiser(values)
        if not values[best] < value - SLACK * value.abs():
            break
        p, value = P[best], values[best]
    return p
