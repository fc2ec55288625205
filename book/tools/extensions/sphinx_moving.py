"""Sphinx extension: pages with a figure that moves get its script, and the book one copy of plotly.js.

plotly.js comes from the pip package plotly; the script (``book/_static/js/moving.js``) loads it when the first such
figure of a page comes near the screen.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset

SPEC = "lmc-moving-spec"  # the class of a figure's description in the page
SCRIPT = "js/moving.js"


def plotly_js() -> Path:
    """plotly.js as the pip package holds it."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package plotly is not installed: run `make setup`")
    return Path(spec.origin).parent / "package_data" / "plotly.min.js"


def copy_plotly(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        copy_asset(str(plotly_js()), str(Path(app.outdir) / "_static" / "plotly"))


def add_script(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    if f'class="{SPEC}"' in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", add_script)
    app.connect("build-finished", copy_plotly)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
