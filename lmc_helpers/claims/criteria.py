"""The ledger as data: the fields of a claim and of its parts.

The models are the grammar of ``book/claims/*.yml``, and the JSON Schema that editors use is written from them. A part
records *whose* statement it is and its weight, and states a criterion: an interval
(:mod:`~lmc_helpers.claims.intervals`) fixed before the measurement.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from pydantic import Field, model_validator

from lmc_helpers.claims.intervals import Entry, Interval, LedgerError, Number, form, number
from lmc_helpers.claims.needs import Need

HOLDS = "holds"
SHARPER = "holds, and more is true"
CORRECTED = "false as printed, corrected"
BROKEN = "broken, statement stands"
FAILS = "fails"
OPEN = "open"
VERDICTS = (SHARPER, HOLDS, BROKEN, CORRECTED, OPEN, FAILS)  # from best to worst
#: ⚠ is followed by the sign that asks for a plain glyph, not for a coloured picture.
#: The name of an open part that no run has tried to decide.
NOT_RUN = "not run"
SYMBOLS = {HOLDS: "✓", SHARPER: "✓+", BROKEN: "⚠\ufe0e", CORRECTED: "✎", FAILS: "✗", OPEN: "?", NOT_RUN: "–"}
STANDS = (HOLDS, SHARPER, OPEN)  # expectations allowed for the statement of a step that breaks

PAPER, READING, OURS = "paper", "reading", "ours"
WHOSE = (PAPER, READING, OURS)
HEADLINE, DETAIL, SLIP = "headline", "detail", "slip"
WEIGHTS = (HEADLINE, DETAIL, SLIP)


def slug(verdict: str) -> str:
    """A verdict as the style sheet names it."""
    return verdict.replace(",", "").replace(" ", "-")


def symbol(verdict: str) -> str:
    """The symbol of a verdict; empty for other words, such as "not yet in the book"."""
    return SYMBOLS.get(verdict, "")


def _one_of(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{field} {value!r}; allowed: {', '.join(map(repr, allowed))}")


class Rival(Entry):
    """A plausible value outside a part's narrowest criterion: why that is as narrow as it is."""

    says: str = Field(description="why the value is plausible")
    value: Number | None = Field(None, description="absent if the chapter measures it")

    @property
    def interval(self) -> Interval | None:
        """The value as an interval without width; none if the chapter measures it."""
        return None if self.value is None else Interval(number(self.value), number(self.value), form(self.value))


class Before(Entry):
    """The fields of a part as they stood before its last revision."""

    criterion: Interval | None = None
    corrected: Interval | None = None
    sharper: Interval | None = None
    whose: str = Field("", json_schema_extra={"enum": list(WHOSE)})
    reading: str = ""
    quantity: str = ""

    @model_validator(mode="after")
    def _says_something(self) -> Before:
        if not self.model_fields_set:
            raise ValueError(f"nothing stood before; allowed: one or more of {', '.join(type(self).model_fields)}")
        if self.whose:
            _one_of("whose", self.whose, WHOSE)
        return self


class Revised(Entry):
    """A change of criterion, reading or attribution after a measurement: the earlier version, and the reason."""

    before: Before = Field(alias="from", description="what stood when a measurement existed")
    why: str = Field(min_length=1, description="the reason, which is not the measurement, in a sentence")


