"""Sphinx extension: of the theme's icons only those that a page shows are shipped, a small part.

The theme loads one script with some two thousand icons, each an entry ``name:[width,height,[aliases],"code","path"]``.
Once the pages are written, entries that no page or script names are taken out.
"""

from __future__ import annotations

import re
from pathlib import Path

from sphinx.application import Sphinx

SCRIPT = "_static/scripts/fontawesome.js"
ENTRY = re.compile(r'"?([\w-]+)"?:\[\d+,\d+,(\[[^\]]*\]),"[0-9a-f]+",(?:"[^"]*"|\[[^\]]*\])\],?')
NAMED = re.compile(r"fa-([a-z0-9-]+)")
READ = (".html", ".js")


def reduced(script: str, wanted: set[str]) -> str:
    """The script without the icons that are not wanted, by name or by one of their aliases.

    Examples
    --------
    >>> reduced('{sun:[1,2,[9,"day"],"f0","M1"],moon:[1,2,[],"f1","M2"]}', {"day"})
    '{sun:[1,2,[9,"day"],"f0","M1"],}'
    """
    kept = lambda entry: {entry[1], *re.findall(r'"([\w-]+)"', entry[2])} & wanted  # noqa: E731
    return ENTRY.sub(lambda entry: entry[0] if kept(entry) else "", script)


def named(folder: Path) -> set[str]:
    """The icons that the pages and scripts of a built book name, the script of icons left out."""
    found: set[str] = set()
    for path in folder.rglob("*"):
        if path.suffix in READ and path.is_file() and path != folder / SCRIPT:
            found |= set(NAMED.findall(path.read_text(encoding="utf-8", errors="replace")))
    return found


def reduce_icons(app: Sphinx, error: Exception | None) -> None:
    """After the pages and their files are written."""
    path = Path(app.outdir) / SCRIPT
    if error is None and app.builder.format == "html" and path.is_file():
        path.write_text(reduced(path.read_text(encoding="utf-8"), named(Path(app.outdir))), encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.connect("build-finished", reduce_icons, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
