"""Whether a curve of sampled means goes up and then down (Zhan, Li & Wu, Fig. 10).

The largest of several sampled means is too large, since it was chosen for being large. Here one half of the samples
chooses the places, and the other half measures there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lmc_helpers.error_bars import ratio_of_means

__all__ = ["peak_over_ends"]


def peak_over_ends(samples: Sequence[ArrayLike]) -> tuple[float, float]:
    """Mean at the peak over the larger one of the means at both ends, with no bias by the choice of the places.

    Each half of the samples chooses peak and end for the other half; the two ratios are averaged. Where the means do
    not rise inside, the peak is an end, and the ratio is about 1. Where the noise chooses the smaller end, the ratio is
    too large by no more than the larger end over the smaller one.

    Parameters
    ----------
    samples : sequence of array
        one sample (n_k,) a place, n_k >= 4, in the order of the places, of which there are at least two.

    Returns
    -------
    (float, float)
        ratio and standard error.

    Examples
    --------
    >>> value, error = peak_over_ends([[1.0, 1.1, 0.9, 1.0], [2.0, 2.1, 1.9, 2.0], [0.1, 0.2, 0.1, 0.2]])
    >>> round(value, 6)
    2.002506
    """
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    if len(arrays) < 2 or min(map(len, arrays)) < 4:
        raise ValueError(f"samples of {[len(x) for x in arrays]} values; allowed: at least 2 places with at least 4")
    found = []
    for half in (0, 1):
        chosen, measured = [x[half::2] for x in arrays], [x[1 - half :: 2] for x in arrays]
        means = [x.mean() for x in chosen]
        peak, end = int(np.argmax(means)), max((0, len(means) - 1), key=lambda k: means[k])
        found.append(ratio_of_means(measured[peak], measured[end]))
    (one, one_error), (other, other_error) = found
    return (one + other) / 2, math.hypot(one_error, other_error) / 2
