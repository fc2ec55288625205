"""How a chapter's kernel is spoken to: sockets in a folder of its own, TCP ports where there can be none."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import nbformat
import papermill
import pytest

from book.tools.base import leftovers
from book.tools.running import kernels


@pytest.fixture
def temporary(monkeypatch):
    """A short folder in the place of the system's one for temporary files."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder)


ASKS = """
import os, psutil
print(os.listdir(os.environ["SOCKETS_IN"]))
print(len([c for c in psutil.Process().net_connections("tcp") if c.status == "LISTEN"]))
"""


def said(tmp_path, folder, monkeypatch) -> list[str]:
    """What a notebook prints in its kernel: the folders that it sees, and on how many TCP ports it listens.

    The debugger takes one.
    """
    monkeypatch.setenv("SOCKETS_IN", str(folder))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = nbformat.v4.new_notebook(metadata={"kernelspec": kernel}, cells=[nbformat.v4.new_code_cell(ASKS)])
    done = papermill.execute_notebook(
        notebook, str(tmp_path / "done.ipynb"), {}, progress_bar=False, kernel_manager_class=kernels.Kernel
    )
    return done.cells[-1]["outputs"][0]["text"].splitlines()


def test_a_kernel_listens_on_sockets_of_its_own_and_leaves_none(tmp_path, temporary, monkeypatch):
    folders, ports = said(tmp_path, temporary, monkeypatch)
    assert "lmc-kernel-" in folders and f"-{os.getpid()}'" in folders
    assert int(ports) < 5 and list(temporary.iterdir()) == []


def test_where_paths_are_too_long_it_listens_on_ports(tmp_path, temporary, monkeypatch):
    long = temporary / ("x" * 90)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    folders, ports = said(tmp_path, long, monkeypatch)
    assert "lmc-kernel-" not in folders and int(ports) >= 5


def test_a_folder_that_holds_no_socket_is_not_used(temporary, monkeypatch):
    monkeypatch.setattr(socket.socket, "bind", lambda *_: (_ for _ in ()).throw(OSError("not here")))
    assert kernels.socket_folder() is None and list(temporary.iterdir()) == []


def test_sockets_of_killed_builds_go_and_those_of_others_stay(tmp_path, temporary, monkeypatch):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    names = [f"lmc-kernel-a-{ended.pid}", f"lmc-kernel-b-{os.getpid()}", "lmc-kernel-c", "others"]
    for name in names:
        (temporary / name).mkdir()
    monkeypatch.setattr(leftovers, "ROOT", tmp_path)
    monkeypatch.setattr(leftovers, "RUNNING", tmp_path / "running")
    monkeypatch.setattr(leftovers, "KERNELS", tmp_path / "running" / "jupyter")
    leftovers.clear(tmp_path / "book", tmp_path / "runs")
    assert sorted(path.name for path in temporary.iterdir()) == names[1:]
