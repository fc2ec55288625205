"""The subspace of a layer's inputs (Assumption 3.1 of Bürgin et al.) and what asymmetric neurons see of it.

U (d, k) has orthonormal columns that span the inputs. Row i of D sees the subspace through M_i = Uᵀ diag(d_i), whose
rank is the dimension of neuron i's effective function class (Prop. 4.2) and whose Gram matrix is S_i = M_i M_iᵀ, eq.
(9).


TODO merge

The metrics S_i⁺ of all neurons of an asymmetric layer, in pieces that fit into memory.

The cost of a difference g for neuron i is ``‖B_i g‖²`` with B_iᵀB_i = S_i⁺. B_i is the inverse Cholesky factor of S_i
= Uᵀ diag(d_i)² U. Where S_i is worse conditioned than CONDITION, B_i comes from the singular values of M_i = Uᵀ
diag(d_i), which do not square the condition number.


TODO merge

What it costs neuron i to compute the function of neuron j (Bürgin et al., sections 4.1 to 4.3).

The inputs of a layer lie in the span of the orthonormal columns of U (d, k). Neuron i has the centre v_i = Uᵀf_i and
the map M_i = Uᵀ diag(d_i), and computes the function with coefficients a = v_i + M_i w. The realization cost of a is
the least ``‖w‖``, the norm of M_i⁺(a − v_i), and infinite if a − v_i is not in the image of M_i. The squared costs
T_ij of the function of neuron j on neuron i decide everything: a permutation π costs Δ_π = Σ_i (T_iπ(i) − T_ii).

A difference a − v counts as in the image if what is left of it after projection is at most RTOL times the larger of
``‖a‖`` and ``‖v‖``; singular values of M_i up to RTOL times the largest ``|d_i|`` count as 0.


TODO merge

Inputs of a chosen coherence (Bürgin et al., App. F.5): two latent variables embedded into d coordinates.

An input is x = U (a, b)ᵀ with (a, b) normal and U (d, 2) with orthonormal columns, eq. (275). Both families leave
d − 2k rows of U at 0 and give each of the other 2k rows the squared norm 1/k, so that the coherence, the largest
leverage max_ℓ (U Uᵀ)_ℓℓ of eq. (11), is exactly 1/k. The target is ReLU(a + b).
"""

from __future__ import annotations

import math

import torch

__all__ = [
    "RTOL",
    "chunks",
    "class_dimension",
    "coherence",
    "grams",
    "layer",
    "leverages",
    "pca_basis",
    "refuse",
    "whiteners",
]

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


def coherence(U: torch.Tensor) -> torch.Tensor:
    """Coherence ν of a subspace, eq. (11): the largest diagonal entry of UUᵀ, in [k/d, 1].

    Parameters
    ----------
    U : torch.Tensor
        orthonormal basis (..., d, k).

    Returns
    -------
    torch.Tensor
        (...), float64.

    Raises
    ------
    ValueError
        if k > d, the columns are not orthonormal, or an entry is not finite.

    Examples
    --------
    The diagonal of the plane, and an axis:

    >>> half = torch.full((2, 1), 0.5, dtype=torch.float64).sqrt()
    >>> axis = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    >>> round(coherence(half).item(), 12), coherence(axis).item()
    (0.5, 1.0)
    """
    U = U.double()
    refuse(U)
    return U.square().sum(dim=-1).amax(dim=-1)


def leverages(U: torch.Tensor) -> torch.Tensor:
    """Squared norms of the rows of U (..., d, k) with orthonormal columns, the diagonal of U Uᵀ; the largest is ν.

    Examples
    --------
    >>> from lmc_helpers.data.coherence_inputs import exact_copy
    >>> leverages(exact_copy(4, d=9)).tolist()
    [0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.0]
    """
    return U.square().sum(dim=-1)
