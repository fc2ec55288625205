"""Read what the executed chapters found: the claims that they checked and how they ran."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from book.tools.base import inputs
from book.tools.base.chapters import ROOT, BuildError
from book.tools.outcomes import glued, products
from book.tools.reading import sources
from lmc_helpers import claims

RECORDED = ROOT / "book" / "recorded"
PROVENANCE = ("chapter", "profile", "parameters", "seconds", "device", "commit", "date", "seeds")
DATA = "data_says"  # what a chapter on images glues: which they are, and whether their files are the published ones
ABSENT = "not yet in the book"
SHOWN = "a page of the book"


def notebook(path: Path) -> dict:
    """An executed notebook as the JSON that it is."""
    return products.notebook(path)


def records(path: Path) -> list[dict]:
    """The claims that an executed notebook checked, each with the provenance of its run and of its images."""
    content = notebook(path)
    run = content["metadata"].get("lmc", {})
    images = {"data": said} if (said := glued.values(content).get(DATA)) else {}
    return [
        dict(output["metadata"][claims.MIME]) | {name: run[name] for name in PROVENANCE if name in run} | images
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
        """Part → record."""
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
    def found(self) -> dict[str, str]:
        """Part → its verdict; a part that was not checked is open."""
        parts = [id for claim in claims.ledger().values() for id in claim.parts]
        return {id: self.records[id]["verdict"] if id in self.records else claims.OPEN for id in parts}

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """Id → the verdict of its headlines; an id without parts is a page of the book, or not yet in it."""
        return {
            id: claims.of_claim(claim, self.found) if claim.parts else SHOWN if claim.page else ABSENT
            for id, claim in claims.ledger().items()
        }

    @cached_property
    def surprises(self) -> list[str]:
        """Parts that the ledger leaves open and this run decides: to be decided in the ledger too."""
        both = [(id, record["expected"], record["verdict"]) for id, record in self.records.items()]
        return [id for id, expected, verdict in both if expected == claims.OPEN != verdict]


def recorded_path(profile: str) -> Path:
    """Where the outcomes of confirmatory runs of a profile stand."""
    return RECORDED / f"{profile}.json"


def recorded(profile: str = "paper") -> dict[str, dict]:
    """Part → the outcome of its confirmatory run, as it stands beside the book."""
    path = recorded_path(profile)
    return {record["part"]: record for record in inputs.listed(path)} if path.exists() else {}


def pictures(notebook: dict) -> dict[str, bytes]:
    """The figures that an executed chapter stored with ``figures.show``, by their names, as PNG."""
    found = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            image = next((data for mime, data in output.get("data", {}).items() if mime.endswith("image/png")), None)
            if name and image:
                found[name] = base64.b64decode("".join(image))
    return found
