"""Branches of constrained minima on which two neurons merge, for the chapter *merging neurons*.

Brea, Şimşek, Illing & Gerstner, section 4.1. At distance δ = ‖ϑ_1 − ϑ_0‖ a constrained critical point has ∇L = μ∇δ. In
the centred coordinates of :class:`~lmc_helpers.permutation_points.pair.PairChart`, with τ = log δ as the last one,
these are p equations in p + 1 unknowns; :func:`follow_pairs` follows the curve of their solutions through its folds.
Minimisation at fixed distances, as in the paper (:func:`minimise_closer`), follows it up to the first fold and jumps
there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.func import grad, jacrev

from lmc_helpers.permutation_points import MLP, PairChart, inertia, minimise, squared_loss
from lmc_helpers.permutation_points.mlp import DERIVATIVES, Activation, SquaredLoss
from lmc_helpers.permutation_points.pair import ChartLoss

#: rows of the batch (b,) and unknowns y (b, n) to F (b, n − 1) and its Jacobian (b, n − 1, n)
Field = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

TURN = 0.3  # largest turn of the tangent in one step, in radians
CORRECTIONS = 5  # Newton steps of the corrector
MAX_CORRECTION = 0.5  # in units of the step
BRANCH_STEP = 1e-4  # longest step on which the orientation may change, in units of the longest step allowed
MIN_STEP = 1e-9  # a curve is stuck when its step shrinks below this


@dataclass(frozen=True)
class Curve:
    """One curve, K points."""

    points: torch.Tensor  # (K, n), in order
    tangents: torch.Tensor  # (K, n), unit vectors in the direction of travel
    residual: torch.Tensor  # (K,), ‖F‖ at the points
    orientation: torch.Tensor  # (K,), sign of det(∂F/∂y; t) at the points
    steps: torch.Tensor  # (K − 1,), arclength of the predictor between neighbours
    stuck: bool  # whether the step shrank below MIN_STEP

    @property
    def folds(self) -> torch.Tensor:
        """Indices of the points after which the last coordinate turns back."""
        last = self.tangents[:, -1]
        return (last[1:] * last[:-1] < 0).nonzero()[:, 0]

    @property
    def switches(self) -> torch.Tensor:
        """Indices of the points after which the orientation changes: a branch point, or an unresolved gap."""
        return (self.orientation[1:] * self.orientation[:-1] < 0).nonzero()[:, 0]


def trace_curves(
    field: Field,
    start: torch.Tensor,
    direction: float,
    stop: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    steps: int,
    largest: float = 0.3,
    tol: float = 1e-10,
) -> list[Curve]:
    """Trace the curve of F = 0 through each start (B, n).

    Pseudo-arclength continuation: from a solution y with unit tangent t the predictor is y + h t, and Newton's method
    on F(y') = 0, t·(y' − y − h t) = 0 corrects it; the bordered matrix stays regular at folds. A step is taken if the
    corrector converges close to the predictor and the tangent turns little; else h shrinks.

    A step across a narrow gap between two curves changes the sign of det(∂F/∂y; t), which is constant on one curve with
    ∂F/∂y of full rank, and is rejected too. At a branch point the sign changes however short the step is; there a step
    of at most BRANCH_STEP is taken, with the change on record.
    """
    B = len(start)
    F, J = field(torch.arange(B), start)
    first = torch.zeros_like(start)
    first[:, -1] = direction
    y, t, h = start.clone(), _tangent(J, first), torch.full((B,), largest / 10, dtype=start.dtype)
    start_norm = start.norm(dim=1)
    orientation = _orientation(J, t)
    trace = [[(y[b].clone(), t[b].clone(), F[b].norm(), orientation[b].clone(), h[b].clone())] for b in range(B)]
    stuck = torch.zeros(B, dtype=torch.bool)

    def longest(rows: torch.Tensor) -> torch.Tensor:
        return largest * (y[rows].norm(dim=1) / start_norm[rows]).clamp(min=1)

    active = torch.arange(B)
    for _ in range(steps):
        if not len(active):
            break
        z, residual, J, good = _correct(field, active, y[active], t[active], h[active], tol)
        tangent = _tangent(J, t[active])
        cosine = (tangent * t[active]).sum(dim=1)
        good &= cosine >= torch.cos(torch.tensor(TURN))
        sign = _orientation(J, tangent)
        good &= (sign * orientation[active] >= 0) | (h[active] <= BRANCH_STEP * longest(active))
        moved = active[good]
        y[moved], t[moved], orientation[moved] = z[good], tangent[good], sign[good]
        for b, norm in zip(moved.tolist(), residual[good], strict=True):
            trace[b].append((y[b].clone(), t[b].clone(), norm, orientation[b].clone(), h[b].clone()))
        straight = cosine >= torch.cos(torch.tensor(TURN / 2))
        longer = torch.minimum(longest(active), h[active] * torch.where(straight, 1.3, 1.0))
        h[active] = torch.where(good, longer, h[active] / 2)
        stuck[active] = h[active] < MIN_STEP
        done = torch.zeros_like(good)
        done[good] = stop(moved, y[moved])
        active = active[~stuck[active] & ~done]
    curves = []
    for b, points in enumerate(trace):
        y_b, t_b, norm, sign, step = (torch.stack(column) for column in zip(*points, strict=True))
        curves.append(Curve(y_b, t_b, norm, sign, step[1:], bool(stuck[b])))
    return curves


def _tangent(J: torch.Tensor, previous: torch.Tensor) -> torch.Tensor:
    """The unit vector of the kernel of J (b, n − 1, n) on the side of the previous one."""
    bordered = torch.cat([J, previous[:, None]], dim=1)
    right = torch.zeros_like(previous)
    right[:, -1] = 1
    t, _ = torch.linalg.solve_ex(bordered, right)
    return torch.nan_to_num(torch.nn.functional.normalize(t, dim=1))


def _orientation(J: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
    """The sign of det(J; t), (b,)."""
    return torch.linalg.slogdet(torch.cat([J, t[:, None]], dim=1))[0]


def _correct(
    field: Field, rows: torch.Tensor, y: torch.Tensor, t: torch.Tensor, h: torch.Tensor, tol: float
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """The solution in the plane through the predictor normal to t, its ‖F‖ and ∂F/∂y, and whether Newton converged."""
    predicted = y + h[:, None] * t
    z, good = predicted, torch.ones(len(y), dtype=torch.bool)
    F, J = field(rows, z)
    for count in range(CORRECTIONS):
        right = torch.cat([F, ((z - predicted) * t).sum(dim=1, keepdim=True)], dim=1)
        change, _ = torch.linalg.solve_ex(torch.cat([J, t[:, None]], dim=1), right)
        corrected = z - change
        good &= ((corrected - predicted).norm(dim=1) <= MAX_CORRECTION * h) & torch.isfinite(corrected).all(dim=1)
        z = torch.where(good[:, None], corrected, predicted)
        F, J = field(rows, z)
        settled = (F.norm(dim=1) <= tol) & (change.norm(dim=1) <= 1e-6 * (1 + z.norm(dim=1)))
        if count and bool((settled | ~good).all()):
            break
    return z, F.norm(dim=1), J, good & settled


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


@dataclass(frozen=True)
class Shallow:
    """The squared loss L of a network with one hidden layer.

    Many problems in one batch. Pinned norms ‖ϑ_i‖ = 1 cost nothing where g is positively homogeneous.
    """

    net: MLP  # sizes (n_0, n_1, n_2)
    x: torch.Tensor  # inputs (T, n_0), or (B, T, n_0)
    y: torch.Tensor  # targets (T, n_2), or (B, T, n_2)
    g: Activation | None = None  # activation with two derivatives; None: that of ``net``
    pin: float = 0.0  # weight of the penalty Σ_i (‖ϑ_i‖² − 1)²/8

    def select(self, rows: torch.Tensor) -> Shallow:
        """The problems of these rows of the batch."""
        if self.x.ndim == 2:
            return self
        return Shallow(self.net, self.x[rows], self.y[rows], self.g, self.pin)

    def output(self, theta: torch.Tensor) -> torch.Tensor:
        """f(x) (..., T, n_2) of θ (..., p)."""
        (W, b), (V, bias) = self.net._split(theta)
        return (V @ self._squared.activation(W @ self.x.mT + b[..., None])[0] + bias[..., None]).mT

    def loss(self, theta: torch.Tensor) -> torch.Tensor:
        """L (...,) of θ (..., p)."""
        loss = (self.output(theta) - self.y).square().sum(dim=(-2, -1)) / (2 * self.x.shape[-2])
        if self.pin:
            loss = loss + self.pin / 8 * self._pinned(theta)[2].square().sum(dim=(-2, -1))
        return loss

    __call__ = loss

    def value_and_gradient(self, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """L (B,) and ∇L (B, p) of θ (B, p)."""
        value, gradient = self._squared.value_and_gradient(theta)
        if self.pin:
            rows, v, excess = self._pinned(theta)
            value = value + self.pin / 8 * excess.square().sum(dim=(-2, -1))
            gradient[:, rows] += self.pin / 2 * excess * v
        return value, gradient

    def gradient_and_hessian(self, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """∇L (B, p) and ∇²L (B, p, p) of θ (B, p)."""
        gradient, H = self._squared.gradient_and_hessian(theta)
        if self.pin:
            rows, v, excess = self._pinned(theta)
            gradient[:, rows] += self.pin / 2 * excess * v
            identity = torch.eye(rows.shape[1], dtype=theta.dtype, device=theta.device)
            curved = excess[..., None] / 2 * identity + v[..., :, None] * v[..., None, :]
            H[:, rows[:, :, None], rows[:, None, :]] += self.pin * curved
        return gradient, H

    @property
    def _squared(self) -> SquaredLoss:
        """The loss without the penalty; as a function it takes the activation of ``net``."""
        weight = torch.tensor(1 / (2 * self.x.shape[-2]), dtype=self.x.dtype)
        return SquaredLoss(self.net, self.x, self.y, weight, self.g or DERIVATIVES[self.net.activation])

    def _pinned(self, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Where the ϑ_i are in θ, (n, n_0 + 1), the ϑ_i (..., n, n_0 + 1) and ‖ϑ_i‖² − 1 (..., n, 1)."""
        rows = torch.stack([self.net._incoming(1, i) for i in range(self.net.sizes[1])])
        v = theta[..., rows]
        return rows, v, v.square().sum(dim=-1, keepdim=True) - 1


