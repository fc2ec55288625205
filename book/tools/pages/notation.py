"""The letters of the book: what each stands for, and in which chapters.

``book/notation.yml`` holds them, in the order of the alphabet.
"""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from book.tools.base import chapters, inputs
from book.tools.base.chapters import ROOT, BuildError
from lmc_helpers.claims.yaml_files import place

PATH = ROOT / "book" / "notation.yml"


class Meaning(BaseModel):
    """One thing that a letter stands for."""

    model_config = ConfigDict(extra="forbid")

    says: str = Field(min_length=1, description="what it is")
    chapters: list[int | str] = Field(min_length=1, description="numbers, and ranges such as 21-24")

    def pages(self) -> list[str]:
        """The chapters, in their order."""
        found = []
        for entry in self.chapters:
            if not re.fullmatch(r"\d+(-\d+)?", str(entry)):
                raise ValueError(f"chapters {entry!r}; allowed: numbers, and ranges such as 21-24")
            first, _, last = str(entry).partition("-")
            here = [c for c in chapters.chapters() if int(first) <= int(c.partition("_")[0]) <= int(last or first)]
            if not here:
                raise ValueError(f"chapters {entry} of {self.says!r}: there are none")
            found += here
        return found

    @property
    def shown(self) -> list[str]:
        """Links in Markdown: to a chapter, or to the first and the last of a range."""
        shown = []
        for entry in self.chapters:
            here = Meaning(says=self.says, chapters=[entry]).pages()
            ends = here[:1] if len(here) == 1 else [here[0], here[-1]]
            shown.append(" – ".join(f"[{c[:2]}](/book/executed/{c}.ipynb)" for c in ends))
        return shown


class Letter(BaseModel):
    """A letter and what it stands for."""

    model_config = ConfigDict(extra="forbid")

    letter: str = Field(min_length=1, description="a formula between $")
    means: list[Meaning] = Field(min_length=1)


def letters(path: Path = PATH) -> list[Letter]:
    """The letters, as the file orders them."""
    found: list[Letter] = inputs.read(path, list[Letter], "a list of letters")
    for number, letter in enumerate(found):
        for at, meaning in enumerate(letter.means):
            try:
                meaning.pages()
            except ValueError as error:
                raise BuildError(f"{place(path, number, 'means', at)}: {letter.letter}: {error}") from None
    return found
