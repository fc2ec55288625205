"""Figures that move, from an executed chapter into its page.

The output of ``figures.Moving.show`` is the picture of one frame, for viewers of notebooks; its metadata hold the
description of all frames. On the page the picture stands where ``{glue:figure}`` puts it, and the output becomes the
description for the page's script.
"""

from __future__ import annotations

import html

from lmc_helpers.figures.moving import MIME

TAG = '<script type="application/json" class="lmc-moving-spec" data-figure="{figure}">{spec}</script>'


def describe(notebook: dict) -> None:
    """Put the description of each figure that moves in the place of its output's picture."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            found = output.get("metadata", {}).get(MIME)
            if found:
                spec = found["spec"].replace("<", "\\u003c")  # no text ends the script
                output["data"] = {"text/html": TAG.format(figure=html.escape(found["figure"]), spec=spec)}
