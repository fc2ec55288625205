"""Counts of permutation points against enumeration, Stirling's recurrence, a generating function and the paper."""

import math
from fractions import Fraction

import numpy as np
import pytest

from lmc_helpers.permutation_points import counts


def stirling(n: int, size: int) -> int:
    """S(n, size): the last thing is alone or joins one of the blocks."""
    if n == 0 or size == 0:
        return int(n == size)
    row = [1]  # S(0, ·)
    for _ in range(n):
        row = [0] + [j * (row[j] if j < len(row) else 0) + row[j - 1] for j in range(1, len(row) + 1)]
    return row[size] if size < len(row) else 0


@pytest.mark.parametrize("n", [1, 2, 9, 24, 61])
def test_ratio_is_stirlings(n):
    for K in range(n):
        size = n - K
        assert counts.count_ratio(K, n) == Fraction(math.factorial(size) * stirling(n, size), math.factorial(n))


def test_printed_forms_are_identities_in_n():
    sympy = pytest.importorskip("sympy")
    x, size = sympy.symbols("x n")
    n = size  # a symbol for n − K
    series = sympy.series(size * sympy.log((sympy.exp(x) - 1) / x), x, 0, 4).removeO()
    coefficients = sympy.series(sympy.exp(series), x, 0, 4).removeO()

    def choose(j):
        return sympy.prod([n - i for i in range(j)]) / sympy.factorial(j)

    printed = {1: choose(1) / 2, 2: choose(1) / 6 + choose(2) / 4, 3: choose(1) / 24 + choose(2) / 6 + choose(3) / 8}
    for K, form in printed.items():
        assert sympy.expand(form - coefficients.coeff(x, K)) == 0
        for value in (1, 2, 5, 40):
            assert Fraction(str(form.subs(n, value))) == counts.count_ratio(K, K + value)


def test_counts_take_integers_of_numpy_and_stay_exact():
    n = np.int64(10**6)
    assert counts.count_ratio(np.int64(5), n) == counts.count_ratio(5, 10**6)
    assert counts.count_ratio(5, 10**6).denominator > 1
