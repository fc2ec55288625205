"""The graph on SLURM, for example on the cluster of setup.sh: LMC_CLUSTER=1 pytest -p no:nbval tests/cluster."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

import nbformat
import pytest
from small_book import FIRST, SECOND, Toy

from book.tools.record.reference import CHECKED, REFERENCES, disagreements

pytestmark = [
    pytest.mark.skipif(os.environ.get("LMC_CLUSTER") != "1", reason="LMC_CLUSTER=1 runs the tests on a cluster"),
    pytest.mark.skipif(not shutil.which("sbatch"), reason="no sbatch here; tests/cluster/setup.sh makes a cluster"),
]
# without a database of jobs; LMC_CLUSTER_ARGS has others
ARGUMENTS = os.environ.get(
    "LMC_CLUSTER_ARGS", "--slurm-status-command squeue --slurm-init-seconds-before-status-checks 2"
)


def on_slurm(book, target: str, *more: str) -> list[str]:
    arguments = ("--executor", "slurm", "--executor-args", ARGUMENTS, *more)
    return book.command("book", "build", "--profile", "smoke", "--target", target, *arguments)


def build(book, target: str = "executed", seconds: int = 300, *more: str) -> subprocess.CompletedProcess:
    run = {"cwd": book.where, "env": book.environment, "capture_output": True, "text": True, "timeout": seconds}
    return subprocess.run(on_slurm(book, target, *more), **run)


def outputs(book) -> dict[str, list]:
    """What the chapters printed and found, without times and versions."""
    found = {}
    for chapter in (FIRST, SECOND):
        cells = json.loads(book.executed(chapter).read_text())["cells"]
        found[chapter] = [cell.get("outputs") for cell in cells]
    return found


def judged(path) -> list[nbformat.NotebookNode]:
    """The cells of a notebook whose outputs nbval compares."""
    every = nbformat.read(path, as_version=4).cells
    return [cell for cell in every if CHECKED in cell.metadata.get("tags", [])]


def jobs() -> str:
    command = ["squeue", "--noheader", "--states=PENDING,RUNNING", "--format=%i"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(autouse=True)
def no_job_is_left():
    yield
    if left := jobs().split():
        subprocess.run(["scancel", *left], check=False)


def test_the_cluster_finds_the_same(trained):
    outcome = build(trained)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    there, lines = outputs(trained), outcome.stdout.splitlines()
    assert lines[1] == "Training: 3 of 3 run(s) missing, about 6 core-minutes."
    assert len(re.findall(r"^(?:run \w{16}|0\d_\w+): SLURM job \d+$", outcome.stdout, re.MULTILINE)) == 5
    assert len(re.findall(r"^run [123]/3: toy of size \d, done in \d+ s$", outcome.stdout, re.MULTILINE)) == 3
    assert [line.partition(" ")[0] for line in lines if line.startswith("[")] == ["[1/2]", "[2/2]"]
    assert build(trained).stdout.splitlines()[1] == "Training: 0 of 3 run(s) missing."

    for chapter in (FIRST, SECOND):
        trained.executed(chapter).unlink()
    assert trained.build().returncode == 0
    assert outputs(trained) == there


def test_a_job_that_is_killed_is_taken_up(trained):
    trained.set_parameters("smoke", first={"seconds": 6.0}, second={"size": 3, "seconds": 6.0})
    process = subprocess.Popen(
        on_slurm(trained, "trained"),
        cwd=trained.where,
        env=trained.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    kept, deadline = trained.path(f"build/runs/{3:016x}.kept"), time.monotonic() + 120
    while not (kept.exists() and kept.read_text() not in ("", "1")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.1)
    killed = jobs().split()
    subprocess.run(["scancel", *killed], check=True)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    said = re.findall(rf"^error: run {3:016x}: SLURM job (\d+) \w+: .*CANCELLED", errors, re.MULTILINE)
    assert said and said[0] in killed
    assert not trained.path(f"build/runs/{3:016x}.npz").exists()

    trained.set_parameters("smoke", first={"seconds": 0.5}, second={"size": 3, "seconds": 0.5})  # fewer steps are left
    outcome = build(trained, "trained")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    again = [line.split(" at ")[0] for line in trained.path("build/trained").read_text().splitlines()]
    steps = [int(line.split()[-1]) for line in again if line.startswith("3 ")]
    assert len(steps) == 2 and steps[1] > 1


def test_what_no_node_has_is_said_in_one_line(trained):
    trained.edit("lmc_helpers/toys.py", '"gpu": self.gpu}', '"gpu": self.gpu} | {"memory_mib": 10**7}')
    outcome = build(trained, "trained")
    said = r"error: run \w{16}: SLURM refuses the job: Memory specification can not be satisfied"
    assert outcome.returncode == 1 and len(re.findall(f"^{said}$", outcome.stderr, re.MULTILINE)) == 3, outcome.stderr


def test_a_chapter_that_fails_says_why(trained):
    trained.edit("lmc_helpers/gamma.py", "return 1", "return 3")
    outcome = build(trained)
    said = rf"^error: {FIRST}: SLURM job \d+ FAILED: {FIRST} failed: Contradiction: A1.value: computed 'fails'"
    assert outcome.returncode == 1 and re.search(said, outcome.stderr, re.MULTILINE), outcome.stderr
    assert trained.executed(SECOND).exists() and not trained.executed(FIRST).exists()


CHAPTERS = ("11_exact_loss", "41_realization_cost", "51_width_barriers")
BUILD = """
import sys
from pathlib import Path
from book.tools.record import check
from book.tools.run import build

where = {"executor": "slurm", "executor_args": sys.argv[1]}
build.build("smoke", Path("build/test-book").resolve(), 2, "executed", check.before, only=sys.argv[2:], **where)
"""


def test_chapters_find_what_the_references_have(root):
    """Of the real book, one of them with its training runs; in place, so that `make test` finds them there."""
    for chapter in CHAPTERS:
        Toy(root).executed(chapter).unlink(missing_ok=True)
    run = {"cwd": root, "capture_output": True, "text": True, "timeout": 900}
    outcome = subprocess.run([sys.executable, "-c", BUILD, ARGUMENTS, *CHAPTERS], **run)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert len(re.findall(r"^\d\d_\w+: SLURM job \d+$", outcome.stdout, re.MULTILINE)) == len(CHAPTERS)
    said = []
    for chapter in CHAPTERS:
        there = {cell.source: cell.outputs for cell in judged(Toy(root).executed(chapter))}
        for cell in judged(REFERENCES / f"{chapter}.ipynb"):
            said += [f"{chapter}: {line}" for line in disagreements(cell.outputs, there[cell.source])]
    assert not said, "\n".join(said)
