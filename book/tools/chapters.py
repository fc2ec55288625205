"""Chapters and profiles as data: which exist, what each depends on, and one digest of all that."""

from __future__ import annotations

import ast
import hashlib
import json
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
PROFILES = NOTEBOOKS / "profiles"
PACKAGE = ROOT / "lmc_helpers"
LEDGER = ROOT / "book" / "claims.yml"
LOCK = ROOT / "requirements.lock"
RUNNER = (Path(__file__), Path(__file__).with_name("execute.py"))


class BuildError(Exception):
    """Something that the person who builds the book can mend; its message says how."""


def chapters() -> list[str]:
    """All chapters in the order of the book, ``12_overlap_theorem`` and so on."""
    return sorted(path.stem for path in NOTEBOOKS.glob("[0-9][0-9]_*.py"))


def short(chapter: str) -> str:
    """A chapter's name without its number."""
    return chapter.partition("_")[2]


def find(name: str) -> str:
    """A chapter by its name, with or without its number."""
    known = chapters()
    for chapter in known:
        if name in (chapter, short(chapter)):
            return chapter
    raise BuildError(f"chapter {name!r} does not exist; allowed: {', '.join(map(short, known))}")


def profile(name: str) -> dict:
    """A profile: what it is for, its budget, and for each chapter its budget and parameters.

    Parameters that a profile does not name keep the chapter's defaults.
    """
    known = sorted(path.stem for path in PROFILES.glob("*.yaml"))
    if name not in known:
        raise BuildError(f"profile {name!r} does not exist; allowed: {', '.join(known)}")
    data = yaml.safe_load((PROFILES / f"{name}.yaml").read_text(encoding="utf-8"))
    unknown = set(data["chapters"]) - set(map(short, chapters()))
    if unknown:
        raise BuildError(f"profile {name!r} names chapters that do not exist: {', '.join(sorted(unknown))}")
    return data


def parameters(chapter: str, profile_name: str) -> dict:
    """The parameters that a profile sets for a chapter, ``profile`` itself among them."""
    entry = profile(profile_name)["chapters"].get(short(chapter))
    if entry is None:
        raise BuildError(f"profile {profile_name!r} has no entry for chapter {short(chapter)!r}; add one")
    return {"profile": profile_name, **(entry.get("parameters") or {})}


def _imports(path: Path) -> set[str]:
    """Modules of lmc_helpers that a file imports itself."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("lmc_helpers.")}
        elif isinstance(node, ast.ImportFrom):
            within = path.parent == PACKAGE and node.level == 1
            module = ".".join(["lmc_helpers"] * within + [node.module or ""] * bool(node.module))
            if module == "lmc_helpers":
                found |= {alias.name for alias in node.names}
            elif module.startswith("lmc_helpers."):
                found.add(module.split(".")[1])
    return found


def modules(chapter: str) -> list[str]:
    """Modules of lmc_helpers that a chapter imports, directly or not."""
    seen: set[str] = set()
    todo = _imports(NOTEBOOKS / f"{chapter}.py")
    while todo:
        module = todo.pop()
        if module not in seen:
            path = PACKAGE / f"{module}.py"
            if not path.exists():
                raise BuildError(f"chapter {chapter} needs lmc_helpers.{module}, which does not exist")
            seen.add(module)
            todo |= _imports(path)
    return sorted(seen)


def checked_parts(chapter: str) -> list[str]:
    """Parts of the ledger that a chapter checks: the literal first arguments of its ``claims.check`` calls."""
    tree = ast.parse((NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8"))
    return [
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "check"
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
    ]


def digest(chapter: str, profile_name: str) -> dict[str, str]:
    """Checksums of all that an executed chapter depends on.

    Its source, its profile's parameters, the ledger's entries of the claims that it checks, the lock, the runner, and
    the modules of lmc_helpers that it imports, directly or not.
    """
    entries = yaml.safe_load(LEDGER.read_text(encoding="utf-8"))
    ids = sorted({part.partition(".")[0] for part in checked_parts(chapter)})
    files = [
        NOTEBOOKS / f"{chapter}.py",
        LOCK,
        *RUNNER,
        *(PACKAGE / f"{module}.py" for module in modules(chapter)),
    ]
    sums = {path.relative_to(ROOT).as_posix(): _sum(path.read_bytes()) for path in files}
    sums["parameters"] = _sum(json.dumps(parameters(chapter, profile_name), sort_keys=True).encode())
    sums["ledger"] = _sum(json.dumps([entries.get(id) for id in ids], sort_keys=True, default=str).encode())
    return sums


def book_digest(profile_name: str) -> dict[str, str]:
    """Checksums of all that the built pages depend on besides the executed chapters."""
    trees = [ROOT / "book", PACKAGE, NOTEBOOKS]
    files = [ROOT / "_config.yml", ROOT / "_toc.yml", LOCK]
    files += [p for tree in trees for p in tree.rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    return {"profile": profile_name} | {p.relative_to(ROOT).as_posix(): _sum(p.read_bytes()) for p in sorted(files)}


def stamps(profile_name: str, out: Path) -> tuple[dict[str, Path], Path]:
    """Bring the stamps up to date: one for each chapter, and one for the pages that go to ``out``.

    A stamp holds the checksums of all that its target depends on. It is rewritten only when one of them changes, so
    that its time follows contents and not checkouts.
    """
    where = ROOT / "build" / "stamps" / profile_name
    by_chapter = {c: _stamp(where / f"{c}.json", digest(c, profile_name)) for c in chapters()}
    return by_chapter, _stamp(out.with_suffix(".json"), book_digest(profile_name))


def _stamp(path: Path, sums: dict[str, str]) -> Path:
    text = json.dumps(sums, indent=1) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
