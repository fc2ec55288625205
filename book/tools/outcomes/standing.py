"""Whether a recorded measurement stands: as long as what it rests on does.

A record rests on its criterion, on the quantity that was measured, on the chapter's parameters, and on the *reference*:
what its part measures in a cheap run. That is the run at ``smoke`` that ``tests/reference`` holds, or, for parts that
are not run there, one at ``laptop`` with MNIST, which ``book/recorded/reference-laptop.json`` holds. Code may change:
if its numbers do, the reference moves, and with it the records that rest on it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from book.tools.base import inputs
from book.tools.base.chapters import ROOT, BuildError
from book.tools.outcomes.difference import Difference, Measured
from book.tools.reading import sources
from book.tools.running import listing
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.yaml_files import explained

REFERENCES = ROOT / "tests" / "reference"  # executed at smoke
LAPTOP = ROOT / "book" / "recorded" / "reference-laptop.json"
VARY = ("seed", "profile")  # parameters that a record need not share with the book


def measured(path: Path) -> dict[str, Measured]:
    """Part → what an executed notebook measured of it; parts that it did not run are left out."""
    outputs = (output for cell in sources.read(path).get("cells", ()) for output in cell.get("outputs", ()))
    boxes = (output["metadata"][claims.MIME] for output in outputs if claims.MIME in output.get("metadata", {}))
    return {box["part"]: Measured.of(box) for box in boxes if box["value"] is not None}


class Entry(Measured):
    """A part's number at laptop."""

    part: str
    chapter: str
    data: str


def at_laptop() -> list[Entry]:
    """The numbers at laptop; a BuildError if the file was edited."""
    try:
        return [Entry.model_validate(entry) for entry in inputs.listed(LAPTOP)] if LAPTOP.exists() else []
    except ValidationError as error:
        raise BuildError(f"{explained(error, LAPTOP.name)}; take it from git") from None


@cache
def references() -> dict[str, dict[str, Any]]:
    """Part → its number in a cheap run: ``profile`` and the fields of Measured."""
    found = {one.part: {"profile": "laptop"} | Measured.of(one.model_dump()).model_dump() for one in at_laptop()}
    for path in sorted(REFERENCES.glob("*.ipynb")):
        found |= {part: {"profile": "smoke"} | one.model_dump() for part, one in measured(path).items()}
    return found


@dataclass(frozen=True)
class Basis:
    """What a measurement of one part rests on.

    Parameters
    ----------
    criteria : str
        digest of the criteria.
    quantity : str
        what is measured, in words.
    parameters : dict
        the chapter's, without its seed.
    reference : dict or None
        the part's number in a cheap run; None if no cheap run measures it.
    """

    criteria: str
    quantity: str
    parameters: dict[str, Any]
    reference: dict[str, Any] | None

    @classmethod
    def now(cls, part: Part, chapter: str, profile: str) -> Basis:
        """What a measurement would rest on today."""
        return cls(part.digest(), part.quantity, parameters(chapter, profile), references().get(part.id))

    @classmethod
    def of(cls, record: dict) -> Basis:
        """What a record rests on."""
        given = {name: value for name, value in record["parameters"].items() if name not in VARY}
        return cls(record["criteria"], record["quantity"], given, record.get("reference"))

    def changes(self, now: Basis, part: Part) -> list[str]:
        """What has changed since, in words; nothing if the measurement stands."""
        changed = ["criterion"] * (self.criteria != now.criteria)
        changed += ["quantity"] * (self.quantity != now.quantity)
        changed += ["parameters"] * (self.parameters != now.parameters)
        return changed + self._moved(now, part)

    def _moved(self, now: Basis, part: Part) -> list[str]:
        """Whether the number of the cheap run is another one."""
        if self.reference is None:
            return []
        profile = self.reference["profile"]
        if now.reference is None or now.reference["profile"] != profile:
            return [f"no number at {profile} any more"]
        before, after = Measured.of(self.reference), Measured.of(now.reference)
        moved = Difference(part, before, after).complaints("when it was recorded")
        return [f"number at {profile}"] if moved else []


def parameters(chapter: str, profile: str) -> dict[str, Any]:
    """A chapter's parameters at a profile, without its seed, as JSON holds them."""
    found = {name: value for name, value in listing.parameters(chapter, profile).items() if name not in VARY}
    return json.loads(json.dumps(found))


def changes(record: dict, known: sources.Sources | None = None) -> list[str]:
    """What a record rests on that has changed since, in words; nothing if it stands."""
    known = known or sources.Sources()
    try:
        part = claims.part(record["part"])
        if part.id not in known.chapter(record["chapter"]).checks:
            return ["chapter"]
        now = Basis.now(part, record["chapter"], record["profile"])
    except (FileNotFoundError, KeyError, claims.LedgerError, BuildError):
        return ["chapter"]
    return Basis.of(record).changes(now, part)
