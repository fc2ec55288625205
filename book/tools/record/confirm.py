"""Confirmatory runs: seeds that nobody can have chosen, and a record of the outcomes with their basis.

python -m book confirm --profile paper

A clean commit fixes the criteria. Its id gives every chapter its seed, the profile is run, and every outcome is stored
in ``book/recorded``, whatever the ledger expects. A record is valid as long as its basis is unchanged, see
:mod:`book.tools.record.standing`. Chapters with valid records are not run again, unless the commit of their seeds is
not in this history; chapters that were finished when a run was stopped are kept.

``--commit`` takes the seeds from an earlier commit that states the same, for runs that took long. Any change since, of
a parameter of a chapter (``chapter.name``) or of a part, has to be named by ``--later``, and the records name it.

``--anew`` instead judges again, by the present criterion, records of which nothing else has changed; they are marked. A
rejection that no second seed has repeated needs a run.

``--spot 1/3`` instead runs a random third of the chapters that need no trained networks again, with their records' own
seeds, and compares: a guard against changes of code that no cheap run reveals.
"""

import json
import math
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

from book.tools.read import chapters, headers, papers, sources, stopping
from book.tools.read.chapters import ROOT, BuildError, find, plural
from book.tools.read.history import git, unreachable_commits
from book.tools.record import check, narrowest, records, standing
from book.tools.record.measured import Difference, Measured
from book.tools.run import build, listing
from book.tools.run.targets import Targets
from lmc_helpers import claims
from lmc_helpers.claims.yaml_files import load
from lmc_helpers.files import atomic_write

#: Units of n in older quantities.
N_COUNTS = re.compile(r" \(n counts [^)]*\)")
README_FIGURE = ("12_overlap_theorem", "fig_limit")


def clean_commit(earlier: str | None, wanted: list[str], profile: str, later: Sequence[str] = ()) -> str:
    """The commit of the seeds: the present one, or an earlier one that states the same except for ``later``."""
    changed = git("status", "--porcelain")
    if changed:
        raise BuildError(f"a confirmatory run needs a clean commit; not committed:\n{changed}")
    head = git("rev-parse", "HEAD")
    if earlier is None:
        return head
    commit = git("rev-parse", "--verify", f"{earlier}^{{commit}}")
    if git("merge-base", commit, head) != commit:
        raise BuildError(f"{commit[:10]} is not an ancestor of the present commit {head[:10]}")
    with tempfile.TemporaryDirectory(prefix="lmc-") as folder, stopping.on_interrupt(partial(shutil.rmtree, folder)):
        git("archive", "--output", f"{folder}/then.tar", commit, "book/claims", "notebooks")
        shutil.unpack_archive(f"{folder}/then.tar", folder, filter="data")
        then, now = (_stated(root, wanted, profile) for root in (Path(folder), ROOT))
    differ = [name for name in then | now if then.get(name) != now.get(name)]
    if unnamed := [name for name in differ if name not in later]:
        raise BuildError(
            f"{', '.join(unnamed)} changed since {commit[:10]}; confirm a later commit, or name it: --later"
        )
    if same := [name for name in later if name not in differ]:
        raise BuildError(f"--later {', '.join(same)} did not change since {commit[:10]}; changed: {', '.join(differ)}")
    return commit


def _stated(root: Path, wanted: list[str], profile: str) -> dict[str, object]:
    """The statements of a tree on some chapters: criterion and quantity of each part, and each chapter's parameters.

    Ignores the unit of n, which older quantities included.
    """
    parts, settings = papers.parts(root / "book" / "claims"), root / "notebooks" / "profiles" / f"{profile}.yaml"
    given = load(settings)["chapters"] if settings.is_file() else {}
    known = sources.Sources()
    checked = {id for chapter in wanted for id in known.chapter(chapter).checks}
    stated: dict[str, object] = {
        id: (parts[id].digest(), N_COUNTS.sub("", parts[id].quantity)) for id in sorted(checked & parts.keys())
    }
    for name in map(chapters.short, wanted):
        stated |= {f"{name}.{key}": value for key, value in given.get(name, {}).get("parameters", {}).items()}
    return stated


def missing(profile: str, wanted: list[str]) -> list[str]:
    """The chapters, of those wanted, that have a part without a valid record whose seeds can be checked."""
    known, stored = sources.Sources(), records.recorded(profile)
    gone = unreachable_commits(record["seeds"] for record in stored.values())
    stand = {id for id, r in stored.items() if r["seeds"] not in gone and not standing.changes(r, known)}
    return [chapter for chapter in wanted if set(known.chapter(chapter).checks) - stand]


def rested(record: dict) -> dict:
    """The record with its present basis: parameters and reference."""
    given = standing.parameters(record["chapter"], record["profile"]) | record["parameters"]
    return record | {"parameters": given, "reference": standing.references().get(record["part"])}


