"""What chapter *center gap* computes and no other part of the package needs."""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.optimize import brentq
from scipy.special import erf, gammaincinv
from scipy.stats import binom, poisson

from lmc_helpers.identifiability.centre_gap import close_probability, poisson_error, separation_bound, star_probability

# ---------- gap exponent
#
# How fast the gap between Gaussian centres shrinks between two widths: a proven bound, and its measurement.
#
# For N(0, I_k) centres, p₁(r) the probability that two of them are within r, and γ_out the gap of m of them
# (:mod:`~lmc_helpers.identifiability.centre_gap`),
#
# 1 − n p₁(r) + (n − 1) p₂(r) <= P(γ_out > √2 r) <= e^(−n p₁(r)) + error(r),      n = m(m − 1)/2.
#
# The first is Hunter's form of the union bound: along a tree that joins the n pairs of centres by common centres the
# probabilities p₂ of both pairs being close count once too often. The second is the theorem of Arratia, Goldstein and
# Gordon. Both bracket the median of γ_out, and its exponent between two widths.


def exponent_ceiling(m0: int, m1: int, k: int) -> float:
    """Proven upper bound on ln(median γ_out(m₁)/median γ_out(m₀))/ln(m₁/m₀) for N(0, I_k) centres, m₀ < m₁."""
    n0, n = m0 * (m0 - 1) / 2, m1 * (m1 - 1) / 2

    def place(expected: float, pairs: float) -> float:  # r with ``expected`` close pairs in the mean
        return 2 * math.sqrt(float(gammaincinv(k / 2, expected / pairs)))

    def union(expected: float) -> float:
        return expected - (n0 - 1) * star_probability(place(expected, n0), k) - 0.5

    def above(expected: float) -> float:
        r = place(expected, n)
        return math.exp(-n * close_probability(r, k)) + poisson_error(r, m1, k) - 0.5

    least = place(brentq(union, 0.5, math.log(2), xtol=1e-9), n0)

    expected = brentq(above, math.log(2), 2.0, xtol=1e-9)
    return math.log(place(expected, n) / least) / math.log(m1 / m0)


def median_exponent(small: torch.Tensor, large: torch.Tensor, ratio: float) -> tuple[float, float]:
    """Exponent of the median between two sizes, ln(median₁/median₀)/ln(m₁/m₀), and its standard error."""
    medians, variance = [], 0.0
    for sample in (small, large):
        x, n = sample.log().sort().values, len(sample)
        medians.append((x[(n - 1) // 2] + x[n // 2]).item() / 2)
        reach = min(round(math.sqrt(n)), (n - 1) // 2)
        spread = (x[n // 2 + reach] - x[n // 2 - reach]).item()
        variance += (spread * math.sqrt(n) / (4 * reach)) ** 2
    run = math.log(ratio)
    return (medians[1] - medians[0]) / run, math.sqrt(variance) / run


# ---------- masked centres
#
# The gap between centres with Bernoulli masks: two rows may vanish, and Thm 4.6 on a line (Bürgin et al.).
#
# Each entry of F is σ Y₀ with probability p, else 0. A row vanishes with probability (1 − p)^d, and two vanishing
# rows
# have the same centre (:func:`~lmc_helpers.identifiability.centre_gap.coincidence_probability`); from which width on
# that
# is likely is :func:`coincidence_width`.
#
# For k = 1, U = d^(−1/2)(1, …, 1)ᵀ and normal Y₀ the difference of two centres is N(0, σ² N/d), where N ~ Bin(2d, p)
# is
# the number of entries of both rows that are not masked. So the union bound over pairs is exact
# (:func:`line_failure`).


def coincidence_width(d: int, p: float, probability: float = 0.5) -> float:
    """The width m from which two rows of a Bernoulli mask vanish with that probability, so that γ_out = 0."""
    log_vanish = d * math.log1p(-p)
    expected = brentq(lambda rows: poisson.sf(1, rows) - probability, 1e-9, 1e3)
    return float(expected) * math.exp(-log_vanish)


def line_failure(m: int, d: int, p: float, delta: float) -> float:
    """Union bound on P(γ_out <= right-hand side of (22)), relative to δ, for k = 1, flat U and masked normal F."""
    bound = separation_bound(m, 1, delta, q=2 * p - p * p) / math.sqrt(2)  # on |v_i − v_j|, σ = 1
    law = binom(2 * d, p)
    low, high = (int(x) for x in (law.ppf(1e-16), law.isf(1e-16)))
    n = np.arange(max(low, 0), min(high, 2 * d) + 1)
    close = np.where(n > 0, erf(bound * np.sqrt(d / (2 * np.maximum(n, 1)))), 1.0)
    single = float(law.pmf(n) @ close) + (float(law.pmf(0)) if low > 0 else 0.0)
    return m * (m - 1) / 2 * single / delta
