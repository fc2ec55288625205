"""The subspace of a layer's inputs, and what asymmetric neurons see of it (Bürgin et al., sections 3 and 4.1).

Assumption 3.1: the inputs lie in the span of the orthonormal columns of U (d, k), x = Uc. Then neuron i, with the rows
f_i, d_i, w_i of F, D and W, computes η(a_i·c) with

    a_i = v_i + r_i,        v_i = Uᵀ f_i,        r_i = Uᵀ (d_i ⊙ w_i) = M_i w_i,        M_i = Uᵀ diag(d_i).

The rank of M_i is the dimension of its class of functions (Prop. 4.2), and

    S_i = M_i M_iᵀ = Uᵀ diag(d_i)² U                                                              (eq. (9))

is the Gram matrix whose pseudo-inverse measures costs: that of a difference g is ``‖B_i g‖²`` with B_iᵀB_i = S_i⁺
(:func:`whiteners`). How unevenly the coordinates read the subspace is its coherence ν, eq. (11).

A singular value of M_i of at most RTOL times the largest ``|d_i|`` counts as 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from lmc_helpers import expect

__all__ = [
    "RTOL",
    "AsymmetricLayer",
    "check_basis",
    "class_dimension",
    "coherence",
    "grams",
    "leverages",
    "neuron_slices",
    "pca_basis",
    "whiteners",
]

RTOL = 1e-10  # singular values of M_i up to RTOL times the largest |d_i| count as 0
CONDITION = 1e8  # of S_i, beyond which its Cholesky factor is not trusted
CHUNK = 2**22  # entries of the largest temporary array


def check_basis(U: torch.Tensor, *rows: torch.Tensor) -> None:
    """Refuse U unless it is an orthonormal basis, and rows that are not vectors of its space.

    Parameters
    ----------
    U : torch.Tensor
        (..., d, k), orthonormal columns to 10⁻⁶.
    *rows : torch.Tensor
        (..., d), finite.

    Examples
    --------
    >>> check_basis(torch.ones(2, 1))
    Traceback (most recent call last):
        ...
    ValueError: UᵀU differs from I by 1; allowed: orthonormal columns, within 1e-6
    """
    if U.ndim < 2 or not 1 <= U.shape[-1] <= U.shape[-2]:
        raise ValueError(f"U has shape {tuple(U.shape)}; allowed: (d, k) with 1 <= k <= d")
    for x in (U, *rows):
        if not x.isfinite().all():
            raise ValueError("an entry is not finite; allowed: finite numbers")
    error = (U.mT @ U - torch.eye(U.shape[-1], dtype=U.dtype, device=U.device)).abs().max().item()
    if error > 1e-6:
        raise ValueError(f"UᵀU differs from I by {error:.2g}; allowed: orthonormal columns, within 1e-6")
    for x in rows:
        if x.shape[-1] != U.shape[-2]:
            raise ValueError(f"a row has {x.shape[-1]} entries; allowed: d = {U.shape[-2]}, the rows of U")


@dataclass(frozen=True)
class AsymmetricLayer:
    """One layer W_eff = F + D ⊙ W, eq. (2), on inputs in the span of U; checked, and in float64.

    It unpacks as ``F, D, W, U``, the order in which the functions of this room take them.

    Parameters
    ----------
    F, D, W : torch.Tensor
        fixed part, multiplier and raw weights, (..., m, d).
    U : torch.Tensor
        orthonormal basis of the inputs, (d, k).

    Examples
    --------
    Two neurons on one coordinate with centres 0 and 1 compute 3x and 0.

    >>> layer = AsymmetricLayer(torch.tensor([[0.0], [1.0]]), torch.ones(2, 1), torch.tensor([[3.0], [-1.0]]),
    ...                         torch.eye(1))
    >>> [x.flatten().tolist() for x in (layer.centres, layer.trained_parts, layer.functions)]
    [[0.0, 1.0], [3.0, -1.0], [3.0, 0.0]]
    """

    F: torch.Tensor
    D: torch.Tensor
    W: torch.Tensor
    U: torch.Tensor

    def __post_init__(self) -> None:
        for name in ("F", "D", "W", "U"):
            object.__setattr__(self, name, getattr(self, name).double())
        check_basis(self.U, self.F, self.D, self.W)
        if self.F.shape != self.D.shape or self.F.shape != self.W.shape or self.F.ndim < 2:
            shapes = ", ".join(str(tuple(x.shape)) for x in (self.F, self.D, self.W))
            raise ValueError(f"F, D, W have shapes {shapes}; allowed: one shape (..., m, d)")

    def __iter__(self) -> Iterator[torch.Tensor]:
        return iter((self.F, self.D, self.W, self.U))

    @property
    def centres(self) -> torch.Tensor:
        """v_i = Uᵀ f_i, (..., m, k)."""
        return self.F @ self.U

    @property
    def trained_parts(self) -> torch.Tensor:
        """r_i = Uᵀ (d_i ⊙ w_i), (..., m, k)."""
        return (self.D * self.W) @ self.U

    @property
    def functions(self) -> torch.Tensor:
        """a_i = Uᵀ (f_i + d_i ⊙ w_i), (..., m, k): what each neuron reads of the inputs' coordinates."""
        return (self.F + self.D * self.W) @ self.U


