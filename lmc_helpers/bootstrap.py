"""Where the mean of a sample is largest, with an error bar."""

from __future__ import annotations

import numpy as np

from lmc_helpers.device import numpy_generator

RESAMPLES = 2000


def place_of_peak(x, samples: np.ndarray, seed: int) -> tuple[float, float]:
    """The x at which the mean of its sample is largest, and the standard deviation of that place under resampling.

    Each sample is resampled with replacement 2000 times, independently at every x.

    Parameters
    ----------
    x : sequence of float
        places (k,).
    samples : sequence of array
        one sample (n_k,) a place; sizes may differ.
    seed : int
        seed of the resampling.

    Returns
    -------
    (float, float)
        place and standard error.

    Raises
    ------
    ValueError
        if the numbers of places and samples differ, or a sample is empty.

    Examples
    --------
    >>> place_of_peak([1, 2, 3], [[0.0, 0.1], [1.0, 1.1], [0.5, 0.4]], seed=1)
    (2.0, 0.0)
    """
    x = np.asarray(x, dtype=float)
    samples = [np.asarray(sample, dtype=float) for sample in samples]
    if len(x) != len(samples) or not all(len(sample) for sample in samples):
        raise ValueError(f"{len(x)} places and {len(samples)} samples; allowed: one non-empty sample a place")
    rng = numpy_generator(seed, "bootstrap of the place of a peak")
    means = np.stack([s[rng.integers(len(s), size=(RESAMPLES, len(s)))].mean(axis=1) for s in samples])  # (k, 2000)
    place = x[int(np.argmax([sample.mean() for sample in samples]))]
    return float(place), float(x[means.argmax(axis=0)].std())
