"""What killed processes leave behind, and how a later build tells it from what somebody is writing now.

A file that is being written is locked by who writes it. The lock ends with its process, also when that is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import psutil

from book.tools.base.chapters import ROOT

RUNNING = ROOT / "build" / "running"
YOUNG_S = 60.0  # a file without a lock may still be written so long after it was touched
PARTIAL = re.compile(r"\.{1,2}([0-9a-f]{16})\.(?:checkpoint\.)?npz\.\d+")  # by lmc_helpers.training.checkpoints
FRESH = re.compile(r"\..+-(\d+)")  # by :mod:`book.tools.base.whole`


@contextlib.contextmanager
def running(profile: str, chapter: str) -> Iterator[Path]:
    """A notebook that this process writes until it is moved away; what is there at the end of the block goes."""
    path = RUNNING / profile / f"{chapter}-{os.getpid()}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    with _held(path):
        try:
            yield path
        except OSError as error:  # a full disk does not say for which file
            raise OSError(error.errno, error.strerror or str(error), str(error.filename or path)) from error
        finally:
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _held(path: Path) -> Iterator[None]:
    """Hold a file, made if it is not there, until the end of the block."""
    while True:
        with path.open("a") as file:
            with contextlib.suppress(OSError):  # some disks know no locks
                fcntl.flock(file, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    yield
                    return


def _take(path: Path) -> IO | None:
    """A file that nobody holds, held now; None if it is held, gone, or the disk knows no locks."""
    try:
        file = path.open("r+")
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return None
    return file


def clear(out: Path, runs: Path) -> None:
    """Remove what nobody will take up: by the one who holds the build's lock, of a book in ``out``.

    Notebooks of killed runs, pages that were half built or about to go, files that were not finished; what a killed
    training run had kept stays. What cannot be removed stays.
    """
    for path in RUNNING.glob("*/*.ipynb"):
        if file := _take(path):
            with file:
                _remove(path)
    _remove(ROOT / "build" / ".forkserver")
    for name in ("new", "old"):
        _remove(out.with_name(f".{out.name}-{name}"))
    for path in runs.glob(".*.npz.*"):
        if hit := PARTIAL.fullmatch(path.name):
            lock = path.with_name(f".{hit[1]}.lock")
            if not lock.exists():
                _remove(path)
            elif file := _take(lock):
                with file:
                    _remove(path)
    for path in runs.glob(".*.lock"):  # those who wait for it look whether it is still there
        if file := _take(path):
            with file:
                _remove(path)
    for folder in (ROOT / "build", *(ROOT / "build" / name for name in ("listed", "times"))):
        _clear_fresh(folder.glob(".*-*"))
    _clear_fresh(out.parent.glob(f".{glob.escape(out.with_suffix('.json').name)}-*"))
    _clear_fresh((ROOT / "build" / "stamps").glob("*/.*-*"))


def _clear_fresh(paths: Iterator[Path]) -> None:
    for path in paths:
        hit = FRESH.fullmatch(path.name)
        with contextlib.suppress(OSError):
            if hit and path.is_file() and time.time() - path.stat().st_mtime > YOUNG_S:
                if not psutil.pid_exists(int(hit[1])):
                    _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
