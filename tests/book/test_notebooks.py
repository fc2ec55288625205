"""Readers see the mathematics; what is hidden is short and says what it is."""

import ast
import re

import nbformat
import pytest
from nbformat import v4

from book.tools.read import chapters, papers, sources, titles
from book.tools.read.chapters import BuildError
from book.tools.record import records
from book.tools.render import findings
from book.tools.run import execution

MOST = 40  # lines of code in a cell that is not shown; longer ones are helpers that belong in lmc_helpers


def lines_of_code(source: str) -> int:
    """Lines that are neither blank nor comments, nor import names."""
    imports = [node for node in ast.parse(source).body if isinstance(node, ast.Import | ast.ImportFrom)]
    left_out = {line for node in imports for line in range(node.lineno, node.end_lineno + 1)}
    lines = enumerate(map(str.strip, source.splitlines()), 1)
    return sum(bool(line) and not line.startswith("#") and n not in left_out for n, line in lines)


def test_hidden_cells_are_short_and_labelled(notebooks):
    wrong = []
    for chapter, notebook in notebooks.items():
        for cell in notebook.cells:
            if cell.cell_type != "code" or titles.FOLDED not in cell.metadata.get("tags", []):
                continue
            if lines_of_code(cell.source) > MOST:
                wrong.append((chapter, "long", cell.source))
            label = cell.metadata.get("mystnb", {}).get("code_prompt_show")
            if "hide-input" in cell.metadata["tags"] and not label:
                wrong.append((chapter, "no label", cell.source))
    assert wrong == []


def test_a_readers_run_of_a_chapter_has_other_cells():
    """None of them judges this book's claims, and the first is of the reader's networks."""
    path = chapters.NOTEBOOKS / "63_your_networks.py"
    book, own = titles.read(path).cells, titles.read(path, {"model": "my.nets:make"}).cells
    texts = "".join(c.source for c in own)
    assert "claims.check" not in texts and "## The pair in one table" in texts
    assert book[0].source.startswith("# Your networks: in three") and own[0].source.startswith("# Your networks: what")
    for cells, other in ((book, titles.OF_A_READER), (own, titles.OF_THE_BOOK)):
        assert not any(other in c.metadata.get("tags", ()) for c in cells)
    common = [c.source for c in own if c.source in {c.source for c in book}]
    assert common == [c.source for c in book if c.source in common] and len(common) > len(own) / 2


@pytest.mark.parametrize("model", ["my.nets:make", ""])
def test_a_page_of_a_readers_networks_needs_no_claim_and_no_other_chapter(tmp_path, monkeypatch, model):
    path = tmp_path / "63_your_networks.ipynb"
    run_with = {"lmc": execution.provenance(path.stem, {"profile": "smoke", "model": model}, 1.0, "CPU")}
    nbformat.write(v4.new_notebook(cells=[], metadata=run_with), path)
    run = records.Run([path], whole=False)
    if not model:
        with pytest.raises(BuildError, match=r"63_your_networks did not record X9\.barrier, "):
            _ = run.records
        return
    monkeypatch.setattr(findings, "executed", lambda profile: [tmp_path / "17_trained_minima.ipynb"])
    found = findings.prices(findings.of(run), "smoke")
    assert len(found) > 1 and not all(found.values())  # a price in numbers of a chapter that did not run


def test_every_check_names_its_part(notebooks):
    """The build reads from the source which parts a chapter checks."""
    known = sources.Sources()
    for chapter, notebook in notebooks.items():
        nodes = ast.walk(ast.parse((chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")))
        calls = [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "claims.check"]
        assert calls and len(calls) == len(known.chapter(chapter).checks), chapter
        cells = notebook.cells
        assert not [c.source for c in cells if c.cell_type == "code" and "\n# ## " in c.source], chapter


def test_where_the_ledger_names_a_heading_of_a_chapter_it_exists():
    """Other places are a theorem, an equation or a table, named as such."""
    theorem = r"(?:after |the |after the )?(?:theorem|proposition|lemma|corollary|example|numerical|eq\.|Table)"
    wrong = []
    for id, part in papers.parts().items():
        named = re.match(r"[Cc]hapter (\d\d), (.+)", part.where)
        if named and not re.match(theorem, named[2]):
            (path,) = chapters.NOTEBOOKS.glob(f"{named[1]}_*.py")
            headings = re.findall(r"^# ##+ (.+)$", path.read_text(encoding="utf-8"), re.M)
            wrong += [id] * (not named[2].startswith(tuple(headings)))
    assert wrong == []
