"""The graph on a cluster: the resources of its jobs, and Snakemake's profile ``book/slurm``."""

import shlex
import shutil
from math import ceil

from book.tools.read.chapters import ROOT, BuildError

EXECUTORS = ("local", "slurm")
SLACK = 4  # times a chapter's budget, of a machine that is slower
RUN_SLACK = 3  # times what a training run is expected to take; what it had done is kept
STARTER_MIB = 500  # of a job on a cluster, which is two Snakemakes in addition to what they start


def minutes(seconds: float, slack: float) -> int:
    """The time that a job asks for, including its start."""
    return 5 + ceil(slack * seconds / 60)


def megabytes(mebibytes: float) -> int:
    """Memory in the units of Snakemake's ``mem_mb``."""
    return ceil(mebibytes * 2**20 / 10**6)


def check(executor: str, given: str = "") -> None:
    """Check that the executor is installed and its arguments parse."""
    if executor not in EXECUTORS:
        raise BuildError(f"executor {executor!r} does not exist; allowed: {', '.join(EXECUTORS)}")
    if executor == "slurm" and not shutil.which("sbatch"):
        raise BuildError("EXECUTOR=slurm needs sbatch, which is not on this machine; call it where jobs are submitted")
    arguments(given)


def arguments(given: str) -> list[str]:
    """Snakemake's arguments for a cluster; those given come last and take precedence."""
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise BuildError(f"EXECUTOR_ARGS = {given!r} is not a list of words: {error}") from None
    return ["--profile", str(ROOT / "book" / "slurm"), *words]
