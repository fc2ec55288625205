"""Branches of constrained minima on which two neurons merge (chapters 21 and 22).

Brea, Şimşek, Illing & Gerstner, section 4.1. At distance δ = ‖ϑ_1 − ϑ_0‖ a constrained critical point has ∇L = μ∇δ. In
the centred coordinates of :class:`~lmc_helpers.permutation_points.pair.PairChart`, with τ = log δ as the last one,
these are p equations in p + 1 unknowns; :func:`follow_pairs` follows the curve of their solutions through its folds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from lmc_helpers.permutation_points.continuation import Curve, Field, trace_curves
from lmc_helpers.permutation_points.mlp import DERIVATIVES, MLP, Activation, SquaredLoss
from lmc_helpers.permutation_points.pair import PairChart

__all__ = ()  # what packages of ours lend each other


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
        end = ENDS[0] if meet(a, delta) else ENDS[1]
    else:
        size = torch.maximum(curve.points[-1, :-1].abs().max(), delta[-1])
        end = ENDS[2] if size > DIVERGED * theta[0].abs().max() else ENDS[3]
    negative = _constrained_negative(chart, problem, curve.points)
    return Branch(theta, rate, delta, problem.loss(theta), curve.residual, a, negative, curve, end)


def meet(a: torch.Tensor, delta: torch.Tensor) -> bool:
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
