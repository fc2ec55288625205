"""The graph run: estimate the time, take the lock, let Snakemake run what is stale, here or on a cluster."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from book.tools.read import profiles, stopping
from book.tools.read.chapters import ROOT, BuildError, plural
from book.tools.run import cluster, destination, forkserver, graph, jobs, listing, prices, prose, variants
from book.tools.run.progress import Progress
from book.tools.run.targets import Targets
from lmc_helpers.files import remove_abandoned

WHOLE = {"": None}  # every chapter with its own seeds
FEW = 3  # chapters or runs for which no forkserver is started: it takes as long as it saves on two


def plan(name: str, where: str) -> str:
    """Time, memory and disk of a profile, and where it runs, in words."""
    profile = profiles.profile(name)
    seconds = sum(chapter.budget_s for chapter in profile.chapters.values())
    free = shutil.disk_usage(ROOT).free / 2**30
    return (
        f"Profile {name} ({profile.says}): {plural(len(profile.chapters), 'chapter')}, at most "
        f"{seconds + profile.pages_s:.0f} s on 2 cores, {profile.memory_gib:g} GiB of memory, "
        f"{profile.disk_gib:g} GiB of disk ({free:.0f} GiB free). Running on {where}; only what is stale runs."
    )


@contextlib.contextmanager
def build_lock() -> Iterator[None]:
    """One build at a time in a folder; the others wait. The lock ends with its process."""
    lock = FileLock(ROOT / "build" / ".lock")
    (ROOT / "build").mkdir(exist_ok=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print("waiting for another build in this folder to end ...", flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _run(command: list[str], environment: dict[str, str], progress: Progress, here: bool) -> int:
    """Run Snakemake, show its jobs' messages with the progress; the exit status."""
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C reaches the build alone
        preexec_fn=partial(stopping.die_with_parent, signal.SIGKILL if here else signal.SIGINT),
    )

    def cancel() -> None:  # Snakemake cancels the jobs that it has submitted
        process.send_signal(signal.SIGINT)
        process.wait(60)

    with contextlib.nullcontext() if here else stopping.on_interrupt(cancel), process:
        for line in process.stdout or ():
            print(progress.line(line.rstrip("\n")), flush=True)
    return process.returncode


class _Variant:
    """The work of a build for one variant of the chapters (``book/tools/run/variants.py``)."""

    def __init__(self, name: str, profile: str, out: Path, only: list[str] | None, target: str):
        self.name, self.targets = name, Targets(profile, out, name)
        self.wanted = [chapter for chapter in self.targets.executed if only is None or chapter in only]
        self.listed = list(listing.jobs(profile, name).values())
        self.stale = self.outdated() if target != "trained" else []
        self.todo = jobs.missing(self.listed, self.wanted if target == "trained" else self.stale)

    def outdated(self) -> list[str]:
        """The chapters to execute now."""
        return [chapter for chapter in self.targets.stale() if chapter in self.wanted]


