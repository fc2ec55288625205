"""Where the leftover rows of Algorithm 1 stand if each column is sorted in place (Zhan, Li & Wu, Algorithm 1, line 1).

Sorting the entries of each column in place leaves the rows of a type where they stand, the largest first. The rows
that find no partner are then the last ones of their type, and the farther down a leftover stands, the smaller it is.
Line 16 takes leftovers and empty rows one after another, from the top, so that those at the same share u of the height
meet. For M → ∞ with m/M = r the places of the rows of a type are independent and uniform (chapter *Where the barrier
peaks*).
"""

from __future__ import annotations

import numpy as np
from scipy.special import comb
from scipy.stats import binom, poisson

from lmc_helpers._typing import Number, Reals, checked

SMALLEST = 1e-13  # probability of the largest numbers of rows, left out


@checked
def leftover_tail_at(u: Reals, a: Reals, r: Number) -> np.ndarray:
    """Expected number of leftover rows of a type with an entry above a, per unit of height, at the share u of it.

        s(u, a) = Σ_n P(N = n) n Σ_k P(Bin(n − 1, u) = k − 1) P(N < k) P(E_k > a),   N ~ 1 + Poisson(r − 1),

    with E_k the k-th largest entry of a uniform point of the simplex with n entries,

        P(E_k > a) = Σ_{l >= k} (−1)^(l−k) C(l−1, k−1) C(n, l) (1 − la)₊^(n−1).

    Its integral over u is :func:`~lmc_helpers.teacher_student.barrier_limit.leftover_tail`.

    Parameters
    ----------
    u
        (U,), in [0, 1].
    a
        (A,), entries >= 0.
    r
        m/M, 1 < r <= 10.

    Returns
    -------
    numpy.ndarray
        (U, A); 0 from a = ½ on.

    Examples
    --------
    More rows are left over at the end than at the beginning, where none are:

    >>> leftover_tail_at(np.array([0.0, 0.5, 1.0]), np.array([0.0]), r=2.0)[:, 0].round(3)
    array([0.   , 0.536, 1.   ])
    """
    u, a = np.asarray(u, dtype=float), np.asarray(a, dtype=float)
    if not 1 < r <= 10:
        raise ValueError(f"r = m/M = {r}; allowed: 1 < r <= 10")
    if not (a >= 0).all() or not ((u >= 0) & (u <= 1)).all():
        raise ValueError("an entry below 0 or a place outside [0, 1]; allowed: entries >= 0, places in [0, 1]")
    nu = r - 1
    found = np.zeros((len(u), len(a)))
    for n in range(2, 2 + int(poisson.isf(SMALLEST, nu))):
        k = np.arange(1, n + 1)  # also the l of the formula
        fewer = poisson.cdf(k - 2, nu)  # P(N < k), (n,)
        weight = n * poisson.pmf(n - 1, nu) * binom.pmf(k - 1, n - 1, u[:, None]) * fewer  # (U, n), by k
        signs = (-1.0) ** (k[:, None] + k) * comb(k - 1, k[:, None] - 1) * comb(n, k)  # (n, n), by k and l
        found += weight @ signs @ np.clip(1 - k[:, None] * a, 0, None) ** (n - 1)
    return found
