"""Buttons to run, to edit and to report: with right addresses where the repository is known, none where it is not."""

import re
import subprocess
import sys
import urllib.parse
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
import yaml

from book.tools import colab
from book.tools.base import chapters
from book.tools.base.chapters import BuildError
from book.tools.extensions import sphinx_repository

URL = "https://github.com/someone/some-book"
CHAPTER = "book/executed/12_overlap_theorem"
FILES = {"notebooks/12_overlap_theorem.py", "book/data.md"}


def test_binder_opens_the_source_of_a_chapter_as_a_notebook():
    found = sphinx_repository.launches(URL, "main", CHAPTER, FILES)
    assert list(found) == ["Binder"]
    parts = urllib.parse.urlsplit(found["Binder"])
    assert parts.netloc == "mybinder.org" and parts.path == "/v2/gh/someone/some-book/main"
    query = urllib.parse.parse_qs(parts.query)
    assert query == {"urlpath": ["notebooks/notebooks/12_overlap_theorem.py?factory=Notebook"]}


def test_the_branch_may_have_a_slash():
    found = sphinx_repository.launches(URL, "one/two", CHAPTER, FILES)["Binder"]
    assert urllib.parse.urlsplit(found).path == "/v2/gh/someone/some-book/one%2Ftwo"


def test_colab_is_offered_where_there_is_a_notebook_for_it():
    there = FILES | {"colab/12_overlap_theorem.ipynb"}
    found = sphinx_repository.launches(URL, "main", CHAPTER, there)
    assert found["Colab"] == (
        "https://colab.research.google.com/github/someone/some-book/blob/main/colab/12_overlap_theorem.ipynb"
    )
    assert "Colab" not in sphinx_repository.launches(URL.replace("github", "gitlab"), "main", CHAPTER, there)


def test_a_page_without_a_notebook_cannot_be_run():
    assert sphinx_repository.launches(URL, "main", "book/data", FILES) == {}


@pytest.mark.parametrize(
    ("page", "edited"),
    [
        (CHAPTER, f"{URL}/edit/main/notebooks/12_overlap_theorem.py"),
        ("book/data", f"{URL}/edit/main/book/data.md"),
        ("book/api/data", None),
    ],
)
def test_edit_leads_to_the_page_s_source_if_it_has_one(page, edited):
    found = sphinx_repository.origins(URL, "main", page, "A “title” & more", FILES)
    assert found["Repository"] == URL and found.get("Suggest edit") == edited
    parts = urllib.parse.urlsplit(found["Open issue"])
    assert parts.path == "/someone/some-book/issues/new"
    query = urllib.parse.parse_qs(parts.query)
    assert "A “title” & more" in query["title"][0] and page in query["body"][0]


def test_gitlab_has_other_addresses():
    home = "https://gitlab.com/someone/some-book"
    found = sphinx_repository.origins(f"{home}.git", "main", CHAPTER, "x", FILES)
    assert found["Suggest edit"] == f"{home}/-/edit/main/notebooks/12_overlap_theorem.py"
    assert found["Open issue"].startswith(f"{home}/-/issues/new?issue%5Btitle%5D=")
    binder = sphinx_repository.launches(home, "main", CHAPTER, FILES)["Binder"]
    assert binder.startswith("https://mybinder.org/v2/gl/someone%2Fsome-book/main?")


@pytest.mark.parametrize("url", ["github.com/someone/book", "https://github.com/someone", "https://example.org/a/b"])
def test_what_is_no_repository_is_refused(url):
    with pytest.raises(
        ValueError, match=re.escape(f"{url!r} is no repository; allowed: https://github.com/OWNER/NAME")
    ):
        sphinx_repository.place(url)


def test_every_page_of_the_book_has_the_source_that_edit_leads_to(root):
    content = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    pages = [content["root"], *(entry["file"] for part in content["parts"] for entry in part["chapters"])]
    assert [page for page in pages if not (root / sphinx_repository.source(page)).is_file()] == []


SMALL = """# A page

Text.
"""


