"""Numbers and lists of permutation points of a layer, for the chapter *permutation counts*."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import ArrayLike


def partitions(n: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """Partitions of n >= 0 into positive parts up to ``largest``, each descending, in reverse lexicographic order."""
    top = n if largest is None else min(n, largest)
    if n == 0:
        return [()]
    return [(s, *rest) for s in range(top, 0, -1) for rest in partitions(n - s, s)]


def count_ratio_bound(K: int, n: int) -> Fraction:
    """The bound of Prop. 1 (ii), binom(n − K, K)/2^K <= T(K, n); it is 0 for K > n/2.

    It counts the points at which K parameter vectors occur twice. For K >= 2 it is strictly below T.
    """
    return Fraction(math.comb(n - K, K), 2**K)


def growth_constant(K: int) -> Fraction:
    """c_K = 1/(2^K K!), the limit of both T(K, n)/n^K and binom(n − K, K)/(2^K n^K) for n → ∞.

    The proof of Lemma 1 (appendix B, eq. (9)) ends with a further factor e^(−K); the lemma itself names no constant.
    """
    return Fraction(1, 2**K * math.factorial(K))


def arrangements(n: int, size: int) -> np.ndarray:
    """All maps of n neurons onto ``size`` parameter vectors, by going through all size^n maps.

    Each row has the index of every neuron's vector, in lexicographic order.
    """
    return np.array([labels for labels in product(range(size), repeat=n) if len(set(labels)) == size])


def families(r: int, m: int) -> list[tuple[int, ...]]:
    """All ways to give each of m neurons one of r vectors, every one used, or a place in a group, labelled r, r + 1, …

    The groups are labelled in the order of their first neurons, so that each way occurs once.
    """
    found = []
    for labels in product(range(m), repeat=m):
        groups = list(dict.fromkeys(v for v in labels if v >= r))
        if set(range(r)) <= set(labels) and groups == list(range(r, r + len(groups))):
            found.append(labels)
    return found


def permutation_points(incoming: ArrayLike, outgoing: ArrayLike, n: int) -> tuple[np.ndarray, np.ndarray]:
    """All permutation points of a layer of n neurons that compute the function of one smaller layer.

    The smaller layer has parameter vectors ``incoming`` (l, p), all different, and outgoing weights ``outgoing`` (q,
    l). The points have vectors (points, n, p) and weights (points, q, n); copies of one vector share its weights
    equally.
    """
    incoming, outgoing = np.asarray(incoming, dtype=float), np.asarray(outgoing, dtype=float)
    size = len(incoming)
    labels = arrangements(n, size)  # (points, n)
    copies = (labels[:, :, None] == labels[:, None, :]).sum(axis=-1)  # (points, n), copies of each neuron's vector
    return incoming[labels], outgoing[:, labels].swapaxes(0, 1) / copies[:, None, :]
