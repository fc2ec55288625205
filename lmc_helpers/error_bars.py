"""Statistics of samples with their standard errors: means, ratios of means, slopes, places of a peak."""

from __future__ import annotations

import math

import numpy as np

from lmc_helpers.device import numpy_generator

__all__ = ["mean_and_error", "place_of_peak", "ratio_of_means", "slope_and_error"]

RESAMPLES = 2000


def mean_and_error(samples) -> tuple[np.ndarray, np.ndarray]:
    """Means of several samples and their standard errors.

    Parameters
    ----------
    samples : sequence of array
        one sample (n_k,) a place, n_k >= 2; sizes may differ.

    Returns
    -------
    (numpy.ndarray, numpy.ndarray)
        means and standard errors, (k,) each.

    Raises
    ------
    ValueError
        if a sample has fewer than two values.

    Examples
    --------
    >>> mean, error = mean_and_error([[1.0, 3.0], [2.0, 2.0, 2.0]])
    >>> mean.tolist(), error.tolist()
    ([2.0, 2.0], [1.0, 0.0])
    """
    samples = [np.asarray(sample, dtype=float) for sample in samples]
    _at_least_two(*samples)
    mean = np.array([sample.mean() for sample in samples])
    return mean, np.array([sample.std(ddof=1) / math.sqrt(len(sample)) for sample in samples])


def ratio_of_means(x: np.ndarray, y: np.ndarray, paired: bool = False) -> tuple[float, float]:
    """Mean of x over mean of y and its standard error by the delta method.

    Parameters
    ----------
    x, y : array
        samples (n,) and (k,), at least two values each; the mean of y is not 0.
    paired : bool
        x and y were measured on the same objects, in the same order, so n = k; otherwise they are independent.

    Returns
    -------
    (float, float)
        ratio and standard error.

    Raises
    ------
    ValueError
        if a sample has fewer than two values, or paired samples differ in size.

    Examples
    --------
    >>> ratio_of_means([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], paired=True)
    (0.5, 0.0)
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    _at_least_two(x, y)
    ratio = x.mean() / y.mean()
    if not paired:
        variance = x.var(ddof=1) / len(x) + ratio**2 * y.var(ddof=1) / len(y)
    elif len(x) != len(y):
        raise ValueError(f"samples of {len(x)} and {len(y)} values; allowed: paired samples of one size")
    else:
        variance = (x - ratio * y).var(ddof=1) / len(x)
    return float(ratio), float(math.sqrt(variance) / abs(y.mean()))


def slope_and_error(x, y, stderr) -> tuple[float, float]:
    """Slope of the least-squares line through points with independent errors.

    Parameters
    ----------
    x, y, stderr : array
        places, values and their standard errors, (k,) each, not all places equal. All points weigh the same.

    Returns
    -------
    (float, float)
        slope and its standard error.

    Raises
    ------
    ValueError
        if the shapes differ or there are fewer than two different places.

    Examples
    --------
    >>> slope_and_error([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], [0.0, 0.0, 0.0])
    (2.0, 0.0)
    """
    x, y, stderr = (np.asarray(values, dtype=float) for values in (x, y, stderr))
    if not x.shape == y.shape == stderr.shape or x.ndim != 1 or len(np.unique(x)) < 2:
        shapes = f"{x.shape}, {y.shape}, {stderr.shape}"
        raise ValueError(f"shapes {shapes}; allowed: three vectors of one length, at least two different places")
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    return float(weights @ y), float(np.sqrt(weights**2 @ stderr**2))


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


def _at_least_two(*samples: np.ndarray) -> None:
    """Refuse samples that have no standard deviation."""
    for sample in samples:
        if len(sample) < 2:
            raise ValueError(f"a sample of {len(sample)} values; allowed: at least 2")
