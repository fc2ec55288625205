"""Chapters against what is stored of them, without pages: all, those named, or those that a change concerns.

make validate [CHAPTERS="overlap_theorem ..."] [SINCE=commit] [PROFILE=laptop]
"""

import subprocess
import sys

from book.tools.read import chapters, profiles, sources
from book.tools.read.chapters import ROOT, BuildError
from book.tools.read.history import git
from book.tools.record import check, reference, standing
from book.tools.run import build

REFERENCE_TEST = "tests/book/test_references.py::test_a_reference_is_its_chapter_at_smoke_and_stores_every_box"
NBVAL = ("--nbval-lax", "--nbval-current-env", "--nbval-cell-timeout", "600")


def affected(commit: str, profile: str = "smoke") -> list[str]:
    """The chapters with a file that differs from a commit: source, reference, code, data, parameters or ledger."""
    names = git("diff", "--name-only", "--no-renames", commit, "--").splitlines()
    names += git("ls-files", "--others", "--exclude-standard").splitlines()
    changed = {ROOT / name for name in names}
    changed |= {path.parent / "__init__.py" for path in changed if path.suffix != ".py"}  # data of a package, its stub
    known = sources.Sources()
    shared = {ROOT / name for name in ("requirements.lock", *sources.RUNNER)} | {profiles.PROFILES / f"{profile}.yaml"}
    return [chapter for chapter in chapters.chapters() if changed & (shared | _files(chapter, known))]


def _files(chapter: str, known: sources.Sources) -> set:
    """The files that a chapter's results depend on, and its reference."""
    ledger = {ROOT / "book" / "claims" / f"{part[0]}.yml" for part in known.chapter(chapter).checks}
    own = {chapters.NOTEBOOKS / f"{chapter}.py", standing.REFERENCES / f"{chapter}.ipynb"}
    return own | ledger | set(known.modules(chapter).values())


def validate(names: list[str], since: str | None, profile: str, cores: int) -> int:
    """Execute what is stale of the chapters and compare each with what is stored of it; the exit status."""
    if names and since:
        raise BuildError(f"CHAPTERS = {' '.join(names)} and SINCE = {since}; allowed: one of them")
    named = sorted({chapters.find(name) for name in names}) or chapters.chapters()
    wanted = affected(since, profile) if since else named
    if not wanted:
        print(f"no chapter is affected by what changed since {since}")
        return 0
    out = ROOT / "build" / ("test-book" if profile == "smoke" else "book")
    build.build(profile, out, cores, "executed", check.before, chosen={"": wanted})
    if profile == "laptop":
        return reference.check_laptop(wanted)
    tests = [one for c in wanted for one in (f"{REFERENCE_TEST}[{c}]", f"tests/reference/{c}.ipynb")]
    return subprocess.call([sys.executable, "-m", "pytest", "-q", *NBVAL, *tests], cwd=ROOT)
