"""The two pages of a chapter: the answer and its argument, and below the heading *Evidence* all that it rests on.

Page ``15_barrier_peak`` is the first half of the notebook of that name, ``15A_barrier_peak`` the second. A chapter
without that heading has one page.
"""

import re
from functools import cache

from book.tools.read import cells, chapters, inputs

EVIDENCE = re.compile(r"^(?:# )?## Evidence$", re.M)  # in a source, and in the text of a cell


def evidence(chapter: str) -> str:
    """The name of a chapter's second page.

    >>> evidence("15_barrier_peak")
    '15A_barrier_peak'
    """
    return f"{chapter[:2]}A{chapter[2:]}"


def begins(text: str) -> int:
    """The line of a chapter's source at which its second page begins; 0 if there is none."""
    found = EVIDENCE.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 0


def page(chapter: str, text: str, line: int) -> str:
    """The page that shows a line of a chapter's source."""
    return evidence(chapter) if 0 < begins(text) <= line else chapter


def pages(chapter: str) -> list[str]:
    text = inputs.text(chapters.NOTEBOOKS / f"{chapter}.py")
    return [chapter, evidence(chapter)] if begins(text) else [chapter]


@cache
def of_parts() -> dict[str, str]:
    """Part of the ledger → the page with its box."""
    found: dict[str, str] = {}
    for name in chapters.chapters():
        path = chapters.NOTEBOOKS / f"{name}.py"
        found |= {part: page(name, inputs.text(path), line) for part, line in cells.sheet(path).checks}
    return found


def at(chapter: str, text: str, offset: int) -> str:
    """The page that shows a place in a chapter's source."""
    return page(chapter, text, text.count("\n", 0, offset) + 1)
