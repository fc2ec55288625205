"""The figures of the four papers, by their numbers, and ours beside them.

``book/figures.yml`` lists them: paper → number of the figure → what it shows, which of our pictures show it, the parts
of the ledger that concern it, and what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from book.tools.base import chapters, inputs
from book.tools.base.chapters import ROOT, BuildError
from book.tools.pages import pictures
from lmc_helpers import claims
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import place

LISTED = ROOT / "book" / "figures.yml"


class OurEntry(Entry):
    """A picture of ours."""

    chapter: str = Field(description="the chapter's name without its number")
    picture: str = Field(description="the name under which the chapter stores it")


class FigureEntry(Entry):
    """A figure of a paper."""

    shows: str = Field(min_length=1, description="what the paper's figure shows, in our words")
    ours: list[OurEntry] = Field(default_factory=list, description="our pictures of it")
    missing: str = Field("", description="why there is none")
    note: str = Field("", description="what ours does not show, or shows in another way")
    parts: list[str] = Field(description="the parts of the ledger that concern it")

    @model_validator(mode="after")
    def _is_there_or_missing(self) -> FigureEntry:
        if bool(self.ours) == bool(self.missing):
            raise ValueError("a figure has pictures of ours ('ours') or a reason why there is none ('missing')")
        return self


GRAMMAR: TypeAdapter = TypeAdapter(
    dict[
        Annotated[str, StringConstraints(pattern="^[ZPGI]$")],
        dict[Annotated[str, StringConstraints(pattern=r"^[1-9]\d*$")], FigureEntry],
    ]
)


@dataclass(frozen=True)
class Figure:
    """A figure of a paper with what was found on it."""

    paper: str
    number: str
    shows: str
    missing: str
    note: str
    parts: list[str]
    ours: list[pictures.Picture]

    @property
    def anchor(self) -> str:
        """Where it stands on its page."""
        return f"figure-{self.paper}-{self.number}"


def ours(entry: OurEntry) -> pictures.Picture:
    """A picture of ours as its chapter shows it."""
    chapter = chapters.find(entry.chapter)
    known = pictures.shown(chapter)
    if entry.picture not in known:
        raise BuildError(f"{chapter} shows no figure {entry.picture!r}; allowed: {', '.join(known)}")
    return known[entry.picture]


def read(path: Path = LISTED) -> dict[str, list[Figure]]:
    """The figures of each paper, by its letter."""
    listed = inputs.read(path, GRAMMAR, "a mapping from the papers' letters to figures")
    known = {id for claim in claims.ledger().values() for id in claim.parts}
    found: dict[str, list[Figure]] = {}
    for paper, figures in listed.items():
        for number, entry in figures.items():
            where = f"{place(path, paper, number)}: {paper}, Fig. {number}"
            if unknown := [part for part in entry.parts if part not in known]:
                raise BuildError(f"{where}: {', '.join(unknown)} stands in no file of the ledger")
            try:
                mine = [ours(one) for one in entry.ours]
            except BuildError as error:
                raise BuildError(f"{where}: {error}") from None
            words = {name: getattr(entry, name) for name in ("shows", "missing", "note", "parts")}
            found.setdefault(paper, []).append(Figure(paper, number, **words, ours=mine))
    return found


@cache
def figures() -> dict[str, list[Figure]]:
    """The figures of each paper as the book lists them."""
    return read()


def wanted() -> set[tuple[str, str]]:
    """The pictures of ours that are shown, each its chapter and its name."""
    return {(mine.chapter, mine.name) for listed in figures().values() for one in listed for mine in one.ours}


def scale(parts: list[str], confirmed: set[str]) -> str:
    """How many parts that concern a figure have a record at paper scale, in words.

    Examples
    --------
    >>> scale(["Z1.a", "Z1.b"], {"Z1.b"}), scale([], set()), scale(["Z1.a"], {"Z1.a"})
    ('1 of 2 parts recorded at paper scale', '', 'recorded at paper scale')
    """
    recorded = sum(part in confirmed for part in parts)
    if not parts:
        return ""
    if recorded in (0, len(parts)):
        return "recorded at paper scale" if recorded else "no record at paper scale yet"
    return f"{recorded} of {len(parts)} parts recorded at paper scale"
