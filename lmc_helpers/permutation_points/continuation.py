"""Curves of solutions of p equations in p + 1 unknowns, followed through their folds (chapters 21 and 22)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

__all__ = ()  # what packages of ours lend each other

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
