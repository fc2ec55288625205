"""Where the units of one layer stand in a module's parameters: those that make them, and those that read them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from lmc_helpers.modules._module import bare, called, step_by_step
from lmc_helpers.networks.permutations import Axis, Symmetry, _units

CONTRACTED = {  # operation → (number of an argument, its axis that is summed over)
    "mm": ((0, -1), (1, -2)),
    "bmm": ((0, -1), (1, -2)),
    "addmm": ((1, -1), (2, -2)),
    "baddbmm": ((1, -1), (2, -2)),
    "mv": ((0, -1), (1, -1)),
    "dot": ((0, -1), (1, -1)),
    "linear": ((1, -1),),
}


class _Contractions(TorchDispatchMode):
    """Notes the axes of parameters that are summed over while a module runs."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.named = {value.untyped_storage().data_ptr(): (name, value) for name, value in model.named_parameters()}
        self.found: set[tuple[str, int]] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if "convolution" in name:
            self.note(args[1], 0 if args[6] else 1)
        for which, axis in CONTRACTED.get(name, ()):
            self.note(args[which], axis)
        return func(*args, **(kwargs or {}))

    def note(self, tensor: Tensor, axis: int) -> None:
        """The axis of the parameter that an axis of a view of it is, by its stride."""
        known = self.named.get(tensor.untyped_storage().data_ptr())
        if known is not None:
            name, parameter = known
            axes = range(parameter.ndim)
            same = (d for d in axes if parameter.shape[d] > 1 and parameter.stride(d) == tensor.stride(axis))
            self.found |= {(name, d) for d in same}


def readers(model: nn.Module, x: Any) -> set[tuple[str, int]]:
    """The axes (parameter, axis) along which parameters read units: those that are summed over."""
    model = bare(model)
    modes = {module: module.training for module in model.modules()}
    try:
        model.eval()
        with torch.no_grad(), step_by_step(), _Contractions(model) as mode:
            called(model, x)
    finally:
        for module, training in modes.items():
            module.training = training
    return mode.found


def group_of(layer: str, symmetry: Symmetry, reading: set[tuple[str, int]]) -> str:
    """The group of units that a layer makes: the one of its name, or the one that its parameters make."""
    if layer in symmetry.groups:
        return layer
    made = [
        group
        for group, places in symmetry.groups.items()
        if any(p.name.rpartition(".")[0] == layer and (p.name, p.axis) not in reading for p in places)
    ]
    if len(made) != 1:
        found = f"makes the units of {', '.join(map(repr, made))}" if made else "makes no units that can be exchanged"
        raise ValueError(f"layer {layer!r} {found}; allowed: {', '.join(map(repr, symmetry.groups))}")
    return made[0]


def entries(place: Axis, number: Tensor, m: int) -> Tensor:
    """The entries of a tensor, of each of the m units of a group in one place, (m, entries)."""
    units = _units(number[None], place, m)[0]
    return units.movedim(place.axis + 1, 0).flatten(1)
