"""Kinds of units that are factors of one axis: brute force over all permutations, and planted orders."""

import itertools

import numpy as np
import pytest

from lmc_helpers.alignment.factors import combined, jointly


def test_all_permutations_of_two_kinds_inside_two_units():
    """Heads that share a key (2), their units (3) and value units (2): all 2! 3! 2! orders for each pair of units."""
    draw, k = np.random.default_rng(0), (2, 3, 2)
    sets = {(0,): 2, (1,): 3, (2,): 2, (0, 1): 6, (0, 2): 4}
    tables = {which: draw.normal(size=(1, 2, 2, n, n)) for which, n in sets.items()}
    found = jointly(tables, [np.stack([np.arange(n)] * 2)[None] for n in k])
    for i, j in itertools.product(range(2), repeat=2):

        def value(orders, i=i, j=j):
            total = 0.0
            for which, T in tables.items():
                for units in itertools.product(*(range(k[c]) for c in which)):
                    rows = np.ravel_multi_index(units, [k[c] for c in which])
                    columns = np.ravel_multi_index(
                        [orders[c][u] for c, u in zip(which, units, strict=True)], [k[c] for c in which]
                    )
                    total += T[0, i, j, rows, columns]
            return total

        best = max(map(value, itertools.product(*(itertools.permutations(range(n)) for n in k))))
        assert value([q[0, i, j] for q in found]) == pytest.approx(best, rel=1e-12)


def test_planted_orders_of_many_units():
    """Seven heads and eight units, too many to try: products alone, without an axis of one kind."""
    draw = np.random.default_rng(1)
    A, p, q = draw.normal(size=(56, 9)), draw.permutation(7), draw.permutation(8)
    B = np.empty_like(A)
    B[combined([p, q])] = A
    found = jointly({(0, 1): (A @ B.T)[None, None, None]}, [np.arange(7)[None, None], np.arange(8)[None, None]])
    assert [one.ravel().tolist() for one in found] == [p.tolist(), q.tolist()]
