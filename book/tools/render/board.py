"""The scoreboard: how many statements of each paper hold, and one row per id with the differences.

Two axes: the verdicts, and the kinds of statements. Readings of one statement are one statement; what only the book
asks counts for no paper.
"""

import re
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from book.tools.record.records import ABSENT, SHOWN
from book.tools.render import anchors
from book.tools.render.findings import DETAIL, OWN, RESULT, WRONG, Finding, Findings, Statement, title
from lmc_helpers import claims
from lmc_helpers.claims.criteria import BEYOND, Claim, Part
from lmc_helpers.claims.formulas import typeset

#: The first axis, in the order of its columns.
AXIS = (claims.HOLDS, claims.SHARPER, claims.BROKEN, claims.CORRECTED, claims.FAILS, claims.OPEN, claims.NOT_RUN)
DERIVED, SLIPS = "derived", "slips"
#: The second axis: kind → how the table and its filter name it.
KINDS = {
    RESULT: "results",
    DETAIL: "details and steps of proofs",
    DERIVED: "decided by an identity or a theorem",
    SLIPS: "slips that are checked",
    OWN: "this book's own",
}
SEVERITY = (claims.FAILS, claims.CORRECTED, claims.BROKEN)
WEIGHT = (claims.HEADLINE, "detail", "slip")
PART = re.compile(r"\b[ZPGI]\d+\.[a-z]\w*")  #: a part of the ledger in a text


class Cell(NamedTuple):
    """One paper, one column: how many results and details are measured, and how many statements are derived."""

    axis: str
    results: int
    details: int
    derived: int = 0
    standing: int = 0  #: derived ones that are true though a step of their proof is false


def kind(statement: Statement) -> str:
    """The line of the table that counts a statement."""
    if statement.kind == OWN or statement.is_slip:
        return OWN if statement.kind == OWN else SLIPS
    return DERIVED if statement.is_derivation else statement.kind


def rich(text: str) -> str:
    r"""HTML of a text of the ledger, in which parts are links to their rows.

    >>> rich("the *word* for $a < b$, as in Z4.best_pair")
    'the <em>word</em> for \\(a &lt; b\\), as in <a href="#score-Z4-best_pair">Z4.best_pair</a>'
    """
    return typeset(text, lambda word: (f"#{anchors.row(word)}", word) if PART.fullmatch(word) else None)


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[a-z0-9)$])\.\s+(?=[A-Z])", text)[0].rstrip(".") + "."


def cells(statements: list[Statement], letter: str) -> list[Cell]:
    theirs = [s for s in statements if s.part.id[0] == letter]
    counts = Counter((s.axis, kind(s)) for s in theirs)
    standing = [s for s in theirs if kind(s) == DERIVED and s.axis == claims.BROKEN != s.verdict]
    counts[claims.BROKEN, "standing"] = len(standing)
    return [Cell(axis, *(counts[axis, kind] for kind in Cell._fields[1:])) for axis in AXIS]


def totals(lines: dict[str, list[Cell]]) -> dict[str, Counter[str]]:
    """Number of results, details and derivations of all papers by verdict; ``lines`` is the scoreboard's."""
    told = {name: [{c.axis: getattr(c, name)} for line in lines.values() for c in line] for name in Cell._fields[1:]}
    return {name: sum(map(Counter, counts), Counter[str]()) for name, counts in told.items()}


def _worst_first(statement: Statement) -> tuple[int, int]:
    weight = min(WEIGHT.index(f.part.weight) for f in statement.readings)
    return weight, SEVERITY.index(statement.verdict)


