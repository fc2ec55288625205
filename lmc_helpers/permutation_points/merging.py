"""Merging two neurons step by step (Brea, Şimşek, Illing & Gerstner, section 4.1 and Figs. 1–4).

The paper moves the parameter vectors of two neurons of one layer together, δ = ‖ϑ_1 − ϑ_0‖ → 0, and minimises the loss
over all other parameters at every distance,

    γ(δ) ∈ argmin { L(θ) : ‖ϑ_1 − ϑ_0‖ = δ }.

It is done in coordinates in which δ stands alone (:class:`~lmc_helpers.permutation_points.pair.PairChart`), by a budget
of gradient descent, as in the paper, or by a second-order method that converges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float, Real
from torch import Tensor

from lmc_helpers._typing import Integer, Natural, NonNegative, Number, PositiveNumber, checked, many, returned, short
from lmc_helpers.permutation_points.hessian import Loss, gradient
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.pair import PairChart

__all__ = ["MergePath", "descent_minimiser", "merge_neurons", "newton_minimiser"]

#: takes a loss of φ and starts φ (B, p + 1); returns φ, gradient norms (B,) and whether they converged (B,)
Minimiser = Callable[[Loss, Tensor], tuple[Tensor, Tensor, Tensor]]


if TYPE_CHECKING:
    Pairs = list[tuple[int, int]]
else:
    Pairs = many(tuple[Integer, Integer], "a list of pairs of neurons")


@dataclass(frozen=True)
class MergePath:
    """A path of decreasing distance, all pairs side by side; K steps, B pairs."""

    theta: Tensor  # (K, B, p), the pair in places 0 and 1
    delta: Tensor  # (K, B)
    loss: Tensor
    gradient_norm: Tensor  # (K, B), of the coordinates which the minimiser used, at fixed δ
    converged: Tensor  # (K, B), bool
    outgoing: Tensor  # (K, B, 2), norms of a_0 and a_1

    @checked
    def bounded(self, factor: Number = 100.0) -> Bool[Tensor, " B"]:
        """Whether the larger output weight of each pair stays within ``factor`` times its start."""
        if factor < 1:
            raise ValueError(f"factor = {factor}; allowed: factor >= 1")
        size = self.outgoing.amax(dim=2)  # (K, B)
        return size.amax(dim=0) <= factor * size[0]


@checked
def merge_neurons(
    loss: Loss,
    chart: PairChart,
    theta: Float[Tensor, " p"] | Float[Tensor, "B p"],
    pairs: Pairs,
    distances: Real[Tensor, " K"],
    minimiser: Minimiser,
) -> MergePath:
    """Move each pair together: at every distance minimise the loss over all other parameters (section 4.1).

    All pairs go through the path as one batch, from one start or one for each. Distances are δ/δ_0, in units of each
    pair's own distance. :func:`newton_minimiser` and :func:`descent_minimiser` make minimisers.
    """
    if theta.shape not in {(chart.net.size,), (len(pairs), chart.net.size)}:
        raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (p,) or (B, p) with B = {len(pairs)} pairs")
    starts = theta.expand(len(pairs), -1)
    if not pairs:
        raise ValueError("pairs is empty; allowed: one or more pairs of neurons")
    if not (distances > 0).all():
        raise ValueError(f"distances hold {distances.min().item()}; allowed: positive distances")
    start = torch.stack([chart.bring_forward(t, *two) for t, two in zip(starts, pairs, strict=True)])  # (B, p)
    first = chart.distance(start)
    phi = chart.coordinates(start)

    def of_coordinates(phi: Tensor) -> Tensor:
        return loss(chart.weights(phi))

    steps = []
    for distance in distances:
        phi = chart.closer(phi, distance * first)
        value = returned("the loss", of_coordinates(phi), phi.shape[:1])
        if not torch.isfinite(value).all():
            raise ValueError(
                f"the loss is {value[~torch.isfinite(value)][0].item()} on the path; allowed: finite values"
            )
        found = minimiser(of_coordinates, phi)
        if not isinstance(found, tuple) or [getattr(one, "shape", None) for one in found] != [
            phi.shape,
            *[phi.shape[:1]] * 2,
        ]:
            raise ValueError(
                f"the minimiser returns {short(found)}; allowed: φ, gradient norms and which have converged"
            )
        phi, norm, converged = found
        phi = chart.unit(phi)
        theta_now = chart.weights(phi)
        a = torch.stack([theta_now[:, chart.net.outgoing(chart.layer, i)].norm(dim=-1) for i in (0, 1)], dim=-1)
        steps.append((theta_now, phi[:, -1], loss(theta_now), norm, converged, a))
    return MergePath(*(torch.stack(column) for column in zip(*steps, strict=True)))


@checked
def newton_minimiser(steps: Natural, tol: NonNegative) -> Minimiser:
    """Trust-region Newton method with a budget of ``steps`` at every distance; needs a smooth activation.

    A path has converged at a distance where ‖∇L‖ <= ``tol``.
    """

    def minimiser(loss: Loss, phi: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        done = minimise(loss, phi, steps, tol, radius=0.1)
        return done.theta, done.gradient_norm, done.converged

    return minimiser


@checked
def descent_minimiser(steps: Natural, rate: PositiveNumber, tol: NonNegative = 0.0) -> Minimiser:
    """Full-batch gradient descent with a budget of ``steps`` at every distance, as in the paper.

    Descent stops once all paths have ‖∇L‖ <= ``tol``.
    """

    def minimiser(loss: Loss, phi: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        for _ in range(steps):
            slope = gradient(loss, phi)
            if bool((slope.norm(dim=-1) <= tol).all()):
                break
            phi = phi - rate * slope
        norm = gradient(loss, phi).norm(dim=-1)
        return phi, norm, norm <= tol

    return minimiser
