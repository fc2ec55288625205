"""Sentences about training runs for a page: the number of networks, and those that diverged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

__all__ = ["left_out"]


class Trained(Protocol):
    """A result of a training run, such as :class:`~lmc_helpers.training.runs.Result`."""

    survivors: tuple[int, ...]
    diverged: tuple[int, ...]


def left_out(results: Iterable[Trained]) -> str:
    """A sentence on the networks of some runs that diverged; their pairs are excluded from the measurements.

    It names the seeds of those that diverged.
    """
    found = list(results)
    seeds = [seed for one in found for seed in one.diverged]
    N = len(seeds) + sum(len(one.survivors) for one in found)
    if not N:
        raise ValueError(f"{len(found)} results without a network; allowed: one network or more")
    if not seeds:
        return f"None of the {N} networks diverged."
    named = ", ".join(map(str, seeds[:8])) + (", …" if len(seeds) > 8 else "")
    return f"{len(seeds)} of {N} networks diverged and are left out with their partners (seeds {named})."
