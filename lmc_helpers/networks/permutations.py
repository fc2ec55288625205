"""The permutation symmetries of an architecture as data: which axes of which parameters move together.

A network's hidden units may be in any order. A *group* of units, the neurons of a hidden layer, the channels of a
convolution, the heads of an attention or a residual stream, is one permutation p of m units. It acts on every axis of
every parameter along which these units are counted: the rows of the weight that makes them, their biases, gains and
shifts, and the columns of the weights that read them. If all these axes are put in the order p, the function of the
network is the same. :class:`Symmetry` lists them, and :func:`verify` checks the list by running the network.

Permutations are index tensors as in :mod:`lmc_helpers.matching`: unit i of the result is unit p_i of the argument.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Int64
from torch import Tensor

from lmc_helpers._typing import NonNegative, Positive, Seed, Tensors, checked, many, short
from lmc_helpers.matching import check_permutation
from lmc_helpers.seeds import torch_generator

__all__ = ["Axis", "Check", "Kinds", "Permutations", "Symmetry", "identity", "permute", "random_permutations", "verify"]

if TYPE_CHECKING:
    Permutations = Mapping[str, Tensor]
else:
    #: Group → p (N, m), one permutation for each of N networks.
    Permutations = many(Int64[Tensor, "N _"], "permutations (N, m) by their groups", dict)


#: Group, number of a place of it, and its units (N, …, m) → the units after a move.
Act = Callable[[str, int, Tensor], Tensor]


class Axis(NamedTuple):
    """Position of the m units of a group in a parameter of one network: on an axis, not counting that of the networks.

    Unit u has the entries offset + (o m + u) inner + i of the axis, for o < outer and i < inner: all of them for
    neurons, blocks of ``inner`` entries for channels that are flattened with their pixels, a part of the axis for
    channels that are concatenated with others.

    Examples
    --------
    >>> import lmc_helpers as lmc
    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(16, 2))
    >>> lmc.symmetry(net, torch.ones(1, 1, 4, 4)).groups["0"][1:]
    (Axis(name='0.bias', axis=0), Axis(name='2.weight', axis=1, offset=0, outer=1, inner=4))
    """

    name: str
    axis: int
    offset: int = 0
    outer: int = 1
    inner: int = 1
    where: tuple[tuple[int, int, int], ...] = ()

    def __repr__(self) -> str:
        given = [f"{key}={value!r}" for key, value in zip(self._fields, self, strict=True)]
        blocks = given[2:5] if self[2:5] != (0, 1, 1) else []
        return f"Axis({', '.join(given[:2] + blocks + (given[5:] if self.where else []))})"


class Kinds(NamedTuple):
    """The freedoms of the units of a group in addition to their order, by vectors e over the places of the group.

    Every vector acts on each unit i for itself: there is a sign, factor or shift c_i for each.

    Examples
    --------
    >>> import lmc_helpers as lmc
    >>> net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))
    >>> lmc.symmetry(net, torch.ones(1, 4), kinds=True).kinds["0"].signs  # rows, biases and columns together
    ((1, 1, 1),)
    """

    signs: tuple[tuple[int, ...], ...] = ()  # places with e = 1 times c_i = ±1: a basis mod 2
    scales: tuple[tuple[float, ...], ...] = ()  # a place times c_i^e, c_i > 0: a basis
    translations: tuple[
        tuple[float, ...], ...
    ] = ()  # a place, the one axis of a bias or statistic, plus e c_i: a basis
    linear: tuple[int, ...] = ()  # e = 1: the units times an invertible matrix M, e = −1: times M^{-T}
    rotations: bool = False  # the units in all places times an orthogonal matrix

    def __str__(self) -> str:
        """The kinds in words."""
        found = [name for name in ("signs", "scales", "translations") if getattr(self, name)]
        return ", ".join([*found, *(["GL(m)"] if self.linear else ["rotations"] if self.rotations else [])])


@checked
@dataclass(frozen=True)
class Symmetry:
    """The groups of permutable units of an architecture.

    Parameters
    ----------
    groups
        group → the axes that its permutation acts on.
    sizes
        group → number m of its units.
    within
        group of units inside a unit of another group, a head's for example → that group, and which of its units. Outer
        groups are permuted first: the units inside are counted by where the outer unit is then.
    left
        what fixes the other axes, inputs, outputs, or an operation and its module, → those axes, ``"weight[1]"``.
        :func:`~lmc_helpers.modules.symmetry.symmetry` fills it in, and ``print`` shows it.
    outputs
        what counts of a module's outputs, all of them if it is left out.
    kinds
        group → what its units allow besides, if it was asked for.

    Examples
    --------
    The two-layer network x ↦ V σ(W x + b) with five hidden neurons:

    >>> hidden = (Axis("W", 0), Axis("b", 0), Axis("V", 1))
    >>> Symmetry({"hidden": hidden}, {"hidden": 5}).groups["hidden"][2].name
    'V'

    A module's, written by hand:

    >>> import lmc_helpers as lmc
    >>> net, x = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)), torch.ones(2, 4)
    >>> hidden = (Axis("0.weight", 0), Axis("0.bias", 0), Axis("2.weight", 1))
    >>> lmc.symmetry(net, x) == Symmetry({"0": hidden}, {"0": 8})
    True
    """

    groups: dict[str, tuple[Axis, ...]]
    sizes: dict[str, int]
    within: dict[str, tuple[str, int]] = field(default_factory=dict)
    left: dict[str, tuple[str, ...]] = field(default_factory=dict, compare=False, repr=False)
    outputs: Callable | None = field(default=None, compare=False, repr=False)
    kinds: dict[str, Kinds] = field(default_factory=dict, compare=False, repr=False)

    def __str__(self) -> str:
        """The groups in words, and what fixes the other axes."""
        outer = [g for g in self.groups if g not in self.within]
        inside = Counter(of for of, _ in self.within.values())
        names = [f"{g!r} {self.sizes[g]}" + (f" (and {inside[g]} groups inside)" if inside[g] else "") for g in outer]
        n = f"{len(self.groups)} groups, {sum(self.sizes.values())}" if names else "no group of"
        rows = [f"{n} interchangeable units" + (f": {_few(names)}" if names else "")]
        for kind in dict.fromkeys(map(str, self.kinds.values())):
            of = [repr(g) for g, found in self.kinds.items() if str(found) == kind]
            rows += [f"also free in {_few(of)}: {kind}"] if kind else []
        return "\n".join([*rows, *(f"left alone by {why}: {_few(at)}" for why, at in self.left.items())])

    def __post_init__(self) -> None:
        if set(self.groups) != set(self.sizes):
            raise ValueError(f"groups {sorted(self.groups)}, sizes of {sorted(self.sizes)}; allowed: the same names")
        empty = [group for group, found in self.groups.items() if not found]
        if empty:
            raise ValueError(f"groups {empty} have none; allowed: one axis or more")
        for group, m in self.sizes.items():
            if m < 1:
                raise ValueError(f"group {group!r} has {m} units; allowed: one or more")
        for place in (place for found in self.groups.values() for place in found):
            if min(place.axis, place.offset) < 0 or min(place.outer, place.inner) < 1:
                raise ValueError(f"{place}; allowed: axis, offset >= 0 and outer, inner >= 1")
            if any(d < 0 or d == place.axis or first < 0 or n < 1 for d, first, n in place.where):
                raise ValueError(f"{place}; allowed: entries (axis, first, n) of other axes, n >= 1")
        self._check_within()
        self._check_overlaps()

    def _check_within(self) -> None:
        """Raise unless groups inside another's units come after it, and no deeper."""
        order = list(self.groups)
        for group, (outer, j) in self.within.items():
            known = group in order and outer in order[: order.index(group)] and outer not in self.within
            if not known or not 0 <= j < self.sizes[outer]:
                raise ValueError(
                    f"group {group!r} is within unit {j} of {outer!r}; allowed: a group that comes before, is within "
                    "no other and has that unit"
                )

    def _check_overlaps(self) -> None:
        """Raise unless places on one axis are apart, factors of one product, or one inside a unit of the other."""
        found: dict[tuple[str, int], list[tuple[str, Axis]]] = {}
        for group, axes in self.groups.items():
            for place in axes:
                found.setdefault((place.name, place.axis), []).append((group, place))
        for places in found.values():
            for k, (group, place) in enumerate(places):
                for other, second in places[:k]:
                    pair = (place, self.sizes[group]), (second, self.sizes[other])
                    inside = self.within.get(group, ("",))[0] == other and is_within(*pair)
                    fits = are_apart(*pair) or _factors(*pair) or _factors(*reversed(pair)) or inside
                    if not fits and (group == other or not self._commute(group, other, place)):
                        raise ValueError(
                            f"{second} of group {other!r} and {place} of {group!r} overlap; allowed: places that are "
                            "apart, factors of one axis, and units within those of another group"
                        )

    def _commute(self, one: str, two: str, at: Axis) -> bool:
        """True if two groups move the entries of an axis in the same way whichever is moved first."""
        places = {g: [place for place in self.groups[g] if place[:2] == at[:2]] for g in (one, two)}
        n = max(_entries(place, self.sizes[g]).stop for g, found in places.items() for place in found)

        def moved(order: Tensor, *moves: tuple[str, Tensor]) -> Tensor:
            for g, p in moves:
                for place in places[g]:
                    order = _reordered(order, place._replace(axis=0, where=()), p)
            return order

        start = torch.arange(n)[None]
        pairs = itertools.product(*([(g, p) for p in _generators(self.sizes[g])] for g in (one, two)))
        return all(moved(start, p, q).equal(moved(start, q, p)) for p, q in pairs)


