"""How far a chord is from a curve of bounded curvature: Theorem 6.2 of Zhao, Dehmamy, Walters & Yu, and its repair.

Let a curve of length ℓ and curvature at most κ join two points at distance D. The paper bounds the distance of every
point of the chord from the curve's level set by

    d_max = (1/κ) (1 − √(1 − (κD/2)²)),                                                                (8)

the height of a circular arc over its chord (:func:`arc_height`). That is real only for D <= 2/κ, and true if moreover
ℓ <= π/κ (chapter 36 proves this, and that both hypotheses are needed). Two bounds hold for any curve: D/2,
the distance from the nearer end, and √(ℓ² − D²)/2, the height of the ellipse ``|z − w_1| + |z − w_2| = ℓ``.
:func:`chord_bound` is the least of the valid bounds.

Curves are points (..., steps, p); κ, D and ℓ are numbers or tensors of them, which broadcast.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from lmc_helpers._typing import Reals, checked

__all__ = ["arc_height", "chord_bound", "curvature", "distance_between_ends", "distance_to_curve"]


@checked
def curvature(velocity: Float[Tensor, "*batch p"], acceleration: Float[Tensor, "*batch p"]) -> Float[Tensor, " *batch"]:
    """κ = ``√(‖γ'‖²‖γ''‖² − ⟨γ', γ''⟩²) / ‖γ'‖³``, which is ``‖T'‖/‖γ'‖`` with ``T = γ'/‖γ'‖``, in any parametrisation.

    Computed as the norm of the part of γ'' normal to γ', over ``‖γ'‖²``, which does not cancel where the two are nearly
    parallel.

    Examples
    --------
    A circle of radius 2, at any speed:

    >>> curvature(torch.tensor([0.0, 6.0]).double(), torch.tensor([-18.0, 5.0]).double())
    tensor(0.5000, dtype=torch.float64)
    """
    square = velocity.square().sum(dim=-1, keepdim=True)
    if not (square > 0).all():
        raise ValueError("a velocity is 0; allowed: regular curves, γ' ≠ 0")
    along = (velocity * acceleration).sum(dim=-1, keepdim=True) / square
    return torch.linalg.vector_norm(acceleration - along * velocity, dim=-1) / square[..., 0]


@checked
def arc_height(kappa: Reals, chord: Reals) -> Float64[Tensor, " ..."]:
    """d_max of equation (8), in the form κ (D/2)² / (1 + √(1 − (κD/2)²)), which does not cancel.

    Parameters
    ----------
    kappa
        largest curvature κ > 0.
    chord
        distance D >= 0 of the ends; D <= 2/κ.

    Examples
    --------
    Half a circle of radius 2, and a flat arc, for which d_max ≈ κD²/8:

    >>> arc_height(0.5, 4.0).item(), round(arc_height(1.0, 1e-4).item() * 8e8, 6)
    (2.0, 1.0)
    """
    k, D = _tensors(kappa=kappa, chord=chord)
    x = k * D / 2
    if (x > 1).any():
        bad_k, bad_D = (y[x > 1][0].item() for y in torch.broadcast_tensors(k, D))
        raise ValueError(f"D = {bad_D:.6g} > 2/κ = {2 / bad_k:.6g}, so that d_max is not real; allowed: D <= 2/κ")
    return k * (D / 2).square() / (1 + (1 - x.square()).sqrt())


@checked
def chord_bound(kappa: Reals, chord: Reals, length: Reals) -> Float64[Tensor, " ..."]:
    """The least of D/2, √(ℓ² − D²)/2 and, where ℓ <= π/κ and D <= 2/κ, d_max; the corrected Theorem 6.2.

    Every point of the chord has at most this distance from the curve.

    Parameters
    ----------
    kappa, chord, length
        largest curvature κ > 0, distance D >= 0 of the ends, length ℓ >= D of the curve.

    Examples
    --------
    A minor arc, and the major arc with the same ends, on the unit circle:

    >>> chord_bound(1.0, 2 * math.sin(1.0), 2.0).item() == 1 - math.cos(1.0)
    True
    >>> chord_bound(1.0, 2 * math.sin(1.0), 2 * math.pi - 2).item() == math.sin(1.0)
    True
    """
    k, D, ell = torch.broadcast_tensors(*_tensors(kappa=kappa, chord=chord, length=length))
    if (ell < D * (1 - 1e-12)).any():
        raise ValueError("a length is smaller than the distance of the ends; allowed: length >= chord")
    bound = torch.minimum(D, (ell.square() - D.square()).clamp(min=0).sqrt()) / 2
    valid = (k * ell <= math.pi) & (k * D <= 2)
    arc = arc_height(k, torch.where(valid, D, 0.0))
    return torch.where(valid, torch.minimum(arc, bound), bound)


@checked
def distance_between_ends(path: Float[Tensor, "*batch steps p"]) -> Float[Tensor, " *batch"]:
    """D = ``‖γ(1) − γ(0)‖``.

    Examples
    --------
    >>> distance_between_ends(torch.tensor([[0.0, 0.0], [5.0, 5.0], [3.0, 4.0]]))
    tensor(5.)
    """
    return torch.linalg.vector_norm(path[..., -1, :] - path[..., 0, :], dim=-1)


@checked
def distance_to_curve(points: Float[Tensor, "... q p"], curve: Float[Tensor, "... steps p"]) -> Float[Tensor, " ..."]:
    """Distance (..., q) of points from the polygon through the points of a curve.

    A polygon with edges of length ε is within κε²/8 of a curve of curvature at most κ.

    Examples
    --------
    >>> corner = torch.tensor([[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    >>> distance_to_curve(torch.tensor([[0.5, 0.2], [2.0, 0.0]]), corner)
    tensor([0.2000, 1.0000])
    """
    if curve.shape[-2] < 2:
        raise ValueError(f"the curve has one point, shape {tuple(curve.shape)}; allowed: at least two")
    start, edge = curve[..., :-1, :], curve.diff(dim=-2)
    square = edge.square().sum(dim=-1)[..., None, :]  # (..., 1, steps − 1)
    shift = points @ edge.mT - (start * edge).sum(dim=-1)[..., None, :]  # ⟨point − start, edge⟩
    fraction = (shift / square.clamp(min=torch.finfo(curve.dtype).tiny)).clamp(0, 1)
    from_start = torch.cdist(points, start, compute_mode="donot_use_mm_for_euclid_dist").square()
    return (from_start + fraction * (fraction * square - 2 * shift)).clamp(min=0).amin(dim=-1).sqrt()


def _tensors(**values: Any) -> list[Tensor]:
    """float64 tensors; κ must be positive and lengths non-negative."""
    tensors = {name: torch.as_tensor(value, dtype=torch.float64) for name, value in values.items()}
    for name, x in tensors.items():
        good = x.isfinite() & ((x > 0) if name == "kappa" else (x >= 0))
        if not good.all():
            allowed = "κ > 0, finite" if name == "kappa" else "finite numbers >= 0"
            raise ValueError(f"{name} = {x[~good].flatten()[0].item():g}; allowed: {allowed}")
    return list(tensors.values())
