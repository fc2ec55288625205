"""The list of the training runs that chapters need.

A chapter that trains names, in its header, a dataclass of some of its parameters with a method ``runs``, and uses the
same one itself: under plain papermill it trains the missing runs. A function that returns the runs works as well.
"""

import importlib
import inspect
import json
import os
import re
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from book.tools.read import chapters as names
from book.tools.read import headers, literals, profiles, sources
from book.tools.read.chapters import ROOT, BuildError
from book.tools.run import variants
from book.tools.run.jobs import Job, as_job, is_run

#: Variables of the environment that a list of runs, or where they lie, depends on.
VARIABLES = ("LMC_DATA", "LMC_DATA_UNVERIFIED", "LMC_OFFLINE", "LMC_RUNS")

#: Seconds of work below which a run that needs another one's file is left to the chapter: a job has to be started, too.
WORTH_A_JOB = 30

#: Results that lie with the book; the networks behind them need not be trained again.
RECORDED = ROOT / "book" / "recorded" / "runs"


def parameters(chapter: str, profile: str, seeds: str = "") -> dict:
    """The parameters that a chapter has in a build: its own, the profile's, and the seed of a confirmatory run."""
    source = (names.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8")
    own = (cell for marker, cell in names.cells(source) if re.search(r'tags=\[.*"parameters"', marker))
    known = literals.values(next(own, "")) | profiles.parameters(chapter, profile)
    return known | variants.parameters(chapter, seeds)


def runs(chapter: str, profile: str, seeds: str = "") -> list[Any]:
    """The training runs of a chapter, each once, by the parameters that its function or dataclass names."""
    name = headers.function_name(chapter)
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
        found = found.runs() if isinstance(function, type) else found
    except Exception as error:
        raise BuildError(f"{where} failed: {type(error).__name__}: {error}") from error
    if not isinstance(found, (list, tuple)):
        raise BuildError(f"{where} returned a {type(found).__name__} and no list of runs")
    for run in found:
        if not is_run(run):
            raise BuildError(f"{where} returned a list with {run!r:.60}, which is not a run")
    return list({run.digest: run for run in found}.values())


def jobs(profile: str, seeds: str = "") -> dict[str, Job]:
    """Digest → run, of all chapters at one profile; each knows its chapters.

    Lists are kept in ``build/listed`` by the checksums of the function's modules and the chapter's parameters, hence
    torch is imported only when these change.
    """
    if seeds.startswith("@"):
        return {}  # a setting trains in the chapter itself
    path = ROOT / "build" / "listed" / f"{variants.folder(profile, seeds)}.json"
    before, now = sources.read(path), {}
    known: sources.Sources | None = None
    found: dict[str, Job] = {}
    for chapter in names.chapters():
        if (name := headers.function_name(chapter)) is None:
            continue
        known = known or sources.Sources()
        key = _key(name, chapter, parameters(chapter, profile, seeds), known)
        entry = before.get(chapter, {})
        if not _fits(entry, key):
            every = [as_job(run, chapter) for run in runs(chapter, profile, seeds)]
            entry = {"key": key, "runs": [asdict(job) for job in every if _is_worth_it(job)]}
        now[chapter] = entry
        for listed in entry["runs"]:
            job = Job(**listed | {"chapters": (chapter,), "needs": tuple(listed["needs"])})
            others = found[job.digest].chapters if job.digest in found else ()
            found[job.digest] = replace(job, chapters=(*others, chapter))
    if now != before:
        sources.write(path, now)
    return found


def _is_worth_it(job: Job) -> bool:
    """True if a run is a job of its own: one that others wait for is, and one that takes a while."""
    return not job.needs or job.seconds >= WORTH_A_JOB


def folder() -> Path:
    """Folder of the runs, as in ``lmc_helpers.training.run_files.folder``, which imports torch."""
    return Path(os.environ.get("LMC_RUNS") or ROOT / "build" / "runs")


def _fits(entry: object, key: str) -> bool:
    """True if a stored list of runs is complete, from these sources and in the present format."""
    wanted = {field.name for field in fields(Job)}
    if not isinstance(entry, dict) or entry.get("key") != key or not isinstance(entry.get("runs"), list):
        return False
    return all(isinstance(listed, dict) and listed.keys() == wanted for listed in entry["runs"])


def _key(name: str, chapter: str, given: dict, known: sources.Sources) -> str:
    """The checksum of the dependencies of a chapter's list of runs."""
    module = name.rpartition(".")[0]
    if module not in known.modules(chapter):
        raise BuildError(f"chapter {chapter}: its header names {name}, but it does not import {module}")
    sums = {"name": name, "parameters": given, "modules": known.sums_behind(module), "data": _data()}
    sums["recorded"] = sorted(path.name for path in RECORDED.glob("*.npz"))
    sums["environment"] = {variable: os.environ.get(variable) for variable in VARIABLES}
    return sources.checksum(json.dumps(sums, sort_keys=True, default=repr).encode())


def _data() -> list[tuple[str, int]]:
    """The available files of data sets, which decide what is trained on; not those that a download removes."""
    import platformdirs

    found = []
    for folder in filter(None, (os.environ.get("LMC_DATA"), platformdirs.user_cache_dir("lmc"))):
        for path in sorted(Path(folder).expanduser().glob("*/*")):
            if not path.name.startswith("tmp") and path.suffix not in (".lock", ".part") and path.is_file():
                found.append((f"{path.parent.name}/{path.name}", path.stat().st_size))
    return found