def build(
    profile: str,
    out: Path,
    cores: int,
    target: str,
    check: Callable[[str], object],
    fork: bool | None = None,
    chosen: Mapping[str, list[str] | None] = WHOLE,
    executor: str = "local",
    executor_args: str = "",
) -> None:
    """Run the graph up to ``target``: ``book`` (the pages), ``executed`` (the notebooks) or ``trained`` (the runs).

    Snakemake is not even started if nothing is stale. ``chosen`` has the chapters, or None for all, of each variant
    (:mod:`book.tools.run.variants`). Chapters are forked from a process that has imported everything if there are many;
    ``fork`` overrides this. The files that the target needs pass the ``check`` first.
    """
    cluster.check(executor, executor_args)
    where = graph.Where(cores, executor, executor_args)
    tidy = partial(_tidy, out)
    with build_lock(), stopping.on_interrupt(tidy), stopping.on_interrupt(stopping.end_children):
        tidy()
        check(target)
        parts = [_Variant(name, profile, out, only, target) for name, only in chosen.items()]
        targets = parts[0].targets
        listed = list({job.digest: job for part in parts for job in part.listed}.values())
        todo = list({job.digest: job for part in parts for job in part.todo}.values())
        print(plan(profile, str(where)), flush=True)
        if listed:
            print(prices.plan(listed, todo), flush=True)
        if where.here:
            prices.refuse_without_gpu(todo, profile)
        if not targets.variant and target != "trained":
            prose.take_over(targets, set(parts[0].wanted) - set(parts[0].stale))
        pages = target == "book" and bool(parts[0].stale or targets.pages_are_stale())
        if todo or pages or any(part.stale for part in parts):
            _make(parts, todo, pages, where, fork)
            outdated = [variants.title(chapter, part.name) for part in parts for chapter in part.outdated()]
            if target != "trained" and (outdated or (pages and targets.pages_are_stale())):
                what = ", ".join(outdated) or "the pages"
                print(f"sources of {what} were edited while the build ran; run it again to have that in the book")


def _make(
    parts: Sequence[_Variant], todo: Sequence[jobs.Job], pages: bool, where: graph.Where, fork: bool | None
) -> None:
    """Run the graph: everything stale, and the training runs that it needs."""
    profile, out = parts[0].targets.profile, parts[0].targets.out
    titles = [variants.title(chapter, part.name) for part in parts for chapter in part.stale]
    stale = [str(part.targets.executed[chapter]) for part in parts for chapter in part.stale]
    goals = [str(parts[0].targets.built)] if pages else stale or [job.path for job in todo]
    after = profiles.profile(profile).pages_s if pages else 0.0
    trained = {job.digest: (job.title, job.seconds) for job in todo}
    progress = Progress(profile, titles, where.cores, after, runs=trained)
    seeds = ",".join(part.name for part in parts)
    behind = ",".join(parts[0].stale)  # which pages wait for
    config = {"profile": profile, "out": out, "seeds": seeds, "stale": behind}
    command = graph.command(goals, len(stale) + len(todo), where, todo, config)
    fork = max(len(titles), len(todo)) > FEW if fork is None else fork
    fork = bool(fork and (titles or todo) and where.here and forkserver.possible())
    fork = fork and not any(variants.variables(part.name) for part in parts)  # they are set before imports
    with contextlib.ExitStack() as stack:
        environment = _environment(where.here)
        if fork:
            environment = stack.enter_context(forkserver.running(ROOT, environment))
        code = _run(command, environment, progress, where.here)
    if code:
        raise BuildError(
            "the build stopped; the messages above say where. What was finished is kept: run it again to go on"
        )


def each(
    profile: str,
    out: Path,
    others: Mapping[str, list[str]],
    check: Callable[[str], object],
    executor: str = "local",
    **where,
) -> None:
    """Execute chapters in several variants: on a cluster all at once, here one variant after another.

    Snakemake looks again and again at every job that waits; with hundreds of jobs it takes a core for itself.
    """
    groups = [dict(others)] if executor != "local" else [{name: chapters} for name, chapters in others.items()]
    failed = None
    for chosen in groups:
        try:
            build(profile, out, target="executed", check=check, chosen=chosen, executor=executor, **where)
        except BuildError as error:
            failed = error
    if failed:
        raise failed


def _tidy(out: Path) -> None:
    """Remove leftovers of killed builds; a training run's checkpoint stays."""
    folder = ROOT / "build"
    remove_abandoned(folder, *folder.glob("*/"), *folder.glob("*/*/"), listing.folder())
    destination.remove_unfinished(out)
    (folder / ".forkserver").unlink(missing_ok=True)


def _environment(here: bool) -> dict[str, str]:
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | ({stopping.IN_BUILD: "1"} if here else {})
    environment.pop(forkserver.ADDRESS, None)
    environment["PYTHONUTF8"] = "1"  # messages between the processes of a build do not depend on the locale
    return environment
