"""Overlap of two minima of a two-layer teacher–student network (Zhan, Li & Wu, section 3 and appendix A.1).

A minimum is described by its type vector α (M,): type j has α_j + 1 of the m student neurons, and under the paper's
Assumption 3 α ~ Multinomial(m − M; 1/M, …, 1/M). With X, Y ~ Bin(n, p) independent, n = m − M and p = 1/M, eq. (13)
reads ``T(m, M) = 1 − M/(2m) E|X − Y|``. The paper samples ``E|X − Y|`` or replaces it by its normal approximation;
here it is exact. The characteristic function of D = X − Y is φ(θ) = (1 − 2p(1−p)(1 − cos θ))^n, and since
``|k| = (1/π) ∫₀^π (1 − cos kθ)/(1 − cos θ) dθ`` for integers k::

    E|D| = (1/π) ∫₀^π (1 − φ(θ))/(1 − cos θ) dθ.

The integrand is a polynomial of degree n − 1 in cos θ, hence the Gauss–Chebyshev rule with N ≥ n/2 nodes is not an
approximation: it returns ``E|D|`` up to rounding, as a sum of positive terms, in O(n) operations.

For M → ∞ with m/M → r the binomials become Poisson and T → :func:`overlap_limit`, not the normal limit (16) of the
paper, and the valley of T lies at r* = :func:`minimiser_limit` instead of 2 (chapter *The overlap theorem*).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import i0e, i1e

from lmc_helpers._typing import Integer, Natural, Number, Positive, Probability, checked
from lmc_helpers.seeds import numpy_generator

__all__ = [
    "CHUNK",
    "expected_overlap",
    "mean_absolute_difference",
    "minimiser_limit",
    "overlap_limit",
    "simulate_overlap",
]

CHUNK = 2_000_000  # most type counts that the simulation holds at once


def _check_sizes(m: int, M: int) -> None:
    if m < M:
        raise ValueError(f"m = {m} student neurons for M = {M} teacher neurons; allowed: m >= M")


def chebyshev_nodes(degree: int) -> np.ndarray:
    """1 − cos θ at the Chebyshev nodes θ_k = (2k−1)π/2N that integrate this degree in cos θ exactly; shape (N,)."""
    N = degree // 2 + 1  # exact up to degree 2N − 1
    return 2 * np.sin((2 * np.arange(1, N + 1) - 1) * (math.pi / (4 * N))) ** 2


@checked
def mean_absolute_difference(n: Natural, p: Probability) -> float:
    """``E|X − Y|`` for independent X, Y ~ Bin(n, p), exact up to rounding."""
    if n == 0:
        return 0.0
    u = chebyshev_nodes(n - 1)  # (N,)
    return float(np.mean(-np.expm1(n * np.log1p(-2 * p * (1 - p) * u)) / u))


@checked
def expected_overlap(m: Positive, M: Positive) -> float:
    """Expected overlap proportion of two independent minima, eqs. (12)–(13), exact up to rounding.

    With X, Y ~ Bin(m − M, 1/M) independent,

        T(m, M) = 1 − M/(2m) ``E|X − Y|``.

    Examples
    --------
    Two teachers, three students: the surplus neuron has the same type in both minima with probability ½, hence
    C is 3 or 2 and T = (3 + 2)/(2·3).

    >>> round(expected_overlap(3, 2), 12)
    0.833333333333
    """
    _check_sizes(m, M)
    return 1 - M / (2 * m) * mean_absolute_difference(m - M, 1 / M)


@checked
def overlap_limit(r: Number) -> float:
    """The limit of T(m, M) for M → ∞ and m/M → r: binomials become Poisson(ν), ν = r − 1, and X − Y Skellam.

        T → 1 − ν/(1 + ν) e^(−2ν) (I₀(2ν) + I₁(2ν)).

    Corrects eq. (16) of the paper.

    Examples
    --------
    >>> overlap_limit(1)
    1.0
    >>> abs(overlap_limit(2) - expected_overlap(2 * 10**4, 10**4)) < 1e-4
    True
    """
    if not r >= 1:
        raise ValueError(f"r = m/M = {r}; allowed: r >= 1")
    nu = r - 1
    return float(1 - nu / r * (i0e(2 * nu) + i1e(2 * nu)))


def minimiser_limit() -> float:
    """The limit r* of argmin T(·, M)/M: r* = 1 + ν*, where ν* > 0 is the only root of ν I₁(2ν) = I₀(2ν).

    Examples
    --------
    >>> round(minimiser_limit(), 2)
    2.29
    """
    return 1 + brentq(lambda nu: nu * i1e(2 * nu) - i0e(2 * nu), 1, 2, xtol=1e-14)


@checked
def simulate_overlap(m: Positive, M: Positive, trials: Integer, seed: Integer) -> tuple[float, float]:
    """Mean overlap proportion of simulated pairs of minima, eqs. (5)–(6), and its standard error.

        C = Σ_j min(α_j, α'_j) + M,    proportion C/m,    α, α' ~ Multinomial(m − M; 1/M, …, 1/M).

    Examples
    --------
    >>> mean, stderr = simulate_overlap(12, 6, trials=4000, seed=1)
    >>> abs(mean - expected_overlap(12, 6)) < 4 * stderr
    True
    """
    _check_sizes(m, M)
    if trials < 2:
        raise ValueError(f"trials = {trials}; allowed: trials >= 2")
    rng = numpy_generator(seed, f"overlap m={m} M={M}")
    sizes = [min(trials - start, max(1, CHUNK // M)) for start in range(0, trials, max(1, CHUNK // M))]
    proportions = np.concatenate([_sample_proportions(m, M, size, rng) for size in sizes])  # (trials,)
    return float(proportions.mean()), float(proportions.std(ddof=1) / math.sqrt(trials))


def _sample_proportions(m: int, M: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Overlap proportions (size,) of ``size`` pairs."""
    alpha = rng.multinomial(m - M, np.full(M, 1 / M), size=(2, size))  # (2, size, M)
    return (alpha.min(axis=0).sum(axis=-1) + M) / m  # (size,), eqs. (5) and (6)
