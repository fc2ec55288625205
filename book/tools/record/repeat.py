"""The chapters run again, with other seeds or in other settings of the machine, and the differences.

python -m book repeat --seeds 10 [CHAPTER ...]                  seeds from a commit's id
python -m book repeat --settings two_threads [CHAPTER ...]      of ``book/settings.yml``; ``all``: every one

The runs are jobs of the book's graph, here or on a cluster. A run that is up to date is never repeated: a stopped
command resumes, and 10 seeds add 7 to 3 existing ones; a chapter keeps the commit that its first seeds came from, as
long as that is in this history. ``book/recorded`` holds what each run measured. With other seeds no part may be decided
differently, stay open for more than one seed in ten, or spread against its error bars; in other settings verdicts must
be the same, and numbers within the tolerance that ``book/settings.yml`` states.
"""

import time

from book.tools.read import chapters, history, sources
from book.tools.read.chapters import ROOT, BuildError, plural
from book.tools.record import check, confirm, records
from book.tools.record import spreads as report
from book.tools.record.repeats import AS_BUILT, Chapter, Record, collect_runs, current_run, executed, merge_entries
from book.tools.run import build, variants
from book.tools.run.targets import provenance

ALL = "all"


class Repeat:
    """Some chapters in several variants: those wanted, those stored or in ``build``, and those missing."""

    def __init__(self, kind: str, profile: str, listed: dict[str, list[str]]):
        self.profile, self.listed, self.record = profile, listed, Record(kind, profile)

    def collect(self) -> dict[str, Chapter]:
        """Chapter → its runs that are up to date, stored or in ``build``."""
        known, stored, found = sources.Sources(), with_known_commits(self.record.read()), {}
        for chapter, names in self.listed.items():
            before = stored.get(chapter)
            kept = before if before and before.current(chapter, self.profile, known) else None
            found[chapter] = merge_entries(kept, collect_runs(self.profile, chapter, names, known))
        return found

    def missing(self) -> dict[str, list[str]]:
        """Variant → the chapters whose run is missing, the first variants first."""
        done = {chapter: {run.variant for run in entry.runs} for chapter, entry in self.collect().items()}
        gaps: dict[str, list[str]] = {}
        for number in range(max(map(len, self.listed.values()))):
            for chapter, names in self.listed.items():
                if number < len(names) and names[number] not in done[chapter]:
                    gaps.setdefault(names[number], []).append(chapter)
        return gaps

    def run(self, **where) -> dict[str, Chapter]:
        """Do the missing runs and store all; with other seeds, those that failed by themselves are noted."""
        since, failed = time.time(), {}
        if gaps := self.missing():
            confirm.clean_commit(None, [], self.profile)
            total = sum(map(len, self.listed.values()))
            print(f"{sum(map(len, gaps.values()))} of {plural(total, 'run')} missing", flush=True)
            try:
                build.each(self.profile, ROOT / "build" / f"sweep-{self.profile}", gaps, check.before, **where)
            except BuildError as error:
                failed = failures(self.profile, gaps, since)
                left = {(chapter, name) for name, named in self.missing().items() for chapter in named}
                if left - {(chapter, name) for chapter, names in failed.items() for name in names}:
                    raise BuildError(f"{error}; the table is stored when every run was done") from None
        found = self.collect()
        found = {chapter: one.model_copy(update={"failed": failed.get(chapter, {})}) for chapter, one in found.items()}
        self.record.write(self.record.read() | found)
        print(f"stored, to be committed: {self.record.path}", flush=True)
        return found


def with_known_commits(stored: dict[str, Chapter]) -> dict[str, Chapter]:
    """The chapters of a record whose seeds, if any, come from commits of this history."""
    commits = {
        c: {run.variant.partition(".")[0] for run in entry.runs if "." in run.variant} for c, entry in stored.items()
    }
    gone = history.unreachable_commits(set().union(*commits.values()))
    return {chapter: entry for chapter, entry in stored.items() if not commits[chapter] & gone}


def seed_commit(profile: str, chapter: str, stored: Chapter | None, known: sources.Sources) -> str:
    """The commit that a chapter's seeds come from: that of the runs that are up to date; "" without such runs."""
    if stored and stored.runs and stored.current(chapter, profile, known):
        return stored.runs[0].variant.partition(".")[0]
    paths = sorted((ROOT / "build" / "executed").glob(f"sweep-{profile}-*.*/{chapter}.ipynb"))
    runs = [run for path in paths if (run := current_run(path, profile, provenance(path).get("seeds", ""), known))]
    commits = [run["seeds"].partition(".")[0] for run in runs]
    gone = history.unreachable_commits(commits)
    return max((commit for commit in commits if commit not in gone), key=commits.count, default="")


def of_seeds(profile: str, count: int, wanted: list[str], commit: str | None) -> Repeat:
    """Each chapter with a number of seeds from a commit's id."""
    if count < 2:
        raise BuildError(f"SEEDS = {count}; allowed: 2 or more, one seed has no spread")
    known, stored = sources.Sources(), with_known_commits(Record("sweep", profile).read())
    commits = {chapter: seed_commit(profile, chapter, stored.get(chapter), known) for chapter in wanted}
    if fresh := [chapter for chapter in wanted if not commits[chapter]]:
        commits |= dict.fromkeys(fresh, confirm.clean_commit(commit, fresh, profile))
    return Repeat("sweep", profile, {c: [f"{commits[c]}.{k + 1}" for k in range(count)] for c in wanted})


def of_settings(profile: str, names: list[str], wanted: list[str]) -> Repeat:
    """Each chapter as built and in the settings named; a setting that is another Python runs in that Python only."""
    stated = variants.settings().settings
    if names == [ALL]:
        names = [name for name, setting in stated.items() if setting.here]
    for name in names:
        if not (setting := variants.setting(f"@{name}")).here:
            advice = f"in a clone of its own: make repeat PYTHON=python{setting.python}"
            raise BuildError(f"setting {name!r} is Python {setting.python}; {advice}")
    return Repeat("machines", profile, {c: [AS_BUILT, *(f"@{name}" for name in names)] for c in wanted})


def failures(profile: str, gaps: dict[str, list[str]], since: float) -> dict[str, dict[str, str]]:
    """Chapter → variant → the error of runs that a build tried and that ended with one."""
    found: dict[str, dict[str, str]] = {}
    for variant, named in gaps.items():
        for chapter in named:
            path = ROOT / "build" / "failed" / profile / f"{variants.title(chapter, variant)}.ipynb"
            if not executed(profile, variant, chapter).exists() and path.exists() and path.stat().st_mtime >= since:
                outputs = records.outputs(sources.read(path))
                errors = [f"{o['ename']}: {o['evalue']}" for o in outputs if o.get("output_type") == "error"]
                found.setdefault(chapter, {})[variant] = errors[-1] if errors else "was not reached"
    return found


def repeat(names: list[str], seeds: int, settings: list[str] | None, commit: str | None, profile: str, **where) -> int:
    """Run chapters again, report what differs, and return the exit status."""
    wanted = sorted({chapters.find(name) for name in names}) or chapters.chapters()
    if settings:
        return report.report_settings(of_settings(profile, settings, wanted).run(**where))
    return report.report_seeds(of_seeds(profile, seeds, wanted, commit).run(**where), profile)
