"""The interchangeable units of a module: its axes followed through one forward pass.

An axis of a tensor is a sum of products of *atoms*: a concatenation is a sum, a flattened feature map C × H × W a
product. Each operation has a rule. It carries an axis along, identifies two axes (a contraction, an addition), splits
one (a reshape, a slice), or fixes it, because its order counts: the pixels of a convolution, what an index picks, a
sort. The axes of inputs and outputs are fixed. If nothing fixes an atom, the function is the same when its index runs
in another order wherever it occurs in a parameter: it counts interchangeable units.

In a product heads × units, the units of each head may be permuted on their own if they never occur apart from the index
of their head: in no tensor, no sum, and no pair of tensors whose entries meet. Rules *note* sums and pairs.

Buffers that hold one number for each unit, such as the statistics of a batch norm, move with the units. A buffer that
varies along two axes or more, such as a mask of weights, an integer buffer, and a fixed part of a parametrised tensor
belong to the architecture: they fix the axes along which they vary.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    count,
    cut,
    fix,
    fixed,
    fresh,
    is_fixed,
    length,
    resolved,
    same,
)
from lmc_helpers.modules._module import called, step_by_step, tensors_of
from lmc_helpers.modules._operations import MOVES, POINTWISE, RULES, alike, geometry
from lmc_helpers.modules._plain import memory, reached, remembered, unsaved
from lmc_helpers.networks.permutations import Axis as Place
from lmc_helpers.networks.permutations import Symmetry

BY_HAND = "allowed: its groups written by hand, Symmetry({group: (Axis(parameter, axis), ...)}, {group: units})"
SUFFIX = r"(\.parametrizations\.\w+\.(original\d?|.*)|[._](weight|bias)(_[vg]|_orig)?)$"


class Refused(ValueError):
    """A module whose symmetry cannot be proven."""


class Follower(TorchDispatchMode):
    """Follows the axes of all tensors while a module runs."""

    def __init__(self, sources: Mapping[str, Tensor], packed: Mapping[tuple[int, int], int], held: set[tuple]):
        super().__init__()
        self.held = held  # the memory of tensors that the module holds beside its sources
        self.sources, self.packed = list(sources.values()), packed
        self.first_use: dict[int, int] = {}  # number of a source → when it is used first
        self.numbers = {memory(tensor): k for k, tensor in reversed(list(enumerate(self.sources)))}
        self.found: dict[tuple[int, int], int] = {}  # axes of sources that turn out to be packed, too
        self.states = WeakTensorKeyDictionary()
        self.noted: list[Axes] = []
        self.module = [""]
        self.precision = 0.0  # of the coarsest floating type
        for k, tensor in enumerate(self.sources):
            pieces = [packed.get((k, d), 1) for d in range(tensor.ndim)]
            self.put(
                tensor, [tuple((Atom(n // m),) for _ in range(m)) for n, m in zip(tensor.shape, pieces, strict=True)]
            )

    def put(self, tensor: Tensor, found: State | Axes | None) -> None:
        """Store the axes of a tensor; None if they are unknown."""
        state = State([found]) if isinstance(found, list) else found
        self.states[tensor] = state
        self.noted += state.variants if state is not None else []

    def note(self, *axes: Axis) -> None:
        """Note axes that are summed or meet without being those of a tensor."""
        self.noted.append(list(axes))

    def state(self, tensor: Tensor) -> State:
        """The axes of a tensor; one that the module holds or makes is fixed along each axis on which it varies.

        One from elsewhere may be an input: it is fixed along all.
        """
        if tensor not in self.states:
            k = self.numbers.get(memory(tensor))
            if k is not None and tensor.numel():
                self.put(tensor, self.states[self.sources[k]])
            else:
                own = memory(tensor) in self.held
                self.put(tensor, [fresh(n, not own or varies(tensor, d)) for d, n in enumerate(tensor.shape)])
        if self.states[tensor] is None:
            raise Unfollowed
        return self.states[tensor]

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
        if name.startswith("lift_fresh"):
            self.held |= {memory(tensor) for tensor in tensors}
        try:
            states = [self.state(tensor) for tensor in tensors]  # before it changes them
            for tensor in tensors:
                k = self.numbers.get(memory(tensor))
                if k is not None:
                    self.first_use.setdefault(k, len(self.first_use))
            before = list(map(geometry, tensors))
            out = func(*args, **kwargs)
            outputs = list(tensors_of(out))
            if not outputs:
                return out  # a number, the same in every order of the units
            if func._schema.is_mutable and before != list(map(geometry, tensors)):
                raise Unfollowed  # such as squeeze_
            found = self.follow(name, func, bound(func, args, kwargs), tensors, states, outputs)
        except (Unfollowed, LookupError, AttributeError, TypeError):
            where = f"{self.module[-1]!r}" if self.module[-1] else "the module"
            raise Refused(f"{where} calls {name!r} in a way that is not followed; {BY_HAND}") from None
        for k, tensor in enumerate(outputs):
            self.put(tensor, found[k] if k < len(found) else None)
            if tensor.is_floating_point():
                self.precision = max(self.precision, torch.finfo(tensor.dtype).eps)
        return out

    def follow(self, name, func, a: Arguments, tensors, states, out: list[Tensor]) -> Sequence[State | Axes | None]:
        """The axes of an operation's results."""
        wide = [tensor for tensor in tensors if tensor.numel() > 1]
        pointwise = torch.Tag.pointwise in func.tags or name in POINTWISE
        if name in MOVES or (pointwise and len(wide) == 1 and wide[0].shape == out[0].shape and name not in RULES):
            move = MOVES.get(name, alike)
            state = self.state(a.self if name in MOVES else wide[0])
            moved = [move(axes, a, out[0]) for axes in state.variants]
            if any(all(axis is not state.pack for axis in axes) for axes in moved[1:]):
                return [move(self.axes(a.self), a, out[0])]
            return [State(moved, state.pack)]
        if name in RULES:
            return RULES[name](self, a, out)
        if torch.Tag.nondeterministic_seeded in func.tags:  # numbers are drawn place by place
            if not name.endswith("_like"):
                fix(*(axis for state in states for axes in state.variants for axis in axes))
            return [fixed(one.shape) for one in out]
        if pointwise:
            return [self.broadcast(*map(self.axes, tensors))] * len(out)
        if not tensors and name.startswith(("empty", "new_empty")):
            return [[fresh(n) for n in one.shape] for one in out]
        if not tensors:
            self.held |= set(map(memory, out))
            return [self.state(one).variants[0] for one in out]
        if all(is_fixed(axis) for state in states for axes in state.variants for axis in axes):
            return [fixed(one.shape) for one in out]
        raise Unfollowed

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
                if known is None:
                    result[k] = axis
                else:
                    same(known, axis)
                    common.append(axis)
            self.note(*common)
            self.note(*(axis for axis in result if axis is not None))
        return [fresh(1) if axis is None else axis for axis in result]

    def meet(self, a: Axes, b: Axes, besides: int) -> None:
        """Entries of two tensors meet along all axes but one; it and those of unequal lengths are fixed."""
        fix(a[besides], b[besides])
        for one, two in zip(a, b, strict=True):
            if length(one) == length(two):
                same(one, two)
            else:
                fix(one, two)
        self.note(*(axis for d, axis in enumerate(a) if d != besides))

    def contract(self, x: Axes, y: Axes, batch: int = 0) -> Axes:
        """The axes of Σ_k x[batch, ..., k] y[batch, k, ...]."""
        shared, left, right = x[:batch], x[batch:-1], y[batch + 1 :]
        for one, two in zip((*shared, x[-1]), y, strict=False):
            same(one, two)
        self.note(*shared, x[-1])
        self.note(*shared, *left)
        self.note(*shared, *right)
        return [*shared, *left, *right]

    def part(self, tensor: Tensor, dim: int, first: int, last: int) -> State:
        """The axes of the entries of a tensor from first to last − 1 along one of them."""
        state = self.state(tensor)
        if state.variants[0][dim] is state.pack is not None:
            pack = fresh(last - first, fixed=True)
            chosen = state.variants[first:last]
            return State([[*axes[:dim], pack, *axes[dim + 1 :]] for axes in chosen], pack if len(chosen) > 1 else None)
        axes = [[*axes[:dim], cut(axes[dim], first, last), *axes[dim + 1 :]] for axes in state.variants]
        return State(axes, state.pack)

    def entry(self, tensor: Tensor, dim: int, k: int) -> State:
        """The axes of one entry of a tensor along an axis, which is fixed unless its index selects from a stack."""
        state = self.state(tensor)
        axis = state.variants[0][dim]
        if axis is state.pack:
            return State([state.variants[k][:dim] + state.variants[k][dim + 1 :]])
        if not is_fixed(axis):
            self._unpack(resolved(axis))
            fix(axis)
        return State([axes[:dim] + axes[dim + 1 :] for axes in state.variants], state.pack)

    def _unpack(self, picked: Axis) -> None:
        """An axis with few entries that is the outermost factor of one of a parameter: that one is packed."""
        if len(picked) > 1 or len(picked[0]) > 1 or length(picked) > 8:
            return
        for k, tensor in enumerate(self.sources):
            for d, axis in enumerate(self.axes(tensor)):
                product, *others = resolved(axis)
                if not others and len(product) > 1 and product[0] is picked[0][0] and (k, d) not in self.packed:
                    self.found[k, d] = length(picked)


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


