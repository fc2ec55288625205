"""Positions of units in a module's parameters: the axes that make them, and those that read them in a sum."""

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lmc_helpers.modules._module import called, step_by_step, tensors
from lmc_helpers.modules.symmetry import symmetry as traced
from lmc_helpers.networks.permutations import Axis, Symmetry, units_of

#: Operation → the arguments A and B of which it sums A[…, k] B[…, k, …].
PRODUCTS = {
    **dict.fromkeys(("mm", "bmm", "mv", "dot", "matmul", "linear"), (0, 1)),
    **dict.fromkeys(("addmm", "_addmm_activation", "addmv", "baddbmm"), (1, 2)),
}
#: Operations that pick entries of a tensor by an index.
PICKS = {"index", "index_select", "gather", "index_put", "index_add", "index_copy", "scatter", "scatter_add", "take"}


class Use(NamedTuple):
    """An axis of a parameter, from an entry on, that is summed over with a tensor's, or that is one of the result's."""

    reads: bool
    name: str
    axis: int
    start: int
    tensor: Tensor
    dim: int


class Contractions(TorchDispatchMode):
    """Tells how parameters, or views of them, are contracted while a module runs."""

    def __init__(self, model: nn.Module, tell: Callable[[Use], None]):
        super().__init__()
        self.sources = {storage(value): (name, value) for name, value in tensors(model).items()}
        self.tell = tell
        self.picks: list[Tensor] = []  # the indices by which entries of other tensors than parameters are picked

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        if name == "convolution":
            x, w, transposed, groups = args[0], args[1], args[6], args[8]
            channel, reads = x.ndim - w.ndim + 1, 0 if transposed else 1
            # of groups each has channels of its own, hence no axis of the whole input or output goes with w's
            self.use(True, w, reads, x if groups == 1 else w, channel)
            self.use(False, w, 1 - reads, out if groups == 1 else w, channel)
        elif name in PRODUCTS:
            A, B = (args[k] for k in PRODUCTS[name])
            B = B.t() if name == "linear" else B
            last, inner = A.ndim - 1, max(B.ndim - 2, 0)
            self.use(True, B, inner, A, last)
            self.use(True, A, last, B, inner)
            if B.ndim > 1:
                self.use(False, B, B.ndim - 1, out, out.ndim - 1)
            if A.ndim > 1:
                self.use(False, A, last - 1, out, last - 1)
        elif name.strip("_") in PICKS and storage(args[0]) not in self.sources:
            self.picks += [one for one in tree_leaves(args[1:]) if isinstance(one, Tensor) and not _numbers(one)]
        return out

    def use(self, reads: bool, view: Tensor, axis: int, tensor: Tensor, dim: int) -> None:
        """Tell which axis of which parameter an axis of a view is, by its stride."""
        name, source = self.sources.get(storage(view), ("", view))
        for d, n in enumerate(source.shape):
            if name and 1 < view.shape[axis] <= n and source.stride(d) == view.stride(axis):
                start = (view.storage_offset() - source.storage_offset()) // source.stride(d) % n
                return self.tell(Use(reads, name, d, start, tensor, dim))


def _numbers(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def storage(tensor: Tensor) -> int:
    """Address of a tensor's storage; equal for views of the same storage."""
    return tensor.untyped_storage().data_ptr()


def readers(model: nn.Module, x: Any) -> set[tuple[str, int]]:
    """The axes (parameter, axis) along which a module, in evaluation mode, reads units: those that are summed over."""
    found: set[tuple[str, int]] = set()
    with torch.no_grad(), step_by_step(), Contractions(model, lambda use: found.add(use[1:3]) if use.reads else None):
        called(model, x)
    return found


class Layer:
    """The units of one layer of a module, in evaluation mode: how many, and the places that make and that read them."""

    def __init__(self, model: nn.Module, layer: str, x: Any, symmetry: Symmetry | None):
        symmetry = traced(model, x) if symmetry is None else symmetry
        reading = readers(model, x)
        group = group_of(layer, symmetry, reading)
        self.units = symmetry.sizes[group]
        self.made = [place for place in symmetry.groups[group] if place[:2] not in reading]
        self.read = [place for place in symmetry.groups[group] if place[:2] in reading]

    def view(self, tensor: Tensor, place: Axis) -> Tensor:
        """A view of a tensor with the units of one place on axis ``place.axis + 1``."""
        return units_of(tensor[None], place, self.units)[0]


def group_of(layer: str, symmetry: Symmetry, reading: set[tuple[str, int]]) -> str:
    """The group of units that a layer makes: the one of its name, or the one that its parameters make."""
    if layer in symmetry.groups:
        return layer
    made = [
        group
        for group, places in symmetry.groups.items()
        if any(place.name.rpartition(".")[0] == layer and place[:2] not in reading for place in places)
    ]
    if len(made) != 1:
        found = f"makes the units of {', '.join(map(repr, made))}" if made else "makes no units that can be exchanged"
        raise ValueError(f"layer {layer!r} {found}; allowed: {', '.join(map(repr, symmetry.groups))}")
    return made[0]