#: how a branch can end
ENDS = ("permutation point", "derivative neuron", "another limit", "not ended")

ABOVE_START = 1e-6  # of the largest loss on a branch, below which a loss is that of the start and its rounding
DIVERGED = 30.0  # factor over the largest parameter at the start, at finite distance, that counts as divergence


@dataclass(frozen=True)
class Branch:
    """A curve of K constrained critical points; the pair are neurons 0 and 1."""

    theta: torch.Tensor  # (K, p), parameters
    tangent: torch.Tensor  # (K, p), their derivative by the arclength in the coordinates
    delta: torch.Tensor  # (K,), distance δ
    loss: torch.Tensor  # (K,)
    residual: torch.Tensor  # (K,), ‖F‖, the norm of the gradient in the coordinates at fixed δ
    outgoing: torch.Tensor  # (K, n_2, 2), the columns a_0 and a_1
    negative: torch.Tensor  # (K,), long: negative eigenvalues of the Hessian at fixed δ, 0 on a branch of minima
    curve: Curve  # the curve in the coordinates
    end: str  # one of :data:`ENDS`

    @property
    def folds(self) -> int:
        """How often the distance turns back."""
        return len(self.curve.folds)


def join_problems(problems: list[Shallow]) -> Shallow:
    """One problem with a batch of those given, each with one set of inputs."""
    first = problems[0]
    x, y = torch.stack([p.x for p in problems]), torch.stack([p.y for p in problems])
    return Shallow(first.net, x, y, first.g, first.pin)


