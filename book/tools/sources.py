"""What each target depends on, as checksums: chapters on the modules that they import, pages on the whole book.

A stamp is a file that holds the checksums of all that its target depends on. It is rewritten only when one of them
changes, so that its time follows contents and not checkouts; a target that is older than its stamp is stale.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import os
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from book.tools import chapters as names
from book.tools import profiles
from book.tools.chapters import BuildError
from lmc_helpers import claims
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.reading import load

PACKAGE = "lmc_helpers"
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
RUNNER = ("execute.py", "workers.py")  # what an executed notebook's outputs may depend on
SHOWN_LABELS = ('"code_prompt_show": "Plot ', '"code_prompt_show": "Numbers')  # of cells that show what others compute
SHOWN_ONLY = ("claims", "figures")  # rooms that judge and draw what was computed, and compute nothing
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


def significant(text: str) -> str:
    r"""The text of a Python file without comments, docstrings and blank lines, the same for every Python version.

    Examples
    --------
    >>> significant('# one\n\ndef f():\n    "What it does."\n    return "#"  # two\n')
    'def f():\n    return "#"'
    """
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and first.end_lineno:
                lines[first.lineno - 1 : first.end_lineno] = [""] * (first.end_lineno - first.lineno + 1)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _binds(code: str) -> set[str]:
    """The names that code binds, arguments of its functions among them."""
    nodes = list(ast.walk(ast.parse(code)))
    names = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    functions = {node.name for node in nodes if isinstance(node, (ast.ClassDef, *FUNCTIONS))}
    return names | functions | {node.arg for node in nodes if isinstance(node, ast.arg)}


def _takes(code: str) -> set[str]:
    """The names that code reads and does not bind itself."""
    names = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - _binds(code)


def computing(notebook: str) -> str:
    r"""The code of a chapter's cells without those that only show: plots and numbers that no other cell reads from.

    Examples
    --------
    >>> computing('# %%\nx = 1\n# %% mystnb={"code_prompt_show": "Plot x"}\ndraw(x)\n# %% [markdown]\n# x\n')
    'x = 1'
    """
    cells = ["# %%" + cell for cell in ("\n" + notebook).split("\n# %%")[1:]]
    code = [cell for cell in cells if not cell.startswith("# %% [markdown]")]
    shown = {cell for cell in code if any(label in cell.partition("\n")[0] for label in SHOWN_LABELS)}
    kept = [cell for cell in code if cell not in shown]
    while needed := [cell for cell in shown if any(_binds(cell) & _takes(other) for other in kept)]:
        kept += needed
        shown -= set(needed)
    return "\n".join(filter(None, (significant(cell) for cell in code if cell not in shown)))


def _imports(nodes: list[ast.AST], package: str) -> list[tuple[str, list[str]]]:
    """Modules of lmc_helpers that are imported anywhere, each with the names that are taken from it."""
    found: list[tuple[str, list[str]]] = []
    for node in nodes:
        if isinstance(node, ast.Import):
            found += [(alias.name, []) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: 1 - node.level or None] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            found.append((module, [alias.name for alias in node.names]))
    return [(module, taken) for module, taken in found if module.split(".")[0] == PACKAGE]


def _checks(nodes: list[ast.AST]) -> list[str]:
    """Literal first arguments of ``claims.check`` calls."""
    calls = (node for node in nodes if isinstance(node, ast.Call) and node.args)
    names = (call.args[0] for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "check")
    return [name.value for name in names if isinstance(name, ast.Constant) and isinstance(name.value, str)]


@dataclass(frozen=True)
class Source:
    """What the tools know of one Python file."""

    sum: str
    imports: list[tuple[str, list[str]]]  # modules of lmc_helpers, each with the names that are taken from it
    checks: list[str]  # parts of the ledger that it checks


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
        self.confirmed = cache(self._confirmed)

    def chapter(self, chapter: str) -> Source:
        """A chapter's source."""
        return self._source(self.root / "notebooks" / f"{chapter}.py")

    def _source(self, path: Path, package: str = "") -> Source:
        if path not in self._known:
            key = f"{self._sum(Path(__file__))}:{package}:{self._sum(path)}"
            if key not in self._before:
                try:
                    nodes = list(ast.walk(ast.parse(path.read_bytes())))
                except SyntaxError as error:
                    raise BuildError(f"{path.name}, line {error.lineno}: {error.msg}") from None
                self._before[key] = {"imports": _imports(nodes, package), "checks": _checks(nodes)}
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
        return (load(path) or {}) if path.is_file() else {}

    def _wanted(self, module: str, taken: list[str]) -> list[str]:
        """The modules that one import statement executes, doors first."""
        below = [f"{module}.{name}" for name in taken]
        strict = module == PACKAGE  # its door defines no names, so that all that is taken from it are modules
        found = [module, *(name for name in below if strict or self._module(name))]
        steps = [name.split(".") for name in found]
        return list(dict.fromkeys(".".join(step[: k + 1]) for step in steps for k in range(len(step))))

    def modules(self, chapter: str) -> dict[str, Path]:
        """Modules of lmc_helpers that Python executes for a chapter: imported directly or not, with their doors.

        Raises
        ------
        BuildError
            if one of them does not exist.
        """
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

    def code(self, chapter: str, profile: str) -> str:
        """Sixteen characters that change when what a chapter computes may change, at one profile.

        That is the code of its cells, of the modules that it imports, directly or not, and its parameters; not prose,
        comments and docstrings, pictures, the ledger and its words.
        """
        sums = {"chapter": self._reduced(computing, self.root / "notebooks" / f"{chapter}.py")}
        for module, path in self.modules(chapter).items():
            if not module.startswith(tuple(f"{PACKAGE}.{room}" for room in SHOWN_ONLY)):
                sums[module] = self._reduced(significant, path)
        parameters = profiles.parameters(chapter, profile)
        return checksum(json.dumps([sums, parameters], sort_keys=True).encode())

    def _reduced(self, reduce: Callable[[str], str], path: Path) -> str:
        """The checksum of a file's text reduced to what computes, kept like what was parsed."""
        key = f"{reduce.__name__}:{self._sum(Path(__file__))}:{self._sum(path)}"
        if key not in self._before:
            self._before[key] = {"sum": checksum(reduce(path.read_text(encoding="utf-8")).encode())}
        self._parsed[key] = self._before[key]
        return self._parsed[key]["sum"]

    def digest(self, chapter: str, profile: str) -> dict[str, str]:
        """Checksums of all that an executed chapter depends on.

        Its source, its profile's parameters, the ledger's entries of the claims that it checks, the lock, the runner,
        the modules of lmc_helpers that it imports, directly or not, and the data that lie in their packages.
        """
        modules = self.modules(chapter)
        rooms = [path.parent for path in modules.values() if path.name == "__init__.py"]
        data = [path for room in rooms for path in _data(room)]
        here = self.root / "notebooks" / f"{chapter}.py"
        runner = [self.root / "book" / "tools" / name for name in RUNNER]
        sums = self._sums([here, self.root / "requirements.lock", *runner, *modules.values(), *data])
        ids = sorted({part.partition(".")[0] for part in self.chapter(chapter).checks})
        sums["parameters"] = checksum(json.dumps(profiles.parameters(chapter, profile), sort_keys=True).encode())
        sums["ledger"] = checksum(json.dumps([self._paper(id[:1]).get(id) for id in ids], sort_keys=True).encode())
        return sums

    def _confirmed(self, chapter: str, profile: str) -> dict[str, str]:
        """What a confirmatory run must agree with: the digests of the chapter's code and of its parts' criteria."""
        criteria = {id: claims.part(id, self.root / "book" / "claims").digest() for id in self.chapter(chapter).checks}
        return {"code": self.code(chapter, profile)} | criteria

    def book_digest(self, profile: str) -> dict[str, str]:
        """Checksums of all that the built pages depend on besides the executed chapters."""
        trees = [self.root / name for name in ("book", PACKAGE, "notebooks")]
        loose = [self.root / name for name in ("_config.yml", "_toc.yml", "requirements.lock")]
        return {"profile": profile} | self._sums(loose + [path for tree in trees for path in files(tree)])

    def _sums(self, paths: list[Path]) -> dict[str, str]:
        return {path.relative_to(self.root).as_posix(): self._sum(path) for path in paths}


