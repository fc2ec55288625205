"""The cheapest reassignment of functions to neurons: an assignment problem in the table of realization costs.

Δ_π = Σ_i (T_iπ(i) − T_ii) is linear in the permutation matrix, so that its minimum over all m! permutations is a
linear assignment problem. A permutation other than the identity moves some neuron i, so the minimum over these is the
least of m problems with T_ii forbidden; one problem is enough where the identity is not a minimum.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment

from lmc_helpers.identifiability import output_sensitivity

__all__ = ["cheapest", "cheapest_other"]


def _solve(table: np.ndarray) -> np.ndarray | None:
    try:
        return linear_sum_assignment(table)[1]
    except ValueError as error:
        if "infeasible" in str(error):
            return None
        raise


def _refuse(table: torch.Tensor) -> None:
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"table has shape {tuple(table.shape)}; allowed: (m, m)")
    if table.isnan().any() or not table.diagonal().isfinite().all():
        raise ValueError("a cost is not a number, or a neuron cannot compute its own function; allowed: a cost table")


def cheapest(table: torch.Tensor) -> tuple[torch.Tensor, float]:
    """The permutation with the least Δ_π, and Δ_π, at most 0.

    Parameters
    ----------
    table : torch.Tensor
        squared realization costs (m, m), infinite where impossible (:func:`lmc_helpers.identifiability.cost_table`).

    Returns
    -------
    tuple
        permutation (m,) and its cost.

    Raises
    ------
    ValueError
        if the table is not square, holds NaN, or an infinite cost on its diagonal.

    Examples
    --------
    >>> p, cost = cheapest(torch.tensor([[9.0, 0.0], [4.0, 1.0]]))
    >>> p.tolist(), cost
    ([1, 0], -6.0)
    """
    _refuse(table)
    p = torch.from_numpy(_solve(table.double().numpy()))
    change = output_sensitivity(table.double(), p).item()
    return (p, change) if change < 0 else (torch.arange(len(table)), 0.0)


def cheapest_other(table: torch.Tensor) -> tuple[torch.Tensor, float]:
    """The permutation with the least Δ_π among all but the identity, and Δ_π.

    Parameters, returns and errors are those of :func:`cheapest`, and there must be two neurons; where every other
    permutation costs ∞, the identity comes back with the cost ∞.

    Examples
    --------
    >>> p, cost = cheapest_other(torch.tensor([[1.0, 2.0, 9.0], [3.0, 1.0, 9.0], [9.0, 9.0, 1.0]]))
    >>> p.tolist(), cost
    ([1, 0, 2], 3.0)
    """
    _refuse(table)
    m = len(table)
    if m < 2:
        raise ValueError(f"m = {m} neuron; allowed: at least 2")
    p, change = cheapest(table)
    if change < 0:
        return p, change
    costs, best, least = table.double().numpy().copy(), torch.arange(m), float("inf")
    for i in range(m):
        own, costs[i, i] = costs[i, i], np.inf
        found = _solve(costs)
        costs[i, i] = own
        if found is not None:
            p = torch.from_numpy(found)
            change = output_sensitivity(table.double(), p).item()
            if change < least:
                best, least = p, change
    return best, least
