"""What computes: a source without what no number depends on, as prose, comments, guards, and what only shows."""

from __future__ import annotations

import ast
import io
import tokenize

from book.tools.base.chapters import PACKAGE
from book.tools.reading import guards

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
INSIDE = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)  # what has names of its own
SHOWN_WORDS = ("Plot ", "Numbers", "More numbers", "Words for")  # with which labels of cells begin that only show
SHOWN_LABELS = tuple(f'"code_prompt_show": "{words}' for words in SHOWN_WORDS)
SHOWN_ONLY = ("claims", "figures")  # rooms that judge and draw what was computed, and compute nothing
LEFT_OUT = (f"{guards.MODULE}.", *(f"{PACKAGE}.{room}." for room in SHOWN_ONLY))


def computes(module: str) -> bool:
    """Whether what a chapter computes may depend on a module of lmc_helpers, given by its name.

    Examples
    --------
    >>> computes("lmc_helpers.barrier"), computes("lmc_helpers.figures"), computes("lmc_helpers.claims.box")
    (True, False, False)
    """
    return not f"{module}.".startswith(LEFT_OUT)


def significant(text: str) -> str:
    r"""The text of a Python file without comments, docstrings and blank lines, the same for every Python version.

    Statements that can only refuse (:mod:`book.tools.reading.guards`) are left out: no number depends on them.

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
    tree = ast.parse(text)
    lines = guards.without(lines, tree)
    for node in ast.walk(tree):
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


def _gives(code: str) -> set[str]:
    """The names that code binds for the cells after it: not those inside of functions and comprehensions."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(code)]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif not isinstance(node, INSIDE):
            todo += ast.iter_child_nodes(node)
        else:  # x := 1 in a comprehension binds x outside of it
            todo += [inner for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)]
    return found


def _takes(code: str) -> set[str]:
    """The names that code reads and does not bind itself."""
    names = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name))
    return {node.id for node in names if isinstance(node.ctx, ast.Load)} - _binds(code)


def cells(notebook: str) -> str:
    r"""The code of a chapter's cells without those that only show: plots and numbers that no other cell reads from.

    Examples
    --------
    >>> cells('# %%\nx = 1\n# %% mystnb={"code_prompt_show": "Plot x"}\ndraw(x)\n# %% [markdown]\n# x\n')
    'x = 1'
    """
    every = ["# %%" + cell for cell in ("\n" + notebook).split("\n# %%")[1:]]
    code = [cell for cell in every if not cell.startswith("# %% [markdown]")]
    shown = {cell for cell in code if any(label in cell.partition("\n")[0] for label in SHOWN_LABELS)}
    kept = [cell for cell in code if cell not in shown]
    while needed := [cell for cell in shown if any(_gives(cell) & _takes(other) for other in kept)]:
        kept += needed
        shown -= set(needed)
    return "\n".join(filter(None, (significant(cell) for cell in code if cell not in shown)))