@dataclass(frozen=True)
class Stamps:
    """The stamps of one profile, brought up to date, and the targets that follow them."""

    chapters: dict[str, Path]
    pages: Path
    executed: dict[str, Path]
    built: Path

    def stale(self) -> list[str]:
        """Chapters whose executed notebook is not there or older than its stamp."""
        return [chapter for chapter, stamp in self.chapters.items() if not _newer(self.executed[chapter], [stamp])]

    def pages_are_stale(self) -> bool:
        """Whether the pages are not there, or older than their stamp or than an executed notebook."""
        return not _newer(self.built, [self.pages, *self.executed.values()])


def _newer(target: Path, inputs: list[Path]) -> bool:
    """Whether a target is there and no input is missing or newer: what Snakemake looks at."""
    if not all(path.exists() for path in (target, *inputs)):
        return False
    return all(path.stat().st_mtime <= target.stat().st_mtime for path in inputs)


def places(profile: str, out: Path, seeds: str = "") -> Stamps:
    """Where the stamps and targets of a profile lie, the pages in ``out``; nothing is read or written.

    Chapters whose seeds come from a commit lie in folders of their own.
    """
    name = f"{profile}-{seeds[:10]}" if seeds else profile
    where = names.ROOT / "build" / "stamps" / name
    known = names.chapters()
    return Stamps(
        chapters={chapter: where / f"{chapter}.json" for chapter in known},
        pages=out.with_suffix(".json"),
        executed=dict(zip(known, names.executed(name), strict=True)),
        built=out / "_build" / "html" / ".built",
    )


def stamps(profile: str, out: Path, seeds: str = "") -> Stamps:
    """Bring the stamps of a profile up to date: one a chapter, and one for the pages that go to ``out``.

    A confirmatory run (``seeds``, a commit) depends on code and criteria only, not on words and pictures.

    Raises
    ------
    BuildError
        if the profile or an import is wrong.
    """
    sources, found = Sources(), places(profile, out, seeds)
    try:
        for chapter, path in found.chapters.items():
            sums = sources.confirmed(chapter, profile) if seeds else sources.digest(chapter, profile)
            write(path, sums)
    except LedgerError as error:
        raise BuildError(f"book/claims: {error}") from None
    write(found.pages, sources.book_digest(profile))
    sources.remember()
    return found


def read(path: Path) -> dict:
    """What a JSON file holds; nothing if it is not there or cut off."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write(path: Path, content: dict) -> None:
    """Write a JSON file, whole or not at all, if it holds anything else; jobs on other machines may read it."""
    text = json.dumps(content, indent=1) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(f".{path.name}-{os.getpid()}")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path)
