"""Real logarithms in GL_h, and products of two exponentials for matrices without one.

A real g with exp(M) = g for a real M has a positive determinant. The converse is false: the eigenvalues of M over a
negative eigenvalue of g are not real, hence come in conjugate pairs, so that a negative eigenvalue of g has even
multiplicity; Culver's condition is that each of its Jordan blocks occurs an even number of times. But every g with
det g > 0 has a polar decomposition g = exp(A) exp(B), A skew and B symmetric.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.linalg
import torch
from jaxtyping import Float64
from torch import Tensor

from lmc_helpers._typing import checked, require_finite
from lmc_helpers.general_linear import rotation_logarithm

__all__ = ["real_logarithm", "two_exponentials"]


@checked
def real_logarithm(g: Float64[Tensor, "*batch h h"]) -> Float64[Tensor, "*batch h h"]:
    """The principal logarithm M, exp(M) = g, real, of a g without eigenvalues on the closed negative axis.

    Examples
    --------
    >>> M = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    >>> bool((real_logarithm(torch.linalg.matrix_exp(M)) - M).abs().max() < 1e-14)
    True
    """
    require_finite(g=g)
    h = g.shape[-1]
    logs = []
    for matrix in g.detach().reshape(-1, h, h):
        values = torch.linalg.eigvals(matrix)
        scale = values.abs().max()
        if _singular(torch.linalg.svdvals(matrix)):
            raise ValueError(f"g has the eigenvalue {values.abs().min():.1e}, singular to rounding; allowed: GL_h")
        negative = values.real[(values.imag.abs() <= 1e-7 * scale) & (values.real < 0)]
        if len(negative):
            simple = [x for x in negative if int(((values - x).abs() <= 1e-7 * scale).sum()) == 1]
            kind, value = ("simple", simple[0]) if simple else ("multiple", negative[0])
            reason = "so no real logarithm" if simple else "to rounding"
            raise ValueError(
                f"g has the {kind} negative eigenvalue {value:.6g}, {reason}; "
                "allowed: g without negative eigenvalues (for det g > 0 see two_exponentials)"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # logm's own estimate; the residual is checked below
            logs.append(torch.from_numpy(np.real(scipy.linalg.logm(matrix.cpu().numpy()))))
    M = torch.stack(logs).to(g).reshape(g.shape)
    residual = torch.linalg.matrix_norm(torch.linalg.matrix_exp(M) - g) / torch.linalg.matrix_norm(g)
    if not (residual <= 1e-8).all():
        raise ValueError(f"exp(log g) misses g by {residual.max():.1e} of its norm; allowed: well conditioned g")
    return M


@checked
def two_exponentials(
    g: Float64[Tensor, "*batch h h"],
) -> tuple[Float64[Tensor, "*batch h h"], Float64[Tensor, "*batch h h"]]:
    """A skew and B symmetric with g = exp(A) exp(B), from the polar decomposition; any g with det g > 0 has them.

    Examples
    --------
    >>> A, B = two_exponentials(torch.diag(torch.tensor([-1.0, -2.0], dtype=torch.float64)))
    >>> [round(x, 12) for x in B.diagonal().tolist()], round(A.abs().max().item(), 12)
    ([0.0, 0.69314718056], 3.14159265359)
    """
    require_finite(g=g)
    P, s, Qh = torch.linalg.svd(g)
    if _singular(s).any():
        raise ValueError(f"g has the singular value {s.min():.1e} and is singular to rounding; allowed: det g > 0")
    R = P @ Qh
    reflected = torch.linalg.det(R) < 0
    if reflected.any():
        raise ValueError(f"det g = {torch.linalg.det(g)[reflected].flatten()[0]:.3g}; allowed: det g > 0")
    return rotation_logarithm(R), Qh.mT @ (s.log()[..., :, None] * Qh)


def _singular(s: Tensor) -> Tensor:
    """Whether singular values (..., h), the largest first, are those of a matrix that is singular to rounding."""
    return ~(s[..., -1] > 16 * s.shape[-1] * torch.finfo(s.dtype).eps * s[..., 0])
