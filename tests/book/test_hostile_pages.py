"""Texts of the ledger that hold HTML or Markdown stay texts in the errata and the reports."""

import html
import re

from markdown_it import MarkdownIt

from book.tools.render import findings_pages, pages

TEXTS = [
    *("<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<!-- a comment --> and <?php x ?>"),
    *("[a link](javascript:alert(1)), ![a picture](x.png)", "</dd></dl><iframe src='x'>", "a | b || c"),
    *("*strong* __words__ and * stars", "1 < 2 and [0, 1] and a_b_c"),
]


def test_they_are_shown_as_they_stand():
    """By another parser than Sphinx's: a reader sees the text, and there is no tag in it."""
    parser, wrong = MarkdownIt("commonmark", {"html": True}).enable("table"), []
    for written in [f(text) for f in (pages.cell, lambda t: findings_pages.prose(t, pages.cell)) for text in TEXTS]:
        made = parser.render(f"| head |\n| --- |\n| {written} |\n")
        inside = re.search(r"<td>(.*?)</td>", made, re.S)
        if (
            not inside
            or made.count("<td>") != 1
            or re.search(r"<\w", inside[1])
            or html.unescape(inside[1]) not in TEXTS
        ):
            wrong.append((written, made))
    assert wrong == []
    assert "\n" not in pages.cell("a\n```{raw} html\n<b>\n```\n")  # no line of a text can begin a directive
