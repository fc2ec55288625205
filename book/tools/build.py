"""Build the book: say what it will take, take the lock, let Snakemake run what is stale.

python -m book.tools.build --profile laptop
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

from book.tools import chapters
from book.tools.chapters import ROOT, BuildError


def plan(profile_name: str, cores: int) -> str:
    """Time, memory and disk of a profile, and what this machine has, in words."""
    profile = chapters.profile(profile_name)
    seconds = sum(chapter["budget_s"] for chapter in profile["chapters"].values())
    free = shutil.disk_usage(ROOT).free / 2**30
    return (
        f"Profile {profile_name} ({profile['says']}): {len(profile['chapters'])} chapter(s), at most "
        f"{seconds + profile['pages_s']:.0f} s on 2 cores, {profile['memory_gib']} GiB of memory, "
        f"{profile['disk_gib']} GiB of disk ({free:.0f} GiB free). Running on {cores} core(s); only what is stale runs."
    )


def _take_lock() -> object:
    path = ROOT / "build" / ".lock"
    path.parent.mkdir(exist_ok=True)
    lock = path.open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise BuildError("another build is running in this folder; wait for it to end or stop it") from None
    return lock  # the kernel releases it when this process ends, however it ends


def build(profile_name: str, out: Path, cores: int, target: str) -> None:
    """Run the graph up to ``target``: ``book`` (the pages) or ``executed`` (the notebooks)."""
    chapters.stamps(profile_name, out)  # what is wrong with chapters or profiles is said here, in plain words
    lock = _take_lock()
    print(plan(profile_name, cores), flush=True)
    command = [
        sys.executable,
        "-m",
        "snakemake",
        target,
        "--snakefile",
        str(ROOT / "Snakefile"),
        "--directory",
        str(ROOT),
    ]
    command += [
        "--cores",
        str(cores),
        "--nolock",
        "--ignore-incomplete",
        "--rerun-triggers",
        "mtime",
        "--keep-going",
    ]
    command += ["--quiet", "all", "--config", f"profile={profile_name}", f"out={out}"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))}
    code = subprocess.run(command, env=environment).returncode
    lock.close()
    if code:
        raise BuildError(
            "the build stopped; the messages above say where. What was finished is kept: run it again to go on"
        )
    if target == "book":
        print(f"The book: {out / '_build' / 'html' / 'index.html'}")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="build", description="Build the book from executed notebooks.")
    parser.add_argument("--profile", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "book", help="where the pages go")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--target", choices=("book", "executed"), default="book")
    given = parser.parse_args(arguments)
    try:
        build(given.profile, given.out.resolve(), given.cores, given.target)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; what was finished is kept", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
