"""Paths inside GL_h, which has two components, det > 0 and det < 0.

Let g = Q S be the polar decomposition, Q orthogonal and S symmetric positive definite. Two matrices of one sign are
joined by rotating Q and moving S on a straight line, as the positive definite matrices are convex.

Matrices are float64 tensors (..., h, h), h >= 1.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg
import torch

from lmc_helpers.general_linear import determinant_sign, require_invertible, require_square

__all__ = ["path_in_group", "rotation_logarithm"]


def rotation_logarithm(R: torch.Tensor) -> torch.Tensor:
    """A real skew K with exp K = R and all angles in [0, π], from the real Schur form R = Z T Zᵀ.

    T has blocks 1, −1 and [[cos ω, −sin ω], [sin ω, cos ω]]. As det R = 1, the −1 come in pairs; each is a rotation
    by π. K = Z J Zᵀ with J = [[0, −ω], [ω, 0]] in place of each rotation.

    Parameters
    ----------
    R : torch.Tensor
        rotations (..., h, h).

    Returns
    -------
    torch.Tensor
        (..., h, h).

    Raises
    ------
    ValueError
        if R is not square float64, not orthogonal to 1e-10, or a reflection.

    Examples
    --------
    >>> K = rotation_logarithm(-torch.eye(2, dtype=torch.float64))
    >>> K.abs()
    tensor([[0.0000, 3.1416],
            [3.1416, 0.0000]], dtype=torch.float64)
    """
    require_square({"R": R})
    h = R.shape[-1]
    error = (R.mT @ R - torch.eye(h).to(R)).abs().amax(dim=(-2, -1))
    if not (error <= 1e-10).all():
        raise ValueError(f"RᵀR − I has an entry {error.max().item():.1e}; allowed: orthogonal matrices, to 1e-10")
    if (determinant_sign(R) < 0).any():
        raise ValueError("R has determinant -1; allowed: rotations, which have determinant 1")
    one_by_one = [_logarithm(one) for one in R.detach().cpu().reshape(-1, h, h).numpy()]
    return torch.from_numpy(np.array(one_by_one).reshape(R.shape)).to(R)


def path_in_group(a: torch.Tensor, b: torch.Tensor, steps: int) -> torch.Tensor:
    """A path in GL_h from a to b, whose determinants have one sign.

    With a = Q_a S_a and b = Q_b S_b the polar decompositions and K the logarithm of the rotation Q_aᵀ Q_b, the path is
    g(t) = Q_a exp(t K) [(1 − t) S_a + t S_b]. Its singular values are those of the bracket, so that they stay between
    the least and the largest ones of a and b.

    Parameters
    ----------
    a, b : torch.Tensor
        invertible matrices (..., h, h).
    steps : int
        points of the path at equal distances of t, both ends included; at least 2.

    Returns
    -------
    torch.Tensor
        (..., steps, h, h); the ends are a and b up to rounding.

    Raises
    ------
    ValueError
        if steps < 2, the shapes do not fit, a matrix is singular to rounding, or the signs of the determinants differ.

    Examples
    --------
    >>> I = torch.eye(2, dtype=torch.float64)
    >>> path_in_group(I, -3 * I, steps=3)[1].abs().round(decimals=9)  # halfway: a rotation by π/2 times 2
    tensor([[0., 2.],
            [2., 0.]], dtype=torch.float64)
    """
    if steps < 2:
        raise ValueError(f"steps = {steps}; allowed: steps >= 2")
    ends = {"a": a, "b": b}
    require_square(ends)
    require_invertible(ends)
    differ = determinant_sign(a) != determinant_sign(b)
    if differ.any():
        raise ValueError("det a and det b have different signs; allowed: two matrices of one component of GL_h")
    (Qa, Sa), (Qb, Sb) = ([part[..., None, :, :] for part in _polar(end)] for end in (a, b))
    t = torch.linspace(0, 1, steps, dtype=a.dtype, device=a.device)[:, None, None]
    return Qa @ torch.linalg.matrix_exp(t * rotation_logarithm(Qa.mT @ Qb)) @ ((1 - t) * Sa + t * Sb)


def _polar(g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """g = Q S, Q orthogonal, S symmetric positive definite."""
    U, sigma, Vh = torch.linalg.svd(g)
    S = Vh.mT @ (sigma[..., None] * Vh)
    return U @ Vh, (S + S.mT) / 2


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
