"""nbval on the stored notebooks: boxes are compared by their words and within a tolerance, other outputs to the letter.

Where ``build/executed/smoke`` holds a chapter that the build has just executed from the present sources, nbval gets
that run's outputs instead of executing the chapter a second time. In CI a chapter that is stale fails: the smoke book
comes before the tests.
"""

import os
from collections import deque
from functools import cache

import nbformat
import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from book.tools.read import chapters
from book.tools.read.chapters import ROOT
from book.tools.record.reference import boxes, disagreements
from book.tools.run.targets import Targets

SHOWN = {"display_data", "execute_result", "stream", "error"}


class ExecutedKernel:
    """Stands in for a kernel: what it replies to a cell are the outputs of the executed notebook."""

    def __init__(self, path):
        cells = nbformat.read(path, as_version=4).cells
        self.cells = deque(cell for cell in cells if cell.cell_type == "code")
        self.messages = deque()

    def is_alive(self):
        return True

    def execute_cell_input(self, source, allow_stdin=None):
        cell = self.cells.popleft()
        assert cell.source == source, f"the executed notebook has another cell:\n{cell.source}"
        replies = [(output.output_type, output) for output in cell.outputs if output.output_type in SHOWN]
        replies.append(("status", {"execution_state": "idle"}))
        header = {"msg_id": len(self.cells)}
        self.messages.extend({"msg_type": kind, "content": c, "parent_header": header} for kind, c in replies)
        return header["msg_id"]

    def get_message(self, stream, timeout=None):
        return self.messages.popleft()

    def await_reply(self, msg_id, timeout=None):
        pass

    def await_idle(self, parent_id, timeout):
        self.messages.clear()

    def stop(self):
        pass


@cache
def executed() -> dict:
    """Chapter → its notebook executed at smoke, of those that are there and of the present sources."""
    made = Targets("smoke", ROOT / "build" / "test-book")
    return {chapter: made.executed[chapter] for chapter in set(made.executed) - set(made.stale())}


def pytest_itemcollected(item):
    if isinstance(item, IPyNbCell):
        item.compare_outputs = lambda *outputs: compare(item, *outputs)
        item.parent.setup = lambda: start(item.parent)


def start(file):
    """Give a notebook its kernel."""
    here = file.path.is_relative_to(ROOT) and file.path.stem in chapters.chapters()
    if here and (path := executed().get(file.path.stem)):
        file.kernel = ExecutedKernel(path)
    elif here and os.environ.get("CI"):
        pytest.fail(f"build/executed/smoke has no {file.path.name} of the present sources; run: make test", pytrace=False)
    else:
        IPyNbFile.setup(file)


def compare(cell, found, stored):
    if said := disagreements(stored, found):
        cell.comparison_traceback = said
        return False
    others = [[output for output in outputs if output not in boxes(outputs)] for outputs in (found, stored)]
    return IPyNbCell.compare_outputs(cell, *others)
