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
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor

from lmc_helpers._typing import Positive, Seed, Tensors, checked
from lmc_helpers.alignment.assignment import _assigned, _start
from lmc_helpers.alignment.factors import Kinds, combined, entries_by_kinds, jointly
from lmc_helpers.networks.permutations import (
    Axis,
    Permutations,
    Symmetry,
    apart_from_others,
    are_apart,
    identity,
    in_other_parts,
    is_within,
    random_permutations,
    reorder,
    units_of,
)
from lmc_helpers.progress import progress, tick
from lmc_helpers.seeds import torch_generator

__all__ = ["WeightMatching", "weight_matching"]

_SLACK = 1e-12  # relative to ‖a‖ ‖b‖: what is gained beyond rounding
_COPIED = 2**23  # numbers in a network up to which a float64 copy is kept: 64 MiB
_SIGNS = 3  # most vectors of signs of a group that are tried in all sums
_FACTOR = 2**24  # numbers in a factor of one matrix product: 128 MiB


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
    return torch.stack([(a[name].double() * value).flatten(1).sum(dim=1) for name, value in b.items()]).sum(0)


@checked
def weight_matching(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    restarts: Positive = 1,
    seed: Seed = 0,
    start: Permutations | Literal["group by group"] | None = None,
    sweeps: Positive = 100,
    signs: bool | Mapping[str, Tensor] = False,
) -> WeightMatching:
    """Permute b so that its weights are near those of a: coordinate descent over the groups, with restarts.

    The first restart begins at ``start``, the others at uniform permutations, without signs. All pairs of a restart
    begin at the same permutations and take the groups in the same random orders, hence the result for a pair does not
    depend on the others.

    Parameters
    ----------
    a, b
        name → (P, …), P pairs; products are taken in float64.
    symmetry
        of one network; parameters of no group do not count.
    restarts
        how many descents.
    seed
        of the orders and starts.
    start
        group → (P, m), where the first descent begins, or ``"group by group"``, each group matched by the parameters
        that it shares with no later one; the identity if it is left out.
    sweeps
        most sweeps through all groups.
    signs
        whether to take signs, too, where ``symmetry.kinds`` has them; or those where the first descent begins.

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
    first = _start(a, b, symmetry, None if isinstance(start, str) else start)
    problem = _Problem(a, b, symmetry, signs is not False)
    if isinstance(start, str):
        first = group_by_group(a, b, symmetry, problem)
    elif isinstance(signs, Mapping):
        first |= {g: first[g] + first[g].shape[1] * problem.signs[g].number(one) for g, one in signs.items()}
    return _matched(a, b, symmetry, restarts, seed, first, sweeps, problem)


def _matched(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    restarts: int,
    seed: int,
    start: dict[str, Tensor],
    sweeps: int,
    problem: _Problem | None = None,
) -> WeightMatching:
    problem, P = problem or _Problem(a, b, symmetry), len(next(iter(a.values())))
    results = []
    for restart in progress(range(restarts), "restart"):
        generator = torch_generator(seed, f"weight matching, restart {restart}")
        if restart > 0:
            p = {g: one.repeat(P, 1) for g, one in random_permutations(symmetry, 1, generator).items()}
        else:
            p = start
        results.append(_descend(problem, p, generator, sweeps))
    traces = tuple(torch.from_numpy(trace).to(problem.device) for _, trace in results)
    values = torch.stack([trace[-1] for trace in traces])  # (restarts, P)
    best = values.argmax(dim=0).cpu()  # the first of equals
    found = {g: torch.stack([p[g] for p, _ in results])[best, torch.arange(P)] for g in symmetry.groups}
    found = {g: p.to(problem.device) for g, p in found.items()}
    signs = {g: problem.signs[g].each(found[g] // found[g].shape[1]) for g in problem.signs}
    return WeightMatching({g: p % p.shape[1] for g, p in found.items()}, values, traces, signs)


def group_by_group(a: Tensors, b: Tensors, symmetry: Symmetry, problem: _Problem | None = None) -> dict[str, Tensor]:
    """A start: the groups in their order, each by the parameters that it shares with no later one."""
    problem, P = problem or _Problem(a, b, symmetry), len(next(iter(a.values())))
    p, known = identity(symmetry, P), set[str]()
    for step in problem.steps:
        found, _ = problem.solved(step, p, np.arange(P), known)
        p |= {g: torch.from_numpy(one) for g, one in found.items()}
        known |= found.keys()
    return p


def _descend(
    problem: _Problem, p: Permutations, generator: torch.Generator, sweeps: int
) -> tuple[dict[str, Tensor], np.ndarray]:
    """Coordinate descent from p: the permutations and the values (sweeps + 1, P) on the way, not on a device."""
    p = {g: one.to("cpu", copy=True) for g, one in p.items()}
    value, steps = problem.value(p, problem.a), problem.steps  # (P,)
    trace, may_gain = [value.copy()], np.ones((len(steps), len(value)), dtype=bool)
    for _ in range(sweeps):
        for k in torch.randperm(len(steps), generator=generator).tolist():
            (pairs,) = may_gain[k].nonzero()
            if len(pairs):
                found, gain = problem.solved(steps[k], p, pairs)
                better = gain > problem.least[pairs]
                may_gain[k] = False
                if better.any():
                    pairs = pairs[better]
                    value[pairs] += gain[better]
                    may_gain[steps[k].near[:, None], pairs] = True
                    for g, one in found.items():
                        p[g].numpy()[pairs] = one[better]
        trace.append(value.copy())
        if not may_gain.any():
            break
    return p, np.stack(trace)


class _Parts(NamedTuple):
    """Units inside each outer unit, in a part of a parameter each."""

    units: int
    places: tuple[Axis, ...]


class _Term(NamedTuple):
    """An axis of a parameter with units of a step, and the places of the other groups in the parameter."""

    name: str
    axis: int
    #: () and where the group is; kinds of units inside, and entries (m k, n), or a part of the parameter for each unit
    places: list[tuple[Kinds, Axis | Tensor | _Parts]]
    others: list[tuple[str, Axis]]
    own: list[
        tuple[int, Axis]
    ]  # the kinds of units inside on other axes of such parts, and where they are in all parts


@dataclass(frozen=True, eq=False)
class _Step:
    """A group and the groups nested in it, moved by one assignment."""

    group: str
    kinds: list[tuple[str, ...]]  # the groups inside by their kind, of units 0, …, m − 1 each
    sets: list[Kinds]  # () first: sets of kinds that are factors of one axis, one alone or several
    terms: list[_Term]
    quadratic: set[str]  # parameters with several axes of the step
    near: np.ndarray  # the steps whose best permutation depends on this one's: they share a parameter
    only: int | None = None  # the kind of units inside that moves, if not all do and the group itself


def _steps(symmetry: Symmetry) -> list[_Step]:
    """The steps of coordinate descent; kinds of units inside that share parts of a parameter also move one by one."""
    groups = [g for g in symmetry.groups if g not in symmetry.within]
    own = {g: [g, *(one for one, (outer, _) in symmetry.within.items() if outer == g)] for g in groups}
    names = {g: {place.name for place in symmetry.groups[g]} for g in groups}
    steps = []
    for group in groups:
        kinds = inner_kinds(symmetry, group)
        terms = _terms(symmetry, group, kinds, own[group])
        quadratic = {t.name for t in terms if sum(t.name == other.name for other in terms) > 1}
        m = symmetry.sizes[group]
        quadratic |= {
            one.name
            for k, one in enumerate(symmetry.groups[group])
            for two in symmetry.groups[group][:k]
            if (one.name, one.axis) == (two.name, two.axis) and not are_apart((one, m), (two, m))
        }
        near = [k for k, g in enumerate(groups) if names[g] & (names[group] if g != group else quadratic)]
        several = {which for term in terms for which, _ in term.places if len(which) > 1}
        sets = [(), *((k,) for k in range(len(kinds))), *sorted(several)]
        steps.append(_Step(group, kinds, sets, terms, quadratic, np.array(near, dtype=int)))
    alone = [
        replace(step, only=kind)
        for step in steps
        if any(term.own for term in step.terms)
        for kind in range(len(step.kinds))
    ]
    number = [groups.index(step.group) for step in (*steps, *alone)]
    return [replace(step, near=np.flatnonzero(np.isin(number, step.near))) for step in (*steps, *alone)]


def inner_kinds(symmetry: Symmetry, group: str) -> list[tuple[str, ...]]:
    """The groups inside the units of a group by their kind: every unit has the same ones, in the same places."""
    m, axes = symmetry.sizes[group], symmetry.groups[group]
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


def _terms(symmetry: Symmetry, group: str, kinds: list[tuple[str, ...]], own: list[str]) -> list[_Term]:
    """The axes of parameters with the units of a group."""
    every = [(g, place) for g, axes in symmetry.groups.items() for place in axes]
    in_parts = {place.name for g, place in every if g in own[1:] and place.where}
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
            for g, other in every
            if other.name == place.name
            and not (g in own and (parted or other.axis == place.axis))
            and not in_other_parts(place, other)
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
        self.sums = torch.tensor(list(itertools.product((0, 1), repeat=r)))
        self.unused = len(vectors) - r
        of = self.sums @ torch.tensor(vectors[:r])  # (2^r, places)
        self.factors = dict(zip(places, 1 - 2 * (of % 2).T, strict=True))  # place → (2^r,), ±1

    def each(self, numbers: Tensor) -> Tensor:
        """Sets (P, m) as ±1 for each vector and unit (P, r, m)."""
        signs = 1 - 2 * self.sums.to(numbers.device)[numbers].movedim(-1, 1)
        return torch.cat([signs, signs.new_ones(len(signs), self.unused, signs.shape[-1])], dim=1)

    def number(self, signs: Tensor) -> Tensor:
        """The inverse of :meth:`each`."""
        bits = (signs[:, : self.sums.shape[1]] < 0).long()
        return (bits * 2 ** torch.arange(bits.shape[1]).flip(0).to(bits)[:, None]).sum(dim=1)


class _Problem:
    """Steps of P pairs and their gains; terms that no other group changes are summed once.

    Of a group with signs, a permutation p is p + m k with the number k of a set of signs of each unit.
    """

    def __init__(self, a: Tensors, b: Tensors, symmetry: Symmetry, signs: bool = False) -> None:
        self.places: dict[str, list[tuple[str, Axis]]] = {}
        for group, axes in symmetry.groups.items():
            for place in axes:
                self.places.setdefault(place.name, []).append((group, place))
        self.a, self.b = ({name: end[name].detach() for name in a if name in self.places} for end in (a, b))
        self.small = sum(value.numel() for value in self.a.values()) <= _COPIED
        if self.small:
            self.a, self.b = ({name: value.double() for name, value in end.items()} for end in (self.a, self.b))
        self.device, self.sizes, self.steps = next(iter(a.values())).device, symmetry.sizes, _steps(symmetry)
        vectors = {g: kinds.signs for g, kinds in symmetry.kinds.items() if signs and kinds.signs}
        apart = apart_from_others(symmetry) if vectors else set()
        self.signs = {g: _Signs(of, symmetry.groups[g]) for g, of in vectors.items() if g in apart}
        self.columns: dict[str, np.ndarray] = {}  # group → signs (sums, 2^r) of the sums of its terms, by set
        for step in self.steps:
            if step.group in self.signs:
                self.columns[step.group] = _by_sign(step, self.signs[step.group].factors)
        square = (agreement(end, end).numpy(force=True) for end in (self.a, self.b))
        self.least = _SLACK * np.sqrt(math.prod(square))  # (P,), gains below are rounding
        self.kept: dict[str, list[Tensor]] = {}
        self.left: dict[tuple[str, str, int, int], Tensor] = {}

    def moved(self, value: Tensor, places: Sequence[tuple[str, Axis]], p: Permutations) -> Tensor:
        """A parameter (P, …) of b with the units in some places in their order, and with their signs."""
        if not self.signs:
            return reorder(value, places, p)
        value = reorder(value, places, {g: one % self.sizes[g] for g, one in p.items()})
        for g, place in places:
            if g in self.signs:
                factor = self.signs[g].factors[place][p[g].cpu() // self.sizes[g]]  # (P, m)
                units = units_of(value, place, self.sizes[g]).movedim(place.axis + 2, -1)
                units.mul_(factor.to(units).view(len(factor), *[1] * (units.ndim - 2), -1))
        return value

    def value(self, p: Permutations, names: Iterable[str], pairs: np.ndarray | slice = slice(None)) -> np.ndarray:
        """⟨a, π b⟩ of some pairs over some parameters, float64; p is of these pairs."""
        each = []
        for name in names:
            moved = self.moved(_of(self.b[name], pairs), self.places[name], p)
            each.append(agreement({name: _of(self.a[name], pairs)}, {name: moved}))
        return torch.stack(each).sum(dim=0).numpy(force=True)

    def solved(
        self, step: _Step, p: Permutations, pairs: np.ndarray, known: set[str] | None = None
    ) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The best permutations of a step with the other groups held fixed, and the gain of each of ``pairs``.

        If ``known`` is given, parameters with units of other groups do not count.
        """
        tick()
        if 2 * len(pairs) > len(self.least):  # sums of all pairs cost less than copies of some
            totals = [total.numpy(force=True) for total in self._sums(step, p, slice(None), known)]
            if len(pairs) < len(self.least):
                totals, p = [total[pairs] for total in totals], {g: one[pairs] for g, one in p.items()}
        else:
            p = {g: one[pairs] for g, one in p.items()}
            totals = [total.numpy(force=True) for total in self._sums(step, p, pairs, known)]
        found, gain = self._best(step, p, totals)
        if step.quadratic:  # the assignment was of its linearisation
            names = {term.name: None for term in step.terms}
            after = {**p, **{g: torch.from_numpy(one) for g, one in found.items()}}
            gain = self.value(after, names, pairs) - self.value(p, names, pairs)
        return found, gain

    def _best(self, step: _Step, p: Permutations, totals: list[np.ndarray]) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """The best permutations by sums of a step, and the gain of each pair."""
        C, *inside = totals
        own, each = p[step.group].numpy(), np.arange(len(C))[:, None]
        units, m = np.arange(own.shape[-1]), own.shape[-1]
        if step.group in self.columns:
            T = np.einsum("sk,s...->k...", self.columns[step.group], np.stack(totals))  # (2^r, P, m, m)
            new = _assigned(T.max(axis=0))
            new = new + m * T[:, each, units, new].argmax(axis=0)
            gains = (T[one // m, each, units, one % m].sum(axis=-1) for one in (new, own))
            return {step.group: new}, next(gains) - next(gains)
        before = C[each, units, own].sum(axis=-1)
        shown = [np.stack([p[g].numpy() for g in groups], axis=1) for groups in step.kinds]  # (P, m, k)
        tables = {}  # kinds → (P, m, m, k, k): unit i of a, unit j of b
        for which, table in zip(step.sets[1:], inside, strict=True):
            k = math.prod(shown[kind].shape[-1] for kind in which)
            tables[which] = table.reshape(-1, len(units), k, len(units), k).swapaxes(2, 3)
        best = jointly(tables, shown)  # a permutation (P, m, m, k) of each kind
        for which, T in tables.items():
            alone = T.trace(axis1=-2, axis2=-1)  # (P, m, m), what C has of them
            now, new = combined([shown[kind] for kind in which]), combined([best[kind] for kind in which])
            before += T[each[..., None], units[:, None], own[..., None], np.arange(T.shape[-1]), now].sum(axis=(-2, -1))
            before -= alone[each, units, own].sum(axis=-1)
            C = C + np.take_along_axis(T, new[..., None], axis=-1).sum(axis=(-2, -1)) - alone
        new = own if step.only is not None else _assigned(C)
        found = {step.group: new}
        gain = C[each, units, new].sum(axis=-1) - before
        for kind, (groups, q) in enumerate(zip(step.kinds, best, strict=True)):
            if step.only in (None, kind):
                found |= dict(zip(groups, q[each, units, new].swapaxes(0, 1), strict=True))
        return found, gain

    def _sums(
        self, step: _Step, p: Permutations, pairs: np.ndarray | slice, known: set[str] | None = None
    ) -> list[Tensor]:
        """Costs (P, m, m) of a step's units, then (P, m k, m k) for each kind of unit inside, and for factors."""
        if known is not None:
            terms = [term for term in step.terms if {g for g, _ in term.others} <= known]
            return self._added(self._zeros(step, len(self.least[pairs])), step, terms, p, pairs)
        same = [term for term in step.terms if not term.others and not term.own]
        if not any(self.a[term.name].ndim > 2 for term in same):  # vectors alone are not worth the memory
            return self._added(self._zeros(step, len(self.least[pairs])), step, step.terms, p, pairs)
        if step.group not in self.kept:
            zeros = self._zeros(step, len(self.least))
            self.kept[step.group] = self._added(zeros, step, same, p, slice(None))
        kept = [one.clone() if isinstance(pairs, slice) else _of(one, pairs) for one in self.kept[step.group]]
        return self._added(kept, step, [term for term in step.terms if term.others or term.own], p, pairs)

    def _zeros(self, step: _Step, P: int) -> list[Tensor]:
        m = self.sizes[step.group]
        inside = ([self.sizes[step.kinds[kind][0]] for kind in which if kind >= 0] for which in step.sets)
        units = [m * math.prod(sizes) for sizes in inside]
        return [torch.zeros(P, n, n, dtype=torch.float64, device=self.device) for n in units]

    def _added(
        self, sums: list[Tensor], step: _Step, terms: list[_Term], p: Permutations, pairs: np.ndarray | slice
    ) -> list[Tensor]:
        """Sums to which some terms are added: Σ A Bᵀ with the units as rows, vectors together."""
        vectors: list[list[list[Tensor]]] = [[] for _ in sums]
        for term in terms:
            b = self.moved(_of(self.b[term.name], pairs), term.others, p)
            if term.own:
                self._add_parts(sums, step, term, b, p, pairs)
                continue
            for k, (which, place) in enumerate(term.places):
                kind = step.sets.index(which)
                A, B = self._left(step, term, k, pairs), _rows(b, term.axis + 1, place, self.sizes[step.group])
                if A.shape[2] == 1:
                    vectors[kind].append([A, B])
                elif A.numel() <= _FACTOR:
                    sums[kind].baddbmm_(A.double(), B.double().mT)
                else:
                    part = max(1, _FACTOR // (A.shape[0] * A.shape[1]))
                    for left, right in zip(A.split(part, dim=2), B.split(part, dim=2), strict=True):
                        sums[kind].baddbmm_(left.double(), right.double().mT)
        for total, found in zip(sums, vectors, strict=True):
            if found:
                A, B = (torch.cat(one, dim=2).double() for one in zip(*found, strict=True))
                total.baddbmm_(A, B.mT)
        return sums

    def _add_parts(
        self, sums: list[Tensor], step: _Step, term: _Term, b: Tensor, p: Permutations, pairs: np.ndarray | slice
    ) -> None:
        """Add a term whose parts have units inside on other axes, too, in the order of the unit of a that they meet."""
        m, places = self.sizes[step.group], [(str(kind), place) for kind, place in term.own]
        for i in range(m):
            here = reorder(b, places, {str(kind): p[step.kinds[kind][i]] for kind, _ in term.own})
            for k, (which, place) in enumerate(term.places):
                A, B = self._left(step, term, k, pairs), _rows(here, term.axis + 1, place, m)
                rows = slice(i * A.shape[1] // m, (i + 1) * A.shape[1] // m)
                sums[step.sets.index(which)][:, rows] += A[:, rows].double() @ B.double().mT

    def _left(self, step: _Step, term: _Term, k: int, pairs: np.ndarray | slice) -> Tensor:
        """Units of a as rows; of small networks they are kept."""
        at = step.group, term.name, term.axis, k
        if at in self.left:
            return _of(self.left[at], pairs)
        place, m = term.places[k][1], self.sizes[step.group]
        if self.small:
            self.left[at] = _rows(self.a[term.name], term.axis + 1, place, m)
            return _of(self.left[at], pairs)
        return _rows(_of(self.a[term.name], pairs), term.axis + 1, place, m)


def _by_sign(step: _Step, factors: dict[Axis, Tensor]) -> np.ndarray:
    """Let the terms of places with other signs be summed apart; the signs (sums, 2^r) of the sums by set."""
    columns: list[tuple[int, ...]] = [(1,) * len(next(iter(factors.values())))]
    for term in step.terms:
        for k, (_, place) in enumerate(term.places):
            if isinstance(place, Axis) and (column := tuple(factors[place].tolist())) != columns[0]:
                columns += [column] if column not in columns else []
                term.places[k] = (-columns.index(column),), place
    step.sets.extend((-k,) for k in range(1, len(columns)))
    return np.array(columns)


def _of(value: Tensor, pairs: np.ndarray | slice) -> Tensor:
    """The part of (P, …) that belongs to some pairs."""
    return value if isinstance(pairs, slice) else value[torch.from_numpy(pairs).to(value.device)]


def _rows(value: Tensor, d: int, place: Axis | Tensor | _Parts, m: int) -> Tensor:
    """Units of a parameter (P, …) as rows (P, m, n): of a place, of entries (m, n) of dimension d, or of its parts."""
    if isinstance(place, _Parts):
        return torch.cat([_rows(value, d, part, place.units) for part in place.places], dim=1)
    if isinstance(place, Tensor):
        value = value.index_select(d, place.to(value.device).flatten()).unflatten(d, place.shape)
        return value.movedim((d, d + 1), (1, 2)).flatten(2)
    if value.shape[d] == m and not place.where:
        return value.movedim(d, 1).reshape(value.shape[0], m, -1)
    return units_of(value, place, m).movedim(d + 1, 1).flatten(2)
