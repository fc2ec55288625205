"""The command that runs the graph: everything stale, on this machine's cores or on a cluster."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from book.tools.read.chapters import ROOT, plural
from book.tools.run import cluster, prices
from book.tools.run.jobs import Job


@dataclass(frozen=True)
class Where:
    """Location of the jobs: this machine's cores, or a cluster with Snakemake's arguments for it."""

    cores: int
    executor: str = "local"
    given: str = ""

    def __str__(self) -> str:
        return plural(self.cores, "core") if self.here else f"a cluster ({self.executor})"

    @property
    def here(self) -> bool:
        """True if it is this machine."""
        return self.executor == "local"

    def settings(self, todo: Sequence[Job], count: int) -> list[str]:
        """Snakemake's arguments for a number of jobs.

        Each job that ends lets Snakemake look at those that wait once in every timespan, by default a second: with
        many jobs, a core's work. Its last timespan has to pass, too, before it ends.
        """
        if not self.here:
            return cluster.arguments(self.given)
        memory = cluster.megabytes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20)
        limits = [f"mem_mb={memory}", *([f"gpu={prices.gpus() or self.cores}"] if any(job.gpu for job in todo) else [])]
        pace = ["--max-jobs-per-timespan", f"1000/{1 + count // 8}s"]
        return ["--cores", str(self.cores), "--quiet", "all", *pace, "--resources", *limits]


def command(
    goals: Sequence[str], count: int, where: Where, todo: Sequence[Job], config: dict[str, object]
) -> list[str]:
    """The command that makes some files by a number of jobs, runs ``todo`` among them."""
    graph = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT)]
    rules = ["--forceall", "--nolock", "--ignore-incomplete", "--keep-going", "--scheduler", "greedy"]
    given = [f"{name}={value}" for name, value in {**config, "executor": where.executor}.items() if value]
    return [sys.executable, "-m", "snakemake", *goals, *graph, *rules, "--config", *given, *where.settings(todo, count)]
