"""Headers of chapters: the function of the training runs, and the chapter whose networks they are."""

import itertools

import jupytext
import pytest
from small_book import HEADER

from book.tools.read import chapters, headers
from book.tools.read.chapters import BuildError
from book.tools.run import listing, variants


def test_the_header_survives_jupytext(tmp_path):
    text = "# ---\n# jupyter:\n#   kernelspec: {display_name: Python 3, language: python, name: python3}\n"
    notebook = jupytext.reads(text + HEADER + "# ---\n\n# %%\nx = 1\n", fmt="py:percent")
    assert notebook.metadata["lmc"] == {"runs": "lmc_helpers.toys.runs"}
    jupytext.write(notebook, tmp_path / "a.ipynb")
    again = jupytext.writes(jupytext.read(tmp_path / "a.ipynb"), fmt="py:percent")
    assert jupytext.reads(again, fmt="py:percent").metadata["lmc"] == notebook.metadata["lmc"]


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Writes a chapter whose header has these lines."""
    monkeypatch.setattr(chapters, "NOTEBOOKS", tmp_path)

    def make(name, *lines):
        text = "".join(f"# {line}\n" for line in ("---", "jupyter:", *lines, "---"))
        (tmp_path / f"{name}.py").write_text(text + "\n# %%\n")
        return name

    return make


def test_the_function_of_the_runs(write):
    assert headers.function_name(write("51_widths", "  lmc: {runs: lmc_helpers.toys.runs}")) == "lmc_helpers.toys.runs"
    assert headers.function_name(write("51_widths", "  kernelspec: {name: python3}")) is None
    for lines, said in (
        (("{runs: os.remove}", "{runs: lmc_helpers}", "{runs: 3}"), r"lmc.runs = .* in its header is not allowed"),
        (("{runs", "3", "[runs]"), "its header is not YAML of keys and values"),
    ):
        for line in lines:
            with pytest.raises(BuildError, match=f"chapter 51_widths: {said}"):
                headers.function_name(write("51_widths", f"  lmc: {line}"))


def test_networks_of_another_chapter_have_its_seed(write):
    own, other = write("51_widths", "  lmc: {}"), write("52_lines", "  lmc:", "    networks_of: widths")
    assert (headers.networks_of(own), headers.networks_of(other)) == (own, own)
    seed = variants.seed("825a4ae", own)
    assert variants.parameters(own, "825a4ae") == variants.parameters(other, "825a4ae") == {"seed": seed}
    assert variants.parameters(other, "825a4ae.2") != variants.parameters(other, "825a4ae")
    assert variants.parameters(other, "") == variants.parameters(other, "@two_threads") == {}
    write("51_widths")
    write("53_more", "  lmc: {networks_of: widths}")
    for name in ("nothing", "51_widths", "lines", "more", "3"):
        write("52_lines", f"  lmc: {{networks_of: {name}}}")
        with pytest.raises(BuildError, match=f"52_lines: lmc.networks_of = '?{name}'? in its header is not allowed"):
            headers.networks_of("52_lines")


def test_chapters_that_share_networks_share_runs():
    shared = [chapter for chapter in chapters.chapters() if headers.networks_of(chapter) != chapter]
    assert shared
    for chapter, profile in itertools.product(shared, ("laptop", "paper")):
        whose = {run.digest for run in listing.runs(headers.networks_of(chapter), profile, "825a4ae")}
        assert whose & {run.digest for run in listing.runs(chapter, profile, "825a4ae")}
