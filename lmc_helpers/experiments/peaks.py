"""Heights relative to a peak whose place the same samples have to tell.

The largest of several means is too large on average, since the place is chosen where the noise is high. Here the place
is chosen on one half of the samples and the height taken on the other half, and both halves change their roles.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lmc_helpers import expect
from lmc_helpers.error_bars import ratio_of_means

__all__ = ["ratio_at_peaks"]

LEAST = 4  # samples at a place, two in each half


def ratio_at_peaks(upper: Sequence[ArrayLike], lower: Sequence[ArrayLike]) -> tuple[float, float]:
    """The height of one peak divided by that of another, cross-fitted, and its standard error.

    One half of the samples at every place are those with even numbers, the other half those with odd ones. The ratio is
    the mean of two, each of means over one half at the places where the means over the other half are largest.

    Parameters
    ----------
    upper, lower : sequence of array
        independent samples (n_k,), n_k >= 4, at each place of the two curves; a curve of one place is a mean and no
        peak. Sizes may differ; no place is in both.

    Returns
    -------
    (float, float)
        ratio and standard error, with the place of each peak as it was chosen.

    Examples
    --------
    >>> ratio_at_peaks([[1.0, 1.0, 3.0, 3.0]], [[4.0, 4.0, 4.0, 4.0], [1.0, 1.0, 1.0, 1.0]])[0]
    0.5
    """
    expect.arrays(upper, "upper", empty=True)
    expect.arrays(lower, "lower", empty=True)
    curves = [[np.asarray(sample, dtype=float) for sample in curve] for curve in (upper, lower)]
    if not all(curves) or any(sample.ndim != 1 or len(sample) < LEAST for curve in curves for sample in curve):
        shapes = [[sample.shape for sample in curve] for curve in curves]
        raise ValueError(f"samples {shapes}; allowed: at least one a curve, of at least {LEAST} values each")
    found = []
    for half in (0, 1):
        above, below = (curve[int(np.argmax([s[half::2].mean() for s in curve]))][1 - half :: 2] for curve in curves)
        found.append(ratio_of_means(above, below))
    return (found[0][0] + found[1][0]) / 2, math.hypot(found[0][1], found[1][1]) / 2
