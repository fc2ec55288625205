"""The permutation symmetries of an architecture as data: which axes of which parameters move together.

A network's hidden units may stand in any order. A *group* of units, the neurons of a hidden layer, the channels of a
convolution, the heads of an attention or a residual stream, is one permutation p of m units. It acts on every axis of
every parameter along which these units are counted: the rows of the weight that makes them, their biases, gains and
shifts, and the columns of the weights that read them. If all these axes are put in the order p, the function of the
network is the same. :class:`Symmetry` lists them, and :func:`verify` checks the list by running the network.

Permutations are index tensors as in :mod:`lmc_helpers.matching`: unit i of the result is unit p_i of the argument.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import torch

from lmc_helpers import expect
from lmc_helpers.matching import check_permutation
from lmc_helpers.seeds import torch_generator

__all__ = [
    "Axis",
    "Check",
    "Permutations",
    "Symmetry",
    "compose",
    "identity",
    "inverse",
    "permute",
    "random_permutations",
    "verify",
]

Tensors = dict[str, torch.Tensor]

#: Group → p (N, m), one permutation for each of N networks.
Permutations = Mapping[str, torch.Tensor]


class Axis(NamedTuple):
    """An axis of a parameter of one network.

    Parameters
    ----------
    name : str
        of the parameter.
    axis : int
        >= 0, counted without the axis of the networks.
    """

    name: str
    axis: int


@dataclass(frozen=True)
class Symmetry:
    """The groups of permutable units of an architecture.

    Parameters
    ----------
    groups : dict
        group → the axes that its permutation acts on.
    sizes : dict
        group → number m of its units.

    Examples
    --------
    The two-layer network x ↦ V σ(W x + b) with five hidden neurons:

    >>> hidden = (Axis("W", 0), Axis("b", 0), Axis("V", 1))
    >>> Symmetry({"hidden": hidden}, {"hidden": 5}).groups["hidden"][2].name
    'V'
    """

    groups: dict[str, tuple[Axis, ...]]
    sizes: dict[str, int]

    def __post_init__(self) -> None:
        if set(self.groups) != set(self.sizes):
            raise ValueError(f"groups {sorted(self.groups)}, sizes of {sorted(self.sizes)}; allowed: the same names")
        axes = [axis for group in self.groups.values() for axis in group]
        twice = sorted({axis for axis in axes if axes.count(axis) > 1})
        empty = [group for group, found in self.groups.items() if not found]
        if twice or empty:
            raise ValueError(f"axes {twice} stand twice, groups {empty} have none; allowed: each axis in one group")


def permute(params: Tensors, symmetry: Symmetry, permutations: Permutations) -> Tensors:
    """Put the units of some groups in another order.

    Parameters
    ----------
    params : dict of torch.Tensor
        name → (N, …).
    symmetry : Symmetry
        of one network.
    permutations : dict of torch.Tensor
        group → p (N, m); groups that are left out stay as they are.

    Returns
    -------
    dict of torch.Tensor
        name → (N, …): unit i of a group is unit p_i of before, on each of its axes. Other tensors are the same objects.

    Examples
    --------
    >>> params = {"W": torch.tensor([[[1.0], [2.0], [3.0]]]), "V": torch.tensor([[[4.0, 5.0, 6.0]]])}
    >>> symmetry = Symmetry({"hidden": (Axis("W", 0), Axis("V", 1))}, {"hidden": 3})
    >>> moved = permute(params, symmetry, {"hidden": torch.tensor([[2, 0, 1]])})
    >>> moved["W"].flatten().tolist(), moved["V"].flatten().tolist()
    ([3.0, 1.0, 2.0], [6.0, 4.0, 5.0])
    """
    if not isinstance(params, dict) or not params:
        raise ValueError(f"params = {params!r}; allowed: tensors by their names, one or more")
    expect.tensors(params, "params")
    if not isinstance(symmetry, Symmetry):
        raise ValueError(f"symmetry is {type(symmetry).__name__}; allowed: Symmetry")
    if not isinstance(permutations, Mapping):
        raise ValueError(f"permutations is {type(permutations).__name__}; allowed: tensors by their names")
    N = len(next(iter(params.values())))
    _check_groups(symmetry, permutations, N)
    moved = dict(params)
    for group, p in permutations.items():
        for name, axis in symmetry.groups[group]:
            expect.one_of(name, "a parameter of the symmetry", moved)  # type: ignore[arg-type]
            if moved[name].shape[:1] != (N,) or moved[name].shape[axis + 1 : axis + 2] != (symmetry.sizes[group],):
                raise ValueError(
                    f"parameter {name!r} has shape {tuple(moved[name].shape)}; allowed: {N} networks with "
                    f"{symmetry.sizes[group]} units on axis {axis}"
                )
            moved[name] = _take(moved[name], p, axis)
    return moved


def _take(value: torch.Tensor, p: torch.Tensor, axis: int) -> torch.Tensor:
    """Entries p (N, m) of (N, …) along an axis of one network."""
    index = p.to(value.device).view(len(p), *[1] * axis, -1, *[1] * (value.ndim - axis - 2))
    return torch.take_along_dim(value, index, dim=axis + 1)


def _check_groups(symmetry: Symmetry, permutations: Permutations, N: int) -> None:
    for group, p in permutations.items():
        if group not in symmetry.groups:
            raise ValueError(f"group {group!r} is unknown; allowed: {', '.join(symmetry.groups)}")
        expect.permutation(p, f"p of group {group!r}")
        if p.shape != (N, symmetry.sizes[group]):
            raise ValueError(
                f"p of group {group!r} has shape {tuple(p.shape)}; allowed: {(N, symmetry.sizes[group])}, one "
                "permutation for each network"
            )
        check_permutation(p)


def inverse(permutations: Permutations) -> dict[str, torch.Tensor]:
    """The permutations that undo others.

    Parameters
    ----------
    permutations : dict of torch.Tensor
        group → p (N, m).

    Returns
    -------
    dict of torch.Tensor
        group → q (N, m) with q_{p_i} = i.

    Examples
    --------
    >>> inverse({"hidden": torch.tensor([[2, 0, 1]])})["hidden"].tolist()
    [[1, 2, 0]]
    """
    if not isinstance(permutations, Mapping):
        raise ValueError(f"permutations is {type(permutations).__name__}; allowed: tensors by their names")
    return {group: p.argsort(dim=-1) for group, p in permutations.items()}


def compose(first: Permutations, then: Permutations) -> dict[str, torch.Tensor]:
    """The permutations that act as two in a row, i ↦ p_{q_i}.

    Parameters
    ----------
    first, then : dict of torch.Tensor
        group → p (N, m) and q (N, m); a group that one of them lacks is not moved by it.

    Returns
    -------
    dict of torch.Tensor
        group → (N, m): ``permute(permute(params, s, first), s, then)`` is ``permute(params, s, compose(first, then))``.

    Examples
    --------
    >>> p = {"hidden": torch.tensor([[2, 0, 1]])}
    >>> compose(p, inverse(p))["hidden"].tolist()
    [[0, 1, 2]]
    """
    if not isinstance(first, Mapping):
        raise ValueError(f"first is {type(first).__name__}; allowed: tensors by their names")
    if not isinstance(then, Mapping):
        raise ValueError(f"then is {type(then).__name__}; allowed: tensors by their names")
    both = {group: p.gather(-1, then[group]) for group, p in first.items() if group in then}
    return {**first, **then, **both}


def identity(symmetry: Symmetry, N: int) -> dict[str, torch.Tensor]:
    """The permutations that move nothing.

    Parameters
    ----------
    symmetry : Symmetry
        of one network.
    N : int
        number of networks.

    Returns
    -------
    dict of torch.Tensor
        group → (N, m), torch.long.

    Examples
    --------
    >>> identity(Symmetry({"hidden": (Axis("W", 0),)}, {"hidden": 3}), 2)["hidden"].tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    if not isinstance(symmetry, Symmetry):
        raise ValueError(f"symmetry is {type(symmetry).__name__}; allowed: Symmetry")
    expect.integer(N, "N", least=1)
    return {group: torch.arange(m).repeat(N, 1) for group, m in symmetry.sizes.items()}


