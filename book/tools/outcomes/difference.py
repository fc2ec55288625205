"""What one part measured in two runs that should find the same: by how much they differ, and whether that is too much.

``book/settings.yml`` states the tolerance. :mod:`book.tools.repeat` compares settings of the machine by it, and
:mod:`book.tools.reference` a run with the stored one.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from book.tools.outcomes.spread import at_odds
from book.tools.running import variants
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.judge import Z_TWO_SIDED


class Measured(Entry):
    """What one run found of one part."""

    verdict: str
    value: float | None
    stderr: float | None
    low: float | None
    high: float | None
    n: int
    place_sharper: str | None

    @classmethod
    def of(cls, record: dict) -> Measured:
        """Those fields of a record."""
        return cls(**{name: record[name] for name in cls.model_fields})


@dataclass(frozen=True)
class Difference:
    """One part in one run against another, as in one setting against the book's own run.

    Parameters
    ----------
    part : Part
        the ledger's.
    own, there : Measured
        what the two runs found.
    chapter, setting : str
        where it was measured, where that is to be told.
    """

    part: Part
    own: Measured
    there: Measured
    chapter: str = ""
    setting: str = ""

    @property
    def size(self) -> float:
        """In standard errors where the part is sampled, else relative; 0 if neither was measured."""
        a, b = self.own.value, self.there.value
        if a is None or b is None:
            return 0.0 if a is b else float("inf")
        if self.part.sampled:
            half = ((self.own.high or 0.0) - (self.own.low or 0.0)) / (2 * Z_TWO_SIDED)
            return abs(a - b) / half if half else float("inf") * (a != b)
        apart, large = abs(a - b), max(abs(a), abs(b))
        return 0.0 if apart <= max(self.part.floor, sys.float_info.min) else apart / max(large, self.scale)

    @property
    def scale(self) -> float:
        """What a difference is compared with where values are smaller: the criterion's own size."""
        ends = [abs(end) for end in (self.part.criterion.low, self.part.criterion.high) if abs(end) < float("inf")]
        return max(ends, default=0.0)

    @property
    def allowed(self) -> float:
        """The tolerance that ``book/settings.yml`` states."""
        stated = variants.settings()
        return stated.sampled if self.part.sampled else stated.exact

    @property
    def decided_otherwise(self) -> bool:
        """Whether the verdicts contradict each other; one that is open decides nothing."""
        return at_odds(self.own, self.there)

    @property
    def too_large(self) -> bool:
        """Whether the difference exceeds the tolerance."""
        return self.size > self.allowed

    def complaints(self, before: str = "as built") -> list[str]:
        """What is wrong with it, in words; ``before`` names the first of the two runs."""
        said = [f"n = {self.there.n}, {before} {self.own.n}"] * (self.own.n != self.there.n)
        if self.decided_otherwise:
            said.append(f"{self.there.verdict}, {before} {self.own.verdict}")
        if self.too_large:
            unit = "standard errors" if self.part.sampled else "relative"
            said.append(
                f"{self.there.value} and {before} {self.own.value} differ by {self.size:.2g}"
                f" ({unit}; {self.allowed:g} allowed)"
            )
        return said
