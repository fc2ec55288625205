"""The JSON Schemas of the ledger and of the profiles, from their models; editors use them."""

from pathlib import Path

from book.tools.read.chapters import ROOT
from book.tools.read.profiles import Profile
from book.tools.record.published import json_schema
from lmc_helpers.claims.reading import GRAMMAR


def texts() -> dict[Path, str]:
    return {
        ROOT / "book/claims/schema.json": json_schema(GRAMMAR.json_schema(), "The claims of one paper"),
        ROOT / "notebooks/profiles/schema.json": json_schema(Profile.model_json_schema(), "A profile"),
    }


def schemas() -> None:
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
        print(path)
