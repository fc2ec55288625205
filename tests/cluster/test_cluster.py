"""The graph on SLURM, for example on the cluster of setup.sh: LMC_CLUSTER=1 pytest -p no:nbval tests/cluster."""

import json
import os
import re
import shutil

import pytest
from small_book import FIRST, SECOND

pytestmark = [
    pytest.mark.skipif(os.environ.get("LMC_CLUSTER") != "1", reason="LMC_CLUSTER=1 runs the test on a cluster"),
    pytest.mark.skipif(not shutil.which("sbatch"), reason="no sbatch here; tests/cluster/setup.sh makes a cluster"),
]
# without a database of jobs; LMC_CLUSTER_ARGS has others
ARGUMENTS = os.environ.get(
    "LMC_CLUSTER_ARGS", "--slurm-status-command squeue --slurm-init-seconds-before-status-checks 2"
)


def outputs(book) -> list[list]:
    """What the chapters printed and found, without times and versions."""
    cells = (json.loads(book.executed(chapter).read_text())["cells"] for chapter in (FIRST, SECOND))
    return [[cell.get("outputs") for cell in every] for every in cells]


def test_the_cluster_finds_the_same_and_says_why_a_chapter_fails(trained):
    on_slurm = ("smoke", "--executor", "slurm", "--executor-args", ARGUMENTS)
    trained.edit("lmc_helpers/gamma.py", "return 1", "return 3")
    outcome = trained.build(*on_slurm)
    assert outcome.returncode == 1 and "Training: 3 of 3 runs missing, about 6 core-minutes." in outcome.stdout
    assert len(re.findall(r"^Job \d+ has been submitted with SLURM jobid \d+", outcome.stderr, re.MULTILINE)) == 5
    assert f"error: {FIRST} failed: Contradiction: A1.value: computed 'fails'" in outcome.stderr, outcome.stderr
    assert trained.executed(SECOND).exists() and not trained.executed(FIRST).exists()

    trained.edit("lmc_helpers/gamma.py", "return 3", "return 1")
    assert "Training: 0 of 3 runs missing." in trained.built(*on_slurm).stdout
    there = outputs(trained)
    for chapter in (FIRST, SECOND):
        trained.executed(chapter).unlink()
    trained.built()
    assert outputs(trained) == there
