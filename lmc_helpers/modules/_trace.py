"""Which units of a module can be interchanged: its axes followed through one forward pass.

Every axis of every tensor is a sum of products of *atoms*: a concatenation is a sum, a flattened feature map C × H × W a
product. Operations either carry an axis along, identify two axes (a contraction, an addition), split one (a reshape, a
slice), or fix it (the pixels of a convolution, what an index picks). Axes of the inputs and outputs are fixed. An atom
that nothing fixes is a group of interchangeable units: the permutation acts wherever the atom occurs in a parameter or
buffer.

In a product, such as heads × units, the units of each head may be permuted by themselves, provided that they never
occur without their head.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

aten = torch.ops.aten


class Refused(ValueError):
    """A module whose symmetry cannot be proven."""


class Atom:
    """An index that takes ``size`` values; atoms that are found to be the same are united."""

    __slots__ = ("fixed", "parent", "parts", "size")

    def __init__(self, size: int, fixed: str | None = None):
        self.size, self.fixed = size, fixed
        self.parent: Atom | None = None
        self.parts: Axis | None = None  # the sum of products that it was found to be

    def root(self) -> Atom:
        """The atom that stands for all that it was united with."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here

    def fix(self, why: str) -> None:
        """No permutation may act on it."""
        top = self.root()
        top.fixed = top.fixed or why
        for product in top.parts or ():
            for atom in product:
                if not atom.root().fixed:
                    atom.fix(why)


Product = tuple[Atom, ...]  # the outermost first
Axis = tuple[Product, ...]  # one after the other


def size_of(product: Product) -> int:
    return math.prod(atom.size for atom in product)


def resolved(axis: Axis) -> Axis:
    """The same axis in atoms that have no parts; products without factors of size 1."""
    done: list[Product] = []
    for product in axis:
        before: list[Product] = [()]
        for atom in product:
            top = atom.root()
            options = resolved(top.parts) if top.parts is not None else (((top,) if top.size > 1 else ()),)
            if len(options) > 1 and any(map(size_of, before)) and size_of(before[0]) > 1:
                fix_axis((product,), "its parts are interleaved with those of another index")
                options = ((Atom(top.size, "its parts are interleaved"),),)
            before = [(*head, *tail) for head in before for tail in options]
        done += before
    return tuple(done)


def fix_axis(axis: Axis, why: str) -> None:
    for product in axis:
        for atom in product:
            atom.fix(why)


def unite(a: Atom, b: Atom) -> None:
    """Let two indices of one size be the same."""
    a, b = a.root(), b.root()
    if a is b:
        return
    if a.parts is None:
        a, b = b, a
    other = b.parts  # b is united into a
    b.parent = a
    if b.fixed or a.fixed:
        a.fix(b.fixed or a.fixed or "")
        if other is not None:
            fix_axis(other, a.fixed or "")
    if other is not None and a.parts is not None:
        same(a.parts, other)


