"""The bootstrapped place of a peak against cases whose answer is known."""

import numpy as np
import pytest

from lmc_helpers.bootstrap import place_of_peak


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
