"""What runs of one part with different seeds say together: verdicts, spread, and a test of the error bars.

The values of k seeds with stated standard errors σᵢ have a variance s². If the stated errors are right, (k − 1) s² / σ²
with σ² = mean σᵢ² is χ² with k − 1 degrees of freedom. With ρ = s/σ the *ratio* of the true spread to the stated one
therefore lies in [ρ √((k − 1)/χ²₊), ρ √((k − 1)/χ²₋)], at two-sided 10⁻³ like all intervals of the book. One that does
not contain 1 contradicts the error bars. The intervals of shares and the like, which need not be symmetric, must meet
in a point. An exact value does not depend on the seed, or its quantity says that it is the worst of random instances.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.stats import chi2

from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.intervals import ACROSS
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


class Measured(Protocol):
    """What one run found of one part."""

    @property
    def verdict(self) -> str:
        """What came out."""

    @property
    def value(self) -> float | None:
        """None: not run."""

    @property
    def stderr(self) -> float | None:
        """None: exact, or an interval that is not symmetric."""

    @property
    def low(self) -> float | None:
        """Lower end of what was judged."""

    @property
    def high(self) -> float | None:
        """Upper end."""

    @property
    def n(self) -> int:
        """Samples."""

    @property
    def place_sharper(self) -> str | None:
        """Where it lies in the sharper criterion."""


def ratio(values: Sequence[float], stderrs: Sequence[float]) -> tuple[float, float, float]:
    """The spread of some values over their stated standard errors, with its interval at two-sided 10⁻³.

    Examples
    --------
    >>> found, low, high = ratio([1.0, 2.0, 3.0], [1.0, 1.0, 1.0])
    >>> round(found, 2), round(low, 2), round(high)
    (1.0, 0.36, 45)
    """
    k = len(values)
    if k < 2 or len(stderrs) != k or min(stderrs) <= 0:
        raise ValueError(f"{k} values with errors {list(stderrs)}; allowed: two values or more, each with an error > 0")
    stated = float(np.mean(np.square(stderrs)))
    squared = float(np.var(values, ddof=1)) / stated
    small, large = chi2.ppf([LEVEL / 2, 1 - LEVEL / 2], k - 1) / (k - 1)
    return math.sqrt(squared), math.sqrt(squared / large), math.sqrt(squared / small)


def at_odds(one: Measured, other: Measured) -> bool:
    """Whether two runs decide a part differently; what is open decides nothing.

    Nor does *holds* say that no more is true where its interval reaches across the sharper criterion's border.
    """
    if claims.OPEN in (one.verdict, other.verdict) or one.verdict == other.verdict:
        return False
    plain = next((run for run in (one, other) if run.verdict == claims.HOLDS), None)
    sharper = claims.SHARPER in (one.verdict, other.verdict)
    return not (plain and sharper and plain.place_sharper == ACROSS)


@dataclass(frozen=True)
class Spread:
    """One part over all its runs.

    Parameters
    ----------
    part : Part
        the ledger's.
    chapter : str
        which measures it.
    runs : sequence of Measured
        in the order of the seeds.
    price : str
        what deciding it takes, if its profile leaves it open by design.
    """

    part: Part
    chapter: str
    runs: Sequence[Measured]
    price: str = ""

    @cached_property
    def verdicts(self) -> Counter[str]:
        """Verdict → how many runs came to it."""
        return Counter(run.verdict for run in self.runs)

    @cached_property
    def values(self) -> list[float]:
        """Of the runs that measured."""
        return [run.value for run in self.runs if run.value is not None]

    @property
    def kind(self) -> str:
        """What error the values are stated with."""
        ran = [run for run in self.runs if run.value is not None]
        if not ran:
            return NOT_RUN
        if not self.part.sampled:
            return EXACT
        return ERROR if all(run.stderr for run in ran) else INTERVAL

    @property
    def mean(self) -> float:
        """Of the values."""
        return float(np.mean(self.values))

    @property
    def deviation(self) -> float:
        """Standard deviation over the runs; 0 of a single one."""
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else 0.0

    @property
    def stated(self) -> float | None:
        """The stated standard error, its mean in squares; of an interval, its width as that of a symmetric one."""
        ran = [run for run in self.runs if run.value is not None]
        if self.kind == ERROR:
            return math.sqrt(np.mean([run.stderr**2 for run in ran if run.stderr]))
        if self.kind == INTERVAL:
            return float(np.mean([(run.high or 0.0) - (run.low or 0.0) for run in ran])) / (2 * Z_TWO_SIDED)
        return None

    @cached_property
    def ratio(self) -> tuple[float, float, float] | None:
        """Spread over stated error, with its interval; None without standard errors of two runs."""
        if self.kind != ERROR or len(self.values) < 2:
            return None
        return ratio(self.values, [run.stderr for run in self.runs if run.value is not None and run.stderr])

    @cached_property
    def different(self) -> bool:
        """Whether two runs decide the part differently."""
        return any(at_odds(one, other) for k, one in enumerate(self.runs) for other in self.runs[:k])

    @property
    def open_share(self) -> float:
        """The share of runs that leave it open."""
        return self.verdicts[claims.OPEN] / len(self.runs)

    @property
    def most(self) -> int:
        """The samples of the largest run that leaves it open."""
        return max((run.n for run in self.runs if run.verdict == claims.OPEN), default=0)

    @property
    def design(self) -> str:
        """What leaves it open by design: the ledger, the profile, or too few samples; empty if nothing does."""
        if self.part.expected == claims.OPEN:
            return LEDGER
        if self.price:
            return PROFILE
        return SAMPLES if self.most < self.part.min_samples else ""

    @property
    def by_design(self) -> str:
        """Why it may stay open at this profile, and what deciding it takes; empty if it should be decided."""
        needed = f"n = {self.most} here, decided from {self.part.min_samples} on"
        return {LEDGER: "in the ledger too", PROFILE: self.price, SAMPLES: needed}.get(self.design, "")

    @property
    def times(self) -> float:
        """How many times the samples would decide it at most seeds, from its mean to the nearest border; at least 1."""
        if not self.stated:
            return math.inf
        near = min(abs(self.mean - end) for _, one in self.part.criteria() for end in (one.low, one.high))
        return max(1.0, (Z_TWO_SIDED * self.stated / near) ** 2) if near else math.inf

    @property
    def needs_samples(self) -> bool:
        """Whether it is open for more than one run in ten, and not by design."""
        return self.open_share > OPEN_SHARE and not self.by_design

    @property
    def error_bars(self) -> str:
        """What the spread says against the stated errors: ``too small``, ``too large``, or nothing."""
        if self.ratio:
            return "too small" if self.ratio[1] > 1 else "too large" if self.ratio[2] < 1 else ""
        if self.kind == INTERVAL:
            lowest = min(run.high for run in self.runs if run.high is not None)
            return "too small" if max(run.low for run in self.runs if run.low is not None) > lowest else ""
        return ""

    @property
    def varies(self) -> bool:
        """Whether an exact value depends on the seed beyond rounding."""
        if self.kind != EXACT:
            return False
        apart, size = max(self.values) - min(self.values), max(map(abs, self.values))
        return apart > max(ROUNDING * max(1.0, size), self.part.floor)

    @property
    def unsaid(self) -> bool:
        """Whether an exact value depends on the seed, and its quantity does not say over what it is the worst."""
        return self.varies and not SAYS_RANDOM.search(self.part.quantity)
