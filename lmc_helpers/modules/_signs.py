"""Which units may change sign: each operation tells by trial what signs of its arguments it passes on.

The signs of the units of an atom in each of its places, in parameters and in every tensor between them, are numbers
mod 2. An operation is run again with some units of some arguments times −1: where its results are the same up to signs
of these units, such signs are *passed on*. They form a group, a basis of which says what the signs of the results are,
and which equations those of the arguments satisfy: those that are summed or multiplied out are 0, those of two terms
of a sum are equal. Solutions of all equations keep the module's outputs, since these have no units that are free.
Where very many places of arguments must change sign together, fewer signs are found.
"""

import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map
from torch.utils.weak import WeakTensorKeyDictionary

from lmc_helpers.modules._axes import Atom, Axes, State, Unfollowed, count, length, resolved
from lmc_helpers.modules._module import called, outputs_of, step_by_step, tensors_of
from lmc_helpers.modules._plain import Call, memory, remembered
from lmc_helpers.modules._trace import Spot, Traced, _spots
from lmc_helpers.networks.permutations import change

TRIED = 300  # most combinations of a number of places of an operation that are tried
ROUNDING = 1e-6  # of results of an operation, relative to the largest

Signs = dict[tuple[Atom, Spot], int]  # where an atom is in a tensor → its sign, a sum of unknowns as bits


def candidates(
    model: nn.Module, calls: Sequence[Call], chosen: Callable, traced: Traced, atoms: Collection[Atom]
) -> dict[Atom, list[int]]:
    """Atom, of some → a basis of the sets of its spots, as bits, the units of which may change sign together."""
    spots = {atom: spots for atom, spots in traced.spots.items() if atom in atoms}
    signs = _Signs(dict([*model.named_parameters(), *model.named_buffers()]), replace(traced, spots=spots))
    for x in calls:
        back = remembered(model)
        try:
            with torch.no_grad(), step_by_step(), signs:
                outputs_of(chosen(called(model, x)))
        except Exception as error:
            if x.broken:
                continue
            if not isinstance(error, (Unfollowed, RuntimeError)):  # or an operation on other numbers or tensors
                raise
            return {atom: [] for atom in spots}
        finally:
            back()
    return {
        atom: solutions(equations, signs.unknowns[atom], len(traced.spots[atom]))
        for atom, equations in signs.equations.items()
    }


