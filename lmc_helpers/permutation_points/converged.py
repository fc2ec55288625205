"""Paths of merging neurons with a converged minimum at every distance (Brea, Şimşek, Illing & Gerstner, section 5).

"Full batch gradient descent was performed until convergence for every value of d" (Fig. 3). Gradient descent needs more
steps than anyone has; Newton's method with a damped Hessian gets there. At φ with gradient g and Hessian H a step is
−(H + νI)⁻¹ g. The damping ν, in units of the largest diagonal entry of H, is raised until H + νI is positive definite
and the loss falls, and lowered after a good step. One Cholesky factor a trial, no eigenvectors: for networks of a few
hundred or thousand parameters, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float64, Real
from torch import Tensor

from lmc_helpers._typing import Natural, NonNegative, checked, returned
from lmc_helpers.permutation_points.hessian import Loss, _gradient_and_hessian, _value_and_gradient
from lmc_helpers.permutation_points.pair import ChartLoss, PairChart

__all__ = ["ConvergedPath", "converged_path", "damped_newton"]

TRIALS = 60  # of the damping before a step is given up
LEAST = 1e-13  # damping, below which it does nothing in double precision
PIECES = 6  # of a straight piece of a path, at whose ends the loss is looked at


@dataclass(frozen=True)
class ConvergedPath:
    """A path of decreasing distance, one pair; K distances."""

    theta: Tensor  # (K, p), the pair in places 0 and 1
    loss: Tensor  # (K,)
    gradient_norm: Tensor  # (K,), in the chart's coordinates at fixed δ
    outgoing: Tensor  # (K,), norm of the larger of the columns a_0 and a_1
    top: Tensor | None = None  # (K,), largest loss on a continuous path from the last distance's minimum to this one

    @checked
    def only(self, chosen: Bool[Tensor, " K"]) -> ConvergedPath:
        """The path at some of its distances."""
        if chosen.shape != self.loss.shape:
            raise ValueError(f"chosen has shape {tuple(chosen.shape)}; allowed: {tuple(self.loss.shape)}")
        return ConvergedPath(*(values[chosen] for values in vars(self).values() if values is not None))

    @checked
    def rises(self, tol: NonNegative = 1e-6) -> bool:
        """True if the loss never falls from one distance to the next by more than ``tol`` times the largest."""
        return bool((self.loss.diff() >= -tol * self.loss.max()).all())


@checked
def damped_newton(
    loss: Loss,
    theta: Float64[Tensor, " p"],
    steps: Natural,
    tol: NonNegative,
    project: Callable[[Tensor], Tensor] | None = None,
    watch: Callable[[Tensor, Tensor], object] | None = None,
) -> tuple[Tensor, float]:
    """Newton's method with a damped Hessian from one start, until ‖∇L‖ <= tol.

    ``project`` leaves the loss as it is (a choice of gauge) and is applied after each step; ``watch`` is told both ends
    of each step before. Returns the parameters and the norm of the gradient at the end.
    """
    value, g = _value_and_gradient(loss, theta)
    if not torch.isfinite(value):
        raise ValueError(f"the loss at the start is {value.item()}; allowed: a finite one")
    damping = 1e-6
    for _ in range(steps):
        if g.norm() <= tol:
            break
        H = _gradient_and_hessian(loss, theta)[1]
        H = (H + H.T) / 2
        unit = H.diagonal().abs().max() * torch.eye(len(H), dtype=H.dtype)
        for _ in range(TRIALS):
            factor, failed = torch.linalg.cholesky_ex(H + damping * unit)
            if not failed:
                step = -torch.cholesky_solve(g[:, None], factor)[:, 0]
                there, slope = _value_and_gradient(loss, theta + step)
                predicted = -(g @ step + step @ H @ step / 2)
                hidden = predicted < 1e-10 * value  # the decrease drowns in rounding: the gradient must fall
                if torch.isfinite(there) and (slope.norm() < g.norm() if hidden else value - there > 1e-4 * predicted):
                    break
            damping *= 4
        else:
            break
        damping = max(damping / (10 if hidden or value - there > 0.75 * predicted else 2), LEAST)
        if watch is not None:
            watch(theta, theta + step)
        theta, value, g = theta + step, there, slope
        if project is not None:
            theta = returned("project", project(theta), theta.shape)
            value, g = _value_and_gradient(loss, theta)
    return theta, g.norm().item()


@checked
def converged_path(
    loss: Loss,
    chart: PairChart,
    theta: Float64[Tensor, " p"],
    pair: tuple[int, int],
    distances: Real[Tensor, " K"],
    steps: Natural,
    tol: NonNegative,
    misses: Natural | None = None,
) -> ConvergedPath:
    """Move two neurons together; at every distance minimise the loss over all other parameters (section 4.1).

    A distance starts at the last one's minimum, with the columns or with A = δ(a_1 − a_0)/2 kept, or straight on from
    the last two, whichever is lowest.

    A continuous path leads from one minimum to the next: straight to the start, in the chart and log δ, and along the
    steps of the descent. ``top`` is the largest loss on it, looked at at six places of each piece.

    Distances are δ/δ_0, decreasing; one has converged if its gradient norm is at most ``tol``. After more than
    ``misses`` that have not, the rest is not tried: it has the last weights and an infinite norm.
    """
    if theta.shape != (chart.net.size,):
        raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: ({chart.net.size},), one network")
    if not (distances > 0).all() or not (distances.diff() < 0).all():
        raise ValueError(f"distances {distances.tolist()}; allowed: positive and decreasing")
    in_chart, phi = ChartLoss(loss, chart), chart.coordinates(chart.bring_forward(theta, *pair))
    first, columns = phi[-1].clone(), [chart.net.outgoing(chart.layer, i) for i in (0, 1)]
    found: list[tuple[Tensor, ...]] = []
    before: Tensor | None = None
    parts = torch.linspace(0, 1, PIECES + 1, dtype=torch.float64)[1:, None]

    def highest(phi: Tensor, there: Tensor) -> Tensor:
        """The largest loss on the straight piece from φ to another one."""
        return returned("the loss", in_chart(_between(phi, there, parts)), (PIECES,)).max()

    for distance in distances:
        if misses is not None and sum(not norm <= tol for _, _, norm, *_ in found) > misses:
            found.append((*found[-1][:2], torch.tensor(torch.inf), *found[-1][3:]))
            continue
        delta = distance * first
        kept = torch.cat([phi[:-1], delta[None]])
        closer = chart.closer(phi, delta)
        starts = [kept, closer]
        if before is not None:
            ahead = phi + (delta - phi[-1]) / (phi[-1] - before[-1]) * (phi - before)
            starts.append(torch.cat([ahead[:-1], delta[None]]))
        start = min(starts, key=lambda at: returned("the loss", in_chart(at), ()).item())
        tops = [highest(phi, start)]

        def watch(at: Tensor, there: Tensor, tops: list[Tensor] = tops) -> None:
            tops.append(highest(at, there))

        end, norm = damped_newton(in_chart, start, steps, tol, chart.unit, watch)
        before, phi = phi if delta < phi[-1] else None, end
        weights = chart.weights(phi)
        larger = max(weights[column].norm() for column in columns)
        found.append((weights, loss(weights), torch.tensor(norm), larger, torch.stack(tops).max()))
    return ConvergedPath(*(torch.stack(column) for column in zip(*found, strict=True)))


def _between(phi: Tensor, there: Tensor, parts: Tensor) -> Tensor:
    """The points of a straight piece of a path, in the coordinates and in log δ; parts (n, 1)."""
    return torch.cat([torch.lerp(phi[:-1], there[:-1], parts), phi[-1] ** (1 - parts) * there[-1] ** parts], dim=1)
