"""What executed chapters say of their images, if these are not the ones that were asked for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from book.tools.outcomes import glued, products
from book.tools.outcomes.records import DATA

ABSENT, DIFFERENT = "is not here", "differ from the canonical ones"
ADVICE = "book/data.md says which files to put where."


def told(paths: Iterable[Path]) -> list[str]:
    """Lines for the terminal: each such sentence with the chapters that have it, and what one can do.

    Parameters
    ----------
    paths : iterable of Path
        executed notebooks.
    """
    found: dict[str, list[str]] = {}
    for path in paths:
        said = glued.values(products.notebook(path)).get(DATA, "")
        if ABSENT in said or DIFFERENT in said:
            found.setdefault(said, []).append(path.stem[:2])
    lines = [f"Chapter{'s' * (len(names) > 1)} {', '.join(names)}: {said}" for said, names in found.items()]
    return [*lines, ADVICE] if any(ABSENT in said for said in found) else lines
