"""Store the chapters' measurements in cheap runs, to compare with; by hand, never in CI.

make reference                    # the notebooks at smoke, for nbval
make reference PROFILE=laptop     # with MNIST: the numbers of parts that are not run at smoke
python -m book reference --profile laptop --check    # compare those with the run in build

Another processor rounds differently, and a long descent amplifies that. Hence a box's words must be the same, and
measurements may differ by the tolerance in ``book/settings.yml``; within it, the stored outputs are kept.
"""

import json
import os
import re
import sys
from collections.abc import Collection
from itertools import zip_longest

import nbformat

from book.tools.read import chapters
from book.tools.read.chapters import ROOT, BuildError, plural
from book.tools.record import records, standing
from book.tools.record.measured import Difference, Measured
from book.tools.record.standing import LAPTOP, REFERENCES
from lmc_helpers import claims
from lmc_helpers.files import atomic_write

CHECKED = "nbval-check-output"
COMPUTED = ("rival", "verdict")  # lines of a box that contain a run's own numbers


def reduced(chapter: str) -> nbformat.NotebookNode:
    """An executed chapter, reduced to its code and to the outputs that nbval compares."""
    notebook = nbformat.read(ROOT / "build" / "executed" / "smoke" / f"{chapter}.ipynb", as_version=4)
    notebook.metadata = {name: notebook.metadata[name] for name in ("kernelspec", "language_info")}
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    stored = _stored(chapter)
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        cell.id, cell.metadata, cell.execution_count = f"cell-{number}", {"tags": tags}, number + 1
        cell.outputs = [_bare(output) for output in cell.outputs] if CHECKED in tags else []
        before = stored.get(cell.source, [])
        if before and not disagreements(before, cell.outputs):
            kept = iter(boxes(before))
            cell.outputs = [next(kept) if claims.MIME in o.get("metadata", {}) else o for o in cell.outputs]
    return notebook


def _stored(chapter: str) -> dict[str, list[nbformat.NotebookNode]]:
    """The outputs of the reference that is stored now, by the code of their cells."""
    path = REFERENCES / f"{chapter}.ipynb"
    cells = nbformat.read(path, as_version=4).cells if path.exists() else []
    return {cell.source: cell.outputs for cell in cells if cell.outputs}


def _bare(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A box's text and measurement; another output without its metadata."""
    if claims.MIME not in output.get("metadata", {}):
        return nbformat.from_dict(output | {"metadata": {}} if "metadata" in output else output)
    record = {name: output.metadata[claims.MIME][name] for name in ("part", *Measured.model_fields)}
    return nbformat.from_dict(
        output | {"data": {"text/plain": output.data["text/plain"]}, "metadata": {claims.MIME: record}}
    )


def boxes(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    return [output for output in outputs if claims.MIME in output.get("metadata", {})]


def disagreements(before: list[nbformat.NotebookNode], now: list[nbformat.NotebookNode]) -> list[str]:
    """Differences between a cell's boxes and the stored ones, in words; empty if they agree."""
    before, now = boxes(before), boxes(now)
    parts = [[box.metadata[claims.MIME]["part"] for box in found] for found in (before, now)]
    if parts[0] != parts[1]:
        return [f"checked {', '.join(parts[1]) or 'nothing'}; in the reference {', '.join(parts[0]) or 'nothing'}"]
    found = []
    for part, *pair in zip(parts[0], before, now, strict=True):
        stored, words = (_words(box.data["text/plain"]) for box in pair)
        lines = zip_longest(words, stored, fillvalue="")
        found += [f"{part}: {a!r}, in the reference {b!r}" for a, b in lines if a != b]
        reference, other = (Measured.of(box.metadata[claims.MIME]) for box in pair)
        complaints = Difference(claims.part(part), reference, other).complaints("in the reference")
        found += [f"{part}: {line}" for line in complaints]
    return found


def _words(text: str) -> list[str]:
    """A box's lines without the numbers that a run measures: those of the value, of a computed rival and of a note."""
    lines = [line for line in text.splitlines() if not line.startswith("measured")]
    return [re.sub(r"[-−]?\d[\d.]*(e[-+−]?\d+)?", "#", x) if x.startswith(COMPUTED) else x for x in lines]


def write() -> None:
    """Store the references of all chapters at smoke, and delete those of chapters that no longer exist."""
    REFERENCES.mkdir(parents=True, exist_ok=True)
    for stale in set(REFERENCES.glob("*.ipynb")) - {REFERENCES / f"{c}.ipynb" for c in chapters.chapters()}:
        stale.unlink()
    for chapter in chapters.chapters():
        nbformat.write(reduced(chapter), REFERENCES / f"{chapter}.ipynb")
        print(REFERENCES / f"{chapter}.ipynb")


def at_laptop(wanted: Collection[str]) -> dict[str, dict]:
    """Part → its measurement in the run of some chapters at laptop in ``build``, with its chapter and its images."""
    paths = [path for path in chapters.executed("laptop") if path.stem in wanted]
    found = [record for path in paths for record in records.records(path)]
    return {
        record["part"]: {"part": record["part"], "chapter": record["chapter"], "data": record.get("data", "")}
        | Measured.of(record).model_dump()
        for record in found
        if record["value"] is not None
    }


def write_laptop() -> None:
    """Store the numbers at laptop of the parts that are not run at smoke; one that differs by rounding stays."""
    from lmc_helpers.data.images import available

    if (reason := available("mnist")) or os.environ.get("LMC_DATA_UNVERIFIED") == "1":
        raise BuildError(f"the reference at laptop needs MNIST as published: {reason or 'LMC_DATA_UNVERIFIED is set'}")
    at_smoke = {part for path in REFERENCES.glob("*.ipynb") for part in standing.measured(path)}
    before = {entry.part: entry.model_dump() for entry in standing.at_laptop()}
    found = {part: entry for part, entry in at_laptop(chapters.chapters()).items() if part not in at_smoke}
    kept = [before[part] if part in before and not moved(before[part], found[part]) else found[part] for part in found]
    atomic_write(LAPTOP, json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    print(LAPTOP)


def moved(entry: dict, now: dict) -> list[str]:
    """Differences between a number at laptop and the stored one, in words; empty if it agrees."""
    part = claims.part(entry["part"])
    return Difference(part, Measured.of(entry), Measured.of(now)).complaints("in the reference")


def check_laptop(wanted: Collection[str]) -> int:
    """Compare the run of chapters at laptop in ``build`` with the stored numbers, where it used the same images."""
    found, stored = at_laptop(wanted), [entry.model_dump() for entry in standing.at_laptop()]
    same = [e for e in stored if e["part"] in found and found[e["part"]]["data"] == e["data"]]
    wrong = [f"{e['part']} ({e['chapter']}): {line}" for e in same for line in moved(e, found[e["part"]])]
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    print(f"{plural(len(same), 'number')} at laptop compared: {plural(len(wrong), 'difference')}")
    return min(1, len(wrong))


def reference(profile: str, check: bool) -> int:
    """Store the measurements of a cheap run, or compare them with those stored at laptop."""
    if check:
        return check_laptop(chapters.chapters())
    (write if profile == "smoke" else write_laptop)()
    return 0
