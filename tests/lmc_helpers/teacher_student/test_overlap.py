"""The exact overlap against enumeration, rational arithmetic, scipy's laws and the theorems of the chapter."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy import stats

from lmc_helpers.teacher_student import overlap


def enumerated(m: int, M: int) -> Fraction:
    """T(m, M) over all pairs of assignments of the m − M surplus rows; rational."""
    n = m - M
    counts = [tuple(row.count(j) for j in range(M)) for row in product(range(M), repeat=n)]
    total = sum(sum(map(min, a, b)) + M for a in counts for b in counts)
    return Fraction(total, m * len(counts) ** 2)


@pytest.mark.parametrize(("m", "M"), [(1, 1), (5, 1), (2, 2), (3, 2), (7, 2), (8, 3), (9, 4), (8, 5)])
def test_overlap_is_the_enumerated_mean(m, M):
    assert overlap.expected_overlap(m, M) == pytest.approx(float(enumerated(m, M)), abs=1e-15)


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (2, 0.3), (3, 0.0), (4, 1.0), (57, 0.01), (1000, 0.5), (1001, 0.999)])
def test_moments_against_the_double_sum(n, p):
    k, pmf = np.arange(n + 1), stats.binom.pmf(np.arange(n + 1), n, p)
    expected = pmf @ np.abs(k[:, None] - k) @ pmf
    assert overlap.mean_absolute_difference(n, p) == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_large_sizes_against_the_skellam_law():
    m, M = 10**5, 10**4  # X − Y is within O(1/M) of Skellam(ν, ν)
    nu = m / M - 1
    k = np.arange(-200, 201)
    spread = np.abs(k) @ stats.skellam.pmf(k, nu, nu)
    assert overlap.expected_overlap(m, M) == pytest.approx(1 - M / (2 * m) * spread, abs=1e-4)
    assert overlap.overlap_limit(m / M) == pytest.approx(1 - M / (2 * m) * spread, abs=1e-12)
    r = np.linspace(1, 8, 70_001)
    values = np.array([overlap.overlap_limit(v) for v in r])
    assert r[values.argmin()] == pytest.approx(overlap.minimiser_limit(), abs=2e-4)
    assert (np.diff(np.sign(np.diff(values))) != 0).sum() == 1


@pytest.mark.parametrize(("m", "M", "trials"), [(6, 6, 10), (7, 1, 10), (13, 6, 40_000), (46, 20, 40_000)])
def test_simulation(m, M, trials):
    mean, stderr = overlap.simulate_overlap(m, M, trials, 1)
    assert abs(mean - overlap.expected_overlap(m, M)) <= 4 * stderr
    assert (mean, stderr) == overlap.simulate_overlap(m, M, trials, 1)
    assert stderr == 0 or mean != overlap.simulate_overlap(m, M, trials, 2)[0]


def test_simulation_in_chunks(monkeypatch):
    monkeypatch.setattr(overlap, "CHUNK", 100)
    mean, stderr = overlap.simulate_overlap(12, 6, 5003, 3)
    assert abs(mean - overlap.expected_overlap(12, 6)) <= 4 * stderr