class PartEntry(Entry):
    """One part of a claim as written in the ledger: whose statement, what is measured, criteria and expectation."""

    whose: str = Field(
        description="paper: it states so; reading: its words leave it open; ours: the book's own, never counted",
        json_schema_extra={"enum": list(WHOSE)},
    )
    weight: str = Field(
        description="headline: a stated result; detail: a step, constant or remark; slip: it changes nothing",
        json_schema_extra={"enum": list(WEIGHTS)},
    )
    where: str = Field(description="where a reader with the PDF finds it; for ours, to what it belongs")
    statement: str = Field(min_length=1, description="what is stated there, in our words, with typeset formulas")
    quantity: str = Field(description="what is measured, without formulas that need typesetting")
    criterion: Interval = Field(description="what the statement comes to, for the measured quantity")
    rival: Rival
    expected: str = Field(
        description="the verdict that the book expects at the paper's scale", json_schema_extra={"enum": list(VERDICTS)}
    )
    sampled: bool = Field(False, description="the measurement has a statistical error; otherwise it is a point")
    derivation: bool = Field(
        False, description="an identity, or a theorem of the book on the very objects: checked, and no measurement"
    )
    min_samples: int = Field(1, ge=1, description="with fewer the part stays open")
    needs: dict[str, Need] = Field(
        default_factory=dict,
        description="conditions on the chapter's parameters; a run that does not meet them decides nothing",
    )
    reading: str = Field("", description="for a reading: which one")
    one_of: str = Field("", description="parts of an id with the same label are readings of one statement")
    step_of: str = Field("", description="the part whose printed proof takes this step")
    by_rule: bool = Field(
        False, description="open whatever a run measures: it depends on a setting that the statement leaves open"
    )
    corrected: Interval | None = Field(None, description="what holds where the statement is false")
    correction: str = Field("", description="what holds instead, in words")
    sharper: Interval | None = Field(None, description="what holds beyond a true statement, inside the criterion")
    sharpening: str = Field("", description="what more is true, in words")
    proof: str = Field("", description="label of the theorem that proves the correction or the sharpening")
    reason: str = Field("", description="why the verdict is another than holds")
    in_short: str = Field("", description="what differs, in a phrase without formulas: the title of its erratum")
    price: str = Field("", description="what deciding an open part takes; {name} is a number that its chapter glues")
    revised: Revised | None = Field(None, description="what was changed after a measurement existed, and why")
    digits: int = Field(4, ge=1, description="of an exact value that are shown")
    floor: float = Field(0.0, ge=0, strict=False, description="smaller values are shown as rounding errors")

    @model_validator(mode="after")
    def _says_whose_it_is(self) -> PartEntry:
        _one_of("whose", self.whose, WHOSE)
        _one_of("weight", self.weight, WEIGHTS)
        _one_of("expected", self.expected, VERDICTS)
        if (self.whose == READING) != bool(self.reading):
            raise ValueError("'reading' says which reading a part of whose: reading takes, and stands nowhere else")
        if self.whose == OURS:
            extra = [name for name in ("corrected", "sharper", "step_of", "one_of") if getattr(self, name)]
            if extra or self.weight == SLIP:
                raise ValueError(f"{extra[0] if extra else 'weight: slip'} is for statements of a paper, not for ours")
        return self

    @model_validator(mode="after")
    def _gives_reasons(self) -> PartEntry:
        if self.expected not in (HOLDS, SHARPER) and not self.reason:
            raise ValueError(f"expected {self.expected!r} needs a reason")
        for verdict, name, words in ((CORRECTED, "corrected", "correction"), (SHARPER, "sharper", "sharpening")):
            if self.expected == verdict and not (getattr(self, name) and getattr(self, words) and self.proof):
                raise ValueError(f"expected {verdict!r} needs {name!r}, its statement {words!r} and its 'proof'")
        if self.by_rule and self.expected != OPEN:
            raise ValueError(f"'by_rule' is for a part that is expected to be {OPEN!r}")
        if self.expected == BROKEN and not self.step_of:
            raise ValueError(f"expected {BROKEN!r} needs 'step_of', the part whose printed proof takes the step")
        return self

    @model_validator(mode="after")
    def _has_teeth(self) -> PartEntry:
        if self.corrected and self.sharper:
            raise ValueError("'corrected' is for a false statement and 'sharper' for a true one; allowed: one of them")
        if self.corrected and self.corrected.meets(self.criterion):
            raise ValueError("the criterion and the corrected one overlap: no measurement tells them apart")
        if self.sharper and (not self.criterion.contains(self.sharper) or self.sharper.contains(self.criterion)):
            raise ValueError("the sharper criterion must lie inside the criterion and be smaller")
        if self.sampled:
            for name, criterion in self.criteria():
                if criterion.low == criterion.high:
                    raise ValueError(
                        f"{name}: a sampled value never lies inside a point; state the smallest difference that would "
                        "matter as 'tolerance'"
                    )
        if self.rival.interval:
            self.exclude(self.rival.interval)
        return self

    def criteria(self) -> list[tuple[str, Interval]]:
        """The criteria that a part has, by their names."""
        named = (("criterion", self.criterion), ("corrected", self.corrected), ("sharper", self.sharper))
        return [(name, interval) for name, interval in named if interval]

    def exclude(self, rival: Interval) -> None:
        """Raise a LedgerError if the rival would pass too: it must lie outside the criterion and the corrected one.

        A rival of a sharper criterion may be the statement itself, hence only the sharper one must exclude it.
        """
        for name, criterion in self.criteria():
            if criterion.meets(rival) and not (name == "criterion" and self.sharper):
                raise LedgerError(f"{name} ({criterion.words}) also accepts its rival ({rival.words})")

    def digest(self) -> str:
        """Sixteen characters that change when a criterion changes, and not when only words or conditions do."""
        criteria = {name: [interval.low, interval.high] for name, interval in self.criteria()}
        rival = self.rival.interval
        judged: dict[str, Any] = {"rival": rival and rival.low, "sampled": self.sampled, "step_of": self.step_of}
        judged |= {"whose": self.whose} | criteria | ({"by_rule": True} if self.by_rule else {})
        return hashlib.sha256(json.dumps(judged, sort_keys=True).encode()).hexdigest()[:16]


