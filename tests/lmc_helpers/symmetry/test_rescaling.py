"""The factor of the rescaling barrier: forward passes in NumPy, maxima by SciPy, closed forms."""

import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize_scalar

from lmc_helpers.seeds import torch_generator
from lmc_helpers.symmetry.rescaling import largest_factor, output_factor

DEGREES = [0.5, 1, 2, 3.7]


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch_generator(seed, f"rescaling {shape}"))


def output(last, before, features, k, negative):
    """W_l σ(W_{l−1} F) in NumPy, with sign and power."""
    z = before.numpy() @ features.numpy()
    return last.numpy() @ (np.where(z > 0, 1.0, negative) * np.abs(z) ** k)


@pytest.mark.parametrize("k", DEGREES)
def test_factor_multiplies_the_output_on_the_line(k):
    last, before, features = normal(3, 5), normal(5, 2), normal(2, 7)
    plain = output(last, before, features, k, 0.4)
    for m in (0.05, 3.0):
        other = last * m**-k, m * before
        for alpha in (0.0, 0.31, 0.5, 1.0):
            line = [(1 - alpha) * one + alpha * two for one, two in zip((last, before), other, strict=True)]
            np.testing.assert_allclose(
                output(*line, features, k, 0.4), output_factor(m, k, alpha).item() * plain, rtol=1e-12, atol=1e-13
            )


@pytest.mark.parametrize("k", DEGREES)
@pytest.mark.parametrize("m", [1e-3, 0.5, 0.97, 1.02, 4.0, 1e4])
def test_peak_is_the_maximum(k, m):
    place, value = largest_factor(m, k)
    found = minimize_scalar(
        lambda a: -math.log(1 - a + a * m**-k) - k * math.log(1 - a + a * m),
        bounds=(0, 1),
        method="bounded",
        options={"xatol": 1e-12},
    )
    tolerance = 1e-6 if abs(math.log(m)) > 0.1 else 1e-4  # next to m = 1 the function is flat
    assert place.item() == pytest.approx(found.x, abs=tolerance)
    A, c = 1 - m**-k, m - 1
    closed = k**k / (1 + k) ** (1 + k) * (A + c) ** (1 + k) / (c * A**k) if m > 1 else None
    if closed:
        assert value.item() == pytest.approx(closed, rel=1e-9)
    assert value.item() == pytest.approx(math.exp(-found.fun), rel=1e-9)


@pytest.mark.parametrize("k", DEGREES)
def test_peak_is_symmetric_monotone_and_continuous_at_one(k):
    m = torch.logspace(0.01, 3, 60, dtype=torch.float64)
    place, value = largest_factor(m, k)
    there, same = largest_factor(1 / m, k)
    torch.testing.assert_close(place, 1 - there, rtol=0, atol=1e-10)
    torch.testing.assert_close(value, same, rtol=1e-10, atol=0)
    assert (value.diff() > 0).all() and (value > 1).all()
    assert largest_factor(1.0, k)[0].item() == 0.5 and largest_factor(1.0, k)[1].item() == 1.0
    edge = 0.01 / max(1, k)  # where the series takes over
    around = largest_factor(torch.tensor([edge * (1 - 1e-9), edge * (1 + 1e-9)], dtype=torch.float64).exp(), k)[0]
    assert abs(around.diff().item()) < 1e-11
    assert largest_factor(1e30, k)[0].item() == pytest.approx(k / (1 + k), abs=1e-9)
    above = (largest_factor(5.0, k)[0].item() - 0.5) * (k - 1)
    assert above > 0 if k != 1 else abs(largest_factor(5.0, k)[0].item() - 0.5) < 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: output_factor(-1.0, 1, 0.5), "m = -1.0; allowed"),
        (lambda: output_factor(2.0, 1, 1.5), "lambda = 1.5; allowed: 0 <= lambda <= 1"),
        (lambda: largest_factor(math.inf, 1), "m = inf; allowed"),
    ],
)
def test_factors_and_places_out_of_range_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
