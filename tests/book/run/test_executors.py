"""What Snakemake says of jobs on a cluster, in one line each; executors that are not there. See also tests/cluster."""

import pytest

from book.tools.read.chapters import BuildError
from book.tools.run import build, cluster

RULES = {"chapter_11_a": "11_a", "run_ab": "run ab"}
DONE = "Config file(s): []\n11_a: running at smoke\n11_a: done in 3.2 s\nElapsed time: 0:00:05\n"
KILLED = "slurmstepd-n: error: *** STEP 9.0 ON n CANCELLED AT 2026-11-22 DUE TO TIME LIMIT ***\nWorkflowError:\n"
MEMORY = "slurmstepd-n: error: StepId=9.0 exceeded memory limit (4 > 1), being killed\nslurmstepd-n: error: Exceeded\n"
OURS = "error: 11_a failed: Contradiction: A1.value\nRuleException:\nCalledProcessError in file Snakefile\n"


@pytest.fixture
def told(tmp_path):
    """Tell of the job of chapter 11_a, whose log holds a text."""

    def make(text: str, *lines: str) -> list[str]:
        log = tmp_path / "rule_chapter_11_a" / "9.log"
        log.parent.mkdir()
        log.write_text(text)
        here = cluster.Log(RULES)
        said = f"Job 3 has been submitted with SLURM jobid 9 (log: {log})."
        return [line for text in (said, *lines, "") for line in here.messages(text)]

    return make


def test_a_job_that_is_done(told, tmp_path):
    lines = told(DONE, "Building DAG of jobs...", "rule chapter_11_a:", "Finished jobid: 3 (Rule: chapter_11_a)")
    assert lines == ["11_a: SLURM job 9", "11_a: running at smoke", "11_a: done in 3.2 s"]
    assert not list(tmp_path.rglob("*.log"))


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (OURS, "11_a failed: Contradiction: A1.value"),
        (KILLED, "CANCELLED AT 2026-11-22 DUE TO TIME LIMIT"),
        (MEMORY, "exceeded memory limit (4 > 1), being killed"),
        ("ModuleNotFoundError: No module named 'torch'\n", "ModuleNotFoundError: No module named 'torch'"),
        ("", "no reason in its log"),
    ],
)
def test_a_job_that_failed(told, tmp_path, log, reason):
    message = "    message: SLURM-job '9' failed, SLURM status is: 'TIMEOUT'. Detailed failure reason unavailable"
    lines = told(log, "Error in rule chapter_11_a:", message, "    jobid: 3")
    path = tmp_path / "rule_chapter_11_a" / "9.log"
    assert lines[1:] == [f"error: 11_a: SLURM job 9 TIMEOUT: {reason} (log: {path})"]


def test_a_job_that_is_refused():
    here = cluster.Log(RULES)
    refused = "    message: SLURM sbatch failed. The error message was 'sbatch: error: Memory is not there"
    again = "sbatch: error: Batch job submission failed: Requested node configuration is not available'."
    lines = ["Error in rule run_ab:", refused, again, "    sbatch call:"]
    said = "error: run ab: SLURM refuses the job: Memory is not there"
    assert [one for line in lines for one in here.messages(line)] == [said]
    assert list(here.rest()) == []


def test_what_nobody_understands_is_shown():
    here = cluster.Log(RULES)
    assert not list(here.messages("snakemake: error: unrecognized arguments: --jbos"))
    assert list(here.rest()) == ["snakemake: error: unrecognized arguments: --jbos"]


def test_executors(monkeypatch, tmp_path):
    with pytest.raises(BuildError, match="executor 'lsf' does not exist; allowed: local, slurm"):
        build.build("smoke", tmp_path, 1, "executed", print, executor="lsf")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="EXECUTOR=slurm needs sbatch, which is not on this machine"):
        build.build("smoke", tmp_path, 1, "executed", print, executor="slurm")
    with pytest.raises(BuildError, match=r"EXECUTOR_ARGS = '--jobs \"2' is no list of words"):
        cluster.arguments("slurm", '--jobs "2')
    assert cluster.arguments("slurm", "--jobs 2")[-2:] == ["--jobs", "2"]


def test_resources_have_room():
    assert cluster.minutes(61, 2) == 5 + 3 and cluster.megabytes(1000) == 1049
