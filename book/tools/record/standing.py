"""The validity of a recorded measurement: as long as its basis is unchanged.

A record rests on its criterion, on the quantity that was measured, on the chapter's parameters, and on the *reference*:
what its part measures in a cheap run. That is the run at ``smoke`` that ``tests/reference`` holds, or, for parts that
are not run there, one at ``laptop`` with MNIST, which ``book/recorded/reference-laptop.json`` holds. Code may change:
if its numbers do, the reference moves, and with it the records that rest on it. The samples and the run that a part
needs may change as well, as long as the record remains open or decided as before.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from book.tools.read import inputs, sources
from book.tools.read.chapters import ROOT, BuildError
from book.tools.record import records
from book.tools.record.measured import Difference, Measured
from book.tools.run import listing
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.intervals import INSIDE, OUTSIDE, Entry
from lmc_helpers.claims.judge import judge, lacking

REFERENCES = ROOT / "tests" / "reference"  # executed at smoke
LAPTOP = ROOT / "book" / "recorded" / "reference-laptop.json"
VARY = ("seed", "profile", "repeat")  # parameters that a record need not share with the book


def measured(path: Path) -> dict[str, Measured]:
    """Part → its measurement in an executed notebook; parts that were not run there are left out."""
    return {box["part"]: Measured.of(box) for box in records.boxes(sources.read(path)) if box["value"] is not None}


class LaptopEntry(Measured):
    part: str
    chapter: str
    data: str


def at_laptop() -> list[LaptopEntry]:
    """The numbers at laptop; raises BuildError if the file was edited."""
    return inputs.entries(LAPTOP, LaptopEntry)


@cache
def references() -> dict[str, dict[str, Any]]:
    """Part → its number in a cheap run: ``profile`` and the fields of Measured."""
    found = {one.part: {"profile": "laptop"} | Measured.of(one.model_dump()).model_dump() for one in at_laptop()}
    for path in sorted(REFERENCES.glob("*.ipynb")):
        found |= {part: {"profile": "smoke"} | one.model_dump() for part, one in measured(path).items()}
    return found


class Basis(Entry):
    """The basis of a measurement of one part."""

    criteria: str = Field(description="digest of the criteria")
    quantity: str = Field(description="what is measured, in words")
    parameters: dict[str, Any] = Field(description="the chapter's, without its seed")
    reference: dict[str, Any] | None = Field(description="the part's number in a cheap run; null: none measures it")

    @classmethod
    def now(cls, part: Part, chapter: str, profile: str) -> Basis:
        return cls(
            criteria=part.digest(),
            quantity=part.quantity,
            parameters=parameters(chapter, profile),
            reference=references().get(part.id),
        )

    def changes(self, now: Basis, part: Part) -> list[str]:
        """Changes since the measurement, in words; empty if it is valid."""
        names = {"criteria": "criterion", "quantity": "quantity", "parameters": "parameters"}
        changed = [word for name, word in names.items() if getattr(self, name) != getattr(now, name)]
        if self.reference is None:
            return changed
        profile = self.reference["profile"]
        if now.reference is None or now.reference["profile"] != profile:
            return [*changed, f"no number at {profile} any more"]
        moved = Difference(part, Measured.of(self.reference), Measured.of(now.reference)).complaints()
        return changed + [f"number at {profile}"] * bool(moved)


def judged_anew(record: dict, known: sources.Sources | None = None) -> dict | None:
    """A record of which only the criterion has changed, judged by that of today.

    None if more has changed, or nothing; or if it rejects the criterion and a second seed has to be asked.
    """
    reference = record.get("reference")
    cheap = references().get(record["part"])
    if reference and cheap:  # the numbers of a cheap run remain valid, whatever they were judged by
        record = record | {"reference": reference | {n: cheap[n] for n in ("verdict", "place_sharper")}}
    if record["value"] is None or changes(record, known) != ["criterion"]:
        return None
    part, first = claims.part(record["part"]), record["criterion"]
    again = None
    if record["second_seed"] and part.criterion.words.partition(":")[0] == first.partition(":")[0]:
        again = lambda: (record["value"], record["low"], record["high"])  # noqa: E731
    interval = (record["low"], record["high"]) if part.sampled and record["stderr"] is None else None
    rival = None if part.rival.interval else claims.Result(part, record).rival
    verdict = judge(
        *(part, record["value"]),
        **{"stderr": record["stderr"], "interval": interval, "n": record["n"], "rival": rival, "second_seed": again},
        used=record["parameters"],
    )
    asked = record["second_seed"] is not None or record["place"] != OUTSIDE  # else its run had no second seed to ask
    asked = asked and not part.by_rule
    if part.sampled and verdict.place == OUTSIDE and not verdict.second_seed and asked:
        return None
    before = record.get("first_judged_by") or ("" if first == verdict.criterion else first)
    found = asdict(verdict) | ({"second_seed": record["second_seed"]} if part.by_rule else {})
    return record | found | ({"first_judged_by": before} if before else {})


def parameters(chapter: str, profile: str) -> dict[str, Any]:
    """A chapter's parameters at a profile, without its seed, as JSON holds them."""
    return _without_seed(json.loads(json.dumps(listing.parameters(chapter, profile))))


def _without_seed(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in parameters.items() if name not in VARY}


def changes(record: dict, known: sources.Sources | None = None) -> list[str]:
    """Changes in the basis of a record, in words; empty if it is valid."""
    known = known or sources.Sources()
    try:
        part = claims.part(record["part"])
        if part.id not in known.chapter(record["chapter"]).checks:
            return ["chapter"]
        now = Basis.now(part, record["chapter"], record["profile"])
    except (FileNotFoundError, KeyError, claims.LedgerError, BuildError):
        return ["chapter"]
    then = {name: record.get(name) for name in Basis.model_fields} | {"parameters": _without_seed(record["parameters"])}
    changed = Basis.model_validate(then).changes(now, part)
    return changed if "criterion" in changed or not _conditions_moved(record, part) else ["criterion", *changed]


def _conditions_moved(record: dict, part: Part) -> bool:
    """True if the samples and the run that a part needs today leave a decided record open, or decide an open one."""
    used = dict.fromkeys(part.needs) | record["parameters"]
    lacks, _ = lacking(part, record["n"], used)
    is_open = record["verdict"] == claims.OPEN and not part.by_rule
    return bool(lacks) != is_open if record["place"] == INSIDE else bool(lacks) and not is_open
