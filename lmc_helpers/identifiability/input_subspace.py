"""The subspace of a layer's inputs as seen by asymmetric neurons (Bürgin et al., sections 3 and 4.1).

Assumption 3.1: the inputs lie in the span of the orthonormal columns of U (d, k), x = Uc. Then neuron i, with the rows
f_i, d_i, w_i of F, D and W, computes η(a_i·c) with

    a_i = v_i + r_i,        v_i = Uᵀ f_i,        r_i = Uᵀ (d_i ⊙ w_i) = M_i w_i,        M_i = Uᵀ diag(d_i).

The rank of M_i is the dimension of its class of functions (Prop. 4.2), and

    S_i = M_i M_iᵀ = Uᵀ diag(d_i)² U                                                              (eq. (9))

is the Gram matrix whose pseudo-inverse measures costs. The coherence ν, eq. (11), measures how unevenly the
coordinates see the subspace.

U counts as orthonormal within 10⁻⁶.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float64, Real
from torch import Tensor

from lmc_helpers._typing import Positive, Probability, checked, require_finite

__all__ = ["AsymmetricLayer", "coherence", "exact_copies", "grams", "leverages", "pca_basis"]

RTOL = 1e-10  # singular values of M_i up to RTOL times the largest |d_i| count as 0
CONDITION = 1e8  # of S_i, above which its Cholesky factor is not used
CHUNK = 2**22  # entries of the largest temporary array


def _check_basis(U: Tensor, **rows: Tensor) -> None:
    """Raise unless all numbers are finite and the columns of U (..., d, k) orthonormal."""
    require_finite(U=U, **rows)
    error = (U.mT @ U - torch.eye(U.shape[-1], dtype=U.dtype, device=U.device)).abs()
    if (error > 1e-6).any():
        raise ValueError(f"UᵀU differs from I by {error.max().item():.2g}; allowed: orthonormal columns, within 1e-6")


@checked
@dataclass(frozen=True)
class AsymmetricLayer:
    """One layer W_eff = F + D ⊙ W, eq. (2), on inputs in the span of U, in float64.

    It unpacks as ``F, D, W, U``, the order in which the functions of this package take them.

    Parameters
    ----------
    F, D, W
        fixed part, multiplier and raw weights.
    U
        orthonormal basis of the inputs.
    """

    F: Real[Tensor, "*batch m d"]
    D: Real[Tensor, "*batch m d"]
    W: Real[Tensor, "*batch m d"]
    U: Real[Tensor, "d k"]

    def __post_init__(self) -> None:
        for name in ("F", "D", "W", "U"):
            object.__setattr__(self, name, getattr(self, name).double())
        _check_basis(self.U, F=self.F, D=self.D, W=self.W)

    def __iter__(self) -> Iterator[Tensor]:
        return iter((self.F, self.D, self.W, self.U))

    @property
    def centres(self) -> Tensor:
        """v_i = Uᵀ f_i, (..., m, k)."""
        return self.F @ self.U

    @property
    def trained_parts(self) -> Tensor:
        """r_i = Uᵀ (d_i ⊙ w_i), (..., m, k)."""
        return (self.D * self.W) @ self.U

    @property
    def functions(self) -> Tensor:
        """a_i = Uᵀ (f_i + d_i ⊙ w_i), (..., m, k)."""
        return (self.F + self.D * self.W) @ self.U


@checked
def leverages(U: Real[Tensor, "*batch d k"]) -> Real[Tensor, "*batch d"]:
    """Squared norms of the rows of an orthonormal U, the diagonal of U Uᵀ.

    They add up to k, and the largest is the coherence ν.
    """
    return U.square().sum(dim=-1)


@checked
def coherence(U: Real[Tensor, "*batch d k"]) -> Float64[Tensor, "*batch"]:
    """Coherence ν of a subspace, eq. (11): the largest diagonal entry of UUᵀ, in [k/d, 1].

    Examples
    --------
    The diagonal of the plane, and an axis:

    >>> half = torch.full((2, 1), 0.5, dtype=torch.float64).sqrt()
    >>> axis = torch.tensor([[1.0], [0.0]], dtype=torch.float64)
    >>> round(coherence(half).item(), 12), coherence(axis).item()
    (0.5, 1.0)

    Of the inputs of a layer of a module:

    >>> import lmc_helpers as lmc
    >>> net, x = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), torch.tensor([[1.0, 1.0]])
    >>> round(lmc.coherence(lmc.asymmetric_layer(net, "0", x).U).item(), 6)
    0.5
    """
    U = U.double()
    _check_basis(U)
    return U.square().sum(dim=-1).amax(dim=-1)


@checked
def exact_copies(d: Positive, k: Positive, copies: Positive) -> Float64[Tensor, "d k"]:
    """Basis of inputs with ``copies`` copies of each of k latent variables and zeros (App. F.5); ν = 1/copies."""
    if k * copies > d:
        raise ValueError(f"d = {d}, k = {k}, copies = {copies}; allowed: k · copies <= d")
    U = torch.zeros(d, k, dtype=torch.float64)
    U[: k * copies] = torch.eye(k, dtype=torch.float64).repeat(copies, 1) / math.sqrt(copies)
    return U


@checked
def grams(D: Real[Tensor, "... m d"], U: Real[Tensor, "... d k"]) -> Float64[Tensor, "... m k k"]:
    """Gram matrices S_i = Uᵀ diag(d_i)² U, eq. (9)."""
    D, U = D.double(), U.double()
    _check_basis(U, D=D)
    return _grams(D, U)


def _grams(D: Tensor, U: Tensor) -> Tensor:
    return (U.mT[..., None, :, :] * D.square()[..., None, :]) @ U[..., None, :, :]


@checked
def pca_basis(X: Real[Tensor, "n d"], explained: Probability = 0.9, centred: bool = False) -> Float64[Tensor, "d k"]:
    """Basis U of the smallest principal subspace that explains a share of the second moment, directions in order.

    Parameters
    ----------
    X
        inputs.
    explained
        share > 0 of the trace of the second moment, or of the covariance.
    centred
        False: the second moment E xxᵀ, as in App. E.1; True: the covariance.
    """
    if explained == 0:
        raise ValueError("explained = 0 leaves no direction; allowed: 0 < explained <= 1")
    X = X.double()
    require_finite(X=X)
    if centred:
        X = X - X.mean(dim=0)
    _, s, right = torch.linalg.svd(X, full_matrices=False)
    energy = s.square().cumsum(dim=0)
    if not energy[-1] > 0:
        raise ValueError("the inputs have no variation; allowed: inputs that are not all 0 (equal, if centred)")
    k = int((energy < energy[-1] * (explained - 1e-12)).sum()) + 1
    return right[: min(k, len(s))].mT.contiguous()


def _whiteners(D: Tensor, U: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """Matrices B_i (..., m, k, k) with B_iᵀB_i = S_i⁺, hence ``‖B_i g‖²`` = gᵀS_i⁺g.

    B_i is the inverse Cholesky factor of S_i. Where S_i is worse conditioned than CONDITION, B_i comes from the
    singular values of M_i, which do not square the condition number. Also returned: which M_i are rank deficient,
    (..., m), and for these the projectors off the image of M_i, or None if no M_i is badly conditioned.
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


def _neuron_slices(D: Tensor, U: Tensor) -> list[slice]:
    """Consecutive ranges of neurons whose comparison with all m needs at most CHUNK numbers."""
    m, (d, k) = D.shape[-2], U.shape[-2:]
    step = max(1, CHUNK // max(1, math.prod(D.shape[:-2]) * k * max(m, d)))
    return [slice(start, start + step) for start in range(0, m, step)]
