"""The letters of the book: their meanings and chapters (``book/notation.yml``)."""

import re
from pathlib import Path

from pydantic import Field

from book.tools.read import chapters, inputs
from book.tools.read.chapters import ROOT, BuildError
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import place

PATH = ROOT / "book" / "notation.yml"


class Meaning(Entry):
    says: str = Field(min_length=1, description="what it is")
    chapters: list[int | str] = Field(min_length=1, description="numbers, and ranges such as 21-24")

    def _ranges(self) -> list[list[str]]:
        found = []
        for entry in self.chapters:
            if not re.fullmatch(r"\d+(-\d+)?", str(entry)):
                raise ValueError(f"chapters {entry!r}; allowed: numbers, and ranges such as 21-24")
            first, _, last = str(entry).partition("-")
            found.append([c for c in chapters.chapters() if int(first) <= int(c[:2]) <= int(last or first)])
            if not found[-1]:
                raise ValueError(f"chapters {entry} of {self.says!r}: there are none")
        return found

    def pages(self) -> list[str]:
        return [chapter for found in self._ranges() for chapter in found]

    @property
    def shown(self) -> list[str]:
        """Links in Markdown: to a chapter, or to the first and the last of a range."""
        ends = [dict.fromkeys((found[0], found[-1])) for found in self._ranges()]
        return [" – ".join(f"[{c[:2]}](/book/executed/{c}.ipynb)" for c in found) for found in ends]


class Letter(Entry):
    letter: str = Field(min_length=1, description="a formula between $")
    means: list[Meaning] = Field(min_length=1)


def letters(path: Path = PATH) -> list[Letter]:
    found: list[Letter] = inputs.read(path, list[Letter], "a list of letters")
    for number, letter in enumerate(found):
        for at, meaning in enumerate(letter.means):
            try:
                meaning.pages()
            except ValueError as error:
                raise BuildError(f"{place(path, number, 'means', at)}: {letter.letter}: {error}") from None
    return found
