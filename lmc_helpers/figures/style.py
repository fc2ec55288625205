"""One look for every figure: two widths, colours that colour-blind readers can tell apart, error bands.

The colours are named Matplotlib colours, ``color="book:blue"``; :data:`COLOURS` lists them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import colors
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.legend import Legend

from lmc_helpers import claims
from lmc_helpers.claims.judge import Z_TWO_SIDED

__all__ = ["BAND", "COLOURS", "FINDING", "band", "card", "keep", "numbers", "panels", "recorded", "show", "table"]

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

BAND = Z_TWO_SIDED  # half-width of an error band in standard errors
WIDE, SINGLE = 10.5, 7.0  # inches: several panels side by side, one panel
CARD = (3.8, 2.85)  # inches of a card on the front page, so small that its letters are readable
FINDING = "finding"  #: name under which a chapter's picture for its card is stored
PHONE, NARROW = 4.6, "_narrow"  # inches, and the end of the name, of the second shape of a figure
ROW = 4.2  # inches of a row of panels
STYLE = Path(__file__).with_name("book.mplstyle")


def panels(columns: int = 1, rows: int = 1, height: float = ROW, **kwargs) -> tuple[Figure, Axes | np.ndarray]:
    """A figure with ``rows × columns`` panels in the book's style, 10.5 inches wide, or 7 with one column.

    ``height`` is that of a row in inches; ``kwargs`` are those of ``matplotlib.pyplot.subplots``.
    """
    plt.style.use(STYLE)
    made = plt.subplots(rows, columns, figsize=(WIDE if columns > 1 else SINGLE, rows * height), **kwargs)
    plt.close(made[0])  # else a notebook shows it at the end of its cell, and where it is finished
    return made


def card() -> tuple[Figure, Axes]:
    """A figure with one panel, in the book's style and of the size of a card on the book's front page."""
    figure = panels()[0]
    figure.set_size_inches(CARD)
    return figure, figure.axes[0]


def keep(figure: Figure) -> None:
    """Store the picture of a chapter's finding for its card; the chapter's own page does not show it."""
    from myst_nb import glue

    glue(FINDING, figure, display=False)


def band(axes: Axes, x, mean, stderr, **kwargs):
    """Points with bars of ±3.29 standard errors (two-sided 10⁻³), the level at which claims are rejected."""
    style: dict[str, Any] = {"fmt": "o", "markersize": 3, "linewidth": 0, "elinewidth": 1, "capsize": 0} | kwargs
    return axes.errorbar(x, mean, yerr=BAND * np.asarray(stderr), **style)


def recorded(axes: Axes, row: int, part: str, label: str, colour: str = "blue", of=float, digits: int | None = None):
    """A part's record at paper scale in a row of a figure, as ``of`` gives it: a point, its interval, words above it.

    The words are value ± half of the interval, or with ``digits`` after the point its two ends.
    """
    record = claims.recorded(part)
    value, low, high = (of(record[name]) for name in ("value", "low", "high"))
    style: dict[str, Any] = dict(color=f"book:{colour}")
    axes.plot([low, high], [-row, -row], linewidth=2, zorder=4, **style)
    axes.plot(value, -row, "o", markersize=7, zorder=4, **style)
    ends = f"± {(high - low) / 2:.2f}" if digits is None else f"({low:.{digits}f} to {high:.{digits}f})"
    words = f"{label}: {value:.{2 if digits is None else digits}f} {ends}"
    style |= dict(fontsize=11, va="bottom", bbox=dict(facecolor="white", edgecolor="none", pad=0.5))
    axes.text(0.015, 0.18 - row, words, transform=axes.get_yaxis_transform(), **style)


def _labelled(figure: Figure) -> dict[str, Any]:
    """Label → the handle of what is drawn with it, in all panels."""
    pairs = [axes.get_legend_handles_labels() for axes in figure.axes]
    return {label: handle for handles, labels in pairs for handle, label in zip(handles, labels, strict=True)}


def _legend(figure: Figure, columns: int, drawn: dict[str, Any] | None = None) -> Legend:
    """One legend below all panels, with each label once."""
    drawn = _labelled(figure) if drawn is None else drawn
    return figure.legend(drawn.values(), drawn.keys(), loc="outside lower center", ncols=columns)


def show(name: str, figure: Figure, legend: int = 0) -> None:
    """Show a figure and store it as ``name`` for a ``{glue:figure}`` directive, in two shapes.

    It has a legend in ``legend`` columns. The second shape, ``name_narrow``, is for phones.
    """
    from myst_nb import glue

    if legend:
        _legend(figure, legend)
    glue(name, figure)
    stack(figure)
    glue(f"{name}{NARROW}", figure, display=False)


def stack(figure: Figure) -> None:
    """Put the panels of a figure below each other, as wide as a phone's screen."""
    panels = [(axes, spec) for axes in figure.axes if (spec := axes.get_subplotspec()) is not None]
    grids = {spec.get_gridspec() for _, spec in panels}
    if len(grids) != 1:
        return
    rows, columns = grids.pop().get_geometry()
    places = sorted({(spec.num1, spec.num2) for _, spec in panels})
    width, height = figure.get_size_inches()
    grid = GridSpec(len(places), 1, figure=figure)
    for axes, spec in panels:
        axes.set_subplotspec(grid[places.index((spec.num1, spec.num2))])
        axes.tick_params(labelleft=axes.yaxis.get_visible(), labelbottom=axes.xaxis.get_visible())
    rows_high = len(places) * max(2.6, PHONE * 0.8 * (height / rows) / (width / columns))
    figure.set_size_inches(PHONE, rows_high)
    for old in list(figure.legends):
        drawn = dict(zip([text.get_text() for text in old.get_texts()], old.legend_handles, strict=True))
        drawn |= {label: handle for label, handle in _labelled(figure).items() if label in drawn}
        old.remove()
        new = _legend(figure, 2, drawn)
        if new.get_window_extent().width > figure.bbox.width:
            new.remove()
            new = _legend(figure, 1, drawn)
        figure.set_size_inches(PHONE, rows_high + new.get_window_extent().height / figure.dpi)
    figure.draw_without_rendering()
    for axes, _ in panels:
        middle, height = sum(axes.bbox.intervalx) / 2, 1.1 * axes.bbox.height
        width = 2 * min(middle, figure.bbox.width - middle)
        for words, room in ((axes.title, width), (axes.xaxis.label, width), (axes.yaxis.label, height)):
            if max(words.get_window_extent().size) > room:
                words.set_text(_broken(words.get_text()))


def _broken(words: str) -> str:
    r"""Words in two lines, broken at the space nearest to their middle that is in no formula.

    >>> _broken("mean barrier after $a b$")
    'mean barrier\nafter $a b$'
    """
    spaces = [at for at, sign in enumerate(words) if sign == " " and words.count("$", 0, at) % 2 == 0]
    at = min(spaces, key=lambda at: abs(at - len(words) / 2), default=len(words))
    return f"{words[:at]}\n{words[at + 1 :]}".rstrip("\n")


def numbers(**values) -> None:
    """Store numbers and words for ``{glue:text}`` roles, to keep typed-in results out of the prose."""
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value.item() if getattr(value, "ndim", 1) == 0 else value, display=False)


def table(head: str, rows: Iterable[Sequence[str]]) -> None:
    """Show a table: Markdown in its cells, ``|`` between those of its head; pages write its numbers as the text's."""
    from IPython.display import Markdown, display

    lines = [" | ".join(row) for row in rows]
    rule = " | ".join(["---"] * (head.count("|") + 1))
    display(Markdown("\n".join(f"| {line} |" for line in [head, rule, *lines])))
