"""A measurement against a part's criteria: the verdict, by rules.

A measurement is an interval: value ± z·stderr with z = Φ⁻¹(1 − 0.0005) = 3.29 (two-sided 10⁻³), or the interval that a
share of a sample has at that level; an exact computation is a point. Where it lies decides:

============================  ============================================================================
holds                         inside the criterion
holds, and more is true       inside the sharper criterion too
false as printed, corrected   outside the criterion, inside the corrected one
broken, statement stands      outside the criterion, for a step of a printed proof whose statement stands
fails                         outside the criterion, and nothing stands in its place
open                          across a border of a criterion, fewer than ``min_samples``, a run that is not
                              what the part ``needs``, or a rejection from random numbers that a second
                              seed does not repeat; always if it is so ``by_rule``
============================  ============================================================================

The verdict of an id is that of its headlines (:func:`of_claim`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmc_helpers.claims.criteria import BROKEN, CORRECTED, FAILS, HOLDS, OPEN, SHARPER, VERDICTS, Claim, Part
from lmc_helpers.claims.intervals import ACROSS, INSIDE, OUTSIDE, Interval
from lmc_helpers.claims.needs import unmet

Z_TWO_SIDED = 3.2905267314919255  # Φ⁻¹(1 − 0.0005)
Numbers = tuple[float, ...]  # (value, stderr) or (value, low, high)
AGREES = "the second seed at paper scale agrees"


class Contradiction(AssertionError):
    """A computed verdict contradicts the ledger's expectation."""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check, as stored in the executed notebook."""

    part: str
    verdict: str
    expected: str
    whose: str
    weight: str
    quantity: str
    value: float | None  # None: nothing was measured, n = 0
    stderr: float | None  # None: exact, or an interval that is not symmetric
    low: float | None
    high: float | None
    n: int
    criterion: str
    corrected: str
    sharper: str
    rival: str
    place: str  # where the measurement lies: inside, across or outside the criterion
    place_corrected: str | None
    place_sharper: str | None
    second_seed: bool | None
    criteria: str  # digest of what was judged by
    note: str = ""
    lacks: str = ""  # what the run lacks to judge the part


def _measured(
    part: Part, value: float, stderr: float | None = None, interval: tuple[float, float] | None = None
) -> Interval:
    """The interval of a measurement."""
    if stderr is not None and interval is not None:
        raise ValueError(f"{part.id}: stderr and interval; allowed: one of them")
    if part.sampled and stderr is None and interval is None:
        raise ValueError(f"{part.id}: no error; allowed: stderr > 0 or interval=(low, high), the part is sampled")
    if not part.sampled and (stderr is not None or interval is not None):
        raise ValueError(f"{part.id}: an error; allowed: none, the ledger calls the part exact (no 'sampled: true')")
    if stderr is not None and not (math.isfinite(stderr) and stderr > 0):
        raise ValueError(
            f"{part.id}: stderr {stderr}; allowed: finite and > 0. Random numbers that never differ have no standard "
            "error of 0: give the interval of a share (error_bars.share), or more samples"
        )
    half = Z_TWO_SIDED * (stderr or 0.0)
    low, high = interval if interval is not None else (value - half, value + half)
    if not (math.isfinite(value) and low <= value <= high):
        raise ValueError(f"{part.id}: measured {value} in [{low}, {high}]; allowed: finite, inside its interval")
    if part.sampled and low == high:
        raise ValueError(f"{part.id}: the interval [{low}, {high}]; allowed: one of some width, the part is sampled")
    return Interval(low, high, "")


def judge(
    part: Part,
    value: float,
    *,
    stderr: float | None = None,
    interval: tuple[float, float] | None = None,
    n: int,
    rival: float | None = None,
    second_seed: Callable[[], Numbers] | None = None,
    recorded: str = "",
    used: Mapping[str, Any] | None = None,
) -> Verdict:
    """Compare a measurement with the criteria of one part; see the module's text for the rules.

    A part that the ledger calls sampled needs ``stderr``, or the ends of an ``interval`` at two-sided 10⁻³ that need
    not be symmetric. n counts the samples; 0 means that nothing was measured, as does an error that is not finite and
    positive where the samples are too few. ``used`` holds the parameters of the run, which are compared with the part's
    needs. ``rival`` is the rival's value where the chapter measures it.
    ``second_seed`` repeats the measurement with another seed and returns (value, stderr) or (value, low, high); it is
    called only when the first measurement rejects the criterion, and without it such a rejection stays open. Nor is it
    called where the verdict is the ``recorded`` one, that of a run at paper scale whose own second seed agrees.
    """
    if (rival is None) == (part.rival.value is None):
        raise ValueError(
            f"{part.id}: a rival's value stands in the ledger or comes from the chapter, exactly one of them"
        )
    rival_value = Interval(rival, rival, f"{rival:.{part.digits}g}") if rival is not None else part.rival.interval
    assert rival_value is not None
    if n >= part.min_samples:
        part.refuse(rival_value)
    lacks, other = lacking(part, n, used or {})
    n = 0 if other or (lacks and not _formed(value, stderr, interval)) else n
    found = _measured(part, value, stderr, interval) if n else Interval(math.nan, math.nan, "")
    places = {name: criterion.place_of(found) for name, criterion in part.criteria()}
    second = None
    if lacks or part.by_rule:
        verdict, note = OPEN, "" if lacks else "by rule: it depends on a setting that is not stated"
    else:
        rejects = part.sampled and places["criterion"] == OUTSIDE and second_seed is not None
        agrees = rejects and _verdict(part, places, True, True)[0] == recorded
        if rejects and not agrees and second_seed:
            repeated = second_seed()
            errors: dict = {"stderr": repeated[1]} if len(repeated) == 2 else {"interval": repeated[1:]}
            second = part.criterion.place_of(_measured(part, repeated[0], **errors)) == OUTSIDE
        verdict, note = (recorded, AGREES) if agrees else _verdict(part, places, second, second_seed is not None)
    return Verdict(
        part=part.id,
        verdict=verdict,
        expected=part.expected,
        whose=part.whose,
        weight=part.weight,
        quantity=part.quantity,
        value=float(value) if n else None,
        stderr=float(stderr) if stderr is not None and n else None,
        low=float(found.low) if n else None,
        high=float(found.high) if n else None,
        n=int(n),
        criterion=part.criterion.words,
        corrected=part.corrected.words if part.corrected else "",
        sharper=part.sharper.words if part.sharper else "",
        rival=f"{rival_value.words}: {part.rival.says}",
        place=places["criterion"] if n else "",
        place_corrected=places.get("corrected") if n else None,
        place_sharper=places.get("sharper") if n else None,
        second_seed=second,
        criteria=part.digest(),
        note=note,
        lacks=lacks,
    )