class _Signs(TorchDispatchMode):
    """Collects the equations of signs while a module runs."""

    def __init__(self, sources: dict[str, Tensor], traced: Traced):
        super().__init__()
        self.equations: dict[Atom, list[int]] = {atom: [] for atom in traced.spots}
        self.unknowns = {atom: len(spots) for atom, spots in traced.spots.items()}
        self.flipped = {atom: torch.arange(0, atom.size, 2) for atom in traced.spots}  # the units that change sign
        self.steps = iter(traced.steps)
        self.passed: dict[tuple, tuple[dict[int, tuple[int, int]], list[int]]] = {}  # as of _Trial.relation
        self.known = WeakTensorKeyDictionary()
        self.sources: dict[tuple, Signs] = {memory(one): {} for one in sources.values()}
        for atom, spots in traced.spots.items():
            for k, spot in enumerate(spots):
                self.sources[memory(sources[spot.name])][atom, spot] = 1 << k

    def signs(self, tensor: Tensor, value: Tensor, state: State | None) -> Signs:
        """The signs of units in a tensor: an unknown for those that are all 0, of a first state for example."""
        if not tensor.is_floating_point() and not tensor.is_complex():
            return {}
        found = self.known.get(tensor)
        if found is None:
            found = self.known[tensor] = dict(self.sources.get(memory(tensor), {}))
        for atom, spot in self.spots(state):
            if (atom, spot) not in found and memory(tensor) not in self.sources:
                found[atom, spot] = 0
                if not value[self.factor(value, [(atom, spot)]) < 0].any():
                    found[atom, spot] = 1 << self.unknowns[atom]
                    self.unknowns[atom] += 1
        return found

    def spots(self, state: State | None) -> Iterable[tuple[Atom, Spot]]:
        """Where free atoms are in a tensor."""
        if state is None:
            return
        sizes = [length(own) // state.outer for own in state.own]
        pack = [d for d, axis in enumerate(state.variants[0]) if axis is state.pack]
        for axes, n, first in zip(state.each(), sizes or [0], itertools.accumulate(sizes, initial=0), strict=False):
            for d, axis in enumerate(axes):
                where = () if d in pack else tuple((e, first, n, sum(sizes)) for e in pack)
                for atom, spot in _spots("", d, axis, True, (first if d in pack else 0, 1, ())):
                    if atom in self.equations:
                        yield from ((atom, replace(spot, where=one)) for one in ([where] if pack else _parts(axes, d)))

    def factor(self, like: Tensor, places: Iterable[tuple[Atom, Spot]]) -> Tensor:
        """−1 at the units that change sign, else 1, as a factor of a tensor."""
        factor = torch.ones(like.shape, dtype=torch.int8, device=like.device)
        for atom, spot in places:
            at = torch.tensor([spot.offset])
            steps = [(torch.arange(one.size), step) for one, step in spot.outside]
            for index, step in [*steps, (self.flipped[atom], spot.stride), (torch.arange(spot.stride), 1)]:
                at = (at[:, None] + step * index).flatten()
            flip = torch.zeros_like(factor).index_fill_(spot.axis, at.to(like.device), 2)
            for d, first, n, *every in spot.where:
                index = torch.arange(like.shape[d], device=like.device) % (*every, like.shape[d])[0]
                flip.index_fill_(d, ((index < first) | (index >= first + n)).nonzero().flatten(), 0)
            factor *= 1 - flip
        return factor

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Run an operation and note what signs it passes on."""
        tensors = list(tensors_of((args, kwargs or {})))
        writes = func._schema.is_mutable
        before = {id(one): one.clone() if writes else one for one in tensors}
        out = func(*args, **(kwargs or {}))
        outputs = list(tensors_of(out))
        if not outputs:
            return out
        name, given, made = next(self.steps, ("", [], []))
        if name != str(func):
            raise Unfollowed  # another way through the module than when it was traced
        given = [] if "empty" in name else given  # of arbitrary numbers
        inputs = {
            (id(one), *at): sign
            for one, state in zip(tensors, given, strict=False)
            for at, sign in self.signs(one, before[id(one)], state).items()
        }
        trial = _Trial(self, func, args, kwargs or {}, before, [k for k, state in enumerate(made) if state is not None])
        results: list[Signs] = [{} for _ in outputs]
        for atom in {atom for _, atom, _ in inputs}:
            places = [place for place in inputs if place[1] is atom]
            ends = [
                (k, *at)
                for k, state in enumerate(made)
                if outputs[k].is_floating_point() or outputs[k].is_complex()
                for at in self.spots(state)
                if at[0] is atom
            ]
            key = trial.key(places, ends)
            if key not in self.passed:
                self.passed[key] = trial.relation(places, ends)
            basis, known = self.passed[key]
            for j, place in enumerate(places):
                if rest := inputs[place] ^ xor(inputs[places[i]] for i, (one, _) in basis.items() if one >> j & 1):
                    self.equations[atom].append(rest)
            for i in known:
                k, _, spot = ends[i]
                results[k][atom, spot] = xor(inputs[places[j]] for j, (_, two) in basis.items() if two >> i & 1)
        for one, found in zip(outputs, results, strict=True):
            if writes and one.numel() * one.element_size() < one.untyped_storage().nbytes():  # a part of another tensor
                for (atom, spot), sign in found.items():
                    if rest := sign ^ inputs.get((id(one), atom, spot), sign):
                        self.equations[atom].append(rest)
            self.known[one] = found
        return out


class _Trial:
    """An operation that is run again with units of its arguments times −1, on other numbers than 0."""

    def __init__(
        self, signs: _Signs, func: Callable, args: tuple, kwargs: dict, before: dict[int, Tensor], used: list[int]
    ):
        self.factor, self.func, self.args, self.kwargs = signs.factor, func, args, kwargs
        self.before, self.used = before, used  # the arguments, and the numbers of the results that count

    def key(self, places: list, ends: list) -> tuple:
        """The dependencies of the signs that are passed on."""
        number = {one: n for n, one in enumerate(self.before)}

        def shown(one: Any) -> Any:
            return (number[id(one)], tuple(one.shape), one.dtype) if isinstance(one, Tensor) else one

        at = [(number[key], atom.size, *_geometry(spot)) for key, atom, spot in places]
        return (
            str(self.func),
            repr(tree_map(shown, (self.args, self.kwargs))),
            *at,
            *((k, *_geometry(spot)) for k, _, spot in ends),
        )

    def relation(self, places: list, ends: list) -> tuple[dict[int, tuple[int, int]], list[int]]:
        """The basis of what is passed on, and the places of the results whose signs it tells: those that are not 0."""
        values = dict(self.before)
        signs = [self.factor(values[key], [at]) for key, *at in places]
        for (key, *_), sign in zip(places, signs, strict=True):  # 0 elsewhere, as of another first state, stays
            value = values[key]
            if bool((value != 0).all()):
                continue
            generator = torch.Generator(value.device).manual_seed(0)
            noise = torch.rand(value.shape, generator=generator, device=value.device)
            values[key] = torch.where((value == 0) & (sign < 0), noise + 0.5, value)
        base = self.run(values, {})
        if base is None:
            return {}, []
        factors = [self.factor(base[k], [at]) for k, *at in ends]
        whole = [torch.ones_like(one, dtype=torch.int8) for one in base]
        for (k, *_), factor in zip(ends, factors, strict=True):
            whole[k] *= factor
        known = [i for i, (k, *_) in enumerate(ends) if base[k][factors[i] < 0].any()]
        at = [self._largest(base[ends[i][0]], factors[i], whole[ends[i][0]]) for i in known]

        def compared(which: tuple[int, ...]) -> int | None:
            """The signs, as bits, by which results differ; None if they differ otherwise."""
            by: dict[int, Tensor] = {}
            for j in which:
                by[places[j][0]] = by.get(places[j][0], 1) * signs[j]
            found, moved, bits = self.run(values, by), list(base), 0
            if found is None or [one.shape for one in found] != [one.shape for one in base]:
                return None
            entries = [one.flatten() for one in found]
            for i, (n, value) in zip(known, at, strict=True):
                if abs(entries[ends[i][0]][n].item() + value) < abs(value):
                    bits |= 1 << i
                    moved[ends[i][0]] = moved[ends[i][0]] * factors[i]
            same = change([found[k] for k in self.used], [moved[k] for k in self.used]) <= ROUNDING
            return bits if same else None

        return passed_on(compared, len(places)), known

    def _largest(self, base: Tensor, factor: Tensor, whole: Tensor) -> tuple[int, complex]:
        """Number and value of the largest entry where the units of one place alone are."""
        here = (factor < 0) & (factor * whole > 0) & base.isfinite()
        n = int(torch.where(here, base.abs(), 0).argmax())
        return n, base.flatten()[n].item()

    def run(self, values: dict[int, Tensor], signs: dict[int, Tensor]) -> list[Tensor] | None:
        """The results with arguments of some values times some signs."""

        def other(one: Any) -> Any:
            key = id(one)
            return one if key not in values else values[key] * signs[key] if key in signs else values[key].clone()

        try:
            out = self.func(*tree_map(other, self.args), **tree_map(other, self.kwargs))
        except RuntimeError:
            return None
        return [one.clone() for one in tensors_of(out)]


def _parts(axes: Axes, d: int) -> list[tuple[tuple[int, int, int, int], ...]]:
    """The parts of a tensor, along other axes than d, in which an index occurs again: heads that lie there twice."""
    ways: list[list[tuple]] = [[()]]
    for e, axis in enumerate(axes):
        products, stride = resolved(axis), 1
        for k, atom in enumerate(products[0] if len(products) == 1 else ()):
            if atom.parts is not None:  # a sum inside another index
                products, stride = resolved(atom.parts), count(products[0][k + 1 :])
                break
        if e != d and sum(map(len, map(set, products))) > len(set().union(*products)):
            ends = [*itertools.accumulate((stride * count(one) for one in products), initial=0)]
            ways.append([((e, first, last - first, ends[-1]),) for first, last in itertools.pairwise(ends)])
    return [tuple(itertools.chain(*one)) for one in itertools.product(*ways)]


def _geometry(spot: Spot) -> tuple:
    outside = tuple((one.size, step) for one, step in spot.outside)
    return spot.axis, spot.offset, spot.stride, spot.where, outside


def xor(signs: Iterable[int]) -> int:
    """The sum mod 2."""
    return reduce(operator.xor, signs, 0)


def passed_on(trial: Callable[[tuple[int, ...]], int | None], n: int) -> dict[int, tuple[int, int]]:
    """A reduced basis of what is passed on: pivot → signs of n places of the arguments, and those of the results."""
    basis: dict[int, tuple[int, int]] = {}

    def reduced(one: int, two: int = 0) -> tuple[int, int]:
        for pivot, (v, w) in basis.items():
            if one >> pivot & 1:
                one, two = one ^ v, two ^ w
        return one, two

    for k in range(1, n + 1):
        rest = [j for j in range(n) if j not in basis]  # of the others each is a sum of these and one of the basis
        for which in itertools.combinations(rest, k) if math.comb(len(rest), k) <= TRIED else ():
            v = sum(1 << j for j in which)
            signs = trial(which) if reduced(v)[0] else None
            if signs is not None:
                new = reduced(v, signs)
                pivot = new[0].bit_length() - 1
                for other, (one, two) in basis.items():
                    if one >> pivot & 1:
                        basis[other] = one ^ new[0], two ^ new[1]
                basis[pivot] = new
    return basis


def solutions(equations: Iterable[int], unknowns: int, first: int) -> list[int]:
    """A reduced basis, in the first unknowns, of the solutions of equations mod 2 whose unknowns are bits."""
    rows = reduced(equations)
    pivots = [_lowest(row) for row in rows]
    kernel = [
        1 << free | sum(1 << pivot for pivot, row in zip(pivots, rows, strict=True) if row >> free & 1)
        for free in set(range(unknowns)) - set(pivots)
    ]
    return reduced(one & ((1 << first) - 1) for one in kernel)


def reduced(vectors: Iterable[int]) -> list[int]:
    """The reduced basis of vectors mod 2, each as bits: the lowest bit of each is in no other."""
    rows: list[int] = []
    for v in vectors:
        for row in rows:
            v ^= row if v & row & -row else 0
        if v:
            rows = [row ^ v if row & v & -v else row for row in rows] + [v]
    return sorted(rows, key=_lowest)


def _lowest(v: int) -> int:
    return (v & -v).bit_length() - 1
