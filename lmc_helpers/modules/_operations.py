"""The axes of every torch operation that a trace can follow: one rule for each.

A rule gets the follower, the arguments of the operation by their names, and its outputs, and gives the axes of each
output; those that are left out are unknown, and refused if they are used. Rules identify axes, fix them, and note those
that are summed or meet.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace as Arguments
from typing import Any

import torch
from torch import Tensor

from lmc_helpers.modules._axes import (
    Atom,
    Axes,
    Axis,
    State,
    Unfollowed,
    count,
    cut,
    fix,
    fixed,
    flat,
    fresh,
    is_fixed,
    length,
    packed,
    picked,
    resolved,
    same,
)

Move = Callable[[Axes, Arguments, Tensor], Axes]
Rule = Callable[[Any, Arguments, list[Tensor]], Sequence[State | Axes | None]]
MOVES: dict[str, Move] = {}
RULES: dict[str, Rule] = {}
POINTWISE = {  # beside those that torch tags
    *("_to_copy", "copy", "fill", "zero", "hardswish", "log_sigmoid_forward", "_prelu_kernel", "rrelu_with_noise"),
    *("complex", "polar", "real", "imag", "_conj", "masked_fill"),
}


VIEWS = "view", "_unsafe_view", "reshape", "_reshape_alias", "unflatten", "flatten"
CARRIES = {*VIEWS, *"expand permute t transpose slice select split split_with_sizes unbind cat".split()}
PASSED = {"_to_copy", "aminmax", "_local_scalar_dense", "select", "slice", "unbind"}  # and moves
PICKED = dict.fromkeys(("index", "embedding"), "indices")  # operation → its argument that says which entries it takes
PICKED |= dict.fromkeys(("index_select", "gather", "scatter", "scatter_add", "scatter_reduce"), "index")
SOFTMAX = "softmax", "_softmax", "log_softmax", "_log_softmax", "_safe_softmax"
MOST = 16  # tensors or parts of an axis that are followed each by itself


def move(*names: str) -> Callable[[Move], Move]:
    """Register operations that move axes."""
    return lambda function: MOVES.update(dict.fromkeys(names, function)) or function


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register the rule of some operations."""
    return lambda function: RULES.update(dict.fromkeys(names, function)) or function


def geometry(tensor: Tensor) -> list[tuple[int, int]]:
    """Lengths of the axes, and strides if they are longer than 1."""
    if tensor.layout is not torch.strided:
        raise Unfollowed
    return [(n, step if n > 1 else 0) for n, step in zip(tensor.shape, tensor.stride(), strict=True)]


def listed(dims: int | Sequence[int] | None, n: int) -> list[int]:
    """Axes as numbers from 0 to n − 1; all of them if none is named."""
    found = [dims] if isinstance(dims, int) else list(dims or range(n))
    return [d % n for d in found if n]


@move("alias", "detach", "clone", "contiguous", "lift_fresh", "lift_fresh_copy", "view_as")
def alike(axes, a, out):
    return list(axes)


@move("as_strided")
def _as_strided(axes, a, out):
    if a.storage_offset not in (None, a.self.storage_offset()) or geometry(a.self) != geometry(out):
        raise Unfollowed
    return list(axes)


@move("t", "transpose", "permute")
def _permute(axes, a, out):
    n = len(axes)
    order = [d % n for d in a.dims] if hasattr(a, "dims") else list(range(n))
    if not hasattr(a, "dims") and n > 1:
        i, j = getattr(a, "dim0", 0) % n, getattr(a, "dim1", 1) % n
        order[i], order[j] = j, i
    return [axes[d] for d in order]


@move("unsqueeze")
def _unsqueeze(axes, a, out):
    d = a.dim % (len(axes) + 1)
    return [*axes[:d], fresh(1), *axes[d:]]


@move("squeeze")
def _squeeze(axes, a, out):
    gone = listed(getattr(a, "dim", None), len(axes))
    return [axis for d, axis in enumerate(axes) if d not in gone or length(axis) != 1]


@move("expand")
def _expand(axes, a, out):
    axes = [*map(fresh, out.shape[: out.ndim - len(axes)]), *axes]
    return [axis if length(axis) == n else fresh(n) for axis, n in zip(axes, out.shape, strict=True)]


