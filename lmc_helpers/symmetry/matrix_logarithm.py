"""Real logarithms in GL_h: which group elements lie on a curve exp(tM), and two such curves for those that do not.

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
from scipy.special import beta, betainc, gamma

from lmc_helpers import expect
from lmc_helpers.general_linear import rotation_logarithm

__all__ = ["has_negative_eigenvalue", "probability_without_logarithm", "real_logarithm", "two_exponentials"]

LARGEST = 100  # sizes for which the moments below stay within double precision


def has_negative_eigenvalue(g: torch.Tensor) -> torch.Tensor:
    """Whether g has a negative eigenvalue; for a g with simple spectrum, whether it has no real logarithm.

    LAPACK returns real eigenvalues of a real matrix with an imaginary part of exactly 0, and a double one that rounding
    has made a pair as that pair.

    Parameters
    ----------
    g : torch.Tensor
        (..., h, h), float64.

    Returns
    -------
    torch.Tensor
        (...), bool.

    Examples
    --------
    >>> has_negative_eigenvalue(torch.diag_embed(torch.tensor([[-1.0, -2.0], [1.0, 2.0]]).double()))
    tensor([ True, False])
    """
    _check_square(g)
    values = torch.linalg.eigvals(g)
    return ((values.imag == 0) & (values.real < 0)).any(dim=-1)


def real_logarithm(g: torch.Tensor) -> torch.Tensor:
    """The principal logarithm, real, of a g without eigenvalues on the closed negative axis.

    Parameters
    ----------
    g : torch.Tensor
        (..., h, h), float64.

    Returns
    -------
    torch.Tensor
        M (..., h, h) with exp(M) = g.

    Examples
    --------
    >>> M = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    >>> bool((real_logarithm(torch.linalg.matrix_exp(M)) - M).abs().max() < 1e-14)
    True
    """
    _check_square(g)
    h = g.shape[-1]
    logs = []
    for one in g.detach().reshape(-1, h, h):
        values = torch.linalg.eigvals(one)
        scale = values.abs().max()
        if _singular(torch.linalg.svdvals(one)):
            raise ValueError(f"g has the eigenvalue {values.abs().min():.1e}, singular to rounding; allowed: GL_h")
        negative = values.real[(values.imag.abs() <= 1e-7 * scale) & (values.real < 0)]
        for value in negative:
            if int(((values - value).abs() <= 1e-7 * scale).sum()) == 1:
                raise ValueError(
                    f"g has the simple negative eigenvalue {value:.6g}, so no real logarithm; "
                    "allowed: g without negative eigenvalues (for det g > 0 see two_exponentials)"
                )
        if len(negative):
            raise ValueError(
                f"g has the multiple negative eigenvalue {negative[0]:.6g}, to rounding; "
                "allowed: g without negative eigenvalues (for det g > 0 see two_exponentials)"
            )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # logm's own estimate; the residual is checked below
            logs.append(torch.from_numpy(np.real(scipy.linalg.logm(one.cpu().numpy()))))
    M = torch.stack(logs).to(g).reshape(g.shape)
    residual = torch.linalg.matrix_norm(torch.linalg.matrix_exp(M) - g) / torch.linalg.matrix_norm(g)
    if not (residual <= 1e-8).all():
        raise ValueError(f"exp(log g) misses g by {residual.max():.1e} of its norm; allowed: well conditioned g")
    return M


def two_exponentials(g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A skew and B symmetric with g = exp(A) exp(B), from the polar decomposition; any g with det g > 0 has them.

    Parameters
    ----------
    g : torch.Tensor
        (..., h, h), float64.

    Returns
    -------
    tuple of torch.Tensor
        A and B, (..., h, h) each.

    Examples
    --------
    >>> A, B = two_exponentials(torch.diag(torch.tensor([-1.0, -2.0], dtype=torch.float64)))
    >>> [round(x, 12) for x in B.diagonal().tolist()], round(A.abs().max().item(), 12)
    ([0.0, 0.69314718056], 3.14159265359)
    """
    _check_square(g)
    P, s, Qh = torch.linalg.svd(g)
    if _singular(s).any():
        raise ValueError(f"g has the singular value {s.min():.1e} and is singular to rounding; allowed: det g > 0")
    R = P @ Qh
    reflected = torch.linalg.det(R) < 0
    if reflected.any():
        raise ValueError(f"det g = {torch.linalg.det(g)[reflected].flatten()[0]:.3g}; allowed: det g > 0")
    return rotation_logarithm(R), Qh.mT @ (s.log()[..., :, None] * Qh)


