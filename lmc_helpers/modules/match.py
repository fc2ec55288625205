"""Matching of two modules: the units of one put in the order nearest to the other's."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import torch
from torch import Tensor, nn

from lmc_helpers._typing import Natural, Positive, Seed, checked
from lmc_helpers.alignment.activation_matching import Moments, merged_moments, moments_of
from lmc_helpers.alignment.assignment import assign, matched_sum
from lmc_helpers.alignment.factors import combined, jointly
from lmc_helpers.alignment.midpoint import Best
from lmc_helpers.alignment.sinkhorn import sinkhorn_rebasin
from lmc_helpers.alignment.straight_through import straight_through
from lmc_helpers.alignment.weight_matching import inner_kinds, weight_matching
from lmc_helpers.files import atomic_write
from lmc_helpers.modules._data import batches, check_apart, is_apart, kept, length, part, run, unlabelled
from lmc_helpers.modules._ends import Ends, check_followed, check_same
from lmc_helpers.modules._layers import Contractions, Use, storage
from lmc_helpers.modules._module import (
    called,
    check_pair,
    copied,
    fitting,
    step_by_step,
    tensors,
    tensors_of,
    untouched,
)
from lmc_helpers.modules.losses import Combined
from lmc_helpers.modules.symmetry import exponents, of_architecture, permuted
from lmc_helpers.modules.symmetry import symmetry as traced
from lmc_helpers.networks.permutations import (
    Axis,
    Kinds,
    Symmetry,
    acted,
    by_matrices,
    change,
    cycles,
    reorder,
    restricted,
    units_of,
)
from lmc_helpers.progress import progress
from lmc_helpers.seeds import torch_generator

__all__ = ["Matched", "load_matching", "match"]


class Unmatched(ValueError):
    """Activations of two modules on some data that do not belong together."""


SWEEPS = 20  # over groups with matrices
AT_ONCE = 32  # examples whose activations are held, or
NUMBERS = 2**14  # numbers in their inputs
FEATURES = 64  # of a unit in a place
Maps = Literal["orthogonal", "linear"]
By = Literal["weights", "activations", "straight-through", "sinkhorn"]


@dataclass(frozen=True, eq=False)
class Matched:
    """Result of matching two modules."""

    permutations: dict[str, Tensor]  # group → p (m,): unit i of a is matched with unit p_i of b
    #: by weights ⟨a, π b⟩ of each restart, (restarts,); by activations the mean correlation of matched units of each
    #: group that was recorded, in the order of the groups; else the losses halfway at all permutations that were
    #: seen, in their order
    values: Tensor
    symmetry: Symmetry  # the groups
    #: group → (r, m), ±1 for each vector ``symmetry.kinds[group].signs`` and unit of a; none of groups without signs
    signs: dict[str, Tensor] = field(default_factory=dict)
    maps: dict[str, Tensor] = field(default_factory=dict)  # group → matrix (m, m) of its units, in their new order
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # of the tensors that the groups move

    def save(self, path: str | Path) -> None:
        """Write the matching to a file, .json or .safetensors, that :func:`load_matching` reads."""
        of = self.symmetry
        groups = {"groups": of.groups, "sizes": of.sizes, "within": of.within, "left": of.left, "shapes": self.shapes}
        if of.kinds:
            groups["kinds"] = {g: kinds._asdict() for g, kinds in of.kinds.items()}
        numbers = {f"p {g}": p.cpu() for g, p in self.permutations.items()} | {"values": self.values.cpu()}
        numbers |= {
            f"{kind} {g}": one.cpu() for kind, of in (("s", self.signs), ("m", self.maps)) for g, one in of.items()
        }
        if _kind(path) == ".json":
            lists = {name: value.tolist() for name, value in numbers.items()}
            atomic_write(Path(path), json.dumps({"symmetry": groups, **lists}, ensure_ascii=False))
        else:
            from safetensors.torch import save

            written = torch.tensor(list(json.dumps(groups).encode()), dtype=torch.uint8)
            numbers = {name: value.contiguous() for name, value in numbers.items()}
            atomic_write(Path(path), save({"symmetry": written, **numbers}))


def _kind(path: str | Path) -> str:
    """The kind of a file of a matching."""
    if (kind := Path(path).suffix) not in (".json", ".safetensors"):
        raise ValueError(f"{str(path)!r} ends in {kind!r}; allowed: .json, .safetensors")
    return kind


@checked
def load_matching(path: str | Path, b: nn.Module, x: Any, outputs: Callable | None = None) -> Matched:
    """A matching that was saved by :meth:`Matched.save`, if it keeps the outputs of b on inputs x.

    ``outputs`` says what counts of them, as in :func:`~lmc_helpers.modules.symmetry.symmetry`; a file cannot hold it.

    Then ``lmc_helpers.permuted(b, found.symmetry, found.permutations, found.signs, found.maps)`` is b as matched.

    Raises
    ------
    OSError
        if the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> net, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.ones(1, 4)
    >>> other = permuted(net, traced(net, x), {"0": torch.tensor([2, 0, 1])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     match(net, other, x, details=True)[1].save(f"{folder}/matched.json")
    ...     found = load_matching(f"{folder}/matched.json", other, x)
    >>> matched = permuted(other, found.symmetry, found.permutations)
    >>> found.permutations["0"].tolist(), bool(torch.equal(matched[0].weight, net[0].weight))
    ([1, 2, 0], True)
    """
    kind, content = _kind(path), Path(path).read_bytes()
    try:
        if kind == ".json":
            numbers = json.loads(content)
            groups = numbers.pop("symmetry")
        else:
            from safetensors.torch import load

            numbers = load(content)
            groups = json.loads(bytes(numbers.pop("symmetry").tolist()))
        axes = {
            g: tuple(Axis._make([*place[:5], tuple(map(tuple, place[5]))]) for place in places)
            for g, places in groups["groups"].items()
        }
        kinds = {
            g: Kinds(**{key: _tuples(one) for key, one in of.items()}) for g, of in groups.pop("kinds", {}).items()
        }
        shapes = {name: tuple(shape) for name, shape in groups.pop("shapes", {}).items()}
        inside, left = ({key: tuple(value) for key, value in groups[kind].items()} for kind in ("within", "left"))
        values, symmetry = (
            torch.as_tensor(numbers.pop("values"), dtype=torch.float64),
            Symmetry(axes, groups["sizes"], inside, left, outputs, kinds),
        )
        p, signs, maps = (
            {g[2:]: torch.as_tensor(one, dtype=kind) for g, one in numbers.items() if g.startswith(start)}
            for start, kind in (("p ", None), ("s ", None), ("m ", torch.double))
        )
    except ImportError:
        raise
    except Exception as error:  # of whatever a file may hold
        raise ValueError(
            f"{str(path)!r} holds no matching ({error}); allowed: a file that Matched.save wrote"
        ) from None
    for name, shape in _shapes(copied(b), symmetry).items():
        if shape != shapes.get(name, shape):
            raise ValueError(f"{name} has shape {shape} in b; allowed: {shapes[name]}, as in {str(path)!r}")
    check_same(b, permuted(b, symmetry, p, signs, maps), x, outputs)
    return Matched(p, values, symmetry, signs, maps, shapes)


def _shapes(model: nn.Module, symmetry: Symmetry) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors that the groups move."""
    moved = {place.name for places in symmetry.groups.values() for place in places}
    return {name: tuple(one.shape) for name, one in tensors(model).items() if name in moved}


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@overload
def match(
    a: nn.Module,
    b: nn.Module,
    x: Any = None,
    by: By = "weights",
    restarts: int = 10,
    seed: int = 0,
    symmetry: Symmetry | None = None,
    loss: Callable | None = None,
    data: Any = None,
    steps: int = 100,
    details: Literal[False] = False,
    signs: bool = True,
    maps: Maps | None = None,
) -> nn.Module: ...
@overload
def match(
    a: nn.Module,
    b: nn.Module,
    x: Any = None,
    by: By = "weights",
    restarts: int = 10,
    seed: int = 0,
    symmetry: Symmetry | None = None,
    loss: Callable | None = None,
    data: Any = None,
    steps: int = 100,
    *,
    details: Literal[True],
    signs: bool = True,
    maps: Maps | None = None,
) -> tuple[nn.Module, Matched]: ...
@checked
def match(
    a: nn.Module,
    b: nn.Module,
    x: Any = None,
    by: By = "weights",
    restarts: Positive = 10,
    seed: Seed = 0,
    symmetry: Symmetry | None = None,
    loss: Callable | None = None,
    data: Any = None,
    steps: Natural = 100,
    details: bool = False,
    signs: bool = True,
    maps: Maps | None = None,
) -> nn.Module | tuple[nn.Module, Matched]:
    """A copy of b, in evaluation mode, with its units in the order nearest to a's: π b for a permutation π, and signs.

    - ``"weights"``: the largest ⟨a, π b⟩ over parameters, without buffers, the best of restarts (Ainsworth et al. 2023,
      Algorithm 1; :mod:`lmc_helpers.alignment.weight_matching`). The first descent begins at the groups matched one
      after another, from the inputs on, the second at the identity, the others at uniform permutations.
    - ``"activations"``: the largest sum of correlations of matched units on inputs
      (:mod:`lmc_helpers.alignment.activation_matching`). A group is recorded in every place where a weight reads it,
      with pixels and steps as samples; a group that no weight reads, such as the units of queries and keys, where
      weights make it, each place centred by itself. Heads and the units inside them are matched together: heads by the
      largest sum of correlations over the orders of their units. Groups that are not recorded at all, in two samples,
      or are factors of an axis with heads that have units inside, are matched by weights in the end.
    - ``"straight-through"`` and ``"sinkhorn"``: a small loss halfway, at (a + π b)/2 with running statistics
      interpolated, by descent (``lmc_helpers.alignment.straight_through``,
      ``_sinkhorn``). Each step takes one batch of the data, all of them judge.
      Running statistics count like weights there; ``"sinkhorn"`` mixes heads first and then the units inside them.

    Parameters
    ----------
    a, b
        modules of one architecture.
    x
        inputs of a call, by which the groups are found and, without ``data``, units are correlated.
    restarts
        of matching by weights.
    symmetry
        the groups; those of :func:`~lmc_helpers.modules.symmetry.symmetry` if it is left out.
    loss, data
        as in :func:`~lmc_helpers.modules.line.line`; only the matchers that descend need a loss.
    steps
        of descent.
    details
        whether to return how they were matched, :class:`Matched`, beside the module.
    signs
        whether units are taken times −1, too, where that keeps the outputs, as before a tanh: by weights if it brings
        them nearer, jointly with their order, by activations if they correlate negatively. Signs that activations do
        not show, as before an absolute value, are then left, as are those of units inside others, such as heads, or
        with others inside, and all where a loss descends. Without ``symmetry``, signs are found and proven
        (``symmetry(..., kinds="signs")``).
    maps
        ``"orthogonal"``: in the end, the units of each group with rotations (``symmetry(..., kinds=True)``) are
        multiplied by the orthogonal matrix that brings weights nearest, max ⟨a, Q b⟩ (Procrustes), one group after
        another. ``"linear"``: from there, where all of GL(m) is free, by the matrix of a minimum of ‖a − M b‖². The
        order of units, and of heads around them, is matched before.

    Examples
    --------
    >>> net, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.ones(1, 4)
    >>> shuffled = permuted(net, traced(net, x), {"0": torch.tensor([2, 0, 1])})
    >>> matched, found = match(net, shuffled, x, details=True)
    >>> found.permutations["0"].tolist(), bool(torch.equal(matched[0].weight, net[0].weight))
    ([1, 2, 0], True)
    """
    a, b = check_pair(a, b)
    data = kept(data)
    descends = by in ("straight-through", "sinkhorn")
    if descends and (loss is None or data is None):
        raise ValueError(f"by = {by!r} with loss = {loss!r} and data = {data!r}; allowed: a loss and data")
    if x is None and (symmetry is None or (by == "activations" and data is None)):
        raise ValueError("x = None; allowed: inputs of a call, or a symmetry, and data to match by activations")
    with untouched():
        if data is not None:
            check_apart(copied(a), data)
        if descends:
            Ends(a, b).check(next(batches(a, data))[0])
        signs = signs and not descends
        kinds: Any = maps is not None or (signs and "signs")
        groups = of_architecture(traced(a, unlabelled(a, x), kinds=kinds), (a, b)) if symmetry is None else symmetry
        if maps and not groups.kinds:
            raise ValueError(f"maps = {maps!r} with groups without kinds; allowed: those of symmetry(..., kinds=True)")
        groups = groups if signs else replace(groups, kinds={g: k._replace(signs=()) for g, k in groups.kinds.items()})
        chosen: dict[str, Tensor] = {}
        unknown = sorted({place.name for of in groups.groups.values() for place in of} - set(tensors(a)))
        if unknown:
            raise ValueError(f"the symmetry has parameters {unknown}; allowed: those of the modules")
        if not groups.groups:
            warnings.warn(f"b stays as it is: {groups}".replace("\n", "; "), stacklevel=5)
        for why, at in groups.left.items():
            if why.startswith("a stack"):
                warnings.warn(f"{', '.join(at)} is {why}: those of each entry are not matched apart", stacklevel=5)
        if descends:
            p, values = _by_loss(a, b, groups, by, loss, data, steps, seed)
        elif by == "activations":
            p, means, chosen = _by_activations(
                a, b, groups, (lambda: batches(a, data)) if data is not None else (lambda: [(x, None)]), restarts, seed
            )
            values = torch.tensor(list(means.values()), dtype=torch.float64)
        else:
            p, values, chosen = _by_weights(a, b, groups, restarts, seed)
        matrices = _mapped(a, permuted(b, groups, p, chosen), groups, maps == "linear") if maps else {}
        made = permuted(b, groups, p, chosen, matrices)
        if x is not None:
            check_same(b, made, x, groups.outputs)
    return (made, Matched(p, values, groups, chosen, matrices, _shapes(a, groups))) if details else made


# ---------- by weights


def _by_weights(
    a: nn.Module, b: nn.Module, symmetry: Symmetry, restarts: int, seed: int
) -> tuple[dict[str, Tensor], Tensor, dict[str, Tensor]]:
    """Permutations, the values of all restarts, and signs."""
    u = _weights(a)
    v = {name: value.to(u[name]) for name, value in _weights(b).items()}
    own = restricted(symmetry, u)
    if not own.groups:
        return {}, torch.zeros(restarts, dtype=torch.float64), {}
    start = _as_copies(u, v, own)
    found = weight_matching(u, v, own, restarts - 1, seed, start, signs=True, in_order=True)
    p, signs = ({g: one[0] for g, one in of.items()} for of in (found.permutations, found.signs))
    return p, found.values[:, 0], signs


def _as_copies(u: dict[str, Tensor], v: dict[str, Tensor], symmetry: Symmetry) -> dict[str, Tensor]:
    """Permutations, one group after another, by the sizes of each unit's weights, if these make v nearly u.

    Weights stand as they are once all other groups that move them are known; where these do not suffice, others sorted.
    """
    every: dict[str, list[tuple[str, Axis]]] = {}
    for g, places in symmetry.groups.items():
        for place in places:
            every.setdefault(place.name, []).append((g, place))
    p, left, near, limit = dict[str, Tensor](), set(every), 0.0, sum(_square(u[name]) for name in every) / 10

    def moved(name: str) -> Tensor:
        return reorder(v[name], [(g, place) for g, place in every[name] if g in p], p)

    for g, places in symmetry.groups.items():
        m = symmetry.sizes[g]
        settled = [len({(h, q.axis) for h, q in every[at.name] if h not in p}) == 1 for at in places]
        features = [_sizes((u[at.name], moved(at.name)), at, m) for at in itertools.compress(places, settled)]
        if not _tell([A for A, _ in features]):
            others = itertools.compress(places, [not one for one in settled])
            features += [_sizes((u[at.name], moved(at.name)), at, m, ordered=True) for at in others]
        A, B = (torch.cat(of, dim=1) for of in zip(*features, strict=True))
        p[g] = assign(-torch.cdist(A, B).square())[None]
        known = {name for name in left if all(h in p for h, _ in every[name])}
        left -= known
        near += sum(_square(u[name].abs() - moved(name).abs()) for name in known)
        if near >= limit:
            return {}
    return p if near < sum(_square(u[name].abs() - v[name].abs()) for name in every) else {}


def _sizes(ends: tuple[Tensor, Tensor], place: Axis, m: int, ordered: bool = False) -> tuple[Tensor, Tensor]:
    """Sizes of some weights of each unit of both ends, (m, n): FEATURES of them, or half as many and more, or all."""
    every = [units_of(end, place, m).movedim(place.axis + 2, 1).flatten(2)[0].abs() for end in ends]
    A, B = (one.sort(dim=1)[0] if ordered else one for one in every)
    step = max(1, -(-A.shape[1] // FEATURES))
    return A[:, ::step].double(), B[:, ::step].double()


def _tell(sizes: list[Tensor]) -> bool:
    """True if sizes (m, n) are many and no two units have the same."""
    units = torch.cat(sizes, dim=1) if sizes else torch.zeros(0, 0)
    return units.shape[1] >= FEATURES / 2 and len(torch.unique(units, dim=0)) == len(units)


def _square(value: Tensor) -> float:
    return value.norm().item() ** 2


def _weights(model: nn.Module) -> dict[str, Tensor]:
    """Parameters name → (1, …), complex numbers as pairs of real ones."""
    parameters = model.named_parameters()
    return {n: (torch.view_as_real(p) if p.is_complex() else p).detach()[None] for n, p in parameters}


# ---------- matrices


def _mapped(a: nn.Module, b: nn.Module, symmetry: Symmetry, linear: bool) -> dict[str, Tensor]:
    """The matrices of groups that bring b nearest to a, in sweeps over them."""
    u, v = ({name: value.double() for name, value in _weights(end).items()} for end in (a, b))
    own = restricted(symmetry, u)
    signs, found = exponents(own), dict[str, Tensor]()

    def distance() -> float:
        return sum((u[name] - v[name]).square().sum().item() for name in u)

    left = distance()
    for _ in range(SWEEPS):
        for g, e in signs.items():
            m = own.sizes[g]
            grams = {
                sign: [torch.zeros(m, m, dtype=torch.float64)] * 2 for sign in (1, -1)
            }  # Σ AᵀB and Σ BᵀB, units as columns
            for place, sign in zip(own.groups[g], e, strict=True):
                both = (units_of(end[place.name], place, m).movedim(place.axis + 2, -1) for end in (u, v))
                A, B = (one.flatten(0, -2) for one in both)
                grams[sign] = [grams[sign][0] + A.mT @ B, grams[sign][1] + B.mT @ B]
            (C, G), (D, H) = grams[1], grams[-1]
            U, _, V = torch.linalg.svd(C + D)
            M = U @ V
            M = _nearest(M, C, G, D, H) if linear and own.kinds[g].linear else M
            v = acted(v, own, [g], by_matrices({g: M}, signs))
            found[g] = M @ found[g] if g in found else M
        left, before = distance(), left
        if before - left <= 1e-9 * before:
            break
    return found


def _nearest(M: Tensor, C: Tensor, G: Tensor, D: Tensor, H: Tensor) -> Tensor:
    """A minimum over M, from a first one, of ‖A − M B‖² + ‖A' − M^{-T} B'‖² by A Bᵀ, B Bᵀ, A' B'ᵀ and B' B'ᵀ."""
    M = M.clone().requires_grad_()
    search = torch.optim.LBFGS(
        [M], max_iter=200, tolerance_grad=1e-10, tolerance_change=1e-14, line_search_fn="strong_wolfe"
    )

    def value() -> Tensor:
        search.zero_grad()
        N = torch.linalg.inv(M).mT
        total = (M @ G * M - 2 * M * C + N @ H * N - 2 * N * D).sum()
        total.backward()
        return total

    with torch.enable_grad():
        search.step(value)
    return M.detach()


# ---------- by a loss halfway


def _by_loss(
    a: nn.Module, b: nn.Module, symmetry: Symmetry, by: str, loss: Any, data: Any, steps: int, seed: int
) -> tuple[dict[str, Tensor], Tensor]:
    """Permutations and the losses halfway of all that were seen."""
    work = copied(a)
    if min(torch.finfo(value.dtype).bits for value in work.parameters() if value.is_floating_point()) < 32:
        work = work.float()
    names = Ends(a, b).v
    numbers = {n: value for n, value in tensors(work).items() if value.is_floating_point() and n in names}
    u, v = ({name: tensors(end)[name].to(value)[None] for name, value in numbers.items()} for end in (a, b))
    buffers = dict(work.named_buffers())
    parts, combined = _endless(work, data), Combined(loss, (a, b))
    for k, (x, y) in enumerate(batches(work, data)):
        x, y = fitting(work, x), fitting(work, y, targets=True)
        if k == 0:
            check_followed(work, x)
        combined.value(combined.outputs(work, x), y, length(x, y), test=(work, x))
    combined.shares()

    def half_way(params: Mapping[str, Tensor]) -> Tensor:
        """The loss of one network: of the next batch where a gradient is taken, else of all data."""
        values = {name: value[0].detach() if name in buffers else value[0] for name, value in params.items()}

        def of(x: Any, y: Any) -> tuple[Tensor, float]:
            x, y = fitting(work, x), fitting(work, y, targets=True)
            return combined.weighed(called(work, x, values), y, length(x, y))

        if torch.is_grad_enabled():
            return next(value for value, weight in (of(*one) for one in parts) if weight > 0)[None]
        found = [(value, weight) for value, weight in (of(x, y) for x, y in batches(work, data)) if weight > 0]
        total = sum(weight for _, weight in found)
        return torch.stack([value * (weight / total) for value, weight in found]).sum()[None]

    search: Callable[..., Best] = straight_through if by == "straight-through" else sinkhorn_rebasin
    with torch.enable_grad():
        best = search(u, v, symmetry, half_way, steps=steps, seed=seed)
    return {g: p[0] for g, p in best.permutations.items()}, best.losses[:, 0]


def _endless(model: nn.Module, data: Any) -> Iterator[tuple[Any, Any]]:
    """Batches of data, repeated endlessly."""
    while True:
        yield from batches(model, data)


# ---------- by activations


#: The units correlated: a group, or all groups of a kind inside the units of another, their units one after the other.
_Key = tuple[str, ...]
#: Parameter and axis → the keys that have units there, with a place for each of their groups.
_Sites = dict[tuple[str, int], list[tuple[_Key, tuple[Axis, ...]]]]


def _by_activations(
    a: nn.Module, b: nn.Module, symmetry: Symmetry, data: Callable[[], Iterable], restarts: int, seed: int
) -> tuple[dict[str, Tensor], dict[str, float], dict[str, Tensor]]:
    """Permutations, the mean correlation of matched units of each group that was recorded, and signs.

    Where the samples are units of other groups, as channels are for the layers of a mixer that go over tokens, these
    are matched before.
    """
    groups, sizes = dict(symmetry.groups), dict(symmetry.sizes)
    outer = [g for g in symmetry.groups if g not in symmetry.within]
    kinds = {g: inner_kinds(symmetry, g) for g in outer}
    crossed = _factors(symmetry, outer)
    products: dict[_Key, dict[tuple[int, int], _Key]] = {}
    for of in crossed:
        if len(of) == 1 or not any(kinds[g] for g in of):  # else by weights
            products[of] = _products([(g,) for g in of] if len(of) > 1 else kinds[of[0]], groups, sizes)
    keys = {(g,) for g in outer} | {one for of in kinds.values() for one in of}
    keys |= {one for of in products.values() for one in of.values()}
    found, places, later = _recorded(copied(a), copied(b), groups, sizes, sorted(keys), data(), symmetry)
    p: dict[str, Tensor] = {}
    signs: dict[str, Tensor] = {}
    values: dict[str, float] = {}  # group → mean correlation
    for of, joined in sorted(products.items(), key=lambda item: outer.index(item[0][0])):
        inside = kinds[of[0]] if len(of) == 1 else [(g,) for g in of]
        every = {(k,): one for k, one in enumerate(inside)} | joined
        met = {which: one for which, one in every.items() if one in found}
        if not met and of in found:
            S, (g,) = found[of].correlations()[0], of
            vectors = symmetry.kinds[g].signs if g in symmetry.kinds else ()
            at = [t for t, place in enumerate(symmetry.groups[g]) if place in places[of]]
            turning = [k for k, e in enumerate(vectors) if all(e[t] for t in at)]
            p[g] = assign(S.abs() if turning else S)
            if turning:  # other signs, which activations do not show, stay
                signs[g] = torch.ones(len(vectors), len(S), dtype=torch.int64)
                signs[g][turning[0]] = torch.where(S.gather(1, p[g][:, None])[:, 0] < 0, -1, 1)
                S = S.abs()
            values[g] = matched_sum(S, p[g]).item() / len(S)
        elif met:
            m = len(inside[0])
            tables = {  # (1, m, m, k, k): unit i of a, unit j of b
                which: found[one].correlations().unflatten(1, (m, -1)).unflatten(3, (m, -1)).transpose(2, 3)
                for which, one in met.items()
            }
            number = {kind: n for n, kind in enumerate(sorted({kind for which in met for kind in which}))}
            shown = [np.arange(sizes[inside[kind][0]])[None, None].repeat(m, axis=1) for kind in number]
            plain = {tuple(number[kind] for kind in which): T.numpy(force=True) for which, T in tables.items()}
            best = {kind: torch.from_numpy(one)[0] for kind, one in zip(number, jointly(plain, shown), strict=True)}
            C = torch.zeros(m, m, dtype=torch.float64)
            for which, T in tables.items():
                q = torch.from_numpy(combined([best[kind].numpy() for kind in which]))
                C += matched_sum(T[0].cpu(), q)
            order = assign(C)
            for kind, q in best.items():
                p |= {one: q[i, order[i]] for i, one in enumerate(inside[kind])}
            if len(of) == 1:
                p[of[0]] = order
            values[of[0]] = matched_sum(C, order).item() / sum(T.shape[1] * T.shape[3] for T in tables.values())
    left = {g for g in symmetry.groups if g not in p}
    if left:
        rest = Symmetry(
            {g: symmetry.groups[g] for g in symmetry.groups if g in left},
            {g: symmetry.sizes[g] for g in left},
            {g: at for g, at in symmetry.within.items() if {g, at[0]} <= left},
        )
        nearer = permuted(b, symmetry, p, signs)
        if p and later:
            others, more, _ = _by_activations(a, nearer, rest, data, restarts, seed)
        else:
            others, more = _by_weights(a, nearer, rest, restarts, seed)[0], {}
        p, values = p | others, values | more
    p = {g: p[g].to(torch.long) for g in symmetry.groups if g in p}
    return p, {g: values[g] for g in p if g in values}, signs


def _product(outer: Axis, m: int, inner: Axis, n: int) -> Axis | None:
    """The place of m n units, if m units in one place are blocks of n in the other."""
    whole = outer._replace(inner=inner.inner)
    blocks = outer.inner == n * inner.inner and inner.outer == outer.outer * m
    return whole if blocks and whole[:3] == inner[:3] and whole.where == inner.where else None


def _products(
    kinds: list[tuple[str, ...]], groups: dict[str, tuple[Axis, ...]], sizes: dict[str, int]
) -> dict[tuple[int, int], _Key]:
    """Pairs of kinds that are factors of an axis → groups of their products, which are added to the groups."""
    found: dict[tuple[int, int], _Key] = {}
    for i, j in itertools.permutations(range(len(kinds)), 2):
        names = tuple(f"{g} × {h}" for g, h in zip(kinds[i], kinds[j], strict=True))
        for name, g, h in zip(names, kinds[i], kinds[j], strict=True):
            both = [_product(one, sizes[g], two, sizes[h]) for one in groups[g] for two in groups[h]]
            if places := tuple(place for place in both if place is not None):
                groups[name], sizes[name], found[i, j] = places, sizes[g] * sizes[h], names
    return found


def _factors(symmetry: Symmetry, names: list[str]) -> list[tuple[str, ...]]:
    """Groups put together if they are factors of an axis."""
    parts: list[tuple[str, ...]] = [(g,) for g in names]
    for g, h in itertools.permutations(names, 2):
        pairs = itertools.product(symmetry.groups[g], symmetry.groups[h])
        if any(_product(one, symmetry.sizes[g], two, symmetry.sizes[h]) for one, two in pairs):
            joined = [part for part in parts if g in part or h in part]
            parts = [part for part in parts if part not in joined] + [tuple(one for part in joined for one in part)]
    return parts


def _recorded(
    a: nn.Module,
    b: nn.Module,
    groups: Mapping[str, tuple[Axis, ...]],
    sizes: Mapping[str, int],
    keys: Iterable[_Key],
    data: Iterable[tuple[Any, Any]],
    symmetry: Symmetry,
) -> tuple[dict[_Key, Moments], dict[_Key, set[Axis]], bool]:
    """Moments of the activations of both modules, of each key that a weight reads, or else makes, and its places.

    Also whether some were left out, whose samples are in another order when the units of the symmetry are.
    """
    sites: _Sites = {}
    used: dict[tuple[_Key, str], set[Axis]] = {}
    for key in keys:
        for places in zip(*(sorted(groups[g]) for g in key), strict=True):
            if not any(place.where for place in places):  # of a stack it is not known which samples are whose
                sites.setdefault((places[0].name, places[0].axis), []).append((key, places))
    found: dict[_Key, list[Moments]] = {}  # a place each
    reads: set[_Key] | None = None
    late: set[tuple[_Key, str]] = set()  # those whose samples are in another order
    of_samples: list[bool] = []
    cut: bool | None = None
    for given, _ in progress(data, "batch"):
        n, size = length(given), AT_ONCE
        if all(one.is_floating_point() for one in tensors_of(given)):
            size = max(size, NUMBERS // max(1, sum(one[:1].numel() for one in tensors_of(given))))
        if cut is None and n > size:
            cut = is_apart(a, fitting(a, given), size)
        for x in [part(given, at, min(size, n - at)) for at in range(0, n, size)] if cut else [given]:
            (one, picks), (two, others) = (_record(end, sizes, sites, fitting(end, x), used) for end in (a, b))
            if reads is None:
                orders = {g: p[0] for g, p in cycles(symmetry, torch_generator(0, "order of samples")).items()}
                other, moved = _record(copied(permuted(a, symmetry, orders)), sizes, sites, fitting(a, x), {})
                ways = ((key, way, zs) for key, of in one.items() for way, zs in of.items())
                late = {(key, way) for key, way, zs in ways if not _in_one_order(zs, other[key].get(way, []))}
                of_samples = [p.equal(q) for p, q in zip(picks, moved, strict=False)]  # the others are units
                reads = {key for key, of in one.items() if "read" in of and (key, "read") not in late}
            unlike = (not p.equal(q.to(p)) for p, q in zip(picks, others, strict=False))
            if len(picks) != len(others) or any(itertools.compress(unlike, of_samples)):
                raise Unmatched(
                    "a and b pick other entries by an index on the same inputs, so that their activations are not of "
                    "the same samples; allowed: by='weights', or inputs on which they pick the same"
                )
            for key in one | two:
                way = "read" if key in reads else "made"
                za, zb = (ends.get(key, {}).get(way, []) for ends in (one, two))
                if (key, way) in late or not (za or zb):
                    continue
                if [len(z) for z in za] != [len(z) for z in zb]:
                    samples = [sum(map(len, z)) for z in (za, zb)]
                    raise Unmatched(
                        f"the units of {key[0]!r} are read {len(za)} times in a and {len(zb)} times in b on the same "
                        f"inputs, {samples[0]} and {samples[1]} samples; allowed: by='weights', or inputs taken alike"
                    )
                new = [moments_of(u[None], v.to(u)[None]) for u, v in zip(za, zb, strict=True)]
                both = zip_longest(found.get(key, []), new)
                found[key] = [(p or q) if p is None or q is None else merged_moments(p, q) for p, q in both]
    whole: dict[_Key, Moments] = {}
    for key, parts in found.items():
        if reads is not None and key not in reads:  # a bias may be added later
            parts = [replace(one, means=torch.zeros_like(one.means)) for one in parts]
        whole[key] = reduce(merged_moments, parts)
    few = {key[0]: moments.n for key, moments in whole.items() if moments.n < 3}  # two correlate by 1 or −1
    if few and len(few) == len(whole):
        raise Unmatched(f"groups with samples {few}; allowed: at least 3 samples")
    whole = {key: moments for key, moments in whole.items() if key[0] not in few}
    return whole, {key: used[key, "read" if key in (reads or ()) else "made"] for key in whole}, bool(late)


def _in_one_order(us: list[Tensor], vs: list[Tensor]) -> bool:
    """True if samples (samples, units) are the same up to the order of units in each."""
    of_units = [[(one.abs() if one.is_complex() else one).sort(dim=1)[0] for one in each] for each in (us, vs)]
    return len(us) == len(vs) and change(*of_units) <= torch.finfo(us[0].dtype).eps ** 0.5


def _record(
    model: nn.Module, sizes: Mapping[str, int], sites: _Sites, x: Any, used: dict[tuple[_Key, str], set[Axis]]
) -> tuple[dict[_Key, dict[str, list[Tensor]]], list[Tensor]]:
    """Key → way → the activations (samples, units) of each place, in the order of the operations; indices of picks."""
    found: dict[_Key, dict[str, list[Tensor]]] = {}
    seen: dict[tuple, Tensor] = {}  # operands, kept alive: several weights may read the same one
    own = {storage(value) for value in tensors(model).values()}

    def record(use: Use) -> None:
        z, dim, way = use.tensor, use.dim, "read" if use.reads else "made"
        if storage(z) in own:
            return
        for key, places in sites.get((use.name, use.axis), ()):
            lengths = [place.outer * sizes[g] * place.inner for g, place in zip(key, places, strict=True)]
            first = [place.offset - use.start for place in places]
            if min(first) < 0 or max(k + n for k, n in zip(first, lengths, strict=True)) > z.shape[dim]:
                continue  # a part of the parameter without these units
            used.setdefault((key, way), set()).update(places)
            same = (way, key, storage(z), z._version, z.storage_offset(), z.numel(), *first)
            if same in seen:
                continue
            seen[same] = z
            rows = []
            for g, place, k, n in zip(key, places, first, lengths, strict=True):
                units = z.narrow(dim, k, n).unflatten(dim, (place.outer, sizes[g], place.inner))
                rows.append(units.movedim(dim + 1, -1).flatten(0, -2))
            found.setdefault(key, {}).setdefault(way, []).append(torch.cat(rows, dim=1).clone())

    with step_by_step(), Contractions(model, record) as seen_by:
        run(model, x)
    return found, seen_by.picks
