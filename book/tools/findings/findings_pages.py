"""What the templates of the scoreboard, the errata and the reports take, and the pages that are one a paper."""

from __future__ import annotations

import re
from collections.abc import Callable

from book.tools.findings import board, errata, findings, places, report
from book.tools.findings.findings import Findings
from book.tools.reading import papers
from lmc_helpers import claims
from lmc_helpers.claims import numerals, words
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.intervals import Interval

PART = board.PART


def sentence(text: str) -> str:
    """A text as a sentence: a capital at its start where that is a word, a full stop at its end.

    Examples
    --------
    >>> sentence("section 4.1, last paragraph"), sentence("γ is a mean"), sentence("m grows"), sentence("Is it so?")
    ('Section 4.1, last paragraph.', 'γ is a mean.', 'm grows.', 'Is it so?')
    """
    text = text.strip()
    start = text[:1].upper() if re.match(r"[a-z]{2}", text) else text[:1]
    return start + text[1:] + ("" if text.endswith((".", "?", "!", "…")) else ".")


def lower_first(text: str) -> str:
    """A text that goes on within a sentence: Section becomes section, Theorem stays.

    Examples
    --------
    >>> lower_first("Section 5.2, Prop. 5.3"), lower_first("Theorem 6")
    ('section 5.2, Prop. 5.3', 'Theorem 6')
    """
    return re.sub(r"^(Section|Appendix)", lambda m: m[1].lower(), text)


def prose(text: str, cell: Callable[[str], str]) -> str:
    """A text of the ledger as Markdown, where parts that it names become the book's badges.

    Examples
    --------
    >>> prose("as in Z4.best_pair, $m_1$", lambda text: text.replace("_", "-"))
    'as in {claim}`Z4.best_pair`, $m-1$'
    """
    pieces = re.split(f"({PART.pattern})", text)
    return "".join(f"{{claim}}`{piece}`" if at % 2 else cell(piece) for at, piece in enumerate(pieces))


def comes_to(criterion: Interval) -> str:
    """A criterion after "comes to": without a sign of equality, and what it means in parentheses."""
    return words.criterion(criterion).removeprefix("= ")


def came_out(part: Part, record: dict | None) -> str:
    """What was measured, with the interval that is judged and the samples or the size behind it."""
    if record is None or record["value"] is None:
        return "not run"
    interval = words.interval(part, record)
    shown = words.value(part, record) + (f", tested {interval}" if interval else "")
    return f"{shown} (n = {numerals.people(record['n'])})"


def plain(text: str) -> str:
    """A title without the signs around its formulas."""
    return text.replace("$", "").replace("\\", "")


def filters(cell: Callable[[str], str]) -> dict[str, Callable]:
    """The filters of these templates."""
    return {
        "rich": board.rich,
        "symbol": claims.symbol,
        "plain": plain,
        "came_out": came_out,
        "comes_to": comes_to,
        "sentence": sentence,
        "lower_first": lower_first,
        "title": findings.title,
        "prose": lambda text: prose(text, cell),
    }


def content(found: Findings) -> dict:
    """All that these templates may use besides what every page knows."""
    read = papers.papers()
    by_paper = {letter: errata.content(found, letter) for letter in read}
    entries = [entry for letter in read for entry in errata.entries(found, letter)]
    more = {"read": read, "errata": by_paper, "entries": entries, "places": places, "findings": found}
    return board.content(found) | more


def pages(known: dict, render: Callable[[str, dict], str]) -> dict[str, str]:
    """The errata and the report of each paper: path below ``book/`` → text."""
    texts = {}
    profile = known["runs"][0]["profile"] if known["runs"] else "laptop"
    for letter, paper in known["read"].items():
        here = known | {"letter": letter, "paper": paper}
        texts[f"errata/{letter}.md"] = render("erratum.md", here | {"errata": known["errata"][letter]})
        said = report.content(known["findings"], letter, profile)
        texts[f"reports/{letter}.md"] = render("report.md", here | {"report": said})
    return texts
