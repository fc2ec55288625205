"""Build the book: say what it will take, take the lock, let Snakemake run what is stale, here or on a cluster.

python -m book.tools.build --profile laptop
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from book.tools import cluster, profiles, runs, sources, workers
from book.tools.chapters import ROOT, BuildError
from book.tools.progress import Progress

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


def _take_lock() -> TextIO:
    path = ROOT / "build" / ".lock"
    path.parent.mkdir(exist_ok=True)
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BuildError("another build is running in this folder; wait for it to end or stop it") from None
    return lock  # the kernel releases it when this process ends, however it ends


@dataclass(frozen=True)
class Where:
    """Where jobs run: on this machine's cores, or on a cluster with arguments of Snakemake's for it."""

    cores: int
    executor: str = "local"
    given: str = ""

    def __str__(self) -> str:
        return f"{self.cores} core(s)" if self.here else f"a cluster ({self.executor})"

    @property
    def here(self) -> bool:
        """Whether it is this machine."""
        return self.executor == "local"

    def settings(self, todo: Sequence[runs.Job]) -> list[str]:
        """Snakemake's arguments."""
        if not self.here:
            return cluster.arguments(self.executor, self.given)
        memory = cluster.megabytes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20)
        limits = [f"mem_mb={memory}", *([f"gpu={runs.gpus()}"] if any(job.gpu for job in todo) else [])]
        return ["--cores", str(self.cores), "--quiet", "all", "--resources", *limits]


def _snakemake(
    targets: list[str], profile_name: str, out: Path, seeds: str, where: Where, todo: Sequence[runs.Job]
) -> list[str]:
    """The command that runs the graph up to some targets."""
    graph = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT)]
    rules = ["--nolock", "--ignore-incomplete", "--rerun-triggers", "mtime", "--keep-going", "--scheduler", "greedy"]
    config = [f"profile={profile_name}", f"out={out}", f"executor={where.executor}"]
    config += [f"seeds={seeds}"] if seeds else []
    return [sys.executable, "-m", "snakemake", *targets, *graph, *rules, "--config", *config, *where.settings(todo)]


def _run(command: list[str], environment: dict[str, str], progress: Progress, told: cluster.Told | None) -> int:
    """Run a command, show what it says with the progress; its exit status."""
    errors = subprocess.STDOUT if told else None
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
    )
    assert process.stdout
    try:
        for line in process.stdout:
            text = line.rstrip("\n")
            for said in told.lines(text) if told else [text]:
                _show(progress.line(said))
        code = process.wait()
    except KeyboardInterrupt:  # which reaches all that runs; what does not end then is ended
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(60 if told else 10)
        process.kill()
        raise
    for said in told.rest() if told and code else ():
        _show(said)
    return code


def _show(text: str) -> None:
    print(text, file=sys.stderr if text.startswith("error: ") else sys.stdout, flush=True)


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

    Raises
    ------
    BuildError
        if something failed; the messages above say what.
    """
    cluster.check(executor, executor_args)
    where = Where(cores, executor, executor_args)
    with _take_lock():
        found = sources.stamps(profile_name, out, seeds)  # what is wrong with chapters or profiles is said here
        wanted = [chapter for chapter in found.chapters if only is None or chapter in only]
        stale = [chapter for chapter in found.stale() if chapter in wanted] if target != "trained" else []
        listed = list(runs.jobs(profile_name, seeds).values())
        todo = runs.missing(listed, wanted if target == "trained" else stale)
        print(plan(profile_name, str(where)), flush=True)
        if listed:
            print(runs.plan(listed, todo), flush=True)
        if where.here:
            runs.refuse_without_gpu(todo, profile_name, seeds)
        if stale or todo or (target == "book" and found.pages_are_stale()):
            # For the pages too, a notebook that is missing is executed.
            targets = list(dict.fromkeys(["executed", target])) if target == "book" else [target]
            if only is not None:
                targets = [str(found.executed[chapter]) for chapter in stale]
            after = profiles.profile(profile_name).pages_s if target == "book" else 0.0
            trained = {job.digest: (job.title, job.seconds) for job in todo}
            progress = Progress(profile_name, stale, cores if where.here else None, after, runs=trained)
            command = _snakemake(targets, profile_name, out, seeds, where, todo)
            told = None if where.here else cluster.Told(_names(listed, wanted))
            forks = where.here and stale and (len(stale) >= MANY if stem is None else stem) and workers.possible()
            with contextlib.ExitStack() as stack:
                environment = _environment()
                if forks:
                    environment = stack.enter_context(workers.stem(ROOT, environment))
                code = _run(command, environment, progress, told)
            if code:
                raise BuildError(
                    "the build stopped; the messages above say where. What was finished is kept: run it again to go on"
                )
    if target == "book":
        print(f"The book: {found.built.with_name('index.html')}")


def _environment() -> dict[str, str]:
    paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    environment.pop(workers.ADDRESS, None)
    return environment


def _names(listed: Sequence[runs.Job], chapters: Sequence[str]) -> dict[str, str]:
    """Rule of the graph → what its job is called."""
    return {f"chapter_{chapter}": chapter for chapter in chapters} | {
        f"run_{job.digest}": f"run {job.digest}" for job in listed
    }


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
    try:
        where = {"executor": given.executor, "executor_args": given.executor_args}
        build(given.profile, given.out.resolve(), given.cores, given.target, given.stem, **where)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
