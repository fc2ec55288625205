"""Collect what the executed chapters found: scoreboard, errata, execution statistics, ``claims.json``."""

from __future__ import annotations

import base64
import html
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import nbformat

from book.tools import chapters
from book.tools.chapters import ROOT, BuildError
from lmc_helpers import claims

RECORDED = ROOT / "book" / "recorded" / "paper.json"
PAPERS = {
    "Z": "Zhan, Li & Wu: permutations in two-layer networks",
    "P": "Brea, Şimşek, Illing & Gerstner: permutation saddles",
    "G": "Zhao, Dehmamy, Walters & Yu: parameter-space symmetry",
    "I": "Bürgin, Herbst, Lin & Jegelka: neuron identifiability",
    "X": "Beyond the papers",
}
ABSENT = "not yet in the book"
README_FIGURE = ("12_overlap_theorem", "fig_limit")


def records(path: Path) -> list[dict]:
    """The claims that an executed notebook checked, each with the provenance of its run."""
    notebook = nbformat.read(path, as_version=4)
    run = notebook.metadata.get("lmc", {})
    kept = ("chapter", "profile", "parameters", "seconds", "device", "commit", "date")
    return [
        dict(output.metadata[claims.MIME]) | {name: run[name] for name in kept if name in run}
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if claims.MIME in output.get("metadata", {})
    ]


@dataclass(frozen=True)
class Run:
    """One profile's executed chapters and the ledger that they were checked against."""

    executed: list[Path]

    def records(self) -> dict[str, dict]:
        """Part → record.

        Raises
        ------
        BuildError
            if a part is checked twice, a chapter lacks a check that its source has, or a part that is not expected
            to be open is checked nowhere.
        """
        found: dict[str, dict] = {}
        for path in self.executed:
            here = records(path)
            missing = set(chapters.checked_parts(path.stem)) - {record["part"] for record in here}
            if missing:
                raise BuildError(f"{path.stem} did not record {', '.join(sorted(missing))}")
            for record in here:
                if record["part"] in found:
                    raise BuildError(
                        f"{record['part']} is checked in {found[record['part']]['chapter']} and in {path.stem}"
                    )
                found[record["part"]] = record
        for claim in claims.ledger().values():
            for id, part in claim.parts.items():
                if id not in found and part.expected != claims.OPEN:
                    raise BuildError(f"{id} stands in the ledger as {part.expected!r}, but no chapter checks it")
        return found

    def statistics(self) -> list[dict]:
        """The provenance of each chapter's run."""
        return [dict(nbformat.read(path, as_version=4).metadata["lmc"]) for path in self.executed]


def verdicts(found: dict[str, dict]) -> dict[str, str]:
    """Id → the verdict of its worst part; an id without parts is not yet in the book."""
    result = {}
    for id, claim in claims.ledger().items():
        parts = [found[part]["verdict"] if part in found else claims.OPEN for part in claim.parts]
        result[id] = claims.worst(parts) if parts else ABSENT
    return result


