"""The extreme of several readings, with an interval that holds whichever of them is the extreme one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from lmc_helpers import expect
from lmc_helpers.error_bars import QUANTILE

__all__ = ["extreme"]


def extreme(pick: Callable[[np.ndarray], float], found: Iterable[tuple[float, float]]) -> tuple[float, float, float]:
    """The least or the largest of several readings, and the same of both ends of their intervals.

    With probability no less than that with which all intervals hold their truths, the interval holds the extreme of
    the truths: the largest value lies between the largest of the lower ends and the largest of the upper ones.

    Parameters
    ----------
    pick : callable
        ``min`` or ``max``.
    found : iterable of (float, float)
        values and standard errors, widened where there are few samples.

    Returns
    -------
    (float, float, float)
        value, and the same extreme of the low and of the high ends of the intervals, each at two-sided 10⁻³.

    Examples
    --------
    >>> value, low, high = extreme(max, [(1.0, 0.01), (0.9, 0.1)])
    >>> value, round(low, 3), round(high, 3)
    (1.0, 0.967, 1.229)
    """
    if pick not in (min, max):
        raise ValueError(f"pick is {pick!r}; allowed: min, max")
    if not isinstance(found, Iterable):
        raise ValueError(f"found is {type(found).__name__}; allowed: pairs of a value and an error")
    readings = [*found]
    expect.array(readings, "found", "n 2")
    values, errors = np.asarray(readings, dtype=float).T
    half = QUANTILE * errors
    value, low, high = (float(pick(ends)) for ends in (values, values - half, values + half))
    return value, low, high
