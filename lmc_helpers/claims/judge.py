"""A measurement against a part's criteria: the verdict, by rules.

A measurement is the interval value ± z·stderr, z = Φ⁻¹(1 − 0.0005) = 3.29 (two-sided 10⁻³); an exact computation is
a point. A criterion, printed or corrected, is an interval too. It is *met* when the intervals intersect and *rejected*
when they do not:

=====================  ==============================================================================
holds                  printed met, rival rejected
holds with correction  printed rejected, corrected met, rival rejected
fails                  printed rejected, nothing that is met in its place
open                   fewer than ``min_samples``, or the rival cannot be rejected, or a rejection from
                       random numbers that a second seed does not repeat
=====================  ==============================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lmc_helpers.claims.criteria import CORRECTED, FAILS, HOLDS, OPEN, VERDICTS, Interval, Part

Z_TWO_SIDED = 3.2905267314919255  # Φ⁻¹(1 − 0.0005)


class Contradiction(AssertionError):
    """A computed verdict contradicts the ledger's expectation."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check, as stored in the executed notebook."""

    part: str
    verdict: str
    expected: str
    quantity: str
    value: float | None  # None: not run, n = 0
    stderr: float
    n: int
    printed: str
    corrected: str
    rival: str
    printed_met: bool
    corrected_met: bool | None
    rival_rejected: bool
    second_seed: bool | None
    note: str = ""


def judge(
    part: Part,
    value: float,
    *,
    stderr: float = 0.0,
    n: int,
    rival: float | None = None,
    again: Callable[[], tuple[float, float]] | None = None,
) -> Verdict:
    """Compare a measurement with the criteria of one part; see the module's text for the rules.

    Parameters
    ----------
    part : Part
        the criteria.
    value, stderr : float
        what was measured and its standard error, 0 for an exact computation.
    n : int
        samples behind the measurement, or the size that an exact computation reached; 0 says that nothing was
        run, and ``value`` is then neither shown nor stored.
    rival : float, optional
        the rival's value where the chapter measures it.
    again : callable, optional
        repeats the measurement with a second seed and returns (value, stderr); called only when the first one
        rejects the printed criterion. Without it such a rejection stays open.

    Raises
    ------
    ValueError
        if the measurement is not finite, ``stderr`` is negative, or a rival's value is missing or given twice.
    LedgerError
        if a criterion accepts the measured rival.
    """
    if not (math.isfinite(value) and math.isfinite(stderr) and stderr >= 0):
        raise ValueError(f"{part.id}: measured {value} ± {stderr}; allowed: finite numbers, stderr >= 0")
    if (rival is None) == (part.rival.value is None):
        raise ValueError(
            f"{part.id}: a rival's value stands in the ledger or comes from the chapter, exactly one of them"
        )
    rival_value = Interval(rival, rival, f"{rival:.6g}") if rival is not None else part.rival.interval
    assert rival_value is not None
    part.refuse(rival_value)

    def interval(x: float, s: float) -> Interval:
        return Interval(x - Z_TWO_SIDED * s, x + Z_TWO_SIDED * s, "")

    measured = interval(value, stderr)
    printed = part.printed.meets(measured)
    corrected = part.corrected.meets(measured) if part.corrected else None
    rejected = not rival_value.meets(measured)
    second, note = None, ""
    if n < part.min_samples:
        verdict, note = OPEN, f"{n or 'none'} of the {part.min_samples} samples that this part needs"
    elif printed:
        verdict = HOLDS if rejected else OPEN
        note = "" if rejected else "the rival cannot be rejected"
    else:
        if stderr > 0 and again is not None:
            second = not part.printed.meets(interval(*again()))
        if stderr > 0 and not second:
            verdict, note = (
                OPEN,
                "a rejection that a second seed does not repeat" if again else "no second seed was run",
            )
        elif corrected:
            verdict = CORRECTED if rejected else OPEN
            note = "" if rejected else "the rival cannot be rejected"
        else:
            verdict = FAILS
    return Verdict(
        part=part.id,
        verdict=verdict,
        expected=part.expected,
        quantity=part.quantity,
        value=float(value) if n else None,
        stderr=float(stderr),
        n=int(n),
        printed=part.printed.words,
        corrected=part.corrected.words if part.corrected else "",
        rival=f"{rival_value.words}: {part.rival.says}",
        printed_met=printed,
        corrected_met=corrected,
        rival_rejected=rejected,
        second_seed=second,
        note=note,
    )


def contradicts(verdict: Verdict) -> bool:
    """Whether a computed verdict contradicts the expected one; ``open`` on either side never does."""
    return OPEN not in (verdict.verdict, verdict.expected) and verdict.verdict != verdict.expected


def farthest(values, criterion: Interval) -> float:
    """The value that meets a criterion least: farthest outside, or else nearest to its border.

    Examples
    --------
    >>> farthest([0.9, 1.02, 1.3], Interval(0.5, 1.5, ""))
    1.3
    >>> farthest([-3.0, -2.0], Interval(-math.inf, -1.0, ""))
    -2.0
    """
    values = np.asarray(values, dtype=float).reshape(-1)
    excess = np.maximum(criterion.low - values, values - criterion.high)
    return float(values[np.isnan(values).argmax() if np.isnan(values).any() else excess.argmax()])


def worst(verdicts: list[str]) -> str:
    """The worst of some verdicts.

    Examples
    --------
    >>> worst(["holds", "open", "holds with correction"])
    'open'
    """
    return max(verdicts, key=VERDICTS.index)
