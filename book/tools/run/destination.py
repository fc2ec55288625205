"""Folders where pages may be written: existing content is moved aside and removed, so it must be a book."""

import shutil
from pathlib import Path

from book.tools.read.chapters import BuildError

ALLOWED = "allowed: a folder that does not exist, holds no file, or holds a book that was built before"


def check(out: Path) -> None:
    """Refuse a folder for pages that holds anything else."""
    ours = (out / "_build" / "html" / ".built").is_file()
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BuildError(f"--out {out} is not a folder; {ALLOWED}")
    if not ours and out.is_dir() and any(not path.is_dir() for path in out.rglob("*")):
        raise BuildError(f"--out {out} holds something other than a book; {ALLOWED}")


def remove_unfinished(out: Path) -> None:
    """Remove pages that were half built, or about to be removed, when a build was killed."""
    for name in ("new", "old"):
        shutil.rmtree(out.with_name(f".{out.name}-{name}"), ignore_errors=True)
