"""A verdict in a reader's words: whose statement it is, where the measurement lies, and the conclusion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from lmc_helpers.claims.criteria import (
    BROKEN,
    CORRECTED,
    DETAIL,
    FAILS,
    HEADLINE,
    NOT_RUN,
    OPEN,
    OURS,
    PAPER,
    READING,
    SHARPER,
    SLIP,
    Part,
)
from lmc_helpers.claims.intervals import ACROSS, INSIDE, Interval
from lmc_helpers.claims.judge import not_run
from lmc_helpers.claims.numerals import (
    CLOSE,
    last_place,
    last_place_of_width,
    people,
    rounding,
    rounding_bound,
    span,
    telling,
    with_common_exponent,
    with_error,
)

__all__ = ()  # what packages of ours lend each other

#: Of the paper under double-blind review that was read, and not the published one.
AUTHORS = {"Z": "Zhan, Li & Wu", "P": "Brea et al.", "G": "Zhao et al. (as submitted)", "I": "Bürgin et al."}
BEFORE = {PAPER: "as a statement of the paper", READING: "as a reading of the paper", OURS: "as the book's own"}
STATED = {PAPER: "what is stated", READING: "what we read", OURS: "what we state"}
AT_ROUNDING = 0.01  # of its bound: where a value that is 0 to rounding is drawn
SMALLER = "in a smaller run "  # what a value is of that does not judge its part
WEIGHT = {HEADLINE: "a result", DETAIL: "a detail", SLIP: "a slip, without consequence"}


def authors(part: Part) -> str:
    """Short name of the source: the paper's authors or this book."""
    return "This book" if part.whose == OURS else AUTHORS.get(part.id[0], "The paper")


def with_half_width(value: float, half: float) -> str:
    """A value and half of its interval, with the digits that the interval supports; an exact one alone.

    >>> with_half_width(0.01082, 0.00057), with_half_width(2.0, 0.0)
    ('0.0108 ± 0.0006', '2')
    """
    return with_error(value, half) if half else people(value)


def borders(part: Part) -> list[float]:
    """The finite ends of a part's criteria."""
    ends = [end for _, criterion in part.criteria() for end in (criterion.low, criterion.high)]
    return list(dict.fromkeys(end for end in ends if math.isfinite(end)))


