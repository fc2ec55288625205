"""Executed notebooks as small as the book's tools take them, and functions that stand on a chapter's page."""

import ast
from pathlib import Path

CHAPTERS = Path(__file__).parents[2] / "notebooks"


def on_the_page(chapter: str, *names: str, **given: object) -> list:
    """Functions that a chapter defines in its cells, with the names that they use."""
    tree = ast.parse((CHAPTERS / f"{chapter}.py").read_text(encoding="utf-8"))
    chosen = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    exec(compile(ast.Module(chosen, []), chapter, "exec"), given)
    return [given[name] for name in names]


def executed(chapter: str, *outputs: dict) -> dict:
    """A notebook of one cell with these outputs, and all that an executed chapter must have besides."""
    run = {"chapter": chapter, "profile": "smoke", "parameters": {}, "seconds": 1.0, "device": "CPU", "commit": "0"}
    cell = {"metadata": {}, "source": "", "cell_type": "code", "outputs": list(outputs)}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {"lmc": run}, "cells": [cell]}


def shown(data: dict, **metadata) -> dict:
    return {"output_type": "display_data", "data": data, "metadata": metadata}


def glued(name: str, data: object, kind: str = "text/plain") -> dict:
    """An output that a chapter glued under a name."""
    return shown({f"application/papermill.record/{kind}": data}, scrapbook={"name": name})
