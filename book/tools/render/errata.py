"""The errata: one entry a statement that differs from its paper, and what every entry must have.

An entry states the place, the printed and the corrected statement, the reason, how to see it, the proof and its
certainty. ``lacking`` checks this from the ledger and the chapters' sources, without running anything.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace

from book.tools.read import chapters
from book.tools.render.findings import WRONG, Finding, Findings, Statement
from lmc_helpers import claims
from lmc_helpers.claims.criteria import SLIP, Claim, Part


@dataclass(frozen=True)
class Entry:
    statement: Statement
    step_of: Finding | None  #: the statement whose printed proof takes this step

    @property
    def part(self) -> Part:
        return self.statement.part

    @property
    def title(self) -> str:
        """The difference in a phrase, or the measured quantity where the ledger expected no difference."""
        return self.part.in_short or self.part.quantity[:1].upper() + self.part.quantity[1:]

    @property
    def chapters(self) -> list[str]:
        """The chapters of its readings, those with a theorem if there are any."""
        readings = self.statement.readings
        return list(dict.fromkeys(f.chapter for f in readings if f.part.proof or not self.proofs))

    @property
    def commands(self) -> list[str]:
        """The lines that reproduce its readings."""
        return list(dict.fromkeys(map(command, self.statement.readings)))

    @property
    def proofs(self) -> list[str]:
        """Labels of the theorems that prove what holds."""
        return list(dict.fromkeys(f.part.proof for f in self.statement.readings if f.part.proof))


def command(finding: Finding) -> str:
    """The line that reproduces a finding; at paper scale where a smaller run does not decide."""
    line = f"make chapter NAME={chapters.short(finding.chapter)}"
    return f"{line} PROFILE=paper" if finding.from_record else line


def entries(findings: Findings, letter: str) -> list[Entry]:
    """The statements that differ from a paper, in the ledger's order."""
    wrong = [s for s in findings.of_paper(letter) if s.is_wrong]
    return [Entry(s, findings.parts[s.part.step_of] if s.part.step_of else None) for s in wrong]


def content(findings: Findings, letter: str) -> dict:
    """The entries of one paper by weight, for its page and its report; slips by whether they change a statement."""
    listed = entries(findings, letter)
    slips = [  # in the print, which nothing measures
        SimpleNamespace(anchor=f"erratum-{claim.id}-slip-{k}", slip=slip)
        for claim in findings.ledger.values()
        if claim.paper == letter
        for k, slip in enumerate(claim.misprints, 1)
    ]
    weights = {"results": claims.HEADLINE, "details": "detail", "small": SLIP}
    found = {name: [e for e in listed if e.part.weight == weight] for name, weight in weights.items()} | {
        "reworded": [slip for slip in slips if slip.slip.changes],
        "misprints": [slip for slip in slips if not slip.slip.changes],
    }
    return found | {"slips": len(found["small"] + found["misprints"])}


def expected(ledger: Iterable[Claim]) -> list[Part]:
    """The papers' parts that the ledger expects to be false, or to be a step that breaks."""
    parts = [part for claim in ledger for part in claim.parts.values()]
    return [part for part in parts if part.whose != claims.OURS and part.expected in WRONG]


def lacking(part: Part, where: dict[str, str]) -> list[str]:
    """Missing fields of a part's erratum: a title, a reason, a chapter, a line that reproduces it, a proof.

    A part that is not sampled needs a theorem that its chapter has or cites. A sampled one may be a measurement of
    trained networks, which proves nothing: it is rejected by two seeds, and its reason states where it comes from.
    ``where`` has the chapter whose source checks each part.
    """
    missing = [name for name in ("in_short", "reason") if not getattr(part, name)]
    chapter = where.get(part.id)
    if chapter is None:
        return [*missing, "chapter"]
    source = (chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")
    if part.proof and not re.search(rf"^# :label: {part.proof}$|{{prf:ref}}`{part.proof}`", source, re.MULTILINE):
        missing.append(f"{part.proof} in {chapter}")
    if not part.proof and not part.sampled:
        missing.append("proof")
    if part.expected != claims.FAILS and not part.correction:
        missing.append("correction")
    return missing
