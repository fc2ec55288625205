"""Chapters as files: their names, and where they are executed to."""

import io
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NOTEBOOKS = ROOT / "notebooks"
PACKAGE = "lmc_helpers"
#: Variables that set the number of threads of one operation of a chapter.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def tolerate_terminal_encoding() -> None:
    """Allow output on a terminal whose locale lacks some of the letters."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def separate_unverified_runs() -> None:
    """Put training runs on files that may not be the published ones in a separate folder.

    A run's digest names the data set and not its bytes; the folder keeps builds from confusing the two kinds.
    """
    if os.environ.get("LMC_DATA_UNVERIFIED") == "1":
        os.environ.setdefault("LMC_RUNS", str(ROOT / "build" / "runs-unverified"))


class BuildError(Exception):
    """An error that whoever builds the book can fix; its message says how."""


def chapters() -> list[str]:
    """All chapters in the order of the book, ``12_overlap_theorem`` and so on."""
    return sorted(path.stem for path in NOTEBOOKS.glob("[0-9][0-9]_*.py"))


def cells(source: str) -> list[tuple[str, str]]:
    """The marker and the content of each cell of a chapter's source."""
    pieces = re.split(r"^# %%(?!%)(.*)\n", source, flags=re.M)[1:]
    return list(zip(map(str.strip, pieces[::2]), pieces[1::2], strict=True))


def short(chapter: str) -> str:
    """A chapter's name without its number."""
    return chapter.partition("_")[2]


def plural(count: int | str, noun: str) -> str:
    """A number and what it counts.

    >>> plural(1, "run"), plural(40, "chapter")
    ('1 run', '40 chapters')
    """
    return f"{count} {noun}" + "s" * (str(count) != "1")


def find(name: str) -> str:
    """A chapter by its name, with or without its number."""
    known = chapters()
    for chapter in known:
        if name in (chapter, short(chapter)):
            return chapter
    raise BuildError(f"chapter {name!r} does not exist; allowed: {', '.join(map(short, known))}")


def executed(profile: str) -> list[Path]:
    """The executed notebooks of a profile, one per chapter, whether they exist or not."""
    return [ROOT / "build" / "executed" / profile / f"{chapter}.ipynb" for chapter in chapters()]
