"""Trust-region Newton descent with exact Hessians, many small problems in one batch.

At θ with gradient g and Hessian H = Q Λ Qᵀ the step is a global minimum of the model g·s + sᵀH s/2 over ‖s‖ <= Δ (Moré
& Sorensen): s = −(H + νI)⁻¹ g with ν >= 0, H + νI positive semidefinite, and ‖s‖ = Δ if ν > 0. In the basis Q with
a = Qᵀg, δ = λ − λ_1 >= 0 and μ = ν + λ_1 it reads s_i = −a_i/(δ_i + μ), free of cancellation next to λ_1; μ solves
1/‖s‖ = 1/Δ, increasing and concave in μ, hence Newton's method from the left neither overshoots nor needs a safeguard.
Where ‖s‖ < Δ for μ → 0 and λ_1 < 0 (the hard case) a multiple of the lowest eigenvector fills the step up.

Close to a minimum L(θ) − L(θ + s) drowns in rounding. There the decrease is taken from the slopes at both ends,
−(g + g')·s/2, which is exact for a quadratic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float64
from torch import Tensor

from lmc_helpers._typing import Natural, NonNegative, PositiveNumber, checked, require_finite, returned
from lmc_helpers.permutation_points.hessian import Loss, _value_and_gradient, hessian

ACCEPT = 1e-4  # least ratio of the actual to the predicted decrease of a step that is taken
INVISIBLE = 1e-10  # predicted decreases below this fraction of the loss are not seen in differences of the loss
FLAT = 1e-13  # |λ| below this fraction of max abs(λ) is rounding
CURVATURE = 1e-8  # λ_1 below minus this fraction of max abs(λ) is a way down
STALL = 1e-16  # a radius below this fraction of 1 + ‖θ‖ moves nothing


@dataclass(frozen=True)
class Optimum:
    """Final points of a batch of descents."""

    theta: Tensor  # (B, p), the last parameters
    loss: Tensor  # (B,), at theta
    gradient_norm: Tensor
    steps: Tensor  # (B,), that were tried, taken or not
    converged: Tensor  # (B,), bool; a problem that is not has used up the budget, or no step moves it


@checked
def minimise(
    loss: Loss,
    theta: Float64[Tensor, "B p"],
    steps: Natural,
    tol: NonNegative,
    radius: PositiveNumber = 1.0,
    project: Callable[[Tensor], Tensor] | None = None,
    second: Callable[[Tensor], Tensor] | None = None,
) -> Optimum:
    """Descend from every θ of a batch until ‖∇L‖ <= tol, each with its own trust region.

    ``radius`` is that of the first trust region. ``project`` takes parameters to others with the same loss (a choice of
    gauge) after each step. A point with ‖∇L‖ <= tol is left along the lowest eigenvector if λ_1 < −1e-8 · max abs(λ).
    ``second`` gives the Hessians (b, p, p) at (b, p) where they are known in closed form. A problem that has converged
    leaves the batch.

    Examples
    --------
    Rosenbrock's function from two starts:

    >>> def rosenbrock(t):
    ...     return (1 - t[..., 0]) ** 2 + 100 * (t[..., 1] - t[..., 0] ** 2) ** 2
    >>> done = minimise(rosenbrock, torch.tensor([[-1.2, 1.0], [2.0, 2.0]], dtype=torch.float64), steps=50, tol=1e-12)
    >>> done.converged.tolist(), bool((done.theta - 1).abs().max() < 1e-9)
    ([True, True], True)
    """
    theta = theta.detach().clone()
    value, slope = (t.clone() for t in _value_and_gradient(loss, theta))  # autograd may return expanded tensors
    if not (torch.isfinite(value).all() and torch.isfinite(slope).all()):
        raise ValueError("a start has a loss or a gradient that is not finite; allowed: finite starts")
    taken = torch.zeros(len(theta), dtype=torch.long, device=theta.device)
    radii = torch.full_like(value, radius)
    eigenvalues, eigenvectors = torch.zeros_like(theta), theta.new_zeros(*theta.shape, theta.shape[1])
    active, moved = (torch.arange(len(theta), device=theta.device) for _ in range(2))
    for count in range(steps + 1):
        small = slope.norm(dim=-1) <= tol
        if count == steps:
            moved = moved[small[moved]]  # at the others no Hessian is needed any more
        if len(moved):
            H = hessian(loss, theta[moved]) if second is None else _second(second, theta[moved])
            eigenvalues[moved], eigenvectors[moved] = torch.linalg.eigh(H)
        bottom = eigenvalues[:, 0] >= -CURVATURE * eigenvalues.abs().amax(dim=-1)
        stalled = radii <= STALL * (1 + theta.norm(dim=-1))
        resting = small & bottom
        active = active[~resting[active] & ~stalled[active]]
        if not len(active) or count == steps:
            break
        at, g, Q = theta[active], slope[active], eigenvectors[active]
        coordinates, predicted = _subproblem(eigenvalues[active], (Q.mT @ g[..., None])[..., 0], radii[active])
        step = (Q @ coordinates[..., None])[..., 0]  # (b, p)
        value_there, slope_there = _value_and_gradient(loss, at + step)
        ratio = _ratio(value[active], value_there, g, slope_there, step, predicted)
        radii[active] = _next_radius(radii[active], step.norm(dim=-1), ratio)
        taken[active] += 1
        good = ratio >= ACCEPT
        moved = active[good]
        theta[moved], value[moved], slope[moved] = (at + step)[good], value_there[good], slope_there[good]
        if project is not None and len(moved):
            theta[moved] = returned("project", project(theta[moved]), theta[moved].shape)
            value[moved], slope[moved] = _value_and_gradient(loss, theta[moved])
    return Optimum(theta, value, slope.norm(dim=-1), taken, resting)


def _subproblem(eigenvalues: Tensor, slope: Tensor, radius: Tensor) -> tuple[Tensor, Tensor]:
    """The minimiser (B, p) of a·s + Σ λ_i s_i²/2 over ‖s‖ <= Δ, λ ascending, and the decrease (B,) that it predicts.

    Eigenvalues that are 0 but for rounding count as 1e-13 · max abs(λ). Their directions rest while they carry less
    than half of ‖a‖²: there a is rounding, too.
    """
    tiny = torch.finfo(slope.dtype).tiny
    floor = (FLAT * eigenvalues.abs().amax(dim=-1, keepdim=True)).clamp(min=tiny)  # (B, 1)
    flat = eigenvalues.abs() <= floor
    lam = torch.where(flat, floor, eigenvalues)
    resting = (slope * flat).square().sum(dim=-1) < slope.square().sum(dim=-1) / 2
    a = torch.where(flat & resting[:, None], 0.0, slope)
    lowest, where = lam.min(dim=-1, keepdim=True)  # (B, 1)
    gap = lam - lowest
    size = a.abs()
    mu = torch.maximum(lowest.clamp(min=0), (size / radius[:, None] - gap).amax(dim=-1, keepdim=True))  # (B, 1)

    def norm_at(mu: Tensor) -> tuple[Tensor, Tensor]:
        s = torch.where(size > 0, -a / (gap + mu).clamp(min=tiny), 0.0)
        return s, s.norm(dim=-1, keepdim=True)

    s, norm = norm_at(mu)
    for _ in range(100):
        outside = norm > radius[:, None] * (1 + 1e-12)
        if not outside.any():
            break
        unit = s / norm.clamp(min=tiny)
        shrink = (unit.square() / (gap + mu).clamp(min=tiny)).sum(dim=-1, keepdim=True)  # −d log ‖s‖ / dμ
        mu = torch.where(outside, mu + (norm / radius[:, None] - 1) / shrink.clamp(min=tiny), mu)
        s, norm = norm_at(mu)
    s = s * (radius[:, None] / norm.clamp(min=tiny)).clamp(max=1)
    room = (radius[:, None].square() - s.square().sum(dim=-1, keepdim=True)).clamp(min=0)
    along = s.gather(1, where)  # hard case: from s along the lowest eigenvector to the boundary
    fill = torch.where(along < 0, -1.0, 1.0) * (torch.sqrt(room + along.square()) - along.abs())
    s = s.scatter_add(1, where, torch.where(lowest < 0, fill, 0.0))
    return s, -(a * s + eigenvalues * s.square() / 2).sum(dim=-1)


def _second(second: Callable[[Tensor], Tensor], theta: Tensor) -> Tensor:
    H = returned("second", second(theta), (*theta.shape, theta.shape[1]))
    require_finite(second=H)
    return H


def _ratio(
    value: Tensor, value_there: Tensor, slope: Tensor, slope_there: Tensor, step: Tensor, predicted: Tensor
) -> Tensor:
    """Actual over predicted decrease; at least 1 if the slope halves where rounding hides the loss, −1 at no number."""
    seen = predicted > INVISIBLE * value.abs()
    decrease = torch.where(seen, value - value_there, -((slope + slope_there) * step).sum(dim=-1) / 2)
    ratio = decrease / predicted
    better = ~seen & (slope_there.norm(dim=-1) <= slope.norm(dim=-1) / 2)
    ratio = torch.where(better, ratio.clamp(min=1.0), ratio)
    finite = torch.isfinite(value_there) & torch.isfinite(slope_there).all(dim=-1) & (predicted > 0)
    return torch.where(finite, ratio, -1.0)


def _next_radius(radius: Tensor, length: Tensor, ratio: Tensor) -> Tensor:
    """A quarter of the step after a bad one, twice the radius after a good one that reached the boundary."""
    grown = torch.where((ratio > 0.75) & (length > 0.99 * radius), 2 * radius, radius)
    return torch.where(ratio < 0.25, torch.minimum(length, radius) / 4, grown)
