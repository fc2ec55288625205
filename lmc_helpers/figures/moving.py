"""Figures with a slider: one description, drawn by Matplotlib for one frame and by Plotly's script for all.

A chapter computes every frame. The notebook stores the picture of one frame, which is shown on paper, by notebook
viewers and without scripts; the page's script (``book/_static/js/moving.js``) puts the figure that moves in its place.
Plotly is not needed to run a chapter: the description is plain JSON in Plotly's schema.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from lmc_helpers.claims.formulas import label
from lmc_helpers.figures._moving_panels import Panel, axis, draw_panel, plain, trace
from lmc_helpers.figures.style import _legend, panels

__all__ = ["MIME", "Moving"]

MIME = "application/vnd.lmc.moving+json"  # in an output's metadata: the figure's name and its description


@dataclass
class Moving:
    """A figure whose frames a slider chooses."""

    slider: str  # what moves, with its unit
    values: Sequence[str]  # what the slider says at each frame
    notes: Sequence[str]  # what is read off each frame, at most some 55 characters
    start: int = 0  # the frame at the start, and of the static picture
    height: float = 0.95  # of a panel over its width
    panels: list[Panel] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not 0 <= self.start < len(self.values) == len(self.notes):
            sizes = f"{len(self.values)} values, {len(self.notes)} notes, start {self.start}"
            raise ValueError(f"{sizes}; allowed: as many notes as values, and a start among them")

    def panel(self, **settings) -> Panel:
        """Add a panel, the next on the right, with the fields of ``_moving_panels.Panel``."""
        self.panels.append(Panel(len(self.values), **settings))
        return self.panels[-1]

    def picture(self) -> Figure:
        """The frame at the start, drawn by Matplotlib."""
        count = len(self.panels)
        width = 10.5 / count if count > 1 else 7.0
        figure, drawn = panels(count, height=self.height * width + 1.1)
        for axes, panel in zip(np.atleast_1d(np.asarray(drawn, dtype=object)), self.panels, strict=True):
            draw_panel(axes, panel, self.start)
        if any(curve.label for panel in self.panels for curve in panel.curves):
            _legend(figure, 3)
        figure.suptitle(f"{self.slider}: {self.values[self.start]}\n{self.notes[self.start]}", fontsize=11)
        return figure

    def spec(self) -> dict[str, Any]:
        """Data, layout and frames in Plotly's schema; the slider's texts are in the layout's ``meta``."""
        curves = [(k, curve) for k, panel in enumerate(self.panels, 1) for curve in panel.curves]
        moving = [k for k, (_, curve) in enumerate(curves) if curve.moves]
        frames = [
            {
                "name": str(frame),
                "traces": moving,
                "data": [{n: plain(curves[k][1].at(frame)[n]) for n in curves[k][1].moves} for k in moving],
            }
            for frame in range(len(self.values))
        ]
        layout: dict[str, Any] = {
            "meta": {
                "slider": label(self.slider),
                "values": list(self.values),
                "notes": [label(note) for note in self.notes],
                "start": self.start,
                "panels": len(self.panels),
                "height": self.height,
            },
            "annotations": [],
        }
        for k, panel in enumerate(self.panels, 1):
            end = str(k) if k > 1 else ""
            layout |= {f"xaxis{end}": axis(panel, "x", end), f"yaxis{end}": axis(panel, "y", end)}
            if panel.title:
                place = {"xref": f"x{end} domain", "yref": f"y{end} domain", "x": 0.5, "y": 1, "yanchor": "bottom"}
                layout["annotations"].append({"text": label(panel.title), "showarrow": False, **place})
        data = [trace(curve, k, self.start) for k, curve in curves]
        return {"data": data, "layout": layout, "frames": frames}

    def show(self, name: str) -> None:
        """Store the figure under ``name``, for a ``{glue:figure}`` directive called ``name`` with dashes.

        The output is the picture of the frame at the start, which viewers of notebooks show. Its metadata hold the
        description, which the build writes into the page instead (``book/tools/render/staging.py``).
        """
        from IPython.display import display
        from myst_nb import glue

        figure = self.picture()
        text = json.dumps(self.spec(), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        display(figure, metadata={MIME: {"figure": name.replace("_", "-"), "spec": text}})
        glue(name, figure, display=False)
        plt.close(figure)
