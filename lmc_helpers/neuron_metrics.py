"""The metrics S_i⁺ of all neurons of an asymmetric layer, in pieces that fit into memory.

The cost of a difference g for neuron i is ``‖B_i g‖²`` with B_iᵀB_i = S_i⁺. B_i is the inverse Cholesky factor of S_i
= Uᵀ diag(d_i)² U. Where S_i is worse conditioned than CONDITION, B_i comes from the singular values of M_i = Uᵀ
diag(d_i), which do not square the condition number.
"""

from __future__ import annotations

import math

import torch

from lmc_helpers.input_subspace import RTOL, refuse

__all__ = ["chunks", "layer", "whiteners"]

CONDITION = 1e8
CHUNK = 2**22  # entries of the largest temporary array


def layer(
    F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Centres v and trained parts r (..., m, k), and D and U in float64."""
    F, D, W, U = (x.double() for x in (F, D, W, U))
    refuse(U, F, D, W)
    if F.shape != D.shape or F.shape != W.shape or F.ndim < 2:
        shapes = ", ".join(str(tuple(x.shape)) for x in (F, D, W))
        raise ValueError(f"F, D, W have shapes {shapes}; allowed: one shape (..., m, d)")
    return F @ U, (D * W) @ U, D, U


def whiteners(D: torch.Tensor, U: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """B_i (..., c, k, k) with B_iᵀB_i = S_i⁺, the rows of less than full rank, and projectors off their image."""
    S = (U.mT[..., None, :, :] * D.square()[..., None, :]) @ U[..., None, :, :]
    eye = torch.eye(U.shape[-1], dtype=S.dtype, device=S.device)
    L, failed = torch.linalg.cholesky_ex(S)
    safe = torch.where((failed == 0)[..., None, None], L, eye)
    B = torch.linalg.solve_triangular(safe, eye.expand_as(S), upper=False)
    poor = (failed != 0) | ~(B.square().sum(dim=(-2, -1)) * D.square().amax(dim=-1) <= CONDITION)
    if not poor.any():
        return B, poor, None
    M = (U.mT[..., None, :, :] * D[..., None, :])[poor]
    left, s, _ = torch.linalg.svd(M, full_matrices=False)
    keep = s > RTOL * D[poor].abs().amax(dim=-1, keepdim=True)
    B[poor] = (keep / torch.where(keep, s, 1))[..., None] * left.mT
    deficient = poor.clone()
    deficient[poor] = ~keep.all(dim=-1)
    off = eye - (left * keep[..., None, :]) @ left.mT
    return B, deficient, off[~keep.all(dim=-1)]


def chunks(D: torch.Tensor, U: torch.Tensor) -> list[slice]:
    """Ranges of neurons that keep the temporary arrays small."""
    m, (d, k) = D.shape[-2], U.shape[-2:]
    step = max(1, CHUNK // max(1, math.prod(D.shape[:-2]) * k * max(m, d)))
    return [slice(start, start + step) for start in range(0, m, step)]
