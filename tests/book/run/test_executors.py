"""Executors that are not there, and what jobs on a cluster ask for. See also tests/cluster."""

import pytest

from book.tools.read.chapters import BuildError
from book.tools.run import build, cluster


def test_executors(monkeypatch, tmp_path):
    with pytest.raises(BuildError, match="executor 'lsf' does not exist; allowed: local, slurm"):
        build.build("smoke", tmp_path, 1, "executed", print, executor="lsf")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BuildError, match="EXECUTOR=slurm needs sbatch, which is not on this machine"):
        build.build("smoke", tmp_path, 1, "executed", print, executor="slurm")
    with pytest.raises(BuildError, match=r"EXECUTOR_ARGS = '--jobs \"2' is not a list of words"):
        cluster.check("local", '--jobs "2')
    assert cluster.arguments("--jobs 2")[-2:] == ["--jobs", "2"]
    assert cluster.minutes(61, 2) == 5 + 3 and cluster.megabytes(1000) == 1049
