"""What chapter *curvature* computes and no other part of the package needs."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from lmc_helpers.symmetry.chord_bound import curvature, distance_between_ends, distance_to_curve
from lmc_helpers.symmetry.curves import chord, curve, derivatives, flatten, length
from lmc_helpers.symmetry.group_actions import GeneralLinear, Weights

# ---------- orbit chords
#
# Chords of curves exp(tM)·w in one orbit of GL_h, measured (Zhao, Dehmamy, Walters & Yu, Theorem 6.2; chapter 36).
#
# The points of γ(t) = exp(tM)·(W_1, W_2) = (e^{tM} W_1, W_2 e^{−tM}), 0 <= t <= 1, compute one linear function. The
# theorem bounds how far its chord is from γ, and with a Lipschitz constant the loss ``‖W_2 W_1 X − Y‖`` on the chord,
# Y = W_2 W_1 X at the ends. Here is all that it speaks of, for many curves at a time.


class OrbitChords(NamedTuple):
    """Chords of B curves, q points each, and what Theorem 6.2 needs of the curves."""

    chord: Weights  #: points (W_1, W_2) of the chords, (B, q, h, n) and (B, q, m, h)
    kappa: torch.Tensor  #: largest curvature of each curve on its grid, (B,)
    length: torch.Tensor  #: ℓ, (B,)
    D: torch.Tensor  #: distance of the ends, (B,)
    distance: torch.Tensor  #: largest distance of a point of the chord from the curve, (B,)
    lipschitz: torch.Tensor  #: C_L, (B,)


def orbit_chords(
    w: Weights, M: torch.Tensor, X: torch.Tensor, times: torch.Tensor, places: torch.Tensor
) -> OrbitChords:
    """Curves exp(tM)·w, their chords, lengths, curvatures and Lipschitz constants."""
    action = GeneralLinear()
    path = curve(action, M, w, times)  # (B, steps, h, n), (B, steps, m, h)
    line = chord(path, places)
    points = flatten(path)  # (B, steps, p)
    ends = torch.stack([_spectral_norm(path[0][:, i] @ X) for i in (0, -1)]).amax(dim=0)
    second = _spectral_norm(path[1]).amax(dim=1) * _spectral_norm(X)
    return OrbitChords(
        chord=line,
        kappa=curvature(*derivatives(action, M[:, None], path)).amax(dim=1),
        length=length(action, M, w),
        D=distance_between_ends(points),
        distance=distance_to_curve(flatten(line), points).amax(dim=1),
        lipschitz=(ends**2 + second**2).sqrt(),
    )


def _spectral_norm(A: torch.Tensor) -> torch.Tensor:
    return torch.linalg.matrix_norm(A, 2)


# ---------- orbit turns
#
# Curves exp(tM)·w under GL_h that come back: symmetry-induced counterexamples to Theorem 6.2 (chapter 36).
#
# Both go from a minimum of a linear network to another one that is close by, D = 2√2 sinh a or little more, on a long
# way
# of small curvature, of the order 1/r. One hidden neuron is rescaled by e^{2a}, and the chord leaves the minimum in
# the
# plane of its two weights, by √2 (cosh a − 1) at the midpoint, whatever r is. The bound d_max of equation (8) is of
# the
# order 1/r:
#
# - :func:`turn` rotates two other neurons by a full turn, M = 2πJ ⊕ (2a), equation (4);
# - :func:`loop` moves the input weights of four others along a loop, a polynomial in t that all but closes,
# M = N ⊕ (2a) with a nilpotent N, so that M is the principal logarithm of exp M, equation (5).
#
# Weights are (W_1, W_2) as in :mod:`lmc_helpers.symmetry.curves`, with one curve for each r.


CLOSED = 0.01  # how far the ends of the loop are apart
LOOP = ((0, 1, -1, 0), (0, 1, -3, 2))  # coefficients of s and of s (1 − 2t), s = t − t²


def turn(r: torch.Tensor, a: float) -> tuple[Weights, torch.Tensor]:
    """W_1 = diag(r, r, e^{−a}), W_2 = diag(r, r, e^a) and M = 2πJ ⊕ (2a)."""
    ones = torch.ones_like(r)
    first, second = (torch.stack([r, r, math.exp(x) * ones], dim=-1).diag_embed() for x in (-a, a))
    M = torch.zeros(len(r), 3, 3, dtype=r.dtype)
    M[:, 1, 0], M[:, 0, 1], M[:, 2, 2] = 2 * math.pi, -2 * math.pi, 2 * a
    return (first, second), M


def loop(r: torch.Tensor, a: float) -> tuple[Weights, torch.Tensor]:
    """W_1 with the columns (p(0), 0) and (0, e^{−a}), W_2 = (0, 0, 0, 0, e^a) and M = N ⊕ (2a) with e^{tN} p(0) =
    p(t)."""
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
    """Distance √2 (cosh a − 1) of the chord's midpoint from all minima of the network, for both curves and every r."""
    return math.sqrt(2) * (math.cosh(a) - 1)
