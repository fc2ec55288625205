"""One part in several runs: agreement of two that should agree, and the spread of runs with other seeds.

The values of k seeds with stated standard errors σᵢ have a variance s². If the stated errors are right, (k − 1) s² / σ²
with σ² = mean σᵢ² is χ² with k − 1 degrees of freedom. With ρ = s/σ the *ratio* of the true spread to the stated one
therefore lies in [ρ √((k − 1)/χ²₊), ρ √((k − 1)/χ²₋)], at two-sided 10⁻³ like all intervals of the book. One that does
not contain 1 contradicts the error bars. The intervals of shares and the like, which need not be symmetric, must meet
in a point. An exact value does not depend on the seed, or its quantity states that it is the worst of random instances.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from book.tools.run import variants
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.intervals import ACROSS, Entry
from lmc_helpers.claims.judge import Z_TWO_SIDED

LEVEL = 1e-3
OPEN_SHARE = 0.1  # of the seeds for which a part may stay open
ROUNDING = 1e-9  # exact values that differ by less, absolute or relative, are the same
SAYS_RANDOM = re.compile(
    r"\b(largest|smallest|greatest|least|most|worst|best|lowest|highest|maxim\w*|minim\w*|farthest|nearest|random\w*"
    r"|drawn|sampled|share|mean|median|number of|quantile)\b",
    re.IGNORECASE,
)
ERROR, INTERVAL, EXACT, NOT_RUN = "standard error", "interval", "exact", "not run"
LEDGER, SAMPLES, PROFILE = "the ledger", "samples", "the profile"  # what leaves a part open by design


class Measured(Entry):
    """The measurement of one part in one run; ``value`` is None if it was not run."""

    verdict: str
    value: float | None
    stderr: float | None
    low: float | None
    high: float | None
    n: int
    place_sharper: str | None

    @classmethod
    def of(cls, record: dict) -> Measured:
        return cls(**{name: record[name] for name in cls.model_fields})


def contradict(one: Measured, other: Measured) -> bool:
    """True if two runs decide a part differently; an open verdict decides nothing.

    Nor does *holds* contradict *more is true* where its interval reaches across the sharper criterion's border.
    """
    if claims.OPEN in (one.verdict, other.verdict) or one.verdict == other.verdict:
        return False
    plain = next((run for run in (one, other) if run.verdict == claims.HOLDS), None)
    sharper = claims.SHARPER in (one.verdict, other.verdict)
    return not (plain and sharper and plain.place_sharper == ACROSS)


@dataclass(frozen=True)
class Difference:
    """One part in two runs that should agree, such as the book's own run and one in another setting."""

    part: Part
    reference: Measured
    other: Measured
    chapter: str = ""
    setting: str = ""

    @property
    def size(self) -> float:
        """In standard errors where the part is sampled, else relative; 0 if neither was measured."""
        a, b = self.reference.value, self.other.value
        if a is None or b is None:
            return 0.0 if a is b else math.inf
        if self.part.sampled:
            half = ((self.reference.high or 0.0) - (self.reference.low or 0.0)) / (2 * Z_TWO_SIDED)
            return abs(a - b) / half if half else math.inf * (a != b)
        if abs(a - b) <= max(self.part.floor, sys.float_info.min):
            return 0.0
        ends = (abs(self.part.criterion.low), abs(self.part.criterion.high))
        return abs(a - b) / max(abs(a), abs(b), *(end for end in ends if end < math.inf))

    @property
    def allowed(self) -> float:
        """The tolerance that ``book/settings.yml`` states."""
        return variants.settings().sampled if self.part.sampled else variants.settings().exact

    def complaints(self, before: str = "as built") -> list[str]:
        """The disagreements, in words; ``before`` names the reference."""
        ours, other = self.reference, self.other
        found = [f"n = {other.n}, {before} {ours.n}"] * (ours.n != other.n)
        if contradict(ours, other):
            found.append(f"{other.verdict}, {before} {ours.verdict}")
        if self.size > self.allowed:
            unit = "standard errors" if self.part.sampled else "relative"
            size = f"{self.size:.2g} ({unit}; {self.allowed:g} allowed)"
            found.append(f"{other.value} and {before} {ours.value} differ by {size}")
        return found


