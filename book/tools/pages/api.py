"""The rooms of lmc_helpers as the API pages list them, read from the sources without importing them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from book.tools.base.chapters import PACKAGE, ROOT
from book.tools.reading import sources

FOLDER = ROOT / PACKAGE
FOUNDATIONS = "What every room may use, and what every chapter does first and last."


@dataclass(frozen=True)
class Room:
    """A package of lmc_helpers, or the foundations, which stand in no package of their own."""

    name: str
    title: str
    says: str  # the first sentence of its door
    door: str | None
    promised: list[str]  # what the door re-exports
    modules: list[str]


def _docstring(path: Path) -> str:
    return ast.get_docstring(ast.parse(path.read_bytes())) or ""


def _promised(door: Path) -> list[str]:
    for node in ast.parse(door.read_bytes()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


def _plain(sentence: str) -> str:
    """A docstring's first sentence for a table: roles and markup reduced to their text."""
    words = re.sub(r":\w+:`~?([^`<]*?)(?: <[^`]*>)?`", lambda m: f"`{m[1].rpartition('.')[2]}`", sentence)
    return words.replace("``", "`").replace("|", "\\|").replace("\n", " ")


def rooms(package: Path = FOLDER) -> list[Room]:
    """Foundations, then the rooms by their names; the modules of a room in the order in which its door names them."""
    name = package.name
    loose = [f"{name}.{stem}" for stem in _stems(package)]
    found = [Room("foundations", "Foundations", FOUNDATIONS, None, [], loose)]
    for door in sorted(package.glob("[a-z]*/__init__.py")):
        said = _docstring(door)
        stems = sorted(_stems(door.parent), key=lambda stem: _place(stem, said))
        room = f"{name}.{door.parent.name}"
        says = _plain(said.split("\n\n")[0])
        found.append(
            Room(door.parent.name, door.parent.name, says, room, _promised(door), [f"{room}.{stem}" for stem in stems])
        )
    return found


def _stems(folder: Path) -> list[str]:
    """The modules in a folder, without its door."""
    here = [path for path in sources.files(folder) if path.parent == folder and path.suffix == ".py"]
    return [path.stem for path in here if path.name != "__init__.py"]


def _place(stem: str, said: str) -> int:
    named = re.search(rf"\b{re.escape(stem)}\b", said.partition("\n\n")[2])
    return named.start() if named else len(said)


def users(notebooks: Path = ROOT / "notebooks") -> dict[str, list[str]]:
    """Dotted name of lmc_helpers → the chapters that use it: what they import, and attributes of what they import.

    Names that a door re-exports count for the door and for the module that defines them.
    """
    found: dict[str, list[str]] = {}
    doors = _defined_in(FOLDER)
    for path in sorted(notebooks.glob("[0-9]*.py")):
        names = _names(ast.parse(path.read_bytes()))
        for name in sorted(names | {doors[name] for name in names if name in doors}):
            found.setdefault(name, []).append(path.stem)
    return found


def _names(tree: ast.Module) -> set[str]:
    """The dotted names of lmc_helpers that a chapter uses."""
    local: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            local |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
    used = set(local.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in local:
            used.add(f"{local[node.value.id]}.{node.attr}")
    return used


def _defined_in(package: Path) -> dict[str, str]:
    """Name at a door → name at the module that defines it."""
    found: dict[str, str] = {}
    for door in package.glob("*/__init__.py"):
        for node in ast.parse(door.read_bytes()).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                at = f"{package.name}.{door.parent.name}"
                found |= {f"{at}.{alias.name}": f"{node.module}.{alias.name}" for alias in node.names}
    return found


def used_of(module: str, known: dict[str, list[str]]) -> dict[str, list[str]]:
    """Function or class of a module → the chapters that use it, in the order of the names."""
    below = f"{module}."
    return {name.removeprefix(below): c for name, c in sorted(known.items()) if name.startswith(below)}
