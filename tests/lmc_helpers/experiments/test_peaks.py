"""Cross-fitted heights: against a plain loop, without the bias of the largest mean, and what is refused."""

import numpy as np
import pytest

from lmc_helpers.experiments.peaks import ratio_at_peaks


def test_each_half_is_measured_at_the_place_that_the_other_chose():
    first = np.array([9.0, 1.0, 9.0, 2.0])  # the half 0, 2 chooses it; 1 and 2 are measured
    second = np.array([5.0, 8.0, 6.0, 8.0])  # the half 1, 3 chooses it; 5 and 6 are measured
    value, error = ratio_at_peaks([first, second], [np.array([1.0, 2.0, 1.0, 2.0])])
    assert value == pytest.approx((1.5 / 2 + 5.5 / 1) / 2)
    # half variances of the numerators: ½ each, over two samples; the denominators do not vary
    assert error == pytest.approx(np.hypot(0.5 / 2, 0.5 / 1) / 2)


def test_no_bias_where_all_places_are_alike():
    rng = np.random.default_rng(1)
    draws = 2 + rng.standard_normal((400, 9, 20)) / 2
    found = [ratio_at_peaks(list(draw[:8]), [draw[8]]) for draw in draws]
    values, errors = np.array(found).T
    naive = np.array([draw[:8].mean(axis=1).max() / draw[8].mean() for draw in draws])
    assert abs(values.mean() - 1) < 4 * values.std() / 20
    assert naive.mean() > 1.05
    assert 0.8 < values.std() / np.sqrt((errors**2).mean()) < 1.2


def test_the_place_is_found_where_it_is_plain():
    rng = np.random.default_rng(2)
    curve = [height + rng.standard_normal(10) / 100 for height in (1, 2, 4, 3)]
    value, error = ratio_at_peaks([curve[0]], curve[1:])
    assert abs(value - 0.25) < 4 * error < 0.02


@pytest.mark.parametrize(
    ("upper", "lower"),
    [([], [[1.0] * 4]), ([[1.0] * 4], []), ([[1.0] * 3], [[1.0] * 4]), ([[1.0] * 4], [[[1.0] * 4] * 4])],
)
def test_too_little_is_refused(upper, lower):
    with pytest.raises(ValueError, match="allowed: at least one a curve"):
        ratio_at_peaks(upper, lower)
