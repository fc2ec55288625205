"""A chapter's source as a notebook whose cells carry what follows from their titles and their code.

``# %% Plot the idea`` gives a code cell a title. One with a title folds under it on the page, one without is shown; one
that checks claims folds under their ids, and nbval compares its output. A hidden cell before the last one gives the
text its expressions.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from book.tools.read import inline

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDED, CHECKED = "hide-input", "nbval-check-output"
CHECKS = re.compile(r'\bclaims\.check\(\s*"([^"]+)"')


def label(ids: list[str]) -> str:
    """The title of a cell that checks some claims.

    >>> label(["Z3.limit"]), label(["Z3.limit", "Z3.minimum", "Z4.low"])
    ('Check Z3.limit', 'Check Z3.limit, Z3.minimum and Z4.low')
    """
    return "Check " + " and ".join(filter(None, [", ".join(ids[:-1]), ids[-1]]))


def read(path: Path) -> NotebookNode:
    """A chapter's source as a notebook, its code cells with tags and labels."""
    import jupytext
    from nbformat.v4 import new_code_cell

    notebook = jupytext.read(path)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        ids = CHECKS.findall(cell.source)
        title = cell.metadata.pop("title", "") or (label(ids) if ids else "")
        tags = [*cell.metadata.get("tags", []), *([FOLDED] if title else []), *([CHECKED] if ids else [])]
        cell.metadata |= ({"tags": tags} if tags else {}) | ({"mystnb": {"code_prompt_show": title}} if title else {})
    if shown := inline.expressions(path.read_text(encoding="utf-8"), path.name):
        last = max(n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code")
        notebook.cells.insert(last, new_code_cell(inline.cell(shown), metadata={"tags": ["remove-cell"]}))
    return notebook