def _generators(m: int) -> list[Tensor]:
    """Permutations (1, m) of which all others are products: a cycle, and an exchange."""
    units = torch.arange(m)
    return [units.roll(1)[None], torch.cat([units[:2].flip(0), units[2:]])[None]]


def _few(words: Sequence[str], most: int = 6) -> str:
    """The first words of a list, and how many there are more."""
    return ", ".join(words[:most]) + (f" and {len(words) - most} more" if len(words) > most else "")


def _entries(place: Axis, m: int) -> range:
    """The entries of an axis from the first to the last of m units."""
    return range(place.offset, place.offset + place.outer * m * place.inner)


def are_apart(one: tuple[Axis, int], two: tuple[Axis, int]) -> bool:
    """True if two places, each with its number of units, share no entry."""
    first, second = _entries(*one), _entries(*two)
    return first.stop <= second.start or second.stop <= first.start or in_other_parts(one[0], two[0])


def in_other_parts(one: Axis, two: Axis) -> bool:
    """True if two places are where other axes of a parameter share no entry."""
    pairs = itertools.product(one.where, two.where)
    return any(d == e and (i + n <= j or j + k <= i) for (d, i, n), (e, j, k) in pairs)


def _factors(one: tuple[Axis, int], two: tuple[Axis, int]) -> bool:
    """True if the first place moves whole copies of the second, as the outer one of two factors of an axis does."""
    (place, m), (other, n) = one, two
    here, around, copy, block = _entries(*one), _entries(*two), n * other.inner, m * place.inner
    inside = around.start <= here.start and here.stop <= around.stop
    whole = here.start <= around.start and around.stop <= here.stop  # or copies in some of its outer blocks
    whole = whole and len(around) % block == 0 and (around.start - here.start) % block == 0
    return (inside or whole) and place.inner % copy == 0 and (place.offset - other.offset) % copy == 0