def random_permutations(symmetry: Symmetry, N: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Uniform permutations of every group, independent for each network.

    Parameters
    ----------
    symmetry : Symmetry
        of one network.
    N : int
        number of networks.
    generator : torch.Generator
        on the CPU.

    Returns
    -------
    dict of torch.Tensor
        group → (N, m), torch.long.

    Examples
    --------
    >>> symmetry = Symmetry({"hidden": (Axis("W", 0),)}, {"hidden": 3})
    >>> p = random_permutations(symmetry, 2, torch.Generator().manual_seed(1))
    >>> p["hidden"].sort().values.tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    if not isinstance(symmetry, Symmetry):
        raise ValueError(f"symmetry is {type(symmetry).__name__}; allowed: Symmetry")
    expect.integer(N, "N", least=1)
    expect.generator(generator, "generator")
    return {
        group: torch.stack([torch.randperm(m, generator=generator) for _ in range(N)])
        for group, m in symmetry.sizes.items()
    }


class Permutable(Protocol):
    """What :func:`verify` asks of an architecture; every :class:`~lmc_helpers.networks.model.Model` has it."""

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one input."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of each parameter of one network."""

    def symmetry(self) -> Symmetry:
        """The groups that are checked."""

    def forward(self, params: Tensors, x: torch.Tensor) -> torch.Tensor:
        """Outputs (N, B, classes)."""


@dataclass(frozen=True)
class Check:
    """What :func:`verify` measures, each relative to the largest output.

    Parameters
    ----------
    permuted : dict
        group → largest change of an output when the group is permuted; ``"all"`` for all groups at once.
    left_out : dict
        axis → largest change when its group, of two units or more, is permuted but for this axis.
    elsewhere : tuple of Axis
        axes of parameters that belong to no group.
    """

    permuted: dict[str, float]
    left_out: dict[Axis, float]
    elsewhere: tuple[Axis, ...]

    def holds(self, rounding: float = 1e-10, effect: float = 1e-6) -> bool:
        """Whether permuted groups change nothing but rounding, and every axis of a group is needed.

        Parameters
        ----------
        rounding, effect : float
            largest change that is rounding, and least change that is none; relative.

        Returns
        -------
        bool
            as said.
        """
        expect.number(rounding, "rounding", least=0)
        expect.number(effect, "effect", least=0)
        return max(self.permuted.values()) <= rounding and min(self.left_out.values(), default=1.0) >= effect


def verify(model: Permutable, seed: int = 0, inputs: int = 4) -> Check:
    """Check the symmetry of an architecture by running a random network of it in float64.

    Parameters, gains and shifts among them, are normal numbers, so that no two units are alike; weights are scaled by
    the root of their inputs. Every group is permuted alone and all of them together. Then each axis is left out once.

    Parameters
    ----------
    model : Model
        the architecture; small ones are enough.
    seed : int
        of parameters, inputs and permutations, in [0, 2³²).
    inputs : int
        how many inputs.

    Returns
    -------
    Check
        relative changes of the outputs.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> check = verify(MLP((3, 6, 5, 2), norm="layer"))
    >>> check.holds(), [axis for axis in check.elsewhere]
    (True, [Axis(name='0.weight', axis=1), Axis(name='2.weight', axis=0), Axis(name='2.bias', axis=0)])
    """
    expect.integer(inputs, "inputs", least=1)
    generator = torch_generator(seed, "check of a symmetry")
    symmetry, shapes = model.symmetry(), model.shapes()

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(shape, dtype=torch.float64, generator=generator)

    params = {name: normal(1, *shape) / max(1, torch.Size(shape[1:]).numel()) ** 0.5 for name, shape in shapes.items()}
    x = normal(inputs, *model.input_shape)
    perms = {group: _moved(m, generator) for group, m in symmetry.sizes.items()}
    with torch.no_grad():
        outputs = model.forward(params, x)

        def change(groups: Mapping[str, tuple[Axis, ...]]) -> float:
            part = Symmetry(dict(groups), {group: symmetry.sizes[group] for group in groups})
            moved = permute(params, part, {group: perms[group] for group in groups})
            return ((model.forward(moved, x) - outputs).abs().max() / outputs.abs().max()).item()

        permuted = {group: change({group: axes}) for group, axes in symmetry.groups.items()}
        permuted["all"] = change(symmetry.groups)
        left_out = {
            axis: change({group: tuple(other for other in axes if other != axis)})
            for group, axes in symmetry.groups.items()
            for axis in axes
            if len(axes) > 1 < symmetry.sizes[group]
        }
    known = {axis for axes in symmetry.groups.values() for axis in axes}
    every = [Axis(name, axis) for name, shape in shapes.items() for axis in range(len(shape))]
    return Check(permuted, left_out, tuple(axis for axis in every if axis not in known))


def _moved(m: int, generator: torch.Generator) -> torch.Tensor:
    """A cycle through all units in random order, (1, m): every unit moves, if there are two."""
    order = torch.randperm(m, generator=generator)
    return torch.empty_like(order).scatter_(0, order, order.roll(1))[None]
