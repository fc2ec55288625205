"""The small picture of a chapter's finding, which the book's front page shows on a card."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lmc_helpers.figures.style import panels

__all__ = ["NAME", "card", "keep"]

NAME = "finding"
SIZE = (3.8, 2.85)  # inches, so small that its letters are readable on a card


def card() -> tuple[Figure, Axes]:
    """A figure with one panel, in the book's style and of the size of a card."""
    figure = panels()[0]
    figure.set_size_inches(SIZE)
    return figure, figure.axes[0]


def keep(figure: Figure) -> None:
    """Store the picture of a chapter's finding; the chapter's own page does not show it."""
    from myst_nb import glue

    glue(NAME, figure, display=False)
