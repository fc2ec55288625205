"""What a sweep stores: for each chapter its runs, and for each part what every run measured.

``book/recorded/sweep-<profile>.json`` holds the runs with other seeds, ``machines-<profile>.json`` those in other
settings. A chapter's entry is *up to date* while what its runs rest on stands (:mod:`book.tools.outcomes.standing`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from book.tools.base.chapters import ROOT, BuildError
from book.tools.outcomes import records, standing
from book.tools.outcomes.difference import Difference, Measured
from book.tools.outcomes.standing import Basis
from book.tools.reading import sources
from book.tools.running import variants
from book.tools.running.targets import basis, provenance
from lmc_helpers import claims
from lmc_helpers._files import atomic_write
from lmc_helpers.claims.intervals import Entry
from lmc_helpers.claims.yaml_files import explained

KINDS = ("sweep", "machines")
AS_BUILT = ""  # the variant that settings are compared with
RAN = ("seconds", "commit", "date", "device", "machine", "python", "versions")


class Run(Entry):
    """One execution of a chapter."""

    variant: str = Field(description="COMMIT.NUMBER: a seed from a commit; @NAME: a setting; empty: as built")
    seed: int | None = Field(description="the chapter's seed; null: its own")
    seconds: float = Field(description="wall time", strict=False)
    commit: str = Field(description="the commit of the code that ran")
    date: str
    device: str
    machine: str
    python: str
    versions: dict[str, str]


class Chapter(Entry):
    """A chapter's runs; what they measured stands in their order."""

    parameters: dict[str, Any] = Field(description="the chapter's, without its seed")
    criteria: dict[str, str] = Field(description="part → digest of what it is judged by")
    quantities: dict[str, str] = Field(description="part → what is measured")
    references: dict[str, dict[str, Any] | None] = Field(description="part → its number in a cheap run")
    runs: list[Run]
    failed: dict[str, str] = Field(default_factory=dict, description="variant that ended with an error → what it said")
    parts: dict[str, list[Measured]]

    def current(self, chapter: str, profile: str, known: sources.Sources) -> bool:
        """Whether what the runs rest on still stands; see :mod:`book.tools.outcomes.standing`."""
        try:
            now = bases(chapter, profile, known)
            parts = {id: claims.part(id) for id in now}
        except (FileNotFoundError, claims.LedgerError, BuildError):
            return False
        return self.criteria.keys() == now.keys() and not any(
            Basis(self.criteria[id], self.quantities[id], self.parameters, self.references[id]).changes(now[id], part)
            for id, part in parts.items()
        )


def bases(chapter: str, profile: str, known: sources.Sources) -> dict[str, Basis]:
    """Part → what a measurement of it would rest on today, of all parts that a chapter checks."""
    return {id: Basis.now(claims.part(id), chapter, profile) for id in known.chapter(chapter).checks}


@dataclass(frozen=True)
class Record:
    """A file of runs: one profile, with other seeds (``sweep``) or in other settings (``machines``)."""

    kind: str
    profile: str

    @property
    def path(self) -> Path:
        """Where it lies."""
        return records.RECORDED / f"{self.kind}-{self.profile}.json"

    def read(self) -> dict[str, Chapter]:
        """Chapter → its runs; nothing if there is no such file."""
        if not self.path.exists():
            return {}
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return {chapter: Chapter.model_validate(entry) for chapter, entry in content.items()}
        except ValidationError as error:
            raise BuildError(str(explained(error, f"book/recorded/{self.path.name}"))) from None
        except (ValueError, AttributeError) as error:
            raise BuildError(
                f"book/recorded/{self.path.name}: {error}; take it from git, or run the sweep again"
            ) from None

    def write(self, content: dict[str, Chapter]) -> None:
        """Write it, whole or not at all, one run or measurement a line."""
        text = _lines({name: content[name].model_dump() for name in sorted(content)})
        atomic_write(self.path, text + "\n")


