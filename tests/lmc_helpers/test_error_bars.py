"""Standard errors against repetition, scipy, coverage by simulation, and cases whose answer is known."""

import math

import numpy as np
import pytest
from scipy import stats

from lmc_helpers import error_bars


def test_a_clear_peak_has_the_error_of_its_cell_and_equal_places_are_chosen_equally_often():
    rng = np.random.default_rng(0)
    sample = rng.normal(size=400)
    place, error = error_bars.place_of_peak([0.0, 1.0], [sample, sample + 1e-9], seed=3)
    assert place == 1.0 and error == pytest.approx(math.hypot(0.5, math.sqrt(1 / 12)), abs=0.02)
    for best, cell in enumerate([2.0, 3.0, 4.0]):  # of the places 3, 5, 9; at the ends as far outwards as inwards
        samples = [[1.0] if at == best else np.zeros(at + 2) for at in range(3)]
        place, error = error_bars.place_of_peak([3, 5, 9], samples, seed=1)
        uniform = np.random.default_rng(best).uniform(0, cell, size=400_000)
        assert place == [3, 5, 9][best] and error == pytest.approx(uniform.std(), rel=0.01)
    rng = np.random.default_rng(1)
    samples = rng.normal(size=(3, 10))
    assert error_bars.place_of_peak([1, 2, 3], samples, 5) == error_bars.place_of_peak([1, 2, 3], samples, 5)
    assert error_bars.place_of_peak([1, 2, 3], samples, 5) != error_bars.place_of_peak([1, 2, 3], samples, 6)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 24), (7, 24), (24, 24), (50, 50), (997, 1000)])
def test_the_interval_of_a_share_inverts_the_binomial_tails(successes, n):
    value, low, high = error_bars.share(successes, n)
    assert value == successes / n and low <= value <= high
    if successes:
        assert stats.binom.sf(successes - 1, n, low) == pytest.approx(0.0005, rel=1e-6)
    else:
        assert low == 0
    if successes < n:
        assert stats.binom.cdf(successes, n, high) == pytest.approx(0.0005, rel=1e-6)
    else:
        assert high == 1


def test_errors_are_the_spread_over_repeated_samples():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(4000, 200))
    other = rng.normal(size=(4000, 200))
    x, y = 3 + noise, 2 + 0.8 * noise + 0.3 * other
    for paired, second in ((True, y), (False, 2 + other)):
        found = np.array([error_bars.ratio_of_means(a, b, paired) for a, b in zip(x, second, strict=True)])
        assert found[:, 0].mean() == pytest.approx(1.5, abs=0.01)
        assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.05)
    mean, error = error_bars.mean_and_error(list(x[:50]))
    assert error.mean() == pytest.approx(1 / np.sqrt(200), rel=0.05) and mean.shape == (50,)


def test_a_slope_agrees_with_scipy_and_its_error_with_repetition():
    rng = np.random.default_rng(3)
    x, stderr = np.array([0.0, 1.0, 1.5, 4.0]), np.array([0.1, 0.3, 0.2, 0.4])
    y = 2 - 0.7 * x + stderr * rng.normal(size=(20_000, 4))
    found = np.array([error_bars.slope_and_error(x, values, stderr) for values in y])
    assert found[0, 0] == pytest.approx(stats.linregress(x, y[0]).slope)
    assert found[0, 1] == pytest.approx(found[:, 0].std(), rel=0.03)


@pytest.mark.parametrize("G", [2, 5, 16])
def test_intervals_are_student_s(G):
    values = np.random.default_rng(G).normal(size=G)
    mean, error = error_bars.over_clusters(values)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(0.999)
    assert (mean - error_bars.QUANTILE * error, mean + error_bars.QUANTILE * error) == pytest.approx((low, high))


def test_jackknife_of_a_ratio_is_the_delta_method():
    rng = np.random.default_rng(2)
    a, b = rng.normal(3, 0.1, 400), rng.normal(2, 0.1, 400)
    value, error = error_bars.jackknife(lambda x, y: x / y, a, b)
    ratio = a.mean() / b.mean()
    delta = np.std(a - ratio * b, ddof=1) / (b.mean() * 20)
    assert value == pytest.approx(ratio) and error == pytest.approx(delta * error_bars.widening(400), rel=0.01)
    assert error_bars.over_clusters(np.arange(12.0).reshape(3, 2, 2)) == error_bars.over_clusters([1.5, 5.5, 9.5])


def test_a_wide_reading_widens_the_interval():
    value, low, high = error_bars.extreme(min, [(2.0, 0.1), (2.5, 1.0)])
    assert value == 2.0
    assert (low, high) == (pytest.approx(2.5 - 3.2905, abs=1e-3), pytest.approx(2.0 + 0.32905, abs=1e-4))
    assert error_bars.extreme(max, [(1.0, 0.0)]) == (1.0, 1.0, 1.0)


@pytest.mark.parametrize("pick", [min, max])
def test_covers_the_extreme_of_the_truths(pick):
    draws = np.random.default_rng(1)
    truths, errors = np.array([0.0, 0.1, 0.1, -0.2]), np.array([0.1, 0.3, 0.05, 0.2])
    misses = 0
    for _ in range(4000):
        _, low, high = error_bars.extreme(pick, zip(truths + errors * draws.normal(size=4), errors, strict=True))
        misses += not low <= pick(truths) <= high
    assert misses <= 16  # at most one in a thousand a reading, four readings
