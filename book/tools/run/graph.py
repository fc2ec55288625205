"""The command that runs the graph: everything stale, on this machine's cores or on a cluster."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from book.tools.read.chapters import ROOT
from book.tools.run import cluster, prices
from book.tools.run.jobs import Job


@dataclass(frozen=True)
class Where:
    """Location of the jobs: this machine's cores, or a cluster with Snakemake's arguments for it."""

    cores: int
    executor: str = "local"
    given: str = ""

    def __str__(self) -> str:
        return f"{self.cores} core(s)" if self.here else f"a cluster ({self.executor})"

    @property
    def here(self) -> bool:
        """True if it is this machine."""
        return self.executor == "local"

    def settings(self, todo: Sequence[Job]) -> list[str]:
        """Snakemake's arguments."""
        if not self.here:
            return cluster.arguments(self.executor, self.given)
        memory = cluster.megabytes(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20)
        limits = [f"mem_mb={memory}", *([f"gpu={prices.gpus() or self.cores}"] if any(job.gpu for job in todo) else [])]
        return ["--cores", str(self.cores), "--quiet", "all", "--resources", *limits]


def command(
    targets: list[str], stale: list[str], profile_name: str, out: Path, seeds: str, where: Where, todo: Sequence[Job]
) -> list[str]:
    """The command that runs the graph up to some targets, with the rules that are stale."""
    graph = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(ROOT)]
    rules = ["--nolock", "--ignore-incomplete", "--rerun-triggers", "mtime", "--keep-going", "--scheduler", "greedy"]
    config = [f"profile={profile_name}", f"out={out}", f"executor={where.executor}"]
    config += [f"seeds={seeds}"] if seeds else []
    rules += ["--forcerun", *stale] if stale else []
    return [sys.executable, "-m", "snakemake", *targets, *graph, *rules, "--config", *config, *where.settings(todo)]
