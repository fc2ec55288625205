"""Code of the chapter *step size*."""

from __future__ import annotations

import math

import numpy as np
import torch

from lmc_helpers.error_bars import share
from lmc_helpers.teacher_student.between_minima import permuted_and_direct
from lmc_helpers.teacher_student.sparsity import pq_index, sharpness, type_counts, zero_rows

# ---------- step sizes
#
# What gradient descent finds at a range of step sizes (Zhan, Li & Wu, section 5, Figs. 6 and 13).
#
# Networks that start from the same weights descend at R step sizes. Those that have arrived at a minimum have zero
# rows, a PQ index, a sharpness and, in pairs, a barrier; those that have not are NaN in all of them. So arrays (R, n)
# keep one column a network, and a column can be resampled (:func:`lmc_helpers.error_bars.bootstrap`).


def statistics_of_arrived(W: torch.Tensor, arrived: torch.Tensor, M: int, rate: float) -> dict[str, np.ndarray]:
    """Zero rows, PQ index, sharpness and barriers of the networks that have arrived at a minimum."""
    found = {name: np.full(len(W), math.nan) for name in ("zeros", "pq", "edge")}
    if arrived.any():
        landed, where = W[arrived], arrived.numpy()
        found["zeros"][where] = zero_rows(landed)
        found["pq"][where] = pq_index(landed.flatten(start_dim=1))
        found["edge"][where] = rate / 2 * sharpness(type_counts(landed, M).clamp(min=1), W.shape[-1])
    return found | {"barrier": pair_barriers(W, arrived, M)}


def pair_barriers(W: torch.Tensor, arrived: torch.Tensor, M: int) -> np.ndarray:
    """Barriers after Algorithm 1 between network i and network i + n // 2."""
    n = len(W) // 2
    both = arrived[:n] & arrived[n : 2 * n]
    heights = np.full(n, math.nan)
    if both.any():
        permuted, _ = permuted_and_direct(W[:n][both], W[n : 2 * n][both], M)
        heights[both.numpy()] = permuted.numpy()
    return heights


def mean_of_arrived(values: np.ndarray) -> np.ndarray:
    """Mean over the networks that arrive."""
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count, total / np.maximum(count, 1), math.nan)


def first_crossing(x: np.ndarray, y: np.ndarray, level: float = 0.5) -> float:
    """The x at which y first reaches a level, interpolated between the two neighbours."""
    known = np.isfinite(y)
    x, y = x[known], y[known]
    above = np.flatnonzero(y >= level)
    i = above[0]
    return float(np.interp(level, y[i - 1 : i + 1], x[i - 1 : i + 1]))


def crossing_interval(x: np.ndarray, hits: np.ndarray) -> tuple[float, float, float]:
    """The x at which half of the networks are hit, and the cell of the grid that surely holds it."""
    place = first_crossing(x, mean_of_arrived(hits))
    low, high = float(x[0]), float(x[-1])
    for at, row in zip(x.tolist(), hits, strict=True):
        known = row[np.isfinite(row)]
        if not len(known):
            continue
        _, least, most = share(int(known.sum()), len(known))
        if most < 1 / 2 and at <= place:
            low = at
        if least > 1 / 2:
            high = at
            break
    return place, low, high


def difference_of_shares(
    one: tuple[float, float, float], other: tuple[float, float, float]
) -> tuple[float, float, float]:
    """One share less another, with the interval that contains the difference if both lie in theirs."""
    return one[0] - other[0], one[1] - other[2], one[2] - other[1]
