"""The names of a package, imported when they are first used: those that the stub beside its ``__init__`` lists."""

import ast
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path

__all__ = ()  # what packages of ours lend each other


@cache
def exports(stub: bytes) -> dict[str, str]:
    """Name → the module that defines it, by the lines ``from module import name as name`` of a stub."""
    nodes = ast.parse(stub).body
    return {alias.name: node.module or "" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package, from its ``__name__`` and ``__file__``."""
    known = exports(Path(file).with_suffix(".pyi").read_bytes())

    def get(name: str) -> object:
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if known[name] == package:  # a module of the package itself
            return import_module(f"{package}.{name}")
        return getattr(import_module(known[name]), name)

    return get, lambda: sorted({*vars(import_module(package)), *known}), sorted(known.keys() - {"__version__"})
