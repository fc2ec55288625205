"""What a chapter's source must be, found without running it: its header, its cells, its parameters, its checks.

A chapter is a Python file whose cells begin with ``# %%``. One cell is tagged ``parameters`` and holds literals; the
call of ``chapter.begin`` behind it says what each may be, so that the values of the profiles are checked here too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jupytext.cell_metadata import text_to_metadata

from book.tools.base import chapters, inputs
from book.tools.base.chapters import BuildError
from lmc_helpers import chapter as language
from lmc_helpers.claims.intervals import LedgerError, cut
from lmc_helpers.claims.yaml_files import parsed

KERNEL = {"name": "python3", "language": "python"}
TAGS = (
    *("parameters", "nbval-check-output", "nbval-ignore-output", "nbval-skip", "raises-exception"),
    *("hide-input", "hide-output", "hide-cell", "remove-input", "remove-output", "remove-cell", "full-width"),
)
NAME = re.compile(r"[0-9][0-9]_[a-z0-9_]+")
HEADER = re.compile(r"# ---\n((?:#.*\n)*?)# ---\n")
MAGIC = re.compile(r"\s*(%%?[a-zA-Z]\w*\b|![a-zA-Z./])")
RULES = {name: getattr(language, name) for name in ("Integer", "Real", "Flag", "Choice", "ListOf")}
BEGIN = ("begin", "validate")
SHAPES = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List, ast.operator, ast.unaryop, ast.Load, ast.keyword)


@dataclass(frozen=True)
class Cell:
    """A cell of a chapter: where it begins and ends, and its tags."""

    first: int
    last: int
    tags: tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """What a chapter's source says, as far as it can be read without running it."""

    parameters: dict[str, Any]
    lines: dict[str, int]
    rules: dict[str, Any]
    checks: list[tuple[str, int]]


def misnamed(folder: Path = chapters.NOTEBOOKS) -> list[str]:
    """What is wrong with the names of the chapters' files."""
    rule = "allowed: two digits, _, small letters, digits and _, as in 12_overlap_theorem.py"
    found = sorted(path.stem for path in folder.glob("*.py"))
    wrong = [f"notebooks/{name}.py: this name is not allowed; {rule}" for name in found if not NAME.fullmatch(name)]
    wrong += [
        f"notebooks/{path.name}: chapters are py:percent sources (.py)" for path in sorted(folder.glob("*.ipynb"))
    ]
    for what, key in (("number", lambda name: name[:2]), ("name", chapters.short)):
        keys = [key(name) for name in found]
        twice = sorted({one for one in keys if keys.count(one) > 1})
        wrong += [f"notebooks: {len([k for k in keys if k == one])} chapters have the {what} {one}" for one in twice]
    return wrong


@cache
def sheet(path: Path) -> Sheet:
    """Read a chapter."""
    text, name = inputs.text(path), path.name
    tree = _tree(text, name)
    _check_header(text, name)
    found = list(cells(text, name))
    own = [cell for cell in found if "parameters" in cell.tags]
    if len(own) != 1:
        lines = ", ".join(str(cell.first) for cell in own)
        has = f"{len(own)} cells (lines {lines}) are" if own else "no cell is"
        raise BuildError(f'{name}: {has} tagged parameters; allowed: one, # %% tags=["parameters"]')
    nodes = [node for node in tree.body if own[0].first <= node.lineno <= own[0].last]
    values, lines_of = _parameters(nodes, name)
    rules = _rules(tree, name)
    try:
        language.validate(values, rules)
    except language.ParameterError as error:
        raise BuildError("\n".join(f"{name}, line {own[0].first}: {said}" for said in _lines(error))) from None
    return Sheet(values, lines_of, rules, list(_checks(tree, name)))


def _lines(error: Exception) -> list[str]:
    return str(error).splitlines()


def _tree(text: str, name: str) -> ast.Module:
    lines = text.splitlines()
    try:
        return ast.parse(text)
    except SyntaxError as error:
        line = lines[(error.lineno or 1) - 1] if lines else ""
        if MAGIC.match(line):
            raise _magic(f"{name}, line {error.lineno}", line) from None
        raise BuildError(f"{name}, line {error.lineno}: {error.msg}: {line.strip()!r} is no Python") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BuildError(f"{name}: {error or type(error).__name__}: it is no Python") from None


def _magic(where: str, line: str) -> BuildError:
    """jupytext makes a command of IPython even of a comment that looks like one."""
    return BuildError(f"{where}: {line.strip()!r} is a command of IPython; allowed: plain Python")


def _check_header(text: str, name: str) -> None:
    """The header is YAML, and the kernel is this Python's."""
    found = HEADER.match(text)
    if found is None:
        raise BuildError(f"{name}, line 1: no header; allowed: # --- and the lines of another chapter's header")
    try:
        read = parsed(re.sub("^# ?", "", found[1], flags=re.MULTILINE), name, first=2)
        kernel = read["jupyter"]["kernelspec"]
        said = {key: kernel[key] for key in KERNEL}
    except LedgerError as error:
        raise BuildError(str(error)) from None
    except (TypeError, KeyError):
        raise BuildError(f"{name}, line 1: the header names no kernel; allowed: kernelspec: {KERNEL}") from None
    if said != KERNEL:
        at = next((n for n, line in enumerate(text.splitlines(), 1) if str(kernel["name"]) in line), 1)
        raise BuildError(f"{name}, line {at}: kernelspec {said} is not allowed; allowed: {KERNEL}")


