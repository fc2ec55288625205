"""What chapters and pages depend on, as checksums: a chapter on what it imports, pages on the whole book."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from book.tools.base import chapters as names
from book.tools.base.chapters import PACKAGE, BuildError
from book.tools.reading import parsing, profiles
from lmc_helpers._files import atomic_write
from lmc_helpers.claims.intervals import cut
from lmc_helpers.claims.yaml_files import load

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
def _data(room: Path) -> list[Path]:
    """What lies in a package and is no Python: styles, tables."""
    return [path for path in files(room) if path.parent == room and path.suffix != ".py"]


def checksum(content: bytes) -> str:
    """Sixteen characters that change with the content."""
    return hashlib.sha256(content).hexdigest()[:16]


@dataclass(frozen=True)
class Source:
    """What the tools know of one Python file."""

    sum: str
    imports: list[tuple[str, list[str]]]  # modules of lmc_helpers, each with the names that are taken from it
    checks: list[str]  # parts of the ledger that it checks


def _parsed(entry: object) -> bool:
    """Whether what was kept of a file is whole."""
    return isinstance(entry, dict) and entry.keys() == {"imports", "checks"}


class Sources:
    """The repository's sources at one moment: every file is read once, and parsed once for each content.

    What was parsed is kept in ``build/parsed.json`` by the files' checksums.
    """

    def __init__(self, root: Path = names.ROOT):
        self.root = root
        self._memory = root / "build" / "parsed.json"
        self._before = read(self._memory)
        self._parsed: dict[str, dict] = {}
        self._known: dict[Path, Source] = {}
        self._module = cache(self._find)
        self._sum = cache(lambda path: checksum(path.read_bytes()))
        self._paper = cache(self._load)

    def chapter(self, chapter: str) -> Source:
        """A chapter's source."""
        return self._source(self.root / "notebooks" / f"{chapter}.py")

    def _source(self, path: Path, package: str = "") -> Source:
        if path not in self._known:
            key = f"{self._sum(Path(parsing.__file__))}:{package}:{self._sum(path)}"
            if not _parsed(self._before.get(key)):
                self._before[key] = parsing.parse(path, package)
            self._parsed[key] = self._before[key]
            self._known[path] = Source(self._sum(path), **self._parsed[key])
        return self._known[path]

    def remember(self) -> None:
        """Keep what was parsed for the next time."""
        write(self._memory, self._parsed)

    def _find(self, name: str) -> Path | None:
        """The file of a module or of a package's door."""
        path = self.root.joinpath(*name.split("."))
        candidates = (path / "__init__.py", path.with_suffix(".py"))
        return next((candidate for candidate in candidates if candidate.is_file()), None)

    def _load(self, letter: str) -> dict:
        path = self.root / "book" / "claims" / f"{letter}.yml"
        found = load(path) if path.is_file() else {}
        if not isinstance(found, dict):
            raise BuildError(f"{path.name}, line 1: {cut(found)} is not allowed; allowed: a mapping from ids to claims")
        return found

    def _wanted(self, module: str, taken: list[str]) -> list[str]:
        """The modules that one import statement executes, doors first."""
        below = [f"{module}.{name}" for name in taken]
        strict = module == PACKAGE  # its door defines no names, so that all that is taken from it are modules
        found = [module, *(name for name in below if strict or self._module(name))]
        steps = [name.split(".") for name in found]
        return list(dict.fromkeys(".".join(step[: k + 1]) for step in steps for k in range(len(step))))

    def modules(self, chapter: str) -> dict[str, Path]:
        """Modules of lmc_helpers that Python executes for a chapter: imported directly or not, with their doors."""
        return self._reached(self.chapter(chapter), f"chapter {chapter}")

    def sums_behind(self, module: str) -> dict[str, str]:
        """Checksums of a module of lmc_helpers and of all that it imports, directly or not."""
        start = Source("", [(module, [])], [])
        return self._sums(list(self._reached(start, module).values()))

    def _reached(self, start: Source, who: str) -> dict[str, Path]:
        """Modules that Python executes for one source."""
        seen: dict[str, Path] = {}
        todo = [start]
        while todo:
            for module, taken in todo.pop().imports:
                for name in self._wanted(module, taken):
                    if name in seen:
                        continue
                    path = self._module(name)
                    if path is None:
                        raise BuildError(f"{who} needs {name}, which does not exist")
                    seen[name] = path
                    door = path.name == "__init__.py"
                    todo.append(self._source(path, name if door else name.rpartition(".")[0]))
        return dict(sorted(seen.items()))

    def summary(self, chapter: str, profile: str, setting: str = "") -> str:
        """Sixteen characters that change with anything that an executed chapter depends on.

        Its source, its profile's parameters, the ledger's entries of the claims that it checks, the lock, the runner,
        the modules of lmc_helpers that it imports, directly or not, the data in their packages, and a setting.
        """
        modules = self.modules(chapter)
        rooms = [path.parent for path in modules.values() if path.name == "__init__.py"]
        data = [path for room in rooms for path in _data(room)]
        here = self.root / "notebooks" / f"{chapter}.py"
        runner = [self.root / name for name in RUNNER]
        sums = self._sums([here, self.root / "requirements.lock", *runner, *modules.values(), *data])
        ids = sorted({part.partition(".")[0] for part in self.chapter(chapter).checks})
        sums["parameters"] = checksum(json.dumps(profiles.parameters(chapter, profile), sort_keys=True).encode())
        sums["ledger"] = checksum(json.dumps([self._paper(id[:1]).get(id) for id in ids], sort_keys=True).encode())
        if setting:
            sums["setting"] = setting
        return checksum(json.dumps(sums, sort_keys=True).encode())

    def book_summary(self) -> str:
        """Sixteen characters that change with any file that people edit: what pages depend on, and what is checked."""
        trees = [path for name in ("book", PACKAGE, "notebooks") for path in files(self.root / name)]
        loose = (self.root / name for name in ("_config.yml", "_toc.yml", "requirements.lock"))
        return checksum(json.dumps(self._sums([path for path in loose if path.is_file()] + trees)).encode())

    def _sums(self, paths: list[Path]) -> dict[str, str]:
        return {path.relative_to(self.root).as_posix(): self._sum(path) for path in paths}


def read(path: Path) -> dict:
    """The object that a JSON file holds; nothing if it is not there, cut off, or anything else."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, content: dict) -> None:
    """Write a JSON file, whole or not at all, if it holds anything else; jobs on other machines may read it."""
    text = json.dumps(content, indent=1) + "\n"
    if not path.exists() or path.read_bytes() != text.encode():
        atomic_write(path, text)
