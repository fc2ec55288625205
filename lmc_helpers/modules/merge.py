"""Many modules in one order, and their mean (Ainsworth, Hayase & Srinivasa 2023, Algorithm 3); two, made wider.

The permutations π_k of K modules bring all pairs together at once,

    max_π Σ_{k<l} ⟨π_k θ_k, π_l θ_l⟩,

by coordinate ascent: one module after another, in random order, is matched with the sum of the others as they stand.
π_k⁻¹ π_l takes module l to module k, hence the permutations of pairs compose along every cycle, as those of C²M³ do
(Crisostomi et al. 2024); matched pair by pair they need not.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn

from lmc_helpers._typing import Positive, Probability, Seed, checked
from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.modules._data import batches, check_apart, kept, unlabelled
from lmc_helpers.modules._ends import Ends, check_same, leads_to_ensemble
from lmc_helpers.modules._layers import readers
from lmc_helpers.modules._module import check_pair, copied, fitting, tensors, untouched
from lmc_helpers.modules.line import halfway
from lmc_helpers.modules.match import _weights
from lmc_helpers.modules.repair import _set_right
from lmc_helpers.modules.symmetry import of_architecture, permuted
from lmc_helpers.modules.symmetry import symmetry as traced
from lmc_helpers.networks.permutations import Axis, Symmetry, identity, permute, restricted, units_of
from lmc_helpers.progress import progress
from lmc_helpers.seeds import torch_generator

__all__ = ["Merged", "merge", "pad"]

_SLACK = 1e-12  # relative: what is gained beyond rounding


@dataclass(frozen=True, eq=False)
class Merged:
    """Result of merging K modules."""

    modules: list[nn.Module]  # copies of all in the common order, which is that of the first
    permutations: list[dict[str, Tensor]]  # of each module: group → p (m,)
    values: Tensor  # Σ_{k<l} ⟨π_k θ_k, π_l θ_l⟩ as they are, by the first one's order, and after each sweep
    symmetry: Symmetry  # the groups
    signs: list[dict[str, Tensor]]  # of each module: group → (r, m), as of Matched


@overload
def merge(
    modules: Sequence[nn.Module],
    data: Any,
    restarts: int = 10,
    seed: int = 0,
    sweeps: int = 100,
    statistics: Literal["repaired", "averaged"] = "repaired",
    symmetry: Symmetry | None = None,
    details: Literal[False] = False,
    signs: bool = True,
) -> nn.Module: ...
@overload
def merge(
    modules: Sequence[nn.Module],
    data: Any,
    restarts: int = 10,
    seed: int = 0,
    sweeps: int = 100,
    statistics: Literal["repaired", "averaged"] = "repaired",
    symmetry: Symmetry | None = None,
    *,
    details: Literal[True],
    signs: bool = True,
) -> tuple[nn.Module, Merged]: ...
@checked
def merge(
    modules: Sequence[nn.Module],
    data: Any,
    restarts: Positive = 10,
    seed: Seed = 0,
    sweeps: Positive = 100,
    statistics: Literal["repaired", "averaged"] = "repaired",
    symmetry: Symmetry | None = None,
    details: bool = False,
    signs: bool = True,
) -> nn.Module | tuple[nn.Module, Merged]:
    """One module from many of one architecture: all put in one order by their weights, averaged, and repaired.

    Parameters
    ----------
    modules
        two or more; they stay as they are.
    data
        as in :func:`~lmc_helpers.modules.repair.repair`; its inputs find the groups, its targets are not used.
    restarts
        of matching with the first, as by :func:`~lmc_helpers.modules.match.match`, from where all are matched.
    sweeps
        most sweeps through all modules.
    statistics
        ``"repaired"``: means and deviations of hidden units are set to the means of those of the modules
        (:func:`~lmc_helpers.modules.repair.repair`).
    details
        whether to return how they were merged, :class:`Merged`, beside the module.
    signs
        whether units are taken times −1, too, where that keeps the outputs, as by
        :func:`~lmc_helpers.modules.match.match`.

    Examples
    --------
    >>> net, x = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)).double(), torch.randn(20, 4).double()
    >>> groups = traced(net, x)
    >>> orders = ([0, 1, 2, 3, 4], [2, 0, 3, 1, 4], [4, 3, 2, 1, 0])
    >>> copies = [permuted(net, groups, {"0": torch.tensor(p)}) for p in orders]
    >>> one, how = merge(copies, (x, x), details=True)
    >>> [p["0"].tolist() for p in how.permutations], bool(torch.allclose(one(x), net(x)))
    ([[0, 1, 2, 3, 4], [1, 3, 0, 2, 4], [4, 3, 2, 1, 0]], True)
    """
    if len(modules) < 2:
        raise ValueError(f"{len(modules)} module(s); allowed: two or more")
    data, first = kept(data), check_pair(modules[0], modules[1])[0]
    models = [first, *(check_pair(first, one)[1] for one in modules[1:])]
    with untouched():
        ends = [Ends(first, one) for one in models[1:]]
        x = next(batches(first, data, 8))[0]
        for each in ends:
            each.check(x)
        groups = symmetry
        if groups is None:
            groups = of_architecture(traced(first, unlabelled(first, x), kinds=signs and "signs"), models)
        if not groups.groups:
            warnings.warn(f"all orders stay as they are: {groups}".replace("\n", "; "), stacklevel=4)
        weights = [_weights(one) for one in models]
        weights = [{name: value.to(weights[0][name]) for name, value in one.items()} for one in weights]
        found, turned, values = _orders(weights, groups, restarts, seed, sweeps, signs)
        moved = [permuted(one, groups, p, s) for one, p, s in zip(models, found, turned, strict=True)]
        for one, made in zip(models, moved, strict=True):
            check_same(one, made, x, groups.outputs)
        mean = _mean(moved, set.intersection(*(set(each.v) for each in ends)))
        if statistics == "repaired":
            check_apart(mean, data)
    if statistics == "repaired":
        _set_right(mean, [*map(copied, moved)], [1 / len(moved)] * len(moved), data)
    return (mean, Merged(moved, found, values, groups, turned)) if details else mean


def _mean(models: Sequence[nn.Module], names: set[str]) -> nn.Module:
    """The module of the mean weights and buffers of these names; integers, and all others, are those of the first."""
    made, each = copied(models[0]), [tensors(one) for one in models]
    for name, slot in [*made.named_parameters(), *made.named_buffers()]:
        if name in names and (slot.is_floating_point() or slot.is_complex()):
            slot.copy_(torch.stack([values[name].to(slot) for values in each]).mean(dim=0))
    return made


def _orders(
    each: list[dict[str, Tensor]], symmetry: Symmetry, restarts: int, seed: int, sweeps: int, signs: bool
) -> tuple[list[dict[str, Tensor]], list[dict[str, Tensor]], Tensor]:
    """Permutations and signs of K networks, name → (1, …) each, and the sums of agreements on the way."""
    own, K = restricted(symmetry, each[0]), len(each)
    p, s = [identity(own, 1) for _ in each], [dict[str, Tensor]() for _ in each]
    if not own.groups:
        return [{} for _ in each], s, torch.zeros(1, dtype=torch.float64)
    moved, names = list(each), {place.name for places in own.groups.values() for place in places}

    def value() -> float:
        pairs = [(k, j) for k in range(K) for j in range(k)]
        return sum(agreement(moved[k], moved[j]).item() for k, j in pairs)

    def better(k: int, rest: dict[str, Tensor], **how: Any) -> None:
        """Take the best order of module k by its agreement with the rest, if it gains."""
        best = weight_matching(rest, each[k], own, seed=seed, signs=signs, **how)
        now = agreement(rest, {name: moved[k][name] for name in names}).item()
        new = best.values.max().item()
        if new - now > _SLACK * abs(now):
            p[k], s[k] = dict(best.permutations), best.signs
            moved[k] = permute(each[k], own, p[k], s[k])

    values = [value()]
    for k in range(1, K):
        better(k, each[0], restarts=restarts - 1, in_order=True)
    values.append(value())
    generator = torch_generator(seed, "merge")
    for _ in progress(range(sweeps if K > 2 else 0), "sweep"):
        for k in (1 + torch.randperm(K - 1, generator=generator)).tolist():  # the first is the frame
            rest = {name: torch.stack([moved[j][name] for j in range(K) if j != k]).sum(dim=0) for name in each[0]}
            better(k, rest, start=p[k], start_signs=s[k])
        values.append(value())
        if values[-1] - values[-2] <= _SLACK * abs(values[-1]):
            break
    p, s = ([{g: one[0] for g, one in of.items()} for of in every] for every in (p, s))
    return p, s, torch.tensor(values, dtype=torch.float64)


@checked
def pad(
    a: nn.Module, b: nn.Module, x: Any, share: Probability | Mapping = 0.5, symmetry: Symmetry | None = None
) -> tuple[nn.Module, nn.Module]:
    """Copies of two matched modules, in evaluation mode, in which some units do not meet.

    Of the pairs of units of each group a share, those with the farthest weights, are *padded*: in the place of one unit
    there are two, in a its own and one with the incoming weights of b's, read by nothing but such copies; in b the
    other way round. Both functions stay, and the line between the copies leads from that between a and b (share 0) to
    λ f_a + (1 − λ) f_b, the ensemble (share 1). Between minima, zero rows do this (Zhan, Li & Wu, section 5).

    Parameters
    ----------
    a, b
        modules of one architecture; b is matched already.
    x
        inputs of a call, by which the groups are found, and the functions compared.
    share
        from 0 to 1, or group → the units to pad.
    symmetry
        the groups to pad; layer norms and heads, which see units together, must not see theirs. Those of the trace if
        it is left out: then share 1 is tried as well.

    Examples
    --------
    >>> nets, x = [nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3)) for _ in range(2)], torch.randn(5, 4)
    >>> wide_a, wide_b = pad(*nets, x, share=0.25)
    >>> wide_b[0].weight.shape, bool(torch.allclose(wide_b(x), nets[1](x), atol=1e-6))
    (torch.Size([10, 4]), True)
    """
    a, b = check_pair(a, b)
    with untouched():
        groups = traced(a, unlabelled(a, x)) if symmetry is None else symmetry
        try:
            reading = readers(a, fitting(a, x))
            made = _padded(a, b, groups, share, reading)
            check_same(a, made[0], x, groups.outputs)
            check_same(b, made[1], x, groups.outputs)
            known = symmetry is not None
            ensemble = known or leads_to_ensemble(a, b, halfway(Ends(*_padded(a, b, groups, 1.0, reading)), 0.5), x)
        except (RuntimeError, ValueError) as error:
            allowed = "groups of units that no norm, head or reshape sees together"
            raise ValueError(f"the module has other outputs, or none, with more units; allowed: {allowed}") from error
    if not ensemble:
        raise ValueError(
            "with all units padded the module halfway is not the ensemble; allowed: units in groups, whose weights "
            "are tied to none that read them, or groups to pad as symmetry"
        )
    return made


def _padded(
    a: nn.Module, b: nn.Module, symmetry: Symmetry, share: Any, reading: set[tuple[str, int]]
) -> tuple[nn.Module, nn.Module]:
    """The two modules with their units, of which some are a's alone, and then those of b that these had met."""
    u, v, made, weights = tensors(a), tensors(b), (copied(a), copied(b)), dict(a.named_parameters())
    places: dict[str, list[tuple[Axis, Tensor, Tensor]]] = {}
    for g, axes in symmetry.groups.items():
        m, far = symmetry.sizes[g], torch.zeros(symmetry.sizes[g], dtype=torch.float64)
        for place in (place for place in axes if place.name in weights):
            off = (u[place.name] - v[place.name].to(u[place.name])).abs().double()[None]
            far = far.to(off) + units_of(off, place, m).movedim(place.axis + 2, 0).flatten(1).square().sum(dim=1)
        alone = torch.as_tensor(share[g]) if isinstance(share, Mapping) else far.topk(round(share * m)).indices
        slots = torch.cat([torch.arange(m, device=far.device), alone.to(far.device)])
        live = torch.ones(2, len(slots), dtype=torch.bool, device=far.device)  # units that count in a, and in b
        live[0, m:], live[1, alone] = False, False
        for place in axes:
            places.setdefault(place.name, []).append((place, slots, live))
    for name, of in places.items():
        A, B = u[name], v[name].to(u[name])
        for place, slots, live in sorted(of, key=lambda one: one[0][:2] not in reading):
            d, split = place.axis, (place.outer, int(slots.max()) + 1, place.inner)
            A, B = (one.unflatten(d, split).index_select(d + 1, slots) for one in (A, B))
            in_a, in_b = (one.view(-1, *[1] * (A.ndim - d - 2)) for one in live)
            A, B = (A * in_a, B * in_b) if place[:2] in reading else (A.where(in_a, B), B.where(in_b, A))
            A, B = A.flatten(d, d + 2), B.flatten(d, d + 2)
        for wide, value in zip(made, (A, B), strict=True):
            getattr(wide.get_submodule(name.rpartition(".")[0]), name.rpartition(".")[2]).data = value
    return made
