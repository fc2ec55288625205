"""List the training runs that chapters need, or train one of them.

In a build every run is a job of its own that ends with a file, named by the run's digest; a run shared by chapters or
profiles is thus trained once. A finished run is never trained again.

python -m book runs --profile paper                          list
python -m book runs CHAPTER --profile paper --run DIGEST     train one
"""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from book.tools.read import chapters as names
from book.tools.read import stopping
from book.tools.read.chapters import ROOT, THREADS, BuildError
from book.tools.run import listing, prices
from book.tools.run.execution import commit, say


@contextlib.contextmanager
def _gpu() -> Iterator[None]:
    """Take the first GPU of this machine that no other run of this folder has."""
    import torch

    folder = ROOT / "build" / "running"
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        for number in range(prices.gpus()):
            with contextlib.suppress(Timeout):
                held.enter_context(FileLock(folder / f"gpu-{number}.lock", timeout=0))
                torch.cuda.set_device(number)
                break
        yield


def _use(cores: int) -> None:
    """Fix the number of threads; rounding depends on it."""
    import torch

    torch.set_num_threads(cores)


def train(chapter: str, profile: str, digest: str, seeds: str = "", show_progress: bool = False) -> None:
    """Train one run of a chapter, or resume it where it was stopped; nothing happens if its file exists."""
    for name in THREADS:  # before torch is imported, which a list that has to be made does
        os.environ[name] = "1"
    listed = {key: job for key, job in listing.jobs(profile, seeds).items() if chapter in job.chapters}
    if digest not in listed:
        has = ", ".join(listed) or "none"
        raise BuildError(f"chapter {chapter} has no run {digest!r} at {profile}; it has: {has}")
    _use(listed[digest].cores)
    os.environ["LMC_COMMIT"] = commit()  # recorded in its provenance
    run = next((run for run in listing.runs(chapter, profile, seeds) if run.digest == digest), None)
    if run is None:
        raise BuildError(
            f"chapter {chapter} does not define run {digest} ({listed[digest].title}) on this machine. Check that its "
            f"data are available and that {', '.join(listing.VARIABLES)} are the same as for the build."
        )
    say(f"run {digest}: training {run.title}")
    start = time.perf_counter()
    try:
        with _gpu() if listed[digest].gpu else contextlib.nullcontext():
            run.result(show_progress=show_progress)  # which waits for another process that trains it
    except Exception as error:
        raise BuildError(f"run {digest} ({run.title}) failed: {_reason(error, Path(run.path()))}") from error
    if not run.done():
        raise BuildError(f"run {digest} ({run.title}) ended without its file {run.path()}")
    say(f"run {digest}: done in {time.perf_counter() - start:.1f} s")


def _reason(error: Exception, path: Path) -> str:
    """The reason why a training run failed; an unwritable file, or a checkpoint that stops it, with advice."""
    if isinstance(error, OSError):
        return stopping.explained(error, error.filename or path)
    said = f"{type(error).__name__}: {error}"
    kept = path.with_name(f".{path.stem}.checkpoint.npz")
    damaged = isinstance(error, (KeyError, IndexError)) or str(kept) in said  # what reading it raises
    if kept.exists() and damaged:
        return f"it cannot go on from {kept} ({said}); remove that file, and the run starts anew"
    return said


def runs(chapter: str | None, profile: str, run: str | None, seeds: str, quiet: bool) -> None:
    """List the training runs, of one chapter if it is named, or train one of them."""
    name = names.find(chapter) if chapter else None
    if run:
        if name is None:
            raise BuildError("--run needs the chapter that the run belongs to")
        train(name, profile, run, seeds, not quiet and sys.stderr.isatty())
        return
    listed = [job for job in listing.jobs(profile, seeds).values() if name is None or name in job.chapters]
    print(prices.table(listed) if listed else f"no training runs at {profile}")