@move("repeat")
def _repeat(axes, a, out):
    axes = [*(fresh(1) for _ in range(out.ndim - len(axes))), *axes]
    return [flat([fresh(m), axis]) if m > 1 else axis for m, axis in zip(a.repeats, axes, strict=True)]


@rule(*VIEWS)
def _view(f, a, out):
    """Blocks of axes whose lengths have equal products are flattened and split again."""
    state, after = f.state(a.self), list(out[0].shape)
    if hasattr(a, "dtype") or 0 in after:
        raise Unfollowed
    return [(state.pack and _each_reshaped(state, list(a.self.shape), after)) or _reshaped(f.axes(a.self), after)]


def _each_reshaped(state: State, before: list[int], after: list[int]) -> State | None:
    """Several tensors along an axis, each reshaped by itself, where that does not split their index."""
    at = next(d for d, axis in enumerate(state.variants[0]) if axis is state.pack)
    own, whole = list(map(length, state.own)), before[at]
    around = math.prod(before[:at]) * state.outer  # values of the index around theirs, which has n
    n = whole // math.gcd(*own)
    for d, m in enumerate(after):
        outer = math.prod(after[:d])
        if around % outer == 0 == outer * m % (around * n):
            break
    else:
        return None
    if around > outer and not is_fixed(tuple(itertools.chain(*state.own))):
        return None
    shapes = [[*after[:d], m * one // whole, *after[d + 1 :]] for one in own]
    found = [_reshaped(axes, shape) for axes, shape in zip(state.each(), shapes, strict=True)]
    if any(one.pack for one in found):
        return None
    made = packed([one.variants[0] for one in found], d, around // outer)
    return None if made.outer > 1 and not is_fixed(made.pack or ()) else made


def _reshaped(axes: Axes, after: list[int]) -> State:
    """The axes after a reshape; packed if a sum of parts becomes an axis for the parts and those inside them."""
    rest, sizes = [axis for axis in axes if length(axis) > 1], [n for n in after if n > 1]
    done: Axes = []
    at = 0  # the axis of the parts
    each: list[Axes] = []  # of the parts
    while rest:
        block, new = [rest.pop(0)], [sizes.pop(0)]
        while (left := math.prod(map(length, block))) != (right := math.prod(new)):
            if left < right:
                block.append(rest.pop(0))
            else:
                new.append(sizes.pop(0))
        whole = block[0] if len(block) == 1 else flat(block)
        while new:
            parts, inner = resolved(whole), math.prod(new[1:])
            several = len(parts) > 1 < inner and all(count(part) % inner == 0 for part in parts)
            if several and not each and not is_fixed(whole):
                at = len(done)
                each = [_split((part,), [count(part) // inner, *new[1:]]) for part in parts]
                done += each[0]
                break
            first, *others = [whole] if len(new) == 1 else _split(whole, [new[0], inner])
            done.append(first)
            whole, new = flat(others), new[1:]
    variants = [[*done[:at], *part, *done[at + len(part) :]] for part in each] or [done]
    for d, n in enumerate(after):
        if n == 1:
            variants = [[*axes[:d], fresh(1), *axes[d:]] for axes in variants]
            at += bool(each) and d <= at
    return packed(variants, at) if each else State(variants)


def _split(axis: Axis, sizes: list[int]) -> Axes:
    """Split an axis into axes of given lengths."""
    new = [fresh(n) for n in sizes]
    same(axis, flat(new))
    return new


# ---------- operations on parts of axes


@rule("slice")
def _slice(f, a, out):
    dim, n = a.dim % a.self.ndim, a.self.shape[a.dim]
    first, last, step = slice(a.start, a.end, a.step).indices(n)
    if step == 1:
        return [f.part(a.self, dim, first, max(first, last))]
    axes = list(f.axes(a.self))
    if first < step and last >= n and n % step == 0:  # one of several that lie between each other
        axes[dim], between = _split(axes[dim], [n // step, step])
        fix(between)
        return [axes]
    return [[*axes[:dim], picked(axes[dim], out[0].shape[dim]), *axes[dim + 1 :]]]


@rule("split", "split_with_sizes", "chunk", "tensor_split", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk")
def _pieces(f, a, out):
    dim = a.dim % a.self.ndim
    ends = [0, *itertools.accumulate(one.shape[dim] for one in out)]
    return [f.part(a.self, dim, first, last) for first, last in itertools.pairwise(ends)]


@rule("select")
def _select(f, a, out):
    return [f.entry(a.self, a.dim % a.self.ndim, a.index % a.self.shape[a.dim])]


@rule("unbind")
def _unbind(f, a, out):
    return [f.entry(a.self, a.dim % a.self.ndim, k) for k in range(len(out))]


@rule("glu")
def _glu(f, a, out):
    axes, dim = f.axes(a.self), a.dim % a.self.ndim
    n = length(axes[dim]) // 2
    halves = [[*axes[:dim], cut(axes[dim], k, k + n), *axes[dim + 1 :]] for k in (0, n)]
    return [f.broadcast(*halves)]


@rule("cat")
def _cat(f, a, out):
    dim = a.dim % out[0].ndim
    parts = [f.axes(one) for one in a.tensors if one.ndim == out[0].ndim]
    if 1 < len(parts) <= MOST and all(part[dim] for part in parts):
        if all(is_fixed(part[dim]) for part in parts):  # such as heads put on the batch
            f.laid.append((Atom.reason, parts))
            return [packed(parts, dim)]
        ends = zip(*(part[:dim] + part[dim + 1 :] for part in parts), strict=True)
        if any(len(set(map(resolved, axes))) > 1 and not all(map(is_fixed, axes)) for axes in ends):  # units of heads
            return [packed(parts, dim)]
    for part in parts[1:]:
        for d, (one, two) in enumerate(zip(parts[0], part, strict=True)):
            if d != dim:
                same(one, two)
    joined = tuple(product for part in parts for product in part[dim])
    return [[*parts[0][:dim], joined, *parts[0][dim + 1 :]]]


@rule("stack")
def _stack(f, a, out):
    dim, parts = a.dim % out[0].ndim, [f.axes(one) for one in a.tensors]
    return [packed([[*part[:dim], fresh(1), *part[dim:]] for part in parts], dim)]


@rule("constant_pad_nd")
def _pad(f, a, out):
    axes = list(f.axes(a.self))
    for k in range(len(a.pad) // 2):
        d, (before, behind) = len(axes) - 1 - k, a.pad[2 * k : 2 * k + 2]
        n = length(axes[d])
        kept = cut(axes[d], max(0, -before), n - max(0, -behind))
        axes[d] = (*(fresh(before) if before > 0 else ()), *kept, *(fresh(behind) if behind > 0 else ()))
    return [axes]


@rule("index")
def _index(f, a, out):
    picks = list(a.indices)
    chosen = [d for d, pick in enumerate(picks) if pick is not None]
    if len(chosen) == 1 and (span := f.span(picks[chosen[0]], a.self.shape[chosen[0]])):  # h[:, [-1]], a slice
        return [f.part(a.self, chosen[0], *span)]
    axes = list(f.axes(a.self))
    if len(chosen) == 1 and picks[chosen[0]].dtype == torch.bool:  # h[mask], entries in their order
        d, mask = chosen[0], picks[chosen[0]]
        fix(*axes[d : d + mask.ndim], *f.axes(mask), f.index.get(mask, ()))
        return [[*axes[:d], *fixed(out[0].shape[d : d + 1]), *axes[d + mask.ndim :]]]
    if any(picks[d].dtype in (torch.bool, torch.uint8) for d in chosen):
        fix(*axes, *(axis for d in chosen for axis in [*f.axes(picks[d]), f.index.get(picks[d], ())]))
        return [fixed(out[0].shape)]
    new = f.broadcast(*(f.axes(picks[d]) for d in chosen))
    for d in chosen:
        f.pick(axes[d], picks[d], new)
        f.indexed |= {atom.root() for product in resolved(axes[d]) for atom in product}
    at = chosen[0] if chosen == list(range(chosen[0], chosen[-1] + 1)) else 0
    kept = [axis for d, axis in enumerate(axes) if d not in chosen]
    return [[*kept[:at], *new, *kept[at:]]]


@rule("index_put", "_unsafe_index_put")
def _index_put(f, a, out):
    picks = [(d, pick) for d, pick in enumerate(a.indices) if pick is not None]
    if len(picks) == 1 and picks[0][1].dtype == torch.bool:  # h[mask] = 0, or a token
        ((d, mask),) = picks
        behind = [fresh(1) for _ in range(a.self.ndim - d - mask.ndim)]
        if a.values.numel() == 1 or a.values.ndim <= len(behind):
            token = [f.axes(a.values)] if a.values.numel() > 1 else []
            return [f.broadcast(f.axes(a.self), [*f.axes(mask), *behind], *token)]
    f.writes = True
    if len(picks) == 1 and picks[0][1].dtype == torch.bool:  # h[mask] = rows in their order
        ((d, mask),), axes, own = picks, f.axes(a.self), f.axes(a.values)
        rest = axes[d + mask.ndim :]
        rows = own[: len(own) - len(rest)][-1:]
        fix(*axes[d : d + mask.ndim], *f.axes(mask), *rows)
        f.broadcast([*axes[:d], *rows, *rest] if rows else rest, own)
        return [axes]
    (taken,) = _index(f, a, [a.self])
    for axes in taken.each() if isinstance(taken, State) else [taken]:
        f.broadcast(axes, f.axes(a.values))
    fix(*(axis for pick in a.indices if pick is not None for axis in f.axes(pick)))
    return [f.axes(a.self)]


@rule("_pack_padded_sequence", "_pad_packed_sequence")
def _packed_sequence(f, a, out):
    """Sequences of several lengths, on two axes or one after another."""
    axes, n = f.axes(a.self), 2 if hasattr(a, "lengths") else 1
    fix(*axes[:n])
    return [[*fixed(out[0].shape[: 3 - n]), *axes[n:]], fixed(out[1].shape)]


@rule("embedding")
def _embedding(f, a, out):
    rows, *units = f.axes(a.weight)
    f.pick(rows, a.indices)
    return [[*f.axes(a.indices), *units]]


@rule("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(f, a, out):
    rows, units = f.axes(a.weight)
    fix(rows, *f.axes(a.indices), *f.axes(a.offsets))
    return [[fresh(out[0].shape[0], fixed=True), units], *(fixed(one.shape) for one in out[1:])]


@rule("index_select")
def _index_select(f, a, out):
    state, dim, rows = f.state(a.self), a.dim % a.self.ndim, f.axes(a.index)
    if state.variants[0][dim] is state.pack:
        state = State([f.axes(a.self)])
    for axes in state.variants:
        f.pick(axes[dim], a.index, rows)
    return [replace(state, variants=[[*axes[:dim], rows[0], *axes[dim + 1 :]] for axes in state.variants])]


@rule("gather")
def _gather(f, a, out):
    axes, index, dim = f.axes(a.self), f.axes(a.index), a.dim % a.self.ndim
    f.pick(axes[dim], a.index)
    f.meet(axes, index, dim)
    return [index]


def _scatter(f, a, out, summed=False):
    """Entries are written where an index says; those of a source in their order."""
    axes, dim, index = f.axes(a.self), a.dim % a.self.ndim, f.axes(a.index)
    f.pick(axes[dim], a.index)
    at, source = index[dim if len(index) == len(axes) else 0], getattr(a, "src", getattr(a, "source", None))
    if source is not None:
        own = f.axes(source)
        f.meet(axes, own, dim)
        (same if summed and length(at) == length(own[dim]) else fix)(at, own[dim])
    if len(index) == len(axes):
        f.meet(axes, index, dim)
    return [axes]


RULES.update(dict.fromkeys(("scatter", "index_copy", "index_fill"), _scatter))
RULES.update(dict.fromkeys(("scatter_add", "scatter_reduce", "index_add"), partial(_scatter, summed=True)))


# ---------- operations along axes


def _without(axes: Axes, gone: Sequence[int], keepdim: bool = False) -> Axes:
    """The axes that remain when some are summed over."""
    return [fresh(1) if d in gone else axis for d, axis in enumerate(axes) if keepdim or d not in gone]


@rule("sum", "mean", "amax", "amin", "var", "std", "logsumexp", "linalg_vector_norm", "norm", "prod", "any", "all")
def _reduce(f, a, out):
    axes = f.axes(a.self)
    return [_without(axes, listed(getattr(a, "dim", None), len(axes)), getattr(a, "keepdim", False)) for _ in out]


@rule("mse_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy", "soft_margin_loss")
def _loss(f, a, out):
    axes = f.broadcast(*(f.axes(one) for one in (a.self, a.target, getattr(a, "weight", None)) if one is not None))
    return [axes if out[0].ndim == len(axes) else []]


RULES.update(
    dict.fromkeys(
        ("var_mean", "std_mean", "aminmax", "count_nonzero", "nansum", "_is_all_true", "_is_any_true"), _reduce
    )
)


@rule("argmax", "argmin")
def _place_of(f, a, out):
    if a.dim is None:
        fix(*f.axes(a.self))
    else:
        f.tells(out[0], f.axes(a.self)[a.dim])
    return _reduce(f, a, out)


@rule("max", "min", "median", "nanmedian", "mode", "kthvalue")
def _value_of(f, a, out):
    """The value is the same in every order of the units; its place fixes them unless it picks the same units."""
    for one in out[1:]:
        f.tells(one, f.axes(a.self)[a.dim])
    return _reduce(f, a, out)


@rule("sort", "topk", "argsort")
def _sorted(f, a, out):
    """The values by their size do not depend on the order of the units."""
    axes, d = f.axes(a.self), listed(a.dim, a.self.ndim)[0]
    for one in out[len(out) > 1 :]:
        f.tells(one, axes[d])
    return [[*axes[:d], *fixed(one.shape[d : d + 1]), *axes[d + 1 :]] for one in out]


@rule(*SOFTMAX)
def _softmax(f, a, out):
    axes = f.axes(a.self)
    f.note(*_without(axes, listed(a.dim, len(axes))))
    return [axes]


@rule("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "flip", "rot90", "roll", "unfold")
def _along(f, a, out):
    axes = f.axes(a.self)
    given = [getattr(a, name) for name in ("dim", "dims", "dimension") if hasattr(a, name)]
    dims = listed(given[0] if given else None, len(axes))
    fix(*(axes[d] for d in dims))
    kept = {d: axis for d, axis in enumerate(axes) if d not in dims}
    return [[kept.get(d, axis) for d, axis in enumerate(fixed(one.shape))] for one in out]


RULES.update(dict.fromkeys(("_fft_r2c", "_fft_c2r", "_fft_c2c"), _along))


@rule("tril", "triu", "diagonal", "view_as_complex")
def _last(f, a, out):
    """Operations that depend on the order of two axes, the last two by default; what remains of these is fixed."""
    axes = f.axes(a.self)
    dims = listed([getattr(a, "dim1", -1), getattr(a, "dim2", -2 if hasattr(a, "diagonal") else -1)], len(axes))
    fix(*(axes[d] for d in dims))
    kept = _without(axes, dims)
    return [[*kept, *fixed(out[0].shape[len(kept) :])]]


@rule("view_as_real")
def _view_as_real(f, a, out):
    return [[*f.axes(a.self), fresh(2, fixed=True)]]


@rule("full_like", "zeros_like", "ones_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty")
def _constant(f, a, out):
    return [[fresh(n, constant=True) for n in out[0].shape]]


# ---------- sums of products


@rule("mm", "mv", "dot", "vdot")
def _mm(f, a, out):
    x, y = (f.axes(one) for one in list(vars(a).values())[-2:])
    return [f.contract(x, y)]


@rule("bmm")
def _bmm(f, a, out):
    return [f.contract(f.axes(a.self), f.axes(a.mat2), 1)]


@rule("_grouped_mm")
def _grouped_mm(f, a, out):
    """Rows by the expert that they go to, with that one's matrix."""
    x, w = f.axes(a.self), f.axes(a.mat2)
    if len(x) != 2 or len(w) != 3:
        raise Unfollowed
    f.pick(w[0], a.offs, [x[0]])
    f.stacked |= {atom.root() for product in resolved(w[0]) for atom in product}
    fix(x[0], w[0], *f.axes(a.offs))
    same(x[1], w[1])
    f.note(x[0], x[1])
    f.note(x[0], w[2])
    return [[x[0], w[2]]]


@rule("addmm", "_addmm_activation", "addmv")
def _addmm(f, a, out):
    x, y = (a.mat, a.vec) if hasattr(a, "vec") else (a.mat1, a.mat2)
    return [f.broadcast(f.contract(f.axes(x), f.axes(y)), f.axes(a.self))]


@rule("baddbmm")
def _baddbmm(f, a, out):
    return [f.broadcast(f.contract(f.axes(a.batch1), f.axes(a.batch2), 1), f.axes(a.self))]


@rule("linear")
def _linear(f, a, out):
    made = f.contract(f.axes(a.input), f.axes(a.weight)[::-1])
    return [made if a.bias is None else f.broadcast(made, f.axes(a.bias))]


@rule("_trilinear")
def _trilinear(f, a, out):
    parts = []
    for one, gaps in ((a.i1, a.expand1), (a.i2, a.expand2), (a.i3, a.expand3)):
        axes = list(f.axes(one))
        for d in sorted(gaps):
            axes.insert(d, fresh(1))
        parts.append(axes)
    return [_without(f.broadcast(*parts), a.sumdim)]


@rule("_cdist_forward", "_euclidean_dist")
def _cdist(f, a, out):
    x, y = f.axes(a.x1), f.axes(a.x2)
    return [f.contract(x, [*y[:-2], y[-1], y[-2]], len(y) - 2)]


def _parts_of_groups(f, a, channels: Axis) -> list[Axes]:
    """The axes of the weights of each group where the channels are several layers', whose units groups may divide."""
    size = len(a.weight) // a.groups
    if len(resolved(channels)) == 1:
        return []
    found = [f.block(a.weight, 0, size, k) for k in range(a.groups)]
    return [axes for axes in found if axes is not None]


@rule("convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution")
def _convolution(f, a, out):
    x, n = f.axes(a.input), a.weight.ndim - 2  # axes of pixels
    parts = _parts_of_groups(f, a, x[-n - 1]) if a.groups > 1 and not a.transposed else []
    w = parts[0] if parts else f.axes(a.weight)
    *batch, channels = x[:-n]
    reads, makes = (w[0], w[1]) if a.transposed else (w[1], w[0])
    if parts:
        for k, part in enumerate(parts):
            same(cut(channels, k * length(part[1]), (k + 1) * length(part[1])), part[1])
            for d in range(2, len(w)):
                same(w[d], part[d])
        makes = tuple(product for part in parts for product in part[0])
    elif a.groups > 1:  # each reads its part of the channels
        group, one, made = fresh(a.groups), fresh(length(channels) // a.groups), fresh(out[0].shape[-n - 1] // a.groups)
        same(channels, flat([group, one]))
        same(reads, channels if a.transposed else one)
        same(makes, made if a.transposed else flat([group, made]))
        makes = flat([group, made])
        f.blocked.append((Atom.reason, group, [one, made]))
    else:
        same(channels, reads)
    f.note(channels)
    pixels, padding = x[-n:], [*a.padding] * n  # a window of one pixel leaves them where they are
    for d in range(n):
        if a.weight.shape[2 + d] > 1 or padding[d] or length(pixels[d]) != out[0].shape[d - n]:
            fix(pixels[d], w[2 + d])
            (pixels[d],) = fixed(out[0].shape[d - n :][:1])
    output, ones = [*batch, makes, *pixels], [fresh(1) for _ in pixels]
    return [output if a.bias is None else f.broadcast(output, [f.axes(a.bias)[0], *ones])]


# ---------- normalisation, pixels


@rule("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "cudnn_batch_norm")
def _batch_norm(f, a, out):
    axes = f.axes(a.input)
    ones = [fresh(1) for _ in axes[2:]]
    own = [getattr(a, name, None) for name in ("weight", "bias", "running_mean", "running_var")]
    return [f.broadcast(axes, axes[1:2] + ones, *([f.axes(one)[0], *ones] for one in own if one is not None))]


@rule("native_layer_norm", "_fused_rms_norm", "rms_norm")
def _layer_norm(f, a, out):
    axes = f.axes(a.input)
    f.note(*axes[: -len(a.normalized_shape)])
    own = [getattr(a, name, None) for name in ("weight", "bias")]
    return [f.broadcast(axes, *(f.axes(one) for one in own if one is not None))]


def _grouped(f: Any, axis: Axis, size: int) -> list[Axis]:
    """Groups of a size on an axis that may be exchanged: whole ones in one part of a sum; the other parts are cut."""
    at, groups = 0, []
    for product in resolved(axis):
        first, last = -(-at // size) * size, (at + count(product)) // size * size
        if (first, last) != (at, at + count(product)):
            f.unpack((product,))
        if first < last:
            groups.append(fresh((last - first) // size))
            same(cut(axis, first, last), flat([groups[-1], fresh(size)]))
        elif first == last or first == last + size:
            cut(axis, at, last if at < last else at + count(product))
        at += count(product)
    return groups


@rule("native_group_norm")
def _group_norm(f, a, out):
    axes = f.axes(a.input)
    for group in _grouped(f, axes[1], length(axes[1]) // a.group):
        f.note(axes[0], group)
    own = [f.axes(one)[0] for one in (a.weight, a.bias) if one is not None]
    return [f.broadcast(axes, *([one, *(fresh(1) for _ in axes[2:])] for one in own))]


ROUNDED = "fake_quantize_per_{}_affine_cachemask", "_fake_quantize_learnable_per_{}_affine"


@rule(
    *(one.format(of) for one in ROUNDED for of in ("tensor", "channel")),
    f"_{ROUNDED[0]}_tensor_qparams".format("tensor"),
)
def _fake_quantize(f, a, out):
    axes = f.axes(a.self)
    own = [one for one in (a.scale, a.zero_point) if isinstance(one, Tensor) and one.numel() > 1]
    behind = [fresh(1) for _ in axes[getattr(a, "axis", -1) + 1 :]]
    return [f.broadcast(axes, *([*f.axes(one), *behind] for one in own))] * len(out)


@rule("_weight_norm_interface")
def _weight_norm(f, a, out):
    axes = f.broadcast(f.axes(a.v), f.axes(a.g))
    f.note(axes[a.dim])
    return [axes]


def pixel_rule(n: int) -> Rule:
    """Pooling, upsampling and padding of the last n axes."""

    def rule(f, a, out):
        axes = f.axes(a.self)
        fix(*axes[-n:])
        if hasattr(a, "indices"):
            f.broadcast(axes, f.axes(a.indices))
        return [[*axes[:-n], *fixed(one.shape[-n:])] for one in out]

    return rule


PIXEL_OPERATIONS = (
    *("max_pool{}d", "avg_pool{}d", "max_pool{}d_with_indices", "_adaptive_avg_pool{}d", "adaptive_max_pool{}d"),
    *("upsample_nearest{}d", "_upsample_nearest_exact{}d", "reflection_pad{}d", "replication_pad{}d", "max_unpool{}d"),
    *("upsample_linear{}d", "upsample_bilinear{}d", "upsample_trilinear{}d", "upsample_bicubic{}d"),
    *("_upsample_bilinear{}d_aa", "_upsample_bicubic{}d_aa"),
)
RULES.update({name.format(n): pixel_rule(n) for name in PIXEL_OPERATIONS for n in (1, 2, 3)})


@rule("grid_sampler_2d", "grid_sampler_3d", "grid_sampler")
def _grid_sampler(f, a, out):
    (batch, channels, *pixels), (other, *grid) = f.axes(a.input), f.axes(a.grid)
    same(batch, other)
    fix(*pixels, *grid)
    return [[batch, channels, *fixed(out[0].shape[2:])]]


@rule("affine_grid_generator")
def _affine_grid(f, a, out):
    batch, *matrix = f.axes(a.theta)
    fix(*matrix)
    return [[batch, *fixed(out[0].shape[1:])]]


@rule("col2im")
def _fold(f, a, out):
    *batch, channels, places = f.axes(a.self)
    fix(places)
    made = fresh(out[0].shape[-3])
    same(channels, flat([made, fresh(math.prod(a.kernel_size), fixed=True)]))
    return [[*batch, made, *fixed(out[0].shape[-2:])]]


@rule("pixel_shuffle", "pixel_unshuffle", "im2col")
def _windows(f, a, out):
    """The channels are a product with the pixels of a window."""
    *batch, channels, height, width = f.axes(a.self)
    fix(height, width)
    n = out[0].shape[len(batch)]
    if hasattr(a, "upscale_factor"):
        new = fresh(n)
        same(channels, flat([new, fresh(a.upscale_factor**2, fixed=True)]))
    else:
        new = flat([channels, fresh(n // length(channels), fixed=True)])
    return [[*batch, new, *fixed(out[0].shape[len(batch) + 1 :])]]


@rule("channel_shuffle", "native_channel_shuffle")
def _channel_shuffle(f, a, out):
    batch, channels, *pixels = f.axes(a.self)
    group, one = _split(channels, [a.groups, length(channels) // a.groups])
    return [[batch, flat([one, group]), *pixels]]
