"""Which permutations of hidden units an asymmetric architecture keeps, by colour refinement.

F and D of W_eff = F + D ⊙ W are parts of the architecture (Bürgin et al., eq. (2)). A permutation of hidden units,
applied to W, leaves the function for every W as soon as it maps F and D onto themselves. *Colour refinement* bounds
these permutations without trying them: all units of a group start with one colour; then a unit is told apart from
another if the entries of F and D on its axes, each with the colours of the units on the entry's other axes, are
different collections; and so on until no colour splits. A permutation that keeps F and D keeps every colour. If all
units of all groups have colours of their own, the identity is the only one: that is a proof. If not, nothing is proven,
for some structures have cells that no permutation moves.

Colours are compared by sums of products of 64-bit words. Equal collections have equal sums, so that units are never
told apart without reason.
"""

from __future__ import annotations

import numpy as np
import torch

from lmc_helpers import expect
from lmc_helpers.networks.model import Fixed
from lmc_helpers.networks.permutations import Symmetry
from lmc_helpers.seeds import numpy_generator

__all__ = ["cells", "shared"]


def cells(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> dict[str, torch.Tensor]:
    """The stable partition of the units of each group.

    Parameters
    ----------
    symmetry : Symmetry
        of one network.
    fixed : dict
        name of a weight → (F, D), each (1, …), as :meth:`~lmc_helpers.networks.model.Model.fixed_parts` gives them.
    values : bool
        whether F counts, too; if not, D alone.

    Returns
    -------
    dict of torch.Tensor
        group → (m,), the number of each unit's cell, 0, 1, …; units of different cells are never exchanged.

    Examples
    --------
    Rows 0 and 1 of the mask are equal, row 2 is another:

    >>> from lmc_helpers.networks.mlp import MLP
    >>> D = torch.tensor([[[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]])
    >>> cells(MLP((2, 3, 2)).symmetry(), {"0.weight": (0 * D, D)})["0"].tolist()
    [0, 0, 1]
    """
    if not isinstance(symmetry, Symmetry):
        raise ValueError(f"symmetry is {type(symmetry).__name__}; allowed: Symmetry")
    if not isinstance(fixed, dict):
        raise ValueError(f"fixed is {type(fixed).__name__}; allowed: tensors by their names")
    expect.one_of(values, "values", (True, False))
    edges = {name: _edges(F, D, values) for name, (F, D) in fixed.items()}
    colours = {group: np.zeros(m, dtype=np.int64) for group, m in symmetry.sizes.items()}
    owner = {(axis.name, axis.axis): group for group, axes in symmetry.groups.items() for axis in axes}
    while True:
        finer = {}
        for group, axes in symmetry.groups.items():
            seen = [colours[group]]
            for place, (name, axis) in enumerate(axes):
                if name in edges:
                    index, words, shape = edges[name]
                    if len(shape) <= axis or shape[axis] != symmetry.sizes[group]:
                        raise ValueError(
                            f"F and D of {name!r} have shape {shape}; allowed: {symmetry.sizes[group]} on axis {axis}"
                        )
                    product = words.copy()
                    for other in range(len(shape)):
                        if other != axis:
                            label = _labels(name, other, shape[other], owner, colours)
                            product *= label[index[other]]
                    total = np.zeros(symmetry.sizes[group], dtype=np.uint64)
                    np.add.at(total, index[axis], product)
                    seen.append(total * _words(1, f"axis {place}")[0])
            finer[group] = np.unique(np.stack([part.astype(np.uint64) for part in seen]), axis=1, return_inverse=True)[
                1
            ]
        counts = [(len(np.unique(finer[g])), len(np.unique(colours[g]))) for g in finer]
        colours = {group: found.reshape(-1).astype(np.int64) for group, found in finer.items()}
        if all(new == old for new, old in counts):
            return {group: torch.from_numpy(found) for group, found in colours.items()}


def shared(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> int:
    """How many units share their cell of :func:`cells` with another; 0 if the identity alone keeps F and D.

    Parameters
    ----------
    symmetry : Symmetry
        of one network.
    fixed : dict
        name of a weight → (F, D), each (1, …).
    values : bool
        whether F counts, too; if not, D alone.

    Returns
    -------
    int
        of all groups together.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> shared(MLP((2, 3, 4, 2)).symmetry(), {})
    7
    """
    found = cells(symmetry, fixed, values)
    return sum(int((torch.bincount(cell)[cell] > 1).sum()) for cell in found.values())


def _edges(
    F: torch.Tensor, D: torch.Tensor, values: bool
) -> tuple[tuple[np.ndarray, ...], np.ndarray, tuple[int, ...]]:
    """Entries that are not those of an ordinary weight (F = 0, D = 1): their indices, their words, and the shape."""
    expect.tensor(F, "F")
    expect.tensor(D, "D")
    expect.same({"F": F, "D": D})
    if len(F) != 1 or len(D) != 1:
        raise ValueError(f"F and D of {len(F)} and {len(D)} architectures; allowed: those of one")
    f, d = (part[0].double().numpy() for part in (F if values else 0 * F, D))
    f, d = f + 0.0, d + 0.0  # −0 is the same as 0
    index = np.nonzero((f != 0) | (d != 1))
    bits = _mixed(f[index].view(np.uint64) + np.uint64(1)) + d[index].view(np.uint64)
    return index, _mixed(bits), f.shape


def _labels(name: str, axis: int, size: int, owner: dict, colours: dict[str, np.ndarray]) -> np.ndarray:
    """Words of the indices of an axis: of their colours if it belongs to a group, else of the indices themselves."""
    group = owner.get((name, axis))
    if group is None:
        return _words(size, "index")
    return _words(size, f"colour of {group}")[colours[group]]


def _words(size: int, purpose: str) -> np.ndarray:
    """Odd random 64-bit words."""
    drawn = numpy_generator(0, f"words, {purpose}").integers(0, 2**64, size, dtype=np.uint64, endpoint=False)
    return drawn | np.uint64(1)


def _mixed(words: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit words that scatters their bits (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))
