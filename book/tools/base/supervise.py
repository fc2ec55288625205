"""A process that runs a command, and ends all that came of it, wherever it went, when who asked is gone.

The build starts Snakemake and the stem through it, each in a session of its own, so that Ctrl-C reaches the build
alone. What they start may make sessions too: on Linux it stays below this process, which adopts what loses its parent.
Its standard input is a pipe that the build holds. The pipe ends with the build, however that ends; then, or when the
command is done, everything below is killed.

python -m book.tools.base.supervise SECONDS COMMAND...     the command may take so long to end when it is interrupted
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from book.tools.base import stopping

SUBREAPER, PDEATHSIG = 36, 1  # of prctl(2)


@contextlib.contextmanager
def started(
    command: Sequence[str],
    root: Path,
    environment: Mapping[str, str],
    patience: float = 0,
    **streams: Any,
) -> Iterator[subprocess.Popen]:
    """Start a command; at the end of the block it is ended, with all that it started.

    Parameters
    ----------
    command : sequence of str
        what is run, in the folder ``root``.
    root, environment
        where, and with which variables.
    patience : float
        seconds that the command may take to end by itself when it is interrupted.
    **streams
        standard output and error, as ``subprocess.Popen`` takes them.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "book.tools.base.supervise", str(patience), *command],
        cwd=root,
        env=environment,
        stdin=subprocess.PIPE,
        start_new_session=True,
        **streams,
    )
    assert process.stdin
    pipe = process.stdin

    def end() -> None:
        pipe.close()
        with contextlib.suppress(psutil.Error):
            psutil.Process(process.pid).wait(patience + 10)

    with stopping.then(end):
        try:
            yield process
        finally:
            pipe.close()
            process.wait()


def _prctl(option: int, value: int) -> bool:
    """Ask Linux for something about this process; whether it can."""
    try:
        return ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0
    except (AttributeError, OSError):
        return False


def follow() -> None:
    """End this process when its parent does; for ``preexec_fn``."""
    _prctl(PDEATHSIG, signal.SIGKILL)


def run(patience: float, command: list[str]) -> int:
    """Run a command until it ends or standard input does; its exit status."""
    asked: list[int] = []  # signals to end at once
    wake, tell = socket.socketpair()
    watched: list[Any] = [wake, 0]
    tell.setblocking(False)
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda number, frame: None)
    signal.signal(signal.SIGTERM, lambda number, frame: asked.append(number))
    adopts = _prctl(SUBREAPER, 1)
    child = subprocess.Popen(command, process_group=0, preexec_fn=follow)
    code = _reaped(child.pid)
    while code is None and not asked:
        ready = select.select(watched, [], [])[0]
        if wake in ready:
            wake.recv(4096)
        code = _reaped(child.pid)
        if 0 in ready and not os.read(0, 1):
            break
    if code is None and patience and not asked:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGINT)
        until = time.monotonic() + patience
        while code is None and time.monotonic() < until:
            time.sleep(0.1)
            code = _reaped(child.pid)
    if not adopts and code is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
    stopping.end_children(10)
    return 128 + signal.SIGKILL if code is None else code


def _reaped(wanted: int) -> int | None:
    """Take note of all children that have ended; the exit status of the one that is wanted."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            if ended[0] == wanted:
                code = os.waitstatus_to_exitcode(ended[1])
                found = code if code >= 0 else 128 - code
    return found


if __name__ == "__main__":
    sys.exit(run(float(sys.argv[1]), sys.argv[2:]))