def store(profile: str, commit: str, wanted: list[str], later: Sequence[str] = ()) -> Path:
    """Record the outcomes of the confirmatory runs of some chapters, as far as they are finished.

    Each record names everything that was set ``later`` than the commit of its seeds: parameters of its chapter, its own
    criterion. Records of other parts stay, and are shown as out of date; parts that the ledger no longer has are
    dropped. The README's figure comes from the same run.
    """
    found = records.recorded(profile)
    made = Targets(profile, ROOT / "build" / f"confirm-{profile}", commit)
    for chapter in sorted(set(wanted) - set(made.stale())):
        path = made.executed[chapter]
        fresh = records.records(path)
        if any(record["commit"].endswith("+") or record["commit"] == "unknown" for record in fresh):
            print(f"{path.stem}: not stored, its sources were edited while it ran; run it again", flush=True)
            path.unlink()
            continue
        set_later = [name.partition(".")[2] for name in later if name.startswith(f"{chapters.short(chapter)}.")]
        for record in fresh:
            names = [*set_later, *["criterion"] * (record["part"] in later)]
            found[record["part"]] = rested(record) | ({"set_later": names} if names else {})
        if path.stem == README_FIGURE[0] and profile == "paper":
            picture = records.pictures(records.notebook(path))[README_FIGURE[1]]
            atomic_write(ROOT / "book" / "_static" / "readme.png", picture)
    return _write(profile, found)


def _write(profile: str, found: dict[str, dict]) -> Path:
    out = records.recorded_path(profile)
    listing = [found[id] for id in papers.parts() if id in found]
    narrowest.store(found)
    atomic_write(out, json.dumps(listing, indent=1, ensure_ascii=False) + "\n")
    return out


def judge_anew(profile: str) -> None:
    """Judge, by today's criterion, the records of which only the criterion has changed; nothing runs."""
    known, found = sources.Sources(), records.recorded(profile)
    fresh = {id: record for id, old in found.items() if (record := standing.judged_anew(old, known))}
    for id, record in fresh.items():
        print(f"{id}: {found[id]['verdict']} by {found[id]['criterion']}; {record['verdict']} by {record['criterion']}")
    written = _write(profile, found | {id: rested(r) for id, r in fresh.items()})
    print(f"{plural(len(fresh), 'record')} judged anew: {written}")


def store_results(profile: str, commit: str, wanted: list[str]) -> list[Path]:
    """Copy the results of runs that took hours, those with a ``stored_in``, to the folder where the book keeps them."""
    kept = []
    for chapter in wanted:
        for run in listing.runs(chapter, profile, commit):
            stored_in = getattr(run, "stored_in", None)
            if stored_in is not None and run.done() and (path := Path(run.path())).parent != stored_in:
                atomic_write(stored_in / path.name, path.read_bytes())
                kept.append(stored_in / path.name)
    return kept


def run(profile: str, earlier: str | None, only: list[str], cores: int, later: list[str]) -> None:
    """Run the chapters that have a part without a valid record; results are stored, even if the run is stopped."""
    wanted = missing(profile, [find(name) for name in only] or chapters.chapters())
    if not wanted:
        print(f"every part has a record that stands: {records.recorded_path(profile)}")
        return
    commit = clean_commit(earlier, wanted, profile, later)
    out = ROOT / "build" / f"confirm-{profile}"
    print(f"{plural(len(wanted), 'chapter')} with seeds from {commit[:10]}: {', '.join(wanted)}", flush=True)

    def keep() -> None:
        for path in [store(profile, commit, wanted, later), *store_results(profile, commit, wanted)]:
            print(f"stored, to be committed: {path}", flush=True)

    try:
        with stopping.on_interrupt(keep):
            build.build(profile, out, cores, "executed", check.before, chosen={commit: wanted})
    finally:
        keep()


def repeat_share(profile: str, share: Fraction, cores: int) -> int:
    """Run a share of the recorded chapters again with their own seeds and compare; return the number of differences.

    The present commit draws them from those that need no trained networks. If a chapter shows no difference, its
    records rest on today's references from then on.
    """
    stored, out = records.recorded(profile), ROOT / "build" / f"confirm-{profile}"
    able = sorted({record["chapter"] for record in stored.values()} & set(chapters.chapters()))
    able = [chapter for chapter in able if headers.function_name(chapter) is None]
    wanted = sorted(random.Random(git("rev-parse", "HEAD")).sample(able, math.ceil(share * len(able))))
    print(f"{plural(len(wanted), 'chapter')} again: {', '.join(wanted)}", flush=True)
    wrong = 0
    for chapter, seeds in sorted({(r["chapter"], r["seeds"]) for r in stored.values() if r["chapter"] in wanted}):
        here = [record for record in stored.values() if (record["chapter"], record["seeds"]) == (chapter, seeds)]
        build.build(profile, out, cores, "executed", check.before, chosen={seeds: [chapter]})
        path = Targets(profile, out, seeds).executed[chapter]
        again = {record["part"]: record for record in records.records(path)}
        lines = [line for record in here for line in _compare(record, again)]
        for line in lines:
            print(f"error: {line}", file=sys.stderr, flush=True)
        wrong += len(lines)
        if not lines:
            stored |= {record["part"]: rested(record) for record in here}
    print(f"{plural(len(wanted), 'chapter')} compared: {plural(wrong, 'difference')}")
    _write(profile, stored)
    return wrong


def _compare(record: dict, again: dict[str, dict]) -> list[str]:
    """Differences between a record and the same run today."""
    id = record["part"]
    if id not in again:
        return [f"{id} is no longer checked"]
    difference = Difference(claims.part(id), Measured.of(record), Measured.of(again[id]))
    return [f"{id}: {line}" for line in difference.complaints("in the record")]


def confirm(
    names: list[str], profile: str, commit: str | None, later: list[str], spot: Fraction | None, anew: bool, cores: int
) -> int:
    """Run chapters and store their outcomes; instead compare a share of them, or judge anew."""
    if anew:
        judge_anew(profile)
    elif spot is not None:
        return min(1, repeat_share(profile, spot, cores))
    else:
        run(profile, commit, names, cores, later)
    return 0
