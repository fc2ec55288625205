"""What chapter *permutation counts* computes, against enumeration and OEIS."""

from itertools import product

import pytest

from lmc_helpers._chapters.permutation_counts import partitions


@pytest.mark.parametrize(("n", "number"), [(0, 1), (1, 1), (4, 5), (7, 15), (12, 77), (20, 627)])
def test_partitions_are_all_and_each_once(n, number):
    found = partitions(n)
    assert len(set(found)) == len(found) == number  # OEIS A000041
    assert all(sum(parts) == n and list(parts) == sorted(parts, reverse=True) for parts in found)
    assert found == sorted(found, reverse=True)
    if n <= 7:
        everything = {
            tuple(sorted(parts, reverse=True)) for k in range(n + 1) for parts in product(range(1, n + 1), repeat=k)
        }
        assert set(found) == {parts for parts in everything if sum(parts) == n}
    assert partitions(n, largest=2) == [parts for parts in found if all(s <= 2 for s in parts)]
