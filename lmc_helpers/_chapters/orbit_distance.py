"""Closed forms and bounds of the distance from an orbit under GL_h, for the chapter *orbit distance*.

Zhao, Dehmamy, Walters & Yu, Prop. 5.5; the distance itself is in :mod:`lmc_helpers.orbits.distance`.
"""

from __future__ import annotations

import torch


def distance_to_zero_product(U: torch.Tensor, V: torch.Tensor) -> torch.Tensor:
    """d_0, the distance of (U, V) to all (X, Z) with X Z = 0.

    d_0² = ½ (``‖U‖² + ‖V‖² − ‖UᵀU − VVᵀ‖_*``)
    """
    values = torch.linalg.eigvalsh(U.mT @ U - V @ V.mT)
    squares = U.square().sum(dim=(-2, -1)) + V.square().sum(dim=(-2, -1))
    return ((squares - values.abs().sum(dim=-1)) / 2).clamp(min=0).sqrt()


def midpoint_bounds(W1: torch.Tensor, W2: torch.Tensor, c: float | torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Bounds on the distance of (c W_1, c W_2) from the orbit of (W_1, W_2): d_0 (c² − 2)^{1/2} and (c − 1/c) d_0.

    The paper's proof has these midpoints, c = (β + 1/β)/2. For the lower bound, ``‖U − X‖² + ‖V − Z‖²`` + 2 ⟨Γ, X Z⟩ is
    convex in (X, Z) for one Γ of spectral norm at most 1, and least at the nearest point of the cone {X Z = 0}.
    """
    c = torch.as_tensor(c, dtype=torch.float64)
    near = distance_to_zero_product(W1, W2)
    return (c.square() - 2).clamp(min=0).sqrt() * near, (c - 1 / c) * near


def balanced_factorisation(A: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """W_1 = P D^{1/2} and W_2 = D^{1/2} Qᵀ from the SVD A = P D Qᵀ, with W_1ᵀ W_1 = W_2 W_2ᵀ = D."""
    P, values, Qh = torch.linalg.svd(A)
    root = values.sqrt()
    return P * root[..., None, :], root[..., None] * Qh


def balanced_distance(c: float | torch.Tensor, A: torch.Tensor) -> torch.Tensor:
    """The distance of (c W_1, c W_2) from the orbit of a balanced factorisation of A, exactly."""
    c = torch.as_tensor(c, dtype=torch.float64)
    square = torch.where(c < 2, 2 * (c - 1).square(), c.square() - 2)
    return (square * torch.linalg.matrix_norm(A, "nuc")).sqrt()
