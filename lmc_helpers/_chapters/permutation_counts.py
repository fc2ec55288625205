"""Code of the chapter *permutation counts*."""

from __future__ import annotations


def partitions(n: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """Partitions of n >= 0 into positive parts up to ``largest``, each descending, in reverse lexicographic order."""
    top = n if largest is None else min(n, largest)
    if n == 0:
        return [()]
    return [(s, *rest) for s in range(top, 0, -1) for rest in partitions(n - s, s)]
