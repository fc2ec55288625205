"""Statistics of samples with their standard errors: means, ratios, slopes, peaks, clusters.

Claims are judged at ±3.29 standard errors, the normal quantile of the two-sided level 10⁻³ (:data:`QUANTILE`).

Where samples are independent, :func:`share` has an exact interval, :func:`mean_and_error`, :func:`ratio_of_means` and
:func:`slope_and_error` have closed errors; :func:`place_of_peak` resamples.

Samples may come in clusters: several pairs of networks that share a mask are not independent, only the clusters are. A
mean's standard error is then that of the cluster means, and with G clusters the quantile is Student's with G − 1
degrees of freedom. The errors returned for clusters (:func:`over_clusters`, :func:`jackknife`) are widened such that
3.29 of them are the half-width of the Student interval at the same level.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import beta, t

from lmc_helpers._typing import Integer, Reals, checked, short
from lmc_helpers._undefined import Undefined
from lmc_helpers.seeds import numpy_generator

__all__ = [
    "QUANTILE",
    "jackknife",
    "mean_and_error",
    "over_clusters",
    "place_of_peak",
    "ratio_of_means",
    "share",
    "slope_and_error",
    "widening",
]

QUANTILE = 3.2905267314919255  #: Φ⁻¹(1 − 0.0005): half-width of an interval in standard errors
LEVEL = 1e-3  # two-sided: of every interval that a claim is judged by
RESAMPLES = 2000  # for the place of a peak


def _finite(name: str, values: ArrayLike, ndim: int = 1) -> np.ndarray:
    """Finite numbers with at least that many axes."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(f"{name} = {short(values)}; allowed: finite numbers") from error
    if array.ndim < ndim or not array.size or not np.isfinite(array).all():
        raise Undefined(f"{name} has shape {array.shape} and values {array.ravel()[:4]} …; allowed: finite numbers")
    return array


def _listed(name: str, values: Iterable) -> list:
    """The samples as a list, or an error unless they are several."""
    try:
        listed = [*values]
    except TypeError:
        listed = None
    if listed is None or isinstance(values, str):
        raise TypeError(f"{name} = {short(values)}; allowed: a list of samples")
    return listed


def _samples(samples: Iterable[ArrayLike], least: int = 2) -> list[np.ndarray]:
    """Finite samples, by default those that have a standard deviation."""
    arrays = [_finite("a sample", sample) for sample in _listed("samples", samples)]
    wrong = [array.shape for array in arrays if array.ndim > 1 or len(array) < least]
    if wrong:
        raise Undefined(f"a sample of shape {wrong[0]}; allowed: (n,) with n >= {least}")
    return arrays


