"""Error bars for samples that come in clusters: several pairs of networks that share a mask are not independent.

Only the clusters are. A mean's standard error is that of the cluster means, and with G clusters the quantile is
Student's with G − 1 degrees of freedom. Claims are judged at ±3.29 standard errors, the normal quantile; the errors
returned here are widened, so that 3.29 of them are the half-width of the Student interval at the same level,
two-sided 10⁻³.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.stats import t

__all__ = ["Z", "jackknife", "over_clusters", "widening"]

Z = 3.2905267314919255  # Φ⁻¹(1 − 0.0005)


def widening(G: int) -> float:
    """The factor from a standard error over G clusters to one that may be used with the normal quantile.

    Raises
    ------
    ValueError
        if G < 2.

    Examples
    --------
    >>> round(widening(5), 3), round(widening(10_000), 3)
    (2.617, 1.0)
    """
    if G < 2:
        raise ValueError(f"{G} clusters; allowed: at least 2")
    return float(t.ppf(1 - 0.0005, G - 1)) / Z


def over_clusters(values) -> tuple[float, float]:
    """Mean and widened standard error of clustered values.

    Parameters
    ----------
    values : array
        (G, …): the first dimension counts clusters.

    Raises
    ------
    ValueError
        if there are fewer than two clusters.

    Examples
    --------
    >>> mean, error = over_clusters([[1.0, 1.0], [3.0, 3.0]])
    >>> mean, round(error / widening(2), 12)
    (2.0, 1.0)
    """
    means = np.asarray(values, dtype=float).reshape(len(values), -1).mean(axis=1)
    wide = widening(len(means))
    return float(means.mean()), wide * float(means.std(ddof=1)) / math.sqrt(len(means))


def jackknife(statistic: Callable[..., float], *samples) -> tuple[float, float]:
    """A function of cluster means and its widened standard error, by leaving out one cluster after another.

    Parameters
    ----------
    statistic : callable
        of one mean for each sample.
    *samples : array
        (G, …) each; clusters of one number belong together in all of them.

    Raises
    ------
    ValueError
        if the samples differ in their number of clusters, or there are fewer than two.

    Examples
    --------
    >>> value, error = jackknife(lambda a, b: a - b, [1.0, 2.0, 4.0], [1.0, 1.0, 2.0])
    >>> mean, same = over_clusters([0.0, 1.0, 2.0])
    >>> abs(value - mean) < 1e-12, abs(error - same) < 1e-12
    (True, True)
    """
    means = [np.asarray(sample, dtype=float).reshape(len(sample), -1).mean(axis=1) for sample in samples]
    G = len(means[0])
    if any(len(mean) != G for mean in means):
        raise ValueError(f"samples of {[len(mean) for mean in means]} clusters; allowed: equal numbers")
    wide = widening(G)
    without = np.array([statistic(*((mean.sum() - mean[g]) / (G - 1) for mean in means)) for g in range(G)])
    error = math.sqrt((G - 1) / G * ((without - without.mean()) ** 2).sum())
    return float(statistic(*(mean.mean() for mean in means))), wide * error
