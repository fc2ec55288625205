"""The cost of exchanging functions between neurons (Bürgin et al., section 4.3, App. C).

With centres v_i = Uᵀf_i, trained parts r_i = Uᵀ(d_i ⊙ w_i) and Gram matrices S_i of full rank, eq. (16) splits the cost
of exchanging neurons i and j into a centre term, a cross term and a term from the different metrics,

    Δ_(ij) = x·(S_i⁻¹ + S_j⁻¹)x + 2 x·(S_i⁻¹ r_j − S_j⁻¹ r_i)
             + r_j·(S_i⁻¹ − S_j⁻¹)r_j + r_i·(S_j⁻¹ − S_i⁻¹)r_i,        x = v_j − v_i              (eq. (16)).

Theorem 4.5 compares the cost Δ_π of a permutation with ``‖δ_π‖²/μ``, δ_π = (P_π − I) F U, eq. (17).
"""

from __future__ import annotations

import torch
from jaxtyping import Float64, Real
from torch import Tensor

from lmc_helpers._typing import checked
from lmc_helpers.identifiability.input_subspace import AsymmetricLayer, _neuron_slices, _whiteners

__all__ = ["swap_terms"]


@checked
def swap_terms(
    F: Real[Tensor, "*batch m d"], D: Real[Tensor, "*batch m d"], W: Real[Tensor, "*batch m d"], U: Real[Tensor, "d k"]
) -> tuple[Float64[Tensor, "*batch m m"], Float64[Tensor, "*batch m m"], Float64[Tensor, "*batch m m"]]:
    """The three terms of eq. (16), for all pairs: centre, cross and metric mismatch.

    They add up to :func:`~lmc_helpers.identifiability.costs.swap_costs`, whose arguments they take.
    """
    layer = AsymmetricLayer(F, D, W, U)
    v, r, D, U = layer.centres, layer.trained_parts, layer.D, layer.U
    rows = []
    for part in _neuron_slices(D, U):
        B, deficient, _ = _whiteners(D[..., part, :], U)
        if deficient.any():
            raise ValueError(
                "some M_i = Uᵀ diag(d_i) is rank deficient; allowed: full rank, for which eq. (16) is stated"
            )
        X = (v[..., None, :, :] - v[..., part, None, :]) @ B.mT  # B_i (v_j − v_i)
        Y = r[..., None, :, :] @ B.mT  # B_i r_j
        rows.append(torch.stack([X.square().sum(dim=-1), 2 * (X * Y).sum(dim=-1), Y.square().sum(dim=-1)]))
    centre, cross, metric = torch.cat(rows, dim=-2)
    diagonal = metric.diagonal(dim1=-2, dim2=-1)
    mismatch = metric + metric.mT - diagonal[..., None, :] - diagonal[..., :, None]
    return centre + centre.mT, cross + cross.mT, mismatch
