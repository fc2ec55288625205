"""The claims ledger: criteria committed beforehand, verdicts computed from measurements.

``book/claims.yml`` holds one entry for each id of the papers' claims, each with parts. A part says what the paper
prints, what holds instead where the paper is wrong, and a rival: a value near enough to be plausible that the
measurement must be able to reject. :func:`check` compares a measured value with them.

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

import html
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import yaml

Z_TWO_SIDED = 3.2905267314919255  # Φ⁻¹(1 − 0.0005)
HOLDS, CORRECTED, FAILS, OPEN = "holds", "holds with correction", "fails", "open"
VERDICTS = (HOLDS, CORRECTED, OPEN, FAILS)  # from best to worst: an id's verdict is that of its worst part
MIME = "application/vnd.lmc.claim+json"
LEDGER = Path(__file__).resolve().parent.parent / "book" / "claims.yml"


class LedgerError(ValueError):
    """The ledger is malformed, or one of its criteria cannot fail."""


class Contradiction(AssertionError):
    """A computed verdict contradicts the ledger's expectation."""


def number(value: int | float | str) -> float:
    """A number of the ledger; a string is a closed form in sympy's notation.

    Examples
    --------
    >>> abs(number("1 - 1/(2*sqrt(pi))") - (1 - 1 / (2 * math.sqrt(math.pi)))) < 1e-15
    True
    """
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    import sympy

    try:
        return float(sympy.sympify(value, rational=True).evalf(20))
    except (sympy.SympifyError, TypeError, ValueError, AttributeError) as error:
        raise LedgerError(f"{value!r} is neither a number nor a closed form") from error


@dataclass(frozen=True)
class Interval:
    """A closed interval with the words that describe it."""

    low: float
    high: float
    words: str

    @classmethod
    def parse(cls, entry: dict) -> Interval:
        """From ``{equals, tolerance}``, ``{between}``, ``{at_most}`` or ``{at_least}``, optionally with ``says``."""
        entry = dict(entry)
        says = entry.pop("says", None)
        match entry:
            case {"equals": centre, **rest} if set(rest) <= {"tolerance"}:
                x, tolerance = number(centre), number(rest.get("tolerance", 0))
                low, high, words = (
                    x - tolerance,
                    x + tolerance,
                    f"= {_form(centre)}" + (f" ± {tolerance:g}" if tolerance else ""),
                )
            case {"between": [a, b], **rest} if not rest:
                low, high, words = number(a), number(b), f"in [{_form(a)}, {_form(b)}]"
            case {"at_most": a, **rest} if not rest:
                low, high, words = -math.inf, number(a), f"≤ {_form(a)}"
            case {"at_least": a, **rest} if not rest:
                low, high, words = number(a), math.inf, f"≥ {_form(a)}"
            case _:
                raise LedgerError(
                    f"criterion {entry!r}; allowed: equals (with tolerance), between, at_most or at_least"
                )
        if not low <= high or low == -high == -math.inf:
            raise LedgerError(f"criterion {entry!r} is empty or cannot fail")
        return cls(low, high, f"{words}: {says}" if says else words)

    def meets(self, other: Interval) -> bool:
        return self.low <= other.high and other.low <= self.high


def _form(value: int | float | str) -> str:
    return f"{value} ≈ {number(value):.6g}" if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True)
