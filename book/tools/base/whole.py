"""Files that are written whole or not at all: a reader, and a build after a kill, sees the old one or the new one."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, content: str | bytes) -> None:
    """Write a file, and its folder where that is missing.

    Raises
    ------
    OSError
        with the file's name, also where the system does not give it: when the disk is full.
    """
    fresh = path.with_name(f".{path.name}-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_bytes(content.encode() if isinstance(content, str) else content)
        fresh.replace(path)
    except OSError as error:
        try:
            fresh.unlink(missing_ok=True)
        except OSError:
            pass
        raise OSError(error.errno, error.strerror, str(path)) from error
