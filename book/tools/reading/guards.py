"""Statements that can only refuse: they raise or do nothing, so that no number that came out depends on them.

``if W.ndim < 2: raise ValueError(...)`` is one, and so is ``expect.integer(n, "n")`` with the functions of
:data:`MODULE`. A chapter's checksum of what it computes leaves them out
(:func:`~book.tools.reading.computing.significant`), so that a record stays up to date when a function learns to refuse
more. What counts is narrow, and the rest is code:

- the condition, or the arguments, are made of names, attributes, constants, subscripts, arithmetic, comparisons and
  the calls of :data:`FUNCTIONS` and :data:`METHODS`, none of which draws a number, or changes or consumes anything;
- what is raised is a ValueError or a TypeError, and no ``try`` or ``with`` of the same file stands around it;
- the statement stands alone on its lines, has no ``else``, and is itself no ``elif``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from book.tools.base.chapters import PACKAGE

NAME = "expect"
MODULE = f"{PACKAGE}.{NAME}"  # functions that raise or return None
FUNCTIONS = frozenset({"abs", "bool", "callable", "float", "int", "isinstance", "len", "type"})
MODULES = frozenset({"math", "np", "torch"})  # of which isfinite may be called
METHODS = frozenset(
    {"abs", "all", "amax", "amin", "any", "dim", "is_complex", "is_floating_point", "isfinite", "item", "numel", "size"}
)
RAISED = frozenset({"ValueError", "TypeError"})
PLAIN = (
    *(ast.Name, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.Dict, ast.JoinedStr),
    *(ast.FormattedValue, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.IfExp, ast.Call, ast.keyword),
    *(ast.expr_context, ast.boolop, ast.unaryop, ast.operator, ast.cmpop),
)


def _harmless(node: ast.AST) -> bool:
    """Whether looking at an expression changes nothing."""
    if not isinstance(node, PLAIN):
        return False
    if isinstance(node, ast.Call) and not _looks(node):
        return False
    if isinstance(node, ast.Compare) and not all(map(_searches_a_constant, node.ops, node.comparators)):
        return False
    return all(_harmless(child) for child in ast.iter_child_nodes(node))


def _looks(call: ast.Call) -> bool:
    """Whether a call is one of those that only look."""
    if isinstance(call.func, ast.Name):
        return call.func.id in FUNCTIONS
    if not isinstance(call.func, ast.Attribute):
        return False
    module = isinstance(call.func.value, ast.Name) and call.func.value.id in MODULES
    return call.func.attr in METHODS and (not module or call.func.attr == "isfinite")


def _searches_a_constant(operator: ast.cmpop, where: ast.expr) -> bool:
    """No ``x in xs`` of unknown xs: an iterator would be consumed."""
    constant = isinstance(where, ast.Name) and where.id.isupper()
    return not isinstance(operator, (ast.In, ast.NotIn)) or constant or isinstance(where, (ast.Tuple, ast.List))


def _bound(tree: ast.AST) -> set[str]:
    """The names that a file binds itself, in any of its places."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            ours = _taken(node)
            found |= {a.asname or a.name for a in node.names if not (a in ours and a.name == NAME and not a.asname)}
    return found


def _taken(node: ast.AST) -> list[ast.alias]:
    """What ``from lmc_helpers import ...`` imports; nothing if a statement is another one."""
    if isinstance(node, ast.ImportFrom) and node.module == PACKAGE and not node.level:
        return node.names
    return []


def _refuses(node: ast.stmt, own: set[str], helper: bool) -> bool:
    """Whether a statement can only raise or do nothing."""
    if isinstance(node, ast.If):
        only = node.body[0]
        if node.orelse or len(node.body) > 1 or not isinstance(only, ast.Raise) or only.cause is not None:
            return False
        raised = only.exc.func if isinstance(only.exc, ast.Call) else None
        known = isinstance(raised, ast.Name) and raised.id in RAISED - own
        parts: list[ast.AST] = [node.test]
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        owner = called.value if isinstance(called, ast.Attribute) else None
        known = helper and isinstance(owner, ast.Name) and owner.id == NAME
        parts = [*node.value.args, *node.value.keywords]
    else:
        return False
    names = {name.id for part in parts for name in ast.walk(part) if isinstance(name, ast.Name)}
    calls = {c.func.id for part in parts for c in ast.walk(part) if isinstance(c, ast.Call) and hasattr(c.func, "id")}
    return known and not calls & own and (helper or NAME not in names) and all(map(_harmless, parts))


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """All statements, except those inside a ``try`` or a ``with`` and those that are an ``elif``."""
    if isinstance(node, (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)):
        return
    for field, value in ast.iter_fields(node):
        below = value if isinstance(value, list) else [value]
        for child in below:
            if isinstance(child, ast.stmt) and not (isinstance(node, ast.If) and field == "orelse" and len(below) == 1):
                yield child
            if isinstance(child, ast.AST):
                yield from _statements(child)


def without(lines: list[str], tree: ast.Module) -> list[str]:
    """The lines of a file without the statements that can only refuse, and without the import of :data:`MODULE`.

    Imports from the package are put on one line each, so that one name more or less changes nothing else of them.
    ``lines`` hold no comments; their numbers are those of ``tree``.
    """
    kept, own = list(lines), _bound(tree)
    helper = NAME not in own and any(alias.name == NAME for node in tree.body for alias in _taken(node))
    for node in _statements(tree):
        if not _alone(lines, node):
            continue
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        if _refuses(node, own, helper):
            kept[first:last] = [""] * (last - first)
        elif taken := _taken(node):
            names = [alias for alias in taken if not (helper and alias.name == NAME)]
            line = ast.unparse(ast.ImportFrom(PACKAGE, names, 0)) if names else ""
            kept[first:last] = [" " * node.col_offset + line] + [""] * (last - first - 1)
    return kept


def _alone(lines: list[str], node: ast.stmt) -> bool:
    """Whether a statement has its lines for itself."""
    before = lines[node.lineno - 1].encode()[: node.col_offset]
    after = lines[(node.end_lineno or node.lineno) - 1].encode()[node.end_col_offset :]
    return not before.strip() and not after.strip()
