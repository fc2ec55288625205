"""Dependencies of chapters and pages, as checksums: a chapter on the code that it runs, pages on the whole book.

Code counts without its comments and docstrings, and a claim without its prose: nothing runs again for a word.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import accumulate
from pathlib import Path

from book.tools.read import chapters as names
from book.tools.read import inline, inputs, profiles
from book.tools.read.chapters import PACKAGE, BuildError
from lmc_helpers.claims.intervals import cut
from lmc_helpers.claims.yaml_files import load
from lmc_helpers.files import atomic_write
from lmc_helpers.lazy import exports

#: Possible dependencies of an executed notebook's outputs.
RUNNER = tuple(f"book/tools/run/{name}.py" for name in ("execution", "engine"))
#: How a box looks, which is rendered again for its page: a package that no number depends on.
BOXES = f"{PACKAGE}.claims.render"
#: The id of a part of the ledger, or its beginning in an f-string.
PART = re.compile(r"[A-Z]\d+\.[a-z]")
#: Fields of the ledger, of an id and of its parts, that no verdict depends on.
PROSE = {
    *("says", "where", "statement", "reading", "correction", "sharpening", "proof", "reason", "in_short", "price"),
    *("revised", "floor", "misprints", "page"),
}
#: Files and folders ignored even if git tracks them: hidden ones, caches, editors' leftovers.
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
    """Files in a package's folder that are not Python: styles, tables."""
    return [path for path in files(package) if path.parent == package and path.suffix not in (".py", ".pyi")]


def checksum(content: bytes) -> str:
    """Sixteen characters that change with the content."""
    return hashlib.sha256(content).hexdigest()[:16]


Imports = list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Source:
    imports: Imports  # modules of lmc_helpers, each with the names that are taken from it
    uses: list[tuple[str, str]]  # an imported name, as a module, and what is taken from it; "*": it is passed on
    checks: list[str]  # parts of the ledger that it checks
    draws: list[str]  # parts whose records it draws, or what their ids begin with
    code: str  # checksum of what Python executes


@cache
def _parsed(content: bytes, name: str, package: str) -> Source:
    """A file's imports, checks and code; relative imports start at ``package``."""
    try:
        tree = ast.parse(content)
    except SyntaxError as error:
        raise BuildError(f"{name}, line {error.lineno}: {error.msg}") from None
    cells = _cells(content.decode()) if not package else []
    shown = inline.expressions(content.decode(), name) if not package else []
    nodes = _executed(tree, docstring=bool(package))
    nodes += [node for one in shown for node in ast.walk(ast.parse(one, mode="eval"))]
    imports: Imports = []
    bound: dict[str, str] = {}  # name → what it stands for
    checks, draws = [], []
    for node in nodes:
        match node:
            case ast.Import(names=taken):
                imports += [(alias.name, []) for alias in taken]
                bound |= {a.asname or a.name.split(".")[0]: a.name if a.asname else a.name.split(".")[0] for a in taken}
            case ast.ImportFrom(module=module, names=taken, level=level):
                above = package.split(".")[: 1 - level or None] if level else []
                imports.append((".".join(filter(None, [*above, module])), [alias.name for alias in taken]))
                bound |= {alias.asname or alias.name: f"{imports[-1][0]}.{alias.name}" for alias in taken}
            case ast.Call(func=ast.Attribute(attr="check"), args=[ast.Constant(value=str(part)), *_]):
                checks.append(part)
            case ast.Call(func=ast.Attribute(attr="recorded"), args=[ast.Constant(value=str(part))]):
                draws.append(part)
            case ast.Call(func=ast.Attribute(attr="recorded")):  # by a variable: any part that it names
                texts = (str(one.value) for one in nodes if isinstance(one, ast.Constant))
                draws += filter(PART.match, texts)
    imports = [(module, taken) for module, taken in imports if module.split(".")[0] == PACKAGE]
    bound = {name: module for name, module in bound.items() if module.split(".")[0] == PACKAGE}
    code = [_code(tree, cells), shown] if shown else _code(tree, cells)
    return Source(imports, sorted(set(_uses(nodes, bound))), checks, draws, _sum_of(code))


