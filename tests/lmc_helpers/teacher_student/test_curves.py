"""Peaks over ends: unbiased where the plain ratio of the largest mean is not, and with errors that cover."""

import numpy as np
import pytest

from lmc_helpers.teacher_student.curves import peak_over_ends


def test_a_flat_curve_has_no_peak():
    """The largest of eight equal means lies above the ends by chance; chosen by the other half it does not."""
    rng = np.random.default_rng(1)
    plain, fair = [], []
    for _ in range(400):
        samples = 1 + 0.3 * rng.standard_normal((8, 40))
        means = samples.mean(axis=1)
        plain.append(means.max() / max(means[0], means[-1]))
        fair.append(peak_over_ends(samples))
    values, errors = np.array(fair).T
    assert np.mean(plain) > 1.03
    assert abs(values.mean() - 1) < 0.01
    assert np.mean(np.abs(values - 1) < 3.29 * errors) > 0.97


def test_a_clear_peak_is_the_ratio_of_means():
    rng = np.random.default_rng(2)
    samples = [height * (1 + 0.05 * rng.standard_normal(200)) for height in (1.0, 2.0, 5.0, 3.0)]
    value, error = peak_over_ends(samples)
    assert value == pytest.approx(samples[2].mean() / samples[3].mean(), rel=0.01)
    x, y = samples[2], samples[3]
    pooled = value * np.hypot(x.std() / x.mean(), y.std() / y.mean()) / np.sqrt(200)
    assert error == pytest.approx(pooled, rel=0.1)


@pytest.mark.parametrize("samples", [[[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]])
def test_too_few_are_refused(samples):
    with pytest.raises(ValueError, match="allowed"):
        peak_over_ends(samples)
