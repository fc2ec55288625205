"""A training run: what it says of itself, and what a build, which does not import what it trains with, keeps of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Protocol, runtime_checkable

from book.tools.base.chapters import ROOT


class Price(Protocol):
    """What a training run costs."""

    @property
    def cpu_hours(self) -> float:
        """Hours of one core."""


@runtime_checkable
class Run(Protocol):
    """What a training run says of itself; see lmc_helpers.training.runs."""

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change with what is trained."""

    @property
    def title(self) -> str:
        """What is trained, in a few words."""

    def path(self) -> Path:
        """The file that it ends with."""

    def done(self) -> bool:
        """Whether that file is there."""

    def resources(self) -> dict:
        """``cores``, ``memory_mib``, ``minutes`` on them or on a GPU, and whether it asks for a ``gpu``."""

    def prices(self) -> Price:
        """What it takes on a CPU."""

    def result(self, show_progress: bool = False) -> object:
        """Read the file, or train and write it."""


@dataclass(frozen=True)
class Job:
    """A run as the build sees it, without importing what it trains with."""

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
        """Whether its file is there."""
        return Path(self.path).exists()

    @property
    def seconds(self) -> float:
        """What to expect here."""
        return 60.0 * self.minutes if self.gpu else 60 * self.core_minutes / self.cores


def as_job(run: Run, chapter: str) -> Job:
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
    """The runs that are not there, of some chapters or of all, the longest first."""
    of = [job for job in listed if wanted is None or set(job.chapters) & set(wanted)]
    return sorted((job for job in of if not job.done), key=lambda job: (-job.seconds, job.digest))