class Part:
    """One part of a claim: a measured quantity, its criteria, and the verdict that the book expects."""

    id: str
    quantity: str
    printed: Interval
    rival: str
    expected: str
    where: str
    min_samples: int = 1
    corrected: Interval | None = None
    rival_value: Interval | None = None  # None: the chapter measures the rival's value
    reason: str = ""
    statement: str = ""
    correction: str = ""
    proof: str = ""
    digits: int = 4
    pilot: bool = False  # the criterion was written after a pilot run, and the scoreboard says so
    floor: float = 0.0  # smaller values are rounding errors and shown as such

    @classmethod
    def parse(cls, id: str, entry: dict) -> Part:
        entry = dict(entry)
        try:
            rival = entry.pop("rival", None)
            if not isinstance(rival, dict) or set(rival) - {"says", "value"} or "says" not in rival:
                raise LedgerError("a rival is {says: words, value: number or closed form}, without value if measured")
            if "value" in rival:
                x = number(rival["value"])
                entry["rival_value"] = Interval(x, x, _form(rival["value"]))
            for name in {"printed", "corrected"} & set(entry):
                entry[name] = Interval.parse(entry[name])
            part = cls(id=id, rival=rival["says"], **entry)
        except (TypeError, LedgerError) as error:
            raise LedgerError(f"{id}: {error}") from error
        part._refuse_toothless()
        return part

    def _refuse_toothless(self) -> None:
        if self.expected not in VERDICTS:
            raise LedgerError(f"{self.id}: expected {self.expected!r}; allowed: {', '.join(VERDICTS)}")
        if self.expected in (CORRECTED, FAILS, OPEN) and not self.reason:
            raise LedgerError(f"{self.id}: expected {self.expected!r} needs a reason")
        if self.expected == CORRECTED and not (self.corrected and self.correction and self.proof):
            raise LedgerError(f"{self.id}: a correction needs 'corrected', its statement 'correction' and its 'proof'")
        if self.corrected and self.corrected.meets(self.printed):
            raise LedgerError(
                f"{self.id}: the printed and the corrected criterion overlap: no measurement tells them apart"
            )
        if self.rival_value:
            self.refuse_rival(self.rival_value)

    def refuse_rival(self, rival: Interval) -> None:
        """Raise if a criterion of this part also accepts the rival."""
        for name, criterion in (("printed", self.printed), ("corrected", self.corrected)):
            if criterion and criterion.meets(rival):
                raise LedgerError(
                    f"{self.id}: the {name} criterion ({criterion.words}) also accepts its rival ({rival.words})"
                )


@dataclass(frozen=True)
class Claim:
    """One id of the ledger: what a paper claims, where, and the parts that the book checks."""

    id: str
    paper: str
    where: str
    says: str
    parts: dict[str, Part] = field(default_factory=dict)
    misprints: list[dict[str, str]] = field(default_factory=list)  # {where, printed, meant}: slips without a claim


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


@cache
def ledger(path: Path = LEDGER) -> dict[str, Claim]:
    """The ledger, id → claim.

    Raises
    ------
    LedgerError
        if an entry is malformed, a criterion cannot fail or accepts its rival, or a reason is missing.
    """
    claims = {}
    for id, entry in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        parts = {
            f"{id}.{name}": Part.parse(f"{id}.{name}", part) for name, part in (entry.pop("parts", None) or {}).items()
        }
        try:
            claims[id] = Claim(id=id, parts=parts, **entry)
        except TypeError as error:
            raise LedgerError(f"{id}: {error}") from error
        for slip in claims[id].misprints:
            if set(slip) != {"where", "printed", "meant"}:
                raise LedgerError(f"{id}: a misprint is {{where, printed, meant}}, not {slip!r}")
    return claims


def part(id: str, path: Path = LEDGER) -> Part:
    """One part of the ledger by its id, ``"Z3.limit"``.

    Raises
    ------
    LedgerError
        if the ledger has no such part; the message lists the parts of that claim.
    """
    claim = ledger(path).get(id.partition(".")[0])
    if claim is None or id not in claim.parts:
        known = ", ".join(claim.parts) if claim else ", ".join(ledger(path))
        raise LedgerError(f"part {id!r} is not in the ledger; known: {known or 'none of this claim'}")
    return claim.parts[id]


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
    if (rival is None) == (part.rival_value is None):
        raise ValueError(
            f"{part.id}: a rival's value stands in the ledger or comes from the chapter, exactly one of them"
        )
    rival_value = part.rival_value or Interval(rival, rival, f"{rival:.6g}")
    part.refuse_rival(rival_value)

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
        rival=f"{rival_value.words}: {part.rival}",
        printed_met=printed,
        corrected_met=corrected,
        rival_rejected=rejected,
        second_seed=second,
        note=note,
    )


