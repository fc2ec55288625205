"""The verdict on each statement: the one recorded at the papers' scale, or else that of this run.

A small run leaves open what needs more samples, and anyone may choose its seeds. Where a confirmatory run was made and
its record is up to date, its verdict counts, even an open one; pages show where this run differs.
"""

import re
from collections import ChainMap
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property

from book.tools.read import papers, sources
from book.tools.read.chapters import NOTEBOOKS, chapters, executed
from book.tools.record import glued, standing
from book.tools.record.records import Run, notebook, recorded
from lmc_helpers import claims
from lmc_helpers.claims.criteria import SLIP, Claim, Part

NAME = re.compile(r"\{(\w+)\}")  # of a number in a price
WRONG = (claims.BROKEN, claims.CORRECTED, claims.FAILS)
RESULT, DETAIL, OWN = "results", "details", "ours"


@dataclass(frozen=True)
class Finding:
    """A part, its verdict, and the records that it comes from."""

    part: Part
    chapter: str
    run: dict | None  #: what this run found
    paper: dict | None  #: the record at paper scale, if it is up to date

    @property
    def verdict(self) -> str:
        """The verdict of the record at paper scale, as in the part's box, or else that of this run."""
        return self.paper["verdict"] if self.paper else self._of_run

    @property
    def from_record(self) -> bool:
        """True if this run and the record at paper scale disagree."""
        return self.verdict != self._of_run

    @property
    def not_run(self) -> bool:
        """True if it is open because no run met its needs."""
        return self.verdict == claims.OPEN and claims.not_run(self.paper or self.run)

    @property
    def shown(self) -> str:
        """The verdict; "not run" for an open part that was not run."""
        return claims.NOT_RUN if self.not_run else self.verdict

    @property
    def _of_run(self) -> str:
        return self.run["verdict"] if self.run else claims.OPEN

    @property
    def record(self) -> dict | None:
        """The record at paper scale, or else that of this run; of two the one that measured something."""
        known = [one for one in (self.paper, self.run) if one]
        return next((one for one in known if one.get("value") is not None), next(iter(known), None))


@dataclass(frozen=True)
class Statement:
    """One statement: a part, or the parts that are readings of it; the first is the one that counts, the best."""

    readings: list[Finding]
    broken: list[str]  #: steps of its printed proof that break

    @property
    def part(self) -> Part:
        return self.readings[0].part

    @property
    def kind(self) -> str:
        """Kind of the statement: a result or a detail of a paper, or the book's own."""
        if self.part.whose == claims.OURS:
            return OWN
        return RESULT if any(f.part.weight == claims.HEADLINE for f in self.readings) else DETAIL

    @property
    def is_slip(self) -> bool:
        return self.part.weight == SLIP

    @property
    def verdict(self) -> str:
        return self.counting.verdict

    @property
    def counting(self) -> Finding:
        """The reading that counts."""
        return self.readings[0]

    @property
    def is_derivation(self) -> bool:
        """True if an identity or a theorem of the book decides it, not a measurement; one without a case stays open."""
        return self.counting.part.derivation and self.verdict != claims.OPEN

    @property
    def axis(self) -> str:
        """The verdict; if true, whether a step of the printed proof breaks; if open, whether it was run."""
        if self.verdict == claims.OPEN and all(f.not_run for f in self.readings if f.verdict == claims.OPEN):
            return claims.NOT_RUN
        stands = self.verdict in (claims.HOLDS, claims.SHARPER)
        return claims.BROKEN if stands and self.broken else self.verdict

    @property
    def is_wrong(self) -> bool:
        """True if it differs from what a paper states: false, or a step of a proof that breaks."""
        return self.kind != OWN and self.verdict in WRONG


