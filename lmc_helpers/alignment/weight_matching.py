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

from lmc_helpers import expect
from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.assignment import assign, check_ends, matched_sum
from lmc_helpers.networks.permutations import (
    Axis,
    Permutations,
    Symmetry,
    identity,
    permute,
    random_permutations,
)
from lmc_helpers.seeds import torch_generator

__all__ = ["WeightMatching", "agreement", "weight_matching"]

SLACK = 1e-12  # relative to ‖a‖ ‖b‖: what is gained beyond rounding


@dataclass(frozen=True, eq=False)
class WeightMatching:
    """What :func:`weight_matching` finds for P pairs.

    Parameters
    ----------
    permutations : dict of torch.Tensor
        group → p (P, m) of the best restart: a is aligned with b permuted by p.
    values : torch.Tensor
        (restarts, P), float64: ⟨a, π b⟩ over the permutable parameters at the local optimum of each restart.
    traces : tuple of torch.Tensor
        for each restart (sweeps + 1, P): the value at its start and after each sweep through the groups.
    """

    permutations: dict[str, torch.Tensor]
    values: torch.Tensor
    traces: tuple[torch.Tensor, ...]


def agreement(a: Tensors, b: Tensors) -> torch.Tensor:
    """The inner product of the parameters of each pair, Σ_names ⟨A, B⟩.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …); names that b lacks do not count.

    Returns
    -------
    torch.Tensor
        (P,), float64.

    Examples
    --------
    >>> agreement({"W": torch.tensor([[1.0, 2.0]])}, {"W": torch.tensor([[3.0, 4.0]])}).item()
    11.0
    """
    if not isinstance(a, dict) or not a:
        raise ValueError(f"a = {a!r}; allowed: tensors by their names, one or more")
    expect.tensors(a, "a")
    if not isinstance(b, dict) or not b:
        raise ValueError(f"b = {b!r}; allowed: tensors by their names, one or more")
    expect.tensors(b, "b")
    return torch.stack([(a[name].double() * value.double()).flatten(1).sum(dim=1) for name, value in b.items()]).sum(0)


def weight_matching(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    restarts: int = 1,
    seed: int = 0,
    start: Permutations | None = None,
    sweeps: int = 100,
) -> WeightMatching:
    """Permute b so that its weights are near those of a: coordinate descent over the groups, with restarts.

    The first restart begins at ``start``, the others at uniform permutations. All pairs of a restart begin at the same
    permutations and take the groups in the same random orders, so that no pair depends on those beside it.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …), P pairs; products are taken in float64.
    symmetry : Symmetry
        of one network; parameters of no group do not count.
    restarts : int
        how many descents, at least 1.
    seed : int
        of the orders and starts, in [0, 2³²).
    start : dict of torch.Tensor, optional
        group → (P, m), where the first descent begins; the identity if it is left out.
    sweeps : int
        most sweeps through all groups, at least 1.

    Returns
    -------
    WeightMatching
        the best permutations, and the values of all restarts.

    Examples
    --------
    One hidden layer is a single assignment, hence exact:

    >>> from lmc_helpers.networks.permutations import Axis
    >>> symmetry = Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 3})
    >>> a = {"W": torch.tensor([[[1.0], [2.0], [3.0]]]), "V": torch.tensor([[[4.0, 5.0, 6.0]]])}
    >>> b = permute(a, symmetry, {"hidden": torch.tensor([[2, 0, 1]])})
    >>> found = weight_matching(a, b, symmetry)
    >>> found.permutations["hidden"].tolist(), found.values.tolist()
    ([[1, 2, 0]], [[91.0]])
    """
    if start is not None and not isinstance(start, dict):
        raise ValueError(f"start is {type(start).__name__}; allowed: None, or permutations by their groups")
    expect.tensors(start or {}, "start")
    P = check_ends(a, b, symmetry)
    for name, count in (("restarts", restarts), ("sweeps", sweeps)):
        if type(count) is not int or count < 1:
            raise ValueError(f"{name} = {count!r}; allowed: an integer >= 1")
    names = {axis.name for axes in symmetry.groups.values() for axis in axes}
    a, b = ({name: end[name].detach().double() for name in end if name in names} for end in (a, b))
    results = []
    for restart in range(restarts):
        generator = torch_generator(seed, f"weight matching, restart {restart}")
        if restart > 0:
            p = {g: one.repeat(P, 1) for g, one in random_permutations(symmetry, 1, generator).items()}
        else:
            p = identity(symmetry, P) | dict(start or {})
        results.append(_descend(a, b, symmetry, p, generator, sweeps))
    values = torch.stack([trace[-1] for _, trace in results])  # (restarts, P)
    best = values.argmax(dim=0)  # the first of equals
    each = torch.arange(P, device=best.device)
    permutations = {g: torch.stack([p[g] for p, _ in results])[best, each] for g in symmetry.groups}
    return WeightMatching(permutations, values, tuple(trace for _, trace in results))


