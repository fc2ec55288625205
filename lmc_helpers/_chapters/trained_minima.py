"""Minima with the types of trained networks and other entries, for the chapter *trained minima*."""

from __future__ import annotations

import torch

from lmc_helpers.seeds import torch_generator
from lmc_helpers.teacher_student import snap


def with_uniform_entries(W: torch.Tensor, M: int, seed: int) -> torch.Tensor:
    """Minima whose rows have the types of W and whose entries are uniform on the simplex of each type (Lemma 8).

    The barrier depends on the number of rows of each type and on how its unit mass is spread over them. Trained
    networks differ from uniform minima in both; these minima separate the two (Zhan, Li & Wu, section 5).
    """
    alive = snap(W, M)[..., :M] > 0  # (..., m, M)
    generator = torch_generator(seed, f"uniform entries {tuple(W.shape)}")
    raw = torch.empty(alive.shape, dtype=torch.float64).exponential_(generator=generator) * alive
    fresh = torch.zeros(W.shape, dtype=torch.float64)
    fresh[..., :M] = raw / raw.sum(dim=-2, keepdim=True)
    return fresh
