"""Entries of a ledger that are right, for tests to spoil."""

from pathlib import Path

import yaml
from pydantic import ValidationError

from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.yaml_files import explained

BASE = {
    "whose": "paper",
    "weight": "headline",
    "where": "eq. (1)",
    "statement": "it is two",
    "quantity": "x",
    "criterion": {"equals": 2, "tolerance": 0.1},
    "rival": {"value": 2.5, "says": "five halves"},
    "expected": "holds",
}
SAMPLED = BASE | {"sampled": True}
CORRECTED = BASE | {
    "corrected": {"between": [2.9, 3.1]},
    "expected": "false as printed, corrected",
    "reason": "because",
    "correction": "three",
    "proof": "thm",
}
SHARPER = BASE | {
    "sharper": {"equals": 2, "tolerance": 0.01},
    "expected": "holds, and more is true",
    "sharpening": "it is two to a hundredth",
    "proof": "thm",
}


def step(of: str) -> dict:
    """A step of the printed proof of another part that is expected to break."""
    reason = {"expected": "broken, statement stands", "reason": "another proof does"}
    return BASE | {"step_of": of, "weight": "detail"} | reason


def claim(paper: str = "T", **more) -> dict:
    """A claim as the ledger writes it."""
    return {"paper": paper, "where": "w", "says": "s", **more}


def write(folder: Path, content: dict) -> Path:
    """A ledger in ``folder``: each claim in the file of its letter."""
    for letter in sorted({id[0] for id in content}):
        text = yaml.safe_dump({id: entry for id, entry in content.items() if id[0] == letter})
        (folder / f"{letter}.yml").write_text(text, encoding="utf-8")
    return folder


def parse_part(id: str, entry: dict) -> Part:
    """A part from what the ledger writes under its name."""
    try:
        return Part.model_validate({**entry, "id": id})
    except ValidationError as error:
        raise explained(error, id) from None
