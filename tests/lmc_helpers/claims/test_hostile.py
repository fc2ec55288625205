"""Texts and numbers of the ledger that mean harm: they are shown as they stand, or refused at once."""

import time
from html.parser import HTMLParser

import pytest
from oracles.ledger import CORRECTED, parse_part

from book.tools.render.board import rich
from lmc_helpers.claims.formulas import typeset
from lmc_helpers.claims.intervals import LedgerError, number
from lmc_helpers.claims.render import Links, html

TEXTS = [
    *("<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload="alert(1)">'),
    *("' onmouseover='alert(1)", "$x < y <script>alert(1)</script>$", "$a$<b onclick=alert(1)>$b$"),
    *("\\(<script>alert(1)</script>\\)", "</p></div><script>alert(1)</script>"),
    "`<script>alert(1)</script>` *<i onclick=alert(1)>*",
    *("x_{<script>} ^(<script>alert(1)</script>) abs(<script>)", "binom(<script>, <img src=x>)", "&lt;script&gt;"),
    "<!-- --><![CDATA[<script>]]>",
]
WORDS = (
    "```{raw} html\n<script>alert(1)</script>\n```\n:::{include} /etc/passwd\n:::\n[a](javascript:alert(1)) <http://x>"
)
ALLOWED = set("sup sub em code a b small p div span ul li details summary svg text rect line circle path g".split())
ALLOWED |= set("title table tr td th tbody dl dt dd".split())


class Seen(HTMLParser):
    """All elements of a page and their attributes, as a browser would find them."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))


def harmless(page: str) -> bool:
    found = Seen(page).elements
    given = [(name, (to or "").strip().lower()) for _, attributes in found for name, to in attributes.items()]
    scripts = [name for name, to in given if name.startswith("on") or to.startswith("javascript:")]
    return not scripts and {tag for tag, _ in found} <= ALLOWED


@pytest.mark.parametrize("text", [*TEXTS, WORDS])
def test_texts_and_boxes_are_shown_and_not_run(text):
    assert harmless(typeset(text))
    assert harmless(typeset(text, lambda word: (f'"><script>{word}', text)))
    assert harmless(rich(text))
    hostile = {name: text for name in ("where", "statement", "quantity", "reason", "reading", "correction")}
    entry = CORRECTED | {"whose": "reading"} | hostile | {"criterion": {"equals": 2, "tolerance": 0.1, "says": text}}
    part = parse_part("T1.a", entry | {"rival": {"value": 2.5, "says": text}})
    record = {"part": "T1.a", "verdict": "holds", "value": 2.0, "low": 2.0, "high": 2.0, "stderr": None, "n": 5}
    record |= {"place": "inside", "rival": text, "note": text, "criterion": text, "quantity": text, "profile": "smoke"}
    record |= {"corrected": "", "sharper": "", "second_seed": None, "place_corrected": None, "place_sharper": None}
    record |= {"expected": "holds", "whose": "reading", "weight": "headline"}
    confirmed = record | {"changed": [], **dict.fromkeys(("commit", "seeds", "date", "device"), text)}
    for verdict in ("holds", "false as printed, corrected"):
        run = record | {"verdict": verdict}
        assert harmless(html(part, run, confirmed, links=Links(text, "#row", "#erratum", "#a"), run=text))


NUMBERS = ["9**9**9", "9**9**9**9**9", "2**-1e9", "(" * 300 + "1" + ")" * 300, "-" * 5000 + "1", "gamma(1e30)", "1e400"]
NUMBERS += ["().__class__", "[1][0]", "pi.real", "sqrt.__globals__", "lambda: 1", "log(0)", "sqrt(-1)", "1 if 1 else 2"]
NUMBERS += ["", "x + 1", "two apples", "__import__('os')", "sqrt", "sqrt()", "1/0", "True", "(1"]


@pytest.mark.parametrize("text", NUMBERS, ids=lambda text: text[:12])
def test_closed_forms_that_are_none_or_never_end_are_refused_at_once(text):
    start = time.process_time()
    with pytest.raises(LedgerError) as caught:
        number(text)
    assert time.process_time() - start < 5 and len(str(caught.value)) < 200