def is_within(one: tuple[Axis, int], two: tuple[Axis, int]) -> bool:
    """True if the first place is inside one unit of the second."""
    (place, m), (other, _) = one, two
    here, around, unit = _entries(place, m), _entries(*two), other.inner
    first, last = (at - other.offset for at in (here.start, here.stop - 1))
    return around.start <= here.start and here.stop <= around.stop and first // unit == last // unit


def apart_from_others(symmetry: Symmetry) -> set[str]:
    """The groups that are not inside others, have none inside, and share no entries of an axis with others."""
    places = [((place, symmetry.sizes[g]), g) for g, axes in symmetry.groups.items() for place in axes]
    on_axis: dict[tuple[str, int], list[tuple[tuple[Axis, int], str]]] = {}
    for one in places:
        on_axis.setdefault(one[0][0][:2], []).append(one)
    pairs = ((one, two) for several in on_axis.values() for one, two in itertools.combinations(several, 2))
    nested = {g for one, (other, _) in symmetry.within.items() for g in (one, other)}
    return (
        set(symmetry.groups)
        - nested
        - {g for one, two in pairs if not are_apart(one[0], two[0]) for g in (one[1], two[1])}
    )


def restricted(symmetry: Symmetry, names: Collection[str]) -> Symmetry:
    """The part of a symmetry that acts on some parameters; groups that act on none of them are left out."""
    found = {g: tuple(place for place in axes if place.name in names) for g, axes in symmetry.groups.items()}
    groups = {g: axes for g, axes in found.items() if axes}
    within = {g: at for g, at in symmetry.within.items() if g in groups and at[0] in groups}
    kinds = {g: _restricted(kind, [p.name in names for p in symmetry.groups[g]]) for g, kind in symmetry.kinds.items()}
    kinds = {g: kind for g, kind in kinds.items() if g in groups}
    return Symmetry(groups, {g: symmetry.sizes[g] for g in groups}, within, kinds=kinds)


