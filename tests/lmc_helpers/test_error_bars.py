"""Standard errors against repetition, scipy, and cases whose answer is known."""

import numpy as np
import pytest
from scipy import stats

from lmc_helpers.error_bars import mean_and_error, place_of_peak, power_law, ratio_of_means, slope_and_error


def test_two_places_with_equal_laws_are_chosen_equally_often():
    rng = np.random.default_rng(0)
    sample = rng.normal(size=400)
    place, error = place_of_peak([0.0, 1.0], [sample, sample + 1e-9], seed=3)
    assert place == 1.0 and error == pytest.approx(0.5, abs=0.02)


def test_a_clear_peak_has_no_error_and_sizes_may_differ():
    assert place_of_peak([3, 5, 9], [np.zeros(4), np.ones(1), [0.5, 0.6]], seed=1) == (5.0, 0.0)


def test_the_seed_decides():
    rng = np.random.default_rng(1)
    samples = rng.normal(size=(3, 10))
    assert place_of_peak([1, 2, 3], samples, 5) == place_of_peak([1, 2, 3], samples, 5)
    assert place_of_peak([1, 2, 3], samples, 5) != place_of_peak([1, 2, 3], samples, 6)


@pytest.mark.parametrize("samples", [[[1.0]], [[1.0], []]])
def test_refuses_missing_samples(samples):
    with pytest.raises(ValueError, match="one non-empty sample a place"):
        place_of_peak([1, 2], samples, 1)


def test_errors_are_the_spread_over_repeated_samples():
    rng = np.random.default_rng(2)
    noise = rng.normal(size=(4000, 200))
    other = rng.normal(size=(4000, 200))
    x, y = 3 + noise, 2 + 0.8 * noise + 0.3 * other
    for paired, second in ((True, y), (False, 2 + other)):
        found = np.array([ratio_of_means(a, b, paired) for a, b in zip(x, second, strict=True)])
        assert found[:, 0].mean() == pytest.approx(1.5, abs=0.01)
        assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.05)
    mean, error = mean_and_error(list(x[:50]))
    assert error.mean() == pytest.approx(1 / np.sqrt(200), rel=0.05) and mean.shape == (50,)


def test_a_slope_agrees_with_scipy_and_its_error_with_repetition():
    rng = np.random.default_rng(3)
    x, stderr = np.array([0.0, 1.0, 1.5, 4.0]), np.array([0.1, 0.3, 0.2, 0.4])
    y = 2 - 0.7 * x + stderr * rng.normal(size=(20_000, 4))
    found = np.array([slope_and_error(x, values, stderr) for values in y])
    assert found[0, 0] == pytest.approx(stats.linregress(x, y[0]).slope)
    assert found[0, 1] == pytest.approx(found[:, 0].std(), rel=0.03)


def test_a_power_law_is_found_with_its_error():
    rng = np.random.default_rng(4)
    x, n = np.array([10.0, 20.0, 80.0]), 400
    spread = np.array([0.1, 0.5, 0.3])[:, None]
    found = np.array(
        [power_law(x, 3 * x[:, None] ** -1.5 * (1 + spread * rng.normal(size=(3, n)))) for _ in range(2000)]
    )
    assert found[:, 0].mean() == pytest.approx(-1.5, abs=4 * found[:, 0].std() / np.sqrt(2000) + 1e-3)
    assert found[:, 1].mean() == pytest.approx(found[:, 0].std(), rel=0.06)
    y = rng.uniform(1, 2, size=(3, 5))  # numpy's weighted fit, which takes 1/σ
    weights = y.mean(axis=1) * np.sqrt(5) / y.std(axis=1, ddof=1)
    fit, covariance = np.polyfit(np.log(x), np.log(y.mean(axis=1)), 1, w=weights, cov="unscaled")
    assert power_law(x, y) == pytest.approx((fit[0], np.sqrt(covariance[0, 0])))


@pytest.mark.parametrize(
    "call",
    [
        lambda: power_law([1.0, 2.0], [[1.0], [2.0]]),
        lambda: power_law([1.0, 1.0], [[1.0, 2.0], [1.0, 2.0]]),
        lambda: power_law([1.0, 2.0, 3.0], [[1.0, 2.0], [1.0, 2.0]]),
        lambda: mean_and_error([[1.0, 2.0], [1.0]]),
        lambda: ratio_of_means([1.0], [1.0, 2.0]),
        lambda: ratio_of_means([1.0, 2.0, 3.0], [1.0, 2.0], paired=True),
        lambda: slope_and_error([1.0, 1.0], [1.0, 2.0], [0.1, 0.1]),
        lambda: slope_and_error([1.0, 2.0], [1.0, 2.0, 3.0], [0.1, 0.1]),
    ],
)
def test_refuses_samples_that_are_too_small_or_do_not_match(call):
    with pytest.raises(ValueError, match="allowed"):
        call()
