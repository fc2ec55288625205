"""Linear assignment for a batch of matrices, and what every matcher asks of the two ends of a pair."""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from lmc_helpers import expect
from lmc_helpers._typing import Tensors
from lmc_helpers.networks.permutations import Symmetry

__all__ = ["assign", "check_ends", "matched_sum"]


def assign(gains: torch.Tensor) -> torch.Tensor:
    """The permutations with the largest sums of gains, max_p Σ_i C_ip(i), exactly.

    Parameters
    ----------
    gains : torch.Tensor
        C (..., m, m), m >= 1, finite: what it is worth to put unit j in place i.

    Returns
    -------
    torch.Tensor
        p (..., m), torch.long, on the same device.

    Examples
    --------
    >>> assign(torch.tensor([[1.0, 3.0], [2.0, 3.5]])).tolist()
    [1, 0]
    """
    expect.tensors({"gains": gains})
    if gains.is_complex():
        raise ValueError(f"gains have dtype {gains.dtype}; allowed: real numbers")
    if gains.ndim < 2 or gains.shape[-1] != gains.shape[-2] or not gains.shape[-1]:
        raise ValueError(f"gains have shape {tuple(gains.shape)}; allowed: (..., m, m) with m >= 1")
    if not torch.isfinite(gains).all():
        index = (~torch.isfinite(gains)).nonzero()[0].tolist()
        raise ValueError(f"gains{index} = {gains[tuple(index)].item()}; allowed: finite gains")
    m = gains.shape[-1]
    matrices = gains.detach().double().reshape(-1, m, m).numpy(force=True)
    p = np.array([linear_sum_assignment(C, maximize=True)[1] for C in matrices], dtype=np.int64)
    return torch.from_numpy(p.reshape(gains.shape[:-1])).to(gains.device)


def matched_sum(gains: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """What a permutation is worth, Σ_i C_ip(i).

    Parameters
    ----------
    gains : torch.Tensor
        C (..., m, m).
    p : torch.Tensor
        (..., m); leading dimensions are broadcast.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> matched_sum(torch.tensor([[1.0, 3.0], [2.0, 3.5]]), torch.tensor([1, 0])).item()
    5.0
    """
    expect.tensor(gains, "gains", finite=False)
    expect.permutation(p, "p")
    if gains.ndim < 2 or gains.shape[-1] != gains.shape[-2] or p.shape[-1] != gains.shape[-1]:
        raise ValueError(
            f"gains and p have shapes {tuple(gains.shape)}, {tuple(p.shape)}; allowed: (..., m, m), (..., m)"
        )
    if p.numel() and (p * (p.shape[-1] - 1 - p)).amin() < 0:
        raise ValueError(f"p holds {p.amin().item()} to {p.amax().item()}; allowed: 0 to {p.shape[-1] - 1}")
    return torch.take_along_dim(gains, p[..., None], dim=-1).sum(dim=(-2, -1))


def check_ends(a: Tensors, b: Tensors, symmetry: Symmetry) -> int:
    """Raise unless two sets of parameters are P pairs of networks with this symmetry.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …): network k of a and network k of b are a pair.
    symmetry : Symmetry
        of one network.

    Returns
    -------
    int
        P.

    Examples
    --------
    >>> from lmc_helpers.networks.permutations import Axis
    >>> check_ends({"W": torch.ones(2, 3, 1)}, {"W": torch.zeros(2, 3, 1)}, Symmetry({"h": (Axis("W", 0),)}, {"h": 3}))
    2
    """
    if not isinstance(a, dict) or not a:
        raise ValueError(f"a = {a!r}; allowed: tensors by their names, one or more")
    expect.tensors(a, "a")
    if not isinstance(b, dict) or not b:
        raise ValueError(f"b = {b!r}; allowed: tensors by their names, one or more")
    expect.tensors(b, "b")
    if not isinstance(symmetry, Symmetry):
        raise ValueError(f"symmetry is {type(symmetry).__name__}; allowed: Symmetry")
    shapes = [{name: tuple(value.shape) for name, value in end.items()} for end in (a, b)]
    if shapes[0] != shapes[1]:
        names = sorted(name for name in shapes[0] | shapes[1] if shapes[0].get(name) != shapes[1].get(name))
        found = [{name: shape.get(name) for name in names} for shape in shapes]
        raise ValueError(f"the ends have shapes {found[0]} and {found[1]}; allowed: equal names and shapes")
    lengths = {shape[:1] for shape in shapes[0].values()}
    if len(lengths) != 1 or lengths & {(), (0,)}:
        raise ValueError(f"parameters have shapes {shapes[0]}; allowed: (P, …) with one P >= 1")
    for group, axes in symmetry.groups.items():
        for name, axis in axes:
            if shapes[0].get(name, ())[axis + 1 : axis + 2] != (symmetry.sizes[group],):
                raise ValueError(
                    f"axis {axis} of {name!r} belongs to the {symmetry.sizes[group]} units of group {group!r}, but the "
                    f"parameter has shape {shapes[0].get(name)}; allowed: parameters that fit the symmetry"
                )
    for which, end in (("a", a), ("b", b)):
        wrong = [name for name, value in end.items() if not torch.isfinite(value).all()]
        if wrong:
            raise ValueError(f"parameters {', '.join(wrong)} of end {which} are not finite; allowed: finite parameters")
    return lengths.pop()[0]
