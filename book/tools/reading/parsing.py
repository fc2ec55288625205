"""What one Python file says: the modules of lmc_helpers that it imports, the parts that it checks, what it defines."""

from __future__ import annotations

import ast
from pathlib import Path

from book.tools.base.chapters import PACKAGE, BuildError


def parse(path: Path, package: str) -> dict[str, list]:
    """Its imports and checks; relative imports start at ``package``."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
    except SyntaxError as error:
        raise BuildError(f"{path.name}, line {error.lineno}: {error.msg}") from None
    return {"imports": _imports(nodes, package), "checks": _checks(nodes)}


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


def defines(path: Path) -> set[str]:
    """The names that a module defines or imports at its top."""
    body = ast.parse(path.read_bytes()).body
    names = {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))}
    imported = {alias.asname or alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    return names | imported
