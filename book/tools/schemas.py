"""Write the JSON Schemas of the ledger and of the profiles from their models; editors use them.

python -m book.tools.schemas
"""

from __future__ import annotations

import json
from pathlib import Path

from book.tools.chapters import ROOT


def schemas() -> dict[Path, str]:
    """File → its text, written from the models."""
    from book.tools.profiles import Profile
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


if __name__ == "__main__":
    for path, text in schemas().items():
        path.write_text(text, encoding="utf-8")
        print(path)
