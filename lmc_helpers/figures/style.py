"""One look for every figure: two widths, colours that colour-blind readers can tell apart, error bands, phones.

The colours are named Matplotlib colours, ``color="book:blue"``; :data:`COLOURS` lists them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from lmc_helpers.error_bars import QUANTILE

__all__ = ["BAND", "COLOURS", "band", "legend", "numbers", "panels", "show", "stack"]

#: Okabe & Ito's palette, which readers with any common colour blindness can tell apart.
COLOURS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "purple": "#CC79A7",
    "sky": "#56B4E9",
    "black": "#222222",
    "grey": "#888888",
}
colors.get_named_colors_mapping().update({f"book:{name}": code for name, code in COLOURS.items()})

BAND = QUANTILE  # half-width of an error band in standard errors
WIDE, SINGLE, PHONE = 10.5, 7.0, 4.6  # inches: several panels side by side, one panel, one panel on a phone
ROW = 4.2  # inches of a row of panels
STYLE = Path(__file__).with_name("book.mplstyle")


def panels(columns: int = 1, rows: int = 1, height: float = ROW, **kwargs) -> tuple[Figure, Axes | np.ndarray]:
    """A figure with ``rows × columns`` panels in the book's style, 10.5 inches wide, or 7 with one column.

    Parameters
    ----------
    columns, rows : int
        panels side by side and one above the other.
    height : float
        inches of one row.
    **kwargs
        passed to ``matplotlib.pyplot.subplots``.

    Returns
    -------
    (Figure, Axes or numpy.ndarray)
        as ``matplotlib.pyplot.subplots``: one panel, a row or a column of them, or an array (rows, columns).

    Examples
    --------
    >>> figure, (left, right) = panels(2)
    >>> figure.get_size_inches().tolist()
    [10.5, 4.2]
    >>> plt.close(figure)
    """
    plt.style.use(STYLE)
    return plt.subplots(rows, columns, figsize=(WIDE if columns > 1 else SINGLE, rows * height), **kwargs)


def band(axes: Axes, x, mean, stderr, **kwargs):
    """Points with bars of ±3.29 standard errors (two-sided 10⁻³), the level at which claims are rejected."""
    style: dict[str, Any] = {"fmt": "o", "markersize": 3, "linewidth": 0, "elinewidth": 1, "capsize": 0} | kwargs
    return axes.errorbar(x, mean, yerr=BAND * np.asarray(stderr), **style)


def legend(figure: Figure, columns: int = 3) -> None:
    """One legend below all panels, with each label once."""
    entries = _entries(figure)
    figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=columns)


def _entries(figure: Figure) -> dict[str, Any]:
    """What all panels label, each label once: label → what is drawn."""
    pairs = [axes.get_legend_handles_labels() for axes in figure.axes]
    return {label: handle for handles, labels in pairs for handle, label in zip(handles, labels, strict=True)}


def _legend_below(figure: Figure, handles: list, labels: list[str]) -> int:
    """A legend below all panels with as many columns as find room, three at most; its number of rows."""
    room = 0.96 * figure.bbox.width
    for columns in (3, 2, 1):
        box = figure.legend(handles, labels, loc="outside lower center", ncols=columns, columnspacing=1.2)
        if columns == 1 or box.get_window_extent().width <= room:
            break
        box.remove()
    return -(-len(labels) // columns)


def show(name: str, figure: Figure) -> None:
    """Store a figure under ``name`` for a ``{glue:figure}`` directive, and close it.

    Its panels in one column are stored under ``name-phone``; the pages show them on narrow screens.
    """
    from myst_nb import glue

    glue(name, figure, display=False)
    stack(figure)
    glue(f"{name}-phone", figure, display=False)
    plt.close(figure)


def stack(figure: Figure) -> None:
    """Lay a figure's panels one below the other at the width of a phone; what they shared is written at each.

    Examples
    --------
    >>> figure, axes = panels(2, sharey=True)
    >>> stack(figure)
    >>> figure.get_size_inches().tolist()
    [4.6, 7.2]
    >>> plt.close(figure)
    """
    grid = [(axes, place) for axes in figure.axes if (place := axes.get_subplotspec()) is not None]
    first = {place.rowspan.start: axes for axes, place in reversed(grid)}  # row → its leftmost panel
    last = {place.colspan.start: axes for axes, place in grid}  # column → its lowest panel
    column = GridSpec(len(grid), 1, figure=figure)
    for number, (axes, place) in enumerate(grid):
        left, bottom = first[place.rowspan.start], last[place.colspan.start]
        if not axes.get_ylabel() and axes.get_shared_y_axes().joined(axes, left):
            axes.set_ylabel(left.get_ylabel())
        if not axes.get_xlabel() and axes.get_shared_x_axes().joined(axes, bottom):
            axes.set_xlabel(bottom.get_xlabel())
        if axes.axison:
            axes.tick_params(labelleft=True, labelbottom=True)
        axes.set_subplotspec(column[number])
    drawn = _entries(figure)  # a legend's own handles are bare lines where points have bars
    boxes = []
    for box in list(figure.legends):
        labels = [text.get_text() for text in box.get_texts()]
        handles = [handle for handle in box.legend_handles if handle is not None]
        boxes.append(([drawn.get(name, own) for name, own in zip(labels, handles, strict=True)], labels))
        box.remove()
    figure.set_size_inches(PHONE, 3.6 * len(grid))
    lines = sum(_legend_below(figure, handles, labels) for handles, labels in boxes)
    figure.set_size_inches(PHONE, 3.6 * len(grid) + 0.25 * lines)


def numbers(**values) -> None:
    """Store numbers and words for ``{glue:text}`` roles, so that prose holds no typed-in result."""
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value.item() if isinstance(value, np.generic) else value, display=False)