@dataclass(frozen=True)
class Row:
    """One id: its verdict, the difference in a phrase, and its parts."""

    claim: Claim
    verdict: str
    findings: Findings

    @property
    def parts(self) -> list[Finding]:
        return [self.findings.parts[id] for id in self.claim.parts]

    @property
    def wrong(self) -> list[Statement]:
        return sorted((s for s in self.findings.of(self.claim) if s.is_wrong), key=_worst_first)

    @property
    def marks(self) -> list[str]:
        """Verdicts of other differing statements, in addition to that of the row: a small mark each."""
        found = {s.verdict for s in self.wrong} - {self.verdict}
        return [verdict for verdict in SEVERITY if verdict in found]

    @property
    def from_record(self) -> bool:
        """True if the record at paper scale and this run disagree on one of its headlines."""
        return any(f.from_record for f in self.parts if f.part in self.claim.headlines)

    @property
    def _results(self) -> list[Statement]:
        """The statements that its verdict is made of, one for all readings of a sentence."""
        return [s for s in self.findings.of(self.claim) if any(f.part in self.claim.headlines for f in s.readings)]

    @property
    def carried_by(self) -> list[str]:
        """The parts that carry the verdict, where other results or readings have another."""
        worst = [s for s in self._results if s.axis == self.verdict]
        if len(worst) < len(self._results) and self.verdict not in (claims.HOLDS, claims.SHARPER):
            return [s.counting.part.id for s in worst]
        return [s.counting.part.id for s in self._results if any(f.verdict != s.verdict for f in s.readings)]

    @property
    def phrase(self) -> str:
        """In a phrase: why it is open, or what more is true; the worst difference; which readings fail."""
        unsettled = [s.counting.part for s in self._results if s.axis == self.verdict in (claims.OPEN, claims.NOT_RUN)]
        told = dict.fromkeys(_first_sentence(part.reason or "Too few samples at this scale.") for part in unsettled)
        said, beyond = list(told)[: None if self.verdict == claims.OPEN else 1], self.claim.paper == BEYOND
        left = sum(s.axis == claims.NOT_RUN for s in self._results) * (self.verdict == claims.OPEN)
        said += [f"{left} of the {len(self._results)} results {'was' if left == 1 else 'were'} not run."] * (left > 0)
        listed = {f.part.id for s in self.wrong for f in s.readings}
        theirs = [f for f in self.parts if (beyond or f.part.whose != claims.OURS) and f.part.id not in listed]
        wrong = [f.part for f in theirs if f.verdict in WRONG]
        failed = list(dict.fromkeys(_first_sentence(part.reason if beyond else part.in_short) for part in wrong))
        if self.verdict == claims.SHARPER or not (said or failed or self.wrong):
            said += [f.part.sharpening for f in theirs if f.verdict == claims.SHARPER][:1]
        if self.wrong:
            more = f"; and {len(self.wrong) - 1} more" * (len(self.wrong) > 1)
            said += [self.wrong[0].part.in_short + more + "."]
        if failed:
            lead = "In another reading: " if len(failed) == 1 else "In other readings: "
            lead = ("" if self.verdict in WRONG else "A detail failed: ") if beyond else lead
            more = f"And {len(failed[2 - beyond :])} more{' failed' * beyond}."
            said += [lead + " ".join([*failed[: 2 - beyond], *[more] * (len(failed) > 2 - beyond)])]
        return " ".join(said)

    @property
    def undecided(self) -> list[Part]:
        """Its results that are open."""
        return [part for part in self.claim.headlines if self.findings.verdicts[part.id] == claims.OPEN]

    @property
    def chapters(self) -> dict[str, str]:
        """The chapters that check its parts, with their titles."""
        return {f.chapter: title(f.chapter) for f in self.parts if f.chapter}


def _verdict(claim: Claim, findings: Findings) -> str:
    """The verdict of an id; "not run" for one that is open only because its results were not run."""
    if not claim.parts:
        return SHOWN if claim.page else ABSENT
    verdict = claims.of_claim(claim, findings.verdicts)
    heads = {findings.statement_of[part.id].axis for part in claim.headlines}
    return claims.NOT_RUN if verdict == claims.OPEN and claims.OPEN not in heads else verdict


def rows(findings: Findings) -> list[Row]:
    return [Row(claim, _verdict(claim, findings), findings) for claim in findings.ledger.values()]


def content(findings: Findings) -> dict:
    letters = list(dict.fromkeys(claim.paper for claim in findings.ledger.values()))
    return {
        "axis": AXIS,
        "lines": {letter: cells(findings.statements, letter) for letter in letters if letter != BEYOND},
        "rows": {letter: [row for row in rows(findings) if row.claim.paper == letter] for letter in letters},
        "differs": findings.differing,
        "kinds": KINDS,
        "kind": kind,
        "anchors": anchors,
    }
