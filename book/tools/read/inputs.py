"""Files that people edit, read for the build; an error is a :class:`BuildError` with file and line."""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from book.tools.read.chapters import BuildError
from lmc_helpers.claims import yaml_files
from lmc_helpers.claims.intervals import LedgerError, cut

Kind = TypeVar("Kind", bound=BaseModel)


def read(path: Path, grammar: Any, allowed: str) -> Any:
    """Read a YAML file by its grammar, a type; ``allowed`` describes its content in words."""
    try:
        return yaml_files.read(path, grammar if isinstance(grammar, TypeAdapter) else TypeAdapter(grammar), allowed)
    except LedgerError as error:
        raise BuildError(str(error)) from None


def text(path: Path) -> str:
    """The text of a file."""
    try:
        return yaml_files.text(path)
    except LedgerError as error:
        raise BuildError(str(error)) from None


def listed(path: Path) -> list[dict]:
    """The records in a JSON file."""

    def once(pairs: list[tuple[str, Any]]) -> dict:
        names = [name for name, _ in pairs]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise BuildError(f"{path.name}: {twice[0]!r} stands twice in one record")
        return dict(pairs)

    try:
        content = json.loads(text(path), object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise BuildError(
            f"{path.name}, line {error.lineno}: {error.msg}: the file is cut off or was edited; take it from git, or "
            "make it anew with make confirm"
        ) from None
    if not isinstance(content, list) or not all(isinstance(one, dict) and "part" in one for one in content):
        raise BuildError(f"{path.name}: {cut(content)} is not allowed; allowed: a list of records, each with its part")
    return content


def entries(path: Path, kind: type[Kind]) -> list[Kind]:
    """The entries of a JSON file that commands of the book write; none if there is no such file."""
    try:
        return [kind.model_validate(entry) for entry in listed(path)] if path.exists() else []
    except ValidationError as error:
        raise BuildError(f"{yaml_files.explained(error, path.name)}; take it from git") from None
