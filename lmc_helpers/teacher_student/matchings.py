"""Matchings of two minima side by side: Algorithm 1 and its variants, linear assignments, the best of all m!.

Zhan, Li & Wu (section 4, Algorithm 1) call their matching "the best permutation". :func:`compare_matchings` measures
the barrier of each matching, max over λ of L(λ W₁ + (1 − λ) W₂[p]) above the chord (eq. 9) on the paper's grid of λ,
and finds the smallest one over all m! permutations. :func:`pair_matching` solves a neighbouring problem exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int64
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from lmc_helpers._typing import NonNegative, Positive, checked, require_finite
from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.matching import (
    Objective,
    algorithm_1,
    best_permutation,
    row_types,
    swap_search,
    weight_matching,
)
from lmc_helpers.teacher_student.population import population_loss

BEST = "best of m!"
FLOOR = 1e-13  # barriers below it are rounding


@checked
def pair_matching(W1: Float[Tensor, "m d"], W2: Float[Tensor, "m d"]) -> Int64[Tensor, " m"]:
    """The permutation p that minimises ``E|f − f*|`` halfway between the minima W₁ and W₂[p], among all m!.

    Halfway, row i contributes Δ_i = σ(½(u + v)·x) − ½σ(u·x) − ½σ(v·x) <= 0 to f − f*, with u, v its two ends. Nothing
    cancels in the sum, so that it is a linear assignment problem; with c_d = E σ(x₁)::

        E|f − f*| = Σ_i E|Δ_i| = (c_d/2) Σ_i (‖u_i‖ + ‖v_i‖ − ‖u_i + v_i‖).

    The loss is the mean square of the same sum, which this does not minimise exactly (chapter *Algorithm 1*).

    Parameters
    ----------
    W1, W2
        one pair.

    Examples
    --------
    >>> W = torch.eye(3, dtype=torch.float64)
    >>> pair_matching(W, W[[2, 0, 1]])
    tensor([1, 2, 0])
    """
    require_finite(W1=W1, W2=W2)
    norm1, norm2 = torch.linalg.vector_norm(W1, dim=-1), torch.linalg.vector_norm(W2, dim=-1)  # (m,)
    together = torch.linalg.vector_norm(W1[:, None] + W2, dim=-1)  # (m, m)
    cost = norm1[:, None] + norm2 - together
    return torch.from_numpy(linear_sum_assignment(cost.numpy(force=True))[1]).to(W1.device)


@checked
def barrier_objective(M: Positive) -> Objective:
    """The barrier on the grid 0, 0.1, …, 1 as a function of one network and of a batch of permuted ones.

    Parameters
    ----------
    M
        teacher neurons.

    Returns
    -------
    callable
        takes W₁ (m, d) and W₂[p] (B, m, d), returns the B barriers.

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64)
    >>> aligned, exchanged = barrier_objective(M=2)(W, torch.stack([W, W.flip(0)])).tolist()
    >>> abs(aligned) < 1e-12, exchanged > 0.01
    (True, True)
    """

    def objective(W1: Tensor, permuted: Tensor) -> Tensor:
        ends = W1.expand_as(permuted)  # (B, m, d)
        return loss_barrier(lambda W: population_loss(W, M), ends, permuted, GRID)

    return objective


@dataclass(frozen=True)
class Comparison:
    """What several matchings made of the same pairs of minima.

    Attributes
    ----------
    barriers : dict
        name of the matching → (n,), the barrier of each pair, at least 0.
    same_types : dict
        name of the matching → (n,), rows that meet a row of their type.
    """

    barriers: dict[str, np.ndarray]
    same_types: dict[str, np.ndarray]

    def _known(self, name: str) -> None:
        if name not in self.barriers:
            raise ValueError(f"name = {name!r}; allowed: {', '.join(map(repr, self.barriers))}")

    @checked
    def misses(self, name: str, slack: NonNegative = 1e-9) -> np.ndarray:
        """Pairs (n,), bool, whose barrier exceeds the best one by more than this relative slack and rounding."""
        self._known(name)
        return self.barriers[name] > self.barriers[BEST] * (1 + slack) + FLOOR

    @checked
    def factor(self, name: str) -> float:
        """Mean barrier of a matching over the mean best barrier."""
        self._known(name)
        return float(self.barriers[name].mean() / self.barriers[BEST].mean())


@checked
def compare_matchings(
    W1: Float[Tensor, "n m d"], W2: Float[Tensor, "n m d"], M: Positive, tol: NonNegative = 1e-9
) -> Comparison:
    """The barrier of each pair after every matching, the best of all m! permutations included.

    Parameters
    ----------
    W1, W2
        n pairs of minima or of networks close to them, m <= 9.
    M
        teacher neurons.
    tol
        largest distance of a row from its ray, see :func:`lmc_helpers.matching.row_types`.

    Returns
    -------
    Comparison
        with the matchings ``"best of m!"``, ``"Algorithm 1"``, ``"without sorting"``, ``"leftovers large with large"``,
        ``"leftovers large with small"``, ``"weight matching"``, ``"pair matching"`` and ``"pair matching + swaps"``.

    Examples
    --------
    >>> from lmc_helpers.teacher_student.minima import sample_minima
    >>> W1, W2 = sample_minima(m=4, M=2, d=2, n=6, seed=1).split(3)
    >>> found = compare_matchings(W1, W2, M=2)
    >>> found.misses("best of m!").tolist(), found.factor("without sorting") > 1
    ([False, False, False], True)
    """
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
