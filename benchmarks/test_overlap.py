"""Exact overlap against what it replaces: the double sum over the binomial law, and simulation.

make bench prints one group a size; within a group the rows compute the same number.
"""

import numpy as np
import pytest
from scipy import stats

from lmc_helpers.teacher_student import overlap


def double_sum(m: int, M: int) -> float:
    """T(m, M) with E|X − Y| summed over pairs of outcomes, by cumulative sums: E|X − Y| = 2 Σ F(k)(1 − F(k))."""
    cdf = stats.binom.cdf(np.arange(m - M), m - M, 1 / M)
    return 1 - M / m * float(cdf @ (1 - cdf))


def dense_sum(m: int, M: int) -> float:
    """The same as a dense double sum, as eq. (13) reads."""
    k = np.arange(m - M + 1)
    pmf = stats.binom.pmf(k, m - M, 1 / M)
    return 1 - M / (2 * m) * float(pmf @ np.abs(k[:, None] - k) @ pmf)


@pytest.mark.parametrize(("m", "M"), [(40, 20), (400, 200), (4000, 2000), (100_000, 10_000)])
@pytest.mark.parametrize("method", ["exact", "cumulative", "dense", "simulated"])
def test_overlap(benchmark, method, m, M):
    benchmark.group = f"T({m}, {M})"
    if method == "dense" and m > 4000:
        pytest.skip("the dense double sum would need 60 GB")
    trials = 100
    functions = {
        "exact": lambda: overlap.expected_overlap(m, M),
        "cumulative": lambda: double_sum(m, M),
        "dense": lambda: dense_sum(m, M),
        "simulated": lambda: overlap.simulate_overlap(m, M, trials, 1)[0],
    }
    benchmark.extra_info["pairs"] = trials if method == "simulated" else None
    value = benchmark(functions[method])
    assert value == pytest.approx(overlap.expected_overlap(m, M), abs=0.05 if method == "simulated" else 1e-9)