def _restricted(kinds: Kinds, here: Sequence[bool]) -> Kinds:
    """The vectors on some places."""
    signs = tuple(tuple(itertools.compress(e, here)) for e in kinds.signs)
    scales, translations = (tuple(tuple(itertools.compress(e, here)) for e in of) for of in kinds[1:3])
    return Kinds(signs, scales, translations, tuple(itertools.compress(kinds.linear, here)), kinds.rotations)


@checked
def permute(
    params: Tensors, symmetry: Symmetry, permutations: Permutations, signs: Mapping[str, Tensor] | None = None
) -> dict[str, Tensor]:
    """Put the units of some groups in another order, and change their signs.

    ``params``: name → (N, …). ``permutations``: group → p (N, m); groups that are left out stay as they are. ``signs``:
    group → (N, r, m), ±1 for each of the r vectors ``symmetry.kinds[group].signs`` and each unit in the new order.

    Returns
    -------
    dict of torch.Tensor
        name → (N, …): unit i of a group is unit p_i of before, on each of its axes. Other tensors are the same objects.
    """
    N = len(next(iter({**permutations, **(signs or {})}.values()), ()))
    check_groups(symmetry, permutations, N)
    check_axes(params, symmetry, {**permutations, **(signs or {})}, N)
    moved = permute_axes(params, symmetry.groups, permutations)
    for group, given in (signs or {}).items():
        vectors = symmetry.kinds[group].signs if group in symmetry.kinds else ()
        allowed = (N, len(vectors), symmetry.sizes[group])
        if given.shape != allowed or not bool((given.abs() == 1).all()):
            raise ValueError(f"signs of group {group!r} are {short(given)}; allowed: 1 and -1 of shape {allowed}")
    return acted(moved, symmetry, signs, _signs_of(symmetry, signs)) if signs else moved


def _signs_of(symmetry: Symmetry, signs: Mapping[str, Tensor]) -> Act:
    """Units times the signs of the vectors that have 1 at their place."""

    def act(group: str, t: int, units: Tensor) -> Tensor:
        chosen = torch.tensor([bool(e[t]) for e in symmetry.kinds[group].signs])
        factor = signs[group][:, chosen].prod(dim=1)  # (N, m)
        return units * factor.to(units).view(len(factor), *[1] * (units.ndim - 2), -1)

    return act


