"""Code of the chapter *barrier rate*."""

from __future__ import annotations

import torch
from torch import Tensor

# ---------- minima with a prescribed share of matched mass
#
# Half of the types are split into 2γ − 1, matched, and 2(1 − γ), unmatched, in the first network only, the others in
# the second only. Halfway every type has the matched mass γ >= ¾, so that unmatched rows are smaller than matched ones.


def minima_with_matched_share(gamma: float, M: int) -> tuple[Tensor, Tensor]:
    """Two minima (3M/2, M), M even, that Algorithm 1 leaves in place, with the mean matched mass γ."""
    eye, rest = torch.eye(M, dtype=torch.float64), 2 * (1 - gamma)
    first = (torch.arange(M) < M // 2).double()[:, None]  # (M, 1)
    W1 = torch.cat([eye * (1 - rest * first), rest * eye[: M // 2]])
    W2 = torch.cat([eye * (1 - rest * (1 - first)), rest * eye[M // 2 :]])
    return W1, W2
