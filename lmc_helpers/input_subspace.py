"""The subspace of a layer's inputs (Assumption 3.1 of Bürgin et al.) and what asymmetric neurons see of it.

U (d, k) has orthonormal columns that span the inputs. Row i of D sees the subspace through M_i = Uᵀ diag(d_i), whose
rank is the dimension of neuron i's effective function class (Prop. 4.2) and whose Gram matrix is S_i = M_i M_iᵀ, eq.
(9).
"""

from __future__ import annotations

import torch

__all__ = ["RTOL", "class_dimension", "grams", "pca_basis", "refuse"]

RTOL = 1e-10  # singular values of M_i up to RTOL times the largest |d_i| count as 0


def refuse(U: torch.Tensor, *others: torch.Tensor) -> None:
    """Raise unless U is an orthonormal basis and everything is finite and of its width."""
    if U.ndim < 2 or not 1 <= U.shape[-1] <= U.shape[-2]:
        raise ValueError(f"U has shape {tuple(U.shape)}; allowed: (d, k) with 1 <= k <= d")
    for x in (U, *others):
        if not x.isfinite().all():
            raise ValueError("an entry is not finite; allowed: finite numbers")
    error = (U.mT @ U - torch.eye(U.shape[-1], dtype=U.dtype, device=U.device)).abs().max().item()
    if error > 1e-6:
        raise ValueError(f"UᵀU differs from I by {error:.2g}; allowed: orthonormal columns, within 1e-6")
    for x in others:
        if x.shape[-1] != U.shape[-2]:
            raise ValueError(f"a row has {x.shape[-1]} entries; allowed: d = {U.shape[-2]}, the rows of U")


def grams(D: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Gram matrices S_i = Uᵀ diag(d_i)² U, eq. (9), of the rows of D (..., m, d); shape (..., m, k, k).

    Examples
    --------
    >>> grams(torch.tensor([[2.0, 0.0]]), torch.eye(2)).tolist()
    [[[4.0, 0.0], [0.0, 0.0]]]
    """
    D, U = D.double(), U.double()
    refuse(U, D)
    return (U.mT[..., None, :, :] * D.square()[..., None, :]) @ U[..., None, :, :]


def class_dimension(D: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Rank of M_i = Uᵀ diag(d_i), the dimension of neuron i's effective function class, for the rows of D (..., m, d).

    Examples
    --------
    >>> class_dimension(torch.tensor([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), torch.eye(2)).tolist()
    [1, 2, 0]
    """
    D, U = D.double(), U.double()
    refuse(U, D)
    s = torch.linalg.svdvals(U.mT[..., None, :, :] * D[..., None, :])
    return (s > RTOL * D.abs().amax(dim=-1, keepdim=True)).sum(dim=-1)


def pca_basis(X: torch.Tensor, explained: float = 0.9, centered: bool = False) -> torch.Tensor:
    """Basis U (d, k) of the least principal subspace that explains a share of the inputs' second moment.

    Parameters
    ----------
    X : torch.Tensor
        inputs (n, d).
    explained : float
        share in (0, 1] of the trace of the second moment, or of the covariance, that the subspace keeps.
    centered : bool
        False takes the second moment E xxᵀ, as App. E.1 does; True subtracts the mean first.

    Returns
    -------
    torch.Tensor
        (d, k), orthonormal, float64, principal directions in order.

    Raises
    ------
    ValueError
        if the share is outside (0, 1], X is not finite, or all inputs are 0 (equal, if centred).

    Examples
    --------
    >>> pca_basis(torch.tensor([[3.0, 0.0], [0.0, 1.0]]), explained=0.9).abs().tolist()
    [[1.0], [0.0]]
    """
    X = X.double()
    if not 0 < explained <= 1:
        raise ValueError(f"explained = {explained}; allowed: 0 < explained <= 1")
    if X.ndim != 2 or not X.isfinite().all():
        raise ValueError(f"X has shape {tuple(X.shape)}; allowed: (n, d) with finite entries")
    if centered:
        X = X - X.mean(dim=0)
    _, s, right = torch.linalg.svd(X, full_matrices=False)
    energy = s.square().cumsum(dim=0)
    if not energy[-1] > 0:
        raise ValueError("the inputs have no variation; allowed: inputs that are not all 0 (equal, if centred)")
    k = int((energy < energy[-1] * (explained - 1e-12)).sum()) + 1
    return right[: min(k, len(s))].mT.contiguous()