def by_matrices(matrices: Mapping[str, Tensor], exponents: Mapping[str, Sequence[float]]) -> Act:
    """Units times a matrix M in places with a positive exponent, times M^{-T} in the others."""
    inverse = {g: torch.linalg.inv(M).mT for g, M in matrices.items()}
    return lambda g, t, units: units @ (matrices if exponents[g][t] > 0 else inverse)[g].to(units).mT


def acted(params: Tensors, symmetry: Symmetry, groups: Iterable[str], act: Act) -> dict[str, Tensor]:
    """Parameters (N, …) after a move of the units of some groups."""
    moved = dict(params)
    for g in groups:
        for t, place in enumerate(symmetry.groups[g]):
            value, d = moved[place.name], place.axis + 2
            units = act(g, t, units_of(value, place, symmetry.sizes[g]).movedim(d, -1))
            moved[place.name] = replace_units(value, place, units.movedim(-1, d))
    return moved


def check_groups(symmetry: Symmetry, permutations: Permutations, N: int) -> None:
    """Raise unless they are permutations of groups, one for each of N networks."""
    for group, p in permutations.items():
        if group not in symmetry.groups:
            raise ValueError(f"group {group!r} is unknown; allowed: {', '.join(symmetry.groups)}")
        if p.shape != (N, symmetry.sizes[group]):
            raise ValueError(
                f"p of group {group!r} has shape {tuple(p.shape)}; allowed: {(N, symmetry.sizes[group])}, one "
                "permutation for each network"
            )
        check_permutation(p)


def check_axes(params: Tensors, symmetry: Symmetry, groups: Iterable[str], N: int) -> None:
    """Raise unless the parameters that some groups act on are (N, …) with the units on the axes of their group."""
    for group in groups:
        for name, axis, offset, outer, inner, where in symmetry.groups[group]:
            shape, m = tuple(params[name].shape) if name in params else None, symmetry.sizes[group]
            needed = [(axis, offset + outer * m * inner), *((d, first + n) for d, first, n in where)]
            if shape is None or shape[:1] != (N,) or any(d + 1 >= len(shape) or shape[d + 1] < n for d, n in needed):
                raise ValueError(
                    f"parameter {name!r} has shape {shape}; allowed: {N} networks with the {m} units of group "
                    f"{group!r} on axis {axis}" + (f", where {where} are entries of others" if where else "")
                )


def units_of(value: Tensor, place: Axis, m: int) -> Tensor:
    """A view of a parameter (N, …) with the outer, the unit's and the inner index in the place of its axis."""
    d = place.axis + 1
    for axis, first, n in place.where:
        value = value.narrow(axis + 1, first, n)
    part = value.narrow(d, place.offset, place.outer * m * place.inner)
    return part.unflatten(d, (place.outer, m, place.inner))


def _reordered(value: Tensor, place: Axis, p: Tensor) -> Tensor:
    """A parameter (N, …) with the units in the place of its axis in the order p (N, m)."""
    d, m, p = place.axis + 1, p.shape[-1], p.to(value.device)
    if value.shape[d] == m:
        return _picked(value, d, p)
    return replace_units(value, place, _picked(units_of(value, place, m), d + 1, p))


def _picked(value: Tensor, d: int, p: Tensor) -> Tensor:
    """Entries p (N, m) of dimension d of each (N, …)."""
    N, m = p.shape
    if N == 1:
        return value.index_select(d, p[0])
    if d == 1:
        rows = p + m * torch.arange(N, device=p.device)[:, None]
        return value.flatten(0, 1).index_select(0, rows.flatten()).view(value.shape)
    return torch.stack([one.index_select(d - 1, q) for one, q in zip(value, p, strict=True)])