def _executed(tree: ast.Module, docstring: bool) -> list[ast.AST]:
    """All nodes that Python executes, without docstrings, code for type checkers only, and empty lists.

    Python 3.13 leaves those out of ``ast.dump``. Without ``docstring``, a text on the first line is a cell's value.
    """
    nodes: list[ast.AST] = []
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                node.body = []
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Module():
                if ast.get_docstring(node, clean=False) is not None and (docstring or node is not tree):
                    del node.body[0]
        for name in [name for name, value in ast.iter_fields(node) if value == []]:
            delattr(node, name)
        nodes.append(node)
        todo += ast.iter_child_nodes(node)
    return nodes


def _uses(nodes: list[ast.AST], bound: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Names taken from imported modules, such as ``match`` from lmc_helpers in ``lmc.match``."""
    inside = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}

    def dotted(node: ast.AST) -> str:
        if isinstance(node, ast.Attribute):
            return f"{above}.{node.attr}" if (above := dotted(node.value)) else ""
        return bound.get(node.id, "") if isinstance(node, ast.Name) else ""

    return ((module, inside.get(id(node), "*")) for node in nodes if (module := dotted(node)))


def _cells(text: str) -> list[tuple[int, str]]:
    """The first line of each cell of a chapter, and its tags, or that it is text; a header comes before them."""
    starts = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.startswith("# %%")]
    kinds = ((n, re.search(r"\[(?:markdown|raw)\]|tags=\[.*?\]|$", line)) for n, line in starts)
    return [(0, text.partition("# %%")[0]), *((n, kind[0] if kind else "") for n, kind in kinds)]


def _code(tree: ast.Module, cells: list[tuple[int, str]]) -> object:
    """The code that Python executes, as text equal in all its versions; of a chapter each cell with its tags."""
    body = getattr(tree, "body", [])
    if not cells:
        return [ast.dump(node) for node in body]
    ends = [*(first for first, _ in cells[1:]), float("inf")]
    inside = zip(cells, ends, strict=True)
    return [
        (tags, [ast.dump(node) for node in body if first <= node.lineno < end])
        for (first, tags), end in inside
        if tags not in ("[markdown]", "[raw]")
    ]


class Sources:
    """The repository's sources at one moment: every file is read once."""

    def __init__(self, root: Path = names.ROOT):
        self.root = root
        self._module = cache(self._find)
        self._lazy = cache(self._exports)
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

    def _exports(self, package: str) -> dict[str, str]:
        """The names that a package imports when they are first used, with the modules that define them."""
        init = self._module(package)
        stub = init and init.with_suffix(".pyi")
        return exports(self._read(stub)) if stub and stub.is_file() else {}

    def _source(self, module: str, path: Path) -> Source:
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        return _parsed(self._read(path), path.name, package)

    def _load(self, letter: str) -> dict:
        path = self.root / "book" / "claims" / f"{letter}.yml"
        found = load(path) if path.is_file() else {}
        if not isinstance(found, dict):
            raise BuildError(f"{path.name}, line 1: {cut(found)} is not allowed; allowed: a mapping from ids to claims")
        return found

    def modules(self, chapter: str) -> dict[str, Path]:
        """Modules of lmc_helpers that Python executes for a chapter: imported directly or not, with their packages."""
        return self._reached(self.chapter(chapter), f"chapter {chapter}")

    def sums_behind(self, module: str) -> dict[str, str]:
        """Checksums of the code of a module of lmc_helpers and of all that it imports, directly or not."""
        return self._codes(self._reached(Source([(module, [])], [], [], [], ""), module))

    def _codes(self, modules: dict[str, Path]) -> dict[str, str]:
        return {module: self._source(module, path).code for module, path in modules.items()}

    def _reached(self, start: Source, who: str) -> dict[str, Path]:
        """Modules that Python executes for a source."""
        seen: dict[str, Path] = {}
        done: set[tuple[str, str]] = set()
        todo: list[tuple[str, str]] = []  # a module, and a name that is taken from it or none

        def follow(source: Source) -> None:
            todo.extend((module, name) for module, taken in source.imports for name in taken or [""])
            lazily = ((module, name, self._lazy(module)) for module, name in source.uses)
            todo.extend((module, name) for module, name, names in lazily if name in names or (names and name == "*"))

        follow(start)
        while todo:
            module, name = todo.pop()
            if (module, name) in done:
                continue
            done.add((module, name))
            names, wanted = self._lazy(module), module
            if name == "*":
                todo += [(module, one) for one in names]
            elif name and (self._module(f"{module}.{name}") or (module == PACKAGE and name not in names)):
                wanted = f"{module}.{name}"
            elif name in names:
                todo.append((names[name], name))
            for above in accumulate(wanted.split("."), "{}.{}".format):
                if above not in seen:
                    path = self._module(above)
                    if path is None:
                        raise BuildError(f"{who} needs {above}, which does not exist")
                    seen[above] = path
                    follow(self._source(above, path))
        return dict(sorted(seen.items()))

    def summary(self, chapter: str, profile: str, setting: str = "") -> str:
        """Sixteen characters that change with anything that an executed chapter's numbers depend on.

        The code of its cells, of the runner and of the modules of lmc_helpers that it imports, directly or not; its
        profile's parameters, the ledger's entries of the claims that it checks without their prose, the lock, the data
        in the modules' packages, a setting, and below paper scale the recorded rejections whose second seed stands in.
        """
        modules = self.modules(chapter)
        data = [path for init in modules.values() if init.name == "__init__.py" for path in _data(init.parent)]
        sums = self._sums([self.root / "requirements.lock", *data])
        sums |= self._codes({name: path for name, path in modules.items() if not name.startswith(BOXES)})
        sums |= self._codes({name: self.root / name for name in RUNNER})
        sums["cells"] = self.chapter(chapter).code
        sums["parameters"] = _sum_of(profiles.parameters(chapter, profile))
        sums["ledger"] = _sum_of([_judged(entry) for entry in self._entries(chapter)])
        if profile != "paper" and (again := self._second_seeds(self.chapter(chapter).checks)):
            sums["second seeds"] = _sum_of(again)
        if drawn := self._drawn(self.chapter(chapter).draws):
            sums["records"] = _sum_of(drawn)
        if setting:
            sums["setting"] = setting
        return _sum_of(sums)

    def _records(self) -> dict[str, dict]:
        path = self.root / "book" / "recorded" / "paper.json"
        return {one["part"]: one for one in self._listed(path)} if path.exists() else {}

    def _drawn(self, begins: Iterable[str]) -> dict[str, list]:
        """Part → the numbers of its record, where a chapter draws them."""
        found = {id: one for id, one in self._records().items() if id.startswith(tuple(begins))}
        return {id: [one[name] for name in ("value", "low", "high", "n")] for id, one in found.items()}

    def _second_seeds(self, parts: Iterable[str]) -> dict[str, list[str]]:
        """Part → the verdict of its record at paper scale and its basis, where a second seed rejects, too."""
        found = {id: one for id, one in self._records().items() if one.get("second_seed")}
        names = ("verdict", "criteria", "quantity")
        return {id: [found[id][name] for name in names] for id in sorted(set(parts) & found.keys())}

    def prose(self, chapter: str) -> str:
        """Sixteen characters that change with anything that an executed chapter shows in addition to its numbers."""
        here = self._read(self.root / "notebooks" / f"{chapter}.py")
        boxes = {name: path for name, path in self.modules(chapter).items() if name.startswith(BOXES)}
        return _sum_of([checksum(here), self._entries(chapter), self._codes(boxes)])

    def _entries(self, chapter: str) -> list:
        """The ledger's entries of the claims that a chapter checks."""
        ids = sorted({part.partition(".")[0] for part in self.chapter(chapter).checks})
        return [self._paper(id[:1]).get(id) for id in ids]

    def book_summary(self) -> str:
        """Sixteen characters that change with any file that people edit: all that pages and checks depend on."""
        trees = [path for name in ("book", PACKAGE, "notebooks") for path in files(self.root / name)]
        loose = (self.root / name for name in ("_config.yml", "_toc.yml", "requirements.lock"))
        return _sum_of(self._sums([*filter(Path.is_file, loose), *trees]))

    def _sums(self, paths: Iterable[Path]) -> dict[str, str]:
        return {path.relative_to(self.root).as_posix(): checksum(self._read(path)) for path in paths}


def _judged(entry: object) -> object:
    """An entry of the ledger, or of its parts, without its prose; anything but a mapping stays as it is."""
    if not isinstance(entry, dict):
        return entry
    parts = entry.get("parts")
    found = {name: value for name, value in entry.items() if name not in PROSE}
    return found | ({"parts": {id: _judged(part) for id, part in parts.items()}} if isinstance(parts, dict) else {})


def _sum_of(content: object) -> str:
    return checksum(json.dumps(content, sort_keys=True).encode())


def read(path: Path) -> dict:
    """The object in a JSON file; empty if it is missing, cut off, or anything else."""
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
