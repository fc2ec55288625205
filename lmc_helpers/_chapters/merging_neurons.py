"""Comparisons for branches on which two neurons merge, for the chapter *merging neurons*.

Brea, Şimşek, Illing & Gerstner, section 4.1: the tops and limits of a branch
(:func:`~lmc_helpers.permutation_points.merging.follow_pairs`), and minimisation at fixed distances, as in the paper
(:func:`minimise_closer`), which follows it up to the first fold and jumps there. Networks of ReLUs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.func import grad, jacrev

from lmc_helpers.permutation_points import MLP, PairChart, inertia, minimise, squared_loss
from lmc_helpers.permutation_points.merging import DIVERGED, ENDS, Branch, Shallow, constrained_hessian, meet
from lmc_helpers.permutation_points.mlp import Activation
from lmc_helpers.permutation_points.pair import ChartLoss


def rounded_relu(width: float) -> Activation:
    """A smooth ReLU, g(s) = (s + √(s² + h²))/2, above max(s, 0) by at most h/2; g' = g/√(s² + h²)."""

    def g(s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        root = torch.sqrt(s.square() + width**2)
        value = torch.where(s > 0, s + root, width**2 / (root + s.abs())) / 2  # free of cancellation for s < 0
        return value, value / root, width**2 / (2 * root**3)

    return g


def equal_norms(net: MLP, theta: torch.Tensor) -> torch.Tensor:
    """The same ReLU network with ϑ_i/‖ϑ_i‖ and a_i ‖ϑ_i‖ for ϑ_i and a_i of all hidden neurons."""
    (W, b), (V, bias) = net._split(theta)
    size = torch.sqrt(W.square().sum(dim=-1) + b.square())  # (..., n)
    return net.join([(W / size[..., None], b / size), (V * size[..., None, :], bias)])


ABOVE_START = 1e-6  # of the largest loss on a branch, below which a loss is that of the start and its rounding


@dataclass(frozen=True)
class Top:
    """A critical point of the loss itself, at a positive distance, where it has a maximum along a branch."""

    place: int  # the point of the branch before it
    loss: float
    negative: int  # eigenvalues of the Hessian


def tops(problem: Shallow, branch: Branch) -> list[Top]:
    """The tops of the loss on a branch, but for its ends, by Newton's method from its points."""
    theta, second = branch.theta, problem.net._incoming(1, 1)
    e = theta[:, second] - theta[:, problem.net._incoming(1, 0)]
    along = (problem.gradient_and_hessian(theta)[0][:, second] * e).sum(dim=1)  # δ dL/dδ, 0 at the start
    rising = (branch.loss[1:-1] > branch.loss[:-2]) & (branch.loss[1:-1] > ABOVE_START * branch.loss.max())
    found = []
    for k in (1 + ((along[2:] * along[1:-1] < 0) & rising).nonzero()[:, 0]).tolist():
        at = theta[k : k + 2].mean(dim=0, keepdim=True)
        for _ in range(20):
            g, H = problem.gradient_and_hessian(at)
            at = at - torch.linalg.solve_ex(H, g[..., None])[0][..., 0]
        g, H = problem.gradient_and_hessian(at)
        if (at - theta[k]).norm() <= 3 * (theta[k + 1] - theta[k]).norm() and g.norm() <= 1e-9:
            found.append(Top(k, problem.loss(at).item(), int(inertia(H[0], tol=1e-9).negative)))
    return found


LIMITS = ("derivative neuron", "passage", "exponential neuron", "step neuron")


@dataclass(frozen=True)
class Limit:
    """The limit of a branch whose output weights diverge at a distance δ* > 0; tanh, one output."""

    kind: str  # one of :data:`LIMITS`
    tau: Tensor  # (K,), τ on the branch
    delta: float  # the distance δ* of the limit, nan if none was found
    rate: float  # dτ/dδ there


def find_limit(problem: Shallow, branch: Branch) -> Limit:
    """The network at τ = 0 from the last point of a branch, by Newton's method.

    In a chart with a coordinate τ that is 0 at the limit, all others stay finite. The limit is a root at τ = 0 of the
    derivatives of L − λ(d − δ) by all coordinates, τ among them, and by λ; its unknowns are the other coordinates, λ
    and δ.
    """
    x, n, d = problem.x, problem.net.sizes[1], problem.net.sizes[0] + 1
    (W, b), (V, bias) = problem.net._split(branch.theta)
    v, a, z = torch.cat([W, b[..., None]], dim=-1), V[:, 0], torch.cat([x, torch.ones_like(x[:, :1])], dim=1)
    at, end = v[-1], a[-1]
    if at.abs().max() > end.abs().max():
        return Limit(LIMITS[3], a.new_zeros(len(a)), math.nan, math.nan)
    i, j = end.abs().argsort(descending=True)[:2].tolist()
    two = bool(end[i].abs() < 3 * end[j].abs())
    gone = {i, j} if two else {i}
    odd = len(gone & {0, 1}) == 1  # one of the pair: τ = u, of either sign
    sign = (at[i] @ at[j] if two else at[i, -1]).sign()
    u = 2 / (sign * a[:, j] - a[:, i]) if two else sign / a[:, i]
    if two:
        own = [(at[i] + sign * at[j]) / 2, (sign * at[j] - at[i]) / u[-1], end[i : i + 1] + sign * end[j]]
        shift = 0 * u[-1]  # of the output's bias
    elif odd:
        own, shift = [sign * at[i, :-1] / u[-1], sign * at[i, -1:]], (sign * at[i, -1]).tanh() / u[-1]
    else:
        own, shift = [sign * at[i, :-1], 2 / u[-1:] * (-2 * sign * at[i, -1:]).exp()], 1 / u[-1]
    rest = [k for k in range(n) if k not in gone]
    parts = [torch.cat(own), at[rest].flatten(), end[rest], bias[-1] + shift]
    parts += [a.new_zeros(1), branch.delta[-1:], a.new_zeros(1)]  # λ, δ, τ
    tau = u if odd or not two else u.square()

    def lagrangian(Y: Tensor) -> Tensor:
        own, others, outer, beta, lam, delta, tau = Y.split([len(part) for part in parts])
        vectors = dict(zip(rest, others.view(-1, d), strict=True))
        f, t = torch.tanh(z @ others.view(-1, d).T) @ outer + beta, tau.square() if odd else tau
        if two:  # c [g(s₊) + g(s₋)]/2 + [g(s₊) − g(s₋)]/u with s± = s ± uq/2, to second order in t = u²
            middle, q = own[:d], z @ own[d:-1]
            g = _tanh_derivatives(z @ middle)
            f = f + own[-1] * (g[0] + t * q**2 * g[2] / 8 + t**2 * q**4 * g[4] / 384)
            f = f + q * g[1] + t * q**3 * g[3] / 24 + t**2 * q**5 * g[5] / 1920
            half = tau * own[d:-1] / 2 if odd else 0
            vectors[i], vectors[j] = middle - half, sign * (middle + half)
        elif odd:  # [g(b + uq) − g(b)]/u
            q, g = x @ own[:-1], _tanh_derivatives(own[-1])
            f = f + q * g[1] + tau * q**2 * g[2] / 2 + t * q**3 * g[3] / 6
            vectors[i] = torch.cat([tau * own[:-1], own[-1:]]) * sign
        else:  # [g(w·x + b) − 1]/τ with e^(−2b) = τE/2
            e = own[-1] * (-2 * x @ own[:-1]).exp()
            f = f - e / (1 + tau * e / 2)
        distance = (vectors[1] - vectors[0]).norm()
        return (f - problem.y[:, 0]).square().mean() / 2 - (lam * (distance - delta)).sum()

    slope, p = grad(lagrangian), sum(map(len, parts)) - 3
    second, rows = jacrev(slope), [*range(p + 1), p + 2]  # by all but δ
    for way in ([0.0], [0.75, 0.5, 0.25, 0.0]):  # at once, or in steps of τ
        Y = torch.cat(parts)
        H = second(Y)[:p, p]  # −∂d
        Y[p] = -(slope(Y)[:p] @ H) / (H @ H)
        for part in way:
            Y[-1] = part * tau[-1]
            for _ in range(10):
                F = slope(Y)[rows]
                if F.norm() < 1e-13:
                    break
                Y[:-1] -= torch.linalg.solve_ex(second(Y)[rows, :-1], F)[0]
        if found := bool(slope(Y)[rows].norm() < 1e-10):
            break
    H = second(Y)
    moves = torch.linalg.solve_ex(H[rows][:, rows], -H[rows, p + 1])[0]  # of all of them with δ
    kind = LIMITS[1 if odd else 0 if two else 2]
    return Limit(kind, tau, Y[p + 1].item() if found else math.nan, moves[-1].item())


def _tanh_derivatives(s: Tensor) -> tuple[Tensor, ...]:
    """The function tanh and its first five derivatives."""
    T = torch.tanh(s)
    g = 1 - T**2
    return T, g, -2 * T * g, g * (6 * T**2 - 2), g * (16 * T - 24 * T**3), g * (16 - 120 * T**2 + 120 * T**4)


def seen_limit(branch: Branch, tau: Tensor) -> tuple[float, float]:
    """Distance at τ = 0 and dτ/dδ there of a cubic through the last points, where |τ| falls by its last factor of 3."""
    far = (tau.abs() > 3 * tau[-1].abs()).nonzero()
    last = slice(int(far[-1]) + 1 if len(far) else 0, None)
    powers = (tau[last, None] / tau[-1]) ** torch.arange(4)
    fit = torch.linalg.lstsq(powers, branch.delta[last, None]).solution[:, 0]
    return fit[0].item(), (tau[-1] / fit[1]).item()


def minimise_closer(
    problem: Shallow,
    theta: torch.Tensor,
    pairs: list[tuple[int, int]],
    ratios: torch.Tensor,
    steps: int,
    tol: float = 1e-9,
) -> list[str]:
    """How each pair of one network ends if the loss is minimised at ever smaller distances, from the last minimum.

    Unlike a branch it may jump to another minimum, where a fold ends the first one. ``steps`` are those of Newton's
    method at each distance; a pair for which they do not suffice has not ended.
    """
    chart = PairChart(problem.net, 1)
    in_chart, start = ChartLoss(problem, chart), torch.stack([chart.bring_forward(theta, *pair) for pair in pairs])
    phi, ends, active = chart.coordinates(start), [ENDS[3]] * len(pairs), torch.arange(len(pairs))
    first, largest = phi[:, -1].clone(), DIVERGED * start.abs().amax(dim=1)

    def second(phi: torch.Tensor) -> torch.Tensor:
        points = torch.cat([phi[:, :-1], phi[:, -1:].log()], dim=1)
        return torch.nn.functional.pad(constrained_hessian(chart, problem, points), (0, 1, 0, 1))

    found = [phi]
    for ratio in ratios:
        closer = chart.closer(phi[active], ratio * first[active])
        done = minimise(in_chart, closer, steps, tol, radius=0.1, project=chart.unit, second=second)
        phi = phi.clone()
        phi[active] = done.theta
        grown = done.theta.abs().amax(dim=1) > largest[active]
        for k in active[grown].tolist():
            ends[k] = ENDS[2]
        active = active[done.converged & ~grown]
        found.append(phi)
        if not len(active):
            break
    _, _, *out = chart._slots()
    theta = chart.weights(torch.stack(found))
    a, delta = torch.stack([theta[..., columns] for columns in out], dim=-1), torch.stack(found)[..., -1]
    for k in active.tolist():
        ends[k] = ENDS[0] if meet(a[:, k], delta[:, k]) else ENDS[1]
    return ends


@dataclass(frozen=True)
class ReluMinima:
    """The ends of B descents through K widths."""

    theta: torch.Tensor  # (B, p), at the smallest width
    losses: torch.Tensor  # (K, B), the loss with ReLU after each width
    converged: torch.Tensor  # (B,), bool: whether the gradient at the smallest width vanished to the tolerance

    @property
    def loss(self) -> torch.Tensor:
        """The final loss with ReLU, (B,)."""
        return self.losses[-1]

    def settled(self, tol: float = 1e-3) -> torch.Tensor:
        """True where the descent converged and its loss changed by less than ``tol`` at the last width, (B,)."""
        return self.converged & ((self.losses[-2] - self.losses[-1]).abs() <= tol * self.losses[-1])


def relu_minima(
    net: MLP,
    theta: torch.Tensor,
    x: torch.Tensor,
    y: torch.Tensor,
    widths: Sequence[float] = (0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4),
    steps: int = 300,
    tol: float = 1e-8,
) -> ReluMinima:
    """Minimise the squared loss of a network with one hidden layer of ReLUs, with ‖ϑ_i‖ = 1.

    At a minimum some inputs may lie on kinks, where the loss has no gradient. The rounded ReLU of width h has slopes
    that are subgradients within h: a minimum for h → 0 is a point where 0 is a subgradient. Each width starts from the
    minimum of the last one, and the ReLU loss shows whether the limit has been reached.
    """
    exact, losses = squared_loss(net, x, y), []
    for width in widths:
        smooth = Shallow(net, x, y, rounded_relu(width), pin=1.0)
        done = minimise(smooth, theta, steps, tol, radius=0.1)
        theta = done.theta
        losses.append(exact(theta))
    return ReluMinima(theta, torch.stack(losses), done.converged)


def count_different(losses: torch.Tensor, tol: float = 1e-6) -> int:
    """Number of distinct values >= 0; sorted neighbours with a relative difference up to ``tol`` count as one."""
    values = np.sort(losses.numpy())
    return 1 + int((np.diff(values) > tol * values[1:]).sum())


#: the three kinds of path that the paper's Fig. 4 sketches, in its order
KINDS = ("monotone", "intermediate maximum", "minimum at the end")


def path_kind(losses: Tensor, tol: float = 1e-5) -> str:
    """Kind of one path, as sketched in the paper's Fig. 4.

    *monotone*: the loss rises up to the end; *minimum at the end*: it falls into the end; *intermediate maximum*: it
    falls somewhere, and rises into the end. Changes up to ``tol`` times the largest loss do not count. The losses are
    those of one pair (K,).
    """
    change = np.diff(losses.numpy())
    signs = np.sign(change[np.abs(change) > tol * losses.max().item()])
    monotone, maximum_inside, minimum_at_end = KINDS
    if not len(signs) or (signs > 0).all():
        return monotone
    return minimum_at_end if signs[-1] < 0 else maximum_inside
