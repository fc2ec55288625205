"""Licences of what the pages ship besides the book: scripts, styles and fonts of the packages that build them.

They are taken from the packages as they are installed. ``licences.txt`` lies beside the pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import Distribution, distribution

FILE = "licences.txt"
#: Distribution → what of it the pages ship.
SHIPPED = {
    "sphinx": "search and basic style",
    "sphinx-book-theme": "theme",
    "pydata-sphinx-theme": "base of the theme, with Bootstrap and Font Awesome",
    "myst-nb": "style of cells",
    "sphinx-proof": "style of theorems",
    "sphinx-design": "style of cards",
    "sphinx-copybutton": "button that copies code, with clipboard.js",
    "sphinx-togglebutton": "folds",
    "sphinx-thebe": "style of code",
    "sphinx-mathjax-offline": "MathJax and its fonts",
    "plotly": "plotly.js",
}
WORDS = ("LICEN", "COPYING", "NOTICE")
APACHE = ("packaging", "LICENSE.APACHE")  # a package that has the text: MathJax's copy comes without
NOTED = {"sphinx-mathjax-offline": "MathJax: Apache-2.0"}


@dataclass(frozen=True)
class Shipped:
    """A package of which the pages ship something."""

    name: str
    what: str
    version: str
    licence: str
    texts: dict[str, str]  #: file → text of a licence


def licence(found: Distribution) -> str:
    """The licence that a package names: an SPDX expression, its classifiers, or the first words of its field."""
    known = found.metadata.json
    if stated := known.get("license_expression"):
        return str(stated)
    named = [line.rpartition(" :: ")[2] for line in known.get("classifier", []) if line.startswith("License")]
    return ", ".join(named) or str(known.get("license") or "not stated").splitlines()[0]


def texts(found: Distribution) -> dict[str, str]:
    """The texts of licences among a package's files."""
    named = [file for file in found.files or () if any(word in file.name.upper() for word in WORDS)]
    here = [file for file in named if ".." not in file.parts and file.suffix != ".json"]
    return {file.name: file.read_text(encoding="utf-8").strip() for file in here}


def shipped() -> list[Shipped]:
    """All of them, by name."""
    rows = []
    for name, what in sorted(SHIPPED.items()):
        found = distribution(name)
        own = texts(found)
        if name in NOTED:
            other, file = APACHE
            own |= {key: text for key, text in texts(distribution(other)).items() if key == file}
        stated = "; ".join(filter(None, [licence(found), NOTED.get(name)]))
        rows.append(Shipped(name, what, found.version, stated, own))
    return rows


def text(rows: list[Shipped]) -> str:
    """One file with all of them: each package with its licence, and the texts."""
    parts = ["What these pages ship besides the book, with its licences."]
    for row in rows:
        parts.append(f"{row.name} {row.version}: {row.what}. Licence: {row.licence}.")
    for row in rows:
        parts += [f"{70 * '='}\n{row.name}, {file}\n\n{content}" for file, content in row.texts.items()]
    return "\n\n".join(parts) + "\n"
