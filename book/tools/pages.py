"""Render the pages that are generated from a run: templates in ``book/templates``, filled with what was found."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import jinja2

from book.tools import api, confirm, sources
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


STATED = {"paper": "the paper", "reading": "the paper, as we read it", "ours": "this book"}
LABELS = {"paper": "printed", "reading": "read as", "ours": "criterion"}
WRONG = (claims.CORRECTED, claims.FAILS, claims.BROKEN)


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
    """A text with formulas as it may stand in a cell of a Markdown table."""
    pieces = text.replace("\n", " ").split("$")  # formulas are those in odd places
    for at, piece in enumerate(pieces):
        if at % 2:
            pieces[at] = piece.replace("\\|", "\\Vert ").replace("|", "\\vert ")
        else:
            pieces[at] = piece.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")
    return "$".join(pieces)


def badge(verdict: str) -> str:
    """A verdict on its colour; what is not yet in the book has none."""
    return verdict if verdict == ABSENT else f'<span class="lmc-badge lmc-{claims.slug(verdict)}">{verdict}</span>'


def link(chapter: str) -> str:
    """A link to a chapter's page, with its title."""
    return f"[](/book/executed/{chapter}.ipynb)"


def confirmation(record: dict, part: Part, current: bool) -> str:
    """What a confirmatory run found, with its commits; or that its criteria or code have changed since."""
    value, ran = claims.measured(part, record), f"{record['device']}, {record['date']}"
    if not current:
        return f"{value}; out of date: criteria or code have changed since commit {record['commit'][:10]} ({ran})"
    return (
        f"{value}: {record['verdict']}; criteria fixed at commit {record['seeds'][:10]}, confirmed at commit "
        f"{record['commit'][:10]} with a seed from the former ({ran})"
    )


def confirmations() -> dict[str, str]:
    """Part → what its record at paper scale says."""
    known, parts = sources.Sources(), _parts()
    return {
        id: confirmation(record, parts[id], confirm.is_current(record, known))
        for id, record in recorded().items()
        if id in parts
    }


def statements(ledger: Iterable[Claim], found: dict[str, str]) -> list[tuple[list[str], str, str]]:
    """Every statement: its parts, its kind (``results`` or ``details`` of a paper, or ``ours``), and its verdict.

    Readings of one statement are one statement, with the verdict of the best of them.
    """
    judged = []
    for claim in ledger:
        groups: dict[str, list[Part]] = {}
        for id, part in claim.parts.items():
            groups.setdefault(part.one_of or id, []).append(part)
        for group in groups.values():
            headline = any(part.weight == claims.HEADLINE for part in group)
            kind = "ours" if group[0].whose == claims.OURS else "results" if headline else "details"
            ids = [part.id for part in group]
            judged.append((ids, kind, claims.best_reading([found[id] for id in ids])))
    return judged


def _parts() -> dict[str, Part]:
    return {id: part for claim in claims.ledger().values() for id, part in claim.parts.items()}


def how_many_stood() -> dict[str, int]:
    """What the confirmatory runs came to: parts, up-to-date records, verdicts as expected, open, and otherwise."""
    known, parts = sources.Sources(), _parts()
    current = [r for id, r in recorded().items() if id in parts and confirm.is_current(r, known)]
    stood = [r for r in current if r["verdict"] == parts[r["part"]].expected]
    left = [r for r in current if r["verdict"] == claims.OPEN != parts[r["part"]].expected]
    counts = {"parts": len(parts), "current": len(current), "stood": len(stood), "open": len(left)}
    return counts | {"otherwise": len(current) - len(stood) - len(left)}


def environment() -> jinja2.Environment:
    """Templates with the book's filters; a name that a template has wrong is an error."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"cell": cell, "slug": claims.slug, "badge": badge, "link": link, "attribute": html.escape}
    found.globals |= {"measured": claims.measured, "stated": STATED, "labels": LABELS}
    return found


def content(run: Run) -> dict:
    """All that the templates may use."""
    ledger = claims.ledger()
    by_paper = {letter: [c for c in ledger.values() if c.paper == letter] for letter in PAPERS}
    judged = statements(ledger.values(), run.found)
    counts = {
        kind: Counter(verdict for _, what, verdict in judged if what == kind) for kind in ("results", "details", "ours")
    }
    return {
        "papers": [Paper(letter, title, by_paper[letter]) for letter, title in PAPERS.items()],
        "verdicts": run.verdicts,
        "found": run.records,
        "confirmed": confirmations(),
        "stood": how_many_stood(),
        "differing": {id: claims.differing(claim, run.found) for id, claim in ledger.items()},
        "open": claims.OPEN,
        "counts": counts,
        "order": [verdict for verdict in claims.VERDICTS if any(found[verdict] for found in counts.values())],
        "surprises": run.surprises,
        "done": sum(verdict != ABSENT for verdict in run.verdicts.values()),
        "wrong": [id for ids, kind, verdict in judged if kind != "ours" and verdict in WRONG for id in ids],
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
    published = {"verdicts": run.verdicts, "parts": listing, "recorded": list(recorded().values())}
    texts[book / "extra" / "claims.json"] = json.dumps(published, indent=1, ensure_ascii=False) + "\n"
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
