"""What the pages show of boxes besides the chapters' outputs: the ledger, the record, theorems, examples."""

from __future__ import annotations

from book.tools.base import chapters
from book.tools.base.chapters import ROOT
from book.tools.findings import places
from book.tools.findings.findings import Findings
from book.tools.outcomes.records import recorded
from book.tools.pages import staging
from lmc_helpers import claims
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.formulas import typeset


def shown(findings: Findings) -> staging.Shown:
    """What boxes show: the ledger, the record at paper scale, which parts are in the errata, and theorems."""
    measured = {id: record for id, record in recorded().items() if record["value"] is not None}
    confirmed = {id: record | {"changed": findings.stale.get(id, [])} for id, record in measured.items()}
    parts = {id: finding.part for id, finding in findings.parts.items()}
    theorems: dict[str, tuple[str, str]] = {}
    for name in chapters.chapters():
        theorems |= staging.theorems((ROOT / "notebooks" / f"{name}.py").read_text(encoding="utf-8"), name)
    return staging.Shown(parts, confirmed, findings.differing, theorems)


#: What each verdict says, in the order of the page on verdicts, and the parts that show it best.
EXAMPLES = (
    (claims.HOLDS, "The measurement lies inside the criterion.", ("Z4.low", "Z6.gain")),
    (claims.SHARPER, "It lies inside a sharper criterion too, which the chapter proves.", ("Z3.minimum_at_6",)),
    (
        claims.CORRECTED,
        "It lies outside the criterion, and inside that of a corrected statement, which the chapter proves.",
        ("Z3.limit",),
    ),
    (
        claims.BROKEN,
        "A step of a printed proof is contradicted; the statement that it serves is true.",
        ("Z5.cross_block",),
    ),
    (claims.FAILS, "It lies outside the criterion, and nothing is proven in its place.", ("Z13.counts",)),
    (
        claims.OPEN,
        "These samples do not decide: the interval touches the border, or there are too few, or nothing was run.",
        ("Z17.up", "Z14.lower"),
    ),
)


def examples(findings: Findings) -> list[tuple[str, str, dict | None]]:
    """Each verdict, what it says, and a part that has it in a run: of those named, or else the first."""
    found, records = [], findings.here
    measured = [id for id, record in records.items() if record["value"] is not None and id in findings.parts]
    for verdict, said, named in EXAMPLES:
        has = [id for id in [*named, *measured] if id in measured and records[id]["verdict"] == verdict]
        found.append((verdict, said, _example(findings.parts[has[0]].part, records[has[0]]) if has else None))
    return found


def _example(part: Part, record: dict) -> dict[str, str]:
    address = f"executed/{record['chapter']}.html#{places.box(part.id)}"
    scale = claims.drawn(part, record)
    return {"id": part.id, "address": address, "quantity": typeset(part.quantity), "scale": scale}
