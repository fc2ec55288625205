"""Numbers that chapters glue into their text, as pages write them."""

import copy
import itertools
import re
from decimal import Decimal

import pytest
from oracles.notebooks import gluing

from book.tools.outcomes import glued

GIVEN = re.compile(r'class="pasted-text">([^<]*)<')
RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))


def read(shown: str) -> Decimal:
    """The number that a page shows, read without the code that wrote it."""
    digits, _, raised = shown.rpartition("10") if set(shown) & RAISED.keys() else (shown, "", "")
    exponent = int("".join(RAISED[sign] for sign in raised) or "0")
    return Decimal(digits.removesuffix("·") or 1).scaleb(exponent)


def notebook(**texts: str) -> dict:
    content = gluing(**texts)
    figure = {"data": {"text/plain": "2e-05", "image/png": "2e-05"}, "metadata": {"scrapbook": {"name": "fig"}}}
    number = {"data": {"text/plain": "4.5e-06"}, "metadata": {"scrapbook": {"name": "slope"}}}  # formatted by its role
    content["cells"][0]["outputs"] += [number, figure, {"data": {"text/plain": "3e-07"}, "metadata": {}}]
    return content


def test_a_number_keeps_its_value():
    wrong = []
    for exponent, digits in itertools.product(range(-30, 31), ["1", "9", "1.0", "2.53"]):
        written = f"{digits}e{exponent:+03d}"
        shown = glued.signs(written)
        kept = "e" not in shown and read(shown) == Decimal(written) and glued.signs(f"-{written}") == f"−{shown}"
        if not kept or glued.signs(f"from {written} to ({written}).") != f"from {shown} to ({shown}).":
            wrong.append(f"{written}: {shown}")
    assert wrong == []


def test_other_words_stay():
    texts = ["", "1.25", "profile e-5", "a1e-05", "1e-05x", "0x1e-05", "12e-05", "1e5", "fig_1e+02", "784-64", "W-1"]
    assert [glued.signs(text) for text in texts] == texts


def test_what_a_page_shows_of_a_notebook():
    stored = notebook(hours="12", tolerance="1e-08", price="3 s")
    before = copy.deepcopy(stored)
    shown = {"hours": "12", "tolerance": "10⁻⁸", "price": "3 s", "slope": "4.5·10⁻⁶"}
    assert glued.values(stored) == shown and stored == before


@pytest.mark.parametrize(("text", "shown"), [("-7", "−7"), ("-1 to -0", "−1 to 0"), ("(-0.00 ± 2)", "(0.00 ± 2)")])
def test_a_minus_is_no_hyphen_and_a_zero_has_no_sign(text, shown):
    assert glued.signs(text) == shown


def test_pages_show_what_cells_gave_in_signs(html):
    """Texts that cells wrote, and numbers that the page formatted."""
    pages = (html / "book" / "executed").glob("*.html")
    given = [text for page in pages for text in GIVEN.findall(page.read_text(encoding="utf-8"))]
    assert any("−" in text for text in given) and any("10⁻" in text for text in given)
    assert [text for text in given if re.search(r"(?<![\w.])-\d|\de[-+−]?\d", text)] == []
