"""Numbers that chapters glue into their text, as pages write them."""

import copy
import re

from docutils import nodes
from docutils.utils import new_document
from oracles.notebooks import executed
from oracles.notebooks import glued as output

from book.tools.record import glued
from book.tools.render.extensions.sphinx_html import write_numbers

GIVEN = re.compile(r'class="pasted-text">([^<]*)<')


def notebook(**texts: str) -> dict:
    figure = {"data": {"text/plain": "2e-05", "image/png": "2e-05"}, "metadata": {"scrapbook": {"name": "fig"}}}
    number = {"data": {"text/plain": "4.5e-06"}, "metadata": {"scrapbook": {"name": "slope"}}}  # formatted by its role
    words = [output(name, f"'{text}'") for name, text in texts.items()]
    return executed("11_a", *words, number, figure, {"data": {"text/plain": "3e-07"}, "metadata": {}})


def test_what_a_page_shows_of_a_notebook():
    stored = notebook(hours="12", tolerance="1e-08", price="3 s")
    before = copy.deepcopy(stored)
    shown = {"hours": "12", "tolerance": "10⁻⁸", "price": "3 s", "slope": "4.5·10⁻⁶"}
    assert glued.values(stored) == shown and stored == before
    shown = nodes.entry("", nodes.paragraph("", "", nodes.Text("-2e-15"), nodes.math("", "x^{-1}")))
    output = nodes.container("", nodes.table("", shown), nodes.paragraph("", "3e-07"), classes=["cell_output"])
    document = new_document("page")
    document += [output, nodes.table("", nodes.entry("", nodes.paragraph("", "4e-07")))]
    write_numbers(None, document, "page")
    assert document.astext().split() == ["−2·10⁻¹⁵x^{-1}", "3e-07", "4e-07"]


def test_pages_show_what_cells_gave_in_signs(html):
    """Texts that cells wrote, and numbers that the page formatted."""
    pages = (html / "book" / "executed").glob("*.html")
    given = [text for page in pages for text in GIVEN.findall(page.read_text(encoding="utf-8"))]
    assert any("−" in text for text in given) and any("10⁻" in text for text in given)
    assert [text for text in given if re.search(r"(?<![\w.])-\d|\de[-+−]?\d", text)] == []