def ratio(values: Sequence[float], stderrs: Sequence[float]) -> tuple[float, float, float]:
    """The spread of some values over their stated standard errors, with its interval at two-sided 10⁻³.

    >>> found, low, high = ratio([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    >>> round(found, 2), round(low, 2), round(high)
    (1.0, 0.36, 45)
    """
    k = len(values)
    if k < 2 or len(stderrs) != k or min(stderrs) <= 0:
        raise ValueError(f"{k} values with errors {list(stderrs)}; allowed: two values or more, each with an error > 0")
    squared = float(np.var(values, ddof=1) / np.mean(np.square(stderrs)))
    small, large = chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], k - 1) / (k - 1)
    return math.sqrt(squared), math.sqrt(squared / large), math.sqrt(squared / small)


class Spread:
    """One part over runs with different seeds; ``price`` names what decides it if its profile leaves it open."""

    def __init__(self, part: Part, chapter: str, runs: Sequence[Measured], price: str = ""):
        self.part, self.chapter, self.runs = part, chapter, runs
        measured = [run for run in runs if run.value is not None]
        self.verdicts = Counter(run.verdict for run in runs)
        self.different = any(contradict(one, other) for k, one in enumerate(runs) for other in runs[:k])
        self.values = [run.value for run in measured if run.value is not None]
        self.mean = float(np.mean(self.values)) if measured else math.nan
        self.deviation = float(np.std(self.values, ddof=1)) if len(measured) > 1 else 0.0
        self._errors(measured)
        self._design(price)
        #: True if an exact value depends on the seed beyond rounding and its quantity does not state over what.
        self.varies = self.kind == EXACT and max(self.values) - min(self.values) > max(
            ROUNDING * max(1.0, *map(abs, self.values)), part.floor
        )
        self.unsaid = self.varies and not SAYS_RANDOM.search(part.quantity)

    def _errors(self, measured: list[Measured]) -> None:
        """Set the stated error (half an interval, as if symmetric) and the evidence of the spread against it."""
        stderrs = [run.stderr for run in measured if run.stderr]
        self.stated: float | None = None
        self.ratio: tuple[float, float, float] | None = None
        self.error_bars = ""
        if not measured:
            self.kind = NOT_RUN
        elif not self.part.sampled:
            self.kind = EXACT
        elif len(stderrs) == len(measured):
            self.kind, self.stated = ERROR, math.sqrt(np.mean(np.square(stderrs)))
            if len(measured) > 1:
                self.ratio = ratio(self.values, stderrs)
                self.error_bars = "too small" if self.ratio[1] > 1 else "too large" if self.ratio[2] < 1 else ""
        else:
            lows, highs = [run.low or 0.0 for run in measured], [run.high or 0.0 for run in measured]
            self.kind, self.stated = INTERVAL, float(np.mean(np.subtract(highs, lows))) / (2 * Z_TWO_SIDED)
            self.error_bars = "too small" if max(lows) > min(highs) else ""

    def _design(self, price: str) -> None:
        """Set the reason why the part is open by design, if there is one: the ledger, the profile, too few samples."""
        self.open_share = self.verdicts[claims.OPEN] / len(self.runs)
        most = max((run.n for run in self.runs if run.verdict == claims.OPEN), default=0)
        self.design, self.by_design = "", ""
        if self.part.expected == claims.OPEN:
            self.design, self.by_design = LEDGER, "in the ledger too"
        elif price:
            self.design, self.by_design = PROFILE, price
        elif most < self.part.min_samples:
            self.design, self.by_design = SAMPLES, f"n = {most} here, decided from {self.part.min_samples} on"
        self.needs_samples = self.open_share > OPEN_SHARE and not self.by_design

    @property
    def times(self) -> float:
        """The factor of samples that decides it at most seeds, from its mean to the nearest border; at least 1."""
        if not self.stated:
            return math.inf
        near = min(abs(self.mean - end) for _, one in self.part.criteria() for end in (one.low, one.high))
        return max(1.0, (Z_TWO_SIDED * self.stated / near) ** 2) if near else math.inf
