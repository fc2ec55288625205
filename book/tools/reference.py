"""Store the smoke-profile notebooks as references for nbval; by hand, never in CI.

make reference

A processor with other instructions rounds otherwise, and a long descent makes much of it. So a box is compared in two
ways: its words must be the same, and what was measured may differ by what ``book/settings.yml`` allows. Where it does
not differ by more, ``make reference`` keeps what is stored.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import re
import sys
from itertools import zip_longest

import nbformat

from book.tools.base import chapters, stopping
from book.tools.base.chapters import ROOT
from book.tools.outcomes.difference import Difference
from book.tools.outcomes.sweep_records import MEASURED, Measured
from lmc_helpers import claims

REFERENCES = ROOT / "tests" / "reference"
CHECKED = "nbval-check-output"
COMPUTED = ("rival", "verdict")  # lines of a box in which a run's own numbers stand


def reference(chapter: str) -> nbformat.NotebookNode:
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
            cell.outputs = before
    return notebook


def _stored(chapter: str) -> dict[str, list[nbformat.NotebookNode]]:
    """The outputs of the reference that is stored now, by the code of their cells."""
    path = REFERENCES / f"{chapter}.ipynb"
    cells = nbformat.read(path, as_version=4).cells if path.exists() else []
    return {cell.source: cell.outputs for cell in cells if cell.outputs}


def _bare(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """A box's text and what it measured; another output without its metadata."""
    if claims.MIME not in output.get("metadata", {}):
        return nbformat.from_dict(output | {"metadata": {}} if "metadata" in output else output)
    record = {name: output.metadata[claims.MIME][name] for name in ("part", *MEASURED)}
    return nbformat.from_dict(
        output | {"data": {"text/plain": output.data["text/plain"]}, "metadata": {claims.MIME: record}}
    )


def boxes(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Those of some outputs that are verdicts."""
    return [output for output in outputs if claims.MIME in output.get("metadata", {})]


def disagreements(before: list[nbformat.NotebookNode], now: list[nbformat.NotebookNode]) -> list[str]:
    """What a cell's boxes say otherwise than the stored ones, in words; empty if nothing.

    Examples
    --------
    >>> disagreements([], [])
    []
    """
    before, now = boxes(before), boxes(now)
    parts = [[box.metadata[claims.MIME]["part"] for box in some] for some in (before, now)]
    if parts[0] != parts[1]:
        return [f"checked {', '.join(parts[1]) or 'nothing'}; in the reference {', '.join(parts[0]) or 'nothing'}"]
    said = []
    for part, *pair in zip(parts[0], before, now, strict=True):
        stored, words = (_words(box.data["text/plain"]) for box in pair)
        said += [f"{part}: {a!r}, in the reference {b!r}" for a, b in _unlike(words, stored)]
        own, there = (Measured(**{name: box.metadata[claims.MIME][name] for name in MEASURED}) for box in pair)
        said += [f"{part}: n = {there.n}, in the reference {own.n}"] * (own.n != there.n)
        complaints = Difference(claims.part(part), own, there).complaints("in the reference")
        said += [f"{part}: {complaint}" for complaint in complaints]
    return said


def _unlike(some: list[str], others: list[str]) -> list[tuple[str, str]]:
    """The lines in which two texts differ, one beside the other."""
    return [(a, b) for a, b in zip_longest(some, others, fillvalue="") if a != b]


def _words(text: str) -> list[str]:
    """A box's lines without the numbers that a run measures: those of the value, of a computed rival and of a note."""
    lines = [line for line in text.splitlines() if not line.startswith("measured")]
    return [re.sub(r"[-−]?\d[\d.]*(e[-+−]?\d+)?", "#", x) if x.startswith(COMPUTED) else x for x in lines]


def write() -> None:
    """Store the references of all chapters; those of chapters that are no more go."""
    REFERENCES.mkdir(exist_ok=True)
    for stale in set(REFERENCES.glob("*.ipynb")) - {REFERENCES / f"{c}.ipynb" for c in chapters.chapters()}:
        stale.unlink()
    for chapter in chapters.chapters():
        nbformat.write(reference(chapter), REFERENCES / f"{chapter}.ipynb")
        print(REFERENCES / f"{chapter}.ipynb")


if __name__ == "__main__":
    sys.exit(stopping.status(write))
