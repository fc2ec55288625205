"""The number of permutation points of a layer (Brea, Şimşek, Illing & Gerstner, section 4.3, appendices B and C).

A permutation point of order K in a layer of n neurons repeats parameter vectors such that only l = n − K are distinct;
copies of one vector share its outgoing weights equally. The points that compute the function of one smaller network are
the maps of n labelled neurons onto l parameter vectors, l! S(n, l) of them with S a Stirling number of the second kind.
Their number relative to the n! equivalent minima is T(K, n) = l! S(n, l)/n!, the coefficient of x^K in ((e^x − 1)/x)^l.
Sorted by the number j of vectors that have copies::

    T(K, n) = Σ_j binom(n − K, j) · j! w(K, j)/(K + j)!,    j <= min(K, n − K),

where w(K, j), a Ward number, counts the partitions of K + j things into j blocks of two or more. All terms are
positive or zero. For fixed K this is a polynomial in n of degree K: a width of a million costs no more than one of ten.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from lmc_helpers._typing import Natural, Positive, checked

__all__ = ["count_ratio"]


@cache
def _ward(K: int) -> tuple[int, ...]:
    """w(K, j) for j = 0 … K."""
    row = [1]
    for k in range(1, K + 1):
        above = [*row, 0]  # w(k − 1, ·)
        row = [0] + [j * above[j] + (k + j - 1) * above[j - 1] for j in range(1, k + 1)]
    return tuple(row)


@checked
def count_ratio(K: Natural, n: Positive) -> Fraction:
    """T(K, n): permutation points of order K in a layer of n neurons, divided by the number of equivalent minima.

    Exact for every 0 <= K < n; Prop. 1 of the paper has K = 1, 2, 3 and a lower bound for K <= n/2.

    Examples
    --------
    Three neurons, two of them equal, have as many arrangements as three different ones:

    >>> count_ratio(1, 3)
    Fraction(1, 1)
    >>> count_ratio(2, 10)
    Fraction(25, 3)
    """
    if K >= n:
        raise ValueError(f"order K = {K} in a layer of n = {n} neurons; allowed: 0 <= K < n")
    K, n = int(K), int(n)
    w = _ward(K)
    return sum(
        (
            Fraction(math.comb(n - K, j) * math.factorial(j) * w[j], math.factorial(K + j))
            for j in range(min(K, n - K) + 1)
        ),
        Fraction(0),
    )
