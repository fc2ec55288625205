"""Minima with the types of one law and the entries of another (Zhan, Li & Wu, section 5).

Two things shape the barrier between minima: how many rows each type has, and how its unit of mass is spread over them.
Trained networks differ from uniform minima in both. Minima with their types and fresh entries tell the two apart.
"""

from __future__ import annotations

import torch

from lmc_helpers.seeds import torch_generator
from lmc_helpers.teacher_student.minima import snap

__all__ = ["with_uniform_entries"]


def with_uniform_entries(W: torch.Tensor, M: int, seed: int) -> torch.Tensor:
    """Minima whose rows have the types of W and whose entries are uniform on the simplex of each type (Lemma 8).

    Parameters
    ----------
    W : torch.Tensor
        (..., m, d), near minima; a row's type is that of :func:`~lmc_helpers.teacher_student.minima.snap`, and each
        type occurs. Rows that are 0 stay so.
    M : int
        teacher neurons.
    seed : int
        seed of the entries.

    Returns
    -------
    torch.Tensor
        (..., m, d), float64; columns j <= M sum to 1.

    Examples
    --------
    >>> W = torch.tensor([[0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> fresh = with_uniform_entries(W, M=2, seed=1)
    >>> (fresh > 0).equal(W > 0), fresh.sum(dim=0).tolist()
    (True, [1.0, 1.0, 0.0])
    """
    alive = snap(W, M)[..., :M] > 0  # (..., m, M)
    if not alive.any(dim=-2).all():
        raise ValueError("a type has no row; allowed: matrices near minima, where each type occurs")
    generator = torch_generator(seed, f"uniform entries {tuple(W.shape)}")
    raw = torch.empty(alive.shape, dtype=torch.float64).exponential_(generator=generator) * alive
    fresh = torch.zeros(W.shape, dtype=torch.float64)
    fresh[..., :M] = raw / raw.sum(dim=-2, keepdim=True)
    return fresh
