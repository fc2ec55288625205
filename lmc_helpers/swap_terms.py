"""The three terms of a swap cost, and how near a cost is to that of the centres alone (Bürgin et al., section 4.3).

With centres v_i = Uᵀf_i, trained parts r_i = Uᵀ(d_i ⊙ w_i) and Gram matrices S_i, eq. (16) splits the cost of
exchanging two neurons into a centre term, a cross term and a term from the different metrics. Theorem 4.5 compares
the cost of a permutation with ``‖δ_π‖²/μ``, δ_π = (P_π − I) F U.
"""

from __future__ import annotations

import torch

from lmc_helpers.input_subspace import refuse
from lmc_helpers.neuron_metrics import chunks, layer, whiteners

__all__ = ["center_shift", "swap_terms"]


def swap_terms(
    F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The three terms of eq. (16): centre, cross and metric mismatch, for all pairs.

    Parameters are those of :func:`~lmc_helpers.identifiability.cost_table`.

    Returns
    -------
    tuple of torch.Tensor
        three (..., m, m) that add up to :func:`~lmc_helpers.identifiability.swap_costs`.

    Raises
    ------
    ValueError
        as :func:`~lmc_helpers.identifiability.cost_table`, and if some M_i has not full rank.

    Examples
    --------
    The example of :func:`~lmc_helpers.identifiability.swap_costs`: equal metrics, centres that differ by 1, trained
    parts 3 and −1.

    >>> F, W = torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [-1.0]])
    >>> [term[0, 1].item() for term in swap_terms(F, torch.ones(2, 1), W, torch.eye(1))]
    [2.0, -8.0, 0.0]
    """
    v, r, D, U = layer(F, D, W, U)
    rows = []
    for part in chunks(D, U):
        B, deficient, _ = whiteners(D[..., part, :], U)
        if deficient.any():
            raise ValueError("some M_i = Uᵀ diag(d_i) has not full rank; eq. (16) is stated for full rank only")
        X = (v[..., None, :, :] - v[..., part, None, :]) @ B.mT  # B_i (v_j − v_i)
        Y = r[..., None, :, :] @ B.mT  # B_i r_j
        rows.append(torch.stack([X.square().sum(dim=-1), 2 * (X * Y).sum(dim=-1), Y.square().sum(dim=-1)]))
    center, cross, own = torch.cat(rows, dim=-2)
    diagonal = own.diagonal(dim1=-2, dim2=-1)
    mismatch = own + own.mT - diagonal[..., None, :] - diagonal[..., :, None]
    return center + center.mT, cross + cross.mT, mismatch


def center_shift(F: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """δ_π = (P_π − I) F U of eq. (17) for permutations p (..., m); shape (..., m, k).

    Examples
    --------
    >>> center_shift(torch.tensor([[0.0], [1.0]]), torch.eye(1), torch.tensor([1, 0])).tolist()
    [[1.0], [-1.0]]
    """
    F, U = F.double(), U.double()
    refuse(U, F)
    v = F @ U
    return v[p] - v
