"""Checks of a chapter's source without running it: its header, its cells, its parameters, its checks.

A chapter is a Python file whose cells begin with ``# %%``. One cell is tagged ``parameters`` and holds literals; the
call of ``chapter.begin`` behind it gives the rule of each, hence the values of the profiles are checked here too.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jupytext.cell_metadata import text_to_metadata

from book.tools.read import chapters, inputs
from book.tools.read.chapters import BuildError
from book.tools.read.headers import header
from book.tools.read.titles import OF_A_READER, OF_THE_BOOK
from lmc_helpers import chapter as language
from lmc_helpers.claims.intervals import LedgerError, cut

KERNEL = {"name": "python3", "language": "python"}
TAGS = (
    *("parameters", "nbval-ignore-output", "nbval-skip", "raises-exception"),
    *("hide-output", "remove-input", "remove-output", "remove-cell", "full-width", OF_A_READER, OF_THE_BOOK),
)
NAME = re.compile(r"[0-9][0-9]_[a-z0-9_]+")
MAGIC = re.compile(r"\s*(%%?[a-zA-Z]\w*\b|![a-zA-Z./])")
RULES = {name: getattr(language, name) for name in ("Integer", "Real", "Flag", "Choice", "Text", "ListOf")}
SHAPES = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Tuple, ast.List, ast.operator, ast.unaryop, ast.Load, ast.keyword)


@dataclass(frozen=True)
class Sheet:
    """A chapter's source, parsed without running it."""

    parameters: dict[str, Any]
    rules: dict[str, Any]
    checks: list[tuple[str, int]]  # parts of the ledger, with their lines


def misnamed() -> list[str]:
    rule = "allowed: two digits, _, small letters, digits and _, as in 12_overlap_theorem.py"
    found = sorted(path.stem for path in chapters.NOTEBOOKS.glob("*.py"))
    wrong = [f"notebooks/{name}.py: this name is not allowed; {rule}" for name in found if not NAME.fullmatch(name)]
    others = sorted(chapters.NOTEBOOKS.glob("*.ipynb"))
    wrong += [f"notebooks/{path.name}: chapters are py:percent sources (.py)" for path in others]
    for what, keys in (("number", [name[:2] for name in found]), ("name", list(map(chapters.short, found)))):
        wrong += [f"notebooks: {n} chapters have the {what} {key}" for key, n in sorted(Counter(keys).items()) if n > 1]
    return wrong


@cache
def sheet(path: Path) -> Sheet:
    text, name = inputs.text(path), path.name
    tree = _tree(text, name)
    _check_header(text, name)
    own = [(first, last) for first, last, tags in cells(text, name) if "parameters" in tags]
    if len(own) != 1:
        lines = ", ".join(str(first) for first, _ in own)
        has = f"{len(own)} cells (lines {lines}) are" if own else "no cell is"
        raise BuildError(f'{name}: {has} tagged parameters; allowed: one, # %% tags=["parameters"]')
    first, last = own[0]
    values = _parameters([node for node in tree.body if first <= node.lineno <= last], name)
    rules = _rules(tree, name)
    try:
        language.validate(values, rules)
    except language.ParameterError as error:
        lines = "\n".join(f"{name}, line {first}: {line}" for line in str(error).splitlines())
        raise BuildError(lines) from None
    return Sheet(values, rules, list(_checks(tree, name)))


def _tree(text: str, name: str) -> ast.Module:
    try:
        return ast.parse(text)
    except SyntaxError as error:
        line = text.splitlines()[(error.lineno or 1) - 1] if text else ""
        _refuse_magic(line, f"{name}, line {error.lineno}", line)
        raise BuildError(f"{name}, line {error.lineno}: {error.msg}: {line.strip()!r} is not Python") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise BuildError(f"{name}: {error or type(error).__name__}: it is not Python") from None


def _refuse_magic(code: str, where: str, line: str) -> None:
    if MAGIC.match(code):
        raise BuildError(f"{where}: {line.strip()!r} is a command of IPython; allowed: plain Python")


def _check_header(text: str, name: str) -> None:
    try:
        if (read := header(text, name)) is None:
            raise BuildError(f"{name}, line 1: no header; allowed: # --- and the lines of another chapter's header")
        kernel = read["jupyter"]["kernelspec"]
        named = {key: kernel[key] for key in KERNEL}
    except LedgerError as error:
        raise BuildError(str(error)) from None
    except (TypeError, KeyError):
        raise BuildError(f"{name}, line 1: the header names no kernel; allowed: kernelspec: {KERNEL}") from None
    if named != KERNEL:
        at = next((n for n, line in enumerate(text.splitlines(), 1) if str(kernel["name"]) in line), 1)
        raise BuildError(f"{name}, line {at}: kernelspec {named} is not allowed; allowed: {KERNEL}")


