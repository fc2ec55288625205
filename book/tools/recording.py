"""Record results at paper scale beside the book, with their provenance."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from book.tools import records
from book.tools.chapters import ROOT, BuildError
from lmc_helpers import claims

README_FIGURE = ("12_overlap_theorem", "fig_limit")


def record(executed: list[Path]) -> Path:
    """Store the records of a ``paper`` run beside the book, with their provenance, and the README's figure.

    Chapters of which no executed notebook is there keep what was recorded of them before.

    Raises
    ------
    BuildError
        if no notebook is there, or one was executed from sources that no commit holds.
    """
    there = [path for path in executed if path.exists()]
    if not there:
        raise BuildError(f"nothing to record: no executed chapter in {executed[0].parent}")
    if there == executed:
        found = records.Run(there).records
    else:
        found = {record["part"]: record for path in there for record in records.records(path)}
    dirty = sorted({r["commit"] for r in found.values() if r["commit"].endswith("+") or r["commit"] == "unknown"})
    if dirty:
        raise BuildError(f"results are recorded from a clean commit; these came from {', '.join(dirty)}")
    absent = {path.stem for path in executed} - {path.stem for path in there}
    kept = {part: record for part, record in records.recorded().items() if record["chapter"] in absent}
    order = [id for claim in claims.ledger().values() for id in claim.parts]
    merged = [(kept | found)[id] for id in order if id in kept | found]
    records.RECORDED.parent.mkdir(exist_ok=True)
    records.RECORDED.write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    chapter, name = README_FIGURE
    for path in there:
        if path.stem == chapter:
            (ROOT / "book" / "_static" / "readme.png").write_bytes(pictures(records.notebook(path))[name])
    return records.RECORDED


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
