"""Sphinx extension: numbers that cells give to the text are written as people write them, −2·10⁻¹⁵ for ``-2e-15``."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from lmc_helpers.claims.numerals import signs

GIVEN = "pasted-text"  # the class of what a cell gives to the text


def write(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Do so on a page."""
    for given in doctree.findall(lambda node: isinstance(node, nodes.inline) and GIVEN in node["classes"]):
        for text in list(given.findall(nodes.Text)):
            text.parent.replace(text, nodes.Text(signs(str(text))))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-resolved", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
