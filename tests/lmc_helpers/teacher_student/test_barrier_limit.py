"""The limit against exact barriers of wide networks, and the peak finder on known curves."""

import numpy as np
import pytest
from scipy import stats

from lmc_helpers.matching import algorithm_1, permute
from lmc_helpers.teacher_student.barrier_limit import barrier_limits, fitted_maximum, limit_curves, peak_over_batches
from lmc_helpers.teacher_student.between_minima import minima_barrier
from lmc_helpers.teacher_student.minima import sample_minima


@pytest.mark.parametrize("r", [1.5, 3.0])
def test_exact_barriers_approach_the_limit(r):
    permuted, direct = np.mean([barrier_limits(r, 200_000, seed) for seed in range(3)], axis=0)
    gaps = []
    for M, n in ((20, 200), (160, 60)):
        a, b = sample_minima(round(r * M), M, M, 2 * n, seed=1).split(n)
        after = permute(b, algorithm_1(a, b))
        scale = M / M**2  # d = M
        found = [np.mean([minima_barrier(x, y, M) for x, y in zip(a, c, strict=True)]) * scale for c in (after, b)]
        gaps.append([found[0] / permuted - 1, found[1] / direct - 1])
    gaps = np.array(gaps)  # (M, permuted and direct)
    assert (np.abs(gaps[1]) < 0.12).all() and (np.abs(gaps[1]) < np.abs(gaps[0])).all()


def test_without_surplus_rows_nothing_is_left():
    permuted, direct = barrier_limits(1 + 1e-9, 10_000, 1)
    assert permuted == 0 and direct == pytest.approx((2 - 2**0.5) ** 2 / (8 * np.pi))


def test_peak_of_a_skewed_curve_with_noise():
    x = np.geomspace(1.2, 4, 25)
    curve = (x - 1) / x**3  # largest at 3/2
    noise = np.exp(0.002 * np.random.default_rng(0).standard_normal(len(x)))
    assert fitted_maximum(x[:15], (curve * noise)[:15]) == pytest.approx(1.5, abs=0.02)


def test_curves_are_points_with_independent_batches():
    found = limit_curves([1.5, 2.5], types=2000, batches=3, seed=7)
    assert found.shape == (3, 2, 2) and len(np.unique(found[:, 0, 0])) == 3
    assert found[0, 1].tolist() == list(barrier_limits(2.5, 2000, 7))
    assert found[2, 0].tolist() == list(barrier_limits(1.5, 2000, 2007))


@pytest.mark.parametrize("batches", [2, 4, 30])
def test_the_peak_of_batches_has_a_student_interval(batches):
    tops = 2 + 0.1 * np.random.default_rng(1).standard_normal(batches)
    x = np.linspace(1, 4, 20)
    place, error = peak_over_batches(x, np.array([np.exp(-(np.log(x / top) ** 2)) for top in tops]))
    low, high = stats.t.interval(1 - 1e-3, batches - 1, loc=tops.mean(), scale=stats.sem(tops))
    assert place == pytest.approx(tops.mean(), abs=1e-3)
    assert 3.29 * error == pytest.approx((high - low) / 2, rel=0.02)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: barrier_limits(1, 1000, 0), "r = m/M = 1; allowed: r > 1"),
        (lambda: barrier_limits(2, 10, 0), "types = 10; allowed: types >= 1000"),
        (lambda: limit_curves([2.0], 1000, 0, 1), "batches = 0; allowed: batches >= 1"),
        (lambda: peak_over_batches(np.arange(1.0, 9), np.ones((1, 8))), "1 batches; allowed: at least 2"),
        (lambda: fitted_maximum(np.arange(1.0, 4), np.ones(3)), "3 points"),
        (lambda: fitted_maximum(np.arange(1.0, 9), -np.ones(8)), "values > 0"),
        (lambda: fitted_maximum(np.arange(1.0, 9), np.arange(1.0, 9)), "at an end"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
