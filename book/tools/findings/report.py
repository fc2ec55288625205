"""What the report on one paper says, for its template."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from book.tools.base.chapters import executed
from book.tools.findings import errata
from book.tools.findings.board import cells
from book.tools.findings.findings import RESULT, Finding, Findings, Statement
from book.tools.outcomes import glued
from book.tools.outcomes.records import notebook
from lmc_helpers import claims

NAME = re.compile(r"\{(\w+)\}")


def priced(text: str, known: dict[str, str]) -> str:
    """A price in words, with the chapter's numbers in place of their names; empty if one of them is not there.

    Examples
    --------
    >>> priced("{hours} hours of one core", {"hours": "12"})
    '12 hours of one core'
    >>> priced("{hours} hours of one core", {})
    ''
    """
    if not all(name in known for name in NAME.findall(text)):
        return ""
    return NAME.sub(lambda found: known[found[1]], text)


def undecided(findings: Findings, letter: str, profile: str) -> list[tuple[Statement, str]]:
    """The statements of a paper that stayed open, each with its price in words, or with nothing.

    The numbers of a price are those of the chapters that check parts of its id.
    """
    paths = {path.stem: path for path in executed(profile)}
    of_chapter = cache(lambda chapter: glued.values(notebook(paths[chapter])))
    listed = []
    for statement in _of(findings, letter):
        if statement.kind == RESULT and statement.verdict == claims.OPEN:
            part = statement.part
            known: dict[str, str] = {}
            if part.price:
                siblings = findings.ledger[part.id.partition(".")[0]].parts
                for chapter in dict.fromkeys(filter(None, map(findings.where.get, siblings))):
                    known |= of_chapter(chapter)
            listed.append((statement, priced(part.price, known)))
    return listed


def confirmed(findings: Findings, letter: str) -> list[dict]:
    """The confirmatory runs behind a paper's parts: chapter, commit of criteria and seeds, day, and how many parts."""
    here = [f for f in findings.parts.values() if f.part.id[0] == letter and f.part.whose != claims.OURS and f.paper]
    runs = Counter((f.paper["chapter"], f.paper["seeds"], f.paper["date"]) for f in here if f.paper)
    return [{"chapter": c, "seeds": s, "date": d, "parts": n} for (c, s, d), n in sorted(runs.items())]


def _of(findings: Findings, letter: str) -> list[Statement]:
    return [s for s in findings.statements if s.part.id[0] == letter]


def _once(statements: list[Statement]) -> list[Statement]:
    """Of statements in the same words at the same place, as two readings that are checked apart, the first."""
    found: dict[tuple[str, str], Statement] = {}
    for statement in statements:
        found.setdefault((statement.part.where, statement.part.statement), statement)
    return list(found.values())


def content(findings: Findings, letter: str, profile: str) -> dict:
    """All that the template of one report may use."""
    statements = _of(findings, letter)
    results = [s for s in statements if s.kind == RESULT]
    theirs = [s for s in statements if s.part.whose != claims.OURS]
    parts: list[Finding] = [f for f in findings.parts.values() if f.part.id[0] == letter]
    return errata.content(findings, letter) | {
        "line": cells(findings.statements, letter),
        "holding": _once([s for s in results if s.verdict in (claims.HOLDS, claims.SHARPER)]),
        "sharper": [s for s in theirs if s.verdict == claims.SHARPER],
        "undecided": undecided(findings, letter, profile),
        "confirmed": confirmed(findings, letter),
        "unconfirmed": sum(f.part.whose != claims.OURS and f.paper is None for f in parts),
    }
