"""Freedoms of units in addition to their order: signs, scales, translations, rotations, all invertible matrices.

Candidates come from derivatives and from the operations; what counts is the proof: a module in double precision whose
units are all moved at random must give the same outputs, with its own parameters and with others, drawn at random,
since units that are dead in one network are free in many ways.

If outputs f stay when place t of unit i is multiplied by c_i^(e_t), for all c_i > 0, then for each unit (Euler)

    Σ_t e_t ⟨θ_ti, ∂(u·f)/∂θ_ti⟩ = 0    for every cotangent u,

linear equations for the exponents e; for translations ⟨1, ∂(u·f)/∂b_ti⟩ stands there. Where all e_t are ±1, matrices
may take the place of the factors, inverse and transposed where e_t is −1; where all units change sign together,
rotations. Signs are found by :mod:`lmc_helpers.modules._signs`.
"""

import inspect
import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from lmc_helpers.modules._module import called, outputs_of, step_by_step, untouched
from lmc_helpers.modules._plain import Call, remembered
from lmc_helpers.modules._signs import candidates, reduced
from lmc_helpers.modules._trace import Traced
from lmc_helpers.networks.permutations import Act, Kinds, acted, apart_from_others, by_matrices, change, units_of
from lmc_helpers.seeds import torch_generator

Vectors = dict[str, list[tuple[Any, ...]]]  # group → vectors over its places
Point = tuple[Any, dict[str, Tensor], list[Tensor]]  # a call, parameters (1, …) and outputs
MOST = 16  # cotangents
POINTS = 4  # sets of parameters, at least
DENOMINATOR = 12  # of exponents, at most


class Probe(Protocol):
    """A module with noise on its parameters, calls of it, and their outputs."""

    model: nn.Module
    chosen: Callable[[Any], Any]
    calls: list[Any]
    followed: list[Call]
    values: dict[str, Tensor]

    def run(self, x: Any, values: Mapping[str, Tensor]) -> list[Tensor]:
        """Outputs of a call by some values."""


