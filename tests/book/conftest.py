"""The small book for the tests of the build."""

from small_book import toy, trained

__all__ = ["toy", "trained"]
