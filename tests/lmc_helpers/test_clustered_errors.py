"""Clustered errors: coverage of the intervals by simulation, and textbook cases."""

import numpy as np
import pytest
from scipy import stats

from lmc_helpers.error_bars import Z, jackknife, over_clusters, widening


@pytest.mark.parametrize("G", [2, 5, 16])
def test_intervals_are_student_s(G):
    values = np.random.default_rng(G).normal(size=G)
    mean, error = over_clusters(values)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.999)
    assert (mean - Z * error, mean + Z * error) == pytest.approx((low, high))


def test_intervals_cover_clustered_data():
    """At two-sided 10⁻³ five clusters of ten correlated values; the naive error of 50 values misses far more often."""
    rng = np.random.default_rng(1)
    runs, wide, naive = 4000, 0, 0
    for _ in range(runs):
        values = rng.normal(size=(5, 1)) + rng.normal(size=(5, 10))
        mean, error = over_clusters(values)
        wide += abs(mean) > Z * error
        naive += abs(mean) > Z * values.std(ddof=1) / 50**0.5
    assert wide <= stats.binom.ppf(1 - 1e-6, runs, 1e-3)
    assert naive > 0.05 * runs


def test_jackknife_of_a_ratio_is_the_delta_method():
    rng = np.random.default_rng(2)
    a, b = rng.normal(3, 0.1, 400), rng.normal(2, 0.1, 400)
    value, error = jackknife(lambda x, y: x / y, a, b)
    ratio = a.mean() / b.mean()
    delta = np.std(a - ratio * b, ddof=1) / (b.mean() * 20)
    assert value == pytest.approx(ratio) and error == pytest.approx(delta * widening(400), rel=0.01)


def test_values_of_a_cluster_are_averaged_first():
    assert over_clusters(np.arange(12.0).reshape(3, 2, 2)) == over_clusters([1.5, 5.5, 9.5])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: over_clusters([1.0]), "1 clusters; allowed: at least 2"),
        (lambda: jackknife(lambda a, b: a, [1.0, 2.0], [1.0, 2.0, 3.0]), r"samples of \[2, 3\] clusters"),
        (lambda: jackknife(lambda a: a, [1.0]), "1 clusters"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
