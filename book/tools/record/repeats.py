"""Stored runs with other seeds and in other settings: for each chapter its runs and their measurements.

``book/recorded/sweep-<profile>.json`` holds the runs with other seeds, ``machines-<profile>.json`` those in other
settings. A chapter's entry is *up to date* while the basis of its runs is unchanged
(:mod:`book.tools.record.standing`).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from book.tools.read import papers, sources
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import records
from book.tools.record.measured import Difference, Measured
from book.tools.record.standing import Basis
from book.tools.run import variants
from book.tools.run.targets import basis, provenance
from lmc_helpers import claims
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import explained
from lmc_helpers.files import atomic_write

KINDS = ("sweep", "machines")
AS_BUILT = ""  # the variant that settings are compared with


class Run(Entry):
    """One execution of a chapter, and its measurement of each part."""

    variant: str = Field(description="COMMIT.NUMBER: a seed from a commit; @NAME: a setting; empty: as built")
    seed: int | None = Field(description="the chapter's seed; null: its own")
    seconds: float = Field(description="wall time", strict=False)
    commit: str = Field(description="the commit of the code that ran")
    date: str
    device: str
    machine: str
    python: str
    versions: dict[str, str]
    measured: dict[str, Measured]


class Chapter(Entry):
    """A chapter's runs and their basis."""

    bases: dict[str, Basis] = Field(description="part → what its measurements rest on")
    runs: list[Run]
    failed: dict[str, str] = Field(default_factory=dict, description="variant → the error that it ended with")

    @property
    def parts(self) -> dict[str, list[Measured]]:
        return {id: [run.measured[id] for run in self.runs] for id in self.runs[0].measured} if self.runs else {}

    def current(self, chapter: str, profile: str, known: sources.Sources) -> bool:
        try:
            now = bases(chapter, profile, known)
            return self.bases.keys() == now.keys() and not any(
                basis.changes(now[id], claims.part(id)) for id, basis in self.bases.items()
            )
        except (FileNotFoundError, claims.LedgerError, BuildError):
            return False


def bases(chapter: str, profile: str, known: sources.Sources) -> dict[str, Basis]:
    """Part → the basis of a measurement of it today, for all parts that a chapter checks."""
    return {id: Basis.now(claims.part(id), chapter, profile) for id in known.chapter(chapter).checks}


@dataclass(frozen=True)
class Record:
    """A file of runs: one profile, with other seeds (``sweep``) or in other settings (``machines``)."""

    kind: str
    profile: str

    @property
    def path(self) -> Path:
        return records.RECORDED / f"{self.kind}-{self.profile}.json"

    def read(self) -> dict[str, Chapter]:
        """Chapter → its runs; empty if there is no such file."""
        if not self.path.exists():
            return {}
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return {chapter: Chapter.model_validate(entry) for chapter, entry in content.items()}
        except ValidationError as error:
            raise BuildError(str(explained(error, f"book/recorded/{self.path.name}"))) from None
        except (ValueError, AttributeError) as error:
            raise BuildError(f"book/recorded/{self.path.name}: {error}; take it from git, or run it again") from None

    def write(self, content: dict[str, Chapter]) -> None:
        """Write it atomically, one chapter per line."""
        lines = (f"{json.dumps(name)}: {entry.model_dump_json()}" for name, entry in sorted(content.items()))
        atomic_write(self.path, "{\n" + ",\n".join(lines) + "\n}\n")


def executed(profile: str, variant: str, chapter: str) -> Path:
    """Path of a chapter that ran as a variant."""
    return ROOT / "build" / "executed" / variants.folder(profile, variant) / f"{chapter}.ipynb"


def current_run(path: Path, profile: str, variant: str, known: sources.Sources) -> dict[str, Any]:
    """Provenance of an executed notebook; empty unless it is of the present sources, and of a commit."""
    run = provenance(path)
    from_commit = run and not run["commit"].endswith("+") and run["commit"] != "unknown"
    return run if from_commit and run.get("sources") == basis(known, path.stem, profile, variant) else {}


def collect_runs(profile: str, chapter: str, names: list[str], known: sources.Sources) -> Chapter:
    """The runs of a chapter as some variants that are in ``build`` and up to date, in the order of the variants."""
    found = []
    for variant in names:
        path = executed(profile, variant, chapter)
        if run := current_run(path, profile, variant, known):
            about = {name: run[name] for name in Run.model_fields if name in run}
            measured = {record["part"]: Measured.of(record) for record in records.records(path)}
            seed = run["parameters"]["seed"] if "." in variant else None
            found.append(Run(**about | {"variant": variant, "seed": seed, "measured": measured}))
    return Chapter(bases=bases(chapter, profile, known), runs=found)


def merge_entries(first: Chapter | None, second: Chapter) -> Chapter:
    """The runs of two entries of a chapter, those of the first where both have one."""
    if first is None:
        return second
    had = {run.variant for run in first.runs}
    runs = first.runs + [run for run in second.runs if run.variant not in had]
    runs.sort(key=lambda run: int(run.variant.partition(".")[2] or 0))  # by the number of the seed
    return first.model_copy(update={"runs": runs})


def differences(content: dict[str, Chapter]) -> list[Difference]:
    """Every part in every setting that a record holds and the ledger has."""
    parts = papers.parts()
    found: list[Difference] = []
    for chapter, entry in sorted(content.items()):
        built = next((run.measured for run in entry.runs if run.variant == AS_BUILT), {})
        for id in filter(parts.__contains__, built):
            others = (run for run in entry.runs if run.variant != AS_BUILT)
            found += [Difference(parts[id], built[id], o.measured[id], chapter, o.variant[1:]) for o in others]
    return found
