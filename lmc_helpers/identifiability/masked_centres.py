"""The gap between centres with Bernoulli masks: two rows may vanish, and Thm 4.6 on a line (Bürgin et al.).

Each entry of F is σ Y₀ with probability p, else 0. A row vanishes with probability (1 − p)^d, and two vanishing rows
have the same centre (:func:`~lmc_helpers.identifiability.centre_gap.coincidence_probability`); from which width on that
is likely is :func:`coincidence_width`.

For k = 1, U = d^(−1/2)(1, …, 1)ᵀ and normal Y₀ the difference of two centres is N(0, σ² N/d), where N ~ Bin(2d, p) is
the number of entries of both rows that are not masked. So the union bound over pairs is exact (:func:`line_failure`).
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import erf
from scipy.stats import binom, poisson

from lmc_helpers.identifiability.centre_gap import separation_bound

__all__ = ["coincidence_width", "line_failure"]


def coincidence_width(d: int, p: float, probability: float = 0.5) -> float:
    """The width m from which two rows of a Bernoulli mask vanish with that probability, so that γ_out = 0.

    Solves P(Bin(m, (1 − p)^d) >= 2) = probability, for m (1 − p)^d by the Poisson law where (1 − p)^d is small.

    Parameters
    ----------
    d : int
        columns of F.
    p : float
        probability in (0, 1) that an entry is not masked; (1 − p)^d at most 10⁻³.
    probability : float
        in (0, 1).

    Returns
    -------
    float
        m, to a relative accuracy of (1 − p)^d.

    Examples
    --------
    >>> f"{coincidence_width(128, 1 / 8):.1e}"
    '4.4e+07'
    """
    if not (d >= 1 and 0 < p < 1 and 0 < probability < 1):
        raise ValueError(f"d = {d}, p = {p}, probability = {probability}; allowed: d >= 1 and both in (0, 1)")
    log_vanish = d * math.log1p(-p)
    if log_vanish > math.log(1e-3):
        raise ValueError(f"(1 − p)^d = {math.exp(log_vanish):.2g}; allowed: at most 1e-3, where rows are rare events")
    expected = brentq(lambda rows: poisson.sf(1, rows) - probability, 1e-9, 1e3)
    return float(expected) * math.exp(-log_vanish)


def line_failure(m: int, d: int, p: float, delta: float) -> float:
    """Union bound on P(γ_out <= right-hand side of (22)), relative to δ, for k = 1, flat U and masked normal F.

    P(``|v_i − v_j|`` <= t) = Σ_n Bin(2d, p)(n) erf(t √(d/2n)) is exact; there are m(m − 1)/2 pairs.

    Parameters
    ----------
    m, d : int
        neurons and inputs.
    p : float
        probability in (0, 1] that an entry is not masked.
    delta : float
        δ of the theorem.

    Returns
    -------
    float
        at most 1 where the bound of Thm 4.6, with the constant of its proof, holds.

    Examples
    --------
    >>> line_failure(16, 4096, 0.5, 0.5) < 1 < line_failure(16, 2, 0.1, 0.5)
    True
    """
    bound = separation_bound(m, 1, delta, q=2 * p - p * p) / math.sqrt(2)  # on |v_i − v_j|, σ = 1
    law = binom(2 * d, p)
    low, high = (int(x) for x in (law.ppf(1e-16), law.isf(1e-16)))
    n = np.arange(max(low, 0), min(high, 2 * d) + 1)
    close = np.where(n > 0, erf(bound * np.sqrt(d / (2 * np.maximum(n, 1)))), 1.0)
    single = float(law.pmf(n) @ close) + (float(law.pmf(0)) if low > 0 else 0.0)
    return m * (m - 1) / 2 * single / delta
