"""Chords of curves exp(tM)·w in one orbit of GL_h, measured (Zhao, Dehmamy, Walters & Yu, Theorem 6.2; chapter 36).

The points of γ(t) = exp(tM)·(W_1, W_2) = (e^{tM} W_1, W_2 e^{−tM}), 0 <= t <= 1, compute one linear function. The
theorem bounds how far its chord is from γ, and with a Lipschitz constant the loss ``‖W_2 W_1 X − Y‖`` on the chord,
Y = W_2 W_1 X at the ends. Here is all that it speaks of, for many curves at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from lmc_helpers import expect
from lmc_helpers.symmetry.chord_bound import curvature, distance_between_ends, distance_to_curve
from lmc_helpers.symmetry.curves import chord, curve, derivatives, flatten, length
from lmc_helpers.symmetry.group_actions import GeneralLinear, Weights

__all__ = ["OrbitChords", "orbit_chords"]


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
    """Curves exp(tM)·w, their chords, lengths, curvatures and Lipschitz constants.

    C_L = (max over the ends of ``‖W_1 X‖₂²`` + max over γ of ``‖W_2‖₂² ‖X‖₂²``)^{1/2} bounds the difference quotients
    of the loss between a point of the chord and one of γ:

        V_2 V_1 X − U_2 U_1 X = (V_2 − U_2) V_1 X + U_2 (V_1 − U_1) X,      V on the chord, U on γ.

    Parameters
    ----------
    w : tuple of torch.Tensor
        W_1 (B, h, n) and W_2 (B, m, h), float64.
    M : torch.Tensor
        (B, h, h).
    X : torch.Tensor
        inputs (B, n, N).
    times : torch.Tensor
        grid of the curve, (steps,), from 0 to 1.
    places : torch.Tensor
        grid of the chord, (q,).

    Returns
    -------
    OrbitChords
        of all B curves.

    Examples
    --------
    Half a circle of radius √2:

    >>> M = torch.tensor([[[0.0, -1.0], [1.0, 0.0]]], dtype=torch.float64) * torch.pi
    >>> e, grid = torch.eye(2, dtype=torch.float64)[None], torch.linspace(0, 1, 201, dtype=torch.float64)
    >>> found = orbit_chords((e[..., :1], e[:, :1]), M, e[:, :1, :1], grid, grid[::50])
    >>> [round(x.item() / 2**0.5, 3) for x in (1 / found.kappa, found.length, found.D, found.distance)]
    [1.0, 3.142, 2.0, 1.0]
    """
    expect.tensors(w, "w")
    if len(w) != 2 or w[0].ndim != 3 or w[1].ndim != 3:
        raise ValueError(f"w has shapes {[tuple(W.shape) for W in w]}; allowed: (B, h, n) and (B, m, h)")
    expect.tensor(M, "M", "B h h")
    expect.tensor(X, "X", "B n N")
    expect.tensor(times, "times", "steps")
    expect.tensor(places, "places", "q")
    if (
        X.shape[:2] != (w[0].shape[0], w[0].shape[2])
        or M.shape[:2] != w[0].shape[:2]
        or w[1].shape[::2] != w[0].shape[:2]
    ):
        raise ValueError(
            f"W_2, M and X have shapes {tuple(w[1].shape)}, {tuple(M.shape)} and {tuple(X.shape)}; allowed: (B, m, h), "
            f"(B, h, h) and (B, n, N) with W_1 (B, h, n) of shape {tuple(w[0].shape)}"
        )
    if abs(times[0]) > 1e-9 or abs(times[-1] - 1) > 1e-9:
        raise ValueError(f"times run from {times[0].item()} to {times[-1].item()}; allowed: from 0 to 1")
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