def trace(model: nn.Module, calls: Sequence[Any]) -> tuple[Symmetry, float]:
    """The groups of a module in evaluation mode, from a pass for each call, and the precision of its coarsest type."""
    for name, module in model.named_modules():
        if isinstance(module, torch.jit.ScriptModule):
            raise Refused(f"{name or 'the module'!r} is TorchScript, which is not followed; {BY_HAND}")
        if isinstance(module, nn.RNNBase):
            where = f"{name!r}" if name else "the module"
            raise Refused(f"{where} is recurrent ({type(module).__name__}), which is not followed; {BY_HAND}")
    sources = dict([*model.named_parameters(), *model.named_buffers()])  # tied ones once
    buffers = {name for name, _ in model.named_buffers()}
    held = {memory(one) for one in reached(model) if isinstance(one, Tensor)}
    packed: dict[tuple[int, int], int] = {}
    made = unsaved(model)
    while True:
        follower = Follower(sources, packed, set(held))
        for name in buffers:
            _hold(name, sources, follower, name in made)
        for x in calls:
            _run(model, x, follower)
        if not follower.found:
            return _groups(follower, list(sources), buffers), follower.precision
        packed |= follower.found  # axes that are several, such as packed queries, keys and values: trace again


def _hold(name: str, sources: Mapping[str, Tensor], follower: Follower, made: bool) -> None:
    """Fix the axes of a buffer that is not a statistic of single units in the module's state."""
    buffer, (before, parametrised, tensor) = sources[name], name.partition(".parametrizations.")
    own = sources.get(f"{before}{parametrised}{tensor.partition('.')[0]}.original")
    varying = [d for d in range(buffer.ndim) if varies(buffer, d)]
    part = own is not None and own.shape == buffer.shape
    if len(varying) > 1 or made or part or not (buffer.is_floating_point() or buffer.is_complex()):
        fix(*(follower.axes(buffer)[d] for d in varying))


