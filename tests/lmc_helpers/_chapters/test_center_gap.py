"""What chapter *center gap* computes, against independent oracles."""

import math
from itertools import product

import pytest
import torch
from scipy.stats import binom

from lmc_helpers._chapters.center_gap import coincidence_width, exponent_ceiling, line_failure, median_exponent
from lmc_helpers.identifiability.centre_gap import gap_quantile, sample_fixed, sample_gaps, separation_bound

# ---------- gap exponent
#
# The exponent of the gap: its ceiling against simulation and the law, its error against repetition.


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


# ---------- masked centres
#
# Masked centres against simulation and against sums over all masks.


@pytest.mark.parametrize(("d", "p", "probability"), [(40, 0.25, 0.5), (60, 0.2, 0.1), (40, 0.25, 0.9)])
def test_width_by_the_binomial_law(d, p, probability):
    m = coincidence_width(d, p, probability)
    assert abs(binom.sf(1, round(m), (1 - p) ** d) - probability) < 1e-3


def test_width_of_the_papers_masks():
    assert abs(coincidence_width(128, 1 / 8) / 4.4447871e7 - 1) < 1e-6
    assert abs(coincidence_width(512, 1 / 8) / 8.2557894e29 - 1) < 1e-6


@pytest.mark.parametrize(("d", "p"), [(1, 0.3), (3, 0.5), (4, 1.0)])
def test_failure_by_all_masks(d, p):
    m, delta = 5, 0.3
    t = separation_bound(m, 1, delta, q=2 * p - p * p) / math.sqrt(2)
    total = 0.0
    for mask in product((0, 1), repeat=2 * d):
        n = sum(mask)
        mass = p**n * (1 - p) ** (2 * d - n)
        total += mass * (math.erf(t / math.sqrt(2 * n / d)) if n else 1.0)
    assert abs(line_failure(m, d, p, delta) / (10 * total / delta) - 1) < 1e-12


def test_failure_by_simulation():
    m, d, p, delta = 4, 6, 0.4, 0.9
    v = sample_fixed(m, d, 40_000, p, 1.0, seed=5).sum(dim=2) / math.sqrt(d)  # (n, m)
    t = separation_bound(m, 1, delta, q=2 * p - p * p) / math.sqrt(2)
    i, j = torch.triu_indices(m, m, 1)
    pairs = ((v[:, i] - v[:, j]).abs() <= t).double().sum(dim=1)
    stderr = pairs.std().item() / math.sqrt(len(pairs))
    assert abs(pairs.mean().item() - delta * line_failure(m, d, p, delta)) < 4.5 * stderr
