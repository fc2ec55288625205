"""Files that appear complete or not at all."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ()  # what packages of ours lend each other


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside ``path``, which takes its place when the block ends without an error.

    Its name, ``.PID-NAME``, tells :func:`remove_abandoned` whose it is. An ``OSError`` names the file.
    """
    new = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield new
        new.replace(path)
    except OSError as error:  # a full disk does not say for which file
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a file atomically: a concurrent reader sees the old content or the new, never a part."""
    with replacing(path) as new:
        new.write_bytes(content.encode() if isinstance(content, str) else content)


def remove_abandoned(*folders: Path) -> None:
    """Remove leftovers of :func:`replacing` by killed processes in some folders; files that cannot be removed stay."""
    for path in (path for folder in folders for path in folder.glob(".*-*")):
        if (pid := re.match(r"\.(\d+)-", path.name)) and not _is_running(int(pid[1])):
            with contextlib.suppress(OSError):
                path.unlink()


def _is_running(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
