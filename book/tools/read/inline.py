"""Numbers of a run in the text of a chapter: ``{glue:text}`100 * rise.max():.1f` `` shows an expression of its names.

Names that ``chapter.begin`` and ``figures.numbers`` give to the text are shown as given. A hidden cell before the last
one gives it every other expression, in which a name therefore has one value in the whole chapter.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from book.tools.read.chapters import BuildError

ROLE = re.compile(r"\{glue:text\}`([^`]+?)(?::[^`:]*)?`")  # the name or expression, without its format
GIVE = ("chapter.begin", "figures.numbers")
OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPREHENSIONS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def expressions(source: str, name: str) -> list[str]:
    """The expressions that the text of a chapter shows and no cell gives it, in order."""
    tree = ast.parse(source)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in GIVE]
    given = {"seed", "profile", *(word.arg for call in calls for word in call.keywords)}
    if None in given:  # figures.numbers(**...) may take its names from any dictionary
        dicts = [node for node in ast.walk(tree) if isinstance(node, ast.Dict)]
        given |= {str(key.value) for node in dicts for key in node.keys if isinstance(key, ast.Constant)}
    bound = Counter(_bound(tree))
    text = "\n".join(line for line in source.splitlines() if line.startswith("#"))
    shown = [one for one in dict.fromkeys(ROLE.findall(text)) if one not in given]
    imported = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    found = [one for one in shown if one in bound or one in imported or not one.isidentifier()]
    for one in found:
        try:
            names = [node for node in ast.walk(ast.parse(one, mode="eval")) if isinstance(node, ast.Name)]
        except SyntaxError as error:
            raise BuildError(f"{name}: the text shows {one!r}, but that is {error.msg}") from None
        own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        for word in (node.id for node in names if node.id not in own and bound[node.id] > 1):
            raise BuildError(f"{name}: the text shows {one!r}, but assigns {word} {bound[word]} times; allowed: once")
    return found


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that the cells of a chapter assign, outside of functions and comprehensions, once for each place."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, OWN_SCOPE):
            yield inner.name
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id
        elif not isinstance(inner, COMPREHENSIONS):
            yield from _bound(inner)


def cell(found: list[str]) -> str:
    """The code that gives expressions to the text."""
    return "figures.numbers(**{\n" + "".join(f"    {one!r}: {one},\n" for one in found) + "})"
