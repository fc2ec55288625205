"""Weight matching (Ainsworth, Hayase & Srinivasa 2023, Algorithm 1, PermutationCoordinateDescent).

The permutations π of all groups shall bring b as near to a as possible,

    min_π ‖a − π b‖²,   equivalently   max_π ⟨a, π b⟩,

the sum of bilinear assignment problems, one for each weight that two groups share; it is NP-hard for two hidden layers
and more. With the other groups held fixed, the best permutation of one group is a linear assignment,

    max_p Σ_i C_ip(i),      C = Σ_axes A_(axis) B'_(axis)ᵀ,

where A_(axis) has the group's units as rows, and B' is b with the other groups permuted. Algorithm 1 solves it for one
group after another in random order until nothing is gained. It stops at a local optimum that depends on the order and
on the start, hence restarts are part of the method: the best is taken, and the values of all are returned.

Units inside units, the neurons of an attention head for example, move with the outer group in one step, exactly: the
gain C_ij of outer unit j of b at position i is the largest over the permutations of the units inside, an assignment for
each pair (i, j). Where two kinds of units inside are factors of one axis, as the queries that share a key head and the
units of each of them, their gain is bilinear: all permutations of one kind are tried if there are at most 24, else both
are assigned in turn (``factors.py``).

Where the units of a group may change sign (``symmetry.kinds``), π is a permutation and signs: the gain C_ij is the
largest over the sets S of places in which unit j of b may be taken times −1 of Σ_axes ± ⟨A_i, B'_j⟩, − in S, and B' has
the signs of other groups, too. Groups inside others, with groups inside, or on entries of others keep their signs.

All is computed on the CPU by NumPy, where products of small matrices cost least. C stays as it is from one sweep to the
next; for each unit of another group that has moved since, a column of B' is taken from it and another one added.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import torch
from threadpoolctl import ThreadpoolController
from torch import Tensor

from lmc_helpers._typing import Natural, Seed, Tensors, checked
from lmc_helpers.alignment.assignment import _assigned, _check_ends
from lmc_helpers.alignment.factors import Kinds, combined, entries_by_kinds, jointly
from lmc_helpers.networks.permutations import (
    Axis,
    Permutations,
    Symmetry,
    apart_from_others,
    are_apart,
    check_groups,
    in_other_parts,
    is_within,
    random_permutations,
    reorder,
    units_of,
)
from lmc_helpers.progress import progress, tick
from lmc_helpers.seeds import torch_generator

__all__ = ["WeightMatching", "weight_matching"]

_SLACK = {8: 1e-12, 4: 1e-7}  # bytes of a number → relative to ‖a‖ ‖b‖: what is gained beyond rounding
_COPIED = 2**23  # numbers in a network up to which float64 copies are kept, 64 MiB each, and products taken of them
_CACHED = 2**16  # numbers
_SIGNS = 3  # most vectors of signs of a group that are tried in all sums
_FACTOR = 2**24  # numbers in a factor of one matrix product: 128 MiB
_ROWS = 2**20  # numbers in a part of a sum
_PAIRS, _STEPS = 256, 1024  # units of a group from which on pairs, or steps of one, run in threads


@dataclass(frozen=True, eq=False)
class WeightMatching:
    """Result of :func:`weight_matching` for P pairs."""

    permutations: dict[str, Tensor]  # group → p (P, m) of the best restart: a is aligned with b permuted by p
    #: (restarts, P), float64: ⟨a, π b⟩ over the permutable parameters at the local optimum of each restart
    values: Tensor
    #: for each restart (sweeps + 1, P): the value at its start and after each sweep through the groups
    traces: tuple[Tensor, ...]
    #: group → (P, r, m), ±1 for each vector ``symmetry.kinds[group].signs`` and unit of a, as of ``permute``
    signs: dict[str, Tensor] = field(default_factory=dict)


def agreement(a: Tensors, b: Tensors) -> Tensor:
    """The inner products Σ_names ⟨A, B⟩ of the parameters (P, …), (P,); names that b lacks do not count."""
    return torch.stack([(a[name].double() * v).reshape(len(v), -1).sum(dim=1) for name, v in b.items()]).sum(0)


@checked
def weight_matching(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    restarts: Natural = 1,
    seed: Seed = 0,
    start: Permutations | None = None,
    sweeps: Natural = 100,
    signs: bool = False,
    start_signs: Mapping[str, Tensor] | None = None,
    in_order: bool = False,
) -> WeightMatching:
    """Permute b so that its weights are near those of a: coordinate descent over the groups, with restarts.

    The first restart begins at ``start``, the others at uniform permutations, without signs. All pairs of a restart
    begin at the same permutations and take the groups in the same random orders, hence the result for a pair does not
    depend on the others.

    Parameters
    ----------
    a, b
        name → (P, …), P pairs; products are taken in float64, of more than 8 million parameters in their own type, and
        what decides is then found to rounding in that type. Values are of float64.
    symmetry
        of one network; parameters of no group do not count.
    restarts
        how many descents.
    seed
        of the orders and starts.
    start
        group → (P, m), where the first descent begins; the identity if it is left out.
    sweeps
        most sweeps through all groups.
    signs
        whether to take signs, too, where ``symmetry.kinds`` has them.
    start_signs
        those where the first descent begins, as in ``WeightMatching.signs``.
    in_order
        whether one more descent comes before these, from each group matched by the parameters that it shares with no
        later one.

    Examples
    --------
    One hidden layer is a single assignment, hence exact:

    >>> from lmc_helpers.networks.permutations import Axis, permute
    >>> symmetry = Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 3})
    >>> a = {"W": torch.tensor([[[1.0], [2.0], [3.0]]]), "V": torch.tensor([[[4.0, 5.0, 6.0]]])}
    >>> b = permute(a, symmetry, {"hidden": torch.tensor([[2, 0, 1]])})
    >>> found = weight_matching(a, b, symmetry)
    >>> found.permutations["hidden"].tolist(), found.values.tolist()
    ([[1, 2, 0]], [[91.0]])
    """
    if not restarts + in_order:
        raise ValueError(f"restarts = {restarts}, in_order = {in_order}; allowed: one descent or more")
    plan, sizes = _Plan(symmetry, signs), symmetry.sizes
    P = _check_ends(a, b, symmetry, plan.places)
    device = next(iter(a.values())).device
    check_groups(symmetry, start or {}, P)
    first = {g: np.tile(np.arange(m), (P, 1)) for g, m in sizes.items()}
    first |= {g: p.numpy(force=True) for g, p in (start or {}).items()}
    for g, one in (start_signs or {}).items():
        if g not in plan.signs:
            raise ValueError(f"start_signs of group {g!r}; allowed: of {', '.join(plan.signs) or 'none'}")
        first[g] = first[g] + sizes[g] * plan.signs[g].numbers(one.numpy(force=True))
    ends = [{name: _array(end[name]) for name in a if name in plan.places} for end in (a, b)]
    threads = torch.get_num_threads() if max(sizes.values(), default=0) >= (_PAIRS if P > 1 else _STEPS) else 1

    def run(n: int) -> tuple[list[tuple[dict[str, np.ndarray], list[float]]], int]:
        """All descents of a pair, and the number of the best."""
        one, two = ({name: value[n] for name, value in end.items()} for end in ends)
        problem, results = _Problem(plan, one, two, threads if P == 1 else 1), []
        if not math.isfinite(problem.least):
            _check_ends(a, b, symmetry)
        for restart in progress(range(-in_order, restarts), "restart"):
            generator, p = torch_generator(seed, f"weight matching, restart {max(restart, 0)}"), first
            if restart > 0:
                p = {g: one.numpy() for g, one in random_permutations(symmetry, 1, generator).items()}
            own, may_gain = {g: one[n if p is first else 0] for g, one in p.items()}, [True] * len(plan.steps)
            if restart < 0:
                own, may_gain = problem.in_order()
            results.append(_descend(problem, own, may_gain, generator, sweeps))
        values = [trace[-1] for _, trace in results]
        return results, next(k for k, value in enumerate(values) if value >= max(values) - problem.least)

    each = _at_once(run, range(P), threads)
    columns = [
        itertools.zip_longest(*(trace for _, trace in of), fillvalue=-math.inf)
        for of in zip(*(of for of, _ in each), strict=True)
    ]
    traces = tuple(torch.from_numpy(np.maximum.accumulate(list(of))).to(device) for of in columns)  # no sweep loses
    found = {g: np.stack([of[k][0][g] for of, k in each]) for g in symmetry.groups}
    permutations = {g: torch.from_numpy(p % sizes[g]).to(device) for g, p in found.items()}
    chosen = {g: torch.from_numpy(of.each(found[g] // sizes[g])).to(device) for g, of in plan.signs.items()}
    return WeightMatching(permutations, torch.stack([trace[-1] for trace in traces]), traces, chosen)


def _descend(
    problem: _Problem, p: Mapping[str, np.ndarray], may_gain: list[bool], generator: torch.Generator, sweeps: int
) -> tuple[dict[str, np.ndarray], list[float]]:
    """Coordinate descent from p by the steps that may gain: the permutations, and the values on the way."""
    start, p, steps, trace = p, dict(p), problem.plan.steps, [problem.value(p, problem.a)]
    for _ in range(sweeps):
        trace.append(trace[-1])
        for wave in problem.waves(torch.randperm(len(steps), generator=generator).tolist()):
            ready = [k for k in wave if may_gain[k]]
            for k, (found, gain) in zip(ready, problem.solved_at_once(ready, p), strict=True):
                may_gain[k] = False
                if gain > problem.least:
                    trace[-1] += gain
                    p |= found
                    may_gain = [one or step.group in steps[k].near for one, step in zip(may_gain, steps, strict=True)]
        if not any(may_gain):
            break
    if not problem.double and any((p[g] != start[g]).any() for g in p):
        last = problem.value(p, problem.a)
        trace = [*(min(one, last) for one in trace[:-1]), last]
    return p, trace


@cache
def _blas() -> ThreadpoolController:
    """NumPy's library, whose threads would wait for one another."""
    return ThreadpoolController()


