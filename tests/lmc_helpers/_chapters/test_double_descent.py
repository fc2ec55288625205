"""What chapter *double descent* computes, against independent oracles."""

import numpy as np
import pytest
import torch

from lmc_helpers._chapters.double_descent import descend_in_span, peak_over_ends
from lmc_helpers.teacher_student.gradient_descent import gradient_descent, initial_weights
from lmc_helpers.teacher_student.population import population_hessian
from lmc_helpers.teacher_student.population import population_loss as loss

# ---------- Peaks over ends: unbiased where the plain ratio of the largest mean is not, and with errors that cover


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


# ---------- Descent in the span against descent in each dimension on its own


@pytest.mark.parametrize(("m", "M", "dims"), [(5, 3, (3, 4, 9, 30)), (2, 1, (1, 7)), (4, 4, (4, 20))])
def test_it_is_the_descent_in_each_dimension(m, M, dims):
    starts = [initial_weights(m, d, 3, seed=2) for d in dims]
    ends = descend_in_span(starts, M, relative_rate=0.6, steps=400, tol=0.0)
    even = torch.eye(M, dtype=torch.float64)
    for d, start, end in zip(dims, starts, ends, strict=True):
        axes = torch.nn.functional.pad(even, (0, d - M))
        sharpest = torch.linalg.eigvalsh(population_hessian(axes, M))[-1].item() * m / M  # of m rows, evenly spread
        alone = gradient_descent(start, M, 0.6 * 2 / sharpest, 400, tol=0.0).W
        torch.testing.assert_close(end, alone, rtol=1e-8, atol=1e-9)
        assert (loss(end, M) < loss(start, M)).all()
