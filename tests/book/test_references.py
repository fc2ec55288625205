"""The stored reference notebooks hold the code of the sources at the smoke profile; nbval compares their outputs."""

import jupytext
import nbformat
import pytest

from book.tools import chapters, profiles, sources
from book.tools.reference import CHECKED, REFERENCES
from lmc_helpers import claims


def code(cells) -> list[str]:
    return [cell.source for cell in cells if cell.cell_type == "code"]


def test_every_chapter_has_a_reference():
    assert sorted(path.stem for path in REFERENCES.glob("*.ipynb")) == chapters.chapters()


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_reference_code_is_the_source(chapter):
    reference = nbformat.read(REFERENCES / f"{chapter}.ipynb", as_version=4)
    injected = [c for c in reference.cells if "injected-parameters" in c.metadata.get("tags", [])]
    assert len(injected) == 1
    values: dict = {}
    exec(injected[0].source, values)
    del values["__builtins__"]
    assert values == profiles.parameters(chapter, "smoke")
    source = jupytext.read(chapters.NOTEBOOKS / f"{chapter}.py")
    kept = [c for c in reference.cells if c is not injected[0]]
    assert code(kept) == code(source.cells)


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_every_check_is_compared(chapter):
    reference = nbformat.read(REFERENCES / f"{chapter}.ipynb", as_version=4)
    for cell in reference.cells:
        checks = cell.source.count("claims.check(")
        if checks:
            assert CHECKED in cell.metadata["tags"], cell.source
            shown = [output.data for output in cell.outputs]
            boxes = [data["text/plain"] for data in shown if "lmc-claim" in data.get("text/html", "")]
            assert len(boxes) == checks
            assert all(box.splitlines()[-1].split()[0] == "verdict" for box in boxes)


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_chapters_follow_the_plan(chapter):
    cells = [c for c in jupytext.read(chapters.NOTEBOOKS / f"{chapter}.py").cells if c.cell_type == "code"]
    assert "parameters" in cells[0].metadata["tags"]
    assert "chapter.begin(" in cells[1].source and "chapter.end()" in cells[-1].source
    assert all(claims.part(part) for part in sources.Sources().chapter(chapter).checks)
    assert "Try it" in (chapters.NOTEBOOKS / f"{chapter}.py").read_text()