def _at_once(function: Callable, items: Sequence, threads: int) -> list:
    """The values of a function, in threads, each with products of its own: they leave Python's lock, as solvers do."""
    if min(threads, len(items)) < 2:
        return [function(one) for one in items]
    with _blas().limit(limits=1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        return [one.result() for one in [pool.submit(copy_context().run, function, one) for one in items]]


class _Parts(NamedTuple):
    """Units inside each outer unit, in a part of a parameter each."""

    units: int
    places: tuple[Axis, ...]


class _Term(NamedTuple):
    """An axis of a parameter with units of a step, and the places of the other groups in the parameter."""

    name: str
    axis: int
    #: () and where the group is; kinds of units inside, and entries (m k, n), or a part of the parameter for each unit
    places: list[tuple[Kinds, Axis | np.ndarray | _Parts]]
    others: list[tuple[str, Axis]]
    own: list[tuple[int, Axis]]  # kinds of units inside on other axes of such parts, and where they are in all parts


@dataclass(frozen=True, eq=False)
class _Step:
    """A group and the groups nested in it, moved by one assignment."""

    group: str
    kinds: list[tuple[str, ...]]  # the groups inside by their kind, of units 0, …, m − 1 each
    sets: list[Kinds]  # () first: sets of kinds that are factors of one axis, one alone or several
    terms: list[_Term]
    quadratic: set[str]  # parameters with several axes of the step
    near: set[str]  # groups whose best permutation depends on this step's: they share a parameter
    only: int | None = None  # the kind of units inside that moves, if not all do and the group itself

    def reaches(self, other: _Step) -> bool:
        """True if a move of this step changes the sums of another one, or its units."""
        return other.group == self.group or other.group in self.near


def _steps(symmetry: Symmetry, every: Mapping[str, Sequence[tuple[str, Axis]]]) -> list[_Step]:
    """The steps of coordinate descent; kinds of units inside that share parts of a parameter also move one by one."""
    groups = [g for g in symmetry.groups if g not in symmetry.within]
    names = {g: {place.name for place in symmetry.groups[g]} for g in groups}
    steps, alone = [], []
    for group in groups:
        kinds = inner_kinds(symmetry, group)
        terms = _terms(symmetry, every, group, kinds)
        axes = Counter(term.name for term in terms)
        quadratic = {name for name, n in axes.items() if n > 1}
        m = symmetry.sizes[group]
        quadratic |= {
            one.name
            for one, two in itertools.combinations(symmetry.groups[group], 2)
            if one[:2] == two[:2] and not are_apart((one, m), (two, m))
        }
        near = {g for g in groups if names[g] & (names[group] if g != group else quadratic)}
        several = {which for term in terms for which, _ in term.places if len(which) > 1}
        sets = [(), *((k,) for k in range(len(kinds))), *sorted(several)]
        steps.append(_Step(group, kinds, sets, terms, quadratic, near))
        if any(term.own for term in terms):
            alone += [replace(steps[-1], only=kind) for kind in range(len(kinds))]
    return steps + alone


def inner_kinds(symmetry: Symmetry, group: str) -> list[tuple[str, ...]]:
    """The groups inside the units of a group by their kind: every unit has the same ones, in the same places."""
    m, axes = symmetry.sizes[group], symmetry.groups[group]
    if all(outer != group for outer, _ in symmetry.within.values()):
        return []
    inside: list[list[str]] = [[] for _ in range(m)]
    for one, (outer, j) in symmetry.within.items():
        if outer == group:
            inside[j].append(one)

    def relative(one: str, j: int) -> tuple[int, list[Axis]]:
        k = symmetry.sizes[one]
        found = [
            place._replace(offset=place.offset - j * around.inner)
            for place in symmetry.groups[one]
            for around in axes
            if (place.name, place.axis) == (around.name, around.axis) and is_within((place, k), (around, m))
        ]
        return k, sorted(found)

    for j, found in enumerate(inside):
        if [relative(one, j) for one in found] != [relative(one, 0) for one in inside[0]]:
            raise ValueError(
                f"units {found} inside unit {j} of {group!r}; allowed: those of unit 0, in the same places"
            )
    return list(zip(*inside, strict=True))


def _terms(
    symmetry: Symmetry, every: Mapping[str, Sequence[tuple[str, Axis]]], group: str, kinds: list[tuple[str, ...]]
) -> list[_Term]:
    """The axes of parameters with the units of a group."""
    own = {group, *itertools.chain.from_iterable(kinds)}
    in_parts = {place.name for g in own - {group} for place in symmetry.groups[g] if place.where}
    across = [
        (kind, place)
        for kind, groups in enumerate(kinds)
        for places in zip(*(sorted(symmetry.groups[g]) for g in groups), strict=True)
        if places[0].name in in_parts
        for place in _together(places, symmetry.sizes[groups[0]])
    ]

    def term(place: Axis) -> _Term:
        parted = place.name in in_parts
        inside = [(kind, one) for kind, one in across if one.name == place.name and one.axis != place.axis]
        others = [
            (g, other)
            for g, other in every[place.name]
            if not (g in own and (parted or other.axis == place.axis)) and not in_other_parts(place, other)
        ]
        return _Term(place.name, place.axis, [], others, inside)

    terms: dict[tuple[str, int], _Term] = {}
    for place in symmetry.groups[group]:
        at = place.name, place.axis
        terms.setdefault(at, term(place)).places.append(((), place))
    inside: dict[tuple[str, int], list[tuple[int, int, list[Axis]]]] = {}
    for kind, groups in enumerate(kinds):
        k = symmetry.sizes[groups[0]]
        for each in zip(*(sorted(symmetry.groups[g]) for g in groups), strict=True):
            at = each[0].name, each[0].axis
            if each[0].where:
                terms.setdefault(at, term(each[0]._replace(where=()))).places.append(((kind,), _Parts(k, each)))
            else:
                inside.setdefault(at, []).append((kind, k, list(each)))
    for at, found in inside.items():
        terms[at].places.extend(entries_by_kinds(found))
    return list(terms.values())


def _together(places: Sequence[Axis], k: int) -> Sequence[Axis]:
    """The places of k units in all parts of a parameter, as one if they are alike or one after another."""
    first, block = places[0], places[0].outer * k * places[0].inner
    if all(place[:5] == first[:5] for place in places):
        return [first._replace(where=())]
    if all(place == first._replace(offset=first.offset + j * block) for j, place in enumerate(places)):
        return [first._replace(outer=first.outer * len(places))]
    return places


class _Signs:
    """The sets of places of a group in which a unit may be taken times −1, numbered from 0, none of them."""

    def __init__(self, vectors: Sequence[Sequence[int]], places: Sequence[Axis]):
        r = min(len(vectors), _SIGNS)
        #: (2^r, r), whether each of the first vectors is added; others stay as they are
        self.sums = np.array(list(itertools.product((0, 1), repeat=r)))
        self.unused = len(vectors) - r
        of = self.sums @ np.array(vectors[:r])  # (2^r, places)
        self.factors = dict(zip(places, 1 - 2 * (of % 2).T, strict=True))  # place → (2^r,), ±1

    def each(self, numbers: np.ndarray) -> np.ndarray:
        """Sets (P, m) as ±1 for each vector and unit (P, r, m)."""
        signs = np.moveaxis(1 - 2 * self.sums[numbers], -1, 1)
        return np.pad(signs, ((0, 0), (0, self.unused), (0, 0)), constant_values=1)

    def numbers(self, signs: np.ndarray) -> np.ndarray:
        """The inverse of :meth:`each`."""
        r = self.sums.shape[1]
        return 2 ** np.arange(r)[::-1] @ (signs[:, :r] < 0)


_Entries = tuple[int, Sequence[tuple[str, Axis]]]  # how many entries an axis has, and the places of groups on it
_Ends = Callable[[], tuple[np.ndarray, np.ndarray]]


class _Plan:
    """Steps and signs of a symmetry.

    Of a group with signs, a permutation p is p + m k with the number k of a set of signs of each unit.
    """

    def __init__(self, symmetry: Symmetry, signs: bool = False) -> None:
        self.places: dict[str, list[tuple[str, Axis]]] = {}
        for group, axes in symmetry.groups.items():
            for place in axes:
                self.places.setdefault(place.name, []).append((group, place))
        self.sizes, self.steps = symmetry.sizes, _steps(symmetry, self.places)
        vectors = {g: kinds.signs for g, kinds in symmetry.kinds.items() if signs and kinds.signs}
        apart = apart_from_others(symmetry) if vectors else set()
        self.signs = {g: _Signs(of, symmetry.groups[g]) for g, of in vectors.items() if g in apart}
        self.columns: dict[str, np.ndarray] = {}  # group → signs (sums, 2^r) of the sums of its terms, by set
        for step in self.steps:
            if step.group in self.signs:
                self.columns[step.group] = _by_sign(step, self.signs[step.group].factors)

    def moved(self, value: np.ndarray, places: Sequence[tuple[str, Axis]], p: Mapping[str, np.ndarray]) -> np.ndarray:
        """A parameter of b with the units in some places in their order, and with their signs."""
        orders = {g: torch.from_numpy(p[g] % self.sizes[g])[None] for g, _ in places}
        moved = reorder(torch.from_numpy(value)[None], places, orders)
        for g, place in places:
            if g in self.signs:
                factor = torch.from_numpy(self.signs[g].factors[place][p[g] // self.sizes[g]])
                units = units_of(moved, place, self.sizes[g]).movedim(place.axis + 2, -1)
                units.mul_(factor.to(units))
        return moved[0].numpy()

    def order(self, axes: Sequence[_Entries], p: Mapping[str, np.ndarray]) -> np.ndarray:
        """The number of before of each of the n combinations of entries of axes, and n more where its sign changes."""
        whole, count = self._order(*axes[0], p), axes[0][0]
        for n, places in axes[1:]:
            one = self._order(n, places, p)
            signs = (whole // count)[:, None] ^ (one // n)
            whole, count = ((whole % count)[:, None] * n + one % n + signs * (count * n)).ravel(), count * n
        return whole

    def _order(self, n: int, places: Sequence[tuple[str, Axis]], p: Mapping[str, np.ndarray]) -> np.ndarray:
        order = np.arange(n)
        for g, place in places:
            m = self.sizes[g]
            if len(places) == 1 and m == n and g not in self.signs:
                return p[g]
            block = slice(place.offset, place.offset + place.outer * m * place.inner)
            units = order[block].reshape(place.outer, m, place.inner)
            units[...] = units[:, p[g] % m]
            if g in self.signs:
                units += n * (self.signs[g].factors[place][p[g] // m] < 0)[:, None]
        return order


class _Columns:
    """Terms of a step by the columns of A and of B, and the order in which those of B are in its sum."""

    def __init__(self, which: int, ends: _Ends, terms: list[tuple[set[str], list[_Entries], int]], signed: bool):
        self.which, self.ends, self.signed = which, ends, signed  # which sum; a function that gives A and B, (n, units)
        self.terms, self.count = terms, sum(n for _, _, n in terms)  # the groups that move n columns, where, and n
        #: (n,), the number of the column of B, + n for times −1; −1 if it is not in the sum, where some may lack
        self.order, self.lacking = np.full(self.count, -1), True

    def add(self, total: np.ndarray, order: np.ndarray, lacking: bool) -> None:
        """Bring the sum to another order."""
        (changed,) = (order != self.order).nonzero()
        A, B = self.ends()
        for at in _in_turn(changed, A):
            columns = self.taken(B, order[at], lacking)
            if (self.order[at] >= 0).any():
                columns -= self.taken(B, self.order[at], self.lacking)
            _added(total, A if len(at) == len(A) else A[at], columns)
        self.order, self.lacking = order, lacking

    def taken(self, B: np.ndarray, order: np.ndarray, lacking: bool) -> np.ndarray:
        """Columns of B in an order."""
        columns = B[order % len(B) if self.signed else order]
        if self.signed:
            columns *= (1 - 2 * (order // len(B)))[:, None].astype(B.dtype)
        if lacking:
            columns[order < 0] = 0
        return columns


def _in_turn(columns: np.ndarray, A: np.ndarray) -> Iterable[np.ndarray]:
    """Columns in parts for one product each."""
    width = max(1, _FACTOR // A.shape[1])
    return (columns[k : k + width] for k in range(0, len(columns), width))


#: Sums of a step as they stand, the columns in them, and terms that are added anew each time.
_Kept = tuple[list[np.ndarray], list[_Columns], list[_Term]]


class _Problem:
    """Gains of the steps of a pair, which are kept, and the best permutations by them."""

    def __init__(self, plan: _Plan, a: dict[str, np.ndarray], b: dict[str, np.ndarray], threads: int) -> None:
        self.plan, self.threads, self.small = plan, threads, sum(value.size for value in a.values()) <= _COPIED
        if self.small:
            a, b = ({name: value.astype(np.float64, copy=False) for name, value in end.items()} for end in (a, b))
        self.a, self.b = a, b
        squares = [sum(_at_once(lambda one: _inner(one, one), list(end.values()), threads)) for end in (a, b)]
        self.double = all(value.itemsize == 8 for end in (a, b) for value in end.values())
        self.least = _SLACK[8 if self.double else 4] * math.sqrt(math.prod(squares))  # gains below are rounding
        self.kept: dict[str, _Kept] = {}

    def value(self, p: Mapping[str, np.ndarray], names: Iterable[str]) -> float:
        """⟨a, π b⟩ over some parameters."""
        moves = {g for g, one in p.items() if (one != np.arange(len(one))).any()}

        def inner(name: str) -> float:
            b, places = self.b[name], self.plan.places[name]
            return _inner(self.a[name], self.plan.moved(b, places, p) if any(g in moves for g, _ in places) else b)

        return sum(_at_once(inner, list(names), self.threads))

    def in_order(self) -> tuple[dict[str, np.ndarray], list[bool]]:
        """A start, the groups in their order, each by the parameters that it shares with no later one.

        And which steps may gain from there: those that later ones reach, and those that are not exact.
        """
        p, known, steps = {g: np.arange(m) for g, m in self.plan.sizes.items()}, set[str](), self.plan.steps
        for wave in self.waves(range(len(steps))):
            for found, _ in self.solved_at_once(wave, p, known):
                p |= found
                known |= found.keys()
        return p, [
            step.group in step.near
            or any(later.reaches(step) for later in steps[k + 1 :])
            or any(len(which) > 1 for which in step.sets)
            or any(term.own for term in step.terms)
            for k, step in enumerate(steps)
        ]

    def waves(self, order: Iterable[int]) -> Iterator[list[int]]:
        """Steps in an order, those at once that have nothing to do with one another or any before that are left."""
        left, steps = list(order), self.plan.steps
        while left and self.threads > 1:
            reached = [any(steps[j].reaches(steps[k]) for j in left[:n]) for n, k in enumerate(left)]
            yield [k for k, one in zip(left, reached, strict=True) if not one]
            left = [k for k, one in zip(left, reached, strict=True) if one]
        yield from ([k] for k in left)

    def solved_at_once(
        self, numbers: Sequence[int], p: Mapping[str, np.ndarray], known: set[str] | None = None
    ) -> list[tuple[dict[str, np.ndarray], float]]:
        """:meth:`solved` for the steps of these numbers."""
        return _at_once(lambda k: self.solved(self.plan.steps[k], p, known), numbers, self.threads)

    def solved(
        self, step: _Step, p: Mapping[str, np.ndarray], known: set[str] | None = None
    ) -> tuple[dict[str, np.ndarray], float]:
        """The best permutations of a step with the other groups held fixed, and their gain.

        If ``known`` is given, parameters with units of other groups do not count.
        """
        tick()
        found, gain = self._best(step, p, self._sums(step, p, known))
        if step.quadratic:  # the assignment was of its linearisation
            names = {term.name: None for term in step.terms}
            gain = self.value({**p, **found}, names) - self.value(p, names)
        return found, gain

    def _best(
        self, step: _Step, p: Mapping[str, np.ndarray], totals: list[np.ndarray]
    ) -> tuple[dict[str, np.ndarray], float]:
        """The best permutations by sums of a step, and their gain."""
        C, own = totals[0], p[step.group]
        m = len(C)
        units = np.arange(m)
        if step.group in self.plan.columns:
            T = np.einsum("sk,sij->kij", self.plan.columns[step.group], np.stack(totals))  # (2^r, m, m)
            new = _assigned(T.max(axis=0))
            new = new + m * T[:, units, new].argmax(axis=0)
            return {step.group: new}, T[new // m, units, new % m].sum() - T[own // m, units, own % m].sum()
        if not step.kinds:
            new = _assigned(C)
            return {step.group: new}, (C[units, new] - C[units, own]).sum()
        before = C[units, own].sum()
        shown = [np.stack([p[g] for g in groups]) for groups in step.kinds]  # (m, k)
        tables = {}  # kinds → (m, m, k, k): unit i of a, unit j of b
        for which, table in zip(step.sets[1:], totals[1:], strict=True):
            tables[which] = table.reshape(m, len(table) // m, m, len(table) // m).swapaxes(1, 2)
        best = [q[0] for q in jointly({w: T[None] for w, T in tables.items()}, [q[None] for q in shown])]  # (m, m, k)
        for which, T in tables.items():
            alone = T.trace(axis1=-2, axis2=-1)  # (m, m), what C has of them
            now, new = combined([shown[kind] for kind in which]), combined([best[kind] for kind in which])
            before += T[units[:, None], own[:, None], np.arange(T.shape[-1]), now].sum() - alone[units, own].sum()
            C = C + np.take_along_axis(T, new[..., None], axis=-1).sum(axis=(-2, -1)) - alone
        new = own if step.only is not None else _assigned(C)
        found = {step.group: new}
        for kind, (groups, q) in enumerate(zip(step.kinds, best, strict=True)):
            if step.only in (None, kind):
                found |= dict(zip(groups, q[units, new], strict=True))
        return found, C[units, new].sum() - before

    def _sums(self, step: _Step, p: Mapping[str, np.ndarray], known: set[str] | None = None) -> list[np.ndarray]:
        """Gains (m, m) of a step's units, then (m k, m k) for each kind of unit inside, and for factors."""
        if step.group not in self.kept:
            self.kept[step.group] = self._begun(step)
        totals, columns, parts = self.kept[step.group]
        for of in columns:
            orders, first = [], 0
            for groups, axes, n in of.terms:
                if known is None or groups <= known:
                    order = self.plan.order(axes, p)
                    orders.append(order + (first + (of.count - n) * (order // n) if of.signed else first))
                else:
                    orders.append(np.full(n, -1))
                first += n
            of.add(totals[of.which], np.concatenate(orders), known is not None)
        if parts:
            totals = [total.copy() for total in totals]
        for term in parts:
            if known is None or {g for g, _ in term.others} <= known:
                self._add_parts(totals, step, term, p)
        return totals

    def _begun(self, step: _Step) -> _Kept:
        """Sums of the terms that no other group changes, columns of those that some do, and terms that are in parts."""
        m = self.plan.sizes[step.group]
        inside = ([self.plan.sizes[step.kinds[kind][0]] for kind in which if kind >= 0] for which in step.sets)
        totals = [np.zeros((n, n)) for n in (m * math.prod(sizes) for sizes in inside)]
        moving: list[list[_Columns]] = [[] for _ in totals]
        parts = []
        for term in step.terms:
            if (axes := self._axes(term, m)) is None:
                parts.append(term)
                continue
            groups = {g for _, places in axes for g, _ in places}
            for which, place in term.places:
                k, ends = step.sets.index(which), partial(self._ends, term, place, m)
                if not groups:
                    _add(totals[k], *ends())
                    continue
                assert not isinstance(place, _Parts)
                blocks = place.outer * place.inner if isinstance(place, Axis) else place.shape[1]
                of = groups, [(blocks, []), *axes] if blocks > 1 else axes, blocks * math.prod(n for n, _ in axes)
                moving[k].append(_Columns(k, ends, [of], not groups.isdisjoint(self.plan.signs)))
        if self.small:
            moving = [[_joined(of)] if of else [] for of in moving]
        return totals, [one for of in moving for one in of], parts

    def _axes(self, term: _Term, m: int) -> list[_Entries] | None:
        """The axes across a term's and the places that move on them; None where these are parts of a parameter."""
        here = [place for _, place in term.places if isinstance(place, Axis)]
        if term.own or any(place.where for place in here) or any(isinstance(one, _Parts) for _, one in term.places):
            return None
        others = [
            (g, place)
            for g, place in term.others
            if place.axis != term.axis or not all(are_apart((place, self.plan.sizes[g]), (one, m)) for one in here)
        ]
        if any(place.where or place.axis == term.axis for _, place in others):
            return None
        axes: list[_Entries] = []
        for axis, n in enumerate(self.b[term.name].shape):
            places = [(g, place) for g, place in others if place.axis == axis]
            if axis != term.axis and axes and not places and not axes[-1][1]:
                axes[-1] = axes[-1][0] * n, places
            elif axis != term.axis:
                axes.append((n, places))
        return axes

    def _ends(self, term: _Term, place: Axis | np.ndarray | _Parts, m: int) -> tuple[np.ndarray, np.ndarray]:
        """Units of a and of b, not moved, as columns (n, units)."""
        return _columns(self.a[term.name], term.axis, place, m), _columns(self.b[term.name], term.axis, place, m)

    def _add_parts(self, totals: list[np.ndarray], step: _Step, term: _Term, p: Mapping[str, np.ndarray]) -> None:
        """Add a term in parts, with units inside on other axes in the order of the unit of a that they meet."""
        m, places = self.plan.sizes[step.group], [(str(kind), place) for kind, place in term.own]
        a, b = self.a[term.name], self.plan.moved(self.b[term.name], term.others, p)
        for i in range(m if places else 1):
            orders = {str(kind): torch.from_numpy(p[step.kinds[kind][i]])[None] for kind, _ in term.own}
            here = reorder(torch.from_numpy(b)[None], places, orders)[0].numpy()
            for which, place in term.places:
                A, B = (_columns(end, term.axis, place, m) for end in (a, here))
                n = A.shape[1] // m
                rows = slice(i * n, (i + 1) * n) if places else slice(None)
                _add(totals[step.sets.index(which)][rows], A[:, rows], B)


def _joined(columns: Sequence[_Columns]) -> _Columns:
    """Those of one sum as one, with copies of A and B."""
    A, B = (np.ascontiguousarray(np.concatenate(of)) for of in zip(*(one.ends() for one in columns), strict=True))
    terms, signed = [of for one in columns for of in one.terms], any(one.signed for one in columns)
    return _Columns(columns[0].which, lambda: (A, B), terms, signed)


def _add(total: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """Add Aᵀ B to a sum, of columns (n, units)."""
    for one, two in zip(_in_turn(A, A), _in_turn(B, A), strict=True):
        _added(total, one, two)


def _added(total: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
    """Add one product to a sum, so many rows at a time that its memory is used again."""
    step = 1 + _ROWS // len(total)
    for k in range(0, len(total), step):
        total[k : k + step] += A[:, k : k + step].T @ B


def _by_sign(step: _Step, factors: Mapping[Axis, np.ndarray]) -> np.ndarray:
    """Let the terms of places with other signs be summed apart; the signs (sums, 2^r) of the sums by set."""
    columns: list[tuple[int, ...]] = [(1,) * len(next(iter(factors.values())))]
    for term in step.terms:
        for k, (_, place) in enumerate(term.places):
            if isinstance(place, Axis) and (column := tuple(factors[place].tolist())) != columns[0]:
                columns += [column] if column not in columns else []
                term.places[k] = (-columns.index(column),), place
    step.sets.extend((-k,) for k in range(1, len(columns)))
    return np.array(columns)


def _array(value: Tensor) -> np.ndarray:
    """A parameter as an array, in a wider type where NumPy lacks its own."""
    value = value.detach().cpu()
    return (value.float() if value.dtype in (torch.float16, torch.bfloat16) else value).numpy()


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    """⟨a, b⟩, float64, in parts that stay in a cache."""
    parts = (slice(k, k + _CACHED) for k in range(0, a.size, _CACHED))
    a, b = a.reshape(-1), b.reshape(-1)
    return sum(float(a[at].astype(np.float64, copy=False) @ b[at].astype(np.float64, copy=False)) for at in parts)


def _columns(value: np.ndarray, axis: int, place: Axis | np.ndarray | _Parts, m: int) -> np.ndarray:
    """Units of a parameter as columns (n, m): of a place, of entries (m, n) of an axis, or of its parts."""
    if isinstance(place, _Parts):
        return np.concatenate([_columns(value, axis, part, place.units) for part in place.places], axis=1)
    if isinstance(place, np.ndarray):
        return np.moveaxis(value, axis, 0)[place].reshape(len(place), -1).T
    for d, first, n in place.where:
        value = value[(slice(None),) * d + (slice(first, first + n),)]
    if value.ndim <= 2 and value.shape[axis] == m:
        return value.T if axis < value.ndim - 1 else value.reshape(-1, m)
    value = np.moveaxis(value, axis, 0)[place.offset : place.offset + place.outer * m * place.inner]
    units = value.reshape(place.outer, m, place.inner, *value.shape[1:])
    return units.swapaxes(0, 1).reshape(m, -1).T
