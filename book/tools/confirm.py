"""Confirmatory runs: seeds that nobody can have chosen, and a record of what came out, with what it was judged by.

python -m book.tools.confirm --profile paper

A clean commit fixes criteria and code. Its id gives every chapter its seed, the profile is run, and every outcome is
stored in ``book/recorded`` with the commit and with digests of the criteria and of the code, whatever the ledger
expects. Chapters whose record is there and up to date are not run again, unless the commit of their seeds is not in
this history; what was finished when a run was stopped is taken up. A record whose criteria or code have changed since
is *out of date*.
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import argparse
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from functools import partial
from pathlib import Path

from book.tools.base import chapters, stopping, whole
from book.tools.base.chapters import ROOT, BuildError, find
from book.tools.base.history import git, lost
from book.tools.outcomes import records
from book.tools.reading import sources
from lmc_helpers import claims

README_FIGURE = ("12_overlap_theorem", "fig_limit")


def clean_commit(criteria: str | None, wanted: list[str], profile: str) -> str:
    """The commit that seeds come from: the present one, or an earlier one with the same code and criteria.

    Raises
    ------
    BuildError
        if the working tree differs from its commit, or the earlier commit is no ancestor or differs in what the
        wanted chapters compute or are judged by.
    """
    changed = git("status", "--porcelain")
    if changed:
        raise BuildError(f"a confirmatory run needs a clean commit; not committed:\n{changed}")
    head = git("rev-parse", "HEAD")
    if criteria is None:
        return head
    commit = git("rev-parse", "--verify", f"{criteria}^{{commit}}")
    if git("merge-base", commit, head) != commit:
        raise BuildError(f"{commit[:10]} is no ancestor of the present commit {head[:10]}")
    with tempfile.TemporaryDirectory(prefix="lmc-") as folder, stopping.then(partial(shutil.rmtree, folder)):
        archive = subprocess.run(["git", "-C", str(ROOT), "archive", commit], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        then, now = sources.Sources(Path(folder)), sources.Sources()
        for chapter in wanted:
            before = then.confirmed(chapter, profile) if (Path(folder) / "notebooks" / f"{chapter}.py").exists() else {}
            if differ := [name for name, value in now.confirmed(chapter, profile).items() if before.get(name) != value]:
                raise BuildError(f"{chapter}: {', '.join(differ)} changed since {commit[:10]}; confirm a later commit")
    return commit


def missing(profile: str, wanted: list[str]) -> list[str]:
    """The chapters, of those wanted, that have a part without an up-to-date record whose seeds can be checked."""
    known, stored = sources.Sources(), records.recorded(profile)
    gone = lost(record["seeds"] for record in stored.values())
    current = {
        part for part, record in stored.items() if records.is_current(record, known) and record["seeds"] not in gone
    }
    return [chapter for chapter in wanted if set(known.chapter(chapter).checks) - current]


def store(profile: str) -> Path:
    """Put the outcomes of all confirmatory runs that lie here and are up to date into the record.

    What is recorded of other parts stays, so that it is seen to be out of date; parts that the ledger no longer has
    go. The README's figure comes from the same run.
    """
    known, found = sources.Sources(), records.recorded(profile)
    for path in sorted((ROOT / "build" / "executed").glob(f"{profile}-*/*.ipynb"), key=lambda p: p.stat().st_mtime):
        here = records.records(path)
        fresh = [record for record in here if records.is_current(record, known)]
        if not fresh:
            continue
        if any(record["commit"].endswith("+") or record["commit"] == "unknown" for record in fresh):
            print(f"{path.stem}: not stored, its sources were edited while it ran; run it again", flush=True)
            path.unlink()
            continue
        found |= {record["part"]: record for record in fresh}
        if path.stem == README_FIGURE[0] and profile == "paper":
            picture = records.pictures(records.notebook(path))[README_FIGURE[1]]
            whole.write(ROOT / "book" / "_static" / "readme.png", picture)
    order = [id for claim in claims.ledger().values() for id in claim.parts]
    out = records.recorded_path(profile)
    listing = [found[id] for id in order if id in found]
    whole.write(out, json.dumps(listing, indent=1, ensure_ascii=False) + "\n")
    return out


def shelve(profile: str, commit: str, wanted: list[str]) -> list[Path]:
    """Copy the results of runs that belong with the book, those that have a shelf, to where it keeps them.

    What took hours then need not be made again, and a large experiment can be made in several sessions.
    """
    from book.tools.running import listing

    kept = []
    for chapter in wanted:
        for run in listing.runs(chapter, profile, commit):
            shelf = getattr(run, "shelf", None)
            if shelf is not None and run.done() and (path := Path(run.path())).parent != shelf:
                whole.write(shelf / path.name, path.read_bytes())
                kept.append(shelf / path.name)
    return kept


def confirm(profile: str, criteria: str | None, only: list[str], cores: int) -> None:
    """Run the chapters that have no up-to-date record, and store what came out, also when the run is stopped.

    Raises
    ------
    BuildError
        as :func:`clean_commit`, or if a chapter fails.
    """
    from book.tools import build

    wanted = missing(profile, [find(name) for name in only] or chapters.chapters())
    if not wanted:
        print(f"every part has an up-to-date record: {records.recorded_path(profile)}")
        return
    commit = clean_commit(criteria, wanted, profile)
    print(f"{len(wanted)} chapter(s) with seeds from {commit[:10]}: {', '.join(wanted)}", flush=True)

    def keep() -> None:
        for path in [store(profile), *shelve(profile, commit, wanted)]:
            print(f"stored, to be committed: {path}", flush=True)

    try:
        with stopping.then(keep):
            build.build(profile, ROOT / "build" / f"confirm-{profile}", cores, "executed", seeds=commit, only=wanted)
    finally:
        keep()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="confirm", description="Run chapters with seeds from a commit's id.")
    parser.add_argument("chapters", nargs="*", help="names, with or without numbers (default: all)")
    parser.add_argument("--profile", default="paper", help="smoke, laptop or paper (default: paper)")
    parser.add_argument("--commit", help="an ancestor with the same code and criteria (default: the present commit)")
    parser.add_argument("--cores", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args(arguments)
    chapters.speak_anywhere()
    chapters.keep_apart()
    return stopping.status(lambda: confirm(given.profile, given.commit, given.chapters, given.cores))


if __name__ == "__main__":
    sys.exit(main())
