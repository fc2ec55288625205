"""The rooms of lmc_helpers as the API pages list them, read from the sources without importing them."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from book.tools import sources
from book.tools.chapters import ROOT

PACKAGE = ROOT / sources.PACKAGE
FOUNDATIONS = "Foundations: what every room may use, and what every chapter does first and last."


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


def rooms(package: Path = PACKAGE) -> list[Room]:
    """Foundations, then the rooms by their names; the modules of a room in the order in which its door names them."""
    name = package.name
    loose = [f"{name}.{stem}" for stem in _stems(package)]
    found = [Room("foundations", "Foundations", FOUNDATIONS, None, [], loose)]
    for door in sorted(package.glob("*/__init__.py")):
        said = _docstring(door)
        stems = sorted(_stems(door.parent), key=lambda stem: _place(stem, said))
        room = f"{name}.{door.parent.name}"
        says = _plain(said.split("\n\n")[0])
        found.append(Room(door.parent.name, room, says, room, _promised(door), [f"{room}.{stem}" for stem in stems]))
    return found


def _stems(folder: Path) -> list[str]:
    """The modules in a folder, without its door."""
    here = [path for path in sources.files(folder) if path.parent == folder and path.suffix == ".py"]
    return [path.stem for path in here if path.name != "__init__.py"]


def _place(stem: str, said: str) -> int:
    named = re.search(rf"\b{re.escape(stem)}\b", said.partition("\n\n")[2])
    return named.start() if named else len(said)
