"""Code of the chapter *barrier peak*."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student import sample_minima

# ---------- best pairing
#
# The best pairing of the rows of two uniform minima, by the mean absolute error halfway (chapter *Where the barrier
# peaks*).
#
# By thm-assignment (chapter *Algorithm 1 and better matchings*) the mean absolute value of f − f* halfway is (c_d/2)
# times the sum of the costs ::
#
# C_ij = ‖w_i‖ + ‖w'_j‖ − ‖w_i + w'_j‖        (0 for equal types, a + b − √(a² + b²) for entries a, b of two types)
#
# over the paired rows, so that a linear assignment problem gives the best of all m! permutations. With many
# teachers the barrier is proportional to the square of that sum.


def halfway_costs(m: int, M: int, n: int, seed: int) -> np.ndarray:
    """(1/M) Σ C_ip(i) of n pairs of uniform minima, for the best permutation p and for that of Algorithm 1."""
    best, algorithm = np.empty((2, n))
    W1, W2 = sample_minima(m, M, M, 2 * n, seed).split(n)  # (n, m, M)
    for k, (a, b) in enumerate(zip(W1, W2, strict=True)):
        (x, i), (y, j) = a.max(dim=1), b.max(dim=1)  # entries and types, (m,)
        cost = torch.where(i[:, None] == j, 0, x[:, None] + y - torch.hypot(x[:, None], y))  # (m, m)
        best[k] = cost.numpy()[linear_sum_assignment(cost.numpy())].sum() / M
        algorithm[k] = cost.gather(1, algorithm_1(a, b, leftovers="opposed")[:, None]).sum() / M
    return np.stack([best, algorithm])
