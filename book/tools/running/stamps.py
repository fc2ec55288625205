"""Stamps, and the targets that follow them.

A stamp is a file that holds the checksums of all that its target depends on. It is rewritten only when one of them
changes, so that its time follows contents and not checkouts; a target that is older than its stamp is stale.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from book.tools.base import chapters as names
from book.tools.base.chapters import BuildError
from book.tools.reading import sources
from book.tools.running import variants
from lmc_helpers.claims.intervals import LedgerError


@dataclass(frozen=True)
class Stamps:
    """The stamps of one profile, brought up to date, and the targets that follow them."""

    chapters: dict[str, Path]
    pages: Path
    executed: dict[str, Path]
    built: Path

    def stale(self) -> list[str]:
        """Chapters whose executed notebook is not there or older than its stamp."""
        return [chapter for chapter, stamp in self.chapters.items() if not _newer(self.executed[chapter], [stamp])]

    def edited(self, since: float) -> list[str]:
        """Sources that were written while a build ran, which began at ``since``: what it made of them is stale.

        A chapter may have read such a file before or after, or an editor's half of it; what the file holds in the end
        says nothing.
        """
        made = {self.chapters[name]: path for name, path in self.executed.items()} | {self.pages: self.built}
        found = set()
        for stamp, target in made.items():
            if target.exists() and target.stat().st_mtime >= since:
                files = (name for name in sources.read(stamp) if (names.ROOT / name).is_file())
                if written := [name for name in files if (names.ROOT / name).stat().st_ctime >= since]:
                    os.utime(stamp)
                    found.update(written)
        return sorted(found)

    def pages_are_stale(self) -> bool:
        """Whether the pages are not there, or older than their stamp or than an executed notebook."""
        return not _newer(self.built, [self.pages, *self.executed.values()])


def _newer(target: Path, inputs: list[Path]) -> bool:
    """Whether a target is there and no input is missing or newer: what Snakemake looks at."""
    if not all(path.exists() for path in (target, *inputs)):
        return False
    return all(path.stat().st_mtime <= target.stat().st_mtime for path in inputs)


def places(profile: str, out: Path, seeds: str = "") -> Stamps:
    """Where the stamps and targets of a profile lie, the pages in ``out``; nothing is read or written.

    Other variants (``book/tools/running/variants.py``) lie in folders of their own.
    """
    name = variants.folder(profile, seeds)
    where = names.ROOT / "build" / "stamps" / name
    listed = names.chapters()
    return Stamps(
        chapters={chapter: where / f"{chapter}.json" for chapter in listed},
        pages=out.with_suffix(".json"),
        executed=dict(zip(listed, names.executed(name), strict=True)),
        built=out / "_build" / "html" / ".built",
    )


def update(profile: str, out: Path, seeds: str = "") -> Stamps:
    """Bring the stamps of a profile up to date: one a chapter, and one for the pages that go to ``out``.

    Another variant than the book's (``seeds``) depends on its setting besides.
    """
    known, found = sources.Sources(), places(profile, out, seeds)
    try:
        for chapter, path in found.chapters.items():
            sums = known.digest(chapter, profile)
            sources.write(path, sums | ({"setting": repr(variants.setting(seeds))} if seeds.startswith("@") else {}))
    except LedgerError as error:
        raise BuildError(f"book/claims: {error}") from None
    sources.write(found.pages, known.book_digest(profile))
    return found