@dataclass(frozen=True)
class Findings:
    """The findings of a run and of the records at paper scale, for a ledger."""

    ledger: dict[str, Claim]
    here: dict[str, dict]  #: part → what this run found
    there: dict[str, dict]  #: part → up-to-date record at paper scale
    where: dict[str, str]  #: part → the chapter that checks it
    stale: dict[str, list[str]] = field(default_factory=dict)  #: part → what its record rests on that has changed

    @cached_property
    def parts(self) -> dict[str, Finding]:
        return {
            id: Finding(part, self.where.get(id, ""), self.here.get(id), self.there.get(id))
            for claim in self.ledger.values()
            for id, part in claim.parts.items()
        }

    @cached_property
    def verdicts(self) -> dict[str, str]:
        return {id: finding.verdict for id, finding in self.parts.items()}

    @cached_property
    def statement_of(self) -> dict[str, Statement]:
        """Part → the statement that it is, or is a reading of."""
        return {f.part.id: statement for statement in self.statements for f in statement.readings}

    def counting(self, ids: Iterable[str]) -> list[str]:
        """The parts that count for some parts: of readings of one statement the best, once."""
        return list(dict.fromkeys(self.statement_of[id].counting.part.id for id in ids))

    def counts(self, id: str) -> str:
        """For a reading that does not count, the one that does, with its verdict; else empty."""
        statement = self.statement_of[id]
        other = self.parts[id].verdict != statement.verdict
        return f"{statement.counting.part.id}: {statement.counting.shown}" if other else ""

    @cached_property
    def surprises(self) -> list[str]:
        """Parts that the ledger leaves open and the record, or else this run, decides."""
        return [id for id, f in self.parts.items() if f.part.expected == claims.OPEN != f.verdict]

    @cached_property
    def differing(self) -> set[str]:
        """The parts of the papers' statements that hold under no reading: those in the errata."""
        return {f.part.id for statement in self.statements if statement.is_wrong for f in statement.readings}

    @cached_property
    def statements(self) -> list[Statement]:
        """Every statement of the ledger, in its order."""
        return [statement for claim in self.ledger.values() for statement in self.of(claim)]

    def of_paper(self, letter: str) -> list[Statement]:
        return [statement for statement in self.statements if statement.part.id[0] == letter]

    def of(self, claim: Claim) -> list[Statement]:
        groups: dict[str, list[Finding]] = {}
        for id, part in claim.parts.items():
            groups.setdefault(part.one_of or id, []).append(self.parts[id])
        for group in groups.values():
            best = claims.best_reading([f.verdict for f in group])
            group.sort(key=lambda f: (f.verdict != best, f.not_run, f.part.weight != claims.HEADLINE))
        return [Statement(group, self._broken({f.part.id for f in group})) for group in groups.values()]

    def _broken(self, ids: set[str]) -> list[str]:
        return [f.part.id for f in self.parts.values() if f.part.step_of in ids and f.verdict == claims.BROKEN]


def checked_in(known: sources.Sources) -> dict[str, str]:
    """Part → the chapter whose source checks it; nothing is run."""
    return {part: name for name in chapters() for part in known.chapter(name).checks}


def unmeasured(record: dict) -> bool:
    """True if a record at paper scale has no value because its run did not meet the needs of the part."""
    return record["value"] is None and claims.not_run(record)


def title(chapter: str) -> str:
    found = re.search(r"^# # (.+)$", (NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8"), re.MULTILINE)
    return found.group(1) if found else chapter


def of(run: Run) -> Findings:
    """The findings of a run, and of the stored records of parts that were run."""
    known, parts = sources.Sources(), papers.parts()
    measured = {id: record for id, record in recorded().items() if id in parts and not unmeasured(record)}
    stale = {id: changed for id, record in measured.items() if (changed := standing.changes(record, known))}
    there = {id: record for id, record in measured.items() if id not in stale}
    return Findings(claims.ledger(), run.records, there, checked_in(known), stale)


def priced(text: str, known: dict[str, str]) -> str:
    """A price in words, with the chapter's numbers in place of their names; empty if one of them is missing."""
    found = all(name in known for name in NAME.findall(text))
    return NAME.sub(lambda match: known[match[1]], text) if found else ""


def prices(found: Findings, profile: str) -> dict[str, str]:
    """Open part → the cost of deciding it, in words, where that is known.

    The numbers of a price are those of the chapters that check parts of its id.
    """
    paths = {path.stem: path for path in executed(profile) if path.exists()}
    numbers = cache(lambda chapter: glued.values(notebook(paths[chapter])))
    listed = {}
    for id, finding in found.parts.items():
        if finding.verdict == claims.OPEN and finding.part.price:
            siblings = found.ledger[id.partition(".")[0]].parts
            homes = {found.where[one] for one in siblings if one in found.where} & paths.keys()
            known = [numbers(chapter) for chapter in homes]
            listed[id] = priced(finding.part.price, dict(ChainMap(*known)))
    return listed
