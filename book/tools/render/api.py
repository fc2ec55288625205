"""The packages of lmc_helpers with their public names, for the API pages; the sources are read, not imported."""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from book.tools.read.chapters import PACKAGE, ROOT

FOLDER = ROOT / PACKAGE
FIRST = "modules"  # match, line, repair, compare
FOUNDATIONS = "Matchings, barriers, error bars, seeds and devices: what every package may use."
MARKUP = re.compile(r"[|*_<\[$]")  # what Markdown would take for more than a letter


@dataclass(frozen=True)
class Module:
    """A module, its public functions and classes in the order of the file, and one line on each."""

    name: str
    members: dict[str, str]


@dataclass(frozen=True)
class Package:
    """A package of lmc_helpers, or the foundations, which are in no package of their own."""

    name: str
    says: str
    modules: list[Module]


def names(folder: Path = FOLDER) -> list[str]:
    """The names of the packages, in their order: what readers call first, then by their names."""
    found = sorted((first.parent.name for first in folder.glob("[a-z]*/__init__.py")), key=lambda n: (n != FIRST, n))
    return [*found, "foundations"]


def packages(folder: Path = FOLDER) -> list[Package]:
    """The packages in their order; modules in the order of the package's docstring."""
    found = {"foundations": Package("foundations", FOUNDATIONS, [_module(p, folder.name) for p in _public(folder)])}
    for first in folder.glob("[a-z]*/__init__.py"):
        said = ast.get_docstring(ast.parse(first.read_bytes())) or ""
        paths = sorted(_public(first.parent), key=lambda path: _position(path.stem, said))
        name = first.parent.name
        found[name] = Package(name, _summary(said), [_module(path, f"{folder.name}.{name}") for path in paths])
    return [found[name] for name in names(folder)]


def _public(folder: Path) -> list[Path]:
    """The modules of a folder, but for those that promise nothing: what our packages lend each other."""
    return sorted(p for p in folder.glob("[a-z]*.py") if "\n__all__ = ()" not in p.read_text(encoding="utf-8"))


def _position(module: str, docstring: str) -> int:
    named = re.search(rf"\b{re.escape(module)}\b", docstring.partition("\n\n")[2])
    return named.start() if named else len(docstring)


def _module(path: Path, package: str) -> Module:
    body = ast.parse(path.read_bytes()).body
    assigned = [node for node in body if isinstance(node, ast.Assign)]
    stated = [ast.literal_eval(node.value) for node in assigned if ast.unparse(node.targets[0]) == "__all__"]
    nodes = [node for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name[0] != "_"]
    listed = {node.name: _summary(ast.get_docstring(node) or "") for node in nodes}
    return Module(f"{package}.{path.stem}", {n: says for n, says in listed.items() if not stated or n in stated[0]})


def _summary(docstring: str) -> str:
    """The first paragraph of a docstring as Markdown for a cell of a table: roles and code as `code`."""
    text = re.sub(r":\w+:`~?([^`<]*?)(?: <[^`]*>)?`", lambda m: f"`{m[1].rpartition('.')[2]}`", docstring)
    text = text.split("\n\n")[0].replace("``", "`").replace("\n", " ")
    pieces = text.split("`")  # code is in odd places
    return "`".join(MARKUP.sub(r"\\\g<0>", piece) if at % 2 == 0 else piece for at, piece in enumerate(pieces))
