"""The small book for the tests of the build, and the built pages in a browser."""

from browser import browser, html, pages, phone, served, watched
from small_book import toy, trained

__all__ = ["browser", "html", "pages", "phone", "served", "toy", "trained", "watched"]
