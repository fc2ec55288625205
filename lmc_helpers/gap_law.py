"""The law of the smallest gap between Gaussian centres (Bürgin, Herbst, Lin & Jegelka, Thm 4.6 and Fig. 11).

For Gaussian F without a mask the centres are independent N(0, σ² I_k), two of them are within r with probability
P(k/2, r²/4σ²) (regularised incomplete gamma function), and the number of pairs within r is nearly a Poisson variable:

    P(γ_out > √2 r) ≈ exp(−n P(k/2, r²/4σ²)),      n = m(m−1)/2.

The error of this has the explicit bound :func:`poisson_error`. For fixed k and m → ∞ it gives a Weibull law of shape k.
"""

from __future__ import annotations

import math

from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammainc, gammaincc, gammaincinv, gammaln
from scipy.stats import ncx2

from lmc_helpers.center_gap import check, log_unit_ball

__all__ = [
    "close_probability",
    "expected_log_gap",
    "gap_quantile",
    "local_exponent",
    "poisson_error",
    "typical_width",
    "weibull_scale",
]


def close_probability(r: float, k: int, sigma: float = 1.0) -> float:
    """Probability P(k/2, r²/4σ²) that two independent N(0, σ² I_k) points lie within r of each other.

    Examples
    --------
    >>> abs(close_probability(0.3, 2) - (1 - math.exp(-0.3**2 / 4))) < 1e-15
    True
    """
    check(k=k, sigma=sigma, r=r)
    return float(gammainc(k / 2, r * r / (4 * sigma**2)))


def gap_quantile(probability: float, m: int, k: int, sigma: float = 1.0) -> float:
    """The quantile of γ_out for m Gaussian centres in the Poisson approximation: n P(k/2, γ²/8σ²) = −ln(1 − prob).

    Replacing −ln(1 − probability) by ``probability`` gives a rigorous lower bound on the quantile (union bound).

    Raises
    ------
    ValueError
        if a parameter is out of range, or the quantile would need more pairs than there are.

    Examples
    --------
    For m = 10⁶ and k = 2 the median of m² γ²/16 is ln 2, up to 1/m.

    >>> round(gap_quantile(0.5, 10**6, 2) ** 2 * 10**12 / 16, 4) == round(math.log(2), 4)
    True
    """
    check(m=m, k=k, sigma=sigma, probability=probability)
    target = -math.log1p(-probability) / (m * (m - 1) / 2)
    if target >= 1:
        raise ValueError(f"probability = {probability} with m = {m}; allowed: below 1 − exp(−m(m−1)/2)")
    return 2 * math.sqrt(2) * sigma * math.sqrt(gammaincinv(k / 2, target))


def expected_log_gap(m: int, k: int, sigma: float = 1.0) -> float:
    """E ln γ_out for m Gaussian centres in the Poisson approximation: the mean of ln γ over n P(k/2, γ²/8σ²) ~ Exp(1).

    Examples
    --------
    For k = 2 and large m, γ² = 16 E/m² with E ~ Exp(1), and E ln E = −0.5772 (Euler's constant).

    >>> round(2 * expected_log_gap(10**5, 2) - math.log(16) + 2 * math.log(10**5), 4)
    -0.5772
    """
    check(m=m, k=k, sigma=sigma)
    n = m * (m - 1) / 2

    def integrand(y: float) -> float:  # y = ln of the exponential variable
        e = math.exp(y)
        return 0.5 * math.log(gammaincinv(k / 2, min(e / n, 1 - 1e-15))) * math.exp(y - e)

    value, _ = quad(integrand, -40, math.log(40), epsabs=1e-11, limit=400, points=[-5.0, 0.0])
    return value + math.log(2 * math.sqrt(2) * sigma)


def weibull_scale(m: int, k: int, sigma: float = 1.0) -> float:
    """s(m) with P(γ_out > s(m) y) → exp(−y^k) as m → ∞: s = √(8π) σ (2/(m² V_k))^(1/k).

    Examples
    --------
    >>> abs(weibull_scale(100, 2) - 4 / 100) < 1e-15
    True
    """
    check(m=m, k=k, sigma=sigma)
    return math.sqrt(8 * math.pi) * sigma * math.exp((math.log(2) - 2 * math.log(m) - log_unit_ball(k)) / k)