def mean_and_error(samples: Sequence[ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    """Means (k,) of several samples and their standard errors; each has two values or more, their sizes may differ.

    Examples
    --------
    >>> mean, error = mean_and_error([[1.0, 3.0], [2.0, 2.0, 2.0]])
    >>> mean.tolist(), error.tolist()
    ([2.0, 2.0], [1.0, 0.0])
    """
    arrays = _samples(samples)
    mean = np.array([sample.mean() for sample in arrays])
    return mean, np.array([sample.std(ddof=1) / math.sqrt(len(sample)) for sample in arrays])


@checked
def ratio_of_means(x: Reals, y: Reals, paired: bool = False) -> tuple[float, float]:
    """Mean of x over mean of y and its standard error by the delta method.

    ``x``, ``y``: samples (n,) and (k,), at least two values each; the mean of y is not 0. ``paired``: x and y were
    measured on the same objects, in the same order, so n = k; otherwise they are independent.

    Examples
    --------
    >>> ratio_of_means([1.0, 2.0, 3.0], [2.0, 4.0, 6.0], paired=True)
    (0.5, 0.0)
    """
    x, y = _samples((x, y))
    if y @ (0 * y + 1) == 0:  # its sum
        raise Undefined("the mean of y is 0; allowed: samples y whose mean is not 0")
    ratio = x.mean() / y.mean()
    if not math.isfinite(ratio):
        raise Undefined(f"the means of x and y have the ratio {ratio}; allowed: samples y whose mean is not 0")
    if not paired:
        variance = x.var(ddof=1) / len(x) + ratio**2 * y.var(ddof=1) / len(y)
    elif len(x) != len(y):
        raise ValueError(f"samples of {len(x)} and {len(y)} values; allowed: paired samples of one size")
    else:
        variance = (x - ratio * y).var(ddof=1) / len(x)
    return float(ratio), float(math.sqrt(variance) / abs(y.mean()))


@checked
def slope_and_error(x: Reals, y: Reals, stderr: Reals) -> tuple[float, float]:
    """Slope of the least-squares line through points with independent errors, and its standard error.

    Places x, values and their standard errors are (k,) each, not all places equal. All points weigh the same.

    Examples
    --------
    >>> slope_and_error([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], [0.0, 0.0, 0.0])
    (2.0, 0.0)
    """
    x, y, stderr = _samples((x, y, stderr))
    if not x.shape == y.shape == stderr.shape or x.ndim != 1 or len(np.unique(x)) < 2:
        shapes = f"{x.shape}, {y.shape}, {stderr.shape}"
        raise ValueError(f"shapes {shapes}; allowed: three vectors of one length, at least two different places")
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    return float(weights @ y), float(np.sqrt(weights**2 @ stderr**2))


def place_of_peak(x: ArrayLike, samples: Sequence[ArrayLike], seed: int) -> tuple[float, float]:
    """The x at which the mean of its sample is largest, with an error that accounts for the selection and the grid.

    Selection: each sample is resampled with replacement 2000 times, independently at every x, and the largest mean is
    looked for again. Grid: the peak lies anywhere in the cell around the chosen place, of standard deviation
    (width of the cell)/√12; a cell reaches halfway to the neighbours, at the ends of the grid as far outwards as
    inwards. The variances add. Places are increasing, with a sample for each; sizes may differ.

    Examples
    --------
    >>> place, error = place_of_peak([1, 2, 3], [[0.0, 0.1], [1.0, 1.1], [0.5, 0.4]], seed=1)
    >>> place, round(error * 12**0.5, 12)
    (2.0, 1.0)
    """
    x, arrays = _finite("x", x), _samples(samples, 1)
    if len(x) != len(arrays):
        raise ValueError(f"{len(x)} places and {len(arrays)} samples; allowed: one sample a place")
    if len(x) < 2 or (np.diff(x) <= 0).any():
        raise ValueError(f"places {x.tolist()}; allowed: two or more, increasing")
    rng = numpy_generator(seed, "bootstrap of the place of a peak")
    means = np.stack([s[rng.integers(len(s), size=(RESAMPLES, len(s)))].mean(axis=1) for s in arrays])  # (k, 2000)
    best = int(np.argmax([sample.mean() for sample in arrays]))
    gaps = np.diff(x)
    cell = (gaps[max(best - 1, 0)] + gaps[min(best, len(gaps) - 1)]) / 2
    return float(x[best]), math.hypot(float(x[means.argmax(axis=0)].std()), cell / math.sqrt(12))


@checked
def share(successes: Integer, n: Integer) -> tuple[float, float, float]:
    """Share of n independent trials and the ends of its exact (Clopper–Pearson) interval at two-sided 10⁻³.

    With no success the lower end is 0, with no failure the upper one is 1.

    Examples
    --------
    >>> value, low, high = share(50, 50)
    >>> value, round(low, 4), high
    (1.0, 0.859, 1.0)
    """
    if not 0 <= successes <= n or n < 1:
        kind = Undefined if successes == n == 0 else ValueError
        raise kind(f"{successes} of {n}; allowed: 0 <= successes <= n, n >= 1")
    low = float(beta.ppf(LEVEL / 2, successes, n - successes + 1)) if successes else 0.0
    high = float(beta.isf(LEVEL / 2, successes + 1, n - successes)) if successes < n else 1.0
    return successes / n, low, high


@checked
def widening(G: Integer) -> float:
    """The factor from a standard error over G clusters to one that may be used with the normal quantile.

    It is Student's quantile with G − 1 degrees of freedom over :data:`QUANTILE`.

    Examples
    --------
    >>> round(widening(5), 3), round(widening(10_000), 3)
    (2.617, 1.0)
    """
    if G < 2:
        raise Undefined(f"{G} clusters; allowed: at least 2")
    return float(t.ppf(1 - 0.0005, G - 1)) / QUANTILE


def over_clusters(values: ArrayLike) -> tuple[float, float]:
    """Mean of the cluster means of values (G, …), and its widened standard error.

    Examples
    --------
    >>> mean, error = over_clusters([[1.0, 1.0], [3.0, 3.0]])
    >>> mean, round(error / widening(2), 12)
    (2.0, 1.0)
    """
    array = _finite("values", values)
    means = array.reshape(len(array), -1).mean(axis=1)
    wide = widening(len(means))
    return float(means.mean()), wide * float(means.std(ddof=1)) / math.sqrt(len(means))


def jackknife(statistic: Callable[..., float], *samples: ArrayLike) -> tuple[float, float]:
    """A function of cluster means and its widened standard error, by leaving out one cluster after another.

    The statistic takes one mean for each sample (G, …); clusters of one number belong together in all of them.

    Examples
    --------
    >>> value, error = jackknife(lambda a, b: a - b, [1.0, 2.0, 4.0], [1.0, 1.0, 2.0])
    >>> mean, same = over_clusters([0.0, 1.0, 2.0])
    >>> abs(value - mean) < 1e-12, abs(error - same) < 1e-12
    (True, True)
    """
    arrays = [_finite("samples", sample) for sample in samples]
    if not arrays:
        raise ValueError("0 samples; allowed: at least one")
    means = [array.reshape(len(array), -1).mean(axis=1) for array in arrays]
    G = len(means[0])
    if any(len(mean) != G for mean in means):
        raise ValueError(f"samples of {[len(mean) for mean in means]} clusters; allowed: equal numbers")
    wide = widening(G)
    without = _finite(
        "the statistic", [statistic(*((mean.sum() - mean[g]) / (G - 1) for mean in means)) for g in range(G)]
    )
    error = math.sqrt((G - 1) / G * ((without - without.mean()) ** 2).sum())
    return float(statistic(*(mean.mean() for mean in means))), wide * error


def extreme(pick: Callable[[np.ndarray], float], found: Iterable[tuple[float, float]]) -> tuple[float, float, float]:
    """The least or the largest of several readings, and the same of both ends of their intervals.

    With at least the probability that all intervals contain their true values, the interval contains the extreme of the
    true values: the largest value lies between the largest of the lower ends and the largest of the upper ones.

    ``pick``: ``min`` or ``max``. ``found``: values and standard errors, widened where there are few samples.

    Examples
    --------
    >>> value, low, high = extreme(max, [(1.0, 0.01), (0.9, 0.1)])
    >>> value, round(low, 3), round(high, 3)
    (1.0, 0.967, 1.229)
    """
    if pick is not min and pick is not max:
        raise ValueError(f"pick is {pick!r}; allowed: min, max")
    readings = _finite("found", _listed("found", found), 2)
    if readings.shape[1:] != (2,):
        raise ValueError(f"found has shape {readings.shape}; allowed: (k, 2), values and standard errors")
    values, errors = readings.T
    half = QUANTILE * errors
    value, low, high = (float(pick(ends)) for ends in (values, values - half, values + half))
    return value, low, high
