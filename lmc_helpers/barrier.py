"""Loss barriers along a straight line between two networks.

The word *barrier* has several meanings in the literature; each has its own name here. :func:`loss_barrier` is the
maximum of the loss above the chord (Frankle et al.; Zhan, Li & Wu, section 2, eq. 9), :func:`refined_barrier` its
supremum, :func:`barrier_kinds` those above other baselines. Everywhere in the book λ = 1 is the first end a, λ = 0 the
second end b, and :func:`check_lambdas` is the one check of the range of λ.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Integer, Natural, Reals, checked, require_finite, returned

__all__ = ["GRID", "KINDS", "Loss", "barrier_kinds", "check_lambdas", "loss_barrier", "refined_barrier"]

GRID = tuple(k / 10 for k in range(11))  # 0, 0.1, …, 1, as Zhan, Li & Wu evaluate it
Loss = Callable[[Tensor], Tensor]


@checked
def check_lambdas(
    lambdas: Reals, dtype: torch.dtype = torch.float64, device: torch.device | str | None = None, row: bool = True
) -> Float[Tensor, "*lambdas"]:
    """Places λ on a line from b (λ = 0) to a (λ = 1) as a tensor.

    With ``row=False`` a number or any shape is allowed.
    """
    return as_lambdas(lambdas, dtype, device, row)


def as_lambdas(lambdas: Reals, dtype: torch.dtype, device: torch.device | str | None, row: bool = True) -> Tensor:
    """:func:`check_lambdas` without a check of types."""
    if not dtype.is_floating_point:
        raise ValueError(f"dtype = {dtype}; allowed: a floating-point dtype of torch")
    lam = torch.as_tensor(lambdas, dtype=dtype, device=device)
    if row and (lam.ndim != 1 or not len(lam)):
        raise ValueError(f"lambdas has shape {tuple(lam.shape)}; allowed: one or more numbers in a row")
    outside = lam[~((lam >= 0) & (lam <= 1))]
    if len(outside):
        raise ValueError(f"lambda = {outside[0].item()}; allowed: 0 <= lambda <= 1")
    return lam


def _above_chord(loss: Loss, a: Tensor, b: Tensor) -> Callable[[Tensor], Tensor]:
    """λ ↦ loss(λa + (1 − λ)b) − λ loss(a) − (1 − λ) loss(b), for one λ or for one for each of the losses."""
    require_finite(a=a, b=b)
    at_a = loss(a)
    shape = getattr(at_a, "shape", torch.Size())
    at_a, at_b = (returned("the loss", value, shape) for value in (at_a, loss(b)))

    def height(x: Tensor) -> Tensor:
        weight = x.reshape(*x.shape, *(1 for _ in a.shape[x.ndim :])) if x.ndim else x
        value = returned("the loss", loss(weight * a + (1 - weight) * b), shape) - x * at_a - (1 - x) * at_b
        require_finite(**{"the loss above the chord": value})
        return value

    return height


@checked
def loss_barrier(loss: Loss, a: Float[Tensor, "*shape"], b: Float[Tensor, "*shape"], lambdas: Reals = GRID) -> Tensor:
    """The barrier: the largest loss above the chord over the given λ.

        max_λ loss(λa + (1 − λ)b) − λ loss(a) − (1 − λ) loss(b).

    It is at least 0 when 0 or 1 is among the λ.

    Examples
    --------
    For the loss x² the segment lies below its chord; for −x² it is above by λ(1 − λ)(a − b)²:

    >>> a, b = torch.tensor([[2.0]]), torch.tensor([[0.0]])
    >>> loss_barrier(lambda w: -w.square().sum(dim=(-2, -1)), a, b).item()
    1.0

    Of modules see :func:`~lmc_helpers.modules.line.line`. Between the weights of two layers with a convex loss there is
    none:

    >>> one, other, x = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1), torch.eye(2)
    >>> loss_barrier(lambda W: (x @ W.mT).square().sum(dim=(-2, -1)), one.weight, other.weight).item()
    0.0
    """
    height = _above_chord(loss, a, b)
    return torch.stack([height(x) for x in as_lambdas(lambdas, a.dtype, a.device)]).amax(dim=0)


@checked
def refined_barrier(
    loss: Loss, a: Float[Tensor, "*shape"], b: Float[Tensor, "*shape"], coarse: Integer = 11, steps: Natural = 40
) -> Float[Tensor, " *batch"]:
    """The supremum of the loss above the chord, to rounding: golden-section search around the best grid point.

    It must have one maximum between the neighbours of the best of ``coarse`` grid points; each of the ``steps``
    shrinks the bracket by 0.618. Never below the barrier on the coarse grid. The axes of the losses are the first ones
    of the ends.

    Examples
    --------
    >>> a, b = torch.tensor([[1.0]], dtype=torch.float64), torch.tensor([[0.0]], dtype=torch.float64)
    >>> cubic = lambda w: (w - w**3).sum(dim=(-2, -1))  # largest at 1/√3
    >>> round(refined_barrier(cubic, a, b).item(), 12) == round(2 / 3**1.5, 12)
    True

    Between the weights of two layers with a convex loss there is none:

    >>> one, other, x = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1), torch.eye(2)
    >>> refined_barrier(lambda W: (x @ W.mT).square().sum(dim=(-2, -1)), one.weight, other.weight).item() < 1e-6
    True
    """
    if coarse < 2:
        raise ValueError(f"coarse = {coarse}; allowed: coarse >= 2")
    height = _above_chord(loss, a, b)
    grid = torch.linspace(0, 1, coarse, dtype=a.dtype, device=a.device)
    values = torch.stack([height(x) for x in grid])  # (coarse, ...)
    batch = values.shape[1:]
    if a.shape[: len(batch)] != batch:
        raise ValueError(f"the loss has shape {tuple(batch)} for ends {tuple(a.shape)}; allowed: their first axes")
    best = values.argmax(dim=0)
    low, high = grid[(best - 1).clamp(min=0)], grid[(best + 1).clamp(max=coarse - 1)]  # (...)
    golden = (5**0.5 - 1) / 2
    found = values.amax(dim=0)
    for _ in range(steps):
        left, right = high - golden * (high - low), low + golden * (high - low)
        at_left, at_right = height(left), height(right)
        found = torch.maximum(found, torch.maximum(at_left, at_right))
        low, high = torch.where(at_left < at_right, left, low), torch.where(at_left < at_right, high, right)
    return found


#: Name → description.
KINDS = {
    "chord": "highest above the chord",
    "mean": "highest above the mean of the ends",
    "worse": "highest above the worse end",
    "better": "highest above the better end",
    "middle": "middle above the chord",
    "area": "mean over the line above the chord",
}


@checked
def barrier_kinds(loss: Float[Tensor, "*batch L"], lambdas: Reals) -> dict[str, Tensor]:
    """All kinds of barrier of some lines (..., L), by the names of :data:`KINDS`.

    With l(λ) the loss on a line, c(λ) = λ l(1) + (1 − λ) l(0) its chord, and suprema over the given λ:

        chord   sup l − c              mean    sup l − (l(0) + l(1))/2
        worse   sup l − max(l(0), l(1))    better  sup l − min(l(0), l(1))
        middle  l(½) − c(½)            area    ∫ (l − c) dλ, by the trapezoidal rule

    λ goes from 0 to 1 in increasing order; the middle is left out if ½ is not among its values.

    Examples
    --------
    >>> found = barrier_kinds(torch.tensor([1.0, 4.0, 3.0]), [0, 0.5, 1])
    >>> {name: value.item() for name, value in found.items()}
    {'chord': 2.0, 'mean': 2.0, 'worse': 1.0, 'better': 3.0, 'middle': 2.0, 'area': 1.0}
    """
    places = as_lambdas(lambdas, loss.dtype, loss.device)
    if loss.shape[-1] != len(places) or places[0] != 0 or places[-1] != 1 or not (places.diff() > 0).all():
        raise ValueError(
            f"losses {tuple(loss.shape)} at lambdas = {places.tolist()}; allowed: one for each, increasing from 0 to 1"
        )
    at_b, at_a, top = loss[..., 0], loss[..., -1], loss.amax(dim=-1)
    above = loss - (places * at_a[..., None] + (1 - places) * at_b[..., None])  # (..., L)
    middle = {"middle": above[..., int((places == 0.5).nonzero())]} if (places == 0.5).any() else {}
    return {
        "chord": above.amax(dim=-1),
        "mean": top - (at_a + at_b) / 2,
        "worse": top - torch.maximum(at_a, at_b),
        "better": top - torch.minimum(at_a, at_b),
        **middle,
        "area": torch.trapezoid(above, places),
    }
