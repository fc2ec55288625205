"""A papermill engine that runs the cells of a chapter in this process, by IPython's shell and without a kernel."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from traitlets import Type
from traitlets.config import Config

NAME = "in this process"
INLINE = "module://matplotlib_inline.backend_inline"  # figures are outputs of cells
#: The description that a kernel of IPython would give of itself.
LANGUAGE = {
    "name": "python",
    "version": platform.python_version(),
    "mimetype": "text/x-python",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
    "file_extension": ".py",
}


class Outputs:
    """Destination of the outputs of the running cell."""

    cell: NotebookNode | None = None

    @classmethod
    def add(cls, kind: str, **content: Any) -> None:
        """Append an output to the running cell; continued text is joined."""
        if cls.cell is None:
            return
        last = cls.cell.outputs[-1] if cls.cell.outputs else None
        if kind == "stream" and last is not None and last.get("name") == content["name"]:
            last.text += content["text"]
        else:
            cls.cell.outputs.append(new_output(kind, **content))


class Publisher(DisplayPublisher):
    """``display`` makes an output of the cell."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **given) -> None:
        """Append displayed data."""
        Outputs.add("display_data", data=data, metadata=metadata or {})


class Hook(DisplayHook):
    """The value of a cell's last expression is an output of the cell."""

    def write_output_prompt(self) -> None:
        """The prompt is the output's execution count."""

    def write_format_data(self, format_dict, md_dict=None) -> None:
        """Append the value."""
        count = self.prompt_count if self.shell is None else self.shell.execution_count
        Outputs.add("execute_result", data=format_dict, metadata=md_dict or {}, execution_count=count)

    def finish_displayhook(self) -> None:
        """Nothing was written to a terminal."""


class Shell(InteractiveShell):
    """IPython's shell; errors are outputs of the cell."""

    display_pub_class = Type(Publisher)
    displayhook_class = Type(Hook)

    def _showtraceback(self, etype, evalue, stb) -> None:
        Outputs.add("error", ename=etype.__name__, evalue=str(evalue), traceback=list(stb))


class Stream(io.TextIOBase):
    """Standard output or error of a cell."""

    def __init__(self, name: str):
        self.name = name

    def write(self, text: str) -> int:
        """Append text to the cell's outputs."""
        if text:
            Outputs.add("stream", name=self.name, text=text)
        return len(text)

    def isatty(self) -> bool:
        """False: it is not a terminal."""
        return False


class InProcess(Engine):
    """Runs the cells one after the other, to the first error."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, *, folder: str, **given) -> None:
        """Run a notebook in a folder."""
        os.chdir(folder)
        notebook: NotebookNode = nb_man.nb
        notebook.metadata.language_info = LANGUAGE
        done: list[str] = []  # JSON of the cells that have run
        nb_man.save = lambda **given: None
        with _shell() as shell:
            for index, cell in enumerate(notebook.cells):
                if cell.cell_type != "code":
                    continue
                nb_man.cell_start(cell, index)
                # For a process that is killed; without line breaks, which only a slow encoder writes.
                done += map(json.dumps, notebook.cells[len(done) : index])
                cells = [*done, *map(json.dumps, notebook.cells[index:])]
                rest = json.dumps({name: value for name, value in notebook.items() if name != "cells"})
                text = f'{{"cells": [{", ".join(cells)}], {rest[1:]}'
                Path(nb_man.output_path).write_text(text, encoding="utf-8")
                failed = _run(shell, cell)
                if failed:
                    nb_man.cell_exception(cell, cell_index=index)
                nb_man.cell_complete(cell, cell_index=index)
                if failed:
                    break


@contextlib.contextmanager
def _shell() -> Iterator[Shell]:
    """A shell without history and start-up files, with figures as outputs."""
    os.environ["MPLBACKEND"] = INLINE
    settings = Config()
    settings.HistoryManager.enabled = False
    shell = Shell.instance(config=settings)
    try:
        from matplotlib_inline.backend_inline import configure_inline_support

        configure_inline_support(shell, INLINE)
        _share_parsed_labels()
    except ImportError:  # a chapter without figures
        pass
    try:
        yield shell
    finally:
        Shell.clear_instance()


def _share_parsed_labels() -> None:
    """Let the parsers of all canvases, of which a figure has several, know what any of them has parsed."""
    parser: Any = import_module("matplotlib.mathtext").MathTextParser
    parser.__eq__ = lambda self, other: vars(self) == vars(other)
    parser.__hash__ = lambda self: hash(tuple(vars(self).values()))
    parser._parse_cached = lru_cache(1000)(parser._parse_cached.__wrapped__)


def _run(shell: Shell, cell: NotebookNode) -> bool:
    """Run a cell; return whether it failed."""
    cell.execution_count = shell.execution_count
    Outputs.cell = cell
    try:
        with contextlib.redirect_stdout(Stream("stdout")), contextlib.redirect_stderr(Stream("stderr")):
            return not shell.run_cell(cell.source, store_history=True).success
    finally:
        Outputs.cell = None


papermill_engines.register(NAME, InProcess)
