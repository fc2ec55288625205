"""``check``: a measurement of a chapter is judged, shown and stored."""

from __future__ import annotations

import math
import os
from dataclasses import asdict
from typing import Any

import numpy as np

from lmc_helpers import chapter
from lmc_helpers._undefined import Undefined
from lmc_helpers.claims import reading, render
from lmc_helpers.claims.judge import Contradiction, contradicts, farthest, judge

__all__ = ["MIME", "RECORDED_ONLY", "check"]

RECORDED_ONLY = "LMC_RECORD_CONTRADICTIONS"  #: in the environment of a run that stores what contradicts the ledger
MIME = "application/vnd.lmc.claim+json"  #: where the metadata of a cell's output hold a verdict


def check(
    id: str,
    value,
    *error: float,
    stderr: float | None = None,
    interval: tuple[float, float] | None = None,
    n: int | None = None,
    rival: float | None = None,
    second_seed=None,
    of=None,
    again=None,
) -> None:
    """Judge a measurement against the ledger's part ``id``, show the outcome and store it in the notebook.

    Parameters are those of :func:`~lmc_helpers.claims.judge.judge`, and ``value`` may be a sequence of exact values:
    then its worst value for the criterion is judged (:func:`~lmc_helpers.claims.judge.farthest`), with n the
    number of values unless it is given; of none the part is open. ``error`` is ``stderr``, or the two ends of
    ``interval``, as a measurement returns them: ``check(id, *measured, n=n)``. The record is stored in the metadata of
    the cell's output.

    ``value`` may also be a quantity, a function of an experiment that returns (value, stderr) or (value, low, high):
    ``check(id, quantity, of=first, again=second, n=n)`` judges ``quantity(first)``, and ``quantity(second)`` is the
    second seed. ``second`` may be a function without arguments that makes the experiment, called only for that;
    without one a rejection stays open. Too few samples may have no such quantity; the part is open then.

    Raises
    ------
    Contradiction
        if the verdict contradicts the ledger's expectation, after the outcome was shown; not in a confirmatory run,
        which stores every outcome.
    LedgerError, ValueError
        as :func:`~lmc_helpers.claims.reading.part` and :func:`~lmc_helpers.claims.judge.judge`.
    """
    from IPython.display import display

    part, used, confirms = reading.part(id), chapter.in_use(), bool(os.environ.get(RECORDED_ONLY))
    always = confirms or used.get("profile") == "paper" or (second_seed is None and again is None)
    recorded = "" if always else reading.twice_rejected(part)
    if callable(value):
        if error or any(one is not None for one in (stderr, interval, second_seed)):
            raise ValueError(
                f"{id}: a quantity gives its own errors and second seed; allowed beside it: of, again, n, rival"
            )
        quantity = value
        try:
            value, *error = quantity(of)
        except Undefined:
            if (n or 0) >= part.min_samples:
                raise
            value, stderr = math.nan, math.nan
        second_seed = None if again is None else lambda: quantity(again() if callable(again) else again)
    if len(error) == 1:
        (stderr,) = error
    elif error:
        interval = error[0], error[1]
    values = np.asarray(value, dtype=float)
    if values.ndim:
        if stderr is not None or interval is not None or second_seed:
            raise ValueError(f"{id}: {values.size} values; allowed: a sequence of exact values, no error")
        value = farthest(values, part.criterion) if values.size else math.nan
        n = values.size if n is None or not values.size else n
    if n is None:
        raise ValueError(f"{id}: n is missing; allowed: the number of samples behind a single value")
    measured: dict[str, Any] = {"stderr": stderr, "interval": interval, "n": n, "rival": rival}
    verdict = judge(part, float(value), **measured, second_seed=second_seed, recorded=recorded, used=used)
    record = asdict(verdict)
    display(render.bundle(part, record), metadata={MIME: record}, raw=True)
    if contradicts(verdict) and not confirms:
        raise Contradiction(f"{id}: computed {verdict.verdict!r}, the ledger expects {verdict.expected!r}")
