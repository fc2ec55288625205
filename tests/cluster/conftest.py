"""The small book for the tests on a cluster."""

from small_book import toy, trained

__all__ = ["toy", "trained"]
