"""What chapters and pages depend on, as checksums: a chapter on what it imports, pages on the whole book."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import accumulate
from pathlib import Path

from book.tools.base import chapters as names
from book.tools.base import inputs
from book.tools.base.chapters import PACKAGE, BuildError
from book.tools.reading import profiles
from lmc_helpers._files import atomic_write
from lmc_helpers.claims._yaml_files import load
from lmc_helpers.claims.intervals import cut

#: What an executed notebook's outputs may depend on.
RUNNER = tuple(f"book/tools/running/{name}.py" for name in ("execution", "engine"))
#: Names of files and folders that are no sources, whatever git says: hidden ones, caches, editors' leftovers.
NO_SOURCES = (
    *(".*", "__pycache__", "*.egg-info", "*.py[co]"),
    *("*~", "#*#", "*.sw[op]", "*.bak", "*.orig", "*.rej", "*.tmp", "Thumbs.db", "desktop.ini"),
)


def files(tree: Path) -> Iterator[Path]:
    """The source files below a folder, in order; what :data:`NO_SOURCES` names is left out."""
    for path in sorted(tree.iterdir()):
        if not any(fnmatchcase(path.name, pattern) for pattern in NO_SOURCES):
            yield from files(path) if path.is_dir() else [path]


@cache
def _data(package: Path) -> list[Path]:
    """What is in a package's folder and is no Python: styles, tables."""
    return [path for path in files(package) if path.parent == package and path.suffix != ".py"]


def checksum(content: bytes) -> str:
    """Sixteen characters that change with the content."""
    return hashlib.sha256(content).hexdigest()[:16]


Imports = list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Source:
    imports: Imports  # modules of lmc_helpers, each with the names that are taken from it
    checks: list[str]  # parts of the ledger that it checks


@cache
def _parsed(content: bytes, name: str, package: str) -> Source:
    """A file's imports and checks; relative imports start at ``package``."""
    try:
        nodes = list(ast.walk(ast.parse(content)))
    except SyntaxError as error:
        raise BuildError(f"{name}, line {error.lineno}: {error.msg}") from None
    imports: Imports = []
    checks = []
    for node in nodes:
        match node:
            case ast.Import(names=taken):
                imports += [(alias.name, []) for alias in taken]
            case ast.ImportFrom(module=module, names=taken, level=level):
                above = package.split(".")[: 1 - level or None] if level else []
                imports.append((".".join(filter(None, [*above, module])), [alias.name for alias in taken]))
            case ast.Call(func=ast.Attribute(attr="check"), args=[ast.Constant(value=str(part)), *_]):
                checks.append(part)
    return Source([(module, taken) for module, taken in imports if module.split(".")[0] == PACKAGE], checks)


class Sources:
    """The repository's sources at one moment: every file is read once."""

    def __init__(self, root: Path = names.ROOT):
        self.root = root
        self._module = cache(self._find)
        self._read = cache(Path.read_bytes)
        self._paper = cache(self._load)
        self._listed = cache(inputs.listed)

    def chapter(self, chapter: str) -> Source:
        path = self.root / "notebooks" / f"{chapter}.py"
        return _parsed(self._read(path), path.name, "")

    def _find(self, name: str) -> Path | None:
        path = self.root.joinpath(*name.split("."))
        candidates = (path / "__init__.py", path.with_suffix(".py"))
        return next((candidate for candidate in candidates if candidate.is_file()), None)

    def _load(self, letter: str) -> dict:
        path = self.root / "book" / "claims" / f"{letter}.yml"
        found = load(path) if path.is_file() else {}
        if not isinstance(found, dict):
            raise BuildError(f"{path.name}, line 1: {cut(found)} is not allowed; allowed: a mapping from ids to claims")
        return found

    def modules(self, chapter: str) -> dict[str, Path]:
        """Modules of lmc_helpers that Python executes for a chapter: imported directly or not, with their packages."""
        return self._reached(self.chapter(chapter).imports, f"chapter {chapter}")

    def sums_behind(self, module: str) -> dict[str, str]:
        """Checksums of a module of lmc_helpers and of all that it imports, directly or not."""
        return self._sums(self._reached([(module, [])], module).values())

    def _reached(self, imports: Imports, who: str) -> dict[str, Path]:
        """Modules that Python executes for some imports."""
        seen: dict[str, Path] = {}
        todo = list(imports)
        while todo:
            module, taken = todo.pop()
            below = [f"{module}.{name}" for name in taken]
            for wanted in (module, *(name for name in below if module == PACKAGE or self._module(name))):
                for name in accumulate(wanted.split("."), "{}.{}".format):
                    if name in seen:
                        continue
                    path = self._module(name)
                    if path is None:
                        raise BuildError(f"{who} needs {name}, which does not exist")
                    seen[name] = path
                    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
                    todo += _parsed(self._read(path), path.name, package).imports
        return dict(sorted(seen.items()))

    def summary(self, chapter: str, profile: str, setting: str = "") -> str:
        """Sixteen characters that change with anything that an executed chapter depends on.

        Its source, its profile's parameters, the ledger's entries of the claims that it checks, the lock, the runner,
        the modules of lmc_helpers that it imports, directly or not, the data in their packages, a setting, and below
        paper scale what stands in for a second seed: recorded rejections that have one.
        """
        modules = self.modules(chapter)
        data = [path for init in modules.values() if init.name == "__init__.py" for path in _data(init.parent)]
        here = self.root / "notebooks" / f"{chapter}.py"
        runner = [self.root / name for name in RUNNER]
        sums = self._sums([here, self.root / "requirements.lock", *runner, *modules.values(), *data])
        ids = sorted({part.partition(".")[0] for part in self.chapter(chapter).checks})
        sums["parameters"] = _sum_of(profiles.parameters(chapter, profile))
        sums["ledger"] = _sum_of([self._paper(id[:1]).get(id) for id in ids])
        if profile != "paper" and (again := self._second_seeds(self.chapter(chapter).checks)):
            sums["second seeds"] = _sum_of(again)
        if setting:
            sums["setting"] = setting
        return _sum_of(sums)

    def _second_seeds(self, parts: Iterable[str]) -> dict[str, list[str]]:
        """Part → the verdict of its record at paper scale and its basis, where a second seed rejects, too."""
        path = self.root / "book" / "recorded" / "paper.json"
        found = {one["part"]: one for one in self._listed(path) if one.get("second_seed")} if path.exists() else {}
        names = ("verdict", "criteria", "quantity")
        return {id: [found[id][name] for name in names] for id in sorted(set(parts) & found.keys())}

    def book_summary(self) -> str:
        """Sixteen characters that change with any file that people edit: what pages depend on, and what is checked."""
        trees = [path for name in ("book", PACKAGE, "notebooks") for path in files(self.root / name)]
        loose = (self.root / name for name in ("_config.yml", "_toc.yml", "requirements.lock"))
        return _sum_of(self._sums([*filter(Path.is_file, loose), *trees]))

    def _sums(self, paths: Iterable[Path]) -> dict[str, str]:
        return {path.relative_to(self.root).as_posix(): checksum(self._read(path)) for path in paths}


def _sum_of(content: object) -> str:
    return checksum(json.dumps(content, sort_keys=True).encode())


def read(path: Path) -> dict:
    """The object that a JSON file holds; nothing if it is not there, cut off, or anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, content: dict) -> None:
    """Write a JSON file atomically if its content changes; jobs on other machines may read it."""
    text = json.dumps(content, indent=1) + "\n"
    if not path.exists() or path.read_bytes() != text.encode():
        atomic_write(path, text)