def kinds_of(probe: Probe, traced: Traced, only_signs: bool) -> dict[str, Kinds]:
    """Group → what was found and proven of it."""
    symmetry, generator = traced.symmetry, torch_generator(0, "kinds of axes")
    groups = apart_from_others(symmetry) if only_signs else set(symmetry.groups)
    points = cache(lambda: _points(probe, 2 if only_signs else POINTS, generator))
    with untouched(seed=0):
        sets = candidates(probe.model, probe.followed, probe.chosen, traced, {traced.atoms[g][0] for g in groups})

    def uniform(m: int, low: float, high: float) -> Tensor:
        return low + (high - low) * torch.rand(m, generator=generator, dtype=torch.float64)

    def sign(m: int) -> Tensor:
        """−1 for an odd number of units: products of these in other orders are all signs."""
        n = 1 + 2 * int(torch.randint(m // 2, (), generator=generator))
        return torch.ones(m, dtype=torch.float64).index_fill(0, torch.randperm(m, generator=generator)[:n], -1)

    def matrix(m: int) -> Tensor:
        return torch.linalg.qr(torch.randn(m, m, generator=generator, dtype=torch.float64))[0]

    def proven(found: Vectors, act: Callable[[Vectors], Act]) -> Vectors:
        """The vectors that keep the outputs, alone and with all others."""

        def holds(some: Vectors) -> bool:
            at, by = points(), act(some)
            changes = (change(probe.run(x, acted(v, symmetry, some, by)), f) for x, v, f in at)
            return all(one <= traced.precision**0.5 for one in changes)

        found = {g: vectors for g, vectors in found.items() if vectors}
        if not found or holds(found):
            return found
        kept = {g: [one for one in vectors if holds({g: [one]})] for g, vectors in found.items()}
        for g, vectors in found.items():  # those of places without derivatives, before a sign for example, all together
            if sum(one not in kept[g] for one in vectors) > 1:
                whole = tuple(map(sum, zip(*(one for one in vectors if one not in kept[g]), strict=True)))
                kept[g] += [whole] if max(whole) <= 1 and holds({g: [whole]}) else []
        kept = {g: vectors for g, vectors in kept.items() if vectors}
        return kept if kept and holds(kept) else {}

    def factors(draw: Callable[[int], Tensor]) -> Callable[[Vectors], Act]:
        def of(some: Vectors) -> Act:
            c = {g: torch.stack([draw(symmetry.sizes[g]) for _ in vectors]) for g, vectors in some.items()}
            e = {g: torch.tensor(vectors, dtype=torch.float64) for g, vectors in some.items()}
            return lambda g, t, units: units * (c[g] ** e[g][:, t, None]).prod(dim=0).to(units)

        return of

    def shifts(some: Vectors) -> Act:
        c = {g: torch.stack([uniform(symmetry.sizes[g], -3, 3) for _ in vectors]) for g, vectors in some.items()}
        e = {g: torch.tensor(vectors, dtype=torch.float64) for g, vectors in some.items()}
        return lambda g, t, units: units + (c[g] * e[g][:, t, None]).sum(dim=0).to(units)

    def matrices(stretched: bool) -> Callable[[Vectors], Act]:
        def of(some: Vectors) -> Act:
            M = {g: matrix(symmetry.sizes[g]) for g in some}
            if stretched:
                M = {g: one * uniform(len(one), 0.5, 2) @ matrix(len(one)) for g, one in M.items()}
            return by_matrices(M, {g: vectors[0] for g, vectors in some.items()})

        return of

    scales, translations = ({}, {}) if only_signs else _infinitesimal(probe, traced, points(), generator)
    scales = proven(scales, factors(lambda m: 16 ** uniform(m, -1, 1)))
    translations = proven(translations, shifts)
    signs: Vectors = {}
    for g in filter(groups.__contains__, symmetry.groups):
        atom, numbers = traced.atoms[g]
        idle = [e for e in scales.get(g, ()) if sum(map(bool, e)) == 1]  # a place that no output depends on
        every = [[one >> k & 1 for k in numbers] for one in sets[atom]] + [list(map(bool, e)) for e in idle]
        vectors = reduced(sum(1 << t for t, e in enumerate(one) if e) for one in every)
        signs[g] = [tuple(one >> t & 1 for t in range(len(numbers))) for one in vectors]
    signs = proven(signs, factors(sign))
    if only_signs:
        return {g: Kinds(tuple(signs.get(g, ()))) for g in symmetry.groups if g in groups}
    whole: Vectors = {
        g: [(1,) * len(of[0])] for g, of in signs.items() if all(sum(e) % 2 for e in zip(*of, strict=True))
    }
    linear = proven({g: _of_ones(scales.get(g, ())) for g in whole}, matrices(True))
    rotations = proven({g: one for g, one in whole.items() if g not in linear}, matrices(False))

    def kinds(g: str) -> Kinds:
        s, e, t = (tuple(of.get(g, ())) for of in (signs, scales, translations))
        return Kinds(s, e, t, linear[g][0] if g in linear else (), g in linear or g in rotations)

    return {g: kinds(g) for g in symmetry.groups}


def _of_ones(vectors: Sequence[tuple[float, ...]]) -> list[tuple[int, ...]]:
    """A sum of vectors, of a few, the entries of which are all 1 or −1, if there is one."""
    for signs in itertools.product((1, 0, -1), repeat=min(len(vectors), 4)):
        total = [sum(s * e for s, e in zip(signs, each, strict=False)) for each in zip(*vectors, strict=True)]
        if total and all(abs(e) == 1 for e in total):
            return [tuple(map(int, total))]
    return []


def _points(probe: Probe, least: int, generator: torch.Generator) -> list[Point]:
    """Calls, parameters and finite outputs: the first with the module's own parameters, the others with random ones."""
    found, own = [], {name for name, _ in probe.model.named_parameters()}
    for k in range(max(least, len(probe.calls))):
        values = dict(probe.values)
        for name, value in values.items() if k else ():
            if name in own and (value.is_floating_point() or value.is_complex()):
                noise = torch.randn(value.shape, generator=generator, dtype=torch.float32).to(value)  # the faster one
                positive = not value.is_complex() and bool((value > 0).all())
                size = value.abs().square().mean().sqrt().clamp_min(0.1)
                values[name] = value * (noise / 2).exp() if positive else noise * size
        x = probe.calls[k % len(probe.calls)]
        outputs = probe.run(x, values)
        if k == 0 or not any(one.isnan().any() for one in outputs):
            found.append((x, values, outputs))
    return found


def _infinitesimal(
    probe: Probe, traced: Traced, points: Sequence[Point], generator: torch.Generator
) -> tuple[Vectors, Vectors]:
    """Group → exponents of scales, and translations, that the derivatives of the outputs allow."""
    symmetry = traced.symmetry
    #: group, number of a place, and what is varied → a row for each cotangent and unit
    rows: dict[tuple[str, int, int], list[Tensor]] = {}
    wanted = [2 * len(places) / (len(points) * symmetry.sizes[g]) for g, places in symmetry.groups.items()]
    n = min(MOST, math.ceil(max(wanted, default=1)))
    names = {place.name for places in symmetry.groups.values() for place in places}
    try:
        every = (zip(itertools.repeat(v), _derivatives(probe, x, v, names, n, generator)) for x, v, _ in points)
        for values, slopes in itertools.chain(*every):
            for g, places in symmetry.groups.items():
                for t, place in enumerate(places):
                    both = [units_of(one[place.name], place, symmetry.sizes[g]) for one in (values, slopes)]
                    value, slope = (one.movedim(place.axis + 2, -1).flatten(0, -2) for one in both)
                    rows.setdefault((g, t, 0), []).append((value.conj() * slope).real.sum(dim=0))
                    if values[place.name].ndim == 2:
                        rows.setdefault((g, t, 1), []).append(slope.real.sum(dim=0))
    except RuntimeError:  # an operation without derivatives
        rows = {}

    def kernel(g: str, kind: int) -> list[tuple[Any, ...]]:
        every = range(len(symmetry.groups[g]))
        at = [t for t in every if (g, t, kind) in rows]
        if not at:
            return []
        A = torch.stack([torch.cat(rows[g, t, kind]) for t in at], dim=1).double()
        found = [dict(zip(at, one, strict=True)) for one in rational_kernel(A, traced.precision**0.6)]
        return [tuple(one.get(t, 0.0) for t in every) for one in found]

    scales, translations = ({g: kernel(g, kind) for g in symmetry.groups} for kind in (0, 1))
    return scales, translations


class _Differentiable(TorchFunctionMode):
    """Batch norms in evaluation mode by their formula, with derivatives by their statistics."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is not functional.batch_norm:
            return func(*args, **(kwargs or {}))
        a = inspect.signature(func).bind(*args, **(kwargs or {}))
        a.apply_defaults()
        x, mean, variance, weight, bias, training, _, eps = a.args
        if training:
            return func(*args, **(kwargs or {}))
        ones = [1] * (x.ndim - 2)
        x = (x - mean.view(-1, *ones)) / (variance.view(-1, *ones) + eps).sqrt()
        x = x if weight is None else x * weight.view(-1, *ones)
        return x if bias is None else x + bias.view(-1, *ones)


def _derivatives(
    probe: Probe, x: Any, at: Mapping[str, Tensor], names: Collection[str], n: int, generator: torch.Generator
) -> Iterator[dict[str, Tensor]]:
    """The derivatives of u·f by values (1, …), for n random cotangents u."""
    values = {name: at[name].detach().clone().requires_grad_() for name in names}
    back = remembered(probe.model)
    try:
        with untouched(seed=0), step_by_step(), torch.enable_grad(), _Differentiable():
            given = {**{name: one[0] for name, one in at.items()}, **{k: v[0] for k, v in values.items()}}
            outputs = outputs_of(probe.chosen(called(probe.model, x, given)))
            outputs = [one[one.isfinite()] for one in outputs if one.requires_grad]
            for _ in range(n if outputs else 0):
                of = [(one * torch.randn(one.shape, generator=generator).to(one)).real.sum() for one in outputs]
                total = torch.stack(of).sum()
                slopes = torch.autograd.grad(total, list(values.values()), retain_graph=True, allow_unused=True)
                both = zip(values.items(), slopes, strict=True)
                yield {name: torch.zeros_like(value) if one is None else one for (name, value), one in both}
    finally:
        back()


def rational_kernel(A: Tensor, rounding: float) -> list[tuple[float, ...]]:
    """A basis (…, k) of the vectors e with A e = 0, (n, k), as small fractions in reduced form."""
    norms = A.norm(dim=0)
    zero = norms <= rounding * norms.max()
    scaled = torch.where(zero, 0, A) / torch.where(zero, 1, norms)
    _, s, V = torch.linalg.svd(scaled, full_matrices=True)
    rank = int((s > rounding * s.max().clamp_min(1e-300)).sum())
    kernel, found, at = V[rank:] / torch.where(zero, 1, norms), [], 0
    for k in range(A.shape[1]):
        rest = kernel[at:] / kernel[at:].norm(dim=1, keepdim=True)
        if at == len(kernel) or rest[:, k].abs().max() < 1e-6:
            continue
        j = at + int(rest[:, k].abs().argmax())
        kernel[[at, j]] = kernel[[j, at]]
        kernel[at] /= kernel[at, k].clone()
        others = torch.arange(len(kernel)) != at
        kernel[others] -= kernel[others, k, None] * kernel[at]
        at += 1
    for row in kernel.tolist():
        near = [Fraction(e).limit_denominator(DENOMINATOR) for e in row]
        if all(abs(float(p) - e) < 1e-5 for p, e in zip(near, row, strict=True)):
            found.append(tuple(map(float, near)))
    return found