def cells(text: str, name: str) -> Iterator[Cell]:
    """The cells of a chapter, each with its tags."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines, 1) if re.match(r"# %%(?!%)", line)]
    if not starts:
        raise BuildError(f"{name}: it has no cells; allowed: py:percent, where a cell begins with # %%")
    for first, after in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        for number, line in enumerate(lines[first : after - 1], first + 1):
            if not lines[first - 1].startswith("# %% [markdown]") and MAGIC.match(line.removeprefix("#")):
                raise _magic(f"{name}, line {number}", line)
        yield Cell(first, after - 1, _tags(lines[first - 1], f"{name}, line {first}"))


def _tags(line: str, where: str) -> tuple[str, ...]:
    said = line.removeprefix("# %%").strip()
    _, options = text_to_metadata(said.removeprefix("[markdown]").strip(), allow_title=True)
    if "incorrectly_encoded_metadata" in options:
        raise BuildError(f'{where}: {said!r} cannot be read; allowed: tags=["name", ...] and the like')
    tags = options.get("tags", [])
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise BuildError(f'{where}: tags={tags!r} is not allowed; allowed: tags=["name", ...]')
    if unknown := [tag for tag in tags if tag not in TAGS]:
        raise BuildError(f"{where}: unknown tag {unknown[0]!r}; allowed: {', '.join(TAGS)}")
    return tuple(tags)


def _parameters(nodes: list[ast.stmt], name: str) -> tuple[dict[str, Any], dict[str, int]]:
    """The values of the cell of parameters, and their lines."""
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        where = f"{name}, line {node.lineno}"
        if not isinstance(target, ast.Name) or value is None or isinstance(node, ast.AugAssign):
            raise BuildError(f"{where}: {cut(ast.unparse(node))} is no parameter; allowed: name: type = value")
        try:
            read = ast.literal_eval(value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise BuildError(
                f"{where}: {cut(ast.unparse(value))} is no literal; allowed: a number, a text ..."
            ) from None
        if target.id in values:
            raise BuildError(f"{where}: {target.id!r} stands twice")
        if target.id.startswith("_"):
            raise BuildError(f"{where}: {target.id!r} is not allowed; allowed: a name that begins with a letter")
        values[target.id], lines[target.id] = read, node.lineno
    return values, lines


def _called(node: ast.AST) -> str:
    return ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""


def _rules(tree: ast.Module, name: str) -> dict[str, Any]:
    """What each parameter may be, from the call of ``chapter.begin`` or of ``validate``."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _called(node) in BEGIN]
    if not calls:
        raise BuildError(f"{name}: it does not call chapter.begin, which checks the parameters")
    call = min(calls, key=lambda node: node.lineno)
    pairs: list[tuple[Any, ast.expr]] = [(word.arg, word.value) for word in call.keywords]
    if _called(call) == "validate" and len(call.args) > 1 and isinstance(call.args[1], ast.Dict):
        keys = [key.value if isinstance(key, ast.Constant) else None for key in call.args[1].keys]
        pairs = list(zip(keys, call.args[1].values, strict=True))
    rules = {} if _called(call) == "validate" else dict(language.COMMON)
    for key, value in pairs:
        rules[str(key)] = _rule(value, f"{name}, line {value.lineno}: {key}")
    return rules


def _rule(node: ast.expr, where: str) -> Any:
    said = f"{where}: {cut(ast.unparse(node))} is no rule; allowed: {', '.join(RULES)}, with literals"
    inner = [one for one in ast.walk(node) if not isinstance(one, SHAPES)]
    names = {one.id for one in inner if isinstance(one, ast.Name)}
    if not names <= set(RULES) or not all(isinstance(one, (ast.Name, ast.Call)) for one in inner):
        raise BuildError(said)
    try:
        rule = eval(compile(ast.Expression(node), where, "eval"), {"__builtins__": {}}, dict(RULES))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise BuildError(f"{said} ({error})") from None
    if not isinstance(rule, tuple(RULES.values())):
        raise BuildError(said)
    return rule


def _checks(tree: ast.Module, name: str) -> Iterator[tuple[str, int]]:
    """The parts of the ledger that the chapter checks, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "claims.check":
            first = node.args[0] if node.args else None
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                said = cut(ast.unparse(first)) if first else "nothing"
                raise BuildError(f"{name}, line {node.lineno}: claims.check({said}): allowed: a part between quotes")
            yield first.value, node.lineno


def refused(name: str, value: object, known: Sheet) -> list[str]:
    """What a chapter says of a parameter with another value than its own; nothing if it may have it."""
    if not isinstance(value, language.LITERALS):
        return [f"parameter {name} = {value!r} ({type(value).__name__}) is not allowed; allowed: a number or a text"]
    try:
        language.validate(known.parameters | {name: value}, known.rules)
    except language.ParameterError as error:
        return _lines(error)
    return []
