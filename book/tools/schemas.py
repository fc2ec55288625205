"""Write the JSON Schemas of the ledger and of the profiles from their models; editors use them.

python -m book.tools.schemas
"""

from __future__ import annotations

if __name__ == "__main__":  # before what takes a while to import
    from book.tools.base import stopping

    stopping.watch()

import json
import sys
from pathlib import Path

from book.tools.base import stopping
from book.tools.base.chapters import ROOT


def schemas() -> dict[Path, str]:
    """File → its text, written from the models."""
    from book.tools.reading.profiles import Profile
    from lmc_helpers.claims.reading import GRAMMAR

    models = {
        ROOT / "book" / "claims" / "schema.json": ("The claims of one paper", GRAMMAR.json_schema()),
        ROOT / "notebooks" / "profiles" / "schema.json": ("A profile", Profile.model_json_schema()),
    }
    return {
        path: json.dumps(
            {"$schema": "https://json-schema.org/draft/2020-12/schema"} | schema | {"title": title},
            indent=1,
            ensure_ascii=False,
        )
        + "\n"
        for path, (title, schema) in models.items()
    }


def write() -> None:
    """Write all of them and say where."""
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
        print(path)


if __name__ == "__main__":
    sys.exit(stopping.status(write))
