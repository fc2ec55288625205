"""The cost of exchanging functions between neurons, and the cheapest exchange (Bürgin et al., section 4.3, App. C).

With centres v_i = Uᵀf_i, trained parts r_i = Uᵀ(d_i ⊙ w_i) and Gram matrices S_i of full rank, eq. (16) splits the cost
of exchanging neurons i and j into a centre term, a cross term and a term from the different metrics,

    Δ_(ij) = x·(S_i⁻¹ + S_j⁻¹)x + 2 x·(S_i⁻¹ r_j − S_j⁻¹ r_i)
             + r_j·(S_i⁻¹ − S_j⁻¹)r_j + r_i·(S_j⁻¹ − S_i⁻¹)r_i,        x = v_j − v_i              (eq. (16)).

Theorem 4.5 compares the cost Δ_π of a permutation with ``‖δ_π‖²/μ``, δ_π = (P_π − I) F U, eq. (17).

Δ_π = Σ_i (T_iπ(i) − T_ii) is linear in the permutation matrix, so that its minimum over all m! permutations is a linear
assignment problem in the table T of squared costs. A permutation other than the identity moves some neuron i, so the
minimum over these is the least of m problems with T_ii forbidden; one problem is enough where the identity is not a
minimum.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Float64, Int64, Real
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from lmc_helpers._typing import checked
from lmc_helpers.identifiability.costs import output_sensitivity
from lmc_helpers.identifiability.input_subspace import AsymmetricLayer, _neuron_slices, _whiteners

__all__ = ["cheapest", "cheapest_other", "swap_terms"]


@checked
def swap_terms(
    F: Real[Tensor, "*batch m d"], D: Real[Tensor, "*batch m d"], W: Real[Tensor, "*batch m d"], U: Real[Tensor, "d k"]
) -> tuple[Float64[Tensor, "*batch m m"], Float64[Tensor, "*batch m m"], Float64[Tensor, "*batch m m"]]:
    """The three terms of eq. (16), for all pairs: centre, cross and metric mismatch.

    They add up to :func:`~lmc_helpers.identifiability.costs.swap_costs`, whose arguments they take.

    Examples
    --------
    Equal metrics, centres that differ by 1, trained parts 3 and −1:

    >>> F, W = torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [-1.0]])
    >>> [term[0, 1].item() for term in swap_terms(F, torch.ones(2, 1), W, torch.eye(1))]
    [2.0, -8.0, 0.0]
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


def _assign(table: np.ndarray) -> np.ndarray | None:
    """The permutation of least total cost, or None if all cost ∞."""
    try:
        return linear_sum_assignment(table)[1]
    except ValueError as error:
        if "infeasible" in str(error):
            return None
        raise


def _check_table(table: Tensor) -> None:
    if table.isnan().any() or not table.diagonal().isfinite().all():
        raise ValueError("a cost is not a number, or a neuron cannot compute its own function; allowed: a cost table")


@checked
def cheapest(table: Float[Tensor, "m m"]) -> tuple[Int64[Tensor, " m"], float]:
    """The permutation with the least Δ_π, and Δ_π, at most 0.

    Parameters
    ----------
    table
        squared realization costs of :func:`~lmc_helpers.identifiability.costs.cost_table`, infinite where impossible.

    Examples
    --------
    >>> p, cost = cheapest(torch.tensor([[9.0, 0.0], [4.0, 1.0]]))
    >>> p.tolist(), cost
    ([1, 0], -6.0)
    """
    _check_table(table)
    p = torch.from_numpy(_assign(table.double().numpy()))
    change = output_sensitivity(table.double(), p).item()
    return (p, change) if change < 0 else (torch.arange(len(table)), 0.0)


@checked
def cheapest_other(table: Float[Tensor, "m m"]) -> tuple[Int64[Tensor, " m"], float]:
    """The permutation π ≠ id with the least Δ_π, and Δ_π; the identity and ∞ if all others cost ∞.

    Parameters
    ----------
    table
        as for :func:`cheapest`, of at least two neurons.

    Examples
    --------
    >>> p, cost = cheapest_other(torch.tensor([[1.0, 2.0, 9.0], [3.0, 1.0, 9.0], [9.0, 9.0, 1.0]]))
    >>> p.tolist(), cost
    ([1, 0, 2], 3.0)
    """
    _check_table(table)
    m = len(table)
    if m < 2:
        raise ValueError(f"m = {m} neuron; allowed: at least 2")
    p, change = cheapest(table)
    if change < 0:
        return p, change
    costs, best, least = table.double().numpy().copy(), torch.arange(m), float("inf")
    for i in range(m):
        diagonal, costs[i, i] = costs[i, i], np.inf
        assignment = _assign(costs)
        costs[i, i] = diagonal
        if assignment is not None:
            p = torch.from_numpy(assignment)
            change = output_sensitivity(table.double(), p).item()
            if change < least:
                best, least = p, change
    return best, least
