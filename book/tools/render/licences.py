"""Licences of the scripts, styles and fonts that the pages ship, from the packages that build them.

They are copied from the installed packages to ``licences.txt`` beside the pages.
"""

from importlib.metadata import Distribution, distribution

FILE = "licences.txt"
#: Distribution → its files that the pages ship.
SHIPPED = {
    "plotly": "plotly.js",
    "pydata-sphinx-theme": "base of the theme, with Bootstrap and Font Awesome",
    "myst-nb": "style of cells",
    "sphinx": "search and basic style",
    "sphinx-book-theme": "theme",
    "sphinx-copybutton": "button that copies code, with clipboard.js",
    "sphinx-design": "cards",
    "sphinx-mathjax-offline": "MathJax, which is under Apache-2.0, and its fonts",
    "sphinx-proof": "style of theorems",
    "sphinx-thebe": "style of code",
    "sphinx-togglebutton": "folds",
}
APACHE = ("packaging", "LICENSE.APACHE")  # a package that has the text: MathJax's copy comes without


def licence(found: Distribution) -> str:
    """The licence that a package names: an SPDX expression, its classifiers, or the first words of its field."""
    known = found.metadata.json
    if stated := known.get("license_expression"):
        return str(stated)
    named = [line.rpartition(" :: ")[2] for line in known.get("classifier", []) if line.startswith("License")]
    return ", ".join(named) or str(known["license"]).splitlines()[0]


def texts(found: Distribution) -> dict[str, str]:
    """The texts of licences among a package's files."""
    words = ("LICEN", "COPYING", "NOTICE")
    named = [file for file in found.files or () if any(word in file.name.upper() for word in words)]
    own = [file for file in named if ".." not in file.parts and file.suffix != ".json"]
    return {file.name: file.read_text(encoding="utf-8").strip() for file in own}


def text() -> str:
    """One file with all of them: each package with its licence, and the texts."""
    listed, contents = ["What these pages ship besides the book, with its licences."], []
    for name, what in SHIPPED.items():
        found = distribution(name)
        listed.append(f"{name} {found.version}: {what}. Licence: {licence(found)}.")
        contents += [f"{70 * '='}\n{name}, {file}\n\n{content}" for file, content in texts(found).items()]
    contents.append(f"{70 * '='}\nMathJax\n\n{texts(distribution(APACHE[0]))[APACHE[1]]}")
    return "\n\n".join([*listed, *contents]) + "\n"
