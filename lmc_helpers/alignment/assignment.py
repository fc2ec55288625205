"""Linear assignment for a batch of matrices, and checks of the two ends of a pair that all matchers need."""

from __future__ import annotations

import cmath
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from jaxtyping import Float, Int64
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from lmc_helpers._typing import Tensors, checked, require_finite
from lmc_helpers.networks.permutations import Permutations, Symmetry, check_axes, check_groups, identity

try:
    from lap import lapjvh  # the same optimum in half the time
except ImportError:
    lapjvh = None  # type: ignore[assignment]

__all__ = ["assign"]

_WORTH_A_THREAD = 2**22  # m³ of the matrices that a thread gets


@checked
def assign(gains: Float[Tensor, "*batch m m"]) -> Int64[Tensor, "*batch m"]:
    """The permutations p with the largest sums of gains, max_p Σ_i C_ip(i), exactly."""
    require_finite(gains=gains)
    return _assign(gains)


def _assign(gains: Tensor) -> Tensor:
    return torch.from_numpy(_assigned(gains.detach().double().numpy(force=True))).to(gains.device)


def _assigned(gains: np.ndarray) -> np.ndarray:
    """:func:`assign` of arrays, unchecked, in as many threads as torch has: SciPy releases Python's lock."""
    m = gains.shape[-1]
    if gains.ndim == 2:
        return _permutation(gains)
    matrices = gains.reshape(-1, m, m)
    threads = min(torch.get_num_threads(), len(matrices), len(matrices) * m**3 // _WORTH_A_THREAD)
    if threads < 2:
        p = _one_by_one(matrices)
    else:
        with ThreadPoolExecutor(threads) as pool:
            p = np.concatenate(list(pool.map(_one_by_one, np.array_split(matrices, threads))))
    return p.reshape(gains.shape[:-1])


def _one_by_one(matrices: np.ndarray) -> np.ndarray:
    return np.array([_permutation(C) for C in matrices], dtype=np.int64)


def _permutation(C: np.ndarray) -> np.ndarray:
    """By lapx where it is installed; between equal rows or columns, as of dead units, SciPy breaks all ties."""
    if lapjvh is None or _repeats(C) or _repeats(C.T):
        return linear_sum_assignment(C, maximize=True)[1]
    return lapjvh(-C, return_cost=False)[1]


def _repeats(C: np.ndarray) -> bool:
    """True if rows have equal sums; first of all, equal entries in the first column, which costs less."""
    return len(set(np.add.reduce(C, axis=1).tolist())) < len(C)


def matched_sum(gains: Tensor, p: Tensor) -> Tensor:
    """Σ_i C_ip(i) of gains C (..., m, m) and permutations p (..., m)."""
    return torch.take_along_dim(gains, p[..., None], dim=-1).sum(dim=(-2, -1))


def _check_ends(a: Tensors, b: Tensors, symmetry: Symmetry, later: Collection[str] = ()) -> int:
    """P of the finite parameters name → (P, …) of P pairs of networks with this symmetry, or an error.

    Whether some are finite may be looked at ``later``.
    """
    shapes = [{name: tuple(value.shape) for name, value in end.items()} for end in (a, b)]
    if shapes[0] != shapes[1]:
        names = sorted(name for name in shapes[0] | shapes[1] if shapes[0].get(name) != shapes[1].get(name))
        found = [{name: shape.get(name) for name in names} for shape in shapes]
        raise ValueError(f"the ends have shapes {found[0]} and {found[1]}; allowed: equal names and shapes")
    lengths = {shape[:1] for shape in shapes[0].values()}
    if len(lengths) != 1 or lengths & {(), (0,)}:
        raise ValueError(f"parameters have shapes {shapes[0]}; allowed: (P, …) with one P >= 1")
    (P,) = lengths.pop()
    check_axes(a, symmetry, symmetry.groups, P)
    for which, end in (("a", a), ("b", b)):
        sums = {name: value.detach().sum().item() for name, value in end.items() if name not in later}
        wrong = [name for name in sums if not (cmath.isfinite(sums[name]) or torch.isfinite(end[name]).all())]
        if wrong:
            raise ValueError(f"parameters {', '.join(wrong)} of end {which} are not finite; allowed: finite parameters")
    return P


def _start(a: Tensors, b: Tensors, symmetry: Symmetry, start: Permutations | None) -> dict[str, Tensor]:
    """Initial permutations of a search on P pairs: the given ones, and the identity for the other groups."""
    P, given = _check_ends(a, b, symmetry), dict(start or {})
    check_groups(symmetry, given, P)
    return {g: p.to(next(iter(a.values())).device) for g, p in (identity(symmetry, P) | given).items()}
