"""The best pairing of the rows of two uniform minima, for the chapter *barrier peak*."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from lmc_helpers.matching import algorithm_1
from lmc_helpers.teacher_student import sample_minima


def halfway_costs(m: int, M: int, n: int, seed: int) -> np.ndarray:
    """(1/M) Σ C_ip(i) of n pairs of uniform minima, for the best permutation p and for that of Algorithm 1.

    The mean of ``|f − f*|`` halfway is c_d/2 times Σ C_ip(i), C_ij = ``‖w_i‖ + ‖w'_j‖ − ‖w_i + w'_j‖``, which is 0 for
    equal types (thm-assignment of the chapter *Algorithm 1*): the best p solves a linear assignment problem. With many
    teachers the barrier is proportional to the square of the sum.
    """
    best, algorithm = np.empty((2, n))
    W1, W2 = sample_minima(m, M, M, 2 * n, seed).split(n)  # (n, m, M)
    for k, (a, b) in enumerate(zip(W1, W2, strict=True)):
        (x, i), (y, j) = a.max(dim=1), b.max(dim=1)  # entries and types, (m,)
        cost = torch.where(i[:, None] == j, 0, x[:, None] + y - torch.hypot(x[:, None], y))  # (m, m)
        best[k] = cost.numpy()[linear_sum_assignment(cost.numpy())].sum() / M
        algorithm[k] = cost.gather(1, algorithm_1(a, b, leftovers="opposed")[:, None]).sum() / M
    return np.stack([best, algorithm])