def follow_pairs(
    problem: Shallow,
    theta: torch.Tensor,
    pairs: list[tuple[int, int]],
    final_ratio: float = 1e-4,
    steps: int = 400,
    largest: float = 0.3,
    tol: float = 1e-10,
) -> list[Branch]:
    """Merge each pair along its branch of constrained critical points, down to ``final_ratio`` of its distance."""
    chart = PairChart(problem.net, 1)
    starts = theta.expand(len(pairs), -1)
    start = torch.stack([chart.bring_forward(t, *two) for t, two in zip(starts, pairs, strict=True)])
    y = chart.coordinates(start)
    y[:, -1] = y[:, -1].log()
    lowest, size = y[:, -1] + math.log(final_ratio), start.abs().amax(dim=1)
    field = pair_field(chart, problem)

    def stop(rows: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        diverged = torch.maximum(points[:, :-1].abs().amax(dim=1), points[:, -1].exp()) > DIVERGED * size[rows]
        return (points[:, -1] <= lowest[rows]) | diverged

    curves = trace_curves(field, y, -1.0, stop, steps, largest, tol)
    return [
        _branch(chart, problem.select(torch.tensor([k])), curve, lowest[k].item()) for k, curve in enumerate(curves)
    ]


def pair_field(chart: PairChart, problem: Shallow) -> Field:
    """The equations of the constrained critical points in y = (φ, log δ), φ the centred coordinates."""
    first, second, out_first, out_second = chart._slots()

    def scales(tau: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """M (b, p, p) with θ = M φ, linear at fixed δ, and dM/d log δ."""
        delta = tau.exp()
        M = torch.eye(chart.net.size, dtype=tau.dtype).repeat(len(tau), 1, 1)
        M[:, first, second], M[:, second, first] = -delta[:, None] / 2, torch.ones(1, dtype=tau.dtype)
        M[:, second, second] = delta[:, None] / 2
        M[:, out_first, out_first], M[:, out_first, out_second] = torch.full((1,), 0.5).to(tau), -1 / delta[:, None]
        M[:, out_second, out_first], M[:, out_second, out_second] = torch.full((1,), 0.5).to(tau), 1 / delta[:, None]
        rate = torch.zeros_like(M)
        rate[:, first, second], rate[:, second, second] = -delta[:, None] / 2, delta[:, None] / 2
        rate[:, out_first, out_second], rate[:, out_second, out_second] = 1 / delta[:, None], -1 / delta[:, None]
        return M, rate

    def field(rows: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        phi, (M, rate) = y[:, :-1], scales(y[:, -1])
        gradient, H = problem.select(rows).gradient_and_hessian((M @ phi[..., None])[..., 0])
        F = (M.mT @ gradient[..., None])[..., 0]  # ∂L/∂φ, (b, p)
        HM = H @ M
        moved = (rate @ phi[..., None])[..., 0]  # dθ/d log δ
        by_tau = HM.mT @ moved[..., None] + rate.mT @ gradient[..., None]
        J = torch.cat([M.mT @ HM, by_tau], dim=2)  # (b, p, p + 1)
        e, G = phi[:, second], F[:, second].clone()
        along, excess = (e * G).sum(dim=1, keepdim=True), (e.square().sum(dim=1, keepdim=True) - 1) / 2
        J[:, second] -= e[..., None] * (e[:, None] @ J[:, second])
        same = torch.eye(len(second), dtype=y.dtype)
        outer = e[..., None] * (e - G)[:, None]  # e (de·e) − e (de·G)
        J[:, second[:, None], second] += outer + (excess - along)[..., None] * same
        F[:, second] = G + e * (excess - along)
        return F, J

    return field


def _branch(chart: PairChart, problem: Shallow, curve: Curve, lowest: float) -> Branch:
    """The branch of a curve, and how it ended."""
    phi = torch.cat([curve.points[:, :-1], curve.points[:, -1:].exp()], dim=1)
    theta, delta = chart.weights(phi), phi[:, -1]
    first, second, out_first, out_second = chart._slots()
    a = torch.stack([theta[:, out_first], theta[:, out_second]], dim=-1)  # (K, n_2, 2)
    rate = curve.tangents[:, :-1].clone()  # dφ, and then dθ by the arclength
    e, log_rate = phi[:, second], curve.tangents[:, -1:]
    step = delta[:, None] * (rate[:, second] + e * log_rate) / 2
    share, split = rate[:, out_first] / 2, (rate[:, out_second] - phi[:, out_second] * log_rate) / delta[:, None]
    middle = rate[:, first].clone()
    rate[:, first], rate[:, second] = middle - step, middle + step
    rate[:, out_first], rate[:, out_second] = share - split, share + split
    if curve.points[-1, -1] <= lowest:
        end = ENDS[0] if _meet(a, delta) else ENDS[1]
    else:
        size = torch.maximum(curve.points[-1, :-1].abs().max(), delta[-1])
        end = ENDS[2] if size > DIVERGED * theta[0].abs().max() else ENDS[3]
    negative = _constrained_negative(chart, problem, curve.points)
    return Branch(theta, rate, delta, problem.loss(theta), curve.residual, a, negative, curve, end)


def _meet(a: torch.Tensor, delta: torch.Tensor) -> bool:
    """True if output weights a (K, n_2, 2) meet as δ (K,) → 0, and do not part like 1/δ over the last decade."""
    split = (a[..., 1] - a[..., 0]).norm(dim=1)
    wide = (delta >= 10 * delta[-1]).nonzero()
    before = split[wide[-1] if len(wide) else 0]
    return bool(split[-1] <= 3 * before) or bool(split[-1] <= 1e-3 * a[-1].norm())


def _constrained_negative(chart: PairChart, problem: Shallow, points: torch.Tensor) -> torch.Tensor:
    """Negative eigenvalues of the Hessian at fixed δ, (K,)."""
    eigenvalues = torch.linalg.eigvalsh(constrained_hessian(chart, problem, points))
    return (eigenvalues < -1e-12 * eigenvalues.abs().amax(dim=1, keepdim=True)).sum(dim=1)


def constrained_hessian(chart: PairChart, problem: Shallow, points: torch.Tensor) -> torch.Tensor:
    """∂²L/∂φ² (K, p, p) at fixed δ where ‖e‖ = 1, 0 along e itself."""
    _, J = pair_field(chart, problem)(torch.zeros(len(points), dtype=torch.long), points)
    H, second = J[..., :-1], chart._slots()[1]  # symmetric but for the axis of e
    e = torch.zeros_like(points[:, :-1])
    e[:, second] = points[:, second]
    P = torch.eye(e.shape[1], dtype=e.dtype) - e[..., None] * e[:, None]
    return P @ (H + H.mT) @ P / 2


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
        ends[k] = ENDS[0] if _meet(a[:, k], delta[:, k]) else ENDS[1]
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
