"""The interchangeable units of a module: its axes followed through one forward pass.

An axis of a tensor is a sum of products of *atoms*: a concatenation is a sum, a flattened feature map C × H × W a
product. Each operation has a rule. It carries an axis along, identifies two axes (a contraction, an addition), splits
one (a reshape, a slice), or fixes it, because its order counts: the pixels of a convolution, what an index picks, a
sort. The axes of inputs and outputs are fixed. If nothing fixes an atom, the function is the same when its index runs
in another order wherever it occurs in a parameter: it counts interchangeable units.

In a product heads × units, the units of each head may be permuted on their own if they never occur apart from the index
of their head: in no tensor, no sum, and no pair of tensors whose entries meet. Rules *note* sums and pairs. The index
may be on an axis of its own, as that of experts in a stack, or belong to one, as the rows that go to each expert.

Where entries of a parameter are taken out one by one, or groups of a convolution read channels of several layers, the
blocks are followed apart, in another pass, as if they were parameters.

Buffers that hold one number for each unit, such as the statistics of a batch norm, move with the units. A buffer that
varies along two axes or more, such as a mask of weights, an integer buffer, and a fixed part of a parametrised tensor
belong to the architecture: they fix the axes along which they vary.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace as Arguments
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakTensorKeyDictionary

from lmc_helpers.modules._axes import (
    Atom,
    Axes,
    Axis,
    Product,
    State,
    Unfollowed,
    branches,
    count,
    cut,
    fix,
    fixed,
    flat,
    fresh,
    is_constant,
    is_fixed,
    length,
    packed,
    resolved,
    same,
)
from lmc_helpers.modules._module import called, outputs_of, step_by_step, tensors_of
from lmc_helpers.modules._operations import (
    CARRIES,
    MOST,
    MOVES,
    PASSED,
    PICKED,
    POINTWISE,
    RULES,
    SOFTMAX,
    VIEWS,
    alike,
    geometry,
    listed,
)
from lmc_helpers.modules._plain import Call, memory, reached, remembered, unsaved
from lmc_helpers.networks.permutations import Axis as Place
from lmc_helpers.networks.permutations import Symmetry

BY_HAND = "allowed: its groups written by hand, Symmetry({group: (Axis(parameter, axis), ...)}, {group: units})"
SUFFIX = r"(\.parametrizations\.\w+\.(original\d?|.*)|[._](weight|bias)(_[vg]|_orig)?)$"


#: Of each part of an axis how many times it is packed, and the lengths of the pieces each time.
Packed = tuple[tuple[int, tuple[int, ...]], ...]
TURNS = {"t", "transpose", "squeeze", "unsqueeze"}  # in place, too


class Refused(ValueError):
    """A module whose symmetry cannot be proven."""


class Follower(TorchDispatchMode):
    """Follows the axes of all tensors while a module runs."""

    def __init__(
        self,
        sources: Mapping[str, Tensor],
        packed: Mapping[tuple[int, int], Packed],
        blocks: Mapping[int, tuple[int, int]],
        held: set[tuple],
    ):
        super().__init__()
        self.held = held  # the memory of tensors that the module holds beside its sources
        self.sources, self.packed = list(sources.values()), packed
        self.first_use: dict[int, int] = {}  # number of a source → when it is used first
        self.numbers = {memory(tensor): k for k, tensor in reversed(list(enumerate(self.sources)))}
        #: source and axis that turns out to be packed, too → of each part its length, how many times, by which index
        self.found: dict[tuple[int, int], list[tuple[int, int, Atom | None]]] = {}
        self.cut: set[Atom] = set()  # these indices
        self.laid: list[tuple[str, list[Axes]]] = []  # what is put one after another, each with units of its own
        self.blocked: list[tuple[str, Axis, Axes]] = []  # an index of groups, and the units inside all of these
        #: source → axis and length of blocks that turn out to be read apart, the axes of each, and those that were read
        self.wanted: dict[int, tuple[int, int]] = {}
        self.blocks: dict[int, list[Axes]] = {}
        self.apart, self.reached = dict(blocks), {k: set[int]() for k in blocks}
        self.states = WeakTensorKeyDictionary()
        self.noted: list[Axes] = []
        self.taken: list[Axes] = []  # the axes of what other operations take than those that carry entries along
        self.module = [""]
        self.stacked: set[Atom] = set()  # what is picked entry by entry
        self.indexed: set[Atom] = set()  # what is picked by an index
        self.writes = False  # whether the present operation changes a tensor in place
        #: of each operation its name and the axes of its tensors, None for blocks that are read apart, and of its
        #: results, None if their use fixes the units
        self.steps: list[tuple[str, list[State | None], list[State | None]]] = []
        #: results that say where units are, such as the indices of a maximum → the axes that their use fixes
        self.order = WeakTensorKeyDictionary()
        #: parts of tensors that nothing has read yet → why, the rule, arguments, states of these, and the step
        self.later = WeakTensorKeyDictionary()
        self.constants = WeakTensorKeyDictionary()  # tensors that depend on no other
        self.call: Call | None = None  # which is followed
        #: its operations whose numbers depend on inputs, and the axes of results whose lengths do
        self.varied: Mapping[int, list[set[int]]] = {}
        self.index = WeakTensorKeyDictionary()  # indices → the axis whose entries they pick
        self.precision = 0.0  # of the coarsest floating type
        for k, tensor in enumerate(self.sources):
            axes: Axes = []
            for d, whole in enumerate(tensor.shape):
                parts = packed.get((k, d), ((1, (whole,)),))
                each = (flat([fresh(outer), tuple((Atom(n),) for n in sizes)]) for outer, sizes in parts)
                axes.append(tuple(itertools.chain(*each)))
            self.put(tensor, axes)
        for k, (dim, size) in blocks.items():
            shape = [size if d == dim else n for d, n in enumerate(self.sources[k].shape)]
            self.blocks[k] = [list(map(fresh, shape)) for _ in range(self.sources[k].shape[dim] // size)]

    def block(self, tensor: Tensor, dim: int, size: int, i: int) -> Axes | None:
        """The axes of the i-th of several blocks of a parameter on an axis, if they are followed apart."""
        k = self.numbers.get(memory(tensor))
        if k is None or not isinstance(self.sources[k], nn.Parameter) or tensor.ndim < 2:
            return None
        if k in self.blocks and self.apart[k] == (dim, size):
            self.reached[k].add(i)
            return self.blocks[k][i]
        if k not in self.apart:
            self.wanted[k] = dim, size
        return None

    def whole(self, k: int) -> None:
        """Identify the units of all blocks of a parameter."""
        if blocks := self.blocks.pop(k, []):
            dim, _ = self.apart[k]
            for d, axis in enumerate(self.states[self.sources[k]].variants[0]):
                if d == dim:
                    same(axis, tuple(product for one in blocks for product in one[d]))
                else:
                    for one in blocks:
                        same(axis, one[d])

    def put(self, tensor: Tensor, found: State | Axes) -> None:
        """Store the axes of a tensor."""
        state = State([found]) if isinstance(found, list) else found
        self.states[tensor] = state
        self.noted += state.each()

    def note(self, *axes: Axis) -> None:
        """Note axes that are summed or meet without being those of a tensor."""
        self.noted.append(list(axes))

    def state(self, tensor: Tensor) -> State:
        """The axes of a tensor; one that the module holds or makes is fixed along each axis on which it varies.

        One from elsewhere may be an input: it is fixed along all.
        """
        if tensor in self.later:
            why, rule, a, given, (_, before, after) = self.later.pop(tensor)
            why, Atom.reason = Atom.reason, why
            self.put(tensor, *rule(self, a, [tensor]))
            before += given
            after[0], Atom.reason = self.states[tensor], why
        if tensor in self.order:
            fix(*self.order.pop(tensor))
        if (k := self.numbers.get(memory(tensor))) in self.blocks:
            self.whole(k)
        if tensor not in self.states:
            k = self.numbers.get(memory(tensor))
            if k is not None and tensor.numel():
                self.put(tensor, self.states[self.sources[k]])
            else:
                self.put(tensor, self.made(tensor) if memory(tensor) in self.held else fixed(tensor.shape))
        return self.states[tensor]

    def made(self, tensor: Tensor) -> Axes:
        """The axes of a tensor that depends on no other: fixed along each axis on which it varies."""
        differs = [varies(tensor, d) for d in range(tensor.ndim)]
        return [fresh(n, one, not any(differs)) for n, one in zip(tensor.shape, differs, strict=True)]

    def axes(self, tensor: Tensor) -> Axes:
        """The axes of a tensor; those of stacked variants are identified."""
        first, *others = self.state(tensor).variants
        for other in others:
            for a, b in zip(first, other, strict=True):
                same(a, b)
        return first

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Run an operation and follow the axes."""
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        name = name if name.endswith("__") else name.removesuffix("_")  # in place
        tensors = list(tensors_of((args, kwargs)))
        shown = {"lift_fresh": "tensor", "resolve_neg": "tensor"}.get(name, name)  # made of numbers
        Atom.reason = f"{shown!r}" + (f" of {self.module[-1]!r}" if self.module[-1] else "")
        if name.startswith("lift_fresh"):
            self.held |= {memory(tensor) for tensor in tensors}
        given: list[State | None] = []
        outputs: list[Tensor] | None = None
        varied = self.varied.get(len(self.call.steps)) if self.call and not _is_pointwise(name) else None
        a = bound(func, args, kwargs)
        passed = name in PASSED or name in MOVES or name in VIEWS
        said = tensors_of(a.self if passed else getattr(a, PICKED.get(name, ""), ()))
        kept = [(one, self.order.pop(one)) for one in said if one in self.index and one in self.order]
        shaped = name.endswith("_like") or name.startswith("new_")  # only shapes count
        try:
            if func._schema.is_mutable and name in TURNS:
                for one in [*self.later.keys()]:
                    self.state(one)
            given = [None if shaped or self.is_apart(name, one) else self.state(one) for one in tensors]  # before
            states = [axes for state in given if state is not None for axes in state.each()]
            self.taken += states if name not in CARRIES else []
            for tensor in tensors:
                k = self.numbers.get(memory(tensor))
                if k is not None:
                    self.first_use.setdefault(k, len(self.first_use))
            before, self.writes = list(map(geometry, tensors)), func._schema.is_mutable
            out = func(*args, **kwargs)
            outputs = list(tensors_of(out))
            if not outputs:
                self.order.update(kept)
                return out  # a number, the same in every order of the units
            if self.writes and before != list(map(geometry, tensors)) and name not in TURNS:
                raise Unfollowed  # such as resize_
            if varied is not None and tensors and not shaped:
                self.vary(a, tensors, outputs[0].ndim, varied)
            later = name in ("slice", "select") and varied is None and not kept
            if later and given[0] is not None and memory(a.self) not in self.numbers:
                self.steps.append((str(func), [], [None]))
                self.later[outputs[0]] = Atom.reason, RULES[name], a, given, self.steps[-1]
                return out
            found = self.follow(name, func, a, tensors, states, outputs)
        except (Unfollowed, LookupError, AttributeError, TypeError):
            fix(*(axis for _, axes in kept for axis in axes))
            if outputs is None:  # arguments of another layout
                out = func(*args, **kwargs)
                outputs = list(tensors_of(out))
            found = self.pin(tensors, outputs)
        for k, tensor in enumerate(outputs):
            known = k < len(found) and found[k] is not None
            self.put(tensor, (found[k] if known else None) or fixed(tensor.shape))
            if not known:
                self.order[tensor] = [axis for one in tensors for axis in self.axes(one)]
            if tensor.is_floating_point():
                self.precision = max(self.precision, torch.finfo(tensor.dtype).eps)
            if self.writes:
                self.index.pop(tensor, None)
                if not tensor.is_floating_point():
                    self.constants.clear()  # a view of one may have been written
            elif varied is None and (
                name.startswith("lift_fresh") or (not tensors and torch.Tag.nondeterministic_seeded not in func.tags)
            ):
                self.constants[tensor] = True
            if varied is not None:
                lengths = (varied[k] if k < len(varied) else set()) or set(() if tensors else range(tensor.ndim))
                fix(*(axes[d] for axes in self.states[tensor].each() for d in lengths))
            for one, axes in kept if passed else ():
                self.order[tensor], self.index[tensor] = axes, self.index[one]
        self.order.update(kept)
        self.steps.append(
            (str(func), given, [None if tensor in self.order else self.states[tensor] for tensor in outputs])
        )
        return out

    def vary(self, a: Arguments, tensors: list[Tensor], ndim: int, lengths: list[set[int]]) -> None:
        """Fix the axes that an operation treats by numbers which depend on inputs; all if it is not known which."""
        Atom.reason += ", by numbers that depend on the inputs"
        dims = next((getattr(a, name) for name in ("dim", "dims", "dimension") if hasattr(a, name)), None)
        if lengths and dims is not None:
            fix(*(self.axes(a.self)[d] for d in listed(dims, a.self.ndim)))
        elif any(lengths):
            fix(*(self.axes(a.self)[d] for d in set().union(*lengths) if a.self.ndim == ndim))
        else:
            fix(*(axis for one in tensors for axis in self.axes(one)))

    def is_apart(self, name: str, tensor: Tensor) -> bool:
        """True if an operation may read blocks of a tensor apart."""
        parts = ("select", "unbind", "convolution", "slice", "split", "split_with_sizes")
        return name in parts and self.numbers.get(memory(tensor)) in self.blocks

    def pin(self, tensors: Iterable[Tensor], out: Iterable[Tensor]) -> list[Axes]:
        """Fix all axes of an operation that no rule describes."""
        Atom.reason += ", which is not followed"
        fix(*(axis for tensor in tensors for one in self.state(tensor).each() for axis in one))
        return [fixed(one.shape) for one in out]

    def follow(self, name, func, a: Arguments, tensors, states, out: list[Tensor]) -> Sequence[State | Axes | None]:
        """The axes of an operation's results."""
        wide = [tensor for tensor in tensors if tensor.numel() > 1]
        pointwise = _is_pointwise(name)
        if not tensors and name.startswith(("empty", "new_empty")):
            return [[fresh(n) for n in one.shape] for one in out]
        if not tensors:
            self.held |= set(map(memory, out))
            return [self.made(one) for one in out]
        if name in MOVES or (pointwise and len(wide) == 1 and wide[0].shape == out[0].shape and name not in RULES):
            move = MOVES.get(name, alike)
            state = self.state(a.self if name in MOVES else wide[0])
            moved = [move(axes, a, out[0]) for axes in state.variants]
            if any(all(axis is not state.pack for axis in axes) for axes in moved[1:]):
                return [move(self.axes(a.self), a, out[0])]
            return [replace(state, variants=moved)]
        if (found := self.each(name, pointwise, a, tensors, out)) is not None:
            return [found]
        if name in RULES:
            return RULES[name](self, a, out)
        if torch.Tag.nondeterministic_seeded in func.tags:  # numbers are drawn place by place
            if not name.endswith("_like"):
                fix(*(axis for axes in states for axis in axes))
            return [fixed(one.shape) for one in out]
        if pointwise:
            return [self.broadcast(*map(self.axes, tensors))] * len(out)
        if all(is_fixed(axis) for axes in states for axis in axes):
            return [fixed(one.shape) for one in out]
        raise Unfollowed

    def each(self, name: str, pointwise: bool, a: Arguments, tensors: list[Tensor], out: list[Tensor]) -> State | None:
        """The result of an operation on several tensors along an axis, each by itself, if it goes by their index."""
        along = name in SOFTMAX or (pointwise and name not in RULES)
        if len(out) > 1 or not (along or name in ("bmm", "baddbmm")):
            return None
        packs = {one: state for one in tensors if (state := self.states[one]).pack is not None}
        if not packs:
            return None
        at = {
            next(d for d, axis in enumerate(of.variants[0]) if axis is of.pack) - one.ndim for one, of in packs.items()
        }
        likes = {(*map(length, of.own), of.outer) for of in packs.values()}
        if (
            len(at) > 1
            or len(likes) > 1
            or (not along and at != {-3})
            or (name in SOFTMAX and a.dim % out[0].ndim - out[0].ndim in at)
        ):
            return None
        first = next(iter(packs.values()))
        found: list = []
        for of in packs.values():
            same(first.pack or (), of.pack or ())
        for k in range(len(first.variants)):
            for one, of in packs.items():
                self.states[one] = State([[first.pack if axis is of.pack else axis for axis in of.variants[k]]])
            found += [self.broadcast(*map(self.axes, tensors))] if name not in RULES else RULES[name](self, a, out)
        for one, of in packs.items():
            self.states[one] = of
        (d,) = at
        return replace(
            first, variants=[[*axes[: d + out[0].ndim], first.pack, *axes[d + out[0].ndim + 1 :]] for axes in found]
        )

    def span(self, index: Tensor, n: int) -> tuple[int, int] | None:
        """The first entry and the end of an index that is a constant and takes one entry after another of n."""
        if index.ndim != 1 or not len(index) or index not in self.constants or index.dtype != torch.long:
            return None
        first = int(index[0]) % n
        whole = first + len(index) <= n and bool((index % n == torch.arange(first, first + len(index)).to(index)).all())
        return (first, first + len(index)) if whole else None

    def broadcast(self, *operands: Axes) -> Axes:
        """The axes of the entry-wise result of some tensors."""
        ndim = max(map(len, operands))
        result: list[Axis | None] = [None] * ndim
        for own in operands:
            common = []
            for k, axis in enumerate(own, start=ndim - len(own)):
                known = result[k]
                if length(axis) == 1:
                    continue
                if known is None or (is_constant(known) and not self.writes):
                    result[k] = axis
                elif is_constant(axis) and not self.writes:
                    continue
                else:
                    same(known, axis)
                    common.append(axis)
            self.note(*common)
            self.note(*(axis for axis in result if axis is not None))
        return [fresh(1) if axis is None else axis for axis in result]

    def tells(self, index: Tensor, axis: Axis) -> None:
        """An index says where units of an axis are; its use fixes them unless it picks the same units elsewhere."""
        self.order[index], self.index[index] = [axis], axis

    def pick(self, axis: Axis, index: Tensor, rows: Sequence[Axis] = ()) -> None:
        """An index picks units of an axis: those that it tells of, or in their order; each row has one of them."""
        known = self.index.get(index)
        if known is None or length(known) != length(axis):
            fix(axis, known or ())
            known = self.index.setdefault(index, axis)
        if length(known) == length(axis):
            same(known, axis)
            needed = [atom for one in rows for product in resolved(one) for atom in product]
            if needed and all(len(resolved(one)) == 1 for one in rows):
                needed[-1].of.append((axis, needed))

    def meet(self, a: Axes, b: Axes, besides: int) -> None:
        """Entries of two tensors meet along all axes but one; those of unequal lengths are fixed."""
        for d, (one, two) in enumerate(zip(a, b, strict=True)):
            if d == besides:
                continue
            if length(one) == length(two):
                same(one, two)
            else:
                fix(one, two)
        self.note(*(axis for d, axis in enumerate(a) if d != besides))

    def contract(self, x: Axes, y: Axes, batch: int = 0) -> Axes:
        """The axes of Σ_k x[batch, ..., k] y[batch, k, ...]."""
        shared, left, right = x[:batch], x[batch:-1], y[batch + 1 :]
        for one, two in zip((*shared, x[-1]), y, strict=False):
            if not is_constant(one) and not is_constant(two):
                same(one, two)
        shared = [two if is_constant(one) else one for one, two in zip(shared, y, strict=False)]
        self.note(*shared, x[-1])
        self.note(*shared, *left)
        self.note(*shared, *right)
        return [*shared, *left, *right]

    def part(self, tensor: Tensor, dim: int, first: int, last: int) -> State:
        """The axes of the entries of a tensor from first to last − 1 along one of them."""
        size = math.gcd(first, last, tensor.shape[dim])
        if dim == 0 and tensor.ndim == 2 and 0 < last - first < len(tensor) <= 8 * size:
            blocks = [self.block(tensor, 0, size, k) for k in range(first // size, last // size)]
            if None not in blocks:
                rows, columns = zip(*(one for one in blocks if one is not None), strict=True)
                for one in columns:
                    same(columns[0], one)
                return State([[tuple(itertools.chain(*rows)), columns[0]]])
        state = self.state(tensor)
        if state.variants[0][dim] is state.pack is not None:
            if state.outer > 1 or first == last:
                state = State([self.axes(tensor)])
            else:
                ends = itertools.accumulate(map(length, state.own), initial=0)
                spans = [
                    (max(first - at, 0), min(last - at, length(own))) for at, own in zip(ends, state.own, strict=False)
                ]
                parts = zip(state.each(), spans, strict=True)
                return packed(
                    [[*of[:dim], cut(of[dim], *at), *of[dim + 1 :]] for of, at in parts if at[0] < at[1]], dim
                )
        if (first, last) != (0, tensor.shape[dim]) and not is_fixed(state.variants[0][dim]):
            self.unpack(resolved(state.variants[0][dim]))
        axes = [[*axes[:dim], cut(axes[dim], first, last), *axes[dim + 1 :]] for axes in state.variants]
        return replace(state, variants=axes)

    def entry(self, tensor: Tensor, dim: int, k: int) -> State:
        """The axes of one entry of a tensor along an axis, which is fixed unless its index selects from a stack."""
        if (block := self.block(tensor, dim, 1, k)) is not None:
            return State([block[:dim] + block[dim + 1 :]])
        state = self.state(tensor)
        axis = state.variants[0][dim]
        if axis is state.pack:
            return State([axes[:dim] + axes[dim + 1 :] for axes in self.part(tensor, dim, k, k + 1).variants])
        if not is_fixed(axis):
            self.unpack(resolved(axis))
            self.stacked |= {atom.root() for atom in resolved(axis)[0]}
            fix(axis)
        if length(axis) <= MOST and {atom.root() for product in axis for atom in product} <= self.cut:
            cut(axis, k, k + 1)
        return replace(state, variants=[axes[:dim] + axes[dim + 1 :] for axes in state.variants])

    def unpack(self, picked: Axis) -> None:
        """An axis of which parts are taken and which is a factor of a parameter's, not the last: that is packed."""
        if len(picked) != 1 or not picked[0]:
            return
        atom = picked[0][0]
        for k, tensor in enumerate(self.sources):
            for d, axis in enumerate(self.axes(tensor) if k not in self.blocks else ()):
                parts = [(product, atom in product[:-1]) for product in resolved(axis)]
                if any(inside for _, inside in parts) and (k, d) not in self.packed:
                    self.cut.add(atom)
                    self.found[k, d] = [
                        (count(one), count(one[: one.index(atom)]) if inside else 1, atom if inside else None)
                        for one, inside in parts
                    ]

    def unlike(self, free: Mapping[Atom, Sequence[Spot]]) -> Iterator[tuple[str, set[Atom]]]:
        """The free atoms of what is put one after another that have others in their place, and by which operation."""
        for why, parts in self.laid:
            own = [{atom for axis in axes for product in branches(axis) for atom in product} for axes in parts]
            alone = {atom for atom in set().union(*own) if atom in free and not all(atom in one for one in own)}
            places = {atom: (atom.size, frozenset((spot.name, spot.axis) for spot in free[atom])) for atom in alone}
            times = Counter(places.values())
            yield why, {atom for atom in alone if times[places[atom]] > 1}

    def one_order(self, free: Mapping[Atom, Sequence[Spot]]) -> Iterator[tuple[str, list[Atom]]]:
        """The free atoms inside an index of groups of which parts were taken, which are not followed apart."""
        for why, index, inside in self.blocked:
            parts = resolved(index)
            if len(parts) > 1 or any(atom.parts is not None for atom in parts[0]):
                yield why, [atom for axis in inside for product in branches(axis) for atom in product if atom in free]

    def packings(self) -> dict[tuple[int, int], Packed]:
        """The axes that turn out to be packed, by the parts into which their index was cut; few parts each."""

        def sizes(n: int, outer: int, atom: Atom | None) -> tuple[int, ...]:
            parts = [n // outer] if atom is None else [count(one) for one in resolved(((atom,),))]
            return tuple(n // outer // sum(parts) * one for one in parts)

        made = {key: tuple((outer, sizes(n, outer, atom)) for n, outer, atom in of) for key, of in self.found.items()}
        return {key: of for key, of in made.items() if max(len(one) for _, one in of) <= MOST}


@cache
def _is_pointwise(name: str) -> bool:
    """True if torch tags some form of an operation so, or we do; those in place often are not."""
    packet = getattr(torch.ops.aten, name, None)
    tagged = packet and any(torch.Tag.pointwise in getattr(packet, form).tags for form in packet.overloads())
    return name in POINTWISE or bool(tagged)


def varies(tensor: Tensor, d: int) -> bool:
    """True if a tensor is not constant along an axis."""
    return tensor.numel() > 0 and not bool((tensor == tensor.narrow(d, 0, 1)).all())


def bound(func, args: tuple, kwargs: Mapping[str, Any]) -> Arguments:
    """The arguments of an operation by their names; the first one is also called ``self``."""
    values = {}
    for k, argument in enumerate(func._schema.arguments):
        default = argument.default_value if argument.has_default_value() else None
        values[argument.name] = args[k] if k < len(args) else kwargs.get(argument.name, default)
    return Arguments(**{"self": next(iter(values.values()), None), **values})


@dataclass(frozen=True)
class Traced:
    """The finds of passes through a module."""

    symmetry: Symmetry
    precision: float  # of the coarsest type
    steps: list[tuple[str, list[State | None], list[State | None]]]  # as of Follower
    spots: dict[Atom, list[Spot]]  # where each free atom is in parameters and buffers
    atoms: dict[str, tuple[Atom, list[int]]]  # group → its atom, and the number of the spot of each of its places


def trace(model: nn.Module, calls: Sequence[Call], chosen: Callable[[Any], Any], others: Sequence[Call]) -> Traced:
    """The groups of a module in evaluation mode, from a pass for each call; others tell which numbers vary."""
    varied = [call.varied(others) for call in calls]
    sources = dict([*model.named_parameters(), *model.named_buffers()])  # tied ones once
    buffers = {name for name, _ in model.named_buffers()}
    held = {memory(one) for one in reached(model) if isinstance(one, Tensor)}
    packed: dict[tuple[int, int], Packed] = {}
    blocks: dict[int, tuple[int, int]] = {}
    made = unsaved(model)
    while True:
        follower = Follower(sources, packed, blocks, set(held))
        Atom.reason = "the architecture"
        for name in buffers:
            _hold(name, sources, follower, name in made)
        for follower.call, follower.varied in zip(calls, varied, strict=True):
            _run(model, follower.call, follower, chosen)
        packings = follower.packings()
        if not packings and not follower.wanted:
            symmetry, grouping = _groups(follower, list(sources), buffers)
            return Traced(symmetry, follower.precision, follower.steps, grouping.free, grouping.atom_of)
        packed |= packings  # axes that are several, such as packed queries, keys and values: trace again
        blocks |= follower.wanted


def _hold(name: str, sources: Mapping[str, Tensor], follower: Follower, made: bool) -> None:
    """Fix the axes of a buffer that is not a statistic of single units in the module's state."""
    buffer, (before, parametrised, tensor) = sources[name], name.partition(".parametrizations.")
    own = sources.get(f"{before}{parametrised}{tensor.partition('.')[0]}.original")
    varying = [d for d in range(buffer.ndim) if varies(buffer, d)]
    part = own is not None and own.shape == buffer.shape
    if len(varying) > 1 or made or part or not (buffer.is_floating_point() or buffer.is_complex()):
        fix(*(follower.axes(buffer)[d] for d in varying))


def _run(model: nn.Module, x: Call, follower: Follower, chosen: Callable[[Any], Any]) -> None:
    """Follow the axes of a module; those of its inputs and of the outputs that count are fixed."""
    Atom.reason, follower.module = "the inputs", [""]
    for tensor in x.inputs:
        follower.put(tensor, fixed(tensor.shape))

    def leave(*_: Any) -> None:
        follower.module.pop()

    handles, back = [], remembered(model)
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):  # which takes no hooks
            continue
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: follower.module.append(name)))
        handles.append(module.register_forward_hook(leave))
    try:
        with torch.no_grad(), step_by_step(), follower:
            outputs = outputs_of(chosen(called(model, x)))
    except Exception:
        if not x.broken:
            raise
        return
    finally:
        for handle in handles:
            handle.remove()
        back()
    if not outputs:
        raise Refused(f"the module gives no tensor; {BY_HAND}")
    Atom.reason = "the outputs"
    for tensor in outputs:
        fix(*follower.axes(tensor))


@dataclass(frozen=True)
class Spot:
    """Position of an atom on an axis of a parameter: offset + Σ index · stride, of it and those it is inside."""

    name: str
    axis: int
    offset: int
    stride: int
    outside: tuple[tuple[Atom, int], ...]  # the atoms that it is inside of, and their strides, the outermost first
    pieces: tuple[int, int]  # which of how many equal parts of a sum
    where: tuple[tuple, ...] = ()  # the entries of other axes, as in Place, and after how many there are such again

    @property
    def before(self) -> Product:
        return tuple(atom for atom, _ in self.outside)


def _spots(
    name: str, d: int, axis: Axis, packed: bool, at: tuple[int, int, tuple[tuple[Atom, int], ...]] = (0, 1, ())
) -> Iterator[tuple[Atom, Spot]]:
    """The positions of all atoms without parts on an axis."""
    offset, step, outside = at
    products = resolved(axis)
    equal = len(products) if len(set(map(count, products))) == 1 and (packed or not outside) else 1
    for piece, product in enumerate(products):
        here = outside
        for k, atom in enumerate(product):
            behind = product[k + 1 :]
            stride = step * count(behind)
            if atom.parts is not None:  # a sum: what is inside each of its parts, too
                whole = tuple((*part, *behind) for part in resolved(atom.parts)) if behind else atom.parts
                yield from _spots(name, d, whole, packed and not behind, (offset, step if behind else stride, here))
                break
            yield atom, Spot(name, d, offset, stride, here, (piece, equal))
            here = (*here, (atom, stride))
        offset += step * count(product)


def _parts(follower: Follower, k: int) -> Iterator[tuple[int, Axis, int, tuple[tuple[int, int, int], ...]]]:
    """The axes of a source by their numbers; if blocks have units apart, where they begin and what they are part of."""
    if k not in follower.blocks:
        yield from ((d, axis, 0, ()) for d, axis in enumerate(follower.axes(follower.sources[k])))
        return
    dim, size = follower.apart[k]
    for d, every in enumerate(zip(*follower.blocks[k], strict=True)):
        if d == dim:
            yield from ((d, axis, i * size, ()) for i, axis in enumerate(every))
        elif len(set(map(resolved, every))) == 1:
            yield d, every[0], 0, ()
        else:
            yield from ((d, axis, 0, ((dim, i * size, size),)) for i, axis in enumerate(every))


def _groups(follower: Follower, names: list[str], buffers: set[str]) -> tuple[Symmetry, Grouping]:
    """The groups of atoms that nothing fixes."""
    for k, read in follower.reached.items():
        if len(read) < len(follower.blocks.get(k, ())):
            follower.whole(k)
    used = set.intersection(
        *(
            {atom for axes in found for axis in axes for product in branches(axis) for atom in product}
            for found in (follower.noted[len(names) :], follower.taken)
        )
    )
    spots: dict[Atom, list[Spot]] = {}
    left: dict[str, list[str]] = {}  # why → parameter[axis]
    for k, name in enumerate(names):
        for d, axis, offset, where in _parts(follower, k):
            if length(axis) > 1 and not all(resolved(axis)) and name not in buffers:
                left.setdefault("entries that are read one by one", []).append(f"{name}[{d}]")
            for atom, spot in _spots(name, d, axis, (k, d) in follower.packed, (offset, 1, ())):
                spots.setdefault(atom, []).append(replace(spot, where=where))
    free = {
        atom: found
        for atom, found in spots.items()
        if not atom.fixed and atom in used and any(spot.name not in buffers for spot in found)
    }
    for atom, found in spots.items():
        if atom.fixed and atom.size > 1:
            at = (f"{spot.name}[{spot.axis}]" for spot in found if spot.name not in buffers)
            left.setdefault(str(atom.fixed), []).extend(at)
    grouping = Grouping(follower, names, free, spots)
    whole = grouping.symmetry()
    alike: list = [(f"{why}, which takes parts in their order", atoms) for why, atoms in follower.unlike(free)]
    alike += [(f"{why}, all groups of which have one order of units", of) for why, of in follower.one_order(free)]
    for why, atoms in [*alike, ("their place between each other, in one order for all", grouping.pieces())]:
        of_atoms = [f"{spot.name}[{spot.axis}]" for atom in atoms for spot in free[atom] if spot.name not in buffers]
        left.setdefault(why, []).extend(of_atoms)
    stacks, picked = {names[k] for k in follower.apart}, set[str]()
    for k, name in enumerate(names):
        axes = [] if k in follower.blocks or name in buffers else map(resolved, follower.axes(follower.sources[k]))
        whole_axes = {axis[0][0] for axis in axes if len(axis) == len(axis[0]) == 1}
        stacks |= {name} if follower.stacked & whole_axes else set()
        picked |= {name} if follower.indexed & whole_axes else set()
    for places in whole.groups.values():  # entries of stacks, layers for instance, have units in one order
        each = dict.fromkeys(place.name for place in places)
        if each.keys() & stacks and each.keys() <= stacks | picked and not any(place.where for place in places):
            left.setdefault("a stack, all entries of which have one order of units", []).extend(each)
    return replace(whole, left={why: tuple(dict.fromkeys(at)) for why, at in left.items() if at}), grouping


class Grouping:
    """From atoms to groups: their nesting, names and places."""

    def __init__(
        self, follower: Follower, names: list[str], free: dict[Atom, list[Spot]], spots: dict[Atom, list[Spot]]
    ):
        self.free, self.spots = free, spots
        #: parameter → the atoms that occur once in it, as an axis or the outermost factor of one, and where
        self.beside: dict[str, dict[Atom, Spot]] = {}
        for atom, found in spots.items():
            times = Counter(spot.name for spot in found)
            for spot in found:
                if times[spot.name] == 1 < atom.size and not spot.outside and not spot.where:
                    self.beside.setdefault(spot.name, {})[atom] = spot
        self.companions = _companions(follower.noted, free)
        self.contexts: dict[Atom, Product] = {}
        self.deep: set[Atom] = set()  # the atoms that are inside of indices inside of others
        for atom in free:
            self.context(atom)
        order = {name: follower.first_use.get(k, len(names)) for k, name in enumerate(names)}
        self.makers = {atom: min(found, key=lambda spot: order[spot.name]) for atom, found in free.items()}
        self.atoms = sorted(free, key=lambda atom: order[self.makers[atom].name])
        self.titles = self.titled()
        self.atom_of: dict[str, tuple[Atom, list[int]]] = {}  # group → its atom, and the spot of each of its places

    def context(self, atom: Atom) -> Product:
        """The indices that an atom is inside of, the outermost first: each value of them has an order of its own."""
        if atom not in self.contexts:
            self.contexts[atom] = ()
            found: list[Atom] = []
            first, *others = self.free[atom]
            for outer in (*first.before, *self._beside(first)):
                inside = outer in self.companions[atom] and all(
                    outer in spot.before or outer in self._beside(spot) for spot in others
                )
                if inside and (outer.fixed or self._joins(outer, found)):
                    found.append(outer)
                elif inside:
                    self.deep.add(atom)
            self.contexts[atom] = tuple(found)
        return self.contexts[atom]

    def pieces(self) -> list[Atom]:
        """The atoms that have one order for all values of an index that they never occur apart from.

        It is the inner one somewhere, where no place on an axis has the entries of one of its values.
        """
        pairs = {(s.name, s.axis, one, atom) for atom, spots in self.spots.items() for s in spots for one in s.before}

        def never_apart(one: Atom, other: Atom) -> bool:
            ways = [
                {(s.name, s.axis, one, other), (s.name, s.axis, other, one)} & pairs or other in self._beside(s)
                for s in self.free[one]
            ]
            return all(ways) and any((s.name, s.axis, one, other) in pairs for s in self.free[one])

        return [
            one
            for one in self.free
            for other in self.companions[one] - {*self.contexts[one]}
            if one in self.deep or (one not in self.contexts.get(other, ()) and never_apart(one, other))
        ]

    def _beside(self, spot: Spot) -> list[Atom]:
        """The atoms on other axes of a parameter, each value of which is a part of it."""
        return [atom for atom, other in self.beside.get(spot.name, {}).items() if other.axis != spot.axis]

    def _joins(self, outer: Atom, found: list[Atom]) -> bool:
        """True if units inside fixed indices may be inside a free one, too."""
        return all(each.fixed for each in found) and self.context(outer) == tuple(found)

    def titled(self) -> dict[Atom, str]:
        """Name of each atom: its maker, a module or parameter, and its part if queries, keys and values are packed."""
        outer = {each for context in self.contexts.values() for each in context}
        titles: dict[Atom, str] = {}
        taken: Counter[tuple[str, bool]] = Counter()
        for atom in self.atoms:
            maker = self.makers[atom]
            title = re.sub(SUFFIX, "", maker.name)
            parts = {spot.pieces[0] for spot in self.free[atom] if spot.name == maker.name and spot.pieces[1] == 3}
            if parts == {0, 1, 2}:
                title += ".heads" if atom in outer else ""
            elif parts:
                title += (".queries", ".keys", ".values")[min(parts)]
            inside = bool(self.contexts[atom])
            taken[title, inside] += 1
            titles[atom] = title if taken[title, inside] == 1 else f"{title}#{taken[title, inside]}"
        return titles

    def name(self, atom: Atom, index: Sequence[int]) -> str:
        """The group of the units of an atom inside the units of others."""
        return self.titles[atom] + (f"[{','.join(map(str, index))}]" if index else "")

    def symmetry(self) -> Symmetry:
        """The groups, their sizes, and their nesting."""
        groups, sizes, within = {}, {}, {}
        for atom in self.atoms:
            context = self.contexts[atom]
            for index in itertools.product(*(range(outer.size) for outer in context)):
                name = self.name(atom, index)
                inside = dict(zip(context, index, strict=True))
                found = [
                    (k, place._replace(where=self._where(spot, inside)))
                    for k, spot in enumerate(self.free[atom])
                    for place in _places(atom, spot, inside)
                ]
                groups[name] = tuple(place for _, place in found)
                self.atom_of[name] = atom, [k for k, _ in found]
                sizes[name] = atom.size
                free = [k for k, outer in enumerate(context) if not outer.fixed]
                if free:
                    within[name] = (self.name(context[free[-1]], index[: free[-1]]), index[free[-1]])
        try:
            return Symmetry(dict(sorted(groups.items(), key=lambda item: item[0] in within)), sizes, within)
        except ValueError as error:
            raise Refused(f"the groups found by the trace do not fit together ({error})") from None

    def _where(self, spot: Spot, inside: Mapping[Atom, int]) -> tuple[tuple[int, int, int], ...]:
        """The entries of other axes of a parameter that belong to given units on these."""
        at = [(self.beside[spot.name][atom], k) for atom, k in inside.items() if atom not in spot.before]
        return spot.where + tuple((other.axis, other.offset + k * other.stride, other.stride) for other, k in at)


def _places(atom: Atom, spot: Spot, inside: Mapping[Atom, int]) -> Iterator[Place]:
    """Places of the units of an atom inside given units of others: blocks of the axis."""
    outer, span, listed = 1, atom.size * spot.stride, list(spot.outside)
    while listed and listed[-1][0] not in inside and listed[-1][1] == span:
        outer, span = outer * listed[-1][0].size, span * listed.pop()[0].size
    for index in itertools.product(*([inside[one]] if one in inside else range(one.size) for one, _ in listed)):
        offset = spot.offset + sum(k * stride for k, (_, stride) in zip(index, listed, strict=True))
        yield Place(spot.name, spot.axis, offset, outer, spot.stride)


def _companions(noted: Sequence[Axes], wanted: Mapping[Atom, Any]) -> dict[Atom, set[Atom]]:
    """Atom → the indices that it is inside of wherever it occurs: in its product, or once on an axis of their own."""
    companions: dict[Atom, set[Atom]] = {}
    for axes in noted:
        every = [list(branches(axis)) for axis in axes]
        times = Counter(atom for axis in every for atom in set(itertools.chain(*axis)))
        whole = {atom for axis in axes for atom in _always(axis) if times[atom] == 1}
        for stack, needed in [each for atom in whole for each in atom.of]:
            whole |= _always(stack) if {atom.root() for atom in needed} <= whole else set()
        for product in itertools.chain(*every):
            for atom in product:
                if atom in wanted:
                    here = whole.union(product) - {atom}
                    companions[atom] = companions[atom] & here if atom in companions else here
    return companions


def _always(axis: Axis) -> set[Atom]:
    """The atoms whose index every entry of an axis has."""
    found = list(map(set, branches(axis)))
    return set.intersection(*found) if found else set()
