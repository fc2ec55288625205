"""The first page: what was found, the chapters in one line each, and what runs at which scale.

``book/front.yml`` holds the words. The numbers in them come from the records at paper scale, or from this run.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import Field

from book.tools.base import chapters, inputs
from book.tools.base.chapters import ROOT, BuildError
from book.tools.findings import board
from book.tools.outcomes.records import Run, notebook
from book.tools.pages import contents, gallery, opening, pictures, scales
from lmc_helpers import claims
from lmc_helpers.claims.formulas import plain
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import place
from lmc_helpers.figures.cards import NAME

WORDS = ROOT / "book" / "front.yml"
NUMBER = re.compile(r"\[\[([^\]:]+):([^\]]+)\]\]")
LONGEST = 120  # characters of a chapter's line
NAMES = ("findings", "summary", "symmetries", "paths", "chapters", "scales", "start", "figures")
PAGES = tuple(f"{name}.md" for name in NAMES)  # the templates that are filled with what :func:`content` gives


class FindingEntry(Entry):
    """A headline finding on its card."""

    title: str = Field(min_length=1)
    says: str = Field(min_length=1, description="the finding; [[part:format]] is a number of the run")
    chapter: str = Field(description="the chapter's name without its number; it keeps the picture of the finding")
    alt: str = Field(min_length=40, description="what the picture shows, to those who do not see it")
    parts: list[str] = Field(min_length=1, description="the parts of the ledger that it rests on")


class FrontEntry(Entry):
    """The words of the first page."""

    findings: list[FindingEntry] = Field(min_length=4, max_length=6)
    half_hour: list[str] = Field(min_length=1, description="chapters for readers who have half an hour")
    chapters: dict[str, str] = Field(description="a chapter's name without its number → the chapter in one line")


@dataclass(frozen=True)
class Finding:
    """A finding with its numbers."""

    title: str
    says: str
    chapter: str
    alt: str
    parts: list[str]

    @property
    def picture(self) -> tuple[str, str]:
        """The chapter that keeps its picture, and the picture's name."""
        return self.chapter, NAME


def bare(text: str) -> str:
    r"""A text without Markdown's signs, its formulas as Unicode, for places that show letters only.

    Examples
    --------
    >>> bare(r"the *barrier* of `m` at $m \le 2M$")
    'the barrier of m at m ≤ 2M'
    """
    return re.sub(r"[*`]", "", re.sub(r"\$([^$]*)\$", lambda found: plain(found[1]), text))


def totals(lines: dict[str, list[board.Cell]]) -> dict[str, Counter[str]]:
    """How many results and how many details of all papers have each verdict; ``lines`` is the scoreboard's table."""
    cells = [cell for line in lines.values() for cell in line]
    found: dict[str, Counter[str]] = {"results": Counter(), "details": Counter()}
    for cell in cells:
        found["results"][cell.axis] += cell.results
        found["details"][cell.axis] += cell.details
    return found


def filled(text: str, values: dict[str, float]) -> str:
    """A text with its numbers, ``[[part:format]]``.

    Examples
    --------
    >>> filled("at $[[Z3.minimum:.2f]] M$", {"Z3.minimum": 2.2922})
    'at $2.29 M$'
    """

    def number(found: re.Match) -> str:
        if found[1] not in values:
            raise BuildError(f"front.yml: {found[0]}: no run measured {found[1]}")
        return format(values[found[1]], found[2])

    return NUMBER.sub(number, text)


