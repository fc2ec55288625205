"""The graph on a cluster: Snakemake's SLURM executor gets resources from us, and its lines become the build's own.

Nothing here talks to SLURM. Jobs write to logs of their own, which the executor names when it submits them; its message
about a finished or failed job becomes one line, with the reason given in the log.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections import deque
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from book.tools.read.chapters import BuildError

EXECUTORS = ("local", "slurm")
JOBS = 100  # that wait or run at once by default
SLACK = 4  # times a chapter's budget, of a machine that is slower
RUN_SLACK = 3  # times what a training run is expected to take; what it had done is kept

SUBMITTED = re.compile(r"Job \d+ has been submitted with SLURM jobid (\S+) \(log: (.+)\)\.")
FINISHED = re.compile(r"Finished jobid: \d+ \(Rule: (\w+)\)")
FAILED = re.compile(r"Error in rule (\w+):")
REFUSED = re.compile(r"sbatch: error: (?:Batch job submission failed: )?(.+?)'?\.?$")
#: Messages about a job's end in its log, the most telling first.
REASONS = (
    re.compile(r"^error: (.+)", re.MULTILINE),
    re.compile(r"^slurmstepd.*?: error: (?:StepId=\S+ )?(exceeded memory limit.*)", re.MULTILINE),
    re.compile(r"^slurmstepd.*?: error: \*+ .*?(CANCELLED AT .*?) \*+", re.MULTILINE),
    re.compile(r"^(\w*Error.*)", re.MULTILINE),
)

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
    arguments(executor, given)


def arguments(executor: str, given: str) -> list[str]:
    """Snakemake's arguments for a cluster; those given come last and take precedence."""
    try:
        words = shlex.split(given)
    except ValueError as error:
        raise BuildError(f"EXECUTOR_ARGS = {given!r} is no list of words: {error}") from None
    return ["--executor", executor, "--jobs", str(JOBS), f"--{executor}-keep-successful-logs", *words]


class Log:
    """Snakemake's messages about jobs on a cluster, in the words of a build on one machine.

    Parameters
    ----------
    rules : dict
        rule → the name of its job here, ``12_overlap_theorem`` or ``run 0123456789abcdef``.
    """

    def __init__(self, rules: dict[str, str]):
        self.rules = rules
        self.logs: dict[str, tuple[str, Path]] = {}  # rule → number of its job, its log
        self.last: deque[str] = deque(maxlen=30)
        self.failed: list[str] = []  # messages of the job that failed last; its rule comes first
        self.errors = 0

    def messages(self, text: str) -> Iterator[str]:
        """The lines that replace one of Snakemake's; usually none."""
        self.last.append(text)
        if self.failed and not text.startswith("    "):
            yield from self._failure()
        if found := SUBMITTED.search(text):
            rule = Path(found[2]).parent.name.removeprefix("rule_")
            self.logs[rule] = found[1], Path(found[2])
            yield f"{self.rules.get(rule, rule)}: SLURM job {found[1]}"
        elif found := FINISHED.search(text):
            yield from self._done(found[1])
        elif found := FAILED.match(text):
            self.failed = [found[1]]
        elif self.failed:
            self.failed.append(text)
        elif text.startswith(("error: ", "pages: ")):  # a job on this machine, the pages
            self.errors += text.startswith("error: ")
            yield text

    def _done(self, rule: str) -> Iterator[str]:
        if rule in self.rules:
            text = ""
            if rule in self.logs:
                text = _read(self.logs[rule][1])
                self.logs[rule][1].unlink(missing_ok=True)
            said = re.findall(rf"^{re.escape(self.rules[rule])}: (?:running|training|done) .*", text, re.MULTILINE)
            yield from said or [f"{self.rules[rule]}: done"]

    def _failure(self) -> Iterator[str]:
        (rule, *said), self.failed = self.failed, []
        name, text = self.rules.get(rule, rule), "\n".join(said)
        if rule not in self.rules:
            return
        self.errors += 1
        if refused := [found[1] for line in said if (found := REFUSED.search(line))]:
            yield f"error: {name}: SLURM refuses the job: {refused[0]}"
            return
        number, log = self.logs.get(rule, ("?", Path()))
        ended = re.search(r"SLURM status is: '(\w+)'", text)
        written = _read(log)
        reason = next((found[1] for pattern in REASONS if (found := pattern.search(written))), "no reason in its log")
        yield f"error: {name}: SLURM job {number} {ended[1] if ended else 'FAILED'}: {reason.strip()} (log: {log})"

    def rest(self) -> Iterator[str]:
        """The last messages when Snakemake has failed: its final lines, if no error was reported."""
        if self.failed:
            yield from self._failure()
        if not self.errors:
            yield from self.last


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
