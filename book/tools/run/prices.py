"""The cost of training runs, in words, and a refusal of those that need a GPU where there is none."""

import os
from collections.abc import Sequence

from book.tools.read.chapters import BuildError, plural
from book.tools.run.jobs import Job, missing

ON_CPU = "LMC_ON_CPU"  # 1: runs that need a GPU are trained on the CPU where there is none


def price(core_minutes: float) -> str:
    """The cost of training, rounded.

    >>> price(0.2), price(84.3), price(3000)
    ('12 core-seconds', '84 core-minutes', '50 core-hours')
    """
    if core_minutes < 1:
        return f"{round(60 * core_minutes)} core-seconds"
    if core_minutes < 300:
        return plural(round(core_minutes), "core-minute")
    return f"{round(core_minutes / 60)} core-hours"


def plan(listed: Sequence[Job], todo: Sequence[Job]) -> str:
    """The number of missing runs and their cost, in words."""
    said = f"Training: {len(todo)} of {plural(len(listed), 'run')} missing"
    return f"{said}, about {price(sum(job.core_minutes for job in todo))}." if todo else f"{said}."


def gpus() -> int:
    """Number of GPUs of this machine that torch can use."""
    import torch

    return torch.cuda.device_count()


def refuse_without_gpu(todo: Sequence[Job], profile: str) -> None:
    """Refuse runs that need a GPU on a machine without one, unless ``LMC_ON_CPU`` is 1."""
    wanting = [job for job in todo if job.gpu]
    if not wanting or gpus() or os.environ.get(ON_CPU) == "1":
        return
    minutes: dict[str, list[float]] = {}
    for job in wanting:
        minutes.setdefault(job.chapters[0], []).append(job.core_minutes)
    lines = [
        f"{plural(len(here), 'training run')} of {chapter} on a GPU, and this machine has none; "
        f"about {price(sum(here))} on its CPU"
        for chapter, here in minutes.items()
    ]
    listed = f"make runs PROFILE={profile} LIST=1"
    raise BuildError("\n       ".join([*lines, f"{listed} lists them; {ON_CPU}=1 trains them on the CPU"]))


def table(listed: Sequence[Job]) -> str:
    """All runs, one per line: digest, title, the chapters that need it, and its price unless it is done."""
    rows = [("digest", "training run", "chapters", "state")]
    for job in listed:
        cost = f"about {price(job.core_minutes)}" + (" on a CPU; needs a GPU" if job.gpu else "")
        numbers = ", ".join(chapter.partition("_")[0] for chapter in job.chapters)
        rows.append((job.digest, job.title, numbers, "done" if job.done else cost))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join([*lines, plan(listed, missing(listed))])
