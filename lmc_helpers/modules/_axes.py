"""Axes as sums of products of atoms, and operations on them: two are identified, one is cut, one is fixed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


class Unfollowed(Exception):
    """An operation that no rule describes."""


class Atom:
    """An index that takes ``size`` values; atoms that turn out to be equal are united.

    One whose parts are a sum stays as it is inside another index, as queries, keys and values inside each head.
    """

    __slots__ = ("constant", "fixed", "of", "parent", "parts", "size")
    reason = "the architecture"  # why atoms are fixed at present: the operation that is followed

    def __init__(self, size: int, fixed: bool | str = False, constant: bool = False):
        self.size, self.constant = size, constant  # constant: a tensor of equal entries, such as zeros to begin with
        self.fixed = Atom.reason if fixed is True else fixed  # why no permutation may act on it, or False
        self.parent: Atom | None = None
        self.parts: Axis | None = None  # the sum of products that it was found to be
        #: stacks and atoms: with a value of each of these goes one entry of the stack, as with rows their experts
        self.of: list[tuple[Axis, list[Atom]]] = []

    def root(self) -> Atom:
        """The representative of all atoms that this one was united with."""
        here = self
        while here.parent is not None:
            here = here.parent
        return here


Product = tuple[Atom, ...]  # the outermost first
Axis = tuple[Product, ...]  # one after the other
Axes = list[Axis]


def fresh(size: int, fixed: bool = False, constant: bool = False) -> Axis:
    """An axis of its own."""
    return ((Atom(size, fixed, constant),),)


def is_constant(axis: Axis) -> bool:
    """True if the entries along an axis are equal, in whatever order they are."""
    products = list(branches(axis))
    return len(products) == 1 and all(atom.constant for atom in products[0])  # several parts need not be alike


def fixed(sizes: Sequence[int]) -> Axes:
    """Axes of their own on which no permutation may act."""
    return [fresh(n, fixed=True) for n in sizes]


def count(product: Product) -> int:
    """Number of values of a product."""
    return math.prod(atom.size for atom in product)


def length(axis: Axis) -> int:
    """Number of entries along an axis."""
    return sum(map(count, axis))


def fix(*axes: Axis) -> None:
    """Forbid permutations of these axes."""
    for atom in (atom.root() for axis in axes for product in axis for atom in product):
        if not atom.fixed:
            atom.fixed, atom.constant = Atom.reason, False
            fix(atom.parts or ())


def is_fixed(axis: Axis) -> bool:
    """True if no permutation may act on any part of an axis."""
    return all(atom.fixed for product in branches(axis) for atom in product)


def resolved(axis: Axis) -> Axis:
    """The same axis without factors of size 1, in atoms that have no parts, or a sum of parts inside another index."""
    return tuple(each for product in axis for each in _product([_known(atom.root()) for atom in product], product))


def branches(axis: Axis) -> Iterator[Product]:
    """The products of atoms without parts on an axis: sums inside another index are multiplied out."""
    for product in resolved(axis):
        parts = [branches(atom.parts) if atom.parts is not None else [(atom,)] for atom in product]
        for chosen in itertools.product(*parts):
            yield tuple(itertools.chain(*chosen))


def _known(atom: Atom) -> Axis:
    """An atom as an axis: its parts if it has been split, else itself."""
    return resolved(atom.parts) if atom.parts is not None else ((atom,) if atom.size > 1 else (),)


def flat(axes: Sequence[Axis]) -> Axis:
    """The axis that results from flattening several."""
    return _product(list(map(resolved, axes)))


def _product(axes: Sequence[Axis], atoms: Sequence[Atom] = ()) -> Axis:
    """The product of resolved axes; a sum inside another index is one atom, the one it belongs to or a new one."""
    whole: Axis = ((),)
    for k, axis in enumerate(axes):
        if len(axis) > 1 and whole != ((),):
            if atoms:
                inner = atoms[k].root()
            else:
                inner = Atom(length(axis))
                inner.parts = axis
            axis = ((inner,),)
        whole = tuple((*outer, *inner) for outer in whole for inner in axis)
    return whole


def same(a: Axis, b: Axis) -> None:
    """Identify two axes of one length; parts that cannot be identified are fixed."""
    while a and b and a is not b:
        a, b = resolved(a), resolved(b)
        p, q = a[0], b[0]
        if count(p) == count(q):
            _same_product(p, q)
            a, b = a[1:], b[1:]
        elif _cut_product(*((p, count(q)) if count(p) > count(q) else (q, count(p)))) is None:
            fix(a, b)  # read in pieces that cut through an inner index
            return


def _same_product(p: Product, q: Product) -> None:
    """Identify two resolved products of one size."""
    if not p:
        return
    a, b = p[0], q[0]
    if a.size == b.size:
        if a is not b:
            b.parent, a.fixed, a.constant = a, a.fixed or b.fixed, a.constant and b.constant
            a.of += b.of
        same((p[1:],), (q[1:],))
        return
    large, small = (a, b) if a.size > b.size else (b, a)
    if large.size % small.size:
        fix((p, q))  # reshaped across another index
        return
    n = large.size // small.size
    large.parts = ((Atom(small.size, large.fixed, large.constant), Atom(n, large.fixed, large.constant)),)
    same((p,), (q,))


def _cut_product(product: Product, first: int) -> tuple[Product, Product] | None:
    """A resolved product as two, the first of a size; None if that cuts through an inner index."""
    outer, inner = product[0], count(product[1:])
    if first % inner:
        return None
    n = first // inner
    left, right = (Atom(k, outer.fixed, outer.constant) for k in (n, outer.size - n))
    outer.parts = ((left,), (right,))
    return (left, *product[1:]), (right, *product[1:])


def cut(axis: Axis, first: int, last: int) -> Axis:
    """The entries of an axis from first to last − 1."""
    if (first, last) == (0, length(axis)):
        return axis
    rest, kept, at = axis, [], 0
    while rest and at < last:
        product, *others = resolved(rest)
        n = count(product)
        border = next((edge - at for edge in (first, last) if at < edge < at + n), 0)
        if border:
            two = _cut_product(product, border)
            if two is None:
                return picked(axis, last - first)
            rest = (*two, *others)
            continue
        if at >= first:
            kept.append(product)
        rest, at = tuple(others), at + n
    return tuple(kept)


def picked(axis: Axis, n: int) -> Axis:
    """A fixed axis of n entries that are picked from another, which is fixed."""
    fix(axis)
    return fresh(n, fixed=True)


@dataclass
class State:
    """The axes of a tensor, or of each of several tensors that lie one after another along the axis ``pack``."""

    variants: list[Axes]
    pack: Axis | None = None
    own: Sequence[Axis] = ()  # the part of each
    outer: int = 1  # number of values of an index around that of the tensors on this axis

    def each(self) -> list[Axes]:
        """The axes of each, with its own part."""
        if self.pack is None:
            return self.variants
        pairs = zip(self.variants, self.own, strict=True)
        return [[own if axis is self.pack else axis for axis in axes] for axes, own in pairs]


def packed(each: Sequence[Axes], at: int, outer: int = 1) -> State:
    """The state of several tensors, one after another along an axis."""
    own = [axes[at] for axes in each]
    whole = tuple(itertools.chain(*own))
    pack = fresh(length(whole), fixed=True) if is_fixed(whole) else whole
    return (
        State([[*axes[:at], pack, *axes[at + 1 :]] for axes in each], pack, own, outer) if own[1:] else State([*each])
    )
