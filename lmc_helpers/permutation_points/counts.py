"""How many permutation points a layer has (Brea, Şimşek, Illing & Gerstner, section 4.3, appendices B and C).

A permutation point of order K in a layer of n neurons repeats parameter vectors so that only l = n − K are distinct;
copies of one vector share its outgoing weights equally. The points that compute the function of one smaller network are
the maps of n labelled neurons onto l parameter vectors, l! S(n, l) of them with S a Stirling number of the second kind.
Their number relative to the n! equivalent minima is T(K, n) = l! S(n, l)/n!, the coefficient of x^K in
((e^x − 1)/x)^l. Sorted by the number j of vectors that have copies::

    T(K, n) = Σ_j binom(n − K, j) · j! w(K, j)/(K + j)!,    j <= min(K, n − K),

where w(K, j), a Ward number, counts the partitions of K + j things into j blocks of two or more. All terms are
positive or zero. For fixed K this is a polynomial in n of degree K: a width of a million costs no more than one of ten.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from lmc_helpers._typing import Integer, Natural, Positive, Reals, checked

__all__ = ["arrangements", "count_ratio", "count_ratio_bound", "growth_constant", "permutation_points"]

MOST_MAPS = 10_000_000  # that an enumeration goes through


def _check_order(K: int, n: int) -> tuple[int, int]:
    if K >= n:
        raise ValueError(f"order K = {K} in a layer of n = {n} neurons; allowed: 0 <= K < n")
    return int(K), int(n)


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
    >>> count_ratio(2, 10), count_ratio_bound(2, 10)
    (Fraction(25, 3), Fraction(7, 1))
    """
    K, n = _check_order(K, n)
    w = _ward(K)
    return sum(
        (
            Fraction(math.comb(n - K, j) * math.factorial(j) * w[j], math.factorial(K + j))
            for j in range(min(K, n - K) + 1)
        ),
        Fraction(0),
    )


@checked
def count_ratio_bound(K: Natural, n: Positive) -> Fraction:
    """The bound of Prop. 1 (ii), binom(n − K, K)/2^K <= T(K, n); it is 0 for K > n/2.

    It counts the points at which K parameter vectors occur twice. For K >= 2 it is strictly below T.
    """
    K, n = _check_order(K, n)
    return Fraction(math.comb(n - K, K), 2**K)


@checked
def growth_constant(K: Natural) -> Fraction:
    """c_K = 1/(2^K K!), the limit of both T(K, n)/n^K and binom(n − K, K)/(2^K n^K) for n → ∞.

    The proof of Lemma 1 (appendix B, eq. (9)) ends with a further factor e^(−K); the lemma itself names no constant.
    """
    K = int(K)
    return Fraction(1, 2**K * math.factorial(K))


@checked
def arrangements(n: Positive, size: Positive) -> np.ndarray:
    """All maps of n neurons onto ``size`` parameter vectors, by going through all size^n maps.

    Each row has the index of every neuron's vector, in lexicographic order.

    Examples
    --------
    >>> arrangements(3, 2).tolist()
    [[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 1, 0]]
    """
    n, size = int(n), int(size)
    if size > n:
        raise ValueError(f"size = {size} distinct parameter vectors for n = {n} neurons; allowed: size <= n")
    if size**n > MOST_MAPS:
        raise ValueError(f"{size}^{n} maps are too many to enumerate; allowed: size^n <= {MOST_MAPS}")
    return np.array([labels for labels in product(range(size), repeat=n) if len(set(labels)) == size])


@checked
def permutation_points(incoming: Reals, outgoing: Reals, n: Integer) -> tuple[np.ndarray, np.ndarray]:
    """All permutation points of a layer of n neurons that compute the function of one smaller layer.

    The smaller layer has parameter vectors ``incoming`` (l, p), all different, and outgoing weights ``outgoing`` (q,
    l). The points have vectors (points, n, p) and weights (points, q, n); copies of one vector share its weights
    equally.

    Examples
    --------
    The example of the paper's Fig. 6 has six:

    >>> vectors, weights = permutation_points([[2.5], [0.4]], [[1.0, 3.0]], n=3)
    >>> vectors[0].ravel().tolist(), weights[0].ravel().tolist()
    ([2.5, 2.5, 0.4], [0.5, 0.5, 3.0])
    >>> len(vectors)
    6
    """
    incoming, outgoing = np.asarray(incoming, dtype=float), np.asarray(outgoing, dtype=float)
    if incoming.ndim != 2 or outgoing.ndim != 2 or incoming.shape[0] != outgoing.shape[1]:
        raise ValueError(
            f"incoming {incoming.shape} and outgoing {outgoing.shape} do not fit; allowed: (l, p) and (q, l)"
        )
    size = len(incoming)
    if len(np.unique(incoming, axis=0)) < size:
        raise ValueError("two parameter vectors of the smaller layer are equal; allowed: different ones")
    labels = arrangements(n, size)  # (points, n)
    copies = (labels[:, :, None] == labels[:, None, :]).sum(axis=-1)  # (points, n), copies of each neuron's vector
    return incoming[labels], outgoing[:, labels].swapaxes(0, 1) / copies[:, None, :]
