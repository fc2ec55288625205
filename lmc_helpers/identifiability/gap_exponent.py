"""How fast the gap between Gaussian centres shrinks between two widths: a proven bound, and its measurement.

For N(0, I_k) centres, p₁(r) the probability that two of them are within r, and γ_out the gap of m of them
(:mod:`~lmc_helpers.identifiability.centre_gap`),

    1 − n p₁(r) + (n − 1) p₂(r) <= P(γ_out > √2 r) <= e^(−n p₁(r)) + error(r),      n = m(m − 1)/2.

The first is Hunter's form of the union bound: along a tree that joins the n pairs of centres by common centres the
probabilities p₂ of both pairs being close count once too often. The second is the theorem of Arratia, Goldstein and
Gordon. Both bracket the median of γ_out, and its exponent between two widths.
"""

from __future__ import annotations

import math

import torch
from scipy.optimize import brentq
from scipy.special import gammaincinv

from lmc_helpers.identifiability.centre_gap import close_probability, poisson_error, star_probability

__all__ = ["exponent_ceiling", "median_exponent"]


def exponent_ceiling(m0: int, m1: int, k: int) -> float:
    """Proven upper bound on ln(median γ_out(m₁)/median γ_out(m₀))/ln(m₁/m₀) for N(0, I_k) centres, m₀ < m₁.

    Parameters
    ----------
    m0, m1 : int
        widths, 3 <= m₀ < m₁.
    k : int
        dimension.

    Returns
    -------
    float
        negative where m₁ is far above m₀.

    Examples
    --------
    >>> exponent_ceiling(16, 1024, 8) < -2 / 8
    True
    """
    if not 3 <= m0 < m1:
        raise ValueError(f"m0 = {m0}, m1 = {m1}; allowed: 3 <= m0 < m1")
    n0, n = m0 * (m0 - 1) / 2, m1 * (m1 - 1) / 2

    def place(expected: float, pairs: float) -> float:  # r with ``expected`` close pairs in the mean
        return 2 * math.sqrt(float(gammaincinv(k / 2, expected / pairs)))

    def union(expected: float) -> float:
        return expected - (n0 - 1) * star_probability(place(expected, n0), k) - 0.5

    def above(expected: float) -> float:
        r = place(expected, n)
        return math.exp(-n * close_probability(r, k)) + poisson_error(r, m1, k) - 0.5

    least = place(brentq(union, 0.5, math.log(2), xtol=1e-9), n0)

    if above(2.0) > 0:
        raise ValueError(f"m1 = {m1} for k = {k}; allowed: widths at which the law of the gap is known to within 0.36")
    expected = brentq(above, math.log(2), 2.0, xtol=1e-9)
    return math.log(place(expected, n) / least) / math.log(m1 / m0)


def median_exponent(small: torch.Tensor, large: torch.Tensor, ratio: float) -> tuple[float, float]:
    """Exponent of the median between two sizes, ln(median₁/median₀)/ln(m₁/m₀), and its standard error.

    The error of a median is a quarter of the distance of the order statistics √n above and below the middle.

    Parameters
    ----------
    small, large : torch.Tensor
        independent samples (n,) of a positive quantity at the sizes m₀ and m₁, n >= 16 each.
    ratio : float
        m₁/m₀ > 1.

    Returns
    -------
    (float, float)
        exponent and standard error.

    Examples
    --------
    >>> x = torch.linspace(1, 3, 101, dtype=torch.float64)
    >>> round(median_exponent(x, x / 8, 2.0)[0], 12)
    -3.0
    """
    if min(small.numel(), large.numel()) < 16 or not ratio > 1:
        raise ValueError(f"samples of {len(small)}, {len(large)}, ratio = {ratio}; allowed: 16 each, and ratio > 1")
    medians, variance = [], 0.0
    for sample in (small, large):
        x, n = sample.log().sort().values, len(sample)
        medians.append((x[(n - 1) // 2] + x[n // 2]).item() / 2)
        reach = min(round(math.sqrt(n)), (n - 1) // 2)
        spread = (x[n // 2 + reach] - x[n // 2 - reach]).item()
        variance += (spread * math.sqrt(n) / (4 * reach)) ** 2
    run = math.log(ratio)
    return (medians[1] - medians[0]) / run, math.sqrt(variance) / run