def read(path: Path = WORDS) -> FrontEntry:
    """The words of the first page."""
    found = inputs.read(path, FrontEntry, f"a mapping with {', '.join(FrontEntry.model_fields)}")
    names = list(map(chapters.short, chapters.chapters()))
    if missing := [name for name in names if name not in found.chapters]:
        raise BuildError(f"{place(path, 'chapters')}: no line on {', '.join(missing)}")
    named: list[tuple[str, tuple]] = [(name, ("chapters", name)) for name in found.chapters]
    named += [(name, ("half_hour", at)) for at, name in enumerate(found.half_hour)]
    named += [(finding.chapter, ("findings", at, "chapter")) for at, finding in enumerate(found.findings)]
    for name, steps in named:
        if name not in names:
            raise BuildError(f"{place(path, *steps)}: chapter {name!r} does not exist; allowed: {', '.join(names)}")
    if long := [name for name, line in found.chapters.items() if len(line) > LONGEST]:
        where = place(path, "chapters", long[0])
        raise BuildError(f"{where}: lines of more than {LONGEST} characters: {', '.join(long)}")
    known = {id for claim in claims.ledger().values() for id in claim.parts}
    for at, finding in enumerate(found.findings):
        for part, field in [(p, "parts") for p in finding.parts] + [(p, "says") for p in _numbers(finding)]:
            if part not in known:
                raise BuildError(f"{place(path, 'findings', at, field)}: {part} stands in no file of the ledger")
    return found


def _numbers(finding: FindingEntry) -> list[str]:
    return [part for part, _ in NUMBER.findall(finding.title + finding.says)]


@cache
def words() -> FrontEntry:
    """The words of the first page as the book has them."""
    return read()


def values(run: Run, confirmed: dict[str, dict]) -> dict[str, float]:
    """Part → its measured value: at paper scale where that is recorded, else in this run."""
    return {id: record["value"] for id, record in (run.records | confirmed).items()}


def findings(entry: FrontEntry, measured: dict[str, float]) -> list[Finding]:
    """The findings with their numbers."""
    return [
        Finding(filled(one.title, measured), filled(one.says, measured), chapters.find(one.chapter), one.alt, one.parts)
        for one in entry.findings
    ]


def listing() -> list[dict]:
    """The table of contents: its parts, each with a caption and chapters."""
    return [part.model_dump(exclude_none=True) for part in contents.toc().parts]


def by_part(lines: dict[str, str], parts: list[dict]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Part of the book → its chapters, each with its line; parts without chapters are left out."""
    found = []
    for part in parts:
        files = [entry["file"].rpartition("/")[2] for entry in part["chapters"]]
        here = [(name, lines[chapters.short(name)]) for name in files if chapters.short(name) in lines]
        found += [(part["caption"], here)] if here else []
    return found


def toc(parts: list[dict]) -> set[str]:
    """The pages that the table of contents names, as they lie below ``book/``."""
    entries = [entry for part in parts for entry in part["chapters"]]
    entries += [below for entry in entries for below in entry.get("sections", ())]
    return {entry["file"].removeprefix("book/") for entry in entries}


def repository() -> str:
    """The address of the repository, from the one setting in ``_config.yml``; "" where it is not set."""
    return (contents.config().get("repository") or {}).get("url") or ""


def minutes(run: Run, names: list[str]) -> list[tuple[str, int]]:
    """Chapters, each with the minutes that it takes to read."""
    paths = {path.stem: path for path in run.executed}
    found = [chapters.find(name) for name in names]
    return [(chapter, opening.reading_minutes(notebook(paths[chapter]))) for chapter in found]


FILTERS: dict[str, Callable] = {"bare": bare, "duration": opening.duration}
GLOBALS: dict[str, Callable] = {"scale": gallery.scale, "totals": totals}


def content(run: Run, confirmed: dict[str, dict], extra: Path) -> dict:
    """What the templates of the first page and of the papers' figures use; small pictures go below ``extra``.

    ``confirmed`` has the up-to-date records at paper scale.
    """
    parts = listing()
    shown = findings(words(), values(run, confirmed))
    wanted = gallery.wanted() | {finding.picture for finding in shown}
    executed = {path.stem: path for path in run.executed}
    return {
        "cards": shown,
        "half_hour": minutes(run, words().half_hour),
        "parts_of_book": by_part(words().chapters, parts),
        "toc": toc(parts),
        "scales": scales.scales(run),
        "repository": repository(),
        "current": set(confirmed),
        "gallery": gallery.figures(),
        "profile": next((one["profile"] for one in run.statistics), ""),
        "thumbs": pictures.write(wanted, executed, extra / pictures.FOLDER),
    }
