"""The concepts of the book: what each means, and which chapters use it, for the glossary and for links in the text.

``book/glossary.yml`` holds them. A concept is found in a chapter's prose by its forms, as whole words, with formulas,
code and links left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jupytext
from pydantic import BaseModel, ConfigDict, Field, model_validator

from book.tools.base import chapters, inputs
from book.tools.base.chapters import ROOT, BuildError
from lmc_helpers.claims.yaml_files import place

PATH = ROOT / "book" / "glossary.yml"
NOT_PROSE = re.compile(
    r"\$\$.*?\$\$|\$[^$]*\$|`[^`\n]*`|\]\([^)]*\)|^`{3,}[^\n]*$|^#+ [^\n]*$|^:[a-z]+:[^\n]*$", re.S | re.M
)


class Term(BaseModel):
    """One concept."""

    model_config = ConfigDict(extra="forbid")

    term: str = Field(min_length=1, description="the concept's name")
    says: str = Field(min_length=1, description="what it means in this book")
    chapter: str = Field("", description="the chapter that defines it")
    page: str = Field("", description="or the page below book/ that does")
    forms: list[str] | None = Field(None, description="how the text says it; default: the term")
    only: list[int] = Field(default_factory=list, description="numbers of the chapters that mean this; empty: all")

    @model_validator(mode="after")
    def _stands_somewhere(self) -> Term:
        if bool(self.chapter) == bool(self.page):
            raise ValueError(f"{self.term!r}: one of 'chapter' and 'page' says where it is defined")
        return self

    @property
    def anchor(self) -> str:
        """Its anchor on the glossary's page."""
        return "term-" + re.sub(r"[^a-z0-9]+", "-", self.term.lower().replace("σ", "sigma")).strip("-")

    @property
    def pattern(self) -> re.Pattern[str] | None:
        """What finds it in prose; none if it has no forms."""
        forms = [self.term] if self.forms is None else self.forms
        words = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
        return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.I) if forms else None

    def meant_in(self, chapter: str) -> bool:
        """Whether a chapter means this by the word."""
        return not self.only or int(chapter.partition("_")[0]) in self.only


@dataclass(frozen=True)
class Use:
    """A concept and the chapters that use it."""

    term: Term
    chapters: list[str]

    @property
    def others(self) -> list[str]:
        """Those that do not define it."""
        return [chapter for chapter in self.chapters if chapter != self.term.chapter]


def terms(path: Path = PATH) -> list[Term]:
    """The concepts in alphabetical order."""
    found: list[Term] = inputs.read(path, list[Term], "a list of concepts")
    anchors = [term.anchor for term in found]
    for at, anchor in enumerate(anchors):
        if anchor in anchors[:at]:
            raise BuildError(f"{place(path, at, 'term')}: {anchor!r} stands twice, or a name that is written alike")
    return sorted(found, key=lambda term: term.term.casefold())


def check(path: Path = PATH) -> None:
    """Refuse concepts that a chapter or a page defines which does not exist."""
    terms(path)
    known, wrong = chapters.chapters(), []
    numbers = {int(chapter[:2]) for chapter in known}
    for at, term in enumerate(inputs.read(path, list[Term], "a list of concepts")):
        if term.chapter and term.chapter not in known:
            where = f"{place(path, at, 'chapter')}: {term.term}: chapter"
            wrong.append(f"{where} {term.chapter!r} does not exist; allowed: {', '.join(known)}")
        if term.page and not (path.parent / f"{term.page}.md").is_file():
            where = f"{place(path, at, 'page')}: {term.term}: page"
            wrong.append(f"{where} {term.page!r} does not exist; allowed: a page below book/ without its suffix")
        if absent := [number for number in term.only if number not in numbers]:
            wrong.append(f"{place(path, at, 'only')}: {term.term}: only: there is no chapter {absent[0]}")
    if wrong:
        raise BuildError("\n".join(wrong))


@cache
def prose(path: Path) -> str:
    """The words of a chapter, without formulas, code, links and titles."""
    cells = jupytext.read(path).cells
    return NOT_PROSE.sub(" ", "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown"))


def uses(found: list[Term], folder: Path = ROOT / "notebooks") -> list[Use]:
    """Each concept with the chapters that use it, in their order."""
    here = chapters.chapters()
    return [
        Use(
            term,
            [c for c in here if term.meant_in(c) and term.pattern and term.pattern.search(prose(folder / f"{c}.py"))],
        )
        for term in found
    ]