def replace_units(value: Tensor, place: Axis, units: Tensor) -> Tensor:
    """A parameter (N, …) with other units in the place of its axis, shaped as by :func:`units_of`."""
    d = place.axis + 1
    if place.where:
        (axis, first, n), *others = place.where
        part = replace_units(value.narrow(axis + 1, first, n), place._replace(where=tuple(others)), units)
        return value.slice_scatter(part, axis + 1, first, first + n)
    block = units.flatten(d, d + 2)
    if block.shape == value.shape:
        return block
    rest = place.offset + block.shape[d]
    return torch.cat((value.narrow(d, 0, place.offset), block, value.narrow(d, rest, value.shape[d] - rest)), dim=d)


def permute_axes(
    params: Tensors, groups: Mapping[str, tuple[Axis, ...]], permutations: Mapping[str, Tensor]
) -> dict[str, Tensor]:
    """:func:`permute`, unchecked, by the axes of each group, in the order of the groups."""
    places: dict[str, list[tuple[str, Axis]]] = {}
    for group, axes in groups.items():
        if group in permutations:
            for place in axes:
                places.setdefault(place.name, []).append((group, place))
    return {**params, **{name: reorder(params[name], of, permutations) for name, of in places.items()}}


def reorder(value: Tensor, places: Iterable[tuple[str, Axis]], p: Mapping[str, Tensor]) -> Tensor:
    """A parameter (N, …) with the units in some places in another order, one place after another, parts of it last."""
    axes: dict[int, list[tuple[str, Axis]]] = {}
    parts: list[tuple[str, Axis]] = []
    for group, place in places:
        (parts if place.where else axes.setdefault(place.axis, [])).append((group, place))
    for axis, several in axes.items():
        if len(several) == 1:
            ((group, place),) = several
            value = _reordered(value, place, p[group])
        else:  # the entries of an axis are put in order first, and the parameter is copied once
            order = torch.arange(value.shape[axis + 1], device=value.device).repeat(value.shape[0], 1)
            for group, place in several:
                order = _reordered(order, place._replace(axis=0), p[group])
            value = _picked(value, axis + 1, order)
    value = value.clone() if parts else value
    for group, place in parts:
        units = units_of(value, place, p[group].shape[-1])
        units.copy_(_picked(units, place.axis + 2, p[group].to(value.device)))
    return value


@checked
def identity(symmetry: Symmetry, N: Positive) -> dict[str, Tensor]:
    """The identity permutations of N networks, group → (N, m)."""
    return {group: torch.arange(m).repeat(N, 1) for group, m in symmetry.sizes.items()}


@checked
def random_permutations(symmetry: Symmetry, N: Positive, generator: torch.Generator) -> dict[str, Tensor]:
    """Uniform permutations of every group, group → (N, m), independent for each of N networks.

    Examples
    --------
    >>> import lmc_helpers as lmc
    >>> net, x = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)), torch.ones(1, 4)
    >>> groups = lmc.symmetry(net, x)
    >>> p = lmc.random_permutations(groups, 1, torch.Generator().manual_seed(1))
    >>> bool(torch.allclose(lmc.permuted(net, groups, p)(x), net(x), atol=1e-6))
    True
    """
    return {
        group: torch.stack([torch.randperm(m, generator=generator) for _ in range(N)])
        for group, m in symmetry.sizes.items()
    }


