"""The interchangeable units of any module, by a trace, and modules with their units in another order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from lmc_helpers.modules._module import bare, filled, tensors
from lmc_helpers.modules._trace import trace
from lmc_helpers.networks.permutations import Axis, Symmetry, permute

__all__ = ["permuted", "symmetry"]


def symmetry(model: nn.Module, x: Any) -> Symmetry:
    """The groups of interchangeable units of a module, from one forward pass on inputs x, or a tuple of arguments.

    Examples
    --------
    >>> import torch
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> symmetry(net, torch.ones(2, 4)).sizes
    {'0': 8}
    """
    found = trace(bare(model), x)
    groups = {
        name: tuple(Axis(p.name, p.axis, p.offset, p.outer, p.inner) for p in places)
        for name, places in found.places.items()
    }
    return Symmetry(groups, found.sizes, found.within)


def permuted(model: nn.Module, symmetry: Symmetry, permutations: Mapping[str, Tensor]) -> nn.Module:
    """A copy of a module, in evaluation mode, with units in another order: unit i is unit p_i of before, p (m,).

    Examples
    --------
    >>> import torch
    >>> net, x = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)), torch.ones(1, 4)
    >>> other = permuted(net, symmetry(net, x), {"0": torch.tensor([2, 0, 1])})
    >>> bool(torch.equal(other[0].weight, net[0].weight[[2, 0, 1]])), bool(torch.allclose(other(x), net(x)))
    (True, True)
    """
    values = {name: value[None] for name, value in tensors(bare(model)).items()}
    moved = permute(values, symmetry, {group: p[None] for group, p in permutations.items()})
    return filled(model, {name: value[0] for name, value in moved.items()})
