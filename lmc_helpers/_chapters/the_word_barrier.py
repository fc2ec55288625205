"""Barriers of several kinds and how differently they order networks, for the chapter *the word barrier*."""

from __future__ import annotations

import math

from torch import Tensor

from lmc_helpers.barrier import KINDS, barrier_kinds

__all__ = ["KINDS", "barrier_kinds", "discordance"]


def discordance(x: Tensor, y: Tensor) -> tuple[float, float]:
    """Share of the pairs of objects that x and y (n,) order differently, (1 − τ)/2 with Kendall's τ, and its error.

    A tie in x or y counts as half. The share is a U-statistic: it is the mean of h, h_i the share of the other objects
    that x and y order differently relative to i, and 2 sd(h)/√n is its standard error for independent objects
    (Hoeffding's projection).
    """
    n = len(x)
    agree = (x[:, None] - x).sign() * (y[:, None] - y).sign()
    differ = (1 - agree.double()) / 2  # (n, n); ½ on the diagonal
    h = (differ.sum(dim=1) - 0.5) / (n - 1)
    return h.mean().item(), 2 * h.std().item() / math.sqrt(n)