@runtime_checkable
class _Permutable(Protocol):
    """The interface that :func:`verify` needs; every :class:`~lmc_helpers.networks.model.Model` has it."""

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of each parameter of one network."""

    def symmetry(self) -> Symmetry:
        """The groups that are checked."""

    def forward(self, params: Tensors, x: Tensor) -> Tensor:
        """Outputs (N, B, classes)."""


@dataclass(frozen=True)
class Check:
    """Result of :func:`verify`: changes relative to the largest output."""

    #: group → largest change of an output when the group is permuted; "all" for all groups at once
    permuted: dict[str, float]
    #: axis → largest change when its group, of two units or more, is permuted but for this axis
    left_out: dict[Axis, float]
    unpermuted: tuple[Axis, ...]  # axes of parameters that belong to no group

    @checked
    def holds(self, rounding: NonNegative = 1e-10, effect: NonNegative = 1e-6) -> bool:
        """True if permuted groups change outputs by no more than rounding, and every axis of a group has an effect."""
        return max(self.permuted.values()) <= rounding and min(self.left_out.values(), default=1.0) >= effect


@checked
def verify(model: _Permutable, seed: Seed = 0, inputs: Positive = 4) -> Check:
    """Check the symmetry of an architecture by running a random network of it in float64.

    Parameters, gains and shifts among them, are normal numbers, hence no two units are alike; weights are scaled by the
    root of their inputs. Every group is permuted alone and all of them together. Then each axis is left out once.

    A small network of the architecture is enough.
    """
    generator = torch_generator(seed, "check of a symmetry")
    symmetry, shapes = model.symmetry(), model.shapes()

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    if not shapes or not symmetry.groups:
        raise ValueError(f"{len(shapes)} parameters, {len(symmetry.groups)} groups; allowed: one or more of both")
    params = {name: normal(1, *shape) / max(1, torch.Size(shape[1:]).numel()) ** 0.5 for name, shape in shapes.items()}
    check_axes(params, symmetry, symmetry.groups, 1)
    x = normal(inputs, *model.input_shape)

    def outputs(moved: dict[str, Tensor]) -> list[Tensor]:
        found = model.forward(moved, x)
        if not isinstance(found, Tensor) or not found.isfinite().all() or not found.any():
            raise ValueError(f"the model returns {short(found)}; allowed: finite outputs that are not all 0")
        return [found]

    with torch.no_grad():
        return verify_outputs(outputs, params, symmetry, generator)


def verify_outputs(
    outputs: Callable[[dict[str, Tensor]], list[Tensor]],
    params: dict[str, Tensor],
    symmetry: Symmetry,
    generator: torch.Generator,
    left_out: bool = True,
) -> Check:
    """The check of a symmetry on the outputs of one network with some parameters, name → (1, …)."""
    perms = cycles(symmetry, generator)
    expected = outputs(params)

    def moved_by(groups: Mapping[str, tuple[Axis, ...]]) -> float:
        return change(outputs(permute_axes(params, groups, {group: perms[group] for group in groups})), expected)

    permuted = {group: moved_by({group: axes}) for group, axes in symmetry.groups.items()}
    permuted["all"] = moved_by(symmetry.groups)
    without = {
        axis: moved_by({group: tuple(other for other in axes if other != axis)})
        for group, axes in symmetry.groups.items()
        for axis in axes
        if left_out and len(axes) > 1 < symmetry.sizes[group]
    }
    known = {(place.name, place.axis) for axes in symmetry.groups.values() for place in axes}
    every = [(name, axis) for name, value in params.items() for axis in range(value.ndim - 1)]
    return Check(permuted, without, tuple(Axis(*axis) for axis in every if axis not in known))


def change(found: list[Tensor], expected: list[Tensor]) -> float:
    """The largest change of outputs, relative to the largest entry of each; infinite where only one is finite."""
    if [one.shape for one in found] != [one.shape for one in expected]:
        return math.inf
    changes = [0.0]
    for one, two in zip(found, expected, strict=True):
        here = torch.isfinite(two)
        if not here.equal(torch.isfinite(one)):
            return math.inf
        if here.any():
            one, two = (each[here].to(torch.complex128 if each.is_complex() else torch.float64) for each in (one, two))
            changes.append(((one - two).abs().max() / two.abs().max().clamp_min(1e-300)).item())
    return max(changes)


def cycles(symmetry: Symmetry, generator: torch.Generator) -> dict[str, Tensor]:
    """A permutation of each group that moves all of its units, group → (1, m)."""
    return {group: _cycle(m, generator) for group, m in symmetry.sizes.items()}


def _cycle(m: int, generator: torch.Generator) -> Tensor:
    """A cycle through all units in random order, (1, m): every unit moves, if there are two."""
    order = torch.randperm(m, generator=generator)
    return torch.empty_like(order).scatter_(0, order, order.roll(1))[None]
