"""Following curves of solutions of n − 1 equations F(y) = 0 in n unknowns, many curves in one batch.

Pseudo-arclength continuation: from a solution y with unit tangent t the predictor is y + h t, and Newton's method on
F(y') = 0, t·(y' − y − h t) = 0 corrects it. The bordered matrix stays regular at folds, where the curve turns back in
its last coordinate and a search at fixed values of this coordinate loses it. A step is taken if the corrector
converges close to the predictor and the tangent turns little; else h shrinks. So every point is a solution, and
neighbours on the curve are neighbours in space. A step could still go straight on across a gap between two curves that
is narrower than the step. Then the sign of det(∂F/∂y; t) changes, which along one curve with ∂F/∂y of full rank it does
not: such a step is not taken either, and h shrinks until the curve is followed round the corner. At a branch point the
sign changes however short the step is; there a step far shorter than the longest one is taken, with the change on
record.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

__all__ = ["Curve", "follow"]

#: rows of the batch (b,) and unknowns y (b, n) to F (b, n − 1) and its Jacobian (b, n − 1, n)
Field = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]

TURN = 0.3  # radians that the tangent may turn in one step
CORRECTIONS = 5  # Newton steps of the corrector
AWAY = 0.5  # largest correction, in units of the step
ACROSS = 1e-4  # a step on which the orientation changes is taken if no longer than this, in units of the longest
SMALLEST = 1e-9  # a curve whose step shrinks below this is given up


@dataclass(frozen=True)
class Curve:
    """One curve, K points.

    Attributes
    ----------
    points, tangents : torch.Tensor
        (K, n), in the order of the curve; unit tangents in the direction of travel.
    residual : torch.Tensor
        (K,), ‖F‖ at the points.
    orientation : torch.Tensor
        (K,), sign of det(∂F/∂y; t) at the points.
    steps : torch.Tensor
        (K − 1,), arclength of the predictor between neighbours.
    stuck : bool
        whether the step had to shrink below every bound.
    """

    points: torch.Tensor
    tangents: torch.Tensor
    residual: torch.Tensor
    orientation: torch.Tensor
    steps: torch.Tensor
    stuck: bool

    @property
    def folds(self) -> torch.Tensor:
        """Numbers k of the points after which the last coordinate turns back."""
        last = self.tangents[:, -1]
        return (last[1:] * last[:-1] < 0).nonzero()[:, 0]

    @property
    def switches(self) -> torch.Tensor:
        """Numbers k of the points after which the orientation changes: a branch point, or a gap too narrow to see."""
        return (self.orientation[1:] * self.orientation[:-1] < 0).nonzero()[:, 0]


def follow(
    field: Field,
    start: torch.Tensor,
    direction: float,
    stop: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    steps: int,
    largest: float = 0.3,
    tol: float = 1e-10,
) -> list[Curve]:
    """Follow the curve of F = 0 through every start.

    Parameters
    ----------
    field : callable
        rows (b,) and y (b, n) to F (b, n − 1) and ∂F/∂y (b, n − 1, n).
    start : torch.Tensor
        (B, n), solutions at which ∂F/∂y has full rank and the curve is not normal to the last axis.
    direction : float
        sign of the last coordinate of the first tangent.
    stop : callable
        rows (b,) and points (b, n) to bool (b,): where a curve ends.
    steps : int
        budget of trial steps of every curve.
    largest : float
        longest step, in units of max(1, ‖y‖/‖start‖).
    tol : float
        ‖F‖ of a point that is taken.

    Returns
    -------
    list of Curve
        one for each start.

    Examples
    --------
    The circle y_0² + y_1² = 1 from (0.6, 0.8) down, through its fold in y_1 at (0, −1), and up again:

    >>> def circle(rows, y):
    ...     return y.square().sum(dim=1, keepdim=True) - 1, 2 * y[:, None]
    >>> start = torch.tensor([[0.6, 0.8]], dtype=torch.float64)
    >>> [curve] = follow(circle, start, -1.0, lambda rows, y: (y[:, 0] < 0) & (y[:, 1] > 0), steps=200)
    >>> len(curve.folds), bool((curve.points.norm(dim=1) - 1).abs().max() < 1e-10)
    (1, True)
    """
    B = len(start)
    everything = torch.arange(B)
    F, J = field(everything, start)
    if not (F.norm(dim=1) <= tol).all():
        raise ValueError(f"a start has residual {F.norm(dim=1).max().item():.1e}; allowed: solutions to {tol:.0e}")
    first = torch.zeros_like(start)
    first[:, -1] = direction
    y, t, h = start.clone(), _tangent(J, first), torch.full((B,), largest / 10, dtype=start.dtype)
    unit = start.norm(dim=1)
    side = _orientation(J, t)
    trace = [[(y[b].clone(), t[b].clone(), F[b].norm(), side[b].clone(), h[b].clone())] for b in range(B)]
    stuck = torch.zeros(B, dtype=torch.bool)

    def longest(rows: torch.Tensor) -> torch.Tensor:
        return largest * (y[rows].norm(dim=1) / unit[rows]).clamp(min=1)

    active = everything
    for _ in range(steps):
        if not len(active):
            break
        z, residual, J, good = _correct(field, active, y[active], t[active], h[active], tol)
        tangent = _tangent(J, t[active])
        cosine = (tangent * t[active]).sum(dim=1)
        good &= cosine >= torch.cos(torch.tensor(TURN))
        sign = _orientation(J, tangent)
        good &= (sign * side[active] >= 0) | (h[active] <= ACROSS * longest(active))
        moved = active[good]
        y[moved], t[moved], side[moved] = z[good], tangent[good], sign[good]
        for b, norm in zip(moved.tolist(), residual[good], strict=True):
            trace[b].append((y[b].clone(), t[b].clone(), norm, side[b].clone(), h[b].clone()))
        straight = cosine >= torch.cos(torch.tensor(TURN / 2))
        longer = torch.minimum(longest(active), h[active] * torch.where(straight, 1.3, 1.0))
        h[active] = torch.where(good, longer, h[active] / 2)
        stuck[active] = h[active] < SMALLEST
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
    """The solution in the plane through the predictor normal to t, its ‖F‖, ∂F/∂y, and whether it was reached."""
    predicted = y + h[:, None] * t
    z, good = predicted, torch.ones(len(y), dtype=torch.bool)
    F, J = field(rows, z)
    for count in range(CORRECTIONS):
        right = torch.cat([F, ((z - predicted) * t).sum(dim=1, keepdim=True)], dim=1)
        change, _ = torch.linalg.solve_ex(torch.cat([J, t[:, None]], dim=1), right)
        there = z - change
        good &= ((there - predicted).norm(dim=1) <= AWAY * h) & torch.isfinite(there).all(dim=1)
        z = torch.where(good[:, None], there, predicted)
        F, J = field(rows, z)
        settled = (F.norm(dim=1) <= tol) & (change.norm(dim=1) <= 1e-6 * (1 + z.norm(dim=1)))
        if count and bool((settled | ~good).all()):
            break
    return z, F.norm(dim=1), J, good & settled
