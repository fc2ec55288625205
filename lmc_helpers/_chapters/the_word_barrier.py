"""Code of the chapter *the word barrier*."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from lmc_helpers._typing import Reals
from lmc_helpers.barrier import check_lambdas

# ---------- orders that differ
#
# A tie in x or y counts as half. The share is a U-statistic: with h_i the share of the other objects that x and y order
# differently relative to i, it is the mean of h, and 2 sd(h)/√n is its standard error for independent objects
# (Hoeffding's projection).


def discordance(x: Tensor, y: Tensor) -> tuple[float, float]:
    """Share of the pairs of objects that x and y (n,) order differently, (1 − τ)/2 with Kendall's τ, and its error."""
    n = len(x)
    agree = (x[:, None] - x).sign() * (y[:, None] - y).sign()
    differ = (1 - agree.double()) / 2  # (n, n); ½ on the diagonal
    h = (differ.sum(dim=1) - 0.5) / (n - 1)
    return h.mean().item(), 2 * h.std().item() / math.sqrt(n)


# ---------- kinds of barrier

#: Name → what it is.
KINDS = {
    "chord": "highest above the chord",
    "mean": "highest above the mean of the ends",
    "worse": "highest above the worse end",
    "better": "highest above the better end",
    "middle": "middle above the chord",
    "area": "mean over the line above the chord",
}


def barrier_kinds(loss: Tensor, lambdas: Reals) -> dict[str, Tensor]:
    """All kinds of barrier of some lines (..., L), by the names of :data:`KINDS`.

    With l(λ) the loss on a line, c(λ) = λ l(1) + (1 − λ) l(0) its chord, and suprema over λ:

        chord   sup l − c              mean    sup l − (l(0) + l(1))/2
        worse   sup l − max(l(0), l(1))    better  sup l − min(l(0), l(1))
        middle  l(½) − c(½)            area    ∫ (l − c) dλ, by the trapezoidal rule

    λ goes from 0 to 1 in increasing order, with ½ among its values.
    """
    places = check_lambdas(lambdas, loss.dtype, loss.device)
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
