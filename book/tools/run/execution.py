"""The execution of one chapter: jupytext → papermill → a complete executed notebook, or none."""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from book.tools.read import sources, stopping, titles
from book.tools.read.chapters import ROOT, THREADS, BuildError
from book.tools.run import forkserver, targets, variants
from book.tools.run.forkserver import Ended
from lmc_helpers.claims.checking import RECORDED_ONLY
from lmc_helpers.files import replacing

CGROUP = Path("/sys/fs/cgroup")


def commit() -> str:
    """The commit of the working tree, with ``+`` if it differs from it; ``unknown`` outside git."""
    try:
        run = ["git", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"]
        return subprocess.run(run, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def ran_on(notebook) -> str:
    """The device named in a chapter's last output."""
    said = re.search(r"^[\d.]+ s on (.+), [\w.-]+$", _last_words(notebook), re.MULTILINE)
    return said[1] if said else "unknown"


def _last_words(notebook) -> str:
    outputs = [output for cell in notebook.cells[-1:] for output in cell.get("outputs", ())]
    return "\n".join(str(output.get("text", output.get("data", {}).get("text/plain", ""))) for output in outputs)


def provenance(chapter: str, parameters: dict, seconds: float, device: str) -> dict:
    """Provenance of a run for the execution-statistics page and the claims."""
    return {
        "chapter": chapter,
        "profile": parameters["profile"],
        "parameters": parameters,
        "seconds": round(seconds, 2),
        "peak_memory_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "device": device,
        "machine": platform.machine(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("torch", "numpy", "scipy", "matplotlib", "papermill")},
        "commit": commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def say(text: str) -> None:
    """Print a line in one write: lines of parallel chapters do not mix, buffered or not."""
    print(f"{text}\n", end="", flush=True)


def execute(chapter: str, parameters: dict, output: Path, quiet: bool = False, confirms: dict | None = None) -> None:
    """Execute a chapter to ``output``; a failed notebook is kept in ``build/failed`` and named.

    For another variant (``book/tools/run/variants.py``) ``confirms`` adds to its provenance; the chapter then
    continues after an unexpected verdict, hence every outcome is stored.
    """
    variant = (confirms or {}).get("seeds", "")
    title = variants.title(chapter, variant)
    try:
        with replacing(output) as running, stopping.on_interrupt(partial(os.unlink, running)):
            say(f"{title}: running at {parameters['profile']}")
            quiet = quiet or bool(os.environ.get("CI")) or not sys.stderr.isatty()
            task = {"chapter": chapter, "parameters": parameters, "running": str(running), "quiet": quiet}
            task["output"] = str(output)
            known = sources.Sources()
            task["sources"] = targets.basis(known, chapter, parameters["profile"], variant)
            task["prose"] = known.prose(chapter)
            ended = forkserver.call(perform, task | {"confirms": confirms or {}})
            if ended.answer is None:
                raise _failed(title, parameters["profile"], running, how_it_ended(ended) + _cell(running))
            if why := ended.answer.get("unwritten"):
                raise BuildError(f"{title}: {why}")
            if why := ended.answer.get("error"):
                raise _failed(title, parameters["profile"], running, why)
        say(f"{title}: done in {ended.answer['seconds']:.1f} s")
    except OSError as error:
        raise BuildError(f"{chapter}: {stopping.explained(error)}") from None


def perform(task: dict) -> dict:
    """Execute a chapter in this process, which ends then: ``seconds``, an ``error``, or ``unwritten``, a full disk."""
    chapter, parameters, confirms = task["chapter"], task["parameters"], task["confirms"]
    variant, running = confirms.get("seeds", ""), Path(task["running"])
    os.environ.setdefault("PYTHONUTF8", "1")  # for processes that a chapter may start
    os.environ["IPYTHONDIR"] = str(ROOT / "build" / "ipython")  # a chapter runs no start-up files of its user's
    os.environ.update(dict.fromkeys(THREADS, "1") | variants.variables(variant))  # before torch is imported
    if confirms:
        os.environ[RECORDED_ONLY] = "1"
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")

    import nbformat
    import papermill
    from papermill.exceptions import PapermillExecutionError

    from book.tools.run import engine

    notebook = titles.read(ROOT / "notebooks" / f"{chapter}.py", parameters)
    variants.prepare(notebook, variant)
    bar = False if task["quiet"] else {"desc": variants.title(chapter, variant), "leave": False}
    options: dict[str, Any] = {"engine_name": engine.NAME, "folder": str(ROOT), "progress_bar": bar}
    start = time.perf_counter()
    try:
        done = papermill.execute_notebook(notebook, str(running), parameters, **options)
        seconds = time.perf_counter() - start
        done.metadata.pop("papermill", None)  # it holds paths of this machine
        done.metadata["lmc"] = provenance(chapter, parameters, seconds, ran_on(done)) | confirms
        done.metadata["lmc"] |= {name: task[name] for name in ("sources", "prose")}  # what they were when it began
        nbformat.write(done, running)
    except PapermillExecutionError as error:
        return {"error": f"{error.ename}: {error.evalue}"}
    except OSError as error:
        return {"unwritten": stopping.explained(error, task["output"])}
    return {"seconds": seconds}


def _cell(running: Path) -> str:
    """The cell that ran, by its number among the code cells and its first line."""
    try:
        cells = json.loads(running.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError):
        return ""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    begun = [at for at, cell in enumerate(code) if cell["metadata"].get("papermill", {}).get("start_time")]
    if not begun:
        return ""
    first = "".join(code[begun[-1]]["source"]).strip().partition("\n")[0]
    return f". It ran code cell {begun[-1] + 1} of {len(code)}: {first}"


def memory_here() -> int:
    """Bytes of memory of this machine, or of the container around it."""
    limits = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limits.append(int((CGROUP / name).read_text()))
        except (OSError, ValueError):  # there is none, or no limit
            continue
    return min(limits)


def how_it_ended(ended: Ended) -> str:
    """The end of a chapter's process that gave no answer, in words, with its peak memory.

    >>> how_it_ended(Ended(None, -11, 2**20)).partition(";")[0]
    'its process crashed (SIGSEGV)'
    """
    had = f"it had taken {ended.peak_kib / 2**20:.1f} GiB of memory, of {memory_here() / 2**30:.1f} GiB here"
    if ended.status >= 0:
        return f"its process ended by itself (exit status {ended.status}); {had}"
    name = signal.Signals(-ended.status).name
    if -ended.status == signal.SIGKILL:
        return (
            f"its process was killed ({name}), as the system does where memory runs out; {had}. Try fewer chapters "
            "side by side (--cores 1), or a smaller profile"
        )
    return f"its process {'was ended' if -ended.status == signal.SIGTERM else 'crashed'} ({name}); {had}"


def _failed(chapter: str, profile: str, running: Path, why: str) -> BuildError:
    """The error of a failed chapter, whose notebook is put aside."""
    failed = ROOT / "build" / "failed" / profile / f"{chapter}.ipynb"
    failed.parent.mkdir(parents=True, exist_ok=True)
    kept = ""
    if running.exists() and running.stat().st_size:
        os.replace(running, failed)
        kept = f"\nThe failed notebook: {failed}"
    return BuildError(f"{chapter} failed: {why}{kept}")
