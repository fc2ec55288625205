"""Read what the executed chapters found: the claims that they checked and how they ran."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from book.tools import sources
from book.tools.chapters import ROOT, BuildError
from lmc_helpers import claims

RECORDED = ROOT / "book" / "recorded" / "paper.json"
PROVENANCE = ("chapter", "profile", "parameters", "seconds", "device", "commit", "date")
ABSENT = "not yet in the book"


def notebook(path: Path) -> dict:
    """An executed notebook as the JSON that it is.

    Raises
    ------
    BuildError
        if it is not there: its chapter was not executed.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BuildError(f"{path.stem} was not executed: no {path}") from None


def records(path: Path) -> list[dict]:
    """The claims that an executed notebook checked, each with the provenance of its run."""
    content = notebook(path)
    run = content["metadata"].get("lmc", {})
    return [
        dict(output["metadata"][claims.MIME]) | {name: run[name] for name in PROVENANCE if name in run}
        for cell in content["cells"]
        for output in cell.get("outputs", ())
        if claims.MIME in output.get("metadata", {})
    ]


@dataclass(frozen=True)
class Run:
    """One profile's executed chapters and the ledger that they were checked against."""

    executed: list[Path]

    @cached_property
    def records(self) -> dict[str, dict]:
        """Part → record.

        Raises
        ------
        BuildError
            if a part is checked twice, a chapter lacks a check that its source has, or a part that is not expected
            to be open is checked nowhere.
        """
        found: dict[str, dict] = {}
        known = sources.Sources()
        for path in self.executed:
            here = records(path)
            missing = set(known.chapter(path.stem).checks) - {record["part"] for record in here}
            if missing:
                raise BuildError(f"{path.stem} did not record {', '.join(sorted(missing))}")
            for record in here:
                if record["part"] in found:
                    raise BuildError(
                        f"{record['part']} is checked in {found[record['part']]['chapter']} and in {path.stem}"
                    )
                found[record["part"]] = record
        for claim in claims.ledger().values():
            for id, part in claim.parts.items():
                if id not in found and part.expected != claims.OPEN:
                    raise BuildError(f"{id} stands in the ledger as {part.expected!r}, but no chapter checks it")
        return found

    @cached_property
    def statistics(self) -> list[dict]:
        """The provenance of each chapter's run."""
        return [notebook(path)["metadata"]["lmc"] for path in self.executed]

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Id → the verdict of its worst part; an id without parts is not yet in the book."""
        found = {id: record["verdict"] for id, record in self.records.items()}
        return {
            id: claims.worst([found.get(part, claims.OPEN) for part in claim.parts]) if claim.parts else ABSENT
            for id, claim in claims.ledger().items()
        }


def recorded() -> dict[str, dict]:
    """Part → its record at paper scale, as it stands beside the book."""
    if not RECORDED.exists():
        return {}
    return {record["part"]: record for record in json.loads(RECORDED.read_text(encoding="utf-8"))}
