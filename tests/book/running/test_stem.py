"""Chapters in processes that are forked from one that has imported everything: the same outcome, the same messages."""

import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest
from killing import heard

from book.tools.running import workers

FIRST, SECOND = "01_first", "02_second"
pytestmark = pytest.mark.skipif(not workers.possible(), reason="no stem on this system")


IMPORTED = "import sys\nassert 'papermill' in sys.modules\ntime.sleep(seconds)"


def outputs(path) -> list:
    return [cell.get("outputs") for cell in nbformat.read(path, as_version=4).cells]


def test_forked_chapters_find_the_same(toy):
    toy.built("smoke", "--no-stem")
    alone = {chapter: outputs(toy.executed(chapter)) for chapter in (FIRST, SECOND)}
    toy.edit("requirements.lock", "torch==", "# edited\ntorch==")
    toy.edit("notebooks/02_second.py", "time.sleep(seconds)", IMPORTED)
    outcome = toy.build("smoke", "--stem")
    assert outcome.returncode == 0, outcome.stderr
    assert sorted(toy.ran(outcome)) == [FIRST, SECOND]
    assert {chapter: outputs(toy.executed(chapter)) for chapter in (FIRST, SECOND)} == alone
    for chapter in (FIRST, SECOND):
        run = nbformat.read(toy.executed(chapter), as_version=4).metadata["lmc"]
        assert run["device"] == "an abacus" and run["peak_memory_mib"] > 10


def test_what_is_said_may_go_to_a_file(toy):
    """The forked processes have the stem's standard output; that of a chapter is another one."""
    command = [sys.executable, "-m", "book.tools.build", "--profile", "smoke", "--target", "executed", "--stem"]
    with toy.path("log").open("w") as log:
        done = subprocess.run(command, cwd=toy.where, env=toy.environment, stdout=log, stderr=log)
    assert done.returncode == 0 and "Traceback" not in toy.path("log").read_text()


def test_a_failure_is_told_as_ever_and_spares_the_others(toy):
    toy.edit("lmc_helpers/gamma.py", "return 1", "return 3")
    outcome = toy.build("smoke", "--stem")
    assert outcome.returncode == 1
    assert f"{FIRST} failed: Contradiction: A1.value: computed 'fails', the ledger expects 'holds'" in outcome.stderr
    assert toy.path(f"build/failed/smoke/{FIRST}.ipynb").exists()
    assert not toy.executed(FIRST).exists() and toy.executed(SECOND).exists()
    assert list(toy.path("build/running").rglob("*.ipynb")) == []


def test_a_kernel_that_dies_is_an_error(toy):
    toy.edit("notebooks/01_first.py", "time.sleep(seconds)", "import os\nos._exit(1)")
    outcome = toy.build("smoke", "--stem")
    assert outcome.returncode == 1 and "died" in outcome.stderr.lower()
    assert not toy.executed(FIRST).exists() and toy.executed(SECOND).exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_survives_its_build(toy, number):
    toy.set_parameters("smoke", first={"seconds": 300.0}, second={})
    toy.edit(
        "notebooks/01_first.py",
        "time.sleep(seconds)",
        "import os\nopen('build/pids', 'w').write(f'{os.getpid()} {os.getppid()}')\ntime.sleep(seconds)",
    )
    command = ("book.tools.build", "--profile", "smoke", "--target", "executed", "--cores", "2", "--stem")
    build = subprocess.Popen(
        toy.command(*command),
        cwd=toy.where,
        env=toy.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=heard,
    )
    deadline = time.monotonic() + 120
    while not toy.path("build/pids").exists() or not toy.path("build/pids").read_text():
        assert build.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    os.killpg(build.pid, number)
    build.wait(60)
    pids = [int(pid) for pid in toy.path("build/pids").read_text().split()]
    deadline = time.monotonic() + 30
    while any(map(alive, pids)):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not toy.executed(FIRST).exists()


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] != "Z"
