"""The same verdicts on other machines: every chapter again in the settings of ``book/settings.yml``.

python -m book.tools.machines [CHAPTER ...] --profile smoke [--settings two_threads openblas]

A setting is data: threads, variables of the environment, torch's linear algebra by another library. The chapters keep
their own seeds, so that what differs from the book's own run is rounding, and what rounding grows to; what they train
they train again. ``book/recorded/machines-<profile>.json`` holds what every run measured. Verdicts must be the same,
exact values up to the stated relative difference, and sampled ones up to the stated number of standard errors.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import argparse
import platform
import sys

from book.tools import build, confirm
from book.tools.base import chapters, stopping
from book.tools.base.chapters import ROOT, BuildError
from book.tools.outcomes.sweep_records import AS_BUILT, Chapter, Record, differences, gathered, together
from book.tools.reading import sources
from book.tools.running import options, variants


def run(profile: str, settings: list[str], wanted: list[str], **where) -> tuple[Record, dict[str, Chapter]]:
    """Do the runs that are missing and store all of them; the record and what is stored."""
    stated = {name: variants.setting(f"@{name}") for name in settings}
    for name, setting in stated.items():
        if not setting.here:
            raise BuildError(
                f"setting {name!r} is Python {setting.python}, and this is {platform.python_version()};"
                f" in a clone of its own: make machines PYTHON=python... SETTINGS={name}"
            )
    of_python = [name for name, setting in stated.items() if setting.python]
    if of_python and len(of_python) < len(stated):
        raise BuildError(f"settings {', '.join(stated)}: a setting that is a Python is run by itself")
    listed = [*([] if of_python else [AS_BUILT]), *(variants.check(f"@{name}") for name in settings)]
    record, known = Record("machines", profile), sources.Sources()

    def collect() -> dict[str, Chapter]:
        stored, found = record.read(), {}
        for chapter in wanted:
            before = stored.get(chapter)
            kept = before if before and before.current(chapter, profile, known) else None
            found[chapter] = together(kept, gathered(profile, chapter, listed, known))
        return found

    def missing(found: dict[str, Chapter]) -> dict[str, list[str]]:
        gaps = {v: [c for c in wanted if v not in {run.variant for run in found[c].runs}] for v in listed}
        return {variant: named for variant, named in gaps.items() if named}

    found = collect()
    if of_python:
        _by_another_python(found)
    if gaps := missing(found):
        confirm.clean_commit(None, [], profile)
        print(f"{sum(map(len, gaps.values()))} run(s) missing of {len(listed) * len(wanted)}", flush=True)
        build.each(profile, ROOT / "build" / f"sweep-{profile}", gaps, **where)
        found = collect()
        if gaps := missing(found):
            named = ", ".join(sorted({chapter for chapters in gaps.values() for chapter in chapters}))
            raise BuildError(f"{named}: executed with edited sources; remove build/executed/{profile} and run it again")
    record.write(record.read() | found)
    return record, found


def _by_another_python(found: dict[str, Chapter]) -> None:
    """Refuse to compare a Python with itself, or with nothing."""
    mine = platform.python_version().rpartition(".")[0]
    own = {chapter: {run.python for run in one.runs if run.variant == AS_BUILT} for chapter, one in found.items()}
    if bare := [chapter for chapter, ran in own.items() if not ran or any(v.startswith(f"{mine}.") for v in ran)]:
        raise BuildError(
            f"{', '.join(bare)}: no up-to-date run as built by another Python than {mine} is recorded; with that one:"
            " make machines, and commit"
        )


def report(content: dict[str, Chapter]) -> int:
    """Say what differs; the exit status."""
    found = differences(content)
    wrong = 0
    for one in found:
        for complaint in one.complaints():
            wrong += 1
            print(f"error: {one.part.id} ({one.chapter}, {one.setting}): {complaint}", file=sys.stderr)
    print(f"{len(content)} chapter(s), {len(found)} comparison(s): {wrong} contradiction(s)")
    return 1 if wrong else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="machines", description="Run chapters in other settings and compare.")
    options.add(parser)
    parser.add_argument(
        "--settings", nargs="+", metavar="NAME", help="of book/settings.yml (default: this Python or all others)"
    )
    given = parser.parse_args(arguments)
    chapters.speak_anywhere()
    chapters.keep_apart()
    return stopping.status(lambda: _main(given))


def _main(given: argparse.Namespace) -> int:
    here = {name: stated.python for name, stated in variants.settings().settings.items() if stated.here}
    named = given.settings or [name for name, python in here.items() if python] or [*here]
    record, content = run(given.profile, named, options.chosen(given), **options.where(given))
    print(f"stored, to be committed: {record.path}", flush=True)
    return report(content)


if __name__ == "__main__":
    sys.exit(main())