def _formed(value: float, stderr: float | None, interval: tuple[float, float] | None) -> bool:
    """False for a value or an error that is not finite, and for one of random numbers that never differ."""
    half = Z_TWO_SIDED * (stderr or 0.0)
    low, high = interval or (value - half, value + half)
    return bool(np.isfinite([low, high]).all()) and (low < high or (stderr is None and interval is None))


def lacking(part: Part, n: int, used: Mapping[str, Any]) -> tuple[str, bool]:
    """The reason why a run cannot judge a part, empty if it can, and whether it is another experiment."""
    lacks, other = unmet(part.needs, used)
    if lacks:
        return f"needs {lacks}", other
    few = n < part.min_samples
    return f"{n or 'none'} of the {part.min_samples} samples that this part needs" if few else "", False


def _verdict(part: Part, places: dict[str, str], second: bool | None, asked: bool) -> tuple[str, str]:
    """The verdict of a measurement with enough samples, and a note."""
    if places["criterion"] == ACROSS:
        return OPEN, "not decided: the interval reaches across the criterion's border"
    if places["criterion"] == INSIDE:
        return (SHARPER if places.get("sharper") == INSIDE else HOLDS), ""
    if part.sampled and not second:
        return OPEN, "a rejection that a second seed does not repeat" if asked else "no second seed was run"
    if places.get("corrected") == ACROSS:
        return OPEN, "false as printed; not decided whether the correction holds"
    if part.step_of and places.get("corrected") != OUTSIDE:
        return BROKEN, ""
    return (CORRECTED if places.get("corrected") == INSIDE else FAILS), ""


def not_run(record: Mapping | None) -> bool:
    """True if the outcome that a record stores is open because no run met the needs of the part."""
    return record is None or (record["verdict"] == OPEN and record.get("lacks", "").startswith("needs"))


def contradicts(verdict: Verdict) -> bool:
    """True if a computed verdict contradicts the expected one.

    ``open`` on either side never does, nor does *holds* where more was expected and the interval reaches across the
    sharper criterion's border.
    """
    undecided = verdict.verdict == HOLDS and verdict.expected == SHARPER and verdict.place_sharper == ACROSS
    return OPEN not in (verdict.verdict, verdict.expected) and verdict.verdict != verdict.expected and not undecided


def farthest(values, criterion: Interval) -> float:
    """The value that meets a criterion least: farthest outside, or else nearest to its border."""
    values = np.asarray(values, dtype=float).reshape(-1)
    excess = np.maximum(criterion.low - values, values - criterion.high)
    return float(values[np.isnan(values).argmax() if np.isnan(values).any() else excess.argmax()])


def worst(verdicts: list[str]) -> str:
    """The worst of some verdicts; if all hold and more is true of one, more is true."""
    found = max(verdicts, key=VERDICTS.index)
    return SHARPER if found == HOLDS and SHARPER in verdicts else found


#: From best to worst for readings of one statement.
READINGS = (SHARPER, HOLDS, OPEN, BROKEN, CORRECTED, FAILS)


def best_reading(verdicts: list[str]) -> str:
    """The verdict of a statement that may be read in several ways: while one reading is undecided, it is not false."""
    return min(verdicts, key=READINGS.index)


def of_claim(claim: Claim, verdicts: dict[str, str]) -> str:
    """The verdict of an id: the worst of its headlines, of readings of one statement the best.

    A part without a verdict is open.
    """
    statements: dict[str, list[str]] = {}
    for part in claim.headlines:
        statements.setdefault(part.one_of or part.id, []).append(verdicts.get(part.id, OPEN))
    return worst([best_reading(readings) for readings in statements.values()])
