"""Branches of constrained minima on which two neurons approach each other (Brea, Şimşek, Illing & Gerstner, § 4.1).

At distance δ = ‖ϑ_1 − ϑ_0‖ a constrained critical point has ∇L = μ∇δ. In the centred coordinates of
:class:`~lmc_helpers.permutation_points.pair.PairChart`, with τ = log δ as the last one, these are p equations in p + 1
unknowns; the curve of their solutions through the start is followed through its folds
(:mod:`~lmc_helpers.permutation_points.continuation`). Minimisation at fixed distances, as in the paper, follows the
same curve up to the first fold and jumps there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from lmc_helpers.permutation_points.continuation import Curve, Field, follow
from lmc_helpers.permutation_points.pair import PairChart
from lmc_helpers.permutation_points.shallow import Shallow

__all__ = ["ENDS", "Branch", "follow_pairs", "join_problems"]

#: where a branch can end
ENDS = ("permutation point", "derivative neuron", "infinity", "not ended")

AWAY = 30.0  # a parameter this many times larger than the largest at the start, at a finite distance, has run away


@dataclass(frozen=True)
class Branch:
    """A curve of constrained critical points, K points, the pair in places 0 and 1.

    Attributes
    ----------
    theta, tangent : torch.Tensor
        (K, p), parameters and their derivative by the arclength in the coordinates.
    delta, loss, residual : torch.Tensor
        (K,); ‖F‖ is the norm of the gradient in the coordinates at fixed δ.
    outgoing : torch.Tensor
        (K, n_2, 2), the columns a_0 and a_1.
    negative : torch.Tensor
        (K,), long: negative eigenvalues of the Hessian at fixed δ, 0 on a branch of minima.
    curve : Curve
        the curve in the coordinates.
    end : str
        one of :data:`ENDS`.
    """

    theta: torch.Tensor
    tangent: torch.Tensor
    delta: torch.Tensor
    loss: torch.Tensor
    residual: torch.Tensor
    outgoing: torch.Tensor
    negative: torch.Tensor
    curve: Curve
    end: str

    @property
    def folds(self) -> int:
        """How often the distance turns back."""
        return len(self.curve.folds)


def join_problems(problems: list[Shallow]) -> Shallow:
    """One problem whose batch holds these, each with one set of inputs."""
    first = problems[0]
    x, y = torch.stack([p.x for p in problems]), torch.stack([p.y for p in problems])
    return Shallow(first.net, x, y, first.g, first.pin)


def follow_pairs(
    problem: Shallow,
    theta: torch.Tensor,
    pairs: list[tuple[int, int]],
    reach: float = 1e-4,
    steps: int = 400,
    largest: float = 0.3,
    tol: float = 1e-10,
) -> list[Branch]:
    """Merge each pair along its branch of constrained critical points.

    Parameters
    ----------
    problem : Shallow
        inputs and targets, one set for all pairs or (B, …), one for each.
    theta : torch.Tensor
        critical points (p,), the same for all pairs, or (B, p), one for each.
    pairs : list of (int, int)
        B pairs of hidden neurons.
    reach : float
        the branch ends where δ/δ_0 falls to this value.
    steps : int
        budget of trial steps.
    largest : float
        longest step of the continuation.
    tol : float
        norm of the gradient in the coordinates at fixed δ.

    Returns
    -------
    list of Branch
        one for each pair.

    Examples
    --------
    >>> from lmc_helpers.permutation_points.mlp import MLP
    >>> net = MLP((1, 2, 1), "tanh")
    >>> x = torch.linspace(-2, 2, 40, dtype=torch.float64)[:, None]
    >>> theta = net.initial(1, seed=3)[0]
    >>> [branch] = follow_pairs(Shallow(net, x, net.forward(theta, x)), theta, [(0, 1)], reach=0.5)
    >>> bool(branch.delta[-1] <= 0.5 * branch.delta[0]), bool(branch.residual.max() <= 1e-10)
    (True, True)
    """
    chart = PairChart(problem.net, 1)
    if theta.shape not in {(chart.net.size,), (len(pairs), chart.net.size)}:
        raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (p,) or (B, p) with B = {len(pairs)} pairs")
    starts = theta.expand(len(pairs), -1)
    start = torch.stack([chart.bring_forward(t, *two) for t, two in zip(starts, pairs, strict=True)])
    y = chart.coordinates(start)
    y[:, -1] = y[:, -1].log()
    lowest, size = y[:, -1] + math.log(reach), start.abs().amax(dim=1)
    field = pair_field(chart, problem)

    def stop(rows: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        away = torch.maximum(points[:, :-1].abs().amax(dim=1), points[:, -1].exp()) > AWAY * size[rows]
        return (points[:, -1] <= lowest[rows]) | away

    curves = follow(field, y, -1.0, stop, steps, largest, tol)
    return [
        _branch(chart, problem.select(torch.tensor([k])), curve, lowest[k].item()) for k, curve in enumerate(curves)
    ]


def pair_field(chart: PairChart, problem: Shallow) -> Field:
    """The equations of the constrained critical points in y = (φ, log δ), φ the centred coordinates.

    They are ∂L/∂φ = 0, where the derivative by e is projected on the plane normal to e, with (‖e‖² − 1)/2 along e.

    Parameters
    ----------
    chart : PairChart
        centred coordinates of neurons 0 and 1.
    problem : Shallow
        the loss.

    Returns
    -------
    callable
        rows (b,) and y (b, p + 1) to F (b, p) and ∂F/∂y (b, p, p + 1).
    """
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
        gradient, H = problem.select(rows).derivatives((M @ phi[..., None])[..., 0])
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
        bounded = a[-1].abs().max() <= 100 * a[0].abs().max()
        end = ENDS[0] if bounded else ENDS[1]
    else:
        size = torch.maximum(curve.points[-1, :-1].abs().max(), delta[-1])
        end = ENDS[2] if size > AWAY * theta[0].abs().max() else ENDS[3]
    negative = _constrained_negative(chart, problem, curve.points)
    return Branch(theta, rate, delta, problem.loss(theta), curve.residual, a, negative, curve, end)


def _constrained_negative(chart: PairChart, problem: Shallow, points: torch.Tensor) -> torch.Tensor:
    """Negative eigenvalues of ∂F/∂φ at critical points, symmetric where ‖e‖ = 1 but for the axis of e itself, (K,)."""
    _, J = pair_field(chart, problem)(torch.zeros(len(points), dtype=torch.long), points)
    H, second = J[..., :-1], chart._slots()[1]
    e = torch.zeros_like(points[:, :-1])
    e[:, second] = points[:, second]
    P = torch.eye(e.shape[1], dtype=e.dtype) - e[..., None] * e[:, None]
    eigenvalues = torch.linalg.eigvalsh(P @ (H + H.mT) @ P / 2)
    return (eigenvalues < -1e-12 * eigenvalues.abs().amax(dim=1, keepdim=True)).sum(dim=1)
