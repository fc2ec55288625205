"""A criterion moves in one direction only: the ledger at the time of a measurement bounds all later versions.

``book/recorded/narrowest.json`` has, for each part with a measurement, its intervals and its attribution, as of the
last stored record. A wider interval, or another attribution, needs ``revised`` in the ledger, which states the earlier
version and why it was changed; this entry must then remain. ``make confirm`` renews it.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from pydantic import Field

from book.tools.read import inputs, papers
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import standing
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.intervals import Entry, Interval
from lmc_helpers.claims.numerals import CLOSE, people
from lmc_helpers.files import atomic_write

TABLE = ROOT / "book" / "recorded" / "narrowest.json"
Ends = tuple[float | None, float | None]  # None: no end on this side


class Stood(Entry):
    """The version of one part when it was measured."""

    part: str
    whose: str
    revised: bool = Field(description="whether the ledger said that something had been changed after a measurement")
    criterion: Ends = Field(strict=False)
    corrected: Ends | None = Field(None, strict=False)
    sharper: Ends | None = Field(None, strict=False)

    @classmethod
    def of(cls, part: Part) -> Stood:
        ends = {name: (_finite(one.low), _finite(one.high)) for name, one in part.criteria()}
        return cls(part=part.id, whose=part.whose, revised=part.revised is not None, **ends)

    def problems(self, part: Part) -> list[str]:
        """Inadmissible changes of a part since it was measured, in sentences."""
        if self.revised and not part.revised:
            return [
                f"{part.id}: 'revised' is missing; allowed: what stood here, for it was changed after a measurement"
            ]
        before = part.revised.before if part.revised else None
        found = []
        for name, now in part.criteria():
            stood = _interval(getattr(self, name))
            if stood and not _within(now, stood) and not _same(getattr(before, name, None), stood):
                found.append(
                    f"{part.id}: {name} {now.words} is wider than what stood when it was measured; allowed: an "
                    f"interval inside {_shown(stood)}, or 'revised' with that as from: {name}, and why"
                )
        if part.whose != self.whose and (before is None or before.whose != self.whose):
            found.append(
                f"{part.id}: whose {part.whose!r}; allowed: {self.whose!r}, as when it was measured, or 'revised' with "
                "that as from: whose, and why"
            )
        return found


def _finite(end: float) -> float | None:
    return end if math.isfinite(end) else None


def _interval(ends: Ends | None) -> Interval | None:
    if ends is None:
        return None
    low, high = ends
    return Interval(-math.inf if low is None else low, math.inf if high is None else high, "")


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=CLOSE, abs_tol=0.0)


def _within(inner: Interval, outer: Interval) -> bool:
    low = inner.low >= outer.low or _close(inner.low, outer.low)
    return low and (inner.high <= outer.high or _close(inner.high, outer.high))


def _same(one: Interval | None, other: Interval) -> bool:
    return one is not None and _close(one.low, other.low) and _close(one.high, other.high)


def _shown(interval: Interval) -> str:
    """An interval with all its digits."""
    return f"[{', '.join(people(end, 12) for end in (interval.low, interval.high))}]"


def table(path: Path = TABLE) -> list[Stood]:
    """The stored version of each measured part; raises BuildError if the file was edited."""
    return inputs.entries(path, Stood)


def problems() -> list[str]:
    """The parts of the ledger that claim more than their version when they were measured, one line each."""
    parts = papers.parts()
    return [line for stood in table() if stood.part in parts for line in stood.problems(parts[stood.part])]


def store(recorded: dict[str, dict]) -> None:
    """Enter the parts that have a measurement, in a record or a cheap run, as the ledger has them now."""
    if wrong := problems():
        raise BuildError("\n".join(wrong))
    known = {id for id, record in recorded.items() if record["value"] is not None} | standing.references().keys()
    known |= {stood.part for stood in table()}
    found = [Stood.of(part).model_dump() for id, part in papers.parts().items() if id in known]
    lines = [json.dumps({name: value for name, value in one.items() if value is not None}) for one in found]
    atomic_write(TABLE, "[\n" + ",\n".join(lines) + "\n]\n")
