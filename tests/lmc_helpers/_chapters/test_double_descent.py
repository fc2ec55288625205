"""Peaks over ends: unbiased where the plain ratio of the largest mean is not, and with errors that cover."""

from itertools import permutations

import numpy as np
import pytest
import torch
from oracles.notebooks import on_the_page
from scipy.optimize import approx_fprime, minimize

from lmc_helpers._chapters.double_descent import descend_in_span, peak_over_ends
from lmc_helpers.teacher_student import initial_weights, population_hessian
from lmc_helpers.teacher_student import population_loss as loss
from lmc_helpers.teacher_student.gradient_descent import gradient_descent


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


def by_angles(W, M):
    """E (f − f*)² for normal inputs and rows (..., m, M), from the angles between all rows."""
    rows = np.concatenate([W, np.broadcast_to(np.eye(M), (*W.shape[:-2], M, M))], axis=-2)
    size = np.linalg.norm(rows, axis=-1)
    product = size[..., None] * size[..., None, :]
    angle = np.arccos(np.clip(rows @ rows.swapaxes(-1, -2) / product, -1, 1))
    kernel = product * (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi)
    sign = np.repeat([1.0, -1.0], [W.shape[-2], M])
    return (kernel * sign * sign[:, None]).sum(axis=(-2, -1))


@pytest.mark.parametrize(("M", "barrier"), [(3, 0.01216), (4, 0.02155), (5, 0.02539), (6, 0.02732), (7, 0.02845)])
def test_one_neuron_short_no_order_is_better_than_the_rows_as_they_stand(M, barrier):
    (shared,) = on_the_page("19_double_descent", "shared", torch=torch, np=np)
    at = minimize(lambda abc: by_angles(shared(abc, M, M).numpy(), M), [1, 1 / (M - 1), 0], tol=1e-10)
    W = shared(at.x, M, M).numpy()
    assert at.fun == pytest.approx(M * loss(torch.from_numpy(W), M).item())
    gradient = approx_fprime(W.ravel(), lambda w: by_angles(w.reshape(W.shape), M), 1e-6)
    assert abs(gradient).max() < 1e-5
    V, orders = W[:, [*range(M - 2), M - 1, M - 2]], list(permutations(range(M - 1)))
    t = np.linspace(0, 1, 11)[:, None, None, None]
    heights = by_angles(t * W + (1 - t) * V[np.array(orders)], M).max(axis=0) - by_angles(W, M)
    assert heights.argmin() == 0  # of the order that changes nothing
    assert heights[0] == pytest.approx(barrier, abs=6e-6)