def _lines(value: object, depth: int = 0) -> str:
    """JSON with one entry a line, and what holds no lists on the entry's own line."""
    if not isinstance(value, (dict, list)) or not value or (depth > 2 and "[" not in repr(value)):
        return json.dumps(value, ensure_ascii=False)
    indent = "\n" + " " * (depth + 1)
    if isinstance(value, list):
        return "[" + ",".join(indent + _lines(one, depth + 1) for one in value) + "\n" + " " * depth + "]"
    entries = (f"{json.dumps(key, ensure_ascii=False)}: {_lines(one, depth + 1)}" for key, one in value.items())
    return "{" + ",".join(indent + entry for entry in entries) + "\n" + " " * depth + "}"


def executed(profile: str, variant: str, chapter: str) -> Path:
    """Where a chapter that ran as a variant lies."""
    return ROOT / "build" / "executed" / variants.folder(profile, variant) / f"{chapter}.ipynb"


def without_runs(chapter: str, profile: str, known: sources.Sources) -> Chapter:
    """A chapter's entry with what its runs would rest on today."""
    now = bases(chapter, profile, known)
    return Chapter(
        parameters=standing.parameters(chapter, profile),
        criteria={id: basis.criteria for id, basis in now.items()},
        quantities={id: basis.quantity for id, basis in now.items()},
        references={id: basis.reference for id, basis in now.items()},
        runs=[],
        parts={},
    )


def gathered(profile: str, chapter: str, named: list[str], known: sources.Sources) -> Chapter:
    """The runs of a chapter that lie here and are up to date, in the order of the variants named."""
    found = without_runs(chapter, profile, known)
    for variant in named:
        path = executed(profile, variant, chapter)
        run = provenance(path)
        if not run or not is_current(run, chapter, profile, variant, known):
            continue
        seed = run["parameters"]["seed"] if "." in variant else None
        found.runs.append(Run(variant=variant, seed=seed, **{name: run[name] for name in RAN}))
        for record in records.records(path):
            found.parts.setdefault(record["part"], []).append(Measured.of(record))
    return found


def is_current(run: dict, chapter: str, profile: str, variant: str, known: sources.Sources) -> bool:
    """Whether an executed notebook is of the present sources, and of a commit."""
    from_commit = not run["commit"].endswith("+") and run["commit"] != "unknown"
    return from_commit and run.get("sources") == basis(known, chapter, profile, variant)


def together(one: Chapter | None, other: Chapter) -> Chapter:
    """The runs of two entries of a chapter, those of the first where both have one."""
    if one is None:
        return other
    had = {run.variant for run in one.runs}
    fresh = [k for k, run in enumerate(other.runs) if run.variant not in had]
    runs = one.runs + [other.runs[k] for k in fresh]
    order = sorted(range(len(runs)), key=lambda k: _number(runs[k].variant))
    parts = {id: list(one.parts.get(id, [])) + [other.parts[id][k] for k in fresh] for id in one.parts | other.parts}
    return one.model_copy(
        update={
            "runs": [runs[k] for k in order],
            "parts": {id: [found[k] for k in order] for id, found in parts.items()},
        }
    )


def _number(variant: str) -> int:
    """Which of a commit's seeds it is."""
    return int(variant.partition(".")[2] or 0)


def differences(content: dict[str, Chapter]) -> list[Difference]:
    """Every part in every setting that a record holds and the ledger has."""
    parts = {id: part for claim in claims.ledger().values() for id, part in claim.parts.items()}
    found: list[Difference] = []
    for chapter, entry in sorted(content.items()):
        names = [run.variant for run in entry.runs]
        if AS_BUILT not in names:
            continue
        own = names.index(AS_BUILT)
        for id, runs in entry.parts.items():
            if id in parts:
                pairs = zip(names, runs, strict=True)
                found += [Difference(parts[id], runs[own], run, chapter, name[1:]) for name, run in pairs if name]
    return found
