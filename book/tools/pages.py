"""Render the pages that are generated from a run: templates in ``book/templates``, filled with what was found."""

from __future__ import annotations

import html
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import jinja2

from book.tools import api
from book.tools.chapters import ROOT
from book.tools.records import ABSENT, Run, recorded
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Claim, Part

TEMPLATES = ROOT / "book" / "templates"
PAGES = ("summary.md", "scoreboard.md", "errata.md", "statistics.md", "rooms.md")
PAPERS = {
    "Z": "Zhan, Li & Wu: permutations in two-layer networks",
    "P": "Brea, Şimşek, Illing & Gerstner: permutation saddles",
    "G": "Zhao, Dehmamy, Walters & Yu: parameter-space symmetry",
    "I": "Bürgin, Herbst, Lin & Jegelka: neuron identifiability",
    "X": "Beyond the papers",
}


@dataclass(frozen=True)
class Paper:
    """A paper and what the ledger says of it."""

    letter: str
    title: str
    claims: list[Claim]

    @property
    def authors(self) -> str:
        """The title as far as the colon."""
        return self.title.partition(":")[0]


def cell(text: str) -> str:
    """A text as it may stand in a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


def slug(verdict: str) -> str:
    """A verdict as the style sheet names it."""
    return verdict.replace(" ", "-")


def badge(verdict: str) -> str:
    """A verdict on its colour; what is not yet in the book has none."""
    return verdict if verdict == ABSENT else f'<span class="lmc-badge lmc-{slug(verdict)}">{verdict}</span>'


def link(chapter: str) -> str:
    """A link to a chapter's page, with its title."""
    return f"[](/book/executed/{chapter}.ipynb)"


def measured(record: dict, part: Part) -> str:
    """A measured value with its error and its samples."""
    if not record["n"]:
        return "not run"
    error = f" ± {record['stderr']:.1g}" if record["stderr"] else ""
    return f"{claims.rounded(record['value'], part.digits, part.floor)}{error} (n = {record['n']})"


def environment() -> jinja2.Environment:
    """Templates with the book's filters; a name that a template has wrong is an error."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"cell": cell, "slug": slug, "badge": badge, "link": link, "attribute": html.escape}
    found.globals |= {"measured": measured}
    return found


def content(run: Run) -> dict:
    """All that the templates may use."""
    ledger = claims.ledger()
    by_paper = {letter: [c for c in ledger.values() if c.paper == letter] for letter in PAPERS}
    wrong = (claims.CORRECTED, claims.FAILS)
    return {
        "papers": [Paper(letter, title, by_paper[letter]) for letter, title in PAPERS.items()],
        "verdicts": run.verdicts,
        "found": run.records,
        "recorded": recorded(),
        "open": claims.OPEN,
        "counts": {v: n for v in claims.VERDICTS if (n := Counter(r["verdict"] for r in run.records.values())[v])},
        "done": sum(verdict != ABSENT for verdict in run.verdicts.values()),
        "wrong": {id for id, record in run.records.items() if record["verdict"] in wrong},
        "rooms": api.rooms(),
        "runs": run.statistics,
        "versions": sorted({v for r in run.statistics for v in ({"Python": r["python"]} | r["versions"]).items()}),
        "seconds": sum(r["seconds"] for r in run.statistics),
    }


def api_pages() -> dict[str, str]:
    """The API's pages, one a room: file name → text."""
    template = environment().get_template("room.md")
    return {f"{room.name}.md": template.render(room=room) for room in api.rooms()}


def write(run: Run, book: Path) -> None:
    """Write what is generated to a staged book: parts of pages, the API's pages, and ``claims.json``."""
    known, templates = content(run), environment()
    texts = {book / "generated" / name: templates.get_template(name).render(known) for name in PAGES}
    texts |= {book / "api" / name: text for name, text in api_pages().items()}
    listing = [{"id": id.partition(".")[0]} | record for id, record in run.records.items()]
    published = {"verdicts": run.verdicts, "parts": listing, "recorded": list(known["recorded"].values())}
    texts[book / "extra" / "claims.json"] = json.dumps(published, indent=1, ensure_ascii=False) + "\n"
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
