"""Parameters as literals: set by a chapter's cell, or given on a command line and allowed by the chapter."""

import ast
from typing import Any

from book.tools.read.chapters import ROOT, BuildError
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.yaml_files import parsed


def values(source: str) -> dict[str, object]:
    """The names that a cell of parameters sets, each with its value, or with its text if that is not a literal."""
    found: dict[str, object] = {}
    for node in ast.parse(source).body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            try:
                read: object = ast.literal_eval(node.value)
            except ValueError:
                read = ast.unparse(node.value)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id: read for target in targets if isinstance(target, ast.Name)}
    return found


def literal(name: str, text: str) -> Any:
    """A parameter's value from the command line: a number if it reads as one, else YAML."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    allowed = "allowed: a number, a word, true, false, or a list as [1, 2]"
    try:
        value = parsed(text, "YAML")
    except LedgerError as error:
        raise BuildError(f"parameter {name} = {text!r}: {str(error).partition(': ')[2]}; {allowed}") from None
    if not isinstance(value, bool | int | float | str | list | None):
        raise BuildError(f"parameter {name} = {text!r} is not allowed; {allowed}")
    return value


def given(chapter: str, pairs: list[list[str]]) -> dict[str, Any]:
    """The parameters from the command line, which the chapter must know and allow."""
    from book.tools.read import cells  # imports torch, which listing, with values from here, does without
    from lmc_helpers.chapter import Text

    known = cells.sheet(ROOT / "notebooks" / f"{chapter}.py")
    texts = {name for name, rule in known.rules.items() if isinstance(rule, Text)}  # a layer may be called 0
    values = {name: text if name in texts else literal(name, text) for name, text in pairs}
    names = [name for name, _ in pairs]
    wrong = [f"parameter {name!r} is given twice" for name in values if names.count(name) > 1]
    wrong += [problem for name, value in values.items() for problem in cells.problems(name, value, known)]
    if wrong:
        raise BuildError("\n".join(wrong))
    return values
