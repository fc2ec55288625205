"""Training runs as the build sees them, without importing torch."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from book.tools.read.chapters import ROOT


def is_run(value: object) -> bool:
    """True if a value has the interface of lmc_helpers.training.cached.Cached; that module imports torch."""
    return all(hasattr(value, name) for name in ("digest", "title", "path", "done", "resources", "prices", "result"))


@dataclass(frozen=True)
class Job:
    """A training run: its file and its cost."""

    digest: str
    title: str
    path: str
    cores: int
    memory_mib: int
    minutes: int  # on its cores, or on a GPU if it asks for one
    core_minutes: float  # without a GPU
    gpu: bool
    chapters: tuple[str, ...]
    needs: tuple[str, ...] = ()  # files of the runs that come before

    @property
    def done(self) -> bool:
        """True if its file exists."""
        return Path(self.path).exists()

    @property
    def seconds(self) -> float:
        """Expected seconds here."""
        return 60.0 * self.minutes if self.gpu else 60 * self.core_minutes / self.cores


def as_job(run: Any, chapter: str) -> Job:
    """A run of a chapter as the build sees it."""
    needs = run.resources()
    return Job(
        digest=run.digest,
        title=run.title,
        path=str(ROOT / run.path()),
        cores=max(1, int(needs["cores"])),
        memory_mib=ceil(needs["memory_mib"]),
        minutes=ceil(needs["minutes"]),
        core_minutes=60 * run.prices().cpu_hours,
        gpu=bool(needs["gpu"]),
        chapters=(chapter,),
        needs=tuple(str(ROOT / path) for path in getattr(run, "needs", ())),
    )


def missing(listed: Iterable[Job], wanted: Sequence[str] | None = None) -> list[Job]:
    """The missing runs, of some chapters or of all, the longest first."""
    of = [job for job in listed if wanted is None or set(job.chapters) & set(wanted)]
    return sorted((job for job in of if not job.done), key=lambda job: (-job.seconds, job.digest))
