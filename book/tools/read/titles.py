"""A chapter's source as a notebook whose cells carry what follows from their titles and their code.

``# %% Plot the idea`` gives a code cell a title. One with a title folds under it on the page, one without is shown; one
that checks claims folds under their ids, and nbval compares its output. Cells tagged ``of-a-reader`` are there if a
reader gave a model of their own, those tagged ``of-the-book`` if not. A hidden cell before the last one gives the text
its expressions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from book.tools.read import inline

if TYPE_CHECKING:
    from nbformat import NotebookNode

FOLDED, CHECKED = "hide-input", "nbval-check-output"
OF_A_READER, OF_THE_BOOK = "of-a-reader", "of-the-book"
CHECKS = re.compile(r'\bclaims\.check\(\s*"([^"]+)"')


def label(ids: list[str]) -> str:
    """The title of a cell that checks some claims.

    >>> label(["Z3.limit"]), label(["Z3.limit", "Z3.minimum", "Z4.low"])
    ('Check Z3.limit', 'Check Z3.limit, Z3.minimum and Z4.low')
    """
    return "Check " + " and ".join(filter(None, [", ".join(ids[:-1]), ids[-1]]))


def read(path: Path, parameters: Mapping[str, Any] = MappingProxyType({})) -> NotebookNode:
    """A chapter's source as a notebook for a run with some parameters, its code cells with tags and labels."""
    import jupytext
    from nbformat.v4 import new_code_cell

    notebook = jupytext.read(path)
    other = OF_THE_BOOK if parameters.get("model") else OF_A_READER
    notebook.cells = [cell for cell in notebook.cells if other not in cell.metadata.get("tags", ())]
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
