"""Strict reading of hand-written YAML 1.2; errors name the file, the line, the field and what is allowed."""

from __future__ import annotations

import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML, YAMLError
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from lmc_helpers.claims.intervals import FORMS, LedgerError, cut

__all__ = ()  # what packages of ours lend each other

CRITERIA = ("criterion", "corrected", "sharper")
UNKNOWN = re.compile(r"unknown field '([^']+)'")


def text(path: Path) -> str:
    """The text of a file."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise LedgerError(f"{path.name}: cannot be read: {error.strerror} ({path})") from None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LedgerError(
            f"{path.name}, line {line}: the byte 0x{content[error.start]:02x} is not UTF-8; allowed: a text in UTF-8"
        ) from None


@cache
def parsed(text: str, name: str, first: int = 1) -> Any:
    """Parse a YAML text, once; errors refer to it by ``name`` and count lines from ``first``. Not to be changed."""
    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + first}" if error.problem_mark else ""
        problem = str(error.problem).partition(" with value ")[0]  # of a name that occurs twice
        raise LedgerError(f"{name}{line}: {problem}") from None
    except ReaderError as error:
        number = text.count("\n", 0, error.position) + first
        raise LedgerError(f"{name}, line {number}: the character {error.character:#x} is not allowed in YAML") from None
    except RecursionError:
        raise LedgerError(f"{name}: is nested too deeply for a file of the book") from None
    except ValueError as error:  # a date or a number that there is not
        raise LedgerError(f"{name}: {error}") from None


def load(path: Path) -> Any:
    """The content of a YAML file."""
    return deepcopy(parsed(text(path), path.name))


def read(path: Path, grammar: TypeAdapter, allowed: str) -> Any:
    """Read a YAML file by its grammar; ``allowed`` describes its content in words."""
    content = load(path)
    if content is None:
        raise LedgerError(f"{path.name}, line 1: is empty; allowed: {allowed}")
    if isinstance(content, list) != allowed.startswith("a list") or not isinstance(content, (dict, list)):
        raise LedgerError(f"{path.name}, line 1: {cut(content)} is not allowed here; allowed: {allowed}")
    try:
        return grammar.validate_python(content)
    except ValidationError as error:
        raise explained(error, path) from None


def place(path: Path, *steps: str | int) -> str:
    """A file's name with the line of a field, given the names and numbers that lead to it.

    If the field is missing, the line is that of the innermost element that should contain it.
    """
    try:
        node = YAML(typ="safe", pure=True).compose(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, YAMLError):
        return path.name
    if node is None:
        return path.name
    line = node.start_mark.line
    for step in steps:
        if isinstance(node, SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line
        elif isinstance(node, MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(step)), None)
            if found:
                line, node = found[0].start_mark.line, found[1]
    return f"{path.name}, line {line + 1}"


def explained(error: ValidationError, where: Path | str) -> LedgerError:
    """Convert a schema's errors to one line each: the place, the field, and what is allowed.

    ``where`` is the file, whose line is then named too, or a description of another source.
    """
    lines = []
    for problem in error.errors(include_url=False):
        given = "" if isinstance(problem["input"], dict) else f", not {cut(problem['input'])}"
        said = problem.get("ctx", {}).get("error")
        words = str(said) if said else problem["msg"][:1].lower() + problem["msg"][1:]
        if problem["type"] == "missing":
            words, given = "the field is missing", ""
        steps = [step for step in problem["loc"] if step not in ("parts", "[key]")]
        tags = {at for at, step in enumerate(steps) if step in FORMS and steps[at - 1] in CRITERIA}
        field = ".".join(str(step) for at, step in enumerate(steps) if at not in tags)
        inside = UNKNOWN.match(words)
        at = place(where, *problem["loc"], *inside.groups() if inside else ()) if isinstance(where, Path) else where
        lines.append(": ".join(filter(None, [at, field, words + ("" if said else given)])))
    return LedgerError("\n".join(dict.fromkeys(lines)))
