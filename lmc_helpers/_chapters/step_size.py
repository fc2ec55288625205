"""Minima of gradient descent at a range of step sizes, for the chapter *step size*.

Zhan, Li & Wu, section 5, Figs. 6 and 13. n networks descend from the same weights at R step sizes. Zero rows, PQ index,
sharpness and barriers are NaN for networks that have not converged to a minimum, so that arrays (R, n) have one column
for each network, which :func:`bootstrap` resamples.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from lmc_helpers.error_bars import share
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.teacher_student import permuted_and_direct, pq_index, sharpness, zero_rows


def statistics_of_arrived(W: torch.Tensor, arrived: torch.Tensor, M: int, rate: float) -> dict[str, np.ndarray]:
    """Zero rows, PQ index, sharpness over its limit, and barriers; NaN for networks that have not converged."""
    statistics = {name: np.full(len(W), math.nan) for name in ("zeros", "pq", "edge")}
    if arrived.any():
        minima, rows = W[arrived], arrived.numpy()
        statistics["zeros"][rows] = zero_rows(minima)
        statistics["pq"][rows] = pq_index(minima.flatten(start_dim=1))
        statistics["edge"][rows] = rate / 2 * sharpness(type_counts(minima, M).clamp(min=1), W.shape[-1])
    return statistics | {"barrier": pair_barriers(W, arrived, M)}


def type_counts(W: torch.Tensor, M: int, threshold: float = 1e-3) -> torch.Tensor:
    """Number of rows of each type j <= M (..., M), among those with a norm of at least ``threshold``."""
    types = torch.where(torch.linalg.vector_norm(W, dim=-1) < threshold, -1, W.argmax(dim=-1))  # (..., m)
    return (types[..., None] == torch.arange(M, device=W.device)).sum(dim=-2)


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
    """Mean over the networks that have converged, (R,)."""
    finite = np.isfinite(values)
    count = finite.sum(axis=1)
    total = np.where(finite, values, 0.0).sum(axis=1)
    return np.where(count, total / np.maximum(count, 1), math.nan)


def first_crossing(x: np.ndarray, y: np.ndarray, level: float = 0.5) -> float:
    """The x at which y first reaches a level, interpolated between the two neighbours."""
    finite = np.isfinite(y)
    x, y = x[finite], y[finite]
    i = np.flatnonzero(y >= level)[0]
    return float(np.interp(level, y[i - 1 : i + 1], x[i - 1 : i + 1]))


def crossing_interval(x: np.ndarray, hits: np.ndarray) -> tuple[float, float, float]:
    """The x at which half of the networks are hit, and an interval of the grid that contains it."""
    crossing = first_crossing(x, mean_of_arrived(hits))
    low, high = float(x[0]), float(x[-1])
    for point, row in zip(x.tolist(), hits, strict=True):
        finite = row[np.isfinite(row)]
        if not len(finite):
            continue
        _, least, most = share(int(finite.sum()), len(finite))
        if most < 1 / 2 and point <= crossing:
            low = point
        if least > 1 / 2:
            high = point
            break
    return crossing, low, high


def difference_of_shares(a: tuple[float, float, float], b: tuple[float, float, float]) -> tuple[float, float, float]:
    """a − b for two shares with intervals, by interval arithmetic."""
    return a[0] - b[0], a[1] - b[2], a[2] - b[1]


def bootstrap(
    statistic: Callable[[np.ndarray], float], values: np.ndarray, seed: int, resamples: int = 500
) -> tuple[float, float]:
    """A statistic of n objects and its standard error, by resampling the objects with replacement.

    An object keeps all its values: the networks that start from the same weights at every step size are one.
    """
    n = values.shape[-1]
    rng = numpy_generator(seed, "bootstrap")
    again = [statistic(values[..., rng.integers(n, size=n)]) for _ in range(resamples)]
    return float(statistic(values)), float(np.std(again))
