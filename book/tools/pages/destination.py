"""Where pages may be written: what is there is moved aside and removed, so it must be a book."""

from __future__ import annotations

from pathlib import Path

from book.tools.base.chapters import ROOT, BuildError
from book.tools.reading import sources

ALLOWED = "allowed: a folder that does not exist, holds no file, or holds a book that was built before"


def check(out: Path) -> None:
    """Refuse a folder for pages that holds anything else."""
    stamp = out.with_suffix(".json")
    # Snakemake takes .built away before the pages are built again; the stamp stays.
    ours = (out / "_build" / "html" / ".built").is_file() or "profile" in sources.read(stamp)
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise BuildError(f"--out {out} is no folder; {ALLOWED}")
    if not ours and out.is_dir() and any(not path.is_dir() for path in out.rglob("*")):
        raise BuildError(f"--out {out} holds something other than a book; {ALLOWED}")
    if not ours and stamp.exists() and stamp.parent != ROOT / "build":
        raise BuildError(f"--out {out}: the book's stamp would overwrite {stamp}, which is none; choose another name")
