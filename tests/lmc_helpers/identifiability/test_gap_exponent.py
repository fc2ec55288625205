"""The exponent of the gap: its ceiling against simulation and the law, its error against repetition."""

import math

import pytest
import torch

from lmc_helpers.identifiability.centre_gap import gap_quantile, sample_gaps
from lmc_helpers.identifiability.gap_exponent import exponent_ceiling, median_exponent


@pytest.mark.parametrize(("k", "m1"), [(2, 256), (8, 1024), (32, 1024)])
def test_ceiling_is_above_the_simulated_exponent_and_near_the_law(k, m1):
    ceiling = exponent_ceiling(16, m1, k)
    law = math.log(gap_quantile(0.5, m1, k) / gap_quantile(0.5, 16, k)) / math.log(m1 / 16)
    assert law < ceiling < 0.93 * law
    value, error = median_exponent(sample_gaps(16, k, 400, 1), sample_gaps(m1, k, 60, 2), m1 / 16)
    assert value < ceiling + 4.5 * error


def test_ceilings_are_steeper_than_the_limit_for_larger_k():
    assert exponent_ceiling(16, 1024, 8) < -0.25507
    assert exponent_ceiling(16, 1024, 32) < -0.085


def test_standard_error_by_repetition():
    generator = torch.Generator().manual_seed(3)
    draws = torch.rand(400, 2, 300, dtype=torch.float64, generator=generator).add(0.5)
    found = [median_exponent(x, y, 4.0) for x, y in draws]
    values, errors = (torch.tensor(z) for z in zip(*found, strict=True))
    assert abs(values.mean().item()) < 4.5 * values.std().item() / 20
    assert 0.85 < errors.square().mean().sqrt().item() / values.std().item() < 1.2


def test_bad_parameters_are_refused():
    one = torch.ones(20)
    for call in (
        lambda: exponent_ceiling(16, 16, 2),
        lambda: exponent_ceiling(3, 6, 32),
        lambda: median_exponent(one, one, 1.0),
        lambda: median_exponent(one[:3], one, 2.0),
    ):
        with pytest.raises(ValueError, match="allowed"):
            call()
