"""The cost for neuron i of computing the function of neuron j (Bürgin et al., sections 4.1 to 4.3).

Neuron i has the centre v_i = Uᵀf_i and the map M_i = Uᵀ diag(d_i), and computes the function with coefficients a if
a = v_i + M_i w (:mod:`~lmc_helpers.identifiability.input_subspace`). The *realization cost* of that function is the
least ``‖w‖``,

    ``‖h_a‖_i² = (a − v_i)ᵀ S_i⁺ (a − v_i)``  if a − v_i is in the image of M_i, else ∞          (eqs. (8) to (10)),

with the Gram matrix S_i = M_i M_iᵀ, eq. (9), attained by w = M_i⁺(a − v_i), eq. (48). With the squared costs T_ij
of the function of neuron j on neuron i, the total cost changes, if each neuron i gets the function of neuron π(i), by

    Δ_π = Σ_i (T_iπ(i) − T_ii)                                                                    (eq. (14)),

for a swap by Δ_(ij). With the trained parts r_i = Uᵀ(d_i ⊙ w_i) and Gram matrices of full rank, eq. (16) splits it into
a centre term, a cross term and a term from the different metrics,

    Δ_(ij) = x·(S_i⁻¹ + S_j⁻¹)x + 2 x·(S_i⁻¹ r_j − S_j⁻¹ r_i)
             + r_j·(S_i⁻¹ − S_j⁻¹)r_j + r_i·(S_j⁻¹ − S_i⁻¹)r_i,        x = v_j − v_i              (eq. (16)).

A difference a − v counts as in the image if its distance from the image is at most RTOL times the larger of ``‖a‖``
and ``‖v‖``; singular values of M_i up to RTOL times the largest ``|d_i|`` count as 0.

F, D and W are the fixed part, the multiplier and the raw weights of a layer, and U an orthonormal basis of its inputs.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float, Float64, Int64, Real
from torch import Tensor

from lmc_helpers._typing import checked
from lmc_helpers.identifiability.input_subspace import RTOL, AsymmetricLayer, _check_basis, _neuron_slices, _whiteners
from lmc_helpers.matching import check_permutation

__all__ = ["cost_table", "least_norm_weight", "output_sensitivity", "realization_cost", "swap_costs", "swap_terms"]


def _least_norm(a: Tensor, f: Tensor, d: Tensor, U: Tensor) -> tuple[Tensor, Tensor]:
    """M⁺(a − v) (..., d), and whether a − v lies in the image of M = Uᵀ diag(d); leading dimensions broadcast."""
    a, f, d, U = (x.double() for x in (a, f, d, U))
    _check_basis(U, a=a, f=f, d=d)
    v = (U.mT @ f[..., None])[..., 0]
    gap = a - v
    scale = torch.maximum(torch.linalg.vector_norm(a, dim=-1), torch.linalg.vector_norm(v, dim=-1))
    lead = torch.broadcast_shapes(gap.shape[:-1], d.shape[:-1], U.shape[:-2])
    gap, scale, d, U = gap.expand(*lead, -1), scale.expand(lead), d.expand(*lead, -1), U.expand(*lead, -1, -1)
    M = U.mT * d[..., None, :]  # (..., k, d)
    left, s, right = torch.linalg.svd(M, full_matrices=False)
    keep = s > RTOL * d.abs().amax(dim=-1, keepdim=True)
    parts = (left.mT @ gap[..., None])[..., 0] * keep  # coordinates of gap in the image
    inside = torch.linalg.vector_norm(gap - (left @ parts[..., None])[..., 0], dim=-1) <= RTOL * scale
    return (right.mT @ (parts / torch.where(keep, s, 1))[..., None])[..., 0], inside


@checked
def least_norm_weight(
    a: Real[Tensor, "... k"], f: Real[Tensor, "... d"], d: Real[Tensor, "... d"], U: Real[Tensor, "... d k"]
) -> Float64[Tensor, "... d"]:
    """The least weight with which a neuron computes the function a, M⁺(a − v) of eq. (48); NaN where it cannot.

    Parameters
    ----------
    a, f, d, U
        as for :func:`realization_cost`.

    Examples
    --------
    >>> least_norm_weight(torch.tensor([3.0]), torch.zeros(2), torch.tensor([1.0, 2.0]), torch.tensor([[0.6], [0.8]]))
    tensor([0.6164, 1.6438], dtype=torch.float64)
    """
    w, inside = _least_norm(a, f, d, U)
    return torch.where(inside[..., None], w, math.nan)


@checked
def realization_cost(
    a: Real[Tensor, "... k"], f: Real[Tensor, "... d"], d: Real[Tensor, "... d"], U: Real[Tensor, "... d k"]
) -> Float64[Tensor, " ..."]:
    """Realization cost of eq. (10): the norm, not its square, of the least weight; infinite outside the class.

    Parameters
    ----------
    a
        coefficients of the function, a = Uᵀ w_eff.
    f, d
        the neuron's rows of F and D.
    U
        orthonormal basis of the inputs. Leading dimensions broadcast.

    Examples
    --------
    A neuron that sees only the first of two coordinates, at half strength; a function of that coordinate, and one of
    the other coordinate, which is outside its class:

    >>> f, d, U = torch.zeros(2), torch.tensor([0.5, 0.0]), torch.eye(2)
    >>> realization_cost(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), f, d, U)
    tensor([6., inf], dtype=torch.float64)

    Of a module, the function of neuron 1 on neuron 0:

    >>> import lmc_helpers as lmc
    >>> net, x = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), torch.eye(2)
    >>> F, D, W, U = lmc.asymmetric_layer(net, "0", x, explained=1.0)
    >>> bool(torch.allclose(lmc.realization_cost(U.T @ W[1], F[0], D[0], U), W[1].norm()))
    True
    """
    w, inside = _least_norm(a, f, d, U)
    return torch.where(inside, torch.linalg.vector_norm(w, dim=-1), math.inf)


@checked
def cost_table(
    F: Real[Tensor, "*batch m d"], D: Real[Tensor, "*batch m d"], W: Real[Tensor, "*batch m d"], U: Real[Tensor, "d k"]
) -> Float64[Tensor, "*batch m m"]:
    """Squared realization costs T_ij of the function of neuron j on neuron i, infinite where i cannot compute it.

    Examples
    --------
    >>> F, D = torch.tensor([[0.0], [2.0]]), torch.tensor([[1.0], [0.5]])
    >>> cost_table(F, D, torch.tensor([[1.0], [1.0]]), torch.eye(1))
    tensor([[1.0000, 6.2500],
            [4.0000, 1.0000]], dtype=torch.float64)
    """
    layer = AsymmetricLayer(F, D, W, U)
    v, D, U = layer.centres, layer.D, layer.U
    a = v + layer.trained_parts
    size_a, size_v = (torch.linalg.vector_norm(x, dim=-1) for x in (a, v))
    rows = []
    for part in _neuron_slices(D, U):
        B, deficient, off = _whiteners(D[..., part, :], U)
        gap = a[..., None, :, :] - v[..., part, None, :]  # (..., c, m, k)
        table = (gap @ B.mT).square_().sum(dim=-1)
        if off is not None and deficient.any():
            left = torch.linalg.vector_norm(gap[deficient] @ off, dim=-1)
            scale = torch.maximum(size_a[..., None, :], size_v[..., part, None])[deficient]
            table[deficient] = torch.where(left <= RTOL * scale, table[deficient], math.inf)
        rows.append(table)
    return torch.cat(rows, dim=-2)


@checked
def output_sensitivity(table: Float[Tensor, "m m"], p: Int64[Tensor, "*batch m"]) -> Float[Tensor, "*batch"]:
    """Δ_π of eq. (14) for permutations of the neurons: Σ_i (T_iπ(i) − T_ii), infinite if a neuron leaves its class.

    Parameters
    ----------
    table
        :func:`cost_table` of one layer.
    p
        neuron i gets the function of neuron p[i].

    Examples
    --------
    >>> table = torch.tensor([[1.0, 6.25], [4.0, 1.0]], dtype=torch.float64)
    >>> output_sensitivity(table, torch.tensor([[0, 1], [1, 0]]))
    tensor([0.0000, 8.2500], dtype=torch.float64)
    """
    check_permutation(p)
    order = torch.arange(table.shape[-1], device=table.device)
    change = table[order, p] - table.diagonal()
    return torch.where(p != order, change, 0).sum(dim=-1)


@checked
def swap_costs(
    F: Real[Tensor, "*batch m d"], D: Real[Tensor, "*batch m d"], W: Real[Tensor, "*batch m d"], U: Real[Tensor, "d k"]
) -> Float64[Tensor, "*batch m m"]:
    """Squared sensitivity Δ_(ij) to the exchange of neurons i and j, eq. (16), for all pairs; 0 on the diagonal.

    It is negative where the exchange makes the weights smaller, and ∞ for pairs that cannot exchange functions.

    Examples
    --------
    Two neurons on one coordinate with centres 0 and 1 and weights 3 and −1 compute 3x and 0. Exchanged, they need the
    weights 0 and 2.

    >>> F, W = torch.tensor([[0.0], [1.0]]), torch.tensor([[3.0], [-1.0]])
    >>> swap_costs(F, torch.ones(2, 1), W, torch.eye(1))
    tensor([[ 0., -6.],
            [-6.,  0.]], dtype=torch.float64)

    Of a layer of a module; without fixed parts every exchange is free:

    >>> import lmc_helpers as lmc
    >>> net, x = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), torch.eye(2)
    >>> bool(lmc.swap_costs(*lmc.asymmetric_layer(net, "0", x, explained=1.0)).abs().max() < 1e-12)
    True
    """
    table = cost_table(F, D, W, U)
    change = table - table.diagonal(dim1=-2, dim2=-1)[..., :, None]  # neuron i gets the function of neuron j
    swap = change + change.mT
    swap.diagonal(dim1=-2, dim2=-1).zero_()
    return swap


@checked
def swap_terms(
    F: Real[Tensor, "*batch m d"], D: Real[Tensor, "*batch m d"], W: Real[Tensor, "*batch m d"], U: Real[Tensor, "d k"]
) -> tuple[Float64[Tensor, "*batch m m"], Float64[Tensor, "*batch m m"], Float64[Tensor, "*batch m m"]]:
    """The three terms of eq. (16), for all pairs: centre, cross and metric mismatch.

    They add up to :func:`swap_costs`, whose arguments they take.
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
