"""Execute one chapter: jupytext → papermill → an executed notebook that is whole, or none.

python -m book.tools.execute overlap_theorem --profile laptop -p M 9 -p trials 5000
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import yaml

from book.tools import chapters
from book.tools.chapters import ROOT, BuildError

QUIET = bool(os.environ.get("CI")) or not sys.stderr.isatty()
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def literal(text: str):
    """A parameter's value from the command line: a number if it reads as one, else YAML."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return yaml.safe_load(text)


def commit() -> str:
    """The commit of the working tree, with ``+`` if it differs from it; ``unknown`` outside git."""
    try:
        run = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def provenance(chapter: str, parameters: dict, seconds: float) -> dict:
    """What the execution-statistics page and the claims say about a run."""
    from lmc_helpers import device

    return {
        "chapter": chapter,
        "profile": parameters["profile"],
        "parameters": parameters,
        "seconds": round(seconds, 2),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "device": device.describe(),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "numpy", "scipy", "matplotlib", "papermill")},
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def say(text: str) -> None:
    """One line in one write, so that chapters that run side by side do not mix their lines, buffered or not."""
    print(f"{text}\n", end="", flush=True)


def execute(chapter: str, parameters: dict, output: Path) -> None:
    """Execute a chapter to ``output``; a failed notebook is kept in ``build/failed`` and named.

    Raises
    ------
    BuildError
        says which cell failed and why, and where the failed notebook lies.
    """
    import jupytext
    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    for name in THREADS:
        os.environ[name] = "1"
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    running = ROOT / "build" / "running" / parameters["profile"] / f"{chapter}-{os.getpid()}.ipynb"
    running.parent.mkdir(parents=True, exist_ok=True)
    notebook = jupytext.read(ROOT / "notebooks" / f"{chapter}.py")
    bar = False if QUIET else {"desc": chapter, "leave": False}
    say(f"{chapter}: running at {parameters['profile']}")
    start = time.perf_counter()
    try:
        options = {"cwd": str(ROOT), "progress_bar": bar, "extra_arguments": ["--log-level=50"]}
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
    done.metadata["lmc"] = provenance(chapter, parameters, seconds)
    nbformat.write(done, running)
    output.parent.mkdir(parents=True, exist_ok=True)
    os.replace(running, output)
    say(f"{chapter}: done in {seconds:.1f} s")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="execute", description="Execute one chapter with papermill.")
    parser.add_argument("chapter", help="name, with or without its number")
    parser.add_argument("--profile", default="laptop", help="smoke, laptop or paper (default: laptop)")
    parser.add_argument("-p", dest="parameters", nargs=2, action="append", default=[], metavar=("NAME", "VALUE"))
    parser.add_argument("--output", type=Path, help="default: build/chapters/NAME.ipynb")
    given = parser.parse_args(arguments)
    try:
        chapter = chapters.find(given.chapter)
        parameters = chapters.parameters(chapter, given.profile) | {k: literal(v) for k, v in given.parameters}
        output = given.output or ROOT / "build" / "chapters" / f"{chapter}.ipynb"
        execute(chapter, parameters, output)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(f"{given.chapter}: stopped", file=sys.stderr)
        return 130
    if given.output is None:
        _report(output)
    return 0


def _report(output: Path) -> None:
    from book.tools.collect import records

    for record in records(output):
        value = f"{record['value']:.6g}" if record["n"] else "not run"
        print(f"{record['part']:<22} {record['verdict']:<22} {record['quantity']}: {value}")
    print(f"executed notebook: {output}")


if __name__ == "__main__":
    sys.exit(main())
