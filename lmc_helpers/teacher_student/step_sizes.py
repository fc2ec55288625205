"""What gradient descent finds at a range of step sizes (Zhan, Li & Wu, section 5, Figs. 6 and 13).

Networks that start from the same weights descend at R step sizes. Those that have arrived at a minimum have zero rows,
a PQ index, a sharpness and, in pairs, a barrier; those that have not are NaN in all of them. So arrays (R, n) keep one
column a network, and a column can be resampled (:func:`lmc_helpers.error_bars.bootstrap`).
"""

from __future__ import annotations

import math

import numpy as np
import torch

from lmc_helpers.error_bars import share
from lmc_helpers.teacher_student.between_minima import permuted_and_direct
from lmc_helpers.teacher_student.sparsity import pq_index, sharpness, type_counts, zero_rows

__all__ = [
    "crossing_interval",
    "difference_of_shares",
    "first_crossing",
    "mean_of_arrived",
    "pair_barriers",
    "statistics_of_arrived",
]


def statistics_of_arrived(W: torch.Tensor, arrived: torch.Tensor, M: int, rate: float) -> dict[str, np.ndarray]:
    """Zero rows, PQ index, sharpness and barriers of the networks that have arrived at a minimum.

    Parameters
    ----------
    W : torch.Tensor
        (n, m, d), the networks after their descent with one step size.
    arrived : torch.Tensor
        (n,), bool.
    M : int
        teacher neurons.
    rate : float
        the step size η.

    Returns
    -------
    dict of numpy.ndarray
        ``zeros`` (n,): rows with a norm below 10⁻³; ``pq`` (n,): PQ index of the entries of W; ``edge`` (n,): η λ_max/2
        of the rows alive, above 1 where the minimum is linearly unstable; ``barrier`` (n // 2,): as
        :func:`pair_barriers`. NaN for a network that has not arrived.

    Examples
    --------
    Two students of one teacher in the plane; the curvature along two rows that grow together is 2/d = 1.

    >>> W = torch.tensor([[[0.5, 0.0], [0.5, 0.0]], [[9.0, 9.0], [9.0, 9.0]]], dtype=torch.float64)
    >>> found = statistics_of_arrived(W, torch.tensor([True, False]), M=1, rate=0.5)
    >>> found["zeros"].tolist(), round(float(found["edge"][0]), 12)
    ([0.0, nan], 0.25)
    """
    found = {name: np.full(len(W), math.nan) for name in ("zeros", "pq", "edge")}
    if arrived.any():
        landed, where = W[arrived], arrived.numpy()
        found["zeros"][where] = zero_rows(landed)
        found["pq"][where] = pq_index(landed.flatten(start_dim=1))
        found["edge"][where] = rate / 2 * sharpness(type_counts(landed, M).clamp(min=1), W.shape[-1])
    return found | {"barrier": pair_barriers(W, arrived, M)}


def pair_barriers(W: torch.Tensor, arrived: torch.Tensor, M: int) -> np.ndarray:
    """Barriers after Algorithm 1 between network i and network i + n // 2.

    Parameters
    ----------
    W : torch.Tensor
        (n, m, d).
    arrived : torch.Tensor
        (n,), bool.
    M : int
        teacher neurons.

    Returns
    -------
    numpy.ndarray
        (n // 2,), NaN where one of the two has not arrived.

    Examples
    --------
    >>> W = torch.eye(2, dtype=torch.float64).expand(4, 2, 2)
    >>> np.round(pair_barriers(W, torch.tensor([True, True, True, False]), M=2), 12).tolist()
    [0.0, nan]
    """
    n = len(W) // 2
    both = arrived[:n] & arrived[n : 2 * n]
    heights = np.full(n, math.nan)
    if both.any():
        permuted, _ = permuted_and_direct(W[:n][both], W[n : 2 * n][both], M)
        heights[both.numpy()] = permuted.numpy()
    return heights


def mean_of_arrived(values: np.ndarray) -> np.ndarray:
    """Mean over the networks that arrive.

    Parameters
    ----------
    values : numpy.ndarray
        (R, n), NaN for a network that has not arrived.

    Returns
    -------
    numpy.ndarray
        (R,), NaN where none has.

    Examples
    --------
    >>> mean_of_arrived(np.array([[1.0, math.nan, 3.0], [math.nan] * 3])).tolist()
    [2.0, nan]
    """
    known = np.isfinite(values)
    count = known.sum(axis=1)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.where(count, total / np.maximum(count, 1), math.nan)


def first_crossing(x: np.ndarray, y: np.ndarray, level: float = 0.5) -> float:
    """The x at which y first reaches a level, interpolated between the two neighbours.

    Parameters
    ----------
    x, y : numpy.ndarray
        (R,), x increasing; places with a y that is NaN are left out.
    level : float
        what y reaches.

    Returns
    -------
    float
        between two neighbours of x.

    Examples
    --------
    >>> first_crossing(np.array([1.0, 2.0, 3.0]), np.array([0.0, 0.25, 0.75]))
    2.5
    """
    known = np.isfinite(y)
    x, y = x[known], y[known]
    above = np.flatnonzero(y >= level)
    if not len(above) or above[0] == 0:
        raise ValueError(f"y = {y.tolist()} at x = {x.tolist()}; allowed: below {level} first, then above it")
    i = above[0]
    return float(np.interp(level, y[i - 1 : i + 1], x[i - 1 : i + 1]))


def crossing_interval(x: np.ndarray, hits: np.ndarray) -> tuple[float, float, float]:
    """The x at which half of the networks are hit, and the cell of the grid that surely holds it.

    The cell goes from the last x before it at which the share is surely below ½ to the first x at which it is surely
    above, by the intervals of :func:`lmc_helpers.error_bars.share`; where no x is sure, to the end of the grid.

    Parameters
    ----------
    x : numpy.ndarray
        (R,), increasing.
    hits : numpy.ndarray
        (R, n), 1 or 0, NaN for a network that has not arrived.

    Returns
    -------
    (float, float, float)
        the place of :func:`first_crossing`, lower and upper end.

    Examples
    --------
    >>> crossing_interval(np.array([1.0, 2.0, 3.0]), np.repeat([[0.0], [0.0], [1.0]], 20, axis=1))
    (2.5, 2.0, 3.0)
    """
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
    """One share less another, with the interval that contains the difference if both lie in theirs.

    Parameters
    ----------
    one, other : (float, float, float)
        share, lower and upper end, as :func:`lmc_helpers.error_bars.share` returns them.

    Returns
    -------
    (float, float, float)
        difference, lower and upper end.

    Examples
    --------
    >>> difference_of_shares((1.0, 0.75, 1.0), (0.25, 0.0, 0.5))
    (0.75, 0.25, 1.0)
    """
    return one[0] - other[0], one[1] - other[2], one[2] - other[1]
