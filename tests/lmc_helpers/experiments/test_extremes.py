"""The interval of an extreme: it holds that of the truths, also where another reading is the extreme one."""

import numpy as np
import pytest

from lmc_helpers.experiments.extremes import extreme


def test_a_wide_reading_widens_the_interval():
    value, low, high = extreme(min, [(2.0, 0.1), (2.5, 1.0)])
    assert value == 2.0
    assert (low, high) == (pytest.approx(2.5 - 3.2905, abs=1e-3), pytest.approx(2.0 + 0.32905, abs=1e-4))


@pytest.mark.parametrize("pick", [min, max])
def test_covers_the_extreme_of_the_truths(pick):
    draws = np.random.default_rng(1)
    truths, errors = np.array([0.0, 0.1, 0.1, -0.2]), np.array([0.1, 0.3, 0.05, 0.2])
    misses = 0
    for _ in range(4000):
        _, low, high = extreme(pick, zip(truths + errors * draws.normal(size=4), errors, strict=True))
        misses += not low <= pick(truths) <= high
    assert misses <= 16  # at most one in a thousand a reading, four readings


def test_of_one_reading_is_that_reading():
    assert extreme(max, [(1.0, 0.0)]) == (1.0, 1.0, 1.0)
