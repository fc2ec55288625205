"""Chapters in processes that are forked from one that has imported everything: the same outcome, the same messages.

That they end with their build is in ``tests/book/test_kills.py``.
"""

import socket
import subprocess
import threading

import nbformat
import pytest
from small_book import FIRST, SECOND

from book.tools.run import forkserver

pytestmark = pytest.mark.skipif(not forkserver.possible(), reason="this system cannot fork")


IMPORTED = "import sys\nassert 'papermill' in sys.modules\ntime.sleep(seconds)"
BUILD = ("book", "build", "--profile", "smoke", "--target", "executed", "--cores", "2", "--fork")


def outputs(path) -> list:
    return [cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells]


def test_forked_chapters_find_the_same_and_fail_as_ever(built):
    """What they say goes to a file: they have the standard output of the process that they are forked from."""
    before = outputs(built.executed(SECOND))
    built.edit("lmc_helpers/gamma.py", "return 1", "return 3")
    built.edit("notebooks/02_second.py", "time.sleep(seconds)", IMPORTED)
    with built.path("log").open("w") as log:
        done = subprocess.run(built.command(*BUILD), cwd=built.where, env=built.environment, stdout=log, stderr=log)
    said = built.path("log").read_text()
    assert done.returncode == 1 and "Traceback" not in said
    assert f"{SECOND}: running at smoke" in said and outputs(built.executed(SECOND)) == before
    run = nbformat.read(built.executed(SECOND), as_version=4).metadata["lmc"]
    assert run["device"] == "an abacus" and run["peak_memory_mib"] > 10

    assert f"{FIRST} failed: Contradiction: A1.value: computed 'fails', the ledger expects 'holds'" in said
    assert built.path(f"build/failed/smoke/{FIRST}.ipynb").exists() and not built.executed(FIRST).exists()
    assert list(built.path("build/executed").rglob(".*.ipynb")) == []


@pytest.mark.slow
def test_a_process_that_dies_is_an_error(built):
    built.edit("notebooks/01_first.py", "time.sleep(seconds)", "import os\nos._exit(1)")
    outcome = built.build("smoke", "--fork")
    assert outcome.returncode == 1 and "its process ended by itself (exit status 1)" in outcome.stderr
    assert not built.executed(FIRST).exists() and built.executed(SECOND).exists()


def test_a_server_that_ends_before_it_takes_the_request_is_none(tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address := str(tmp_path / "s"))
        listening.listen(1)
        ending = threading.Timer(0.3, listening.close)  # while the client waits; what it has sent was not read
        ending.start()
        monkeypatch.setenv(forkserver.ADDRESS, address)
        assert forkserver.ask() is None
        ending.join()
