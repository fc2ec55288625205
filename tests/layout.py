"""A house of Python files: rooms are packages, and arrows the imports between files."""

import ast
from collections.abc import Set
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class House:
    """All Python files below a folder of the repository."""

    package: str

    @cached_property
    def folder(self) -> Path:
        return ROOT.joinpath(*self.package.split("."))

    @cached_property
    def files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.py") if path.name != "__init__.py")

    @cached_property
    def rooms(self) -> list[Path]:
        return sorted(path.parent for path in self.folder.rglob("__init__.py") if path.parent != self.folder)

    def room(self, module: str) -> str:
        """The room of a module, empty for a file that stands beside the rooms."""
        first = module.removeprefix(f"{self.package}.").split(".")[0]
        return first if (self.folder / first).is_dir() else ""

    def imported(self, path: Path) -> set[str]:
        """Modules of the house that a file imports, at its top or inside a function, but not in examples."""
        known = {name(file) for file in [*self.files, *(folder / "__init__.py" for folder in self.rooms)]}
        found = set()
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(self.package):
                modules = {f"{node.module}.{alias.name}" for alias in node.names} & known
                found |= modules or {node.module}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name.startswith(self.package)}
        return found

    def wrong_way(self, path: Path, may_import: Set[str]) -> list[str]:
        """What a file imports from other rooms than these."""
        return [module for module in sorted(self.imported(path)) if self.room(module) not in may_import]

    def in_order(self) -> list[str]:
        """All modules, each after those that it imports; a CycleError if there is no such order."""
        graph = {name(path): self.imported(path) - {name(path)} for path in self.files}
        return list(TopologicalSorter(graph).static_order())


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def name(path: Path) -> str:
    """The module that a file is."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def not_listed(folder: Path) -> list[str]:
    """The files of a room that its door does not name."""
    text = ast.get_docstring(tree(folder / "__init__.py")) or ""
    words = text.replace("`", " ").split()
    named = {word.rpartition(".")[2] for word in words}
    return [path.stem for path in folder.glob("*.py") if path.name != "__init__.py" and path.stem not in named]