@dataclass(frozen=True)
class Result:
    """A part's result in one run, its record as notebooks store it, in words."""

    part: Part
    record: dict

    @property
    def verdict(self) -> str:
        """The verdict; "not run" for an open one that was not run."""
        return NOT_RUN if not_run(self.record) else self.record["verdict"]

    @property
    def measured(self) -> bool:
        """True if there is a value, also of a run that is too small to judge it."""
        return self.record["value"] is not None

    @property
    def sampled(self) -> bool:
        """True if the value has a standard error beyond that of rounding."""
        return bool(self.record["stderr"]) and self.record["stderr"] > CLOSE * abs(self.record["value"])

    @property
    def tested(self) -> tuple[float, float]:
        """The interval that is judged; a point for an exact computation.

        Records of earlier grammars lack it; theirs is that of their error.
        """
        if self.record.get("low") is not None:
            return self.record["low"], self.record["high"]
        return self.record["value"], self.record["value"]

    @property
    def _zero_below(self) -> float | None:
        """The bound below which the value is 0 to rounding; None where a criterion asks for less than that bound."""
        bound = rounding_bound(self.record["value"], self.part.floor)
        return bound if bound and not any(0 < abs(border) < bound for border in borders(self.part)) else None

    @property
    def drawn(self) -> tuple[float, float, float]:
        """Value and tested interval as a scale shows them.

        A value that is zero up to rounding is drawn at ``AT_ROUNDING`` of its bound: its own size differs between
        machines.
        """
        value, (low, high) = self.record["value"], self.tested
        if low < high or (bound := self._zero_below) is None:
            return value, low, high
        return (math.copysign(AT_ROUNDING * bound, value),) * 3

    @cached_property
    def value(self) -> str:
        """The measured value and its standard error, or why there is none."""
        if not self.measured:
            return "not run" if not_run(self.record) else "nothing to measure"
        value = self.record["value"]
        if self.sampled:
            (shown, error), unit = with_common_exponent([value, stderr := self.record["stderr"]], last_place(stderr))
            times = f"·{unit}" if unit else ""
            return f"{shown}{times} (s.e. {error}{times})"
        low, high = self.tested
        if low < high:
            (shown,), unit = with_common_exponent([value], last_place_of_width(low, high))
            return f"{shown}·{unit}" if unit else shown
        zero = rounding(value, self.part.floor) if self._zero_below else ""
        return zero or telling(value, borders(self.part), self.part.digits)

    @cached_property
    def interval(self) -> str:
        """The interval that is judged; empty for a point."""
        if not self.measured or not self.tested[0] < self.tested[1]:
            return ""
        return span(*self.tested, borders(self.part), last_place(self.record["stderr"]) if self.sampled else None)

    @property
    def in_full(self) -> str:
        """The value with its standard error, and the interval that is judged."""
        return self.value + (f", tested {self.interval}" if self.interval else "")

    @property
    def measurement(self) -> str:
        """The value with the interval that is judged, and no other error."""
        if self.interval and self.sampled:
            return with_half_width(self.record["value"], (self.tested[1] - self.tested[0]) / 2)
        return self.value + (f" ({self.interval})" if self.interval else "")

    @property
    def rival(self) -> float | None:
        """The rival's value: the ledger's, or the one that the chapter measured, as stated in the record's text."""
        if self.part.rival.interval:
            return self.part.rival.interval.low
        try:
            return float(self.record["rival"].partition(":")[0].replace("−", "-"))
        except ValueError:
            return None

    @cached_property
    def outcome(self) -> str:
        """Position of the measurement relative to the criterion."""
        part, record = self.part, self.record
        if not_run(record):
            lacks = record["lacks"].replace("dataset mnist", "MNIST").replace("dataset cifar10", "CIFAR-10")
            return f"{lacks.replace('_', ' ')}: not decided"
        if not self.measured:
            return "the run met nothing to measure: not decided"
        if record["n"] < part.min_samples:
            had, needed = people(record["n"]), people(part.min_samples)
            return f"too few samples, n = {had} where {needed} are needed: not decided"
        stated = STATED[part.whose]
        if part.by_rule and record["place"] != ACROSS:
            return f"{record['place']} {stated} in this setting, one of several: not decided"
        if record["place"] == ACROSS:
            return f"touches the border of {stated}: not decided"
        if record["place"] == INSIDE:
            return {
                INSIDE: "inside the sharper statement",
                ACROSS: f"inside {stated}; touches the border of the sharper statement",
            }.get(record.get("place_sharper") or "", f"inside {stated}")
        if record["verdict"] == OPEN and part.sampled and not record.get("second_seed"):
            seed = "no second seed was run" if record.get("second_seed") is None else "a second seed does not repeat it"
            return f"outside {stated}, but {seed}: not decided"
        instead = {
            INSIDE: ", inside the corrected statement",
            ACROSS: "; touches the border of the corrected statement",
            None: "",
        }.get(record.get("place_corrected"), ", and outside the corrected statement")
        return f"outside {stated}{instead}"

    @property
    def level(self) -> str:
        """The kind of error and the interval that is tested."""
        if not self.measured:
            return ""
        if self.sampled:
            return (
                "s.e. is one standard error, widened where few groups were sampled; tested is the interval of 3.29 of "
                "them to both sides (two-sided 10⁻³), half of which follows ± in the first line"
            )
        if self.interval:
            return "tested is the interval at two-sided 10⁻³, which need not be symmetric"
        return "an exact computation: a point, without statistical error"


#: The meaning of a verdict, for readers who do not know the names of verdicts; "holds" explains itself.
SAID = {
    SHARPER: "It holds, and a sharper statement is proved here.",
    CORRECTED: "It does not hold as it stands; a corrected statement is proved here.",
    BROKEN: "This step of the printed proof fails; the statement that it serves stands.",
    FAILS: "It does not hold for what was measured.",
    OPEN: "Neither confirmed nor refuted.",
    NOT_RUN: "It was not tried in the run that decides it.",
}
#: Verdicts that pages name in other words, which are true of the statement and of the step.
NAMED = {BROKEN: "statement holds, a step of its proof breaks"}


def named(verdict: str) -> str:
    """A verdict as pages name it."""
    return NAMED.get(verdict, verdict)


def criterion(interval: Interval) -> str:
    """A criterion with its meaning, as text with formulas between $."""
    return interval.shown + (f" ({interval.says})" if interval.says else "")


def revised(part: Part) -> str:
    """The change made after a measurement existed, and its reason; empty if there was none."""
    if part.revised is None:
        return ""
    before, names = part.revised.before, ("criterion", "corrected", "sharper")
    stood = [(name, interval) for name in names if (interval := getattr(before, name))]
    said = [("" if name == "criterion" else f"{name} ") + criterion(interval) for name, interval in stood]
    said += [BEFORE[before.whose]] if before.whose else []
    said += [f"read so: {before.reading}"] if before.reading else []
    said += [f"measured: {before.quantity}"] if before.quantity else []
    return f"Changed after a measurement, before: {'; '.join(said)}. Why: {part.revised.why}"


def plain(interval: Interval) -> str:
    """A criterion in plain numbers, for screen readers."""
    low, high = people(interval.low), people(interval.high)
    if interval.low == interval.high:
        return low
    return f"at most {high}" if low == "−∞" else f"at least {low}" if high == "∞" else f"{low} to {high}"
