"""The reports on the papers: what they say, and as PDF.

python -m book.tools.reports

prints ``book/reports/*.html`` of a built book to ``build/reports``, with Chromium through playwright.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools import stopping

    stopping.watch()

import argparse
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

from book.tools import browser, errata, glued, stopping
from book.tools.board import cells
from book.tools.chapters import ROOT, BuildError, executed
from book.tools.findings import RESULT, Finding, Findings, Statement
from book.tools.records import notebook
from lmc_helpers import claims

BUILT = ROOT / "build" / "book" / "_build" / "html"
OUT = ROOT / "build" / "reports"
NAME = re.compile(r"\{(\w+)\}")
FOOTER = (
    '<div style="font-size: 7pt; width: 100%; padding: 0 18mm; display: flex; justify-content: space-between">'
    '<span class="title"></span><span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>'
)
#: Addresses inside the book mean nothing on paper.
UNLINK = "() => document.querySelectorAll('article a:not([href^=\"http\"])').forEach(a => a.removeAttribute('href'))"


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


def to_pdf(html: Path, out: Path, only: str = "?") -> list[Path]:
    """Print the reports of a built book, of all papers or of one; the files.

    Raises
    ------
    BuildError
        if there is no browser, no playwright, or no built report.
    """
    pages = sorted((html.resolve() / "book" / "reports").glob(f"{only}.html"))
    if not pages:
        raise BuildError(f"no reports in {html}; run: make book")
    path = browser.path()
    if path is None:
        raise BuildError("no Chromium to print with; install one, for example with the system's package 'chromium'")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise BuildError("playwright is not installed; make setup installs it") from None
    out.mkdir(parents=True, exist_ok=True)
    written = []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, args=browser.flags())
        for page in pages:
            tab = launched.new_page(color_scheme="light")
            tab.goto(page.as_uri(), wait_until="load")
            tab.evaluate("() => window.MathJax && MathJax.startup ? MathJax.startup.promise.then(() => null) : null")
            tab.evaluate("() => { document.documentElement.dataset.theme = 'light' }")
            tab.evaluate(UNLINK)
            target = out / f"{page.stem}.pdf"
            tab.pdf(
                path=str(target),
                format="A4",
                print_background=True,
                display_header_footer=True,
                header_template="<span></span>",
                footer_template=FOOTER,
                margin={"top": "18mm", "bottom": "18mm", "left": "18mm", "right": "18mm"},
            )
            tab.close()
            written.append(target)
        launched.close()
    return written


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="reports", description="Print the reports of a built book as PDF.")
    parser.add_argument("--html", type=Path, default=BUILT)
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--paper", default="?", help="the letter of one paper")
    given = parser.parse_args(arguments)
    return stopping.status(lambda: print(*to_pdf(given.html, given.out, given.paper), sep="\n"))


if __name__ == "__main__":
    sys.exit(main())
