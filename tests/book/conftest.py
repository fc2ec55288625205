"""The small book for the tests of the build, the built pages in a browser, and the records that count."""

import pytest
from browser import browser, html, pages, phone, served, watched
from nbformat import NotebookNode
from small_book import built, clone, first_build, toy, trained

from book.tools.read import chapters, sources, titles
from book.tools.record import standing
from book.tools.record.records import recorded

__all__ = ["browser", "built", "clone", "first_build", "html", "pages", "phone", "served", "toy", "trained", "watched"]


@pytest.fixture(scope="session")
def notebooks() -> dict[str, NotebookNode]:
    """Chapter → its source as a notebook; nobody changes them."""
    return {chapter: titles.read(chapters.NOTEBOOKS / f"{chapter}.py") for chapter in chapters.chapters()}


@pytest.fixture(scope="session")
def confirmed() -> dict[str, dict]:
    """Part → its record at paper scale, where it stands and measured something."""
    known = sources.Sources()
    return {id: r for id, r in recorded().items() if r["value"] is not None and not standing.changes(r, known)}
