"""Curves exp(tM)·w under GL_h that come back: symmetry-induced counterexamples to Theorem 6.2 (chapter 36).

Both go from a minimum of a linear network to another one that is close by, D = 2√2 sinh a or little more, on a long way
of small curvature, of the order 1/r. One hidden neuron is rescaled by e^{2a}, and the chord leaves the minimum in the
plane of its two weights, by √2 (cosh a − 1) at the midpoint, whatever r is. The bound d_max of equation (8) is of the
order 1/r:

- :func:`turn` rotates two other neurons by a full turn, M = 2πJ ⊕ (2a), equation (4);
- :func:`loop` moves the input weights of four others along a loop, a polynomial in t that all but closes,
  M = N ⊕ (2a) with a nilpotent N, so that M is the principal logarithm of exp M, equation (5).

Weights are (W_1, W_2) as in :mod:`lmc_helpers.symmetry.curves`, with one curve for each r.
"""

from __future__ import annotations

import math

import torch

from lmc_helpers import expect
from lmc_helpers.symmetry.group_actions import Weights

__all__ = ["loop", "midpoint_distance", "turn"]

CLOSED = 0.01  # how far the ends of the loop are apart
LOOP = ((0, 1, -1, 0), (0, 1, -3, 2))  # coefficients of s and of s (1 − 2t), s = t − t²


def turn(r: torch.Tensor, a: float) -> tuple[Weights, torch.Tensor]:
    """W_1 = diag(r, r, e^{−a}), W_2 = diag(r, r, e^a) and M = 2πJ ⊕ (2a).

    Parameters
    ----------
    r : torch.Tensor
        sizes (B,), positive, float64.
    a : float
        0 < a < 1.

    Returns
    -------
    tuple of torch.Tensor, torch.Tensor
        weights (B, 3, 3) and (B, 3, 3), and M (B, 3, 3).

    Examples
    --------
    >>> w, M = turn(torch.tensor([10.0]).double(), a=0.1)
    >>> torch.linalg.matrix_exp(M)[0].diagonal().log().round(decimals=9).abs().tolist()
    [0.0, 0.0, 0.2]
    """
    _check(r, a)
    ones = torch.ones_like(r)
    first, second = (torch.stack([r, r, math.exp(x) * ones], dim=-1).diag_embed() for x in (-a, a))
    M = torch.zeros(len(r), 3, 3, dtype=r.dtype)
    M[:, 1, 0], M[:, 0, 1], M[:, 2, 2] = 2 * math.pi, -2 * math.pi, 2 * a
    return (first, second), M


def loop(r: torch.Tensor, a: float) -> tuple[Weights, torch.Tensor]:
    """W_1 with the columns (p(0), 0) and (0, e^{−a}), W_2 = (0, 0, 0, 0, e^a) and M = N ⊕ (2a) with e^{tN} p(0) = p(t).

    p(t) = r (s, s (1 − 2t), ε, ε t³) with s = t − t² is Σ c_j t^j, and N c_j = (j + 1) c_{j+1}, c_4 = 0; ε r = 0.01.

    Parameters
    ----------
    r : torch.Tensor
        sizes (B,), positive, float64.
    a : float
        0 < a < 1.

    Returns
    -------
    tuple of torch.Tensor, torch.Tensor
        weights (B, 5, 2) and (B, 1, 5), and M (B, 5, 5).

    Examples
    --------
    >>> w, M = loop(torch.tensor([10.0]).double(), a=0.1)
    >>> (torch.linalg.matrix_exp(M) @ w[0] - w[0])[0, :4, 0].round(decimals=9).abs().tolist()
    [0.0, 0.0, 0.0, 0.01]
    """
    _check(r, a)
    c = torch.zeros(len(r), 4, 4, dtype=r.dtype)  # columns c_0, …, c_3
    c[:, :2] = r[:, None, None] * torch.tensor(LOOP, dtype=r.dtype)
    c[:, 2, 0] = c[:, 3, 3] = CLOSED
    shift = torch.tensor([1.0, 2.0, 3.0], dtype=r.dtype).diag(-1)
    M = torch.zeros(len(r), 5, 5, dtype=r.dtype)
    M[:, :4, :4] = torch.linalg.solve(c, c @ shift, left=False)  # c shift c⁻¹
    M[:, 4, 4] = 2 * a
    first, second = torch.zeros(len(r), 5, 2, dtype=r.dtype), torch.zeros(len(r), 1, 5, dtype=r.dtype)
    first[:, :4, 0], first[:, 4, 1], second[:, 0, 4] = c[..., 0], math.exp(-a), math.exp(a)
    return (first, second), M


def midpoint_distance(a: float) -> float:
    """Distance √2 (cosh a − 1) of the chord's midpoint from all minima of the network, for both curves and every r.

    Parameters
    ----------
    a : float
        0 < a < 1.

    Returns
    -------
    float
        the distance.

    Examples
    --------
    >>> round(midpoint_distance(0.1), 6)
    0.007077
    """
    _check(torch.ones(1, dtype=torch.float64), a)
    return math.sqrt(2) * (math.cosh(a) - 1)


def _check(r: torch.Tensor, a: float) -> None:
    expect.tensor(r, "r")
    expect.number(a, "a")
    if r.ndim == 1 and not len(r):
        raise ValueError("r has shape (0,); allowed: (B,), B >= 1")
    if r.ndim != 1 or r.dtype != torch.float64 or not (r > 0).all() or not 0 < a < 1:
        raise ValueError(f"sizes {r.tolist()}, a = {a}; allowed: a float64 vector of positive sizes, 0 < a < 1")
