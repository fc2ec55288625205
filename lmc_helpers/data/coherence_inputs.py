"""Inputs of a chosen coherence (Bürgin et al., App. F.5): two latent variables embedded into d coordinates.

An input is x = U (a, b)ᵀ with (a, b) normal and U (d, 2) with orthonormal columns, eq. (275). Both families of the
paper, :func:`exact_copy` and :func:`random_frame`, leave d − 2k rows of U at 0 and give each of the other 2k rows the
squared norm 1/k, so that the coherence, the largest leverage

    ν = max_ℓ (U Uᵀ)_ℓℓ                                                                        (11)

is exactly 1/k. :func:`unequal_copy` is this book's: it changes ν and not which coordinates hold which latent. The
target is ReLU(a + b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.seeds import normal, torch_generator

__all__ = [
    "DIMENSION",
    "Frame",
    "check_orthonormal",
    "exact_copy",
    "latents",
    "random_frame",
    "sample_frame",
    "target",
    "unequal_copy",
]

DIMENSION = 20  # d of App. F.5
TOLERANCE = 1e-6  # of UᵀU = I; passes float32


def latents(n: int, seed: int, purpose: str = "latents") -> torch.Tensor:
    """n standard normal pairs (a, b).

    Parameters
    ----------
    n : int
        number of examples, n >= 1.
    seed : int
        seed of the numbers.
    purpose : str
        what they are for; another purpose has other numbers.

    Returns
    -------
    torch.Tensor
        (n, 2), float64.

    Examples
    --------
    >>> latents(3, seed=1).shape
    torch.Size([3, 2])
    """
    expect.integer(n, "n")
    if n < 1:
        raise ValueError(f"n = {n} examples; allowed: n >= 1")
    return normal((n, 2), seed, purpose)


def target(z: torch.Tensor) -> torch.Tensor:
    """ReLU(a + b); its mean square over normal latents is 1.

    Parameters
    ----------
    z : torch.Tensor
        latents (..., 2).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> target(torch.tensor([[1.0, 2.0], [1.0, -2.0]])).tolist()
    [3.0, 0.0]
    """
    expect.tensor(z, "z", "... k")
    if z.shape[-1] != 2 or not z.numel():
        raise ValueError(f"z has shape {tuple(z.shape)}; allowed: (..., 2)")
    return torch.relu(z.sum(dim=-1))


def _check_k(k: int, d: int) -> None:
    expect.integer(d, "d")
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= d // 2:
        raise ValueError(f"k = {k!r} copies in dimension {d}; allowed: an integer from 1 to {d // 2}")


def exact_copy(k: int, d: int = DIMENSION) -> torch.Tensor:
    """The embedding (276): coordinates 1, 3, …, 2k − 1 hold a/√k and 2, 4, …, 2k hold b/√k.

    Parameters
    ----------
    k : int
        copies of each latent, 1 <= k <= d/2; the coherence is 1/k.
    d : int
        ambient dimension.

    Returns
    -------
    torch.Tensor
        U (d, 2), float64.

    Examples
    --------
    >>> exact_copy(1, d=4).tolist()
    [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [0.0, 0.0]]
    """
    _check_k(k, d)
    U = torch.zeros(d, 2, dtype=torch.float64)
    U[0 : 2 * k : 2, 0] = U[1 : 2 * k : 2, 1] = 1 / math.sqrt(k)
    return U


def unequal_copy(k: int, nu: float, d: int = DIMENSION) -> torch.Tensor:
    """Copies of unequal size on the coordinates of (276): of each latent one has leverage ν, the rest share 1 − ν.

    The same masks see the same latents at every ν < 1; at ν = 1/k this is :func:`exact_copy`.

    Parameters
    ----------
    k : int
        copies of each latent, 2 <= k <= d/2.
    nu : float
        the coherence, 1/k <= ν <= 1.
    d : int
        ambient dimension.

    Returns
    -------
    torch.Tensor
        U (d, 2), float64.

    Examples
    --------
    >>> unequal_copy(3, 0.5, d=7).square().sum(dim=-1).tolist()
    [0.5000000000000001, 0.5000000000000001, 0.25, 0.25, 0.25, 0.25, 0.0]
    """
    expect.number(nu, "nu")
    _check_k(k, d)
    if k < 2 or not 1 / k - 1e-12 <= nu <= 1:
        raise ValueError(f"k = {k}, nu = {nu}; allowed: k >= 2 and 1/k <= nu <= 1")
    U = exact_copy(k, d) * math.sqrt(k * (1 - nu) / (k - 1))
    U[0, 0] = U[1, 1] = math.sqrt(nu)
    return U


@dataclass(frozen=True)
class Frame:
    """What (277) draws once for all k: a permutation (d,) of the coordinates and d/2 angles in [0, π)."""

    permutation: torch.Tensor
    angles: torch.Tensor


def sample_frame(seed: int, d: int = DIMENSION) -> Frame:
    """A random permutation of the coordinates and uniform angles.

    Parameters
    ----------
    seed : int
        seed of both.
    d : int
        ambient dimension.

    Returns
    -------
    Frame
        permutation (d,) and angles (d // 2,).

    Examples
    --------
    >>> frame = sample_frame(1, d=6)
    >>> sorted(frame.permutation.tolist()), frame.angles.shape
    ([0, 1, 2, 3, 4, 5], torch.Size([3]))
    """
    expect.integer(d, "d", least=2)
    generator = torch_generator(seed, "random frame")
    permutation = torch.randperm(d, generator=generator)
    return Frame(permutation, math.pi * torch.rand(d // 2, generator=generator, dtype=torch.float64))


def random_frame(k: int, frame: Frame) -> torch.Tensor:
    """The embedding (277): k pairs of coordinates, each pair a rotation of (a, b)/√k.

    Parameters
    ----------
    k : int
        pairs of coordinates, 1 <= k <= d/2; the coherence is 1/k.
    frame : Frame
        permutation and angles.

    Returns
    -------
    torch.Tensor
        U (d, 2), float64.

    Examples
    --------
    >>> U = random_frame(2, sample_frame(1))
    >>> round(U.square().sum(dim=-1).max().item(), 12), check_orthonormal(U)
    (0.5, None)
    """
    if not isinstance(frame, Frame):
        raise ValueError(f"frame is {type(frame).__name__}; allowed: Frame")
    d = len(frame.permutation)
    _check_k(k, d)
    cos, sin = frame.angles[:k].cos(), frame.angles[:k].sin()
    rows = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], dim=1)  # (k, 2, 2)
    U = torch.zeros(d, 2, dtype=torch.float64)
    U[frame.permutation[: 2 * k]] = rows.flatten(0, 1) / math.sqrt(k)
    return U


def check_orthonormal(U: torch.Tensor) -> None:
    """Refuse U unless its columns are orthonormal to 10⁻⁶.

    Parameters
    ----------
    U : torch.Tensor
        (..., d, k), d >= k.

    Examples
    --------
    >>> check_orthonormal(torch.ones(3, 2))
    Traceback (most recent call last):
        ...
    ValueError: the columns of U are not orthonormal: UᵀU differs from I by 3; allowed: at most 1e-06
    """
    expect.tensor(U, "U", finite=False)
    if not U.numel():
        raise ValueError(f"U has shape {tuple(U.shape)}; allowed: no axis empty")
    if U.ndim < 2 or U.shape[-2] < U.shape[-1]:
        raise ValueError(f"U has shape {tuple(U.shape)}; allowed: (..., d, k) with d >= k")
    off = (U.mT @ U - torch.eye(U.shape[-1]).to(U)).abs().amax().item()
    if not off <= TOLERANCE:
        raise ValueError(
            f"the columns of U are not orthonormal: UᵀU differs from I by {off:.3g}; allowed: at most {TOLERANCE:g}"
        )
