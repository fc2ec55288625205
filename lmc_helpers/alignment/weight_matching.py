"""Weight matching (Ainsworth, Hayase & Srinivasa 2023, Algorithm 1, PermutationCoordinateDescent).

The permutations π of all groups shall bring b as near to a as possible,

    min_π ‖a − π b‖²,   equivalently   max_π ⟨a, π b⟩,

the sum of bilinear assignment problems, one for each weight that two groups share; it is NP-hard for two hidden layers
and more. With the other groups held fixed, the best permutation of one group is a linear assignment,

    max_p Σ_i C_ip(i),      C = Σ_axes A_(axis) B'_(axis)ᵀ,

where A_(axis) has the group's units as rows, and B' is b with the other groups permuted. Algorithm 1 solves it for one
group after another in random order until nothing is gained. It stops at a local optimum that depends on the order and
on the start, so that restarts are part of the method: the best is taken, and the values of all are returned.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lmc_helpers._typing import Positive, Seed, Tensors, checked
from lmc_helpers.alignment.assignment import _assign, _matched_sum, _start
from lmc_helpers.networks.permutations import Permutations, Symmetry, _permuted, _units, random_permutations
from lmc_helpers.seeds import torch_generator

__all__ = ["WeightMatching", "weight_matching"]

_SLACK = 1e-12  # relative to ‖a‖ ‖b‖: what is gained beyond rounding


@dataclass(frozen=True, eq=False)
class WeightMatching:
    """What :func:`weight_matching` finds for P pairs.

    Parameters
    ----------
    permutations
        group → p (P, m) of the best restart: a is aligned with b permuted by p.
    values
        (restarts, P), float64: ⟨a, π b⟩ over the permutable parameters at the local optimum of each restart.
    traces
        for each restart (sweeps + 1, P): the value at its start and after each sweep through the groups.
    """

    permutations: dict[str, Tensor]
    values: Tensor
    traces: tuple[Tensor, ...]


def _agreement(a: Tensors, b: Tensors) -> Tensor:
    """The inner products Σ_names ⟨A, B⟩ of the parameters (P, …), (P,); names that b lacks do not count."""
    return torch.stack([(a[name].double() * value.double()).flatten(1).sum(dim=1) for name, value in b.items()]).sum(0)


@checked
def weight_matching(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    restarts: Positive = 1,
    seed: Seed = 0,
    start: Permutations | None = None,
    sweeps: Positive = 100,
) -> WeightMatching:
    """Permute b so that its weights are near those of a: coordinate descent over the groups, with restarts.

    The first restart begins at ``start``, the others at uniform permutations. All pairs of a restart begin at the same
    permutations and take the groups in the same random orders, so that no pair depends on those beside it.

    Parameters
    ----------
    a, b
        name → (P, …), P pairs; products are taken in float64.
    symmetry
        of one network; parameters of no group do not count.
    restarts
        how many descents.
    seed
        of the orders and starts.
    start
        group → (P, m), where the first descent begins; the identity if it is left out.
    sweeps
        most sweeps through all groups.

    Examples
    --------
    One hidden layer is a single assignment, hence exact:

    >>> from lmc_helpers.networks.permutations import Axis, permute
    >>> symmetry = Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 3})
    >>> a = {"W": torch.tensor([[[1.0], [2.0], [3.0]]]), "V": torch.tensor([[[4.0, 5.0, 6.0]]])}
    >>> b = permute(a, symmetry, {"hidden": torch.tensor([[2, 0, 1]])})
    >>> found = weight_matching(a, b, symmetry)
    >>> found.permutations["hidden"].tolist(), found.values.tolist()
    ([[1, 2, 0]], [[91.0]])
    """
    return _matched(a, b, symmetry, restarts, seed, _start(a, b, symmetry, start), sweeps)


def _matched(
    a: Tensors, b: Tensors, symmetry: Symmetry, restarts: int, seed: int, start: dict[str, Tensor], sweeps: int
) -> WeightMatching:
    P = len(next(iter(a.values())))
    names = {axis.name for axes in symmetry.groups.values() for axis in axes}
    a, b = ({name: end[name].detach().double() for name in end if name in names} for end in (a, b))
    results = []
    for restart in range(restarts):
        generator = torch_generator(seed, f"weight matching, restart {restart}")
        if restart > 0:
            p = {g: one.repeat(P, 1) for g, one in random_permutations(symmetry, 1, generator).items()}
        else:
            p = start
        results.append(_descend(a, b, symmetry, p, generator, sweeps))
    values = torch.stack([trace[-1] for _, trace in results])  # (restarts, P)
    best = values.argmax(dim=0)  # the first of equals
    each = torch.arange(P, device=best.device)
    permutations = {g: torch.stack([p[g] for p, _ in results])[best, each] for g in symmetry.groups}
    return WeightMatching(permutations, values, tuple(trace for _, trace in results))


def _descend(
    a: Tensors, b: Tensors, symmetry: Symmetry, p: Permutations, generator: torch.Generator, sweeps: int
) -> tuple[dict[str, Tensor], Tensor]:
    """Coordinate descent from p: the permutations and the values (sweeps + 1, P) on the way."""
    value = _agreement(a, _permuted(b, symmetry.groups, p))  # (P,)
    least = _SLACK * (_agreement(a, a) * _agreement(b, b)).sqrt()  # (P,), gains below are rounding
    p = {g: one.to(value.device, copy=True) for g, one in p.items()}
    trace, groups, near = [value.clone()], list(symmetry.groups), _neighbours(symmetry)
    may_gain = torch.ones(len(value), len(groups), dtype=torch.bool, device=value.device)  # pair and group
    for _ in range(sweeps):
        for k in torch.randperm(len(groups), generator=generator).tolist():
            pairs = may_gain[:, k].nonzero()[:, 0]
            if len(pairs):
                found, gain = _coordinate_step(a, b, symmetry, groups[k], p, pairs)
                better = gain > least[pairs]
                may_gain[pairs, k] = False
                pairs, found, gain = pairs[better], found[better], gain[better]
                p[groups[k]][pairs] = found
                value[pairs] += gain
                may_gain[pairs[:, None], near[k].to(pairs.device)] = True
        trace.append(value.clone())
        if not may_gain.any():
            break
    return p, torch.stack(trace)


def _neighbours(symmetry: Symmetry) -> list[Tensor]:
    """For each group the indices of those whose best permutation depends on its own: they share a parameter."""
    names = [[axis.name for axis in axes] for axes in symmetry.groups.values()]
    near = []
    for k, own in enumerate(names):
        others = [j for j, other in enumerate(names) if j != k and {*own} & {*other}]
        near.append(torch.tensor(others + [k] * (len({*own}) < len(own)), dtype=torch.long))  # a weight to itself
    return near


def _coordinate_step(
    a: Tensors, b: Tensors, symmetry: Symmetry, group: str, p: Permutations, pairs: Tensor
) -> tuple[Tensor, Tensor]:
    """The assignment of one group with the others held fixed, and what each of some pairs gains by it."""
    if len(pairs) < len(p[group]):
        names = {axis.name for axis in symmetry.groups[group]}
        a, b = ({name: end[name][pairs] for name in names} for end in (a, b))
        p = {g: one[pairs] for g, one in p.items()}
    axes = symmetry.groups[group]
    C = torch.zeros(())
    for place in axes:
        name, d = place.name, place.axis + 1
        others = {
            g: tuple(other for other in of if other.name == name and other != place)
            for g, of in symmetry.groups.items()
        }
        moved = _permuted({name: b[name]}, others, p)[name]
        A, B = (
            _units(end, place, p[group].shape[-1]).movedim(d + 1, 1).flatten(2) for end in (a[name], moved)
        )  # (P, m, rest)
        C = C + A @ B.mT  # (P, m, m)
    found = _assign(C)
    if len({axis.name for axis in axes}) == len(axes):
        return found, _matched_sum(C, found) - _matched_sum(C, p[group])
    # a weight from the group to itself is quadratic in p: the assignment was of its linearisation
    part = {axis.name: b[axis.name] for axis in axes}
    inside = {g: tuple(axis for axis in of if axis.name in part) for g, of in symmetry.groups.items()}
    new, old = (_permuted(part, inside, {**p, group: one}) for one in (found, p[group]))
    return found, _agreement(a, new) - _agreement(a, old)