def built(root: Path, where: Path, url: str, notebook: bool) -> dict[str, str]:
    """The pages of a small book with the configuration of the real one, but for its bibliography; name → HTML."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    config["repository"]["url"] = url
    config["bibtex_bibfiles"] = ["empty.bib"]
    config["html"].pop("favicon")
    config["sphinx"]["local_extensions"] = {"sphinx_repository": "tools"}
    config["sphinx"]["extra_extensions"] = []
    config["sphinx"]["config"] = {"html_context": config["sphinx"]["config"]["html_context"]}
    (where / "book" / "executed").mkdir(parents=True)
    (where / "tools").mkdir()
    (where / "empty.bib").write_text("")
    (where / "tools" / "sphinx_repository.py").write_text(Path(sphinx_repository.__file__).read_text())
    (where / "_config.yml").write_text(yaml.safe_dump(config))
    toc = {"format": "jb-book", "root": "book/index", "chapters": [{"file": "book/data"}, {"file": CHAPTER}]}
    (where / "_toc.yml").write_text(yaml.safe_dump(toc))
    for name in ("index", "data"):
        (where / "book" / f"{name}.md").write_text(SMALL)
    cells = [nbformat.v4.new_markdown_cell("# 12 A chapter"), nbformat.v4.new_code_cell("1")]
    python = {"kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=python), where / f"{CHAPTER}.ipynb")
    listed = [*FILES, *(["colab/12_overlap_theorem.ipynb"] if notebook else [])]
    (where / "book" / "sources.txt").write_text("\n".join(listed))
    command = [str(Path(sys.executable).with_name("jupyter-book")), "build", str(where), "-W", "--keep-going", "-q"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    html = where / "_build" / "html"
    return {name: (html / f"{name}.html").read_text(encoding="utf-8") for name in ("book/index", "book/data", CHAPTER)}


def addresses(page: str) -> set[str]:
    return {urllib.parse.unquote(href) for href in re.findall(r'href="(https://(?:github|mybinder|colab)[^"]*)"', page)}


def test_built_with_a_repository_the_buttons_lead_to_it(root, tmp_path):
    pages = built(root, tmp_path / "book", URL, notebook=True)
    found = addresses(pages[CHAPTER])
    binder = "https://mybinder.org/v2/gh/someone/some-book/main"
    assert f"{binder}?urlpath=notebooks/notebooks/12_overlap_theorem.py?factory=Notebook" in found
    assert any(url.startswith("https://colab.research.google.com/github/someone/") for url in found)
    assert {URL, f"{URL}/edit/main/notebooks/12_overlap_theorem.py"} <= found
    assert any(url.startswith(f"{URL}/issues/new?title=On the page “12 A chapter”") for url in found)
    found = addresses(pages["book/data"])
    assert f"{URL}/edit/main/book/data.md" in found and not any("binder" in url or "colab" in url for url in found)
    assert not any("/edit/" in url for url in addresses(pages["book/index"]))  # it is not among the files


def test_built_without_a_repository_no_page_has_a_button(root, tmp_path):
    for page in built(root, tmp_path / "book", "", notebook=True).values():
        assert addresses(page) == set()
        assert "launch-buttons" not in page and "source-buttons" not in page


def test_notebooks_for_colab_fetch_the_repository_first():
    chapter = chapters.chapters()[0]
    notebook = colab.notebook(chapter, URL)
    nbformat.validate(notebook)
    first = notebook.cells[0].source
    assert f"git clone --quiet --depth 1 {URL} " in first
    assert not any(cell.get("outputs") for cell in notebook.cells)
    source = (chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")
    code = [cell.source for cell in notebook.cells[1:] if cell.cell_type == "code"]
    assert code and all(cell in source for cell in code)


def test_without_an_address_there_are_none(monkeypatch, tmp_path):
    monkeypatch.setattr(colab, "front", SimpleNamespace(repository=lambda: ""))
    monkeypatch.setattr(colab, "FOLDER", tmp_path / "colab")
    with pytest.raises(BuildError, match="repository: url:"):
        colab.write()
    assert not (tmp_path / "colab").exists()
