"""The training runs in front of the chapters: which there are, which are missing, what they cost.

A chapter that trains names, in its header, a function that gives its runs from some of its parameters,

    jupyter:
      lmc: {runs: lmc_helpers.experiments.widths.runs}

and calls the same function itself: under plain papermill it trains what it does not find. In a build every run is a
job of its own that ends with a file, named by the run's digest, so that a run which chapters or profiles share is
trained once. A run that is there is never trained again.

python -m book.tools.runs --profile paper                          list
python -m book.tools.runs CHAPTER --profile paper --run DIGEST     train one
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import importlib
import inspect
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from typing import Protocol, runtime_checkable

from book.tools import chapters as names
from book.tools import confirm, profiles, sources, staging, workers
from book.tools.chapters import ROOT, BuildError
from book.tools.execute import commit, say

#: Variables of the environment that a list of runs, or where they lie, depends on.
VARIABLES = ("LMC_DATA", "LMC_DATA_UNVERIFIED", "LMC_OFFLINE", "LMC_RUNS")


class Price(Protocol):
    """What a training run costs."""

    @property
    def cpu_hours(self) -> float:
        """Hours of one core."""


@runtime_checkable
class Run(Protocol):
    """What a training run says of itself; see lmc_helpers.training.runs."""

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that change with what is trained."""

    @property
    def title(self) -> str:
        """What is trained, in a few words."""

    def path(self) -> Path:
        """The file that it ends with."""

    def done(self) -> bool:
        """Whether that file is there."""

    def resources(self) -> dict:
        """``cores``, ``memory_mib``, ``minutes`` on them or on a GPU, and whether it asks for a ``gpu``."""

    def prices(self) -> Price:
        """What it takes on a CPU."""

    def result(self, show_progress: bool = False) -> object:
        """Read the file, or train and write it."""


@dataclass(frozen=True)
class Job:
    """A run as the build sees it, without importing what it trains with."""

    digest: str
    title: str
    path: str
    cores: int
    memory_mib: int
    minutes: int  # on its cores, or on a GPU if it asks for one
    core_minutes: float  # without a GPU
    gpu: bool
    chapters: tuple[str, ...]

    @property
    def done(self) -> bool:
        """Whether its file is there."""
        return Path(self.path).exists()

    @property
    def seconds(self) -> float:
        """What to expect here."""
        return 60.0 * self.minutes if self.gpu else 60 * self.core_minutes / self.cores


def function_name(chapter: str) -> str | None:
    """The function that a chapter's header names, None if it trains nothing.

    Raises
    ------
    BuildError
        if the header cannot be read, or names something else.
    """
    header = re.match(r"# ---\n((?:#.*\n)*?)# ---\n", _text(chapter))
    if header is None or "lmc" not in header[1]:
        return None
    import yaml

    try:
        read = yaml.safe_load(re.sub("^# ?", "", header[1], flags=re.MULTILINE))
        name = ((read.get("jupyter") or {}).get("lmc") or {}).get("runs")
    except (yaml.YAMLError, AttributeError):
        raise BuildError(f"chapter {chapter}: its header is no YAML of keys and values") from None
    if name is not None and not re.fullmatch(rf"{sources.PACKAGE}(\.\w+)+\.\w+", str(name)):
        raise BuildError(
            f"chapter {chapter}: lmc.runs = {name!r} in its header is not allowed; allowed: the full name of a function"
            f" of {sources.PACKAGE}, for example {sources.PACKAGE}.experiments.widths.runs"
        )
    return name


