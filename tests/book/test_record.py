"""Results at paper scale: a chapter that was not run again keeps what was recorded of it."""

import json

import nbformat
import pytest

from book.tools import recording, records
from book.tools.chapters import BuildError
from lmc_helpers import claims


def executed(folder, chapter, commit, **values):
    """An executed notebook with one claim a part."""
    outputs = [
        nbformat.v4.new_output("display_data", data={}, metadata={claims.MIME: {"part": part, "value": value}})
        for part, value in values.items()
    ]
    run = {"chapter": chapter, "profile": "paper", "commit": commit}
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("", outputs=outputs)], metadata={"lmc": run})
    path = folder / f"{chapter}.ipynb"
    nbformat.write(notebook, path)
    return path


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    path = tmp_path / "recorded" / "paper.json"
    monkeypatch.setattr(records, "RECORDED", path)
    return path


def test_a_part_of_the_chapters_replaces_its_own_results_only(tmp_path, recorded):
    recorded.parent.mkdir()
    old = [
        {"part": "P5.bound", "value": 1, "chapter": "23_permutation_counts", "commit": "a"},
        {"part": "Z1.sampled", "value": 1, "chapter": "11_exact_loss", "commit": "a"},
        {"part": "Z9.gone", "value": 1, "chapter": "11_exact_loss", "commit": "a"},
    ]
    recorded.write_text(json.dumps(old))
    path = executed(tmp_path, "23_permutation_counts", "b", **{"P5.bound": 2, "P6.growth": 3})
    assert recording.record([tmp_path / "11_exact_loss.ipynb", path]) == recorded
    found = {r["part"]: (r["value"], r["commit"]) for r in json.loads(recorded.read_text())}
    assert found == {"Z1.sampled": (1, "a"), "P5.bound": (2, "b"), "P6.growth": (3, "b")}
    assert next(iter(found)) == "Z1.sampled"  # the ledger's order


def test_uncommitted_sources_and_no_chapters_are_refused(tmp_path, recorded):
    path = executed(tmp_path, "23_permutation_counts", "b+", **{"P5.bound": 2})
    with pytest.raises(BuildError, match="clean commit; these came from b\\+"):
        recording.record([tmp_path / "11_exact_loss.ipynb", path])
    with pytest.raises(BuildError, match="nothing to record"):
        recording.record([tmp_path / "11_exact_loss.ipynb"])
    assert not recorded.exists()
