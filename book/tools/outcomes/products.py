"""The executed notebooks that the build reads again: refused where one is damaged, never shown.

A file may be cut off (by a full disk, a copy that broke off), or come from another version of the book.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from book.tools.base.chapters import BuildError
from lmc_helpers import claims
from lmc_helpers.claims.judge import Verdict

RUN = {"chapter": str, "profile": str, "parameters": dict, "seconds": (int, float), "device": str, "commit": str}
TEXTS = {"part", "verdict", "expected", "whose", "weight", "quantity", "criterion", "criteria"}
NUMBERS = {"value", "stderr", "low", "high"}
KEYS = {field.name for field in fields(Verdict)}
AGAIN = "remove it and build again"


def notebook(path: Path) -> dict:
    """An executed notebook as the JSON that it is."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BuildError(f"{path.stem} was not executed: no {path}") from None
    except (ValueError, RecursionError) as error:
        raise BuildError(f"{path} is cut off or damaged ({error}); {AGAIN}") from None
    wrong = _wrong_notebook(found, path.stem)
    if wrong:
        raise BuildError(f"{path} is no executed chapter of this version of the book ({wrong}); {AGAIN}")
    return found


def _wrong_notebook(found: object, chapter: str) -> str | None:
    if not isinstance(found, dict):
        return f"it holds a {type(found).__name__}"
    if found.get("nbformat") != 4:
        return f"its format is {found.get('nbformat')!r}, not 4"
    if not isinstance(cells := found.get("cells"), list) or not all(map(_is_cell, cells)):
        return "its cells are not those of a notebook"
    metadata = found.get("metadata")
    run = metadata.get("lmc") if isinstance(metadata, dict) else None
    if not isinstance(run, dict):
        return "it does not say how it was run"
    if wrong := _wrong_values(run, RUN):
        return wrong
    if run["chapter"] != chapter:
        return f"it is chapter {run['chapter']}"
    stored = [output["metadata"][claims.MIME] for output in _outputs(cells) if claims.MIME in output["metadata"]]
    return next((wrong for record in stored if (wrong := wrong_record(record))), None)


def _is_cell(cell: object) -> bool:
    if not isinstance(cell, dict) or not isinstance(cell.get("metadata"), dict):
        return False
    outputs = cell.get("outputs", [])
    return isinstance(cell.get("source"), (str, list)) and isinstance(outputs, list) and all(map(_is_dict, outputs))


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)


def _outputs(cells: list[dict]) -> list[dict]:
    every = (output for cell in cells for output in cell.get("outputs", []))
    return [output for output in every if isinstance(output.get("metadata"), dict)]


def _wrong_values(found: Mapping, wanted: Mapping) -> str | None:
    """The first of some names that is missing or of another type."""
    for name, kind in wanted.items():
        if name not in found:
            return f"{name} is missing"
        if not isinstance(found[name], kind):
            return f"{name} = {found[name]!r:.40}"
    return None


def wrong_record(record: object) -> str | None:
    """What is wrong with the outcome of a check, None if nothing is."""
    if not isinstance(record, dict):
        return f"a record is a {type(record).__name__}"
    name = f"record of {record.get('part', 'no part')!r:.40}"
    if missing := KEYS - record.keys():
        return f"{name}: {', '.join(sorted(missing))} missing"
    number = (int, float, type(None))
    kinds = dict.fromkeys(sorted(TEXTS), str) | dict.fromkeys(sorted(NUMBERS), number) | {"n": int}
    wrong = _wrong_values(record, kinds)
    return f"{name}: {wrong}" if wrong else None