def _text(chapter: str) -> str:
    return (names.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")


def parameters(chapter: str, profile: str, seeds: str = "") -> dict:
    """The parameters that a chapter has in a build: its own, the profile's, and the seed of a confirmatory run."""
    cells = ("\n" + _text(chapter)).split("\n# %%")[1:]
    tags = ((re.search(r"tags=(\[.*?\])", cell.partition("\n")[0]), cell) for cell in cells)
    own = (cell.partition("\n")[2] for found, cell in tags if found and "parameters" in json.loads(found[1]))
    known = staging.values(next(own, "")) | profiles.parameters(chapter, profile)
    return known | ({"seed": confirm.seed(seeds, chapter)} if seeds else {})


def runs(chapter: str, profile: str, seeds: str = "") -> list[Run]:
    """The training runs of a chapter, each once; its function is called with the parameters that it names.

    Raises
    ------
    BuildError
        if the function does not exist, wants something that is no parameter of the chapter, fails, or returns
        anything but a list of runs.
    """
    name = function_name(chapter)
    if name is None:
        return []
    known, where = parameters(chapter, profile, seeds), f"chapter {chapter}: {name}"
    try:
        module, _, attribute = name.rpartition(".")
        function = getattr(importlib.import_module(module), attribute)
    except (ModuleNotFoundError, AttributeError) as error:
        raise BuildError(f"{where}, named in its header, does not exist: {error}") from None
    if not callable(function):
        raise BuildError(f"{where}, named in its header, is a {type(function).__name__} and no function")
    wanted = inspect.signature(function).parameters.values()
    for keyword in wanted:
        if keyword.name not in known and keyword.default is keyword.empty:
            raise BuildError(f"{where} wants {keyword.name!r}, no parameter of the chapter; it has: {', '.join(known)}")
    try:
        found = function(**{keyword.name: known[keyword.name] for keyword in wanted if keyword.name in known})
    except Exception as error:
        raise BuildError(f"{where} failed: {type(error).__name__}: {error}") from error
    if not isinstance(found, (list, tuple)):
        raise BuildError(f"{where} returned a {type(found).__name__} and no list of runs")
    for run in found:
        if not isinstance(run, Run):
            raise BuildError(f"{where} returned a list with {run!r:.60}, which is no run")
    return list({run.digest: run for run in found}.values())


def _job(run: Run, chapter: str) -> Job:
    needs = run.resources()
    return Job(
        digest=run.digest,
        title=run.title,
        path=str(ROOT / run.path()),
        cores=max(1, int(needs["cores"])),
        memory_mib=ceil(needs["memory_mib"]),
        minutes=ceil(needs["minutes"]),
        core_minutes=60 * run.prices().cpu_hours,
        gpu=bool(needs["gpu"]),
        chapters=(chapter,),
    )


def jobs(profile: str, seeds: str = "") -> dict[str, Job]:
    """Digest → run, of all chapters at one profile; each knows its chapters.

    What was listed is kept in ``build/listed`` by the checksums of what it depends on, the function's modules and the
    chapter's parameters, so that torch is imported only when they change.

    Raises
    ------
    BuildError
        as :func:`runs`, or if a chapter does not import what its header names.
    """
    path = ROOT / "build" / "listed" / f"{profile}{'-' + seeds[:10] if seeds else ''}.json"
    before, now = sources.read(path), {}
    known: sources.Sources | None = None
    found: dict[str, Job] = {}
    for chapter in names.chapters():
        if (name := function_name(chapter)) is None:
            continue
        known = known or sources.Sources()
        key = _key(name, chapter, parameters(chapter, profile, seeds), known)
        entry = before.get(chapter, {})
        if entry.get("key") != key:
            entry = {"key": key, "runs": [asdict(_job(run, chapter)) for run in runs(chapter, profile, seeds)]}
        now[chapter] = entry
        for listed in entry["runs"]:
            job = Job(**listed | {"chapters": (chapter,)})
            others = found[job.digest].chapters if job.digest in found else ()
            found[job.digest] = replace(job, chapters=(*others, chapter))
    if now != before:
        sources.write(path, now)
    return found


def _key(name: str, chapter: str, given: dict, known: sources.Sources) -> str:
    """The checksum of what a chapter's list of runs depends on."""
    module = name.rpartition(".")[0]
    if module not in known.modules(chapter):
        raise BuildError(f"chapter {chapter}: its header names {name}, but it does not import {module}")
    sums = {"name": name, "parameters": given, "modules": known.sums_behind(module), "data": _data()}
    sums["environment"] = {variable: os.environ.get(variable) for variable in VARIABLES}
    return sources.checksum(json.dumps(sums, sort_keys=True, default=repr).encode())


def _data() -> list[tuple[str, int]]:
    """The files of data sets that are here: what is trained on depends on what can be had."""
    import platformdirs

    folders = (os.environ.get("LMC_DATA"), platformdirs.user_cache_dir("lmc-companion"))
    found = (path for folder in folders if folder for path in sorted(Path(folder).expanduser().glob("*/*")))
    return [(f"{path.parent.name}/{path.name}", path.stat().st_size) for path in found if path.is_file()]


def missing(listed: Iterable[Job], wanted: Sequence[str] | None = None) -> list[Job]:
    """The runs that are not there, of some chapters or of all, the longest first."""
    of = [job for job in listed if wanted is None or set(job.chapters) & set(wanted)]
    return sorted((job for job in of if not job.done), key=lambda job: (-job.seconds, job.digest))


def price(core_minutes: float) -> str:
    """What training costs, rounded.

    Examples
    --------
    >>> price(0.2), price(84.3), price(3000)
    ('1 core-minute', '84 core-minutes', '50 core-hours')
    """
    if core_minutes < 300:
        minutes = max(1, round(core_minutes))
        return f"{minutes} core-minute{'s' if minutes > 1 else ''}"
    return f"{round(core_minutes / 60)} core-hours"


def plan(listed: Sequence[Job], todo: Sequence[Job]) -> str:
    """How many runs are missing, in words, and what they will take."""
    said = f"Training: {len(todo)} of {len(listed)} run(s) missing"
    return f"{said}, about {price(sum(job.core_minutes for job in todo))}." if todo else f"{said}."


def gpus() -> int:
    """How many GPUs this machine has that torch can use."""
    import torch

    return torch.cuda.device_count()


def refuse_without_gpu(todo: Sequence[Job], profile: str, seeds: str = "") -> None:
    """Refuse runs that want a GPU on a machine without one.

    Raises
    ------
    BuildError
        names each run, what it would take on the CPU, and the command that trains it there all the same.
    """
    wanting = [job for job in todo if job.gpu]
    if wanting and not gpus():
        options = f"--profile {profile}" + (f" --seeds {seeds}" if seeds else "")
        lines = [
            f"run {job.digest} ({job.title}) wants a GPU, and this machine has none; about {price(job.core_minutes)} on"
            f" its CPU: python -m book.tools.runs {names.short(job.chapters[0])} {options} --run {job.digest}"
            for job in wanting
        ]
        raise BuildError("\n       ".join(lines))


@contextlib.contextmanager
def _gpu() -> Iterator[None]:
    """Take the first GPU of this machine that no other run of this folder has."""
    import torch

    folder = ROOT / "build" / "running"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        for number in range(gpus()):
            lock = held.enter_context((folder / f"gpu-{number}.lock").open("w"))
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                torch.cuda.set_device(number)
                break
        yield


def train(chapter: str, profile: str, digest: str, seeds: str = "", show_progress: bool = False) -> None:
    """Train one run of a chapter, or take it up where it was stopped; nothing happens if it is there.

    Raises
    ------
    BuildError
        if the chapter has no such run, or the training fails or writes no file.
    """
    listed = {key: job for key, job in jobs(profile, seeds).items() if chapter in job.chapters}
    if digest not in listed:
        has = ", ".join(listed) or "none"
        raise BuildError(f"run {digest!r} is none of chapter {chapter} at {profile}; it has: {has}")
    for name in workers.THREADS:  # before torch is imported; the digits depend on it
        os.environ[name] = str(listed[digest].cores)
    os.environ["LMC_COMMIT"] = commit()  # which its provenance says
    run = next((run for run in runs(chapter, profile, seeds) if run.digest == digest), None)
    if run is None:
        raise BuildError(
            f"run {digest} ({listed[digest].title}) is not what chapter {chapter} trains on this machine; are its data"
            f" here, and {', '.join(VARIABLES)} as where the build was started?"
        )
    say(f"run {digest}: training {run.title}")
    start = time.perf_counter()
    try:
        with _gpu() if listed[digest].gpu else contextlib.nullcontext():
            run.result(show_progress=show_progress)  # which waits for another process that trains it
    except Exception as error:
        raise BuildError(f"run {digest} ({run.title}) failed: {type(error).__name__}: {error}") from error
    if not run.done():
        raise BuildError(f"run {digest} ({run.title}) ended without its file {run.path()}")
    say(f"run {digest}: done in {time.perf_counter() - start:.1f} s")


def table(listed: Sequence[Job]) -> str:
    """All runs, one a line: digest, what is trained, the chapters that need it, and that it is there or its price."""
    rows = [("digest", "training run", "chapters", "state")]
    for job in listed:
        cost = f"about {price(job.core_minutes)}" + (" on a CPU, wants a GPU" if job.gpu else "")
        numbers = ", ".join(chapter.partition("_")[0] for chapter in job.chapters)
        rows.append((job.digest, job.title, numbers, "done" if job.done else cost))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join([*lines, plan(listed, missing(listed))])


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="runs", description="List the chapters' training runs, or train one.")
    parser.add_argument("chapter", nargs="?", help="name, with or without its number; needed with --run")
    parser.add_argument("--profile", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("--run", metavar="DIGEST", help="train this run; by default all are listed")
    parser.add_argument("--seeds", default="", metavar="COMMIT", help="a confirmatory run: seeds from this commit's id")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    given = parser.parse_args(arguments)
    return told(lambda: _main(given), f"run {given.run}" if given.run else "")


def _main(given: argparse.Namespace) -> None:
    chapter = names.find(given.chapter) if given.chapter else None
    if given.run:
        if chapter is None:
            raise BuildError("--run needs the chapter that the run belongs to")
        train(chapter, given.profile, given.run, given.seeds, not given.quiet and sys.stderr.isatty())
        return
    listed = [job for job in jobs(given.profile, given.seeds).values() if chapter is None or chapter in job.chapters]
    print(table(listed) if listed else f"no training runs at {given.profile}")


def told(act: Callable[[], None], what: str) -> int:
    """Do something; the exit status, and one line if it fails or is stopped."""
    try:
        act()
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{what}: stopped".lstrip(": "), file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
