"""One look for every figure: colours that colour-blind readers can tell apart, error bands, captions by glue."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
BAND = 3.29  # half-width of an error band in standard errors: two-sided 10⁻³

STYLE = {
    "figure.facecolor": "white",
    "figure.dpi": 160,
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "axes.prop_cycle": plt.cycler(color=[c for name, c in COLOURS.items() if name not in {"black", "grey"}]),
}


def panels(
    columns: int = 1, rows: int = 1, width: float = 9.0, height: float = 3.6, **kwargs
) -> tuple[Figure, np.ndarray]:
    """A figure with ``rows × columns`` panels in the book's style.

    Parameters
    ----------
    columns, rows : int
        panels side by side and one above the other.
    width, height : float
        inches of the whole figure and of one row.
    **kwargs
        passed to ``matplotlib.pyplot.subplots``.

    Returns
    -------
    (Figure, numpy.ndarray)
        the figure and its axes, always an array (rows, columns).

    Examples
    --------
    >>> figure, axes = panels(columns=2)
    >>> axes.shape
    (1, 2)
    >>> plt.close(figure)
    """
    plt.rcParams.update(STYLE)
    return plt.subplots(rows, columns, figsize=(width, rows * height), squeeze=False, **kwargs)


def band(axes: Axes, x, mean, stderr, **kwargs):
    """Points with bars of ±3.29 standard errors (two-sided 10⁻³), the level at which claims are rejected."""
    style = {"fmt": "o", "markersize": 3, "linewidth": 0, "elinewidth": 1, "capsize": 0} | kwargs
    return axes.errorbar(x, mean, yerr=BAND * np.asarray(stderr), **style)


def show(name: str, figure: Figure) -> None:
    """Store a figure under ``name`` for a ``{glue:figure}`` directive and close it."""
    from myst_nb import glue

    glue(name, figure, display=False)
    plt.close(figure)


def numbers(**values) -> None:
    """Store numbers and words for ``{glue:text}`` roles, so that prose holds no typed-in result."""
    from myst_nb import glue

    for name, value in values.items():
        glue(name, value.item() if isinstance(value, np.generic) else value, display=False)
