"""Masked centres against simulation and against sums over all masks."""

import math
from itertools import product

import pytest
import torch
from scipy.stats import binom

from lmc_helpers.identifiability.centre_gap import sample_fixed, separation_bound
from lmc_helpers.identifiability.masked_centres import coincidence_width, line_failure


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


@pytest.mark.parametrize(("d", "p", "q"), [(0, 0.5, 0.5), (100, 0.0, 0.5), (100, 0.5, 1.0), (3, 0.5, 0.5)])
def test_bad_parameters_are_refused(d, p, q):
    with pytest.raises(ValueError, match="allowed"):
        coincidence_width(d, p, q)
