"""The first page: results, the chapters in one line each, and what runs at which scale.

``book/front.yml`` holds the words. The numbers in them come from the records at paper scale, or from this run.
"""

import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

from pydantic import Field

from book.tools.read import chapters, inputs, papers, profiles
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import records
from book.tools.record.records import Run, notebook, recorded
from book.tools.render import contents, gallery, numbers, pictures, staging
from book.tools.run import listing
from book.tools.run.jobs import Job
from lmc_helpers import claims
from lmc_helpers.claims.formulas import plain
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import place
from lmc_helpers.figures.style import FINDING

WORDS = ROOT / "book" / "front.yml"
LONGEST = 120  # characters of a chapter's line
#: The templates that are filled with what :func:`content` gives.
NAMES = ("papers", "findings", "summary", "symmetries", "paths", "chapters", "scales", "start", "figures", "reply")


class FindingEntry(Entry):
    """A headline finding on its card."""

    title: str = Field(min_length=1)
    says: str = Field(min_length=1, description="the finding; [[part:format]] is a number of the run")
    chapter: str = Field(description="the chapter's name without its number; it keeps the picture of the finding")
    alt: str = Field(min_length=40, description="what the picture shows, to those who do not see it")
    parts: list[str] = Field(min_length=1, description="the parts of the ledger that it rests on")


class FrontEntry(Entry):
    findings: list[FindingEntry] = Field(min_length=4, max_length=6)
    half_hour: list[str] = Field(min_length=1, description="chapters for readers who have half an hour")
    chapters: dict[str, str] = Field(description="a chapter's name without its number → the chapter in one line")


def bare(text: str) -> str:
    r"""A text without Markdown's signs, its formulas as Unicode, for places that show letters only.

    >>> bare(r"the *barrier* of `m` at $m \le 2M$")
    'the barrier of m at m ≤ 2M'
    """
    return re.sub(r"[*`]", "", re.sub(r"\$([^$]*)\$", lambda found: plain(found[1]), text))


@cache
def read(path: Path = WORDS) -> FrontEntry:
    found = inputs.read(path, FrontEntry, f"a mapping with {', '.join(FrontEntry.model_fields)}")
    names, known = list(map(chapters.short, chapters.chapters())), papers.parts()
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
    for at, finding in enumerate(found.findings):
        shown = numbers.parts(finding.title + finding.says)
        for part, field in [(p, "parts") for p in finding.parts] + [(p, "says") for p in shown]:
            if part not in known:
                raise BuildError(f"{place(path, 'findings', at, field)}: {part} is not in the ledger")
    return found


def measured(run: Run, confirmed: dict[str, dict]) -> dict[str, dict]:
    """Part → what was measured: at paper scale where that is recorded, else in this run."""
    return {id: record for id, record in (run.records | confirmed).items() if record["value"] is not None}


def findings(entry: FrontEntry, found: dict[str, dict]) -> list[SimpleNamespace]:
    """The findings with their numbers, each with the chapter and the name of its picture."""
    shown = []
    for one in entry.findings:
        chapter = chapters.find(one.chapter)
        title, says = (numbers.filled(text, found) for text in (one.title, one.says))
        about = {"chapter": chapter, "picture": (chapter, FINDING), "alt": one.alt, "parts": one.parts}
        shown.append(SimpleNamespace(title=title, says=says, **about))
    return shown


def by_part(lines: dict[str, str], parts: list[dict]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Part of the table of contents → its chapters, each with its line; parts without chapters are left out."""
    found = []
    for part in parts:
        files = [entry["file"].rpartition("/")[2] for entry in part["chapters"]]
        here = [(name, lines[chapters.short(name)]) for name in files if chapters.short(name) in lines]
        found += [(part["caption"], here)] if here else []
    return found


def toc(parts: list[dict]) -> set[str]:
    """The pages that the table of contents names, below ``book/``."""
    return {file.removeprefix("book/") for file, _ in contents.files(parts)}


def training(jobs: list[Job]) -> str:
    """The number of training runs and their cost, in words."""
    if not jobs:
        return "none"
    words = f"{len(jobs)} runs, {staging.duration(60 * sum(job.core_minutes for job in jobs))} of one core"
    return words + (", some for a graphics card" if any(job.gpu for job in jobs) else "")


def scales(run: Run) -> list[SimpleNamespace]:
    """The runs at each scale: the limit of all chapters' seconds, and how many took how long here or in records."""
    times = {"paper": {record["chapter"]: record["seconds"] for record in recorded().values()}}
    if run.statistics:
        times[run.statistics[0]["profile"]] = {one["chapter"]: one["seconds"] for one in run.statistics}
    found = []
    for name in ("smoke", "laptop", "paper"):
        known, took = profiles.profile(name), times.get(name, {})
        limit = sum(chapter.budget_s for chapter in known.chapters.values())
        about = {"memory": known.memory_gib, "training": training(list(listing.jobs(name).values()))}
        took_s = sum(took.values()) or None
        found.append(SimpleNamespace(name=name, says=known.says, limit=limit, took=took_s, ran=len(took), **about))
    return found


def content(run: Run, confirmed: dict[str, dict], extra: Path) -> dict:
    """Variables of the templates of the first page and of the papers' figures; small pictures go below ``extra``.

    ``confirmed`` has the up-to-date records at paper scale.
    """
    parts = [part.model_dump(exclude_none=True) for part in contents.toc().parts]
    shown = findings(read(), measured(run, confirmed))
    wanted = gallery.wanted() | {finding.picture for finding in shown}
    executed = {path.stem: path for path in run.executed}
    half_hour = map(chapters.find, read().half_hour)
    return {
        "cards": shown,
        "half_hour": [(chapter, staging.reading_minutes(notebook(executed[chapter]))) for chapter in half_hour],
        "parts_of_book": by_part(read().chapters, parts),
        "toc": toc(parts),
        "scales": scales(run),
        "repository": (contents.config().get("repository") or {}).get("url") or "",
        "current": {id for id, record in confirmed.items() if not claims.not_run(record)},
        "gallery": gallery.read(),
        "without_images": records.without_images(run.executed),
        "images": staging.IMAGES,
        "profile": next((one["profile"] for one in run.statistics), ""),
        "thumbs": pictures.write(wanted, executed, extra / pictures.FOLDER),
    }