def cells(text: str, name: str) -> Iterator[tuple[int, int, list[str]]]:
    """The cells of a chapter: first and last line, and tags."""
    lines = text.splitlines()
    starts = [number for number, line in enumerate(lines, 1) if re.match(r"# %%(?!%)", line)]
    if not starts:
        raise BuildError(f"{name}: it has no cells; allowed: py:percent, where a cell begins with # %%")
    for first, after in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        options = lines[first - 1].removeprefix("# %%").strip()
        for number, line in enumerate(lines[first : after - 1], first + 1):
            if not options.startswith("[markdown]"):  # jupytext makes a command even of a comment that looks like one
                _refuse_magic(line.removeprefix("#"), f"{name}, line {number}", line)
        yield first, after - 1, _tags(options, f"{name}, line {first}")


def _tags(line: str, where: str) -> list[str]:
    _, options = text_to_metadata(line.removeprefix("[markdown]").strip(), allow_title=True)
    tags = options.get("tags", [])
    if not options.keys() <= {"tags"} or not isinstance(tags, list):
        raise BuildError(f'{where}: {line!r} cannot be read; allowed: a title without = or {{, and tags=["name", ...]')
    if unknown := [tag for tag in tags if tag not in TAGS]:
        raise BuildError(f"{where}: unknown tag {unknown[0]!r}; allowed: {', '.join(TAGS)}")
    return tags


def _parameters(nodes: list[ast.stmt], name: str) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for node in nodes:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        where = f"{name}, line {node.lineno}"
        if not isinstance(target, ast.Name) or value is None or isinstance(node, ast.AugAssign):
            raise BuildError(f"{where}: {cut(ast.unparse(node))} is not a parameter; allowed: name: type = value")
        try:
            read = ast.literal_eval(value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            text = cut(ast.unparse(value))
            raise BuildError(f"{where}: {text} is not a literal; allowed: a number, a text ...") from None
        if target.id in values:
            raise BuildError(f"{where}: {target.id!r} appears twice")
        if target.id.startswith("_"):
            raise BuildError(f"{where}: {target.id!r} is not allowed; allowed: a name that begins with a letter")
        values[target.id] = read
    return values


def _rules(tree: ast.Module, name: str) -> dict[str, Any]:
    """Rule of each parameter, from the call of ``chapter.begin``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "begin":
            rules = {str(one.arg): _rule(one.value, f"{name}, line {one.lineno}: {one.arg}") for one in node.keywords}
            return rules | language.COMMON | rules
    raise BuildError(f"{name}: it does not call chapter.begin, which checks the parameters")


def _rule(node: ast.expr, where: str) -> Any:
    problem = f"{where}: {cut(ast.unparse(node))} is not a rule; allowed: {', '.join(RULES)}, with literals"
    inner = [one for one in ast.walk(node) if not isinstance(one, SHAPES)]
    names = {one.id for one in inner if isinstance(one, ast.Name)}
    if not names <= set(RULES) or not all(isinstance(one, (ast.Name, ast.Call)) for one in inner):
        raise BuildError(problem)
    try:
        rule = eval(compile(ast.Expression(node), where, "eval"), {"__builtins__": {}}, dict(RULES))
    except (TypeError, ValueError, ArithmeticError) as error:
        raise BuildError(f"{problem} ({error})") from None
    if not isinstance(rule, tuple(RULES.values())):
        raise BuildError(problem)
    return rule


def _checks(tree: ast.Module, name: str) -> Iterator[tuple[str, int]]:
    """The parts of the ledger that the chapter checks, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "claims.check":
            first = node.args[0] if node.args else None
            if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
                given = cut(ast.unparse(first)) if first else "nothing"
                raise BuildError(f"{name}, line {node.lineno}: claims.check({given}): allowed: a part between quotes")
            yield first.value, node.lineno


def problems(name: str, value: object, known: Sheet) -> list[str]:
    """Errors of another value for a chapter's parameter; empty if it is allowed."""
    if not isinstance(value, language.LITERALS):
        return [f"parameter {name} = {value!r} ({type(value).__name__}) is not allowed; allowed: a number or a text"]
    try:
        language.validate(known.parameters | {name: value}, known.rules)
    except language.ParameterError as error:
        return str(error).splitlines()
    return []
