"""Sphinx extension: numbers that cells give to the page are written as people write them, −2·10⁻¹⁵ for ``-2e-15``."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from lmc_helpers.claims.numerals import signs

GIVEN = "pasted-text"  # the class of what a cell gives to the text
SHOWN = "cell_output"  # and of what it shows, tables among others
KEPT = (nodes.math, nodes.literal)


def write(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Do so on a page."""
    given = [node for node in doctree.findall(nodes.inline) if GIVEN in node["classes"]]
    outputs = (node for node in doctree.findall(nodes.container) if SHOWN in node["classes"])
    tables = [table for output in outputs for table in output.findall(nodes.table)]
    for node in [*given, *tables]:
        for text in list(node.findall(nodes.Text)):
            if not isinstance(text.parent, KEPT):
                text.parent.replace(text, nodes.Text(signs(str(text))))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-resolved", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
