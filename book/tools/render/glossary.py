"""The glossary's links back: below each term of ``book/glossary.md``, the chapters whose text links to it.

The terms are Sphinx's: a chapter's text links to one by ``{term}``.
"""

import re
from collections import defaultdict

from book.tools.read import chapters, inputs
from book.tools.read.chapters import NOTEBOOKS, ROOT

PAGE = ROOT / "book" / "glossary.md"
ROLE = re.compile(r"\{term\}`(?:[^`<]*<)?([^`<>]+)>?`")
ENTRY = re.compile(r"^(?! |```)(.+)\n((?:  .*\n)+)", re.M)
DEFINED = re.compile(r"Defined in \[\]\(/book/executed/(\w+)\.ipynb\)")


def uses() -> dict[str, list[str]]:
    """Term, in small letters as Sphinx looks it up → the chapters whose text links to it, in their order."""
    found = defaultdict(list)
    for chapter in chapters.chapters():
        for term in {term.lower() for term in ROLE.findall(inputs.text(NOTEBOOKS / f"{chapter}.py"))}:
            found[term].append(chapter)
    return found


def with_uses(page: str, used: dict[str, list[str]]) -> str:
    """The glossary's page; a term's definition names the other chapters that link to it."""

    def others(entry: re.Match) -> str:
        listed = [chapter for chapter in used.get(entry[1].lower(), ()) if chapter not in DEFINED.findall(entry[2])]
        links = ", ".join(f"[{chapter[:2]}](/book/executed/{chapter}.ipynb)" for chapter in listed)
        return f"{entry[0].rstrip()[:-1]}; also in {links}.\n" if links else entry[0]

    return ENTRY.sub(others, page)


def check() -> list[str]:
    """Report terms and chapters that do not exist, which Sphinx would find only after all chapters have run."""
    here = chapters.chapters()
    texts = {PAGE.name: inputs.text(PAGE)} | {f"{c}.py": inputs.text(NOTEBOOKS / f"{c}.py") for c in here}
    known, wrong = {entry[1].lower() for entry in ENTRY.finditer(texts[PAGE.name])}, []
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            gone = [c for c in DEFINED.findall(line) if c not in here]
            unknown = [term for term in ROLE.findall(line) if term.lower() not in known]
            wrong += [f"{name}, line {number}: chapter {c!r} does not exist; allowed: {', '.join(here)}" for c in gone]
            wrong += [f"{name}, line {number}: the glossary has no term {term!r}" for term in unknown]
    return wrong
