"""The whole book: everything that people edit checked, everything that is stale run, the pages built."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from book.tools.read import chapters
from book.tools.record import check as files
from book.tools.record import records
from book.tools.run import build as graph
from book.tools.run import destination


def words() -> tuple[Callable[[], object], ...]:
    """The checks of what the pages need in addition: contents, configuration, bibliography and words."""
    from book.tools.read import papers
    from book.tools.render import contents, front, gallery, glossary, notation, openings

    checks = (papers.papers, contents.check_toc, contents.check_config, contents.check_citations)
    return (*checks, front.read, gallery.read, glossary.check, notation.letters, openings.check)


def build(profile: str, out: Path, cores: int, target: str, **how) -> None:
    """Run the graph up to ``target``: ``book`` (the pages), ``executed`` (the notebooks) or ``trained`` (the runs)."""
    out = out.resolve()
    if target != "book":
        graph.build(profile, out, cores, target, files.before, **how)
        return
    destination.check(out)
    graph.build(profile, out, cores, target, partial(files.before, more=words), **how)
    for line in records.image_messages(chapters.executed(profile)):
        print(line)
    print(f"The book: {out / '_build' / 'html' / 'index.html'}")


def check() -> int:
    """Check every file that people edit; the exit status."""
    wrong = files.problems(words)
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    if not wrong:
        found = len(chapters.chapters())
        print(f"{found} chapters, their profiles, the ledger and the words of the pages: nothing is wrong")
    return 1 if wrong else 0
