"""What runs at which scale, and how long it takes: a table on the first page."""

from __future__ import annotations

from dataclasses import dataclass

from book.tools.outcomes.records import Run, recorded
from book.tools.pages import opening
from book.tools.reading import profiles
from book.tools.running import listing
from book.tools.running.jobs import Job

SCALES = ("smoke", "laptop", "paper")


@dataclass(frozen=True)
class Scale:
    """What runs at one scale, and how long it takes."""

    name: str
    says: str
    limit: float  # seconds of one core that the chapters may take
    took: float | None  # seconds that they took, those that ran
    ran: int  # chapters that ran
    memory: float
    training: str


def training(jobs: list[Job]) -> str:
    """How many training runs there are and what they cost, in words."""
    if not jobs:
        return "none"
    words = f"{len(jobs)} runs, {opening.duration(60 * sum(job.core_minutes for job in jobs))} of one core"
    return words + (", some for a graphics card" if any(job.gpu for job in jobs) else "")


def scales(run: Run) -> list[Scale]:
    """What runs at each scale: the limits, and the times that were taken here or are recorded."""
    paper = {record["chapter"]: record["seconds"] for record in recorded().values()}
    here = {one["chapter"]: one["seconds"] for one in run.statistics}
    profile = next((one["profile"] for one in run.statistics), "")
    found = []
    for name in SCALES:
        known, took = profiles.profile(name), here if name == profile else paper if name == "paper" else {}
        limit = sum(chapter.budget_s for chapter in known.chapters.values())
        words = training(list(listing.jobs(name).values()))
        found.append(Scale(name, known.says, limit, sum(took.values()) or None, len(took), known.memory_gib, words))
    return found