def write(run: Run, pages: Path, extra: Path) -> None:
    """Write the generated pages to ``pages`` and ``claims.json`` to ``extra``."""
    found = run.records()
    recorded = {r["part"]: r for r in json.loads(RECORDED.read_text(encoding="utf-8"))} if RECORDED.exists() else {}
    texts = {
        "summary.md": _summary(found),
        "scoreboard.md": _scoreboard(found, recorded),
        "errata.md": _errata(found),
        "statistics.md": _statistics(run.statistics()),
    }
    pages.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (pages / name).write_text(text, encoding="utf-8")
    extra.mkdir(parents=True, exist_ok=True)
    by_id = verdicts(found)
    listing = [{"id": r["part"].partition(".")[0]} | r for r in found.values()]
    content = {"verdicts": by_id, "parts": listing, "recorded": list(recorded.values())}
    (extra / "claims.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def record(executed: list[Path]) -> Path:
    """Store the records of a ``paper`` run beside the book, with their provenance, and the README's figure.

    Chapters of which no executed notebook is there keep what was recorded of them before.
    """
    there = [path for path in executed if path.exists()]
    if not there:
        raise BuildError(f"nothing to record: no executed chapter in {executed[0].parent}")
    found = Run(there).records() if there == executed else {r["part"]: r for path in there for r in records(path)}
    dirty = sorted({r["commit"] for r in found.values() if r["commit"].endswith("+") or r["commit"] == "unknown"})
    if dirty:
        raise BuildError(f"results are recorded from a clean commit; these came from {', '.join(dirty)}")
    before = {r["part"]: r for r in json.loads(RECORDED.read_text(encoding="utf-8"))} if RECORDED.exists() else {}
    absent = {path.stem for path in executed} - {path.stem for path in there}
    kept = {part: r for part, r in before.items() if r["chapter"] in absent}
    order = [id for claim in claims.ledger().values() for id in claim.parts]
    merged = [(kept | found)[id] for id in order if id in kept | found]
    RECORDED.parent.mkdir(exist_ok=True)
    RECORDED.write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    chapter, name = README_FIGURE
    if chapter in {path.stem for path in there}:
        (ROOT / "book" / "_static" / "readme.png").write_bytes(_picture(there, chapter, name))
    return RECORDED


def _picture(executed: list[Path], chapter: str, name: str) -> bytes:
    """A glued figure of an executed chapter, as PNG."""
    (path,) = (path for path in executed if path.stem == chapter)
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", ()):
            if output.get("metadata", {}).get("scrapbook", {}).get("name") == name:
                (image,) = (data for mime, data in output.data.items() if mime.endswith("image/png"))
                return base64.b64decode(image)
    raise BuildError(f"{chapter} has no figure {name!r}")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


def _badge(verdict: str) -> str:
    return f'<span class="lmc-badge lmc-{_slug(verdict)}">{verdict}</span>'


def _slug(verdict: str) -> str:
    return verdict.replace(" ", "-")


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def _link(chapter: str) -> str:
    return f"[](/book/executed/{chapter}.ipynb)"


def _measured(record: dict, digits: int) -> str:
    if not record["n"]:
        return "not run"
    error = f" ± {record['stderr']:.1g}" if record["stderr"] else ""
    return f"{claims.rounded(record['value'], digits, claims.part(record['part']).floor)}{error} (n = {record['n']})"


def _grid(by_id: dict[str, str]) -> str:
    """Every claim as a coloured field, one row a paper."""
    rows = []
    for paper, title in PAPERS.items():
        fields = "".join(
            f'<span class="lmc-{_slug(by_id[id])}" title="{html.escape(f"{id}: {by_id[id]}")}">{id}</span>'
            for id, claim in claims.ledger().items()
            if claim.paper == paper
        )
        rows.append(f'<div class="lmc-row"><b>{title.partition(":")[0]}</b>{fields}</div>')
    return '<div class="lmc-grid">' + "".join(rows) + "</div>\n"


def _summary(found: dict[str, dict]) -> str:
    by_id = verdicts(found)
    done = sum(verdict != ABSENT for verdict in by_id.values())
    parts = Counter(r["verdict"] for r in found.values())
    words = ", ".join(f"{parts[v]} {_badge(v)}" for v in claims.VERDICTS if parts[v])
    counts = f"{done} of {len(by_id)} claims are in the book so far, with {len(found)} parts checked: {words}."
    return f"{counts} Pale fields are not yet in the book.\n\n{_grid(by_id)}"


def _part(id: str, r: dict | None, p: dict | None) -> list[str]:
    """One row of the table of parts."""
    part = claims.part(id)
    verdict = _badge(r["verdict"] if r else claims.OPEN)
    what = [_cell(part.quantity), f"**{_measured(r, part.digits)}**" if r else "not run"]
    if p:
        what.append(
            f"at paper scale: {_measured(p, part.digits)}, {p['verdict']} ({p['device']}, {p['date']}, `{p['commit']}`)"
        )
    criteria = [f"printed: {_cell(part.printed.words)}"]
    if part.corrected:
        criteria.append(f"corrected: {_cell(part.corrected.words)}")
    if r:
        criteria.append(f"rival: {_cell(r['rival'])}")
    if part.pilot:
        criteria.append("written after a pilot run with other seeds")
    source = _link(r["chapter"]) if r else _cell(part.reason)
    note = [_cell(r["note"])] if r and r["note"] else []
    return ["<br>".join([f"`{id}`", verdict, *note]), "<br>".join(what), "<br>".join(criteria), source]


def _scoreboard(found: dict[str, dict], recorded: dict[str, dict]) -> str:
    by_id = verdicts(found)
    text = [_grid(by_id)]
    for paper, title in PAPERS.items():
        ids = [claim for claim in claims.ledger().values() if claim.paper == paper]
        verdict = {id: v if v == ABSENT else _badge(v) for id, v in by_id.items()}
        rows = [[claim.id, _cell(claim.where), _cell(claim.says), verdict[claim.id]] for claim in ids]
        text += [f"## {title}\n", _table(["Id", "Where", "Claim", "Verdict"], rows)]
        parts = [_part(id, found.get(id), recorded.get(id)) for claim in ids for id in claim.parts]
        if parts:
            header = ["Part", "Measured", "Criteria", "Chapter, or why open"]
            text += [f"### {paper}, part by part\n", _table(header, parts)]
    return "\n".join(text)


def _errata(found: dict[str, dict]) -> str:
    wrong = [r for r in found.values() if r["verdict"] in (claims.CORRECTED, claims.FAILS)]
    order = [id for claim in claims.ledger().values() for id in claim.parts]
    sections = [_erratum(r) for r in sorted(wrong, key=lambda r: order.index(r["part"]))]
    text = "\n".join(sections) or "No printed statement was contradicted in this run.\n"
    return f"{text}\n{_misprints()}"


def _misprints() -> str:
    rows = [
        [PAPERS[claim.paper].partition(":")[0], *(_cell(slip[name]) for name in ("where", "printed", "meant"))]
        for claim in claims.ledger().values()
        for slip in claim.misprints
    ]
    if not rows:
        return ""
    intro = "Slips that change no result; the chapters use what is meant.\n\n"
    return "## Misprints\n\n" + intro + _table(["Paper", "Where", "Printed", "Meant"], rows)


def _erratum(r: dict) -> str:
    part = claims.part(r["part"])
    paper = PAPERS[claims.ledger()[part.id.partition(".")[0]].paper].partition(":")[0]
    criteria = f"printed {_cell(part.printed.words)}"
    entries = {"Printed": _cell(part.statement)}
    if part.corrected:
        criteria += f"; corrected {_cell(part.corrected.words)}"
    if part.correction:
        entries["Corrected"] = f"{_cell(part.correction)} Proof: {{prf:ref}}`{part.proof}`, in {_link(r['chapter'])}."
    entries["Why"] = _cell(part.reason)
    entries["Measured"] = f"{_cell(part.quantity)}: {_measured(r, part.digits)}; {criteria}. {_badge(r['verdict'])}"
    return f"## {part.id}: {part.where} ({paper})\n\n" + "".join(
        f"{term}\n: {text}\n\n" for term, text in entries.items()
    )


def _statistics(runs: list[dict]) -> str:
    rows = [
        [
            _link(run["chapter"]),
            run["profile"],
            f"{run['seconds']:.1f}",
            str(run["peak_memory_mib"]),
            run["device"],
            f"`{run['commit']}`",
            run["date"],
        ]
        for run in runs
    ]
    header = ["Chapter", "Profile", "Seconds", "Peak memory, MiB", "Device", "Commit", "Date"]
    versions = sorted({(name, v) for run in runs for name, v in ({"Python": run["python"]} | run["versions"]).items()})
    total = sum(run["seconds"] for run in runs)
    return (
        _table(header, rows)
        + f"\nAll chapters together: {total:.1f} s.\n\n"
        + _table(["Package", "Version"], [[name, v] for name, v in versions])
    )
