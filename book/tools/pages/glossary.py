"""The glossary's links back: below each term of ``book/glossary.md``, the chapters whose text leads to it.

The terms are Sphinx's: a chapter's text leads to one by ``{term}``.
"""

from __future__ import annotations

import re
from collections import defaultdict

from book.tools.base import chapters, inputs
from book.tools.base.chapters import NOTEBOOKS, ROOT, BuildError

PAGE = ROOT / "book" / "glossary.md"
ROLE = re.compile(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`")
ENTRY = re.compile(r"^(?! |```)(.+)\n((?:  .*\n)+)", re.M)
DEFINED = re.compile(r"Defined in \[\]\(/book/executed/(\w+)\.ipynb\)")


def uses() -> dict[str, list[str]]:
    """Term, in small letters as Sphinx looks it up → the chapters whose text leads to it, in their order."""
    found = defaultdict(list)
    for chapter in chapters.chapters():
        for term in {term.lower() for term in ROLE.findall(inputs.text(NOTEBOOKS / f"{chapter}.py"))}:
            found[term].append(chapter)
    return found


def with_uses(page: str, used: dict[str, list[str]]) -> str:
    r"""The glossary's page; a term's definition names the other chapters that lead to it.

    Examples
    --------
    >>> page = "wide\n  not narrow.\n  Defined in [](/book/executed/11_a.ipynb).\n"
    >>> print(with_uses(page, {"wide": ["11_a", "12_b"]}).splitlines()[-1])
      Defined in [](/book/executed/11_a.ipynb); also in [12](/book/executed/12_b.ipynb).
    """

    def others(entry: re.Match) -> str:
        defined = DEFINED.search(entry[2])
        listed = [c for c in used.get(entry[1].lower(), ()) if defined is None or c != defined[1]]
        links = ", ".join(f"[{chapter[:2]}](/book/executed/{chapter}.ipynb)" for chapter in listed)
        return f"{entry[0].rstrip()[:-1]}; also in {links}.\n" if links else entry[0]

    return ENTRY.sub(others, page)


def check() -> None:
    """Refuse terms and chapters that do not exist, which the builder would find when all chapters have run."""
    page, here = inputs.text(PAGE), chapters.chapters()
    known, wrong = {entry[1].lower() for entry in ENTRY.finditer(page)}, []
    for number, line in enumerate(page.splitlines(), 1):
        if (defined := DEFINED.search(line)) and defined[1] not in here:
            allowed = ", ".join(here)
            wrong.append(f"{PAGE.name}, line {number}: chapter {defined[1]!r} does not exist; allowed: {allowed}")
    for chapter in here:
        for number, line in enumerate(inputs.text(NOTEBOOKS / f"{chapter}.py").splitlines(), 1):
            for term in ROLE.findall(line):
                if term.lower() not in known:
                    wrong.append(f"{chapter}.py, line {number}: the glossary has no term {term!r}")
    if wrong:
        raise BuildError("\n".join(wrong))