class Misprint(Entry):
    """A slip in the print that no measurement concerns; it changes no result, or only the wording of a statement."""

    where: str
    printed: str
    meant: str
    changes: bool = Field(False, description="the statement as printed is another one, such as an order of quantifiers")


class ClaimEntry(Entry):
    """One id of the ledger as it is written: what a paper claims, where, and the parts that the book checks."""

    paper: str = Field(description="the letter of the paper, as in the file's name")
    where: str = Field(description="equation, theorem, table or figure of the paper")
    says: str = Field(description="the claim in one line")
    parts: dict[str, PartEntry] = Field(default_factory=dict, description="absent: not yet in the book")
    misprints: list[Misprint] = Field(default_factory=list)
    page: str = Field("", description="beyond the papers: the page of the book that answers, where nothing is judged")

    @model_validator(mode="after")
    def _is_the_paper_s(self) -> ClaimEntry:
        parts = self.parts.values()
        if self.paper != BEYOND and self.parts and not any(p.weight == HEADLINE and p.whose != OURS for p in parts):
            raise ValueError("no part is a headline of the paper; an id's verdict is that of these parts")
        if self.page and (self.paper != BEYOND or self.parts):
            raise ValueError("'page' is for what stands beyond the papers and has no parts")
        labels = [p.one_of for p in parts if p.one_of]
        single = sorted({label for label in labels if labels.count(label) == 1})
        if single:
            raise ValueError(f"one_of {single[0]!r} stands at one part only; readings of one statement are two or more")
        return self


BEYOND = "X"  # the letter of what the book asks beyond the papers


class Part(PartEntry):
    """One part of a claim, with its id, ``Z3.limit``."""

    id: str

    def refuse(self, rival: Interval) -> None:
        """Raise a LedgerError, with this part's id, if a criterion of it also accepts the rival."""
        try:
            self.exclude(rival)
        except LedgerError as error:
            raise LedgerError(f"{self.id}: {error}") from None


@dataclass(frozen=True)
class Claim:
    """One id of the ledger: what a paper claims, where, and the parts that the book checks, by their ids."""

    id: str
    paper: str
    where: str
    says: str
    parts: dict[str, Part] = field(default_factory=dict)
    misprints: list[Misprint] = field(default_factory=list)
    page: str = ""

    @classmethod
    def of(cls, id: str, entry: ClaimEntry) -> Claim:
        """The claim that an entry of the ledger describes."""
        parts = {
            f"{id}.{name}": Part.model_construct(id=f"{id}.{name}", **dict(part)) for name, part in entry.parts.items()
        }
        return cls(id, entry.paper, entry.where, entry.says, parts, entry.misprints, entry.page)

    @property
    def headlines(self) -> list[Part]:
        """The parts that decide the verdict of the id: the paper's headlines, or ours where none is the paper's."""
        heads = [part for part in self.parts.values() if part.weight == HEADLINE]
        return [part for part in heads if part.whose != OURS] or heads