def probability_without_logarithm(h: int) -> float:
    """``P(no real logarithm | det g > 0)`` for g (h, h) with independent N(0, 1) entries: exact.

    Almost surely g has simple eigenvalues, so this is the probability of a negative eigenvalue. By Forrester & Nagao's
    generating function of the real Ginibre ensemble, P(no negative eigenvalue) = Pf(S − E)/Pf(S), where S is the skew
    product of the monic skew-orthogonal polynomials x^(2j) and x^(2j+1) − 2j x^(2j−1), of norms 2 √(2π) (2j)!, and E
    the part with x < 0 or y < 0 of the real eigenvalues' product ``∬ p(x) q(y) sgn(y − x) exp(−(x² + y²)/2) dx dy``.
    For odd h both are bordered by the integrals of the polynomials. Such a g has det g > 0, of probability 1/2.

    Parameters
    ----------
    h : int
        1 <= h <= 100.

    Returns
    -------
    float
        0 for h = 1 and 1/√2 − 1/2 for h = 2; increasing in h.

    Examples
    --------
    >>> abs(probability_without_logarithm(2) - (0.5**0.5 - 0.5)) < 1e-14
    True
    >>> round(probability_without_logarithm(32), 4)
    0.9187
    """
    if isinstance(h, bool) or not isinstance(h, int) or not 1 <= h <= LARGEST:
        raise ValueError(f"h = {h!r}; allowed: an integer in [1, {LARGEST}]")
    j, k = np.arange(h)[:, None], np.arange(h)[None, :]
    a, b = (k + 1) / 2, (j + 1) / 2
    radial = 2.0 ** ((j + k) / 2) * gamma((j + k) / 2 + 1)
    quadrant = radial * beta(a, b) / 2 * (1 - 2 * betainc(a, b, 0.5))  # x^j y^k over x, y > 0
    half = 2.0 ** ((np.arange(h) - 1) / 2) * gamma((np.arange(h) + 1) / 2)  # x^j over x > 0
    sign = (-1.0) ** np.arange(h)
    E = np.outer(sign * half, half) - np.outer(half, sign * half) - np.outer(sign, sign) * quadrant
    basis = np.eye(h)
    for odd in range(3, h, 2):
        basis[odd, odd - 2] = -(odd - 1)

    size = h + h % 2
    S = np.zeros((size, size))
    for even in range(0, h - 1, 2):
        S[even, even + 1] = 2 * np.sqrt(2 * np.pi) * gamma(even + 1.0)
    S -= S.T
    positive = S.copy()
    positive[:h, :h] -= basis @ E @ basis.T
    if h % 2:
        for matrix, border in ((S, basis @ (half + sign * half)), (positive, basis @ half)):
            matrix[:h, h], matrix[h, :h] = border, -border
    scale = np.sqrt(np.abs(S).max(axis=1))
    none = np.sqrt(np.linalg.det(positive / np.outer(scale, scale)) / np.linalg.det(S / np.outer(scale, scale)))
    return float(1 - 2 * none)


def _singular(s: torch.Tensor) -> torch.Tensor:
    """Whether singular values (..., h), the largest first, are those of a matrix that is singular to rounding."""
    return ~(s[..., -1] > 16 * s.shape[-1] * torch.finfo(s.dtype).eps * s[..., 0])


def _check_square(g: torch.Tensor) -> None:
    expect.tensor(g, "g", finite=False)
    if g.ndim < 2 or g.shape[-1] != g.shape[-2] or g.shape[-1] < 1 or g.dtype != torch.float64:
        raise ValueError(f"g has shape {tuple(g.shape)} and {g.dtype}; allowed: (..., h, h) and torch.float64")
    if not g.isfinite().all():
        raise ValueError("g has an entry that is not finite; allowed: finite numbers")
