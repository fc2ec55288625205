"""What killed processes leave behind: files whose names end in the number of a process that is gone."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil

from book.tools.base.chapters import ROOT

RUNNING = ROOT / "build" / "running"


@contextlib.contextmanager
def running(profile: str, chapter: str) -> Iterator[Path]:
    """A notebook that this process writes until it is moved away; what is there at the end of the block goes."""
    path = RUNNING / profile / f"{chapter}-{os.getpid()}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield path
    except OSError as error:  # a full disk does not say for which file
        raise OSError(error.errno, error.strerror or str(error), str(error.filename or path)) from error
    finally:
        path.unlink(missing_ok=True)


def _abandoned(path: Path) -> bool:
    """Whether the process whose number a file's name ends in is gone."""
    hit = re.search(r"[-.](\d+)(?:\.ipynb)?$", path.name)
    return hit is not None and not psutil.pid_exists(int(hit[1]))


def clear(out: Path, runs: Path) -> None:
    """Remove what nobody will take up: by the one who holds the build's lock, of a book in ``out``.

    Notebooks of killed runs, pages that were half built or about to go, files that were not finished; what a killed
    training run had kept stays. What cannot be removed stays.
    """
    folders = (ROOT / "build", *(ROOT / "build" / name for name in ("listed", "times")))
    partial = [*RUNNING.glob("*/*.ipynb"), *runs.glob(".*.npz.*")]
    partial += [path for folder in folders for path in folder.glob(".*-*")]
    partial += [*out.parent.glob(f".{glob.escape(out.with_suffix('.json').name)}-*")]
    partial += [*(ROOT / "build" / "stamps").glob("*/.*-*")]
    for path in partial:
        if path.is_file() and _abandoned(path):
            _remove(path)
    _remove(ROOT / "build" / ".forkserver")
    for name in ("new", "old"):
        _remove(out.with_name(f".{out.name}-{name}"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
