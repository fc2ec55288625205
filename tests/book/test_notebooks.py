"""Readers see the mathematics; what is hidden is short and says what it is."""

import ast

import jupytext
import pytest

from book.tools.base import chapters
from book.tools.reading import sources

MOST = 40  # lines of code in a cell that is not shown; longer ones are helpers that belong in lmc_helpers


def folded(chapter: str) -> list:
    """The code cells of a chapter whose code or output is not shown at once."""
    cells = jupytext.read(chapters.NOTEBOOKS / f"{chapter}.py").cells
    hidden = ("hide-", "remove-")
    return [c for c in cells if c.cell_type == "code" and any(t.startswith(hidden) for t in c.metadata.get("tags", []))]


def lines_of_code(source: str) -> int:
    """Lines that are neither blank nor comments."""
    lines = (line.strip() for line in source.splitlines())
    return sum(bool(line) and not line.startswith("#") for line in lines)


def test_lines_of_code_are_counted():
    assert lines_of_code("# a comment\n\nx = 1  # with a comment\n    # another\nif x:\n    y = 2\n") == 3


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_hidden_cells_are_short(chapter):
    long = {c.source.splitlines()[0]: n for c in folded(chapter) if (n := lines_of_code(c.source)) > MOST}
    assert long == {}


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_every_folded_cell_says_what_it_is(chapter):
    inputs = [cell for cell in folded(chapter) if "hide-input" in cell.metadata["tags"]]
    unlabelled = [c.source for c in inputs if not c.metadata.get("mystnb", {}).get("code_prompt_show")]
    assert unlabelled == []


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_every_check_names_its_part(chapter):
    """The build reads from the source which parts a chapter checks."""
    nodes = ast.walk(ast.parse((chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")))
    calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "claims.check"]
    assert calls and len(calls) == len(sources.Sources().chapter(chapter).checks)