def _run(model: nn.Module, x: Any, follower: Follower) -> None:
    """Follow the axes of a module; those of its inputs and outputs are fixed."""
    for tensor in tensors_of(x):
        follower.put(tensor, fixed(tensor.shape))

    def leave(*_: Any) -> None:
        follower.module.pop()

    handles, back = [], remembered(model)
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: follower.module.append(name)))
        handles.append(module.register_forward_hook(leave))
    try:
        with torch.no_grad(), step_by_step(), follower:
            outputs = list(tensors_of(called(model, x)))
    finally:
        for handle in handles:
            handle.remove()
        back()
    if not outputs:
        raise Refused(f"the module gives no tensor; {BY_HAND}")
    for tensor in outputs:
        fix(*follower.axes(tensor))


@dataclass(frozen=True)
class Spot:
    """Position of an atom on an axis of a parameter: axis, offset of its product, the product, and the index in it."""

    name: str
    axis: int
    offset: int
    product: Product
    at: int
    pieces: tuple[int, int]  # which product of how many equal ones

    @property
    def before(self) -> Product:
        return self.product[: self.at]


def _groups(follower: Follower, names: list[str], buffers: set[str]) -> Symmetry:
    """The groups of atoms that nothing fixes."""
    noted = follower.noted[len(names) :]
    used = {atom for axes in noted for axis in axes for product in resolved(axis) for atom in product}
    spots: dict[Atom, list[Spot]] = {}
    for k, name in enumerate(names):
        for d, axis in enumerate(follower.axes(follower.sources[k])):
            products, offset = resolved(axis), 0
            equal = len(products) if len(set(map(count, products))) == 1 else 1
            for piece, product in enumerate(products):
                for at, atom in enumerate(product):
                    spots.setdefault(atom, []).append(Spot(name, d, offset, product, at, (piece, equal)))
                offset += count(product)
    free = {
        atom: found
        for atom, found in spots.items()
        if not atom.fixed and atom in used and any(spot.name not in buffers for spot in found)
    }
    return Grouping(follower, names, free).symmetry()


