"""Store the smoke-profile notebooks as references for nbval; by hand, never in CI.

make reference
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools import stopping

    stopping.watch()

import sys

import nbformat

from book.tools import chapters, stopping
from book.tools.chapters import ROOT

REFERENCES = ROOT / "tests" / "reference"
CHECKED = "nbval-check-output"


def reference(chapter: str) -> nbformat.NotebookNode:
    """An executed chapter, reduced to its code and to the outputs that nbval compares."""
    notebook = nbformat.read(ROOT / "build" / "executed" / "smoke" / f"{chapter}.ipynb", as_version=4)
    notebook.metadata = {name: notebook.metadata[name] for name in ("kernelspec", "language_info")}
    notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(notebook.cells):
        tags = cell.metadata.get("tags", [])
        cell.id, cell.metadata, cell.execution_count = f"cell-{number}", {"tags": tags}, number + 1
        cell.outputs = [_bare(output) for output in cell.outputs] if CHECKED in tags else []
    return notebook


def _bare(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """An output without its metadata: unrounded values stay out of the references."""
    if "metadata" in output:
        output.metadata = {}
    return output


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
