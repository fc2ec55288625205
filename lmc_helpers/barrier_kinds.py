"""The quantities that go by the name *barrier*, all from the losses on one line.

They differ in the baseline (the chord, the mean of the ends, the worse or the better end), and in what they take of the
line: its highest point, its middle, or its mean. Chapter 62 says which paper uses which, and how they are related.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Reals, checked
from lmc_helpers.barrier import check_lambdas

__all__ = ["KINDS", "barrier_kinds"]

#: Name → what it is.
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
    """All kinds of barrier of some lines, by the names of :data:`KINDS`.

    With l(λ) the loss on a line, c(λ) = λ l(1) + (1 − λ) l(0) its chord, and suprema over the given places:

        chord   sup l − c              mean    sup l − (l(0) + l(1))/2
        worse   sup l − max(l(0), l(1))    better  sup l − min(l(0), l(1))
        middle  l(½) − c(½)            area    ∫ (l − c) dλ, by the trapezoidal rule

    Places go from 0 to 1 in increasing order, with ½ among them.

    Examples
    --------
    >>> found = barrier_kinds(torch.tensor([1.0, 4.0, 3.0]), [0, 0.5, 1])
    >>> {name: value.item() for name, value in found.items()}
    {'chord': 2.0, 'mean': 2.0, 'worse': 1.0, 'better': 3.0, 'middle': 2.0, 'area': 1.0}
    """
    places = check_lambdas(lambdas, loss.dtype, loss.device)
    ordered = bool((places.diff() > 0).all())
    if not ordered or places[0] != 0 or places[-1] != 1 or not (places == 0.5).any():
        raise ValueError(f"lambdas = {list(lambdas)}; allowed: increasing from 0 to 1, with 1/2")
    if loss.shape[-1] != len(places):
        raise ValueError(f"loss has shape {tuple(loss.shape)}; allowed: (..., {len(places)}), one loss a place")
    at_b, at_a, top = loss[..., 0], loss[..., -1], loss.amax(dim=-1)
    chord = places * at_a[..., None] + (1 - places) * at_b[..., None]  # (..., L)
    above = loss - chord
    return {
        "chord": above.amax(dim=-1),
        "mean": top - (at_a + at_b) / 2,
        "worse": top - torch.maximum(at_a, at_b),
        "better": top - torch.minimum(at_a, at_b),
        "middle": above[..., int((places == 0.5).nonzero())],
        "area": torch.trapezoid(above, places),
    }
