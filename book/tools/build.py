"""Build the book: say what it will take, take the lock, let Snakemake run what is stale.

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
from pathlib import Path
from typing import TextIO

from book.tools import profiles, sources, workers
from book.tools.chapters import ROOT, BuildError
from book.tools.progress import Progress

MANY = 3  # so many chapters are worth a stem: it takes as long to start as it saves on one or two


def plan(profile_name: str, cores: int) -> str:
    """Time, memory and disk of a profile, and what this machine has, in words."""
    profile = profiles.profile(profile_name)
    seconds = sum(chapter.budget_s for chapter in profile.chapters.values())
    free = shutil.disk_usage(ROOT).free / 2**30
    return (
        f"Profile {profile_name} ({profile.says}): {len(profile.chapters)} chapter(s), at most "
        f"{seconds + profile.pages_s:.0f} s on 2 cores, {profile.memory_gib:g} GiB of memory, "
        f"{profile.disk_gib:g} GiB of disk ({free:.0f} GiB free). Running on {cores} core(s); only what is stale runs."
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


def _snakemake(targets: list[str], profile_name: str, out: Path, cores: int, seeds: str) -> list[str]:
    """The command that runs the graph up to some targets."""
    graph = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT)]
    rules = ["--nolock", "--ignore-incomplete", "--rerun-triggers", "mtime", "--keep-going", "--scheduler", "greedy"]
    config = [f"profile={profile_name}", f"out={out}", *([f"seeds={seeds}"] if seeds else [])]
    settings = ["--cores", str(cores), "--quiet", "all", "--config", *config]
    return [sys.executable, "-m", "snakemake", *targets, *graph, *rules, *settings]


def _run(command: list[str], environment: dict[str, str], progress: Progress) -> int:
    """Run a command, show what it says with the progress; its exit status."""
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    assert process.stdout
    try:
        for line in process.stdout:
            print(progress.line(line.rstrip("\n")), flush=True)
        return process.wait()
    except KeyboardInterrupt:  # which reaches all that runs; what does not end then is ended
        with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
            process.wait(10)
        process.kill()
        raise


def build(
    profile_name: str,
    out: Path,
    cores: int,
    target: str,
    stem: bool | None = None,
    seeds: str = "",
    only: list[str] | None = None,
) -> None:
    """Run the graph up to ``target``: ``book`` (the pages) or ``executed`` (the notebooks).

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
        ``book`` or ``executed``.
    stem : bool, optional
        whether chapters run in processes forked from one that has imported everything; by default if there are many.
    seeds : str
        the commit that the seeds of a confirmatory run come from; "" leaves the chapters' own.
    only : list of str, optional
        the chapters that are executed; by default all.

    Raises
    ------
    BuildError
        if something failed; the messages above say what.
    """
    with _take_lock():
        found = sources.stamps(profile_name, out, seeds)  # what is wrong with chapters or profiles is said here
        stale = [chapter for chapter in found.stale() if only is None or chapter in only]
        stale_paths = [str(found.executed[chapter]) for chapter in stale]
        print(plan(profile_name, cores), flush=True)
        if stale or (target == "book" and found.pages_are_stale()):
            paths = filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])
            environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
            environment.pop(workers.ADDRESS, None)
            after = profiles.profile(profile_name).pages_s if target == "book" else 0.0
            progress = Progress(profile_name, stale, cores, after)
            wanted = len(stale) >= MANY if stem is None else stem
            with contextlib.ExitStack() as stack:
                if wanted and stale and workers.possible():
                    environment = stack.enter_context(workers.stem(ROOT, environment))
                # For the pages too, a notebook that is missing is executed.
                targets = list(dict.fromkeys(["executed", target])) if only is None else stale_paths
                code = _run(_snakemake(targets, profile_name, out, cores, seeds), environment, progress)
            if code:
                raise BuildError(
                    "the build stopped; the messages above say where. What was finished is kept: run it again to go on"
                )
    if target == "book":
        print(f"The book: {found.built.with_name('index.html')}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="build", description="Build the book from executed notebooks.")
    parser.add_argument("--profile", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "book", help="where the pages go")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--target", choices=("book", "executed"), default="book")
    parser.add_argument(
        "--stem",
        action=argparse.BooleanOptionalAction,
        help="fork the chapters' processes from one that has imported everything (default: if there are many)",
    )
    given = parser.parse_args(arguments)
    try:
        build(given.profile, given.out.resolve(), given.cores, given.target, given.stem)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
