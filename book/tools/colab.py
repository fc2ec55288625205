"""Write the chapters as notebooks that Colab opens: it opens no scripts, and comes without this repository.

python -m book.tools.colab

The first cell fetches the repository, whose address is the one setting in ``_config.yml``, and installs its package.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import sys

import jupytext
import nbformat

from book.tools.base import chapters, stopping
from book.tools.base.chapters import ROOT, BuildError
from book.tools.pages import front

FOLDER = ROOT / "colab"
FETCH = """import os
import sys

if "google.colab" in sys.modules and not os.path.isdir("/content/book"):
    !git clone --quiet --depth 1 {url} /content/book
    !pip install --quiet --no-deps -e /content/book
    !pip install --quiet jupytext mpmath myst-nb papermill pooch
if os.path.isdir("/content/book"):
    %cd /content/book
    sys.path.insert(0, "/content/book")"""


def notebook(chapter: str, url: str) -> nbformat.NotebookNode:
    """A chapter as a notebook without outputs, after a cell that fetches the repository."""
    found = jupytext.read(chapters.NOTEBOOKS / f"{chapter}.py")
    found.cells.insert(0, nbformat.v4.new_code_cell(FETCH.format(url=url)))
    for number, cell in enumerate(found.cells):
        cell["id"] = f"cell-{number}"
    found.nbformat, found.nbformat_minor = 4, 5
    return found


def write() -> list[str]:
    """Write the notebooks of all chapters; the names of their files."""
    url = front.repository()
    if not url:
        raise BuildError("where the repository is stands nowhere; set repository: url: in _config.yml")
    FOLDER.mkdir(exist_ok=True)
    for chapter in chapters.chapters():
        nbformat.write(notebook(chapter, url), FOLDER / f"{chapter}.ipynb")
    return sorted(path.name for path in FOLDER.glob("*.ipynb"))


if __name__ == "__main__":
    sys.exit(stopping.status(lambda: print(f"{len(write())} notebooks in {FOLDER.relative_to(ROOT)}")))
