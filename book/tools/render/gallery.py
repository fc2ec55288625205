"""The figures of the four papers, by their numbers, and ours beside them.

``book/figures.yml`` lists them: paper → number of the figure → its content, our pictures of it, the parts of the ledger
that concern it, and what is missing.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from book.tools.read import chapters, inputs, papers
from book.tools.read.chapters import ROOT, BuildError
from book.tools.render import pictures
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import place

LISTED = ROOT / "book" / "figures.yml"


class OurEntry(Entry):
    chapter: str = Field(description="the chapter's name without its number")
    picture: str = Field(description="the name under which the chapter stores it")
    recorded: bool = Field(False, description="it shows recorded runs, whatever images this copy has")


class FigureEntry(Entry):
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


def _ours(entry: OurEntry) -> SimpleNamespace:
    """A picture of ours as its chapter shows it, and whether of recorded runs."""
    chapter = chapters.find(entry.chapter)
    known = pictures.shown(chapter)
    if entry.picture not in known:
        raise BuildError(f"{chapter} shows no figure {entry.picture!r}; allowed: {', '.join(known)}")
    return SimpleNamespace(**known[entry.picture]._asdict(), recorded=entry.recorded)


@cache
def read(path: Path = LISTED) -> dict[str, list[SimpleNamespace]]:
    """The figures of each paper, by its letter: the fields of its entry, with an anchor, and our pictures."""
    listed = inputs.read(path, GRAMMAR, "a mapping from the papers' letters to figures")
    known = papers.parts()
    found: dict[str, list[SimpleNamespace]] = {letter: [] for letter in listed}
    for paper, number, entry in ((p, n, entry) for p, figures in listed.items() for n, entry in figures.items()):
        try:
            if unknown := [part for part in entry.parts if part not in known]:
                raise BuildError(f"{', '.join(unknown)} is not in the ledger")
            about = entry.model_dump() | {"ours": list(map(_ours, entry.ours)), "anchor": f"figure-{paper}-{number}"}
        except BuildError as error:
            raise BuildError(f"{place(path, paper, number)}: {paper}, Fig. {number}: {error}") from None
        found[paper].append(SimpleNamespace(paper=paper, number=number, **about))
    return found


def wanted() -> set[tuple[str, str]]:
    """Our pictures that are shown, each as its chapter and its name."""
    return {(mine.chapter, mine.name) for listed in read().values() for one in listed for mine in one.ours}


def scale(parts: list[str], confirmed: set[str]) -> str:
    """How many of the verdicts on a figure are recorded at paper scale, in words.

    >>> scale(["Z1.a", "Z1.b"], {"Z1.b"}), scale([], set()), scale(["Z1.a"], {"Z1.a"})
    ('1 of 2 verdicts recorded at paper scale', '', 'verdict recorded at paper scale')
    """
    recorded = sum(part in confirmed for part in parts)
    if len(parts) == 1:
        return f"verdict {'' if recorded else 'not '}recorded at paper scale"
    some = "" if recorded == len(parts) else f"{recorded or 'none'} of {'' if recorded else 'the '}{len(parts)} "
    return some + "verdicts recorded at paper scale" if parts else ""
