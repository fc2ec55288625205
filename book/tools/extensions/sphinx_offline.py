"""Sphinx extension: pages that make no request to the network, and a download of each chapter's source.

MathJax comes from the pip package sphinx-mathjax-offline, without the parts that no page loads. The script that
would fetch thebe from a CDN is dropped: the book offers no live kernels.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util.fileutil import copy_asset

MATHJAX = ("tex-chtml.js", "input/tex/extensions", "output/chtml/fonts/woff-v2")


def _mathjax() -> Path:
    spec = importlib.util.find_spec("sphinx-mathjax-offline")
    if spec is None or spec.origin is None:
        raise RuntimeError("the package sphinx-mathjax-offline is not installed: run `make setup`")
    return Path(spec.origin).parent / "static" / "mathjax"


def copy_mathjax(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        for name in MATHJAX:
            target = Path(app.outdir) / "_static" / "mathjax" / name
            copy_asset(str(_mathjax() / name), str(target if (_mathjax() / name).is_dir() else target.parent))


def drop_thebe(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    def wanted(script) -> bool:
        return "thebe" not in (getattr(script, "filename", None) or "") and "thebe" not in str(
            getattr(script, "attributes", {}).get("body", "")
        )

    context["script_files"] = [script for script in context["script_files"] if wanted(script)]


def offer_source(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """A chapter's page offers the executed notebook (the theme's link) and, beside it, its jupytext source."""
    if not pagename.startswith("book/executed/"):
        return
    for group in context.get("header_buttons", ()):
        if group.get("label") == "download-buttons":
            source = {
                "type": "link",
                "url": f"{context['pathto']('sources', 1)}/{pagename.rpartition('/')[2]}.py",
                "text": ".py",
                "tooltip": "Download the chapter's source (jupytext)",
                "icon": "fas fa-file-code",
                "label": "download-jupytext-button",
            }
            group["buttons"].insert(1, source)


def setup(app: Sphinx) -> dict:
    app.config.mathjax_path = "mathjax/tex-chtml.js"
    app.connect("build-finished", copy_mathjax)
    app.connect("html-page-context", drop_thebe, priority=900)
    app.connect("html-page-context", offer_source, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
