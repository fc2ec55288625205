"""Barriers over the width, read off: an end against the peak, the peak's place, what an order of the units leaves.

The questions of Zhan, Li & Wu, section 6 and Figs. 7, 8 and 14. Every reading is a value and a standard error over
independent groups of pairs, and a height at a peak is cross-fitted (:mod:`lmc_helpers.experiments.peaks`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmc_helpers import expect
from lmc_helpers.error_bars import (
    QUANTILE,
    mean_and_error,
    place_of_peak,
    ratio_of_means,
    slope_and_error,
    widening,
)
from lmc_helpers.experiments.peaks import ratio_at_peaks
from lmc_helpers.experiments.width_barriers import Lines

__all__ = ["Curves", "bounds_of", "depth_trend", "place_ratio"]


@dataclass(frozen=True, eq=False)
class Curves:
    """The lines of independent groups of pairs at several widths.

    Parameters
    ----------
    at : dict
        width → :class:`~lmc_helpers.experiments.width_barriers.Lines`, widths increasing.
    """

    at: Mapping[int, Lines]

    def __post_init__(self) -> None:
        widths = list(self.at)
        if not widths or widths != sorted(widths):
            raise ValueError(f"widths {widths}; allowed: at least one, increasing")

    @property
    def widths(self) -> list[int]:
        """All widths."""
        return list(self.at)

    @property
    def groups(self) -> int:
        """Groups that did not diverge, at the width where they are fewest."""
        return min(line.groups for line in self.at.values())

    def only(self, widths: Sequence[int]) -> Curves:
        """The curves at some of the widths.

        Examples
        --------
        >>> Curves({3: Lines({}, {}), 4: Lines({}, {})}).only([4]).widths
        [4]
        """
        expect.some_of(widths, "widths", self.at)
        return Curves({m: self.at[m] for m in widths})

    def barriers(self, order: str) -> list[np.ndarray]:
        """Mean barriers (G,) of the groups at each width, with the units in an order of ``ORDERS``."""
        return [line.barriers(order) for line in self.at.values()]

    def relative(self, order: str, m: int, over: Sequence[int]) -> tuple[float, float]:
        """Mean barrier at one width divided by that at the peak over other widths, and its standard error.

        Parameters
        ----------
        order : str
            of ``ORDERS``.
        m : int
            the width.
        over : sequence of int
            widths among which the peak is looked for, without m.

        Returns
        -------
        (float, float)
            below 1 if the curve rises from m to its peak, or falls from it to m.
        """
        expect.one_of(m, "m", self.at)
        expect.some_of(over, "over", self.at)
        return ratio_at_peaks([self.at[m].barriers(order)], self.only(over).barriers(order))

    def place(self, order: str, seed: int) -> tuple[float, float]:
        """Width of the largest mean barrier, and a standard error that knows the selection and the grid."""
        return place_of_peak(self.widths, self.barriers(order), seed)

    def peaks(self, order: str) -> bool:
        """Whether the largest mean barrier stands between the ends of the widths."""
        return 0 < int(np.argmax([sample.mean() for sample in self.barriers(order)])) < len(self.at) - 1

    def left(self, m: int, order: str, base: str = "direct") -> tuple[float, float]:
        """Mean barrier with one order divided by that with another, of the same pairs, and its standard error.

        Examples
        --------
        >>> import torch
        >>> arch = torch.tensor([[0.0] * 5 + [1.0] + [0.0] * 5] * 2)
        >>> half = Lines({"direct": 2 * arch, "weights": arch}, {})
        >>> Curves({3: half}).left(3, "weights")
        (0.5, 0.0)
        """
        expect.one_of(m, "m", self.at)
        return ratio_of_means(self.at[m].barriers(order), self.at[m].barriers(base), paired=True)

    def farthest(self, order: str, base: str) -> tuple[float, float]:
        """What :meth:`left` says at the width where it is farthest from 1, as a factor, cross-fitted.

        The width is chosen on one half of the groups and the ratio taken on the other, and both halves change their
        roles, as in :func:`~lmc_helpers.experiments.peaks.ratio_at_peaks`.
        """

        def left(m: int, half: int) -> tuple[float, float]:
            above, below = (self.at[m].barriers(name)[half::2] for name in (order, base))
            return ratio_of_means(above, below, paired=True)

        found = []
        for half in (0, 1):
            chosen = max(self.at, key=lambda m: abs(math.log(max(left(m, half)[0], 1e-300))))
            found.append(left(chosen, 1 - half))
        return (found[0][0] + found[1][0]) / 2, math.hypot(found[0][1], found[1][1]) / 2

    def contrast(self, order: str, m: int, other: int) -> tuple[float, float]:
        """The share of the direct barrier that an order leaves at one width, divided by that at another."""
        expect.one_of(m, "m", self.at)
        expect.one_of(other, "other", self.at)
        (a, da), (b, db) = (self.left(at, order) for at in (m, other))
        return a / b, a / b * math.hypot(da / a, db / b)

    def summits(self, order: str) -> np.ndarray:
        """Means of the largest loss on each line and their standard errors, (2, widths)."""
        return np.array(mean_and_error([line.largest(order) for line in self.at.values()]))


def bounds_of(n: int, *readings: tuple[float, float], of_all: Callable = max) -> tuple[float, float, float]:
    """The largest or the least of some readings, and its interval by Student's quantile with n − 2 degrees of freedom.

    Two degrees, since a height at a peak is the mean over two halves of the samples.

    Parameters
    ----------
    n : int
        independent samples behind each reading; fewer than 3 count as 3.
    *readings : (float, float)
        values and standard errors.
    of_all : {max, min}
        which of them.

    Returns
    -------
    (float, float, float)
        value, and ends that are the largest (least) of all readings' lower and of their upper ends at two-sided 10⁻³:
        below (above) a bound only if all readings are.

    Examples
    --------
    >>> [round(x, 2) for x in bounds_of(20, (0.5, 0.1), (0.6, 0.01))]
    [0.6, 0.56, 0.89]
    """
    expect.integer(n, "n", least=0)
    expect.arrays(readings, "readings", "two")
    if of_all not in (max, min):
        raise ValueError(f"of_all = {of_all!r}; allowed: max, min")
    half = QUANTILE * widening(max(n, 3) - 1)
    value, low, high = (of_all(value + sign * half * error for value, error in readings) for sign in (0, -1, 1))
    return value, low, high


def depth_trend(curves: Mapping[int, Curves], order: str, seed: int) -> tuple[float, float] | None:
    """Slope of the logarithm of the peak's place in the depth, over depths that show a peak.

    A curve whose largest mean stands at the first or last width shows none and is left out.

    Parameters
    ----------
    curves : mapping
        depth → barriers over the width.
    order : str
        of ``ORDERS``.
    seed : int
        of the resampling that finds the error of a place.

    Returns
    -------
    (float, float) or None
        slope for each layer, 0 if the place does not depend on the depth, and its standard error; None if fewer than
        three depths show a peak.
    """
    if not isinstance(curves, Mapping):
        raise ValueError(f"curves is {type(curves).__name__}; allowed: Mapping")
    expect.text(order, "order")
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    at = {depth: curve.place(order, seed) for depth, curve in curves.items() if curve.peaks(order)}
    if len(at) < 3:
        return None
    places, errors = np.array(list(at.values())).T
    return slope_and_error(list(at), np.log(places), errors / places)


def place_ratio(upper: Curves, lower: Curves, order: str, seed: int) -> tuple[float, float]:
    """Width of the largest mean barrier of some curves divided by that of others, and its standard error.

    Parameters
    ----------
    upper, lower : Curves
        of independent groups; of the same ones the error leaves out that both go together.
    order : str
        of ``ORDERS``.
    seed : int
        of the resampling that finds the error of a place.

    Returns
    -------
    (float, float)
        above 1 if the place of the first is wider.
    """
    for name, curves in (("upper", upper), ("lower", lower)):
        if not isinstance(curves, Curves):
            raise ValueError(f"{name} is {type(curves).__name__}; allowed: Curves")
    (a, da), (b, db) = (curves.place(order, seed) for curves in (upper, lower))
    return a / b, a / b * math.hypot(da / a, db / b)