class Grouping:
    """From atoms to groups: their nesting, names and places."""

    def __init__(self, follower: Follower, names: list[str], free: dict[Atom, list[Spot]]):
        self.free = free
        self.companions = _companions(follower.noted, free)
        self.contexts: dict[Atom, Product] = {}
        for atom in free:
            self.context(atom)
        order = {name: follower.first_use.get(k, len(names)) for k, name in enumerate(names)}
        self.makers = {atom: min(found, key=lambda spot: order[spot.name]) for atom, found in free.items()}
        self.atoms = sorted(free, key=lambda atom: order[self.makers[atom].name])
        self.titles = self.titled()

    def context(self, atom: Atom) -> Product:
        """The indices that an atom is inside of, the outermost first: each value of them has an order of its own."""
        if atom not in self.contexts:
            self.contexts[atom] = ()
            found: list[Atom] = []
            first, *others = self.free[atom]
            for outer in first.before:
                inside = outer in self.companions[atom] and all(outer in spot.before for spot in others)
                if inside and (outer.fixed or self._joins(outer, found)):
                    found.append(outer)
                elif not outer.fixed:
                    break  # places between its units would have to be listed one by one
            self.contexts[atom] = tuple(found)
        return self.contexts[atom]

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
                groups[name] = tuple(place for spot in self.free[atom] for place in _places(spot, inside))
                sizes[name] = atom.size
                free = [k for k, outer in enumerate(context) if not outer.fixed]
                if free:
                    within[name] = (self.name(context[free[-1]], index[: free[-1]]), index[free[-1]])
        try:
            return Symmetry(dict(sorted(groups.items(), key=lambda item: item[0] in within)), sizes, within)
        except ValueError as error:
            raise Refused(f"the groups found by the trace do not fit together ({error})") from None


def _places(spot: Spot, inside: Mapping[Atom, int]) -> Iterator[Place]:
    """Places of the units of an atom inside given units of others: blocks of the axis."""
    stride = [count(spot.product[k + 1 :]) for k in range(spot.at + 1)]
    last = max((k + 1 for k, atom in enumerate(spot.before) if atom in inside), default=0)
    choices = [[inside[atom]] if atom in inside else range(atom.size) for atom in spot.before[:last]]
    for index in itertools.product(*choices):
        offset = spot.offset + sum(k * n for k, n in zip(index, stride, strict=False))
        yield Place(spot.name, spot.axis, offset, count(spot.before[last:]), stride[-1])


def _companions(noted: Sequence[Axes], wanted: Mapping[Atom, Any]) -> dict[Atom, set[Atom]]:
    """Atom → the indices that it is inside of wherever it occurs: in its product, or once on an axis of their own."""
    companions: dict[Atom, set[Atom]] = {}
    for axes in noted:
        every = [resolved(axis) for axis in axes]
        times = Counter(atom for axis in every for product in axis for atom in product)
        whole = {atom for axis in every if len(axis) == 1 for atom in axis[0] if times[atom] == 1}
        for product in itertools.chain(*every):
            for atom in product:
                if atom in wanted:
                    here = whole.union(product) - {atom}
                    companions[atom] = companions[atom] & here if atom in companions else here
    return companions
