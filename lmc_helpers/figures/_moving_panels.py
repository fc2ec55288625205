"""Panels of a figure that moves and their content, for Matplotlib and in Plotly's schema."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from lmc_helpers.claims.formulas import label
from lmc_helpers.figures.style import COLOURS

__all__ = ["Curve", "Panel", "plain"]

MARKERS = {"o": "circle", "s": "square", "v": "triangle-down", "x": "x"}
DASHES = {"-": "solid", "--": "dash", ":": "dot"}


@dataclass
class Curve:
    """A line, points or bars; x and y are (n,), or (frames, n) where they move."""

    x: np.ndarray
    y: np.ndarray
    style: str
    colour: str
    label: str | None
    width: float

    def at(self, frame: int) -> dict[str, np.ndarray]:
        """The coordinates of one frame."""
        return {name: a[frame] if a.ndim == 2 else a for name, a in (("x", self.x), ("y", self.y))}

    @property
    def moves(self) -> list[str]:
        """The coordinates that differ between frames."""
        return [name for name in "xy" if getattr(self, name).ndim == 2]

    @property
    def parts(self) -> tuple[str, str]:
        """The marker and the dash of its style; either may be empty."""
        return self.style[:1] if self.style[:1] in MARKERS else "", self.style.lstrip("".join(MARKERS))


@dataclass
class Panel:
    """One panel: its labels, axes and content."""

    frames: int
    title: str = ""
    xlabel: str = ""
    ylabel: str = ""
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    xscale: str = "linear"
    yscale: str = "linear"
    equal: bool = False  # one unit of x is as long as one of y
    ticks: Sequence[float] | None = None  # of x
    curves: list[Curve] = field(default_factory=list)

    def draw(
        self,
        x: ArrayLike,
        y: ArrayLike,
        style: str = "-",
        colour: str = "blue",
        label: str | None = None,
        width: float = 1.6,
    ) -> None:
        """Add a curve: x and y are (n,), or (frames, n) where they move; gaps are NaN.

        ``style`` is a marker (o, s, v, x), a line (-, --, :), both, or "bars" with ``width`` in units of x; else
        ``width`` is that of the line in points.
        """
        x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
        good = x.shape[-1:] == y.shape[-1:] and all(a.ndim == 1 or a.shape[:-1] == (self.frames,) for a in (x, y))
        if not good:
            raise ValueError(f"x {x.shape} and y {y.shape}; allowed: (n,) or ({self.frames}, n)")
        curve = Curve(x, y, style, colour, label, width)
        if style != "bars" and (style == "" or curve.parts[1] not in ("", *DASHES)):
            raise ValueError(f"style {style!r}; allowed: bars, {', '.join(MARKERS)}, {', '.join(DASHES)} or both")
        if colour not in COLOURS:
            raise ValueError(f"colour = {colour!r}; allowed: {', '.join(COLOURS)}")
        self.curves.append(curve)

    def limits(self, name: str) -> tuple[float, float]:
        """The range of an axis: as requested, or all frames with a margin."""
        given, scale = getattr(self, f"{name}lim"), getattr(self, f"{name}scale")
        if given:
            return given
        values = np.concatenate([np.empty(0), *(getattr(curve, name).ravel() for curve in self.curves)])
        values = values[np.isfinite(values) & ((values > 0) | (scale != "log"))]
        if not len(values):
            raise ValueError(f"name = {name!r} has no numbers to show; allowed: an axis with some, or with {name}lim")
        ends = np.array([values.min(), values.max()])
        ends = np.log10(ends) if scale == "log" else ends
        ends = ends + 0.05 * (np.ptp(ends) or 1) * np.array([-1, 1])
        low, high = 10**ends if scale == "log" else ends
        if any(curve.style == "bars" for curve in self.curves) and name == "y":
            low = 0.0
        return float(low), float(high)


def plain(values: np.ndarray) -> list:
    """Numbers of four digits; gaps are None."""
    rounded = [float(f"{value:.4g}") if math.isfinite(value) else None for value in values.tolist()]
    return [int(v) if v is not None and v == int(v) else v for v in rounded]


def trace(curve: Curve, panel: int, frame: int) -> dict[str, Any]:
    """A curve of one frame, in Plotly's schema; panels are counted from 1."""
    end = str(panel) if panel > 1 else ""
    ink, points = COLOURS[curve.colour], {name: plain(a) for name, a in curve.at(frame).items()}
    shared = {"xaxis": f"x{end}", "yaxis": f"y{end}", "name": label(curve.label or ""), **points}
    if curve.style == "bars":
        return {"type": "bar", "width": curve.width, "marker": {"color": ink}, **shared}
    marker, dash = curve.parts
    mode = "+".join(["lines"] * bool(dash) + ["markers"] * bool(marker))
    found: dict[str, Any] = {"type": "scatter", "mode": mode}
    if dash:
        found["line"] = {"color": ink, "width": 1.25 * curve.width, "dash": DASHES[dash]}
    if marker:
        found["marker"] = {"color": ink, "size": 8, "symbol": MARKERS[marker]}
    return found | shared


def axis(panel: Panel, name: str, end: str) -> dict[str, Any]:
    """An axis in Plotly's schema, ``name`` x or y; ``end`` is the panel's number, empty for the first."""
    scale, limits = getattr(panel, f"{name}scale"), panel.limits(name)
    ends = [math.log10(v) for v in limits] if scale == "log" else list(limits)
    found: dict[str, Any] = {"title": {"text": label(getattr(panel, f"{name}label"))}, "type": scale, "range": ends}
    found["anchor"] = f"{'y' if name == 'x' else 'x'}{end}"
    decades = abs(ends[1] - ends[0])
    if scale == "log" and decades > 1.5:
        found["dtick"] = math.ceil(decades / 6)
    if name == "x" and panel.ticks is not None:
        found |= {"tickvals": plain(np.asarray(panel.ticks, dtype=float)), "tickmode": "array"}
        found["ticktext"] = [f"{tick:g}" for tick in panel.ticks]
        found.pop("dtick", None)
    if panel.equal:
        found["constrain"] = "domain"
        if name == "y":
            found["scaleanchor"] = f"x{end}"
    return found


def draw_panel(axis: Axes, panel: Panel, frame: int) -> None:
    """One frame of a panel on Matplotlib's axes."""
    for curve in panel.curves:
        x, y = curve.at(frame).values()
        style: dict[str, Any] = {"color": f"book:{curve.colour}", "label": curve.label}
        if curve.style == "bars":
            axis.bar(x, y, curve.width, **style)
        else:
            axis.plot(x, y, curve.style, linewidth=curve.width, markersize=5, **style)
    axis.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel, xscale=panel.xscale, yscale=panel.yscale)
    axis.set(xlim=panel.limits("x"), ylim=panel.limits("y"), aspect="equal" if panel.equal else "auto")
    if panel.ticks is not None:
        axis.set_xticks(panel.ticks, [f"{tick:g}" for tick in panel.ticks])
        axis.minorticks_off()