def leverages(U: torch.Tensor) -> torch.Tensor:
    """Squared norms of the rows of U, the diagonal of U Uᵀ.

    Parameters
    ----------
    U : torch.Tensor
        orthonormal basis (..., d, k).

    Returns
    -------
    torch.Tensor
        (..., d), each in [0, 1]; they add up to k, and the largest is the coherence ν.

    Examples
    --------
    >>> leverages(torch.eye(3)[:, :2]).tolist()
    [1.0, 1.0, 0.0]
    """
    return U.square().sum(dim=-1)


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

    Examples
    --------
    The diagonal of the plane, and an axis:

    >>> half = torch.full((2, 1), 0.5, dtype=torch.float64).sqrt()
    >>> axis = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    >>> round(coherence(half).item(), 12), coherence(axis).item()
    (0.5, 1.0)
    """
    expect.tensor(U, "U", "... d k")
    U = U.double()
    check_basis(U)
    return leverages(U).amax(dim=-1)


def grams(D: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Gram matrices S_i = Uᵀ diag(d_i)² U, eq. (9).

    Parameters
    ----------
    D : torch.Tensor
        multipliers (..., m, d).
    U : torch.Tensor
        orthonormal basis of the inputs, (..., d, k).

    Returns
    -------
    torch.Tensor
        (..., m, k, k), float64.

    Examples
    --------
    >>> grams(torch.tensor([[2.0, 0.0]]), torch.eye(2)).tolist()
    [[[4.0, 0.0], [0.0, 0.0]]]
    """
    D, U = D.double(), U.double()
    check_basis(U, D)
    return _grams(D, U)


def _grams(D: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    return (U.mT[..., None, :, :] * D.square()[..., None, :]) @ U[..., None, :, :]


def class_dimension(D: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Rank of M_i = Uᵀ diag(d_i), the dimension of neuron i's class of functions (Prop. 4.2).

    Parameters
    ----------
    D : torch.Tensor
        multipliers (..., m, d).
    U : torch.Tensor
        orthonormal basis of the inputs, (..., d, k).

    Returns
    -------
    torch.Tensor
        (..., m), integers from 0 to k.

    Examples
    --------
    >>> class_dimension(torch.tensor([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0]]), torch.eye(2)).tolist()
    [1, 2, 0]
    """
    D, U = D.double(), U.double()
    check_basis(U, D)
    s = torch.linalg.svdvals(U.mT[..., None, :, :] * D[..., None, :])
    return (s > RTOL * D.abs().amax(dim=-1, keepdim=True)).sum(dim=-1)


def pca_basis(X: torch.Tensor, explained: float = 0.9, centred: bool = False) -> torch.Tensor:
    """Basis U (d, k) of the least principal subspace that explains a share of the inputs' second moment.

    Parameters
    ----------
    X : torch.Tensor
        inputs (n, d).
    explained : float
        share in (0, 1] of the trace of the second moment, or of the covariance, that the subspace keeps.
    centred : bool
        False takes the second moment E xxᵀ, as App. E.1 does; True subtracts the mean first.

    Returns
    -------
    torch.Tensor
        (d, k), orthonormal, float64, principal directions in order.

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
    if centred:
        X = X - X.mean(dim=0)
    _, s, right = torch.linalg.svd(X, full_matrices=False)
    energy = s.square().cumsum(dim=0)
    if not energy[-1] > 0:
        raise ValueError("the inputs have no variation; allowed: inputs that are not all 0 (equal, if centred)")
    k = int((energy < energy[-1] * (explained - 1e-12)).sum()) + 1
    return right[: min(k, len(s))].mT.contiguous()


def whiteners(D: torch.Tensor, U: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """Matrices B_i with B_iᵀB_i = S_i⁺, so that ``‖B_i g‖²`` = gᵀS_i⁺g.

    B_i is the inverse Cholesky factor of S_i. Where S_i is worse conditioned than CONDITION, B_i comes from the
    singular values of M_i, which do not square the condition number.

    Parameters
    ----------
    D : torch.Tensor
        multipliers (..., m, d), float64; they are not checked.
    U : torch.Tensor
        orthonormal basis of the inputs, (d, k), float64.

    Returns
    -------
    torch.Tensor, torch.Tensor, torch.Tensor or None
        B (..., m, k, k); which M_i have less than full rank, (..., m), bool; and for these the projectors off the image
        of M_i, (number, k, k), or None where no M_i is badly conditioned.

    Examples
    --------
    >>> B, deficient, off = whiteners(torch.tensor([[2.0, 0.5], [1.0, 0.0]]).double(), torch.eye(2).double())
    >>> (B.mT @ B).tolist()
    [[[0.25, 0.0], [0.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]]]
    >>> deficient.tolist(), off.tolist()
    ([False, True], [[[0.0, 0.0], [0.0, 1.0]]])
    """
    S = _grams(D, U)
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


def neuron_slices(D: torch.Tensor, U: torch.Tensor) -> list[slice]:
    """Ranges of neurons, one after the other, whose comparison with all m needs at most CHUNK numbers.

    Parameters
    ----------
    D : torch.Tensor
        multipliers (..., m, d).
    U : torch.Tensor
        basis (d, k).

    Returns
    -------
    list of slice
        they cover 0, …, m − 1.

    Examples
    --------
    >>> neuron_slices(torch.zeros(5, 8), torch.zeros(8, 2))[0].stop >= 5
    True
    """
    m, (d, k) = D.shape[-2], U.shape[-2:]
    step = max(1, CHUNK // max(1, math.prod(D.shape[:-2]) * k * max(m, d)))
    return [slice(start, start + step) for start in range(0, m, step)]
