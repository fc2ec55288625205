"""The ledger's files, each read once; errors name the file, the id, the field and what is allowed.

``book/claims/Z.yml`` holds the claims Z1, Z2, …, and so on for the other papers. Asking for one part reads only the
file of its paper.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import StringConstraints, TypeAdapter

from lmc_helpers.claims.criteria import OPEN, STANDS, Claim, ClaimEntry, Part
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.yaml_files import place, read

__all__ = ["GRAMMAR", "LEDGER", "PAPERS", "RECORD", "files", "ledger", "paper", "part", "recorded"]

LEDGER = Path(__file__).resolve().parents[2] / "book" / "claims"
RECORD = LEDGER.parent / "recorded" / "paper.json"
PAPERS = "ZPGIX"  # the order of the book; papers that are not here come after these
GRAMMAR: TypeAdapter = TypeAdapter(dict[Annotated[str, StringConstraints(pattern=r"^[A-Z][0-9]+$")], ClaimEntry])


@cache
def paper(path: Path) -> dict[str, Claim]:
    """The claims of one file, id → claim."""
    entries = read(path, GRAMMAR, "a mapping from ids to claims")
    for id, entry in entries.items():
        if not id[0] == entry.paper == path.stem:
            raise LedgerError(
                f"{place(path, id, 'paper')}: {id}: paper: {entry.paper!r} is not allowed; allowed: the file's letter"
            )
    claims = {id: Claim.of(id, entry) for id, entry in entries.items()}
    _check_steps(path, claims)
    return claims


def _check_steps(path: Path, claims: dict[str, Claim]) -> None:
    """Refuse a step of a proof whose statement is missing or not expected to stand."""
    parts = {id: part for claim in claims.values() for id, part in claim.parts.items()}
    for id, part in parts.items():
        if part.step_of and (part.step_of not in parts or parts[part.step_of].expected not in STANDS):
            raise LedgerError(
                f"{place(path, *id.split('.'), 'step_of')}: {id}.step_of: {part.step_of!r} is not allowed; allowed: a "
                f"part of this file that is expected to be {', '.join(map(repr, STANDS))}"
            )


def files(folder: Path) -> list[Path]:
    """The ledger's files in the order of the book."""
    found = {path.stem: path for path in sorted(folder.glob("*.yml"))}
    if not found:
        raise LedgerError(
            f"the ledger is not there: no {folder}/*.yml. It belongs to a checkout of the book, not to the installed "
            "package: run the chapter in a checkout, with the package installed from it (pip install -e .)"
        )
    order = [letter for letter in PAPERS if letter in found] + sorted(set(found) - set(PAPERS))
    return [found[stem] for stem in order]


def ledger(folder: Path | None = None) -> dict[str, Claim]:
    """The whole ledger, id → claim, in the order of the book."""
    return {id: claim for path in files(folder or LEDGER) for id, claim in paper(path).items()}


def part(id: str, folder: Path | None = None) -> Part:
    """One part of the ledger by its id, ``"Z3.limit"``; only the file of its paper is read."""
    where = {path.stem: path for path in files(folder or LEDGER)}
    claims = paper(where[id[:1]]) if id[:1] in where else ledger(folder)
    claim = claims.get(id.partition(".")[0])
    if claim is None or id not in claim.parts:
        known: Iterable[str] = claim.parts if claim else claims
        raise LedgerError(f"part {id!r} is not in the ledger; known: {', '.join(known) or 'none of this claim'}")
    return claim.parts[id]


def twice_rejected(part: Part) -> str:
    """The verdict at paper scale by the present criterion, if its run and a second seed reject it; else empty."""
    record = _records(RECORD).get(part.id, {})
    rests_on = record.get("criteria"), record.get("quantity")
    stands = record.get("second_seed") and rests_on == (part.digest(), part.quantity)
    return record["verdict"] if stands and record["verdict"] != OPEN else ""


def recorded(id: str) -> dict:
    """The record of a part at paper scale: ``value``, the ends ``low`` and ``high`` that judge it, ``n``, ``date``."""
    found = _records(RECORD)
    if id not in found:
        raise LedgerError(f"part {id!r} has no record at paper scale")
    return found[id]


@cache
def _records(path: Path) -> dict[str, dict]:
    return {one["part"]: one for one in json.loads(path.read_bytes())} if path.exists() else {}
