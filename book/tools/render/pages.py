"""Render the pages that are generated from a run: templates in ``book/templates``, filled with its results."""

import html
import json
import re
from pathlib import Path

import jinja2

from book.tools.read import halves, inputs, papers
from book.tools.read.chapters import ROOT, plural
from book.tools.record import published
from book.tools.record import spreads as repeats
from book.tools.record.records import ABSENT, Run
from book.tools.render import (
    anchors,
    api,
    board,
    contents,
    findings_pages,
    front,
    gallery,
    glossary,
    licences,
    notation,
    staging,
)
from book.tools.render.findings import OWN, Findings
from lmc_helpers import claims
from lmc_helpers.claims.render import OTHER_READING, words

TEMPLATES = ROOT / "book" / "templates"
NAMES = (*front.NAMES, "scoreboard", "errata", "reports", "statistics", "packages", "verdicts", "fields", "notation")
MARKUP = re.compile(r"[|*_<\[]")  # what Markdown would take for more than a letter
STATED = {"paper": "the paper", "reading": "the paper, as we read it", "ours": "this book"}


def cell(text: str) -> str:
    r"""A text with formulas, fit for Markdown and cells of its tables: no HTML, links or emphasis.

    >>> print(cell("a_b | $|x|$ <b> [0, 1]"))
    a\_b \| $\vert x\vert $ \<b> \[0, 1]
    """
    pieces = text.replace("\n", " ").split("$")  # every other one is a formula
    pieces[::2] = [MARKUP.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    pieces[1::2] = [piece.replace("\\|", "\\Vert ").replace("|", "\\vert ") for piece in pieces[1::2]]
    return "$".join(pieces)


def badge(verdict: str) -> str:
    """A verdict with its symbol on its colour; statements not yet in the book have none."""
    if verdict == ABSENT:
        return verdict
    symbol = f'<span class="lmc-symbol" aria-hidden="true">{claims.symbol(verdict)}</span>'
    return f'<span class="lmc-badge lmc-{claims.slug(verdict)}">{symbol} {words.named(verdict)}</span>'


def link(chapter: str) -> str:
    return f"[](/book/executed/{chapter}.ipynb)"


def confirmed(findings: Findings) -> dict:
    """Outcome of the confirmatory runs: measured parts that are up to date, as expected, open, decided otherwise."""
    found: dict[str, list[str]] = {"current": [], "stood": [], "open": [], "otherwise": []}
    for id, finding in findings.parts.items():
        if finding.paper and not finding.part.derivation:
            verdict, expected = finding.paper["verdict"], finding.part.expected
            found["stood" if verdict == expected else "open" if verdict == claims.OPEN else "otherwise"].append(id)
            found["current"].append(id)
    return found | {"expected_open": sum(findings.verdicts[id] == claims.OPEN for id in found["stood"])}


def environment() -> jinja2.Environment:
    """Templates with the book's filters; a wrong name in a template is an error."""
    found = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    found.filters |= {"cell": cell, "slug": claims.slug, "badge": badge, "link": link, "attribute": html.escape}
    found.filters |= findings_pages.filters(cell) | {"bare": front.bare, "duration": staging.duration}
    found.globals |= {"stated": STATED, "page_of": halves.of_parts, "short": papers.short, "heading": papers.heading}
    found.globals |= {"scale": gallery.scale, "totals": board.totals, "plural": plural}
    found.globals |= {"in_short": findings_pages.in_short}
    return found


def provenance(runs: list[dict]) -> dict:
    """The provenance that all runs share, stated once, and the fields that differ, for columns of a table.

    >>> runs = [{"profile": "smoke", "device": "cpu", "commit": "a", "date": day} for day in ("1", "2")]
    >>> provenance(runs)
    {'same': {'profile': 'smoke', 'device': 'cpu', 'commit': 'a'}, 'varying': ['date']}
    """
    values = {name: {run[name] for run in runs} for name in ("profile", "device", "commit", "date")}
    same = {name: next(iter(found)) for name, found in values.items() if len(found) == 1}
    return {"same": same, "varying": [name for name in values if name not in same]}


def content(run: Run, findings: Findings) -> dict:
    """All variables of the templates, except those of the first page alone."""
    known = {
        "confirmed": confirmed(findings),
        "parts": sum(not finding.part.derivation for finding in findings.parts.values()),
        "own": [s for s in findings.statements if s.kind == OWN],
        "counting": findings.counting,
        "surprises": findings.surprises,
        "examples": staging.examples(findings),
        "packages": api.packages(),
        "fields": published.fields(),
        "letters": notation.letters(),
        "runs": run.statistics,
        "versions": sorted({v for r in run.statistics for v in ({"Python": r["python"]} | r["versions"]).items()}),
        "seconds": sum(r["seconds"] for r in run.statistics),
    }
    known |= provenance(run.statistics)
    profile = run.statistics[0]["profile"] if run.statistics else "laptop"
    return dict(**known, **findings_pages.content(findings, profile), **repeats.content(run.statistics))


def api_pages() -> dict[str, str]:
    """The API's pages, one per package: file name → text."""
    template = environment().get_template("package.md")
    return {f"{package.name}.md": template.render(package=package) for package in api.packages()}


def on_board(findings: Findings) -> dict[str, str]:
    """Id or part → its verdict on the scoreboard, and in its box."""
    parts = {id: finding.shown for id, finding in findings.parts.items()}
    return parts | {row.claim.id: row.verdict for row in board.rows(findings)}


def addresses(run: Run, findings: Findings) -> dict[str, dict[str, str]]:
    """Id or part → its verdict as in its box or row, and the page and anchor of that box, or of that row."""
    found, verdicts = {}, on_board(findings)
    for id in run.verdicts | run.found:
        verdict, record = verdicts[id], run.records.get(id)
        named, counts = words.named(verdict), findings.counts(id) if id in findings.parts else ""
        found[id] = {
            "verdict": named + (f" in this reading; what counts is another, {counts}" if counts else ""),
            "slug": claims.slug(OTHER_READING if counts else verdict),
            "own": claims.slug(verdict),
            "symbol": claims.symbol(verdict),
            "page": f"{contents.EXECUTED}/{halves.of_parts()[id]}" if record else "book/scoreboard",
            "anchor": anchors.box(id) if record else anchors.row(id),
        }
    return found


def write(run: Run, findings: Findings, book: Path) -> None:
    """Write the generated content to a staged book: parts of pages, the API's pages, and ``claims.json``."""
    first = front.content(run, findings.there, book / "extra")
    known, templates = dict(**content(run, findings), **first), environment()  # no name twice
    texts = {book / f"generated/{name}.md": templates.get_template(f"{name}.md").render(known) for name in NAMES}
    texts |= {book / "api" / name: text for name, text in api_pages().items()}
    of_papers = findings_pages.pages(known, lambda name, here: templates.get_template(name).render(here))
    texts |= {book / name: text for name, text in of_papers.items()}
    told = published.published(run, on_board(findings))
    texts[book / "extra" / "claims.json"] = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    texts[book / "extra" / "claims.schema.json"] = published.schema()
    texts[book / "extra" / licences.FILE] = licences.text()
    texts[book / "glossary.md"] = glossary.with_uses(inputs.text(glossary.PAGE), glossary.uses())
    texts[book / "generated" / "verdicts.json"] = json.dumps(addresses(run, findings), indent=1) + "\n"
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