def local_exponent(m: int, k: int) -> float:
    """d ln γ/d ln m of the median of γ_out in the Poisson approximation; −2/k in the limit m → ∞.

    With z = r²/4σ² and P = P(k/2, z) it is −(2m−1)/(m−1) · P/(2 z P'(z)).

    Examples
    --------
    >>> round(local_exponent(10**6, 2), 6), round(local_exponent(64, 32) / (-2 / 32), 2)
    (-1.000001, 1.51)
    """
    check(m=m, k=k)
    z = (gap_quantile(0.5, m, k) / (2 * math.sqrt(2))) ** 2
    log_slope = k / 2 * math.log(z) - z - float(gammaln(k / 2))  # ln(z P'(z))
    return -(2 * m - 1) / (m - 1) * float(gammainc(k / 2, z)) / (2 * math.exp(log_slope))


def typical_width(k: int, accuracy: float) -> float:
    """The width m from which the local exponent is within ``accuracy`` (relative) of −2/k.

    Raises
    ------
    ValueError
        if the accuracy is not in (0, 1), or the width is beyond 10⁶⁰.

    Examples
    --------
    >>> typical_width(2, 0.05) < 64 < 10**6 < typical_width(32, 0.05)
    True
    """
    check(k=k)
    if not 0 < accuracy < 1:
        raise ValueError(f"accuracy = {accuracy}; allowed: 0 < accuracy < 1")

    def excess(log_m: float) -> float:
        return local_exponent(round(math.exp(log_m)), k) / (-2 / k) - 1 - accuracy

    low, high = math.log(3), math.log(1e60)
    if excess(high) > 0:
        raise ValueError(f"accuracy = {accuracy} for k = {k}; allowed: accuracies reached below m = 1e60")
    return float(math.exp(low)) if excess(low) < 0 else round(math.exp(brentq(excess, low, high, xtol=1e-6)))


def poisson_error(r: float, m: int, k: int, sigma: float = 1.0) -> float:
    """Bound on ``|P(no two centres within r) − exp(−λ)|``, λ = n P(k/2, r²/4σ²) (Arratia, Goldstein and Gordon).

    Pairs without a common centre are independent, so the bound is min(1, 1/λ) (b₁ + b₂) with
    b₁ = n(2m − 3) p₁² and b₂ = 2n(m − 2) p₂, where p₂ is the probability that two centres are both within r of a third.

    Parameters
    ----------
    r : float
        distance; γ_out = √2 r.
    m, k : int
        centres and dimension.
    sigma : float
        σ_F.

    Returns
    -------
    float
        non-negative; informative below 1.

    Raises
    ------
    ValueError
        if a parameter is out of range.

    Examples
    --------
    >>> poisson_error(gap_quantile(0.5, 10**4, 2) / math.sqrt(2), 10**4, 2) < 1e-3
    True
    """
    check(m=m, k=k, sigma=sigma, r=r)
    p1, x = close_probability(r, k, sigma), (r / sigma) ** 2

    def integrand(y: float) -> float:  # y = |v|²/σ² of the third centre
        density = math.exp((k / 2 - 1) * math.log(y) - y / 2 - k / 2 * math.log(2) - float(gammaln(k / 2)))
        return density * float(ncx2.cdf(x, k, y)) ** 2

    spread = k + 12 * math.sqrt(2 * k) + 60
    p2, _ = quad(integrand, 1e-14, spread, limit=200, epsabs=0, epsrel=1e-6, points=[k / 2, float(k)])
    p2 += float(gammaincc(k / 2, spread / 2)) * float(ncx2.cdf(x, k, spread)) ** 2
    n = m * (m - 1) / 2
    return min(1.0, 1 / (n * p1)) * n * ((2 * m - 3) * p1**2 + 2 * (m - 2) * p2)
