"""The group GL_h of invertible h × h matrices: checks that account for rounding, random elements, and paths.

GL_h has two components, det > 0 and det < 0. Let g = Q S be the polar decomposition, Q orthogonal and S symmetric
positive definite. Two matrices a = Q_a S_a and b = Q_b S_b of one sign are joined by rotating Q and moving S on a
straight line, as the positive definite matrices are convex,

    g(t) = Q_a exp(t K) [(1 − t) S_a + t S_b],    exp K = Q_aᵀ Q_b,  K skew.

A matrix counts as singular if σ_min <= 16 h ε σ_max with ε = 2⁻⁵², where rounding may decide the sign of its
determinant.

Matrices are float64 tensors (..., h, h), h >= 1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
import torch
from jaxtyping import Float, Float64
from torch import Tensor

from lmc_helpers._typing import Full, Integer, Positive, Shape, checked, many, require_finite

__all__ = [
    "determinant_sign",
    "path_in_group",
    "polar",
    "random_invertible",
    "require_invertible",
    "rotation_logarithm",
    "times_inverse",
]


if TYPE_CHECKING:
    Matrices = dict[str, Tensor]
else:
    Matrices = many(Full[Tensor, "... _m _h"], "matrices by their names", dict)


@checked
def require_invertible(matrices: Matrices) -> None:
    """Raise unless every matrix has σ_min > 16 h ε σ_max: rounding cannot decide the sign of its determinant."""
    require_finite(**matrices)
    for name, A in matrices.items():
        if not A.shape[-1] or A.shape[-2:] != A.shape[:-3:-1]:
            raise ValueError(f"{name} has shape {tuple(A.shape)}; allowed: (..., h, h) with h >= 1")
        sigma = torch.linalg.svdvals(A)  # (..., h)
        least = 16 * A.shape[-1] * 2**-52  # of the largest: what is smaller may be a rounding error
        singular = ~(sigma[..., -1] > least * sigma[..., 0])
        if singular.any():
            low, high = sigma[singular][0, [-1, 0]].tolist()
            raise ValueError(
                f"{name} is singular to rounding, σ_min = {low:.1e} and σ_max = {high:.1e}; "
                f"allowed: σ_min > {least:.1e} σ_max"
            )


@checked
def determinant_sign(A: Full[Tensor, "*batch h h"]) -> Float[Tensor, " *batch"]:
    """The sign of det A, without forming the determinant, which could under- or overflow.

    It is 0 where a pivot is exactly 0.
    """
    require_finite(A=A)
    return torch.linalg.slogdet(A).sign


@checked
def times_inverse(B: Full[Tensor, "*#batch m h"], A: Full[Tensor, "*#batch h h"]) -> Float[Tensor, "*both m h"]:
    """B A⁻¹, by a solve."""
    # with equal batches, or torch would take a matrix B (h, h) for vectors where A is (h, h, h)
    batch = torch.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    return torch.linalg.solve(A.expand(*batch, *A.shape[-2:]), B.expand(*batch, *B.shape[-2:]), left=False)


def haar(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    """Matrices with orthonormal columns, uniformly distributed, (..., d, k) with k <= d; square ones are orthogonal.

    The factor Q of the QR decomposition of Gaussian matrices, with the signs that make the diagonal of R positive:
    without them the law would not be uniform (Mezzadri, 2007).
    """
    Q, R = torch.linalg.qr(torch.randn(shape, dtype=torch.float64, generator=generator))
    return Q * R.diagonal(dim1=-2, dim2=-1).sign()[..., None, :]


@checked
def random_invertible(
    batch: Shape, h: Positive, generator: torch.Generator, signs: Tensor | Integer | None = None
) -> Float[Tensor, "*batch h h"]:
    """Random elements U diag(e^ξ) V of GL_h: U and V uniform on the orthogonal group, ξ normal with deviation ½.

    The law has a positive density on all of GL_h, either sign of the determinant is equally likely, and the condition
    is moderate. With ``signs``, one for all or of shape ``batch``, the first row is negated where
    the determinant has the other sign.
    """
    U, V = haar((2, *batch, h, h), generator)
    xi = torch.randn(*batch, h, dtype=torch.float64, generator=generator) / 2
    g = U @ (xi.exp()[..., None] * V)
    if signs is not None:
        wanted = torch.as_tensor(signs, dtype=torch.float64)
        if wanted.shape not in (torch.Size(batch), torch.Size(())) or not (wanted.abs() == 1).all():
            found = f"shape {tuple(wanted.shape)} and values {wanted.unique().tolist()}"
            raise ValueError(f"signs have {found}; allowed: {tuple(batch)} or one sign, 1 or -1")
        g[..., 0, :] *= (wanted * determinant_sign(g))[..., None]
    return g


@checked
def polar(g: Full[Tensor, "*batch h h"]) -> tuple[Tensor, Tensor]:
    """The polar decomposition g = Q S, Q orthogonal and S symmetric positive definite."""
    require_finite(g=g)
    U, sigma, Vh = torch.linalg.svd(g)
    S = Vh.mT @ (sigma[..., None] * Vh)
    return U @ Vh, (S + S.mT) / 2


@checked
def rotation_logarithm(R: Float64[Tensor, "*batch h h"]) -> Float64[Tensor, "*batch h h"]:
    """A real skew K with exp K = R and all angles in [0, π], from the real Schur form R = Z T Zᵀ.

    T has blocks 1, −1 and [[cos ω, −sin ω], [sin ω, cos ω]]. As det R = 1, the −1 come in pairs; each is a rotation
    by π. K = Z J Zᵀ with J = [[0, −ω], [ω, 0]] in place of each rotation.
    """
    h = R.shape[-1]
    error = (R.mT @ R - torch.eye(h).to(R)).abs().amax(dim=(-2, -1))
    if not (error <= 1e-10).all():
        raise ValueError(f"RᵀR − I has an entry {error.max().item():.1e}; allowed: orthogonal matrices, to 1e-10")
    if (determinant_sign(R) < 0).any():
        raise ValueError("R has determinant -1; allowed: rotations, which have determinant 1")
    one_by_one = [_logarithm(one) for one in R.detach().cpu().reshape(-1, h, h).numpy()]
    return torch.from_numpy(np.array(one_by_one).reshape(R.shape)).to(R)


@checked
def path_in_group(
    a: Float64[Tensor, "*batch h h"], b: Float64[Tensor, "*batch h h"], steps: Integer
) -> Float64[Tensor, "*batch steps h h"]:
    """A path in GL_h from a to b, whose determinants have one sign.

    With a = Q_a S_a and b = Q_b S_b the polar decompositions and K the logarithm of the rotation Q_aᵀ Q_b, the path is
    g(t) = Q_a exp(t K) [(1 − t) S_a + t S_b]. Its singular values are those of the bracket, hence they stay between the
    least and the largest ones of a and b. Points lie at equal distances of t.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> path_in_group(I, -3 * I, steps=3)[1].abs().round(decimals=9)  # halfway: a rotation by π/2 times 2
    tensor([[0., 2.],
            [2., 0.]], dtype=torch.float64)
    """
    if steps < 2:
        raise ValueError(f"steps = {steps}; allowed: steps >= 2")
    require_invertible({"a": a, "b": b})
    differ = determinant_sign(a) != determinant_sign(b)
    if differ.any():
        raise ValueError("det a and det b have different signs; allowed: two matrices of one component of GL_h")
    (Qa, Sa), (Qb, Sb) = ([part[..., None, :, :] for part in polar(end)] for end in (a, b))
    t = torch.linspace(0, 1, steps, dtype=a.dtype, device=a.device)[:, None, None]
    return Qa @ torch.linalg.matrix_exp(t * rotation_logarithm(Qa.mT @ Qb)) @ ((1 - t) * Sa + t * Sb)


def _logarithm(R: np.ndarray) -> np.ndarray:
    """The logarithm of one rotation (h, h)."""
    T, Z = scipy.linalg.schur(R, output="real")
    blocks = np.flatnonzero(np.diagonal(T, -1))
    angles = [(i, i + 1, math.atan2(T[i + 1, i] - T[i, i + 1], T[i, i] + T[i + 1, i + 1])) for i in blocks]
    half_turns = np.setdiff1d(np.flatnonzero(np.diagonal(T) < 0), [*blocks, *(blocks + 1)])
    angles += [(i, j, math.pi) for i, j in zip(half_turns[::2], half_turns[1::2], strict=True)]
    J = np.zeros_like(T)
    for i, j, angle in angles:
        J[j, i], J[i, j] = angle, -angle
    return Z @ J @ Z.T
