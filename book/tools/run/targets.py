"""The products of a build, and which of them are stale.

An executed notebook carries the checksum of all that it depends on, in ``metadata.lmc.sources``, and the pages carry
theirs in ``.built``. Contents decide what is stale, not times or checkouts.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from book.tools.read import chapters, sources
from book.tools.read.chapters import BuildError
from book.tools.run import variants
from lmc_helpers.claims.intervals import LedgerError


@dataclass(frozen=True)
class Targets:
    """The executed notebooks of a profile and a variant (``book/tools/run/variants.py``), and pages in ``out``."""

    profile: str
    out: Path
    variant: str = ""

    @cached_property
    def executed(self) -> dict[str, Path]:
        """Chapter → its executed notebook."""
        paths = chapters.executed(variants.folder(self.profile, self.variant))
        return dict(zip(chapters.chapters(), paths, strict=True))

    @property
    def built(self) -> Path:
        """A file beside the pages: their profile, and the checksum of their dependencies."""
        return self.out / "_build" / "html" / ".built"

    def stale(self) -> list[str]:
        """Chapters whose executed notebook is missing, or was made from other sources."""
        known = sources.Sources()
        try:
            now = {chapter: basis(known, chapter, self.profile, self.variant) for chapter in self.executed}
        except LedgerError as error:
            raise BuildError(f"book/claims: {error}") from None
        return [chapter for chapter, path in self.executed.items() if provenance(path).get("sources") != now[chapter]]

    def pages_are_stale(self) -> bool:
        """True if the pages are missing, were made from other sources, or are older than an executed notebook."""
        if not self.built.exists() or self.built.read_text(encoding="utf-8") != mark(self.profile):
            return True
        made = self.built.stat().st_mtime
        return any(not path.exists() or path.stat().st_mtime > made for path in self.executed.values())


def basis(known: sources.Sources, chapter: str, profile: str, variant: str) -> str:
    """The checksum of all dependencies of an executed chapter."""
    setting = repr(variants.setting(variant)) if variant.startswith("@") else ""
    return known.summary(chapter, profile, setting)


def provenance(path: Path) -> dict:
    """Provenance of an executed notebook; empty if the file is missing or damaged."""
    metadata = sources.read(path).get("metadata")
    found = metadata.get("lmc") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def mark(profile: str) -> str:
    """Content of the pages' mark if they were made from the present sources."""
    return f"{profile}\n{sources.Sources().book_summary()}\n"
