"""The stored reference notebooks hold the code of the sources at the smoke profile; nbval compares their outputs."""

import shutil
import subprocess
import sys

import jupytext
import nbformat
import pytest
from nbformat import v4

from book.tools.base import chapters
from book.tools.base.chapters import ROOT
from book.tools.reading import profiles, sources
from book.tools.reference import CHECKED, REFERENCES, disagreements
from lmc_helpers import claims

SAMPLED = "Z10.zero_rows"
BOX = """Z10.zero_rows  share
measured       {value} in [{low}, {high}] (n = {n})
rival          {rival:g}: a share that grows slowly
verdict        {verdict}"""


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
            boxes = [output.data["text/plain"] for output in cell.outputs if claims.MIME in output.metadata]
            assert len(boxes) == checks
            assert all(box.splitlines()[-1].split()[0] == "verdict" for box in boxes)


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_chapters_follow_the_plan(chapter):
    cells = [c for c in jupytext.read(chapters.NOTEBOOKS / f"{chapter}.py").cells if c.cell_type == "code"]
    assert "parameters" in cells[0].metadata["tags"]
    assert "chapter.begin(" in cells[1].source and "chapter.end()" in cells[-1].source
    assert all(claims.part(part) for part in sources.Sources().chapter(chapter).checks)
    assert "Try it" in (chapters.NOTEBOOKS / f"{chapter}.py").read_text()


def box(**changed):
    record = {"part": SAMPLED, "verdict": "holds", "value": 0.9, "stderr": None, "low": 0.8, "high": 1.0, "n": 32}
    record |= {"place_sharper": None} | {name: changed[name] for name in changed if name != "rival"}
    text = BOX.format(**{"rival": 0.1} | record | changed)
    return v4.new_output("display_data", {"text/plain": text}, metadata={claims.MIME: record})


@pytest.mark.parametrize("changed", [{}, {"value": 0.91}, {"value": 0.89, "low": 0.79, "high": 0.99}, {"rival": 0.11}])
def test_boxes_that_agree(changed):
    assert claims.part(SAMPLED).sampled
    assert disagreements([box()], [box(**changed)]) == []


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"value": 0.95}, "0.95 and in the reference 0.9 differ by 1.6 (standard errors; 1 allowed)"),
        ({"n": 31}, "n = 31, in the reference 32"),
        ({"verdict": "fails"}, "fails, in the reference holds"),
        ({"verdict": "open"}, "'verdict        open', in the reference 'verdict        holds'"),
        ({"value": None}, "None and in the reference 0.9 differ by inf"),
        ({"part": "Z10.two"}, "checked Z10.two; in the reference Z10.zero_rows"),
    ],
)
def test_boxes_that_do_not(changed, says):
    assert any(says in complaint for complaint in disagreements([box()], [box(**changed)]))
    assert disagreements([box()], []) == ["checked nothing; in the reference Z10.zero_rows"]


@pytest.mark.parametrize(("value", "printed", "passes"), [(0.91, 1, True), (0.95, 1, False), (0.9, 2, False)])
def test_nbval_compares_by_it(tmp_path, value, printed, passes):
    """A value within the tolerance, one outside of it, and another output that differs."""
    shown = box(value=value)
    display = f"display({dict(shown.data)}, metadata={dict(shown.metadata)}, raw=True)"
    code = f"from IPython.display import display\n{display}\nprint({printed})"
    cell = v4.new_code_cell(code, execution_count=1, metadata={"tags": [CHECKED]})
    cell.outputs = [box(), v4.new_output("stream", text="1\n")]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(v4.new_notebook(cells=[cell], metadata=kernel), tmp_path / "a.ipynb")
    shutil.copy(REFERENCES / "conftest.py", tmp_path)
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", "-q", tmp_path / "a.ipynb"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode == 0) is passes, done.stdout + done.stderr
    assert passes or "Cell outputs differ" in done.stdout
