"""Execute one chapter: jupytext → papermill → an executed notebook that is whole, or none.

python -m book.tools.execute overlap_theorem --profile laptop -p M 9 -p trials 5000

Within a build a process that has imported everything already does it, if there is one (``book/tools/workers.py``); what
is computed is the same.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from book.tools import chapters, workers
from book.tools.chapters import ROOT, BuildError
from lmc_helpers.claims.box import RECORDED_ONLY


def literal(text: str):
    """A parameter's value from the command line: a number if it reads as one, else YAML."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    import yaml

    return yaml.safe_load(text)


def commit() -> str:
    """The commit of the working tree, with ``+`` if it differs from it; ``unknown`` outside git."""
    try:
        run = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def ran_on(notebook) -> str:
    """The device that a chapter says in its last words that it ran on; without them, the one it would take."""
    said = re.search(r"^[\d.]+ s on (.+), [\w.-]+$", _last_words(notebook), re.MULTILINE)
    if said:
        return said[1]
    from lmc_helpers import device

    return device.describe()


def _last_words(notebook) -> str:
    outputs = [output for cell in notebook.cells[-1:] for output in cell.get("outputs", ())]
    return "\n".join(str(output.get("text", output.get("data", {}).get("text/plain", ""))) for output in outputs)


def provenance(chapter: str, parameters: dict, seconds: float, device: str) -> dict:
    """What the execution-statistics page and the claims say about a run."""
    return {
        "chapter": chapter,
        "profile": parameters["profile"],
        "parameters": parameters,
        "seconds": round(seconds, 2),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "device": device,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "numpy", "scipy", "matplotlib", "papermill")},
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def say(text: str) -> None:
    """One line in one write, so that chapters that run side by side do not mix their lines, buffered or not."""
    print(f"{text}\n", end="", flush=True)


def execute(chapter: str, parameters: dict, output: Path, quiet: bool = False, confirms: dict | None = None) -> None:
    """Execute a chapter to ``output``; a failed notebook is kept in ``build/failed`` and named.

    Parameters
    ----------
    chapter : str
        its full name, ``12_overlap_theorem``.
    parameters : dict
        what is injected, ``profile`` among it.
    output : Path
        where the executed notebook goes, when it is whole.
    quiet : bool
        no progress bar, even on a terminal.
    confirms : dict, optional
        for a confirmatory run, what its provenance says besides (:func:`book.tools.confirm.provenance`); the chapter
        then goes on where the ledger expects another verdict, so that every outcome is stored.

    Raises
    ------
    BuildError
        says which cell failed and why, and where the failed notebook lies.
    """
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    workers.provide()
    for name in workers.THREADS:
        os.environ[name] = "1"
    if confirms:
        os.environ[RECORDED_ONLY] = "1"
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    running = ROOT / "build" / "running" / parameters["profile"] / f"{chapter}-{os.getpid()}.ipynb"
    running.parent.mkdir(parents=True, exist_ok=True)
    notebook = jupytext.read(ROOT / "notebooks" / f"{chapter}.py")
    quiet = quiet or bool(os.environ.get("CI")) or not sys.stderr.isatty()
    bar = False if quiet else {"desc": chapter, "leave": False}
    say(f"{chapter}: running at {parameters['profile']}")
    start = time.perf_counter()
    try:
        options = {"cwd": str(ROOT), "progress_bar": bar, "extra_arguments": ["--log-level=50"]}
        options |= {"shutdown_kernel": "immediate"}  # all that it said has been read
        done = papermill.execute_notebook(notebook, str(running), parameters, **options)
    except PapermillExecutionError as error:
        failed = ROOT / "build" / "failed" / parameters["profile"] / f"{chapter}.ipynb"
        failed.parent.mkdir(parents=True, exist_ok=True)
        os.replace(running, failed)
        raise BuildError(f"{chapter} failed: {error.ename}: {error.evalue}\nThe failed notebook: {failed}") from None
    except BaseException:
        running.unlink(missing_ok=True)
        raise
    seconds = time.perf_counter() - start
    done.metadata.pop("papermill", None)  # it holds paths of this machine
    done.metadata["lmc"] = provenance(chapter, parameters, seconds, ran_on(done)) | (confirms or {})
    nbformat.write(done, running)
    output.parent.mkdir(parents=True, exist_ok=True)
    os.replace(running, output)
    say(f"{chapter}: done in {seconds:.1f} s")


def run(arguments: list[str]) -> int:
    """Execute a chapter in this process; the exit status."""
    from book.tools import confirm, profiles

    parser = argparse.ArgumentParser(prog="execute", description="Execute one chapter with papermill.")
    parser.add_argument("chapter", help="name, with or without its number")
    parser.add_argument("--profile", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    parser.add_argument("--output", type=Path, help="default: build/chapters/NAME.ipynb")
    parser.add_argument("--seeds", metavar="COMMIT", help="a confirmatory run: the seed comes from this commit's id")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    given = parser.parse_args(arguments)
    try:
        chapter = chapters.find(given.chapter)
        parameters = profiles.parameters(chapter, given.profile) | {k: literal(v) for k, v in given.parameters}
        confirms = confirm.provenance(chapter, given.profile, given.seeds) if given.seeds else None
        if confirms:
            parameters["seed"] = confirm.seed(given.seeds, chapter)
        output = given.output or ROOT / "build" / "chapters" / f"{chapter}.ipynb"
        execute(chapter, parameters, output, given.quiet, confirms)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{given.chapter}: stopped", file=sys.stderr)
        return 130
    if given.output is None:
        _report(output)
    return 0


def main(arguments: list[str]) -> int:
    """Let the build's stem execute the chapter, or do it here."""
    try:
        status = workers.ask(arguments)
    except KeyboardInterrupt:
        return 130
    return run(arguments) if status is None else status


def _report(output: Path) -> None:
    from book.tools.records import records

    for record in records(output):
        value = f"{record['value']:.6g}" if record["n"] else "not run"
        print(f"{record['part']:<22} {record['verdict']:<22} {record['quantity']}: {value}")
    print(f"executed notebook: {output}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
