"""The same verdicts with other seeds: every chapter again with seeds from a commit's id, and a table of what came out.

python -m book.tools.sweep --seeds 10 --profile smoke [CHAPTER ...]

The runs are jobs of the book's graph, here or on a cluster. A run whose code and criteria are still those that stand
here is never done again, so that a sweep that was stopped goes on, and one of 10 seeds adds 7 to the 3 that are there:
a chapter keeps the commit that its first seeds came from, as long as that is in this history. When all runs are there,
``book/recorded/sweep-<profile>.json`` holds what each measured, and what contradicts the book is named: parts that two
seeds decide differently, that stay open for more than one seed in ten, whose spread contradicts their error bars, and
chapters that a seed stops.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import argparse
import sys
import time
from pathlib import Path

from book.tools import build, confirm
from book.tools.base import chapters, history, stopping
from book.tools.base.chapters import ROOT, BuildError
from book.tools.findings.sweep_findings import report
from book.tools.outcomes.sweep_records import Chapter, Record, executed, gathered, is_current, ran, together
from book.tools.reading import sources
from book.tools.running import options, variants

ENDED = "was not reached"


def base(profile: str, chapter: str, stored: Chapter | None, known: sources.Sources) -> str:
    """The commit that a chapter's seeds come from: that of the runs which are up to date; "" if there are none."""
    if stored and stored.current(chapter, profile, known) and stored.runs:
        return stored.runs[0].variant.partition(".")[0]
    found = sorted((ROOT / "build" / "executed").glob(f"sweep-{profile}-*.*/{chapter}.ipynb"))
    runs = [run for path in found if (run := ran(path)) and is_current(run, chapter, profile, known)]
    commits = [run["seeds"].partition(".")[0] for run in runs]
    gone = history.lost(commits)
    commits = [commit for commit in commits if commit not in gone]
    return max(commits, key=commits.count, default="")


def checkable(stored: dict[str, Chapter]) -> dict[str, Chapter]:
    """The chapters of a record whose seeds come from commits of this history."""
    commits = {chapter: {run.variant.partition(".")[0] for run in entry.runs} for chapter, entry in stored.items()}
    gone = history.lost(commit for found in commits.values() for commit in found)
    return {chapter: entry for chapter, entry in stored.items() if not commits[chapter] & gone}


class Sweep:
    """A sweep over seeds: what it wants, what is there, what is missing.

    Parameters
    ----------
    profile : str
        which settings of the chapters.
    count : int
        how many other seeds each chapter is run with.
    wanted : list of str
        the chapters.
    """

    def __init__(self, profile: str, count: int, wanted: list[str]):
        self.profile, self.count, self.wanted = profile, count, wanted
        self.record = Record("sweep", profile)
        self.bases: dict[str, str] = {}

    def collect(self) -> dict[str, Chapter]:
        """Chapter → its runs that are up to date, stored or lying here."""
        known, stored, found = sources.Sources(), checkable(self.record.read()), {}
        for chapter in self.wanted:
            self.bases[chapter] = self.bases.get(chapter) or base(self.profile, chapter, stored.get(chapter), known)
            before = stored.get(chapter)
            kept = before if before and before.current(chapter, self.profile, known) else None
            listed = [f"{self.bases[chapter]}.{k + 1}" for k in range(self.count)] if self.bases[chapter] else []
            found[chapter] = together(kept, gathered(self.profile, chapter, listed, known))
        return found

    def missing(self, found: dict[str, Chapter]) -> dict[str, list[str]]:
        """Variant → the chapters that lack its run; first seeds first."""
        gaps: dict[str, list[str]] = {}
        for k in range(1, self.count + 1):
            for chapter in self.wanted:
                variant = f"{self.bases[chapter]}.{k}"
                if variant not in {run.variant for run in found[chapter].runs}:
                    gaps.setdefault(variant, []).append(chapter)
        return gaps

    def start(self, commit: str | None) -> None:
        """Fix the commit of chapters that have no run yet."""
        fresh = [chapter for chapter in self.wanted if not self.bases[chapter]]
        clean = confirm.clean_commit(commit if fresh else None, fresh, self.profile)
        self.bases |= dict.fromkeys(fresh, clean)


def said(path: Path) -> str:
    """The error that a failed notebook ended with."""
    outputs = (o for cell in sources.read(path).get("cells", ()) for o in cell.get("outputs", ()))
    errors = [f"{o['ename']}: {o['evalue']}" for o in outputs if o.get("output_type") == "error"]
    return errors[-1] if errors else ENDED


def failures(profile: str, gaps: dict[str, list[str]], since: float) -> dict[str, dict[str, str]]:
    """Chapter → variant → the error of runs that a build tried and that ended with one."""
    found: dict[str, dict[str, str]] = {}
    for variant, named in gaps.items():
        for chapter in named:
            path = ROOT / "build" / "failed" / profile / f"{variants.title(chapter, variant)}.ipynb"
            if not executed(profile, variant, chapter).exists() and path.exists() and path.stat().st_mtime >= since:
                found.setdefault(chapter, {})[variant] = said(path)
    return found


def run(sweep: Sweep, commit: str | None, **where) -> dict[str, Chapter]:
    """Do the missing runs and store all of them; what is stored."""
    found, since, failed = sweep.collect(), time.time(), {}
    if not all(sweep.bases.values()) or sweep.missing(found):
        sweep.start(commit)
        gaps = sweep.missing(found)
        total = sum(map(len, gaps.values()))
        print(f"{total} run(s) missing of {sweep.count * len(sweep.wanted)}", flush=True)
        out = ROOT / "build" / f"sweep-{sweep.profile}"
        try:
            build.each(sweep.profile, out, gaps, **where)
        except BuildError as error:
            failed = failures(sweep.profile, gaps, since)
            left = sweep.missing(sweep.collect())
            if any(variant not in failed.get(chapter, {}) for variant, named in left.items() for chapter in named):
                raise BuildError(f"{error}; the table is stored when every run was done") from None
        found = sweep.collect()
    found = {chapter: entry.model_copy(update={"failed": failed.get(chapter, {})}) for chapter, entry in found.items()}
    sweep.record.write(sweep.record.read() | found)
    return found


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="sweep", description="Run chapters with other seeds and compare.")
    options.add(parser)
    parser.add_argument("--seeds", type=int, default=10, help="how many (default: 10)")
    parser.add_argument("--commit", help="an ancestor with the same code and criteria (default: the present commit)")
    given = parser.parse_args(arguments)
    chapters.speak_anywhere()
    chapters.keep_apart()
    return stopping.status(lambda: _main(given))


def _main(given: argparse.Namespace) -> int:
    if given.seeds < 2:
        raise BuildError(f"SEEDS = {given.seeds}; allowed: 2 or more, one seed has no spread")
    sweep = Sweep(given.profile, given.seeds, options.chosen(given))
    content = run(sweep, given.commit, **options.where(given))
    print(f"stored, to be committed: {sweep.record.path}", flush=True)
    return report(content, given.profile)


if __name__ == "__main__":
    sys.exit(main())
