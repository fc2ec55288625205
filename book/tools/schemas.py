"""Write the JSON Schemas of the ledger and of the profiles from their models; editors use them.

python -m book.tools.schemas
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.read import stopping

    stopping.watch()

import sys
from pathlib import Path

from book.tools.read import stopping
from book.tools.read.chapters import ROOT


def schemas() -> dict[Path, str]:
    from book.tools.read.profiles import Profile
    from book.tools.record.published import json_schema
    from lmc_helpers.claims.reading import GRAMMAR

    return {
        ROOT / "book/claims/schema.json": json_schema(GRAMMAR.json_schema(), "The claims of one paper"),
        ROOT / "notebooks/profiles/schema.json": json_schema(Profile.model_json_schema(), "A profile"),
    }


def write() -> None:
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    sys.exit(stopping.status(write))
