"""Build the book: say what it will take, take the lock, let Snakemake run what is stale, here or on a cluster.

python -m book.tools.build --profile laptop
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from book.tools import check
from book.tools.base import leftovers, stopping, supervise
from book.tools.base.chapters import ROOT, BuildError, keep_apart, speak_anywhere
from book.tools.outcomes import records
from book.tools.pages import destination
from book.tools.reading import profiles
from book.tools.running import cluster, forkserver, graph, jobs, listing, prices, stamps, variants
from book.tools.running.progress import Progress

MANY = 3  # so many chapters are worth a stem: it takes as long to start as it saves on one or two


def plan(profile_name: str, where: str) -> str:
    """Time, memory and disk of a profile, and where it runs, in words."""
    profile = profiles.profile(profile_name)
    seconds = sum(chapter.budget_s for chapter in profile.chapters.values())
    free = shutil.disk_usage(ROOT).free / 2**30
    return (
        f"Profile {profile_name} ({profile.says}): {len(profile.chapters)} chapter(s), at most "
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


def _run(command: list[str], environment: dict[str, str], progress: Progress, told: cluster.Told | None) -> int:
    """Run a command, show what it says with the progress; its exit status."""
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT if told else None}
    streams |= {"text": True, "encoding": "utf-8"}
    patience = 60 if told else 0  # a cluster's jobs have to be cancelled
    with supervise.started(command, ROOT, environment, patience, **streams) as process:
        for line in process.stdout or ():
            text = line.rstrip("\n")
            for said in told.lines(text) if told else [text]:
                _show(progress.line(said))
        code = process.wait()
    for said in told.rest() if told and code else ():
        _show(said)
    return code


def _show(text: str) -> None:
    print(text, file=sys.stderr if text.startswith("error: ") else sys.stdout, flush=True)


class _Variant:
    """What a build has to do for one variant of the chapters (``book/tools/running/variants.py``)."""

    def __init__(self, name: str, profile: str, out: Path, only: list[str] | None, target: str):
        self.name = name
        self.stamps = stamps.update(profile, out, name)  # what is wrong with chapters or profiles is said here
        self.wanted = [chapter for chapter in self.stamps.chapters if only is None or chapter in only]
        stale = [chapter for chapter in self.stamps.stale() if chapter in self.wanted] if target != "trained" else []
        self.stale = {variants.title(chapter, name): self.stamps.executed[chapter] for chapter in stale}
        self.listed = list(listing.jobs(profile, name).values())
        self.todo = jobs.missing(self.listed, self.wanted if target == "trained" else stale)


def build(
    profile_name: str,
    out: Path,
    cores: int,
    target: str,
    stem: bool | None = None,
    seeds: str = "",
    only: list[str] | None = None,
    executor: str = "local",
    executor_args: str = "",
    others: Mapping[str, list[str]] | None = None,
) -> None:
    """Run the graph up to ``target``: ``book`` (the pages), ``executed`` (the notebooks) or ``trained`` (the runs).

    Snakemake is not even started if all that it would look at is there and newer than what it depends on.

    Parameters
    ----------
    profile_name : str
        which settings of the chapters.
    out : Path
        where the pages go.
    cores : int
        how many chapters run side by side.
    target : str
        ``book``, ``executed`` or ``trained``.
    stem : bool, optional
        whether chapters run in processes forked from one that has imported everything; by default if there are many.
        A cluster has none.
    seeds : str
        the commit that the seeds of a confirmatory run come from; "" leaves the chapters' own.
    only : list of str, optional
        the chapters that are executed; by default all.
    executor : str
        ``local`` or ``slurm``.
    executor_args : str
        arguments of Snakemake's for a cluster.
    others : mapping, optional
        instead of ``seeds`` and ``only``, several variants (:mod:`book.tools.running.variants`), each with its
        chapters.
    """
    cluster.check(executor, executor_args)
    where = graph.Where(cores, executor, executor_args)
    if target == "book":
        destination.check(out)
    with build_lock(), stopping.then(clear := partial(leftovers.clear, out, listing.folder())):
        since = time.time()
        clear()
        check.before(target)
        every: Mapping[str, list[str] | None] = others or {seeds: only}
        parts = [_Variant(name, profile_name, out, chosen, target) for name, chosen in every.items()]
        found = parts[0].stamps
        stale = {title: path for part in parts for title, path in part.stale.items()}
        listed = list({job.digest: job for part in parts for job in part.listed}.values())
        todo = list({job.digest: job for part in parts for job in part.todo}.values())
        print(plan(profile_name, str(where)), flush=True)
        if listed:
            print(prices.plan(listed, todo), flush=True)
        if where.here:
            prices.refuse_without_gpu(todo, profile_name)
        if stale or todo or (target == "book" and found.pages_are_stale()):
            # For the pages too, a notebook that is missing is executed.
            targets = list(dict.fromkeys(["executed", target])) if target == "book" else [target]
            if only is not None or others:
                targets = [str(path) for path in stale.values()]
            after = profiles.profile(profile_name).pages_s if target == "book" else 0.0
            trained = {job.digest: (job.title, job.seconds) for job in todo}
            progress = Progress(profile_name, list(stale), cores if where.here else None, after, runs=trained)
            rules = [variants.rule(variants.chapter(title), part.name) for part in parts for title in part.stale]
            rules += ["pages"] if target == "book" and found.pages_are_stale() else []
            names = ",".join(part.name for part in parts)
            command = graph.command(targets, rules, profile_name, out, names, where, todo)
            told = None if where.here else cluster.Told(_names(listed, parts))
            forks = where.here and stale and (len(stale) >= MANY if stem is None else stem) and forkserver.possible()
            forks = forks and not any(variants.variables(part.name) for part in parts)  # they are set before imports
            with contextlib.ExitStack() as stack:
                environment = _environment()
                if forks:
                    environment = stack.enter_context(forkserver.running(ROOT, environment))
                code = _run(command, environment, progress, told)
            if edited := found.edited(since):
                print(
                    f"edited while the build ran: {', '.join(edited)}; run it again to have that in the book",
                    flush=True,
                )
            if code:
                raise BuildError(
                    "the build stopped; the messages above say where. What was finished is kept: run it again to go on"
                )
    if target == "book":
        for line in records.image_messages(found.executed.values()):
            print(line)
        print(f"The book: {found.built.with_name('index.html')}")


def each(profile_name: str, out: Path, others: Mapping[str, list[str]], executor: str = "local", **where) -> None:
    """Execute chapters in several variants: on a cluster together, here one variant after another.

    When a job ends, Snakemake looks at every job that waits, and does so every second again for each that ended; with
    hundreds of jobs it takes a core for itself.
    """
    together = [dict(others)] if executor != "local" else [{name: named} for name, named in others.items()]
    failed = None
    for chosen in together:
        try:
            build(profile_name, out, target="executed", others=chosen, executor=executor, **where)
        except BuildError as error:
            failed = error
    if failed:
        raise failed


def _environment() -> dict[str, str]:
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    environment.pop(forkserver.ADDRESS, None)
    environment["PYTHONUTF8"] = "1"  # what the processes of a build say to each other does not depend on the locale
    return environment


def _names(listed: Sequence[jobs.Job], parts: Sequence[_Variant]) -> dict[str, str]:
    """Rule of the graph → what its job is called."""
    titles = {variants.rule(c, part.name): variants.title(c, part.name) for part in parts for c in part.wanted}
    return titles | {f"run_{job.digest}": f"run {job.digest}" for job in listed}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="build", description="Build the book from executed notebooks.")
    parser.add_argument("--profile", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "book", help="where the pages go")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--target", choices=("book", "executed", "trained"), default="book")
    parser.add_argument("--executor", default="local", help="local or slurm (default: local)")
    parser.add_argument("--executor-args", default="", metavar="WORDS", help="arguments of Snakemake's for a cluster")
    parser.add_argument(
        "--stem",
        action=argparse.BooleanOptionalAction,
        help="fork the chapters' processes from one that has imported everything (default: if there are many)",
    )
    given = parser.parse_args(arguments)
    speak_anywhere()
    keep_apart()
    where = {"executor": given.executor, "executor_args": given.executor_args}
    return stopping.status(
        lambda: build(given.profile, given.out.resolve(), given.cores, given.target, given.stem, **where)
    )


if __name__ == "__main__":
    sys.exit(main())