def _descend(
    a: Tensors, b: Tensors, symmetry: Symmetry, p: Permutations, generator: torch.Generator, sweeps: int
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Coordinate descent from p: the permutations and the values (sweeps + 1, P) on the way."""
    value = agreement(a, permute(b, symmetry, p))  # (P,)
    least = SLACK * (agreement(a, a) * agreement(b, b)).sqrt()  # (P,), gains below are rounding
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


def _neighbours(symmetry: Symmetry) -> list[torch.Tensor]:
    """For each group the indices of those whose best permutation depends on its own: they share a parameter."""
    names = [[axis.name for axis in axes] for axes in symmetry.groups.values()]
    near = []
    for k, own in enumerate(names):
        others = [j for j, other in enumerate(names) if j != k and {*own} & {*other}]
        near.append(torch.tensor(others + [k] * (len({*own}) < len(own)), dtype=torch.long))  # a weight to itself
    return near


def _coordinate_step(
    a: Tensors, b: Tensors, symmetry: Symmetry, group: str, p: Permutations, pairs: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The assignment of one group with the others held fixed, and what each of some pairs gains by it."""
    if len(pairs) < len(p[group]):
        names = {axis.name for axis in symmetry.groups[group]}
        a, b = ({name: end[name][pairs] for name in names} for end in (a, b))
        p = {g: one[pairs] for g, one in p.items()}
    axes = symmetry.groups[group]
    C = torch.zeros(())
    for name, axis in axes:
        others = {g: tuple(other for other in of if other.name == name) for g, of in symmetry.groups.items()}
        others[group] = tuple(other for other in others[group] if other.axis != axis)
        moved = _permuted({name: b[name]}, symmetry, others, p)[name]
        A, B = (end.movedim(axis + 1, 1).flatten(2) for end in (a[name][..., None], moved[..., None]))  # (P, m, rest)
        C = C + A @ B.mT  # (P, m, m)
    found = assign(C)
    if len({name for name, _ in axes}) == len(axes):
        return found, matched_sum(C, found) - matched_sum(C, p[group])
    # a weight from the group to itself is quadratic in p: the assignment was of its linearisation
    part = {name: b[name] for name, _ in axes}
    inside = {g: tuple(axis for axis in of if axis.name in part) for g, of in symmetry.groups.items()}
    new, old = (_permuted(part, symmetry, inside, {**p, group: one}) for one in (found, p[group]))
    return found, agreement(a, new) - agreement(a, old)


def _permuted(params: Tensors, symmetry: Symmetry, axes: dict[str, tuple[Axis, ...]], p: Permutations) -> Tensors:
    """Parameters permuted along some axes of some groups."""
    axes = {g: of for g, of in axes.items() if of}
    return permute(params, Symmetry(axes, {g: symmetry.sizes[g] for g in axes}), {g: p[g] for g in axes})