def contradicts(verdict: Verdict) -> bool:
    """Whether a computed verdict contradicts the expected one; ``open`` on either side never does."""
    return OPEN not in (verdict.verdict, verdict.expected) and verdict.verdict != verdict.expected


def check(id: str, value, *, stderr: float = 0.0, n: int | None = None, rival: float | None = None, again=None) -> None:
    """Judge a measurement against the ledger's part ``id``, show the outcome and store it in the notebook.

    Parameters are those of :func:`judge`, and ``value`` may be a sequence of exact values: then its worst value for the
    printed criterion is judged (:func:`farthest`), with n the number of values unless it is given. The record is stored
    in the metadata of the cell's output.

    Raises
    ------
    Contradiction
        if the verdict contradicts the ledger's expectation, after the outcome was shown.
    LedgerError, ValueError
        as :func:`part` and :func:`judge`; a sequence must not be empty.
    """
    from IPython.display import display

    criteria = part(id)
    values = np.asarray(value, dtype=float)
    if values.ndim:
        if not values.size or stderr or again:
            raise ValueError(f"{id}: {values.size} values; allowed: a sequence of one or more exact values, no stderr")
        value, n = farthest(values, criteria.printed), values.size if n is None else n
    if n is None:
        raise ValueError(f"{id}: n is missing; allowed: the samples or the size behind a single value")
    verdict = judge(criteria, float(value), stderr=stderr, n=n, rival=rival, again=again)
    rows = _rows(criteria, verdict)
    display(
        {"text/plain": _text(rows), "text/html": _html(rows, verdict.verdict)},
        metadata={MIME: asdict(verdict)},
        raw=True,
    )
    if contradicts(verdict):
        raise Contradiction(f"{id}: computed {verdict.verdict!r}, the ledger expects {verdict.expected!r}")


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


def rounded(value: float, digits: int, floor: float = 0.0) -> str:
    """A value with so many digits; one below ``floor`` in size is shown as a rounding error.

    Examples
    --------
    >>> rounded(0.123456, 3), rounded(2e-16, 3, floor=1e-12)
    ('0.123', '< 1e-12')
    """
    return f"< {floor:g}" if abs(value) < floor else f"{value:.{digits}g}"


def _rows(part: Part, v: Verdict) -> list[tuple[str, str, str]]:
    """Label, content, outcome."""
    if not v.n:
        criteria = [("printed", v.printed, "")] + ([("corrected", v.corrected, "")] if v.corrected else [])
        return [
            (v.part, v.quantity, ""),
            ("measured", "not run", ""),
            *criteria,
            ("verdict", f"{v.verdict} ({v.note})", ""),
        ]
    shown = rounded(v.value, part.digits, part.floor) + (f" ± {v.stderr:.1g}" if v.stderr else "") + f" (n = {v.n})"
    rows = [
        (v.part, v.quantity, ""),
        ("measured", shown, ""),
        ("printed", v.printed, "met" if v.printed_met else "rejected"),
    ]
    if v.corrected:
        rows.append(("corrected", v.corrected, "met" if v.corrected_met else "rejected"))
    rows.append(("rival", v.rival, "rejected" if v.rival_rejected else "not rejected"))
    rows.append(("verdict", v.verdict + (f" ({v.note})" if v.note else ""), ""))
    return rows


def _text(rows: list[tuple[str, str, str]]) -> str:
    width = max(len(label) for label, *_ in rows)
    return "\n".join(
        f"{label:<{width}}  {content}" + (f"  [{outcome}]" if outcome else "") for label, content, outcome in rows
    )


def _html(rows: list[tuple[str, str, str]], verdict: str) -> str:
    body = "".join(
        f"<tr><th>{html.escape(label)}</th><td>{html.escape(content)}</td><td>{html.escape(outcome)}</td></tr>"
        for label, content, outcome in rows
    )
    return f'<table class="lmc-claim lmc-{verdict.replace(" ", "-")}">{body}</table>'
