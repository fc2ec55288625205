"""The four papers as data (``book/papers.yml``), and the parts of the ledger of their claims."""

from functools import cache
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from book.tools.read import inputs
from book.tools.read.chapters import ROOT
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part

PAPERS = ROOT / "book" / "papers.yml"
BEYOND = "Beyond the papers"  # what the ledger calls X


class Paper(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    authors: list[str] = Field(min_length=1)
    short: str = Field(description="the authors' family names")
    topic: str = Field(description="what it is about, in a few words")
    venue: str
    arxiv: str = Field(pattern=r"^\d{4}\.\d{5}$", description="its number on arXiv, without a version")
    cite: str = Field(description="its key in book/references.bib")
    read: str = Field(description="which version was read, to follow 'What was read is'")
    adds: list[str] = Field(min_length=1, description="what the book adds, clauses; the first page has the first one")

    @property
    def url(self) -> str:
        return f"https://arxiv.org/abs/{self.arxiv}"


@cache
def papers(path: Path = PAPERS) -> dict[str, Paper]:
    """Letter → paper, in the order of the book."""
    return inputs.read(path, dict[str, Paper], "a mapping from letters to papers")


def short(letter: str) -> str:
    return papers()[letter].short if letter in papers() else BEYOND


def heading(letter: str) -> str:
    return f"{papers()[letter].short}: {papers()[letter].topic}" if letter in papers() else BEYOND


def parts(folder: Path | None = None) -> dict[str, Part]:
    """Id → part, of the whole ledger in its order."""
    return {id: part for claim in claims.ledger(folder).values() for id, part in claim.parts.items()}
