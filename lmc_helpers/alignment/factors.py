"""Units inside units whose kinds are factors of one axis: the best permutations of all kinds together.

Four query heads that share a key head, with 64 units each, are 4 × 64 entries of an axis. The gain of a permutation σ
of the heads and τ of the units,

    Σ_uv T_(u v)(σu τv),

is bilinear in the two. If one kind is a factor of all such axes, all its permutations are tried as long as there are at
most 24: with it held fixed the others are assignments each, and the best is exact. Else kinds are assigned in turn,
from two starts, until nothing is gained.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from lmc_helpers.alignment.assignment import _assigned
from lmc_helpers.networks.permutations import Axis

__all__ = ()  # what packages of ours lend each other

Kinds = tuple[int, ...]
Tables = Mapping[Kinds, np.ndarray]
ALL = 24  # permutations that are tried one by one


def entries_by_kinds(found: Sequence[tuple[int, int, Sequence[Axis]]]) -> Iterator[tuple[Kinds, np.ndarray]]:
    """The entries of an axis by the kinds that they belong to, as rows (m k, n) with k the product of their sizes.

    ``found``: kind, number of its units, and its places in each of the m outer units.
    """
    units: dict[tuple[int, tuple[int, ...]], dict[int, int]] = {}  # entry in unit 0, and shifts → kind → unit inside
    for kind, k, (first, *others) in found:
        shifts = (0, *(place.offset - first.offset for place in others))
        for n in range(first.outer * k * first.inner):
            units.setdefault((first.offset + n, shifts), {})[kind] = n // first.inner % k
    blocks: dict[tuple[Kinds, tuple[int, ...]], list[tuple[tuple[int, ...], int]]] = {}
    for (entry, shifts), of in units.items():
        kinds = tuple(sorted(of))
        blocks.setdefault((kinds, shifts), []).append((tuple(of[kind] for kind in kinds), entry))
    for (kinds, shifts), entries in blocks.items():
        rows = np.array([entry for _, entry in sorted(entries)]).reshape(len({index for index, _ in entries}), -1)
        yield kinds, (np.array(shifts)[:, None, None] + rows).reshape(-1, rows.shape[1])


def combined(permutations: Sequence[np.ndarray]) -> np.ndarray:
    """The permutation (..., k_1 k_2 ...) of a product by those (..., k_i) of its factors."""
    whole = permutations[0]
    for one in permutations[1:]:
        pairs = whole[..., :, None] * one.shape[-1] + one[..., None, :]
        whole = pairs.reshape(*pairs.shape[:-2], -1)
    return whole


def jointly(tables: Tables, shown: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The permutations (P, m, m, k) of each kind with the largest sums, from the present ones (P, m, k)."""
    best: dict[int, np.ndarray] = {}
    for kinds in _connected(tables, len(shown)):
        own = {which: T for which, T in tables.items() if set(which) <= kinds}
        if len(kinds) == 1:
            best |= {kind: _assigned(own[kind,]) for kind in kinds}
            continue
        k = {kind: shown[kind].shape[-1] for kind in kinds}
        several = [set(which) for which in own if len(which) > 1]
        hub = min(set.intersection(*several), key=lambda kind: k[kind], default=None)
        pairs = next(iter(own.values())).shape[:3]
        starts: list[dict[int, np.ndarray]]
        if hub is not None and math.factorial(k[hub]) <= ALL:
            every = itertools.permutations(range(k[hub]))
            starts = [{hub: np.broadcast_to(np.array(one), (*pairs, k[hub]))} for one in every]
        else:
            starts = [{}, {kind: np.repeat(shown[kind][:, :, None], pairs[2], axis=2) for kind in kinds}]
        ends = [_ascended(own, k, start) for start in starts]
        values = np.stack([_value(own, end) for end in ends])  # (starts, P, m, m)
        first = values.argmax(axis=0)[None, ..., None]
        for kind in kinds:
            best[kind] = np.take_along_axis(np.stack([end[kind] for end in ends]), first, axis=0)[0]
    return [best[kind] for kind in range(len(shown))]


def _connected(tables: Tables, n: int) -> list[set[int]]:
    """Sets of kinds, any two of which are factors of one axis or linked by others."""
    parts = [{kind} for kind in range(n)]
    for which in tables:
        joined = [part for part in parts if part & set(which)]
        parts = [part for part in parts if part not in joined] + [set().union(*joined)]
    return parts


def _value(tables: Tables, q: Mapping[int, np.ndarray]) -> np.ndarray:
    """The sums (P, m, m)."""
    taken = (np.take_along_axis(T, combined([q[c] for c in which])[..., None], -1) for which, T in tables.items())
    return sum((one.sum(axis=(-2, -1)) for one in taken), start=np.zeros(()))


def _given(tables: Tables, kind: int, k: Mapping[int, int], q: Mapping[int, np.ndarray]) -> np.ndarray:
    """Gains (P, m, m, k, k) of a kind's units with the other kinds held fixed, or bounds if nothing else is known.

    Axes with unknown kinds do not count; if all have some, each counts with its largest sum over orders of the rest.
    """
    total = np.zeros(())
    known = any(kind in which and set(which) <= {kind, *q} and T.any() for which, T in tables.items())
    for which, T in tables.items():
        others = [c for c in which if c != kind]
        if kind in which and (not known or set(others) <= set(q)):
            at, shape = which.index(kind), [k[c] for c in which]
            split = np.moveaxis(T.reshape(*T.shape[:3], *shape, *shape), (3 + at, 3 + at + len(which)), (3, 4))
            rest = math.prod(k[c] for c in others)
            split = split.reshape(*split.shape[:5], rest, rest)
            if others and not known:
                index = _assigned(split)
            else:
                index = combined([q[c] for c in others]) if others else np.zeros((*T.shape[:3], 1), dtype=np.int64)
                index = index[:, :, :, None, None]
            total = total + np.take_along_axis(split, index[..., None], axis=-1).sum(axis=(-2, -1))
    return total


def _ascended(tables: Tables, k: Mapping[int, int], start: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """Kinds assigned in turn, those first that no unknown one has to do with, until no sum grows."""
    q = dict(start)
    alone = {kind: (kind,) in tables and bool(tables[kind,].any()) for kind in k}
    unknown = sorted(set(k) - set(q), key=lambda kind: (not alone[kind], k[kind]))
    for kind in unknown:
        q[kind] = _assigned(_given(tables, kind, k, q))
    if start and unknown:  # a hub, and what depends on it alone
        return q
    scale = 1e-12 * sum(np.abs(T).max(axis=(-2, -1)) * T.shape[-1] for T in tables.values())
    last = _value(tables, q)
    while True:
        for kind in k:
            q[kind] = _assigned(_given(tables, kind, k, q))
        value = _value(tables, q)
        if not (value > last + scale).any():
            return q
        last = value
