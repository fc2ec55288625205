"""The stored reference notebooks hold the code of the sources at the smoke profile; nbval compares their outputs."""

import importlib.util
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import nbformat
import pytest
from nbformat import v4

from book.tools.read import chapters, profiles, sources
from book.tools.read.chapters import ROOT
from book.tools.record import reference
from book.tools.record.reference import CHECKED, REFERENCES, disagreements
from lmc_helpers import claims

SAMPLED = "Z10.zero_rows"
BOX = """Z10.zero_rows  share
measured       {value} in [{low}, {high}] (n = {n})
rival          {rival:g}: a share that grows slowly
verdict        {verdict}"""


def code(cells) -> list[str]:
    return [cell.source for cell in cells if cell.cell_type == "code"]


@pytest.mark.parametrize("chapter", chapters.chapters())
def test_a_reference_is_its_chapter_at_smoke_and_stores_every_box(chapter, notebooks):
    cells = nbformat.read(REFERENCES / f"{chapter}.ipynb", as_version=4).cells
    (injected,) = [c for c in cells if "injected-parameters" in c.metadata.get("tags", [])]
    values: dict = {}
    exec(injected.source, values)
    del values["__builtins__"]
    assert values == profiles.parameters(chapter, "smoke")
    source = code(notebooks[chapter].cells)
    assert code(c for c in cells if c is not injected) == source
    assert "chapter.begin(" in source[1] and "chapter.end()" in source[-1]
    assert all(claims.part(part) for part in sources.Sources().chapter(chapter).checks)
    for cell in cells:
        if checks := cell.source.count("claims.check("):
            assert CHECKED in cell.metadata["tags"], cell.source
            boxes = [output.data["text/plain"] for output in cell.outputs if claims.MIME in output.metadata]
            assert len(boxes) == checks and all(box.splitlines()[-1].startswith("verdict ") for box in boxes)


def test_no_reference_is_left_of_a_chapter_that_is_gone():
    assert sorted(path.stem for path in REFERENCES.glob("*.ipynb")) == chapters.chapters()


def box(**changed):
    record = {"part": SAMPLED, "verdict": "holds", "value": 0.9, "stderr": None, "low": 0.8, "high": 1.0, "n": 32}
    record |= {"place_sharper": None} | {name: changed[name] for name in changed if name != "rival"}
    text = BOX.format(**{"rival": 0.1} | record | changed)
    return v4.new_output("display_data", {"text/plain": text}, metadata={claims.MIME: record})


DIFFERENT = [
    ({"value": 0.95}, "0.95 and in the reference 0.9 differ by 1.6 (standard errors; 1 allowed)"),
    ({"n": 31}, "n = 31, in the reference 32"),
    ({"verdict": "fails"}, "fails, in the reference holds"),
    ({"value": None}, "None and in the reference 0.9 differ by inf"),
    ({"part": "Z10.two"}, "checked Z10.two; in the reference Z10.zero_rows"),
]


def test_which_boxes_agree():
    assert claims.part(SAMPLED).sampled
    for changed in ({}, {"value": 0.91}, {"value": 0.89, "low": 0.79, "high": 0.99}, {"rival": 0.11}):
        assert disagreements([box()], [box(**changed)]) == [], changed
    for changed, says in DIFFERENT:
        assert any(says in complaint for complaint in disagreements([box()], [box(**changed)])), changed
    assert disagreements([box()], []) == ["checked nothing; in the reference Z10.zero_rows"]


def test_what_a_cell_shows_besides_its_boxes_is_stored_anew(tmp_path, monkeypatch):
    """A box that agrees is kept, a number that is glued since is not lost."""
    glued = v4.new_output("display_data", {"text/plain": "3"}, metadata={"scrapbook": {"name": "three"}})
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    monkeypatch.setattr(reference, "ROOT", tmp_path)
    monkeypatch.setattr(reference, "REFERENCES", tmp_path)
    (tmp_path / "build" / "executed" / "smoke").mkdir(parents=True)
    for folder, outputs in ((tmp_path, [box()]), (tmp_path / "build" / "executed" / "smoke", [glued, box(value=0.91)])):
        cell = v4.new_code_cell("claims.check()", metadata={"tags": [CHECKED]}, outputs=outputs)
        nbformat.write(v4.new_notebook(cells=[cell], metadata=kernel), folder / "01_x.ipynb")
    monkeypatch.setattr(reference, "_bare", lambda output: output)
    (cell,) = reference.reduced("01_x").cells
    assert [output.data["text/plain"] for output in cell.outputs] == ["3", box().data["text/plain"]]


def test_nbval_compares_by_it(tmp_path):
    """A value within the tolerance, one outside of it, and another output that differs."""
    kernel, cells = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}, []
    for value, printed in ((0.91, 1), (0.95, 1), (0.9, 2)):
        shown = box(value=value)
        display = f"display({dict(shown.data)}, metadata={dict(shown.metadata)}, raw=True)"
        source = f"from IPython.display import display\n{display}\nprint({printed})"
        cells.append(v4.new_code_cell(source, execution_count=1, metadata={"tags": [CHECKED]}))
        cells[-1].outputs = [box(), v4.new_output("stream", text="1\n")]
    nbformat.write(v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "three.ipynb")
    shutil.copy(REFERENCES / "conftest.py", tmp_path)
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "--nbval-current-env", "-q", "-rA", tmp_path]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    assert "2 failed, 1 passed" in said and re.findall(r"PASSED \S*three\.ipynb::Cell (\d)", said) == ["0"], said


def test_in_ci_no_chapter_is_executed_for_its_reference(monkeypatch):
    spec = importlib.util.spec_from_file_location("reference_conftest", REFERENCES / "conftest.py")
    conftest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(conftest)
    monkeypatch.setattr(conftest, "executed", dict)
    monkeypatch.setenv("CI", "true")
    path = REFERENCES / f"{chapters.chapters()[0]}.ipynb"
    with pytest.raises(pytest.fail.Exception, match=rf"no {path.name} of the present sources; run: make test"):
        conftest.start(SimpleNamespace(path=path))