def split_sum(product: Product, first: int) -> tuple[Product, Product] | None:
    """A product as two that follow each other, the first of a size; None if that cuts through an inner index."""
    if not product:
        return None
    outer, inner = product[0].root(), size_of(product[1:])
    if first % inner or outer.parts is not None:
        return None
    left, right = Atom(first // inner, outer.fixed), Atom(outer.size - first // inner, outer.fixed)
    outer.parts = ((left,), (right,))
    return (left, *product[1:]), (right, *product[1:])


def same(a: Axis, b: Axis) -> None:
    """Let two axes of one size be the same; what cannot be is fixed."""
    left, right = list(resolved(a)), list(resolved(b))
    while left and right:
        p, q = left.pop(0), right.pop(0)
        if size_of(p) == size_of(q):
            same_products(p, q)
            continue
        big, small, rest = (p, q, left) if size_of(p) > size_of(q) else (q, p, right)
        pieces = split_sum(big, size_of(small))
        if pieces is None:
            why = "it is read in pieces that cut through an inner index"
            fix_axis((big, small, *left, *right), why)
            return
        rest.insert(0, pieces[1])
        same(((small),), ((pieces[0]),))
        left, right = list(resolved(tuple(left))), list(resolved(tuple(right)))


def same_products(p: Product, q: Product) -> None:
    left, right = list(resolved((p,))), list(resolved((q,)))
    if len(left) > 1 or len(right) > 1:
        same(tuple(left), tuple(right))
        return
    mine, yours = list(left[0]), list(right[0])
    while mine and yours:
        a, b = mine.pop(0).root(), yours.pop(0).root()
        if a.parts is not None or b.parts is not None:  # split meanwhile
            rest_a, rest_b = resolved(((a, *mine),)), resolved(((b, *yours),))
            same(rest_a, rest_b)
            return
        if a.size == b.size:
            unite(a, b)
            continue
        big, small, rest = (a, b, mine) if a.size > b.size else (b, a, yours)
        if big.size % small.size:
            fix_axis(((a, b, *mine, *yours),), "it is reshaped across another index")
            return
        inner = Atom(big.size // small.size, big.fixed)
        outer = Atom(small.size, big.fixed)
        big.parts = ((outer, inner),)
        unite(outer, small)
        rest.insert(0, inner)


def fresh(size: int, fixed: str | None = None) -> Axis:
    return ((Atom(size, fixed),),)


def product_of(axes: Sequence[Axis]) -> Axis:
    """The axis that several make when they are flattened."""
    whole: Axis = ((),)
    for axis in axes:
        axis = resolved(axis)
        if len(axis) > 1 and size_of(whole[0]) > 1:
            why = "it is flattened inside another index"
            fix_axis(axis, why)
            axis = fresh(sum(map(size_of, axis)), why)
        whole = tuple((*head, *tail) for head in whole for tail in axis)
    return whole


@dataclass
class State:
    """The axes of a tensor."""

    axes: list[Axis]


@dataclass
class Stacked:
    """Tensors beside each other along a dimension, as packed queries, keys and values."""

    dim: int
    states: list[State]


class Split(Exception):
    """The trace has to begin again: an axis of a parameter is several axes beside each other."""

    def __init__(self, where: tuple[int, int], pieces: int):
        self.where, self.pieces = where, pieces  # number of the tensor and axis


class Follower(TorchDispatchMode):
    """Follows the axes of all tensors while a module runs."""

    def __init__(self, sources: dict[str, Tensor], inputs: Iterable[Tensor], packed: dict[tuple[int, int], int]):
        super().__init__()
        self.sources, self.packed = list(sources.values()), packed
        self.alive: dict[int, Tensor] = {}  # a tensor's id is its own as long as it is alive
        self.states: dict[int, State | Stacked] = {}
        self.every: list[State | Stacked] = []
        self.module = [""]
        for k, tensor in enumerate(self.sources):
            axes = []
            for d, n in enumerate(tensor.shape):
                pieces = packed.get((k, d), 1)
                axes.append(tuple((Atom(n // pieces),) for _ in range(pieces)))
            self.put(tensor, State(axes))
        for tensor in inputs:
            self.put(tensor, State([fresh(n, "it is an axis of the input") for n in tensor.shape]))

    def put(self, tensor: Tensor, state: State | Stacked) -> None:
        self.alive[id(tensor)], self.states[id(tensor)] = tensor, state
        self.every.append(state)

    def state(self, tensor: Tensor) -> State | Stacked:
        """The axes of a tensor; one that the module makes by itself is fixed along each axis on which it varies."""
        if id(tensor) not in self.states:
            axes = []
            for d, n in enumerate(tensor.shape):
                even = bool((tensor == tensor.narrow(d, 0, 1)).all()) if n else True
                axes.append(fresh(n, None if even else "the module makes a tensor that varies along it"))
            self.put(tensor, State(axes))
        return self.states[id(tensor)]

    def axes(self, tensor: Tensor) -> list[Axis]:
        """The axes of a tensor; tensors beside each other are found to be alike."""
        state = self.state(tensor)
        if isinstance(state, State):
            return state.axes
        first, *others = (one.axes for one in state.states)
        for other in others:
            for one, two in zip(first, other, strict=True):
                same(one, two)
        whole = list(first)
        whole.insert(state.dim, fresh(len(state.states), "its entries are of different kinds"))
        return whole

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        name = func.overloadpacket.__name__
        name = name[:-1] if name.endswith("_") and not name.endswith("__") else name
        outputs = [one for one in (out if isinstance(out, (tuple, list)) else [out])]
        tensors = [one for one in _flat((args, kwargs)) if isinstance(one, Tensor)]
        if not any(isinstance(one, Tensor) for one in outputs):
            return out  # a number: what follows from it is not followed
        stacked = [one for one in tensors if isinstance(self.state(one), Stacked)]
        if stacked and name in LIFTED and all(one is stacked[0] or one.numel() == 1 for one in tensors):
            found = self.lifted(name, stacked[0], args, outputs[0])
        elif name in RULES:
            found = RULES[name](self, args, kwargs, outputs)
        elif torch.Tag.pointwise in func.tags or name in POINTWISE:
            found = State(self.broadcast(tensors, outputs[0].shape))
        elif all(_fixed(axis) for one in tensors for axis in self.axes(one)):
            found = [_fixed_state(one) for one in outputs]
        else:
            raise Refused(
                f"{self.module[-1] or 'the module'} calls {name!r}, which is not followed; allowed: write its groups by "
                "hand, Symmetry(groups={name: (Axis(parameter, axis), ...)}, sizes={name: units})"
            )
        for one, state in zip(outputs, found if isinstance(found, list) else [found], strict=False):
            if isinstance(one, Tensor):
                self.put(one, state)
        return out

    def broadcast(self, tensors: Sequence[Tensor], shape: torch.Size) -> list[Axis]:
        """The axes of what tensors make entry by entry."""
        axes: list[Axis | None] = [None] * len(shape)
        for tensor in tensors:
            own = self.axes(tensor)
            for k, axis in enumerate(own, start=len(shape) - len(own)):
                if tensor.shape[k - len(shape) + len(own)] == 1 and shape[k] != 1:
                    continue
                if axes[k] is None:
                    axes[k] = axis
                else:
                    same(axes[k], axis)
        return [axis if axis is not None else fresh(n) for axis, n in zip(axes, shape, strict=True)]

    def lifted(self, name: str, tensor: Tensor, args: tuple, out: Tensor) -> State | Stacked:
        """Operations on tensors beside each other that keep them apart."""
        state = self.states[id(tensor)]
        assert isinstance(state, Stacked)
        n = tensor.ndim
        if name in ("transpose", "permute"):
            order = list(range(n))
            if name == "permute":
                order = [d % n for d in args[1]]
            else:
                i, j = args[1] % n, args[2] % n
                order[i], order[j] = order[j], order[i]
            rest = [d for d in order if d != state.dim]
            places = [d - (d > state.dim) for d in rest]
            return Stacked(order.index(state.dim), [State([one.axes[k] for k in places]) for one in state.states])
        if name == "unsqueeze":
            d = args[1] % (n + 1)
            inside = d - (d > state.dim)
            dim = state.dim + (d <= state.dim)
            return Stacked(dim, [State([*one.axes[:inside], fresh(1), *one.axes[inside:]]) for one in state.states])
        if name == "squeeze":
            dims = [d % n for d in ([args[1]] if isinstance(args[1], int) else args[1])] if len(args) > 1 else range(n)
            gone = [d for d in dims if tensor.shape[d] == 1]
            inside = {d - (d > state.dim) for d in gone}
            dim = state.dim - sum(d < state.dim for d in gone)
            kept = [State([axis for k, axis in enumerate(one.axes) if k not in inside]) for one in state.states]
            return Stacked(dim, kept)
        if name == "select" and args[1] % n == state.dim:
            return state.states[args[2] % len(state.states)]
        if name in ("clone", "detach", "alias", "contiguous", "mul", "div", "_to_copy", "add"):
            return state
        return State(RULES[name](self, args, {}, [out]).axes)

    def unpacked(self, axis: Axis) -> None:
        """An index along an axis is picked: it is fixed, unless it says which of several axes of a parameter is meant."""
        product = resolved(axis)
        if _fixed(axis) or len(product) != 1 or len(product[0]) != 1:
            fix_axis(axis, "one of its entries is picked")
            return
        atom = product[0][0]
        for k, tensor in enumerate(self.sources):
            state = self.states[id(tensor)]
            assert isinstance(state, State)
            for d, other in enumerate(state.axes):
                found = resolved(other)
                if len(found) == 1 and len(found[0]) > 1 and found[0][0] is atom:
                    raise Split((k, d), atom.size)
        atom.fix("one of its entries is picked")


def _flat(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    else:
        yield value


def _fixed(axis: Axis) -> bool:
    return all(atom.fixed for product in resolved(axis) for atom in product)


def _fixed_state(tensor: Any) -> State:
    shape = tensor.shape if isinstance(tensor, Tensor) else ()
    return State([fresh(n, "it is made from fixed axes") for n in shape])


POINTWISE = {"dropout", "native_dropout", "where", "masked_fill", "lerp", "addcmul", "addcdiv", "_to_copy", "clone"}
LIFTED = {
    *("transpose", "permute", "unsqueeze", "squeeze", "select", "clone", "detach", "alias", "contiguous", "mul", "div"),
    *("_to_copy", "add"),
}

# ---------- operations: what the axes of the outputs are

Rule = Callable[[Follower, tuple, dict, list], Any]
RULES: dict[str, Rule] = {}
PIXELS = "it counts pixels or steps"


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register what some operations do."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return register


def _given(args: tuple, kwargs: dict, at: int, name: str, default: Any = None) -> Any:
    return args[at] if len(args) > at else kwargs.get(name, default)


@rule(
    "detach", "alias", "clone", "contiguous", "_to_copy", "lift_fresh_copy", "lift_fresh", "copy", "_unsafe_view_same"
)
def _alike(f, args, kwargs, out):
    if out[0].shape == args[0].shape and len(args) == 1:
        state = f.state(args[0])
        return state if isinstance(state, Stacked) else State(list(state.axes))
    return State(f.broadcast([one for one in args if isinstance(one, Tensor)], out[0].shape))


@rule("t")
def _t(f, args, kwargs, out):
    return State(f.axes(args[0])[::-1])


@rule("transpose")
def _transpose(f, args, kwargs, out):
    axes, n = list(f.axes(args[0])), args[0].ndim
    i, j = args[1] % n, args[2] % n
    axes[i], axes[j] = axes[j], axes[i]
    return State(axes)


@rule("permute")
def _permute(f, args, kwargs, out):
    axes = f.axes(args[0])
    return State([axes[d] for d in args[1]])


@rule("unsqueeze")
def _unsqueeze(f, args, kwargs, out):
    axes = list(f.axes(args[0]))
    axes.insert(args[1] % (len(axes) + 1), fresh(1))
    return State(axes)


@rule("squeeze")
def _squeeze(f, args, kwargs, out):
    n = args[0].ndim
    dims = range(n) if len(args) < 2 else [d % n for d in ([args[1]] if isinstance(args[1], int) else args[1])]
    axes = f.axes(args[0])
    return State([axis for d, axis in enumerate(axes) if d not in dims or args[0].shape[d] != 1])


@rule("expand")
def _expand(f, args, kwargs, out):
    axes, new = f.axes(args[0]), len(out[0].shape) - args[0].ndim
    found = [fresh(n) for n in out[0].shape[:new]]
    for axis, before, n in zip(axes, args[0].shape, out[0].shape[new:], strict=True):
        found.append(axis if before == n else fresh(n))
    return State(found)


@rule("view", "_unsafe_view", "reshape", "_reshape_alias", "unflatten", "flatten")
def _view(f, args, kwargs, out):
    return _reshaped(f.axes(args[0]), list(args[0].shape), list(out[0].shape))


def _reshaped(axes: list[Axis], before: list[int], after: list[int]) -> State | Stacked:
    """Axes after a reshape: blocks of axes whose sizes have equal products are flattened and split again."""
    found: list[Axis] = []
    stacked: tuple[int, int, int, list[list[Axis]]] | None = None
    i = j = 0
    while i < len(before) or j < len(after):
        k, m = i, j
        left = right = 1
        if i < len(before):
            left, k = before[i], i + 1
        if j < len(after):
            right, m = after[j], j + 1
        while left != right:
            if left < right:
                left, k = left * before[k], k + 1
            else:
                right, m = right * after[m], m + 1
        whole = axes[i] if k == i + 1 else product_of(axes[i:k])
        sizes = after[j:m]
        pieces = resolved(whole)
        lead = next((n for n in sizes if n > 1), 1)
        if m == j + 1:
            found.append(whole)
        elif len(pieces) == lead > 1 and len({size_of(piece) for piece in pieces}) == 1 and not _fixed(whole):
            at = sizes.index(lead)
            parts = []
            for piece in pieces:
                new = [fresh(n) for n in sizes[:at] + sizes[at + 1 :]]
                same((piece,), product_of(new))
                parts.append(new)
            stacked = (len(found), at, len(sizes), parts)
            found += [fresh(n) for n in sizes]
        else:
            new = [fresh(n) for n in sizes]
            same(whole, product_of(new))
            found += new
        i, j = k, m
    if stacked is None:
        return State(found)
    start, at, count, parts = stacked
    return Stacked(start + at, [State([*found[:start], *new, *found[start + count :]]) for new in parts])


@rule("slice")
def _slice(f, args, kwargs, out):
    dim = _given(args, kwargs, 1, "dim", 0) % args[0].ndim
    start, end = _given(args, kwargs, 2, "start"), _given(args, kwargs, 3, "end")
    step = _given(args, kwargs, 4, "step", 1)
    n, axes = args[0].shape[dim], list(f.axes(args[0]))
    first, last, _ = slice(start, end, step).indices(n)
    axes[dim] = cut(axes[dim], first, last) if step == 1 else _picked(axes[dim], out[0].shape[dim])
    return State(axes)


def _picked(axis: Axis, n: int) -> Axis:
    fix_axis(axis, "some of its entries are picked")
    return fresh(n, "some of its entries are picked")


def cut(axis: Axis, first: int, last: int) -> Axis:
    """The entries of an axis from first to last − 1."""
    pieces, kept, at = list(resolved(axis)), [], 0
    if first == 0 and last == sum(map(size_of, pieces)):
        return axis
    while pieces and at < last:
        piece = pieces.pop(0)
        n = size_of(piece)
        border = first - at if at < first < at + n else last - at if at < last < at + n else 0
        if border:
            two = split_sum(piece, border)
            if two is None:
                return _picked(axis, last - first)
            pieces[:0] = two
            continue
        if at >= first:
            kept.append(piece)
        at += n
    return tuple(kept)


@rule("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_chunk", "split_copy")
def _split(f, args, kwargs, out):
    dim = _given(args, kwargs, 2, "dim", 0) % args[0].ndim
    axes, at, found = f.axes(args[0]), 0, []
    for one in out:
        n = one.shape[dim]
        found.append(State([cut(axis, at, at + n) if d == dim else axis for d, axis in enumerate(axes)]))
        at += n
    return found


@rule("select")
def _select(f, args, kwargs, out):
    axes, dim = f.axes(args[0]), args[1] % args[0].ndim
    pieces = resolved(axes[dim])
    if len(pieces) == args[0].shape[dim]:  # each entry is its own axis
        return State(axes[:dim] + axes[dim + 1 :])
    f.unpacked(axes[dim])
    return State(axes[:dim] + axes[dim + 1 :])


@rule("unbind")
def _unbind(f, args, kwargs, out):
    dim = _given(args, kwargs, 1, "dim", 0) % args[0].ndim
    state = f.state(args[0])
    if isinstance(state, Stacked) and state.dim == dim:
        return list(state.states)
    axes = f.axes(args[0])
    if len(resolved(axes[dim])) != args[0].shape[dim]:
        f.unpacked(axes[dim])
    return [State(axes[:dim] + axes[dim + 1 :]) for _ in out]


@rule("cat")
def _cat(f, args, kwargs, out):
    dim = _given(args, kwargs, 1, "dim", 0) % out[0].ndim
    tensors = [one for one in args[0] if one.ndim == out[0].ndim]
    first, *others = (f.axes(one) for one in tensors)
    for other in others:
        for d, (one, two) in enumerate(zip(first, other, strict=True)):
            if d != dim:
                same(one, two)
    joined = tuple(product for one in tensors for product in resolved(f.axes(one)[dim]))
    return State([*first[:dim], joined, *first[dim + 1 :]])


@rule("mm")
def _mm(f, args, kwargs, out):
    a, b = f.axes(args[0]), f.axes(args[1])
    same(a[1], b[0])
    return State([a[0], b[1]])


@rule("addmm", "_addmm_activation")
def _addmm(f, args, kwargs, out):
    a, b = f.axes(args[1]), f.axes(args[2])
    same(a[1], b[0])
    return _added(f, args[0], State([a[0], b[1]]), out[0])


def _added(f, bias, state: State, out: Tensor) -> State:
    own = f.axes(bias)
    for k, axis in enumerate(own, start=out.ndim - len(own)):
        if bias.shape[k - out.ndim + len(own)] == out.shape[k]:
            same(state.axes[k], axis)
    return state


@rule("bmm")
def _bmm(f, args, kwargs, out):
    a, b = f.axes(args[0]), f.axes(args[1])
    same(a[0], b[0])
    same(a[2], b[1])
    return State([a[0], a[1], b[2]])


@rule("baddbmm")
def _baddbmm(f, args, kwargs, out):
    return _added(f, args[0], _bmm(f, args[1:3], {}, out), out[0])


@rule("mv")
def _mv(f, args, kwargs, out):
    a, b = f.axes(args[0]), f.axes(args[1])
    same(a[1], b[0])
    return State([a[0]])


@rule("dot", "vdot")
def _dot(f, args, kwargs, out):
    same(f.axes(args[0])[0], f.axes(args[1])[0])
    return State([])


@rule("convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution")
def _convolution(f, args, kwargs, out):
    x, w, bias = args[:3]
    transposed, groups = args[6], args[8]
    a, b = f.axes(x), f.axes(w)
    batched = x.ndim == w.ndim
    channels = a[1] if batched else a[0]
    come, go = (b[0], b[1]) if transposed else (b[1], b[0])
    if groups == 1:
        same(channels, come)
        made = go
    else:
        each = fresh(groups)
        inner = fresh(x.shape[1 if batched else 0] // groups)
        same(channels, product_of([each, inner]))
        if transposed:
            same(come, channels)
            made = product_of([each, go])
        else:
            same(come, inner)
            units = fresh(w.shape[0] // groups)
            same(go, product_of([each, units]))
            made = go
    for axis in b[2:]:
        fix_axis(axis, PIXELS)
    if isinstance(bias, Tensor):
        same(f.axes(bias)[0], made)
    pixels = [fresh(n, PIXELS) for n in out[0].shape[2 if batched else 1 :]]
    return State([*a[: 1 if batched else 0], made, *pixels])


@rule("native_batch_norm", "_native_batch_norm_legit_no_training", "cudnn_batch_norm", "_native_batch_norm_legit")
def _batch_norm(f, args, kwargs, out):
    axes = f.axes(args[0])
    for other in args[1:5]:
        if isinstance(other, Tensor) and other.ndim == 1:
            same(axes[1], f.axes(other)[0])
    return [State(list(axes)), *(_fixed_state(one) for one in out[1:])]


@rule("native_layer_norm", "_fused_rms_norm", "rms_norm")
def _layer_norm(f, args, kwargs, out):
    axes = f.axes(args[0])
    for other in args[2:4]:
        if isinstance(other, Tensor):
            for axis, own in zip(axes[-other.ndim :], f.axes(other), strict=True):
                same(axis, own)
    return [State(list(axes)), *(_fixed_state(one) for one in out[1:])]


@rule("native_group_norm")
def _group_norm(f, args, kwargs, out):
    axes, groups = f.axes(args[0]), args[6]
    same(axes[1], product_of([fresh(groups), fresh(args[0].shape[1] // groups)]))
    for other in args[1:3]:
        if isinstance(other, Tensor):
            same(axes[1], f.axes(other)[0])
    return [State(list(axes)), *(_fixed_state(one) for one in out[1:])]


@rule("_softmax", "_log_softmax", "_safe_softmax", "softmax", "log_softmax")
def _softmax(f, args, kwargs, out):
    return State(list(f.axes(args[0])))


@rule(
    "sum",
    "mean",
    "amax",
    "amin",
    "var",
    "std",
    "logsumexp",
    "linalg_vector_norm",
    "norm",
    "prod",
    "any",
    "all",
    "var_mean",
)
def _reduce(f, args, kwargs, out):
    axes, n = f.axes(args[0]), args[0].ndim
    kept = out[0].ndim == n
    dims = next((a for a in (*args[1:], kwargs.get("dim")) if isinstance(a, (list, tuple))), None)
    single = next((a for a in args[1:2] if isinstance(a, int) and not isinstance(a, bool)), None)
    dims = [single] if dims is None and single is not None and out[0].ndim in (n, n - 1) else dims
    gone = {d % n for d in dims} if dims else set(range(n))
    found = [fresh(1) if d in gone else axis for d, axis in enumerate(axes) if kept or d not in gone]
    return [State(list(found)) for _ in out]


@rule(
    *(
        "max_pool2d_with_indices",
        "avg_pool2d",
        "_adaptive_avg_pool2d",
        "adaptive_max_pool2d",
        "avg_pool1d",
        "avg_pool3d",
    ),
    *(
        "max_pool3d_with_indices",
        "_adaptive_avg_pool3d",
        "upsample_nearest2d",
        "upsample_bilinear2d",
        "upsample_nearest1d",
    ),
    *(
        "upsample_bicubic2d",
        "constant_pad_nd",
        "reflection_pad2d",
        "replication_pad2d",
        "upsample_linear1d",
        "max_pool1d",
    ),
    *("_upsample_nearest_exact2d", "adaptive_avg_pool1d", "adaptive_max_pool1d", "adaptive_max_pool3d"),
)
def _pixels(f, args, kwargs, out):
    axes = f.axes(args[0])
    found = []
    for axis, before, n in zip(axes, args[0].shape, out[0].shape, strict=True):
        pixels = before != n or len(found) >= 2 or _fixed(axis)
        found.append(fresh(n, PIXELS) if pixels else axis)
        if pixels:
            fix_axis(axis, PIXELS)
    return [State(list(found)) for _ in out]


@rule("embedding")
def _embedding(f, args, kwargs, out):
    w, index = f.axes(args[0]), f.axes(args[1])
    fix_axis(w[0], "it is looked up by the input")
    return State([*index, *w[1:]])


@rule(
    "full", "zeros", "ones", "full_like", "zeros_like", "ones_like", "new_zeros", "new_ones", "new_full", "empty_like"
)
def _even(f, args, kwargs, out):
    return State([fresh(n) for n in out[0].shape])


@rule("gather", "index_select", "take_along_dim", "cumsum", "flip", "roll", "sort", "topk", "cummax", "logcumsumexp")
def _along(f, args, kwargs, out):
    dims = args[1] if isinstance(args[1], (list, tuple)) else [args[1] if isinstance(args[1], int) else -1]
    n, axes = args[0].ndim, f.axes(args[0])
    why = "its order counts"
    for d in dims:
        fix_axis(axes[d % n], why)
    gone = {d % n for d in dims}
    return [State([fresh(m, why) if d in gone else axes[d] for d, m in enumerate(one.shape)]) for one in out]


@rule("index")
def _index(f, args, kwargs, out):
    axes, picks = f.axes(args[0]), list(args[1])
    picks += [None] * (len(axes) - len(picks))
    chosen = [d for d, one in enumerate(picks) if one is not None]
    if chosen != list(range(chosen[0], chosen[-1] + 1)) or any(
        one is not None and one.dtype == torch.bool for one in picks
    ):
        for axis in axes:
            fix_axis(axis, "its entries are picked")
        return _fixed_state(out[0])
    for d in chosen:
        fix_axis(axes[d], "its entries are picked")
    extra = out[0].ndim - (len(axes) - len(chosen))
    new = [fresh(n, "its entries are picked") for n in out[0].shape[chosen[0] : chosen[0] + extra]]
    return State([*axes[: chosen[0]], *new, *axes[chosen[-1] + 1 :]])


# ---------- the groups


@dataclass(frozen=True)
class Place:
    """Where a group's units are on an axis of a parameter: entries offset + (o · units + u) · inner + i."""

    name: str
    axis: int
    offset: int = 0
    outer: int = 1
    inner: int = 1


@dataclass(frozen=True)
class Groups:
    """The groups of interchangeable units: their places and sizes, and for units inside another group's, where."""

    places: dict[str, tuple[Place, ...]]
    sizes: dict[str, int]
    within: dict[str, tuple[str, int]]
    fixed: dict[tuple[str, int], str]  # axis → why no permutation acts on it


def trace(model: nn.Module, x: Any) -> Groups:
    """The groups of a module in evaluation mode, from one forward pass."""
    for name, module in model.named_modules():
        if isinstance(module, nn.RNNBase):
            raise Refused(f"{name or 'the module'} is recurrent ({type(module).__name__}), which is not followed")
    inputs = x if isinstance(x, tuple) else (x,)
    sources: dict[str, Tensor] = {}
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:  # tied ones once
        sources[name] = tensor
    packed: dict[tuple[int, int], int] = {}
    while True:
        try:
            return _groups(sources, _followed(model, inputs, sources, packed))
        except Split as found:
            if found.where in packed:
                raise Refused(f"{list(sources)[found.where[0]]} is packed in two ways, which is not followed") from None
            packed[found.where] = found.pieces


def _followed(model: nn.Module, inputs: tuple, sources: dict[str, Tensor], packed: dict) -> Follower:
    follower = Follower(sources, [one for one in _flat(inputs) if isinstance(one, Tensor)], packed)

    def leave(*_: Any) -> None:
        follower.module.pop()

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(lambda *_, name=name: follower.module.append(name)))
        handles.append(module.register_forward_hook(leave))
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH), follower:
            outputs = model(*inputs)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for handle in handles:
            handle.remove()
    for one in torch.utils._pytree.tree_leaves(outputs):
        if isinstance(one, Tensor):
            for axis in follower.axes(one):
                fix_axis(axis, "it is an axis of the output")
    return follower


def _groups(sources: dict[str, Tensor], follower: Follower) -> Groups:
    names = list(sources)
    used = {atom for state in follower.every[len(names) :] for atom in _atoms(state)}
    found: dict[Atom, list[tuple[Place, Product]]] = {}
    fixed: dict[tuple[str, int], str] = {}
    for k, name in enumerate(names):
        state = follower.states[id(follower.sources[k])]
        assert isinstance(state, State)
        for d, axis in enumerate(state.axes):
            offset = 0
            for product in resolved(axis):
                for at, atom in enumerate(product):
                    top = atom.root()
                    if top.fixed or top not in used:
                        fixed[name, d] = top.fixed or "it is not used with these inputs"
                        continue
                    place = Place(name, d, offset, size_of(product[:at]), size_of(product[at + 1 :]))
                    found.setdefault(top, []).append((place, product[:at]))
                offset += size_of(product)
    together = _companions(follower, found)
    titles: dict[Atom, str] = {}
    for atom, places in found.items():
        owner = places[0][0].name.rpartition(".")[0] or places[0][0].name
        title, k = owner, 2
        while title in titles.values():
            title, k = f"{owner}#{k}", k + 1
        titles[atom] = title
    result: dict[str, tuple[Place, ...]] = {}
    sizes: dict[str, int] = {}
    within: dict[str, tuple[str, int]] = {}
    for atom, places in found.items():
        outers = {before[-1].root() for _, before in places if before} if all(before for _, before in places) else set()
        alone = all(len(before) == 1 for _, before in places)
        if len(outers) == 1 and alone and next(iter(outers)) in together[atom] and next(iter(outers)) in titles:
            outer = next(iter(outers))
            for j in range(outer.size):
                title = f"{titles[atom]}[{j}]"
                result[title] = tuple(
                    Place(p.name, p.axis, p.offset + j * atom.size * p.inner, 1, p.inner) for p, _ in places
                )
                sizes[title], within[title] = atom.size, (titles[outer], j)
        else:
            result[titles[atom]], sizes[titles[atom]] = tuple(place for place, _ in places), atom.size
    return Groups(result, sizes, within, fixed)


def _atoms(state: State | Stacked) -> set[Atom]:
    states = state.states if isinstance(state, Stacked) else [state]
    return {atom.root() for one in states for axis in one.axes for product in resolved(axis) for atom in product}


def _companions(follower: Follower, found: Iterable[Atom]) -> dict[Atom, set[Atom]]:
    """Atom → those that occur in every tensor in which it occurs."""
    companions: dict[Atom, set[Atom]] = {}
    wanted = set(found)
    for state in follower.every:
        for one in state.states if isinstance(state, Stacked) else [state]:
            here = {atom.root() for axis in one.axes for product in resolved(axis) for atom in product}
            for atom in here & wanted:
                others = here - {atom}
                companions[atom] = companions[atom] & others if atom in companions else others
    return companions
