"""The small book for the tests of the build, the built pages in a browser, and the records that count."""

import pytest
from browser import browser, html, pages, phone, served, watched
from small_book import toy, trained

from book.tools.outcomes import records
from book.tools.outcomes.records import recorded
from book.tools.reading import sources

__all__ = ["browser", "html", "pages", "phone", "served", "toy", "trained", "watched"]


@pytest.fixture(scope="session")
def confirmed() -> dict[str, dict]:
    """Part → its record at paper scale, where it is up to date and measured something."""
    code = sources.Sources()
    return {id: r for id, r in recorded().items() if r["value"] is not None and records.is_current(r, code)}
