"""Texts of the ledger that hold HTML or Markdown stay texts in the errata and the reports."""

import html
import re

import pytest
from markdown_it import MarkdownIt

from book.tools.findings import findings_pages
from book.tools.pages import pages

TEXTS = [
    "<script>alert(1)</script>",
    "a <img src=x onerror=alert(1)> b",
    "<!-- a comment --> and <?php x ?>",
    "[a link](javascript:alert(1)), ![a picture](x.png)",
    "</dd></dl><iframe src='x'>",
    "a | b || c",
    "*strong* __words__ and * stars",
    "1 < 2 and [0, 1] and a_b_c",
]


def prose(text: str) -> str:
    return findings_pages.prose(text, pages.cell)


def shown(markdown: str) -> str:
    """What a reader sees of Markdown, and every tag in it, by another parser than Sphinx's."""
    return MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)


@pytest.mark.parametrize("act", [pages.cell, prose])
def test_it_is_shown_as_it_stands(act):
    wrong = []
    for text in TEXTS:
        made = shown(f"| head |\n| --- |\n| {act(text)} |\n")
        inside = re.search(r"<td>(.*?)</td>", made, re.S)
        stays = inside and not re.search(r"<\w", inside[1]) and html.unescape(inside[1]) == text
        if not stays or made.count("<td>") != 1:
            wrong.append((text, made))
    assert wrong == []


def test_lines_of_a_text_cannot_begin_a_directive():
    assert "\n" not in pages.cell("a\n```{raw} html\n<b>\n```\n")
