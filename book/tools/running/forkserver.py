"""Chapters in processes of their own, forked from one that has imported torch and the like already.

A chapter that starts from nothing pays some seconds before its first cell: papermill, torch, scipy, matplotlib. So a
build starts one server that imports them; it forks a process for each chapter, and says how that ended. Modules of
lmc_helpers are never imported ahead: every chapter sees the sources of its own start. Forking a process that has
imported so much is safe while it has one thread, which holds on Linux; elsewhere, and where no server runs, a chapter's
process is forked from the one that asks.

python -m book.tools.running.forkserver ADDRESS     ends when its standard input does, that is, with the build
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from book.tools.base import stopping

ADDRESS = "LMC_FORKSERVER"
#: What says how many threads one operation of a chapter takes.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
PRELOADED = (
    *("nbformat", "jupytext", "papermill", "yaml", "pydantic", "mpmath", "book.tools.running.engine"),
    *("torch", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_agg", "myst_nb"),
)


@dataclass(frozen=True)
class Ended:
    """How a chapter's process ended: what it answered, its exit status (−9: killed), and its peak memory."""

    answer: dict | None
    status: int
    peak_kib: int


def possible() -> bool:
    """Whether this system can fork safely."""
    return sys.platform == "linux"


@contextlib.contextmanager
def running(root: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Start a server in a folder that has no other; the environment for those who may ask it there."""
    address = Path("build", ".forkserver")  # from ``root``: the address of a socket has 107 bytes at most
    (root / address).unlink(missing_ok=True)
    command = [sys.executable, "-m", "book.tools.running.forkserver", str(address)]
    with subprocess.Popen(command, cwd=root, env=environment, stdin=subprocess.PIPE, start_new_session=True):
        yield environment | {ADDRESS: str(address)}
    (root / address).unlink(missing_ok=True)


def call(function: str, task: dict) -> Ended:
    """Call a function, ``module:name``, with a task in a process of its own; task and answer are what JSON can hold."""
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(os.environ[ADDRESS])
        except (KeyError, OSError):
            return _here(function, task)
        socket.send_fds(server, [json.dumps([function, task]).encode()], [1, 2])
        with server.makefile("rb") as replies:
            *answer, end = [json.loads(line) for line in replies] or [{"status": -signal.SIGKILL, "peak_kib": 0}]
    return Ended(answer[0] if answer else None, end["status"], end["peak_kib"])


def _here(function: str, task: dict) -> Ended:
    """The same in a process that is forked from this one."""
    here, there = socket.socketpair()
    if (pid := os.fork()) == 0:
        here.close()
        _answer(function, task, there)
    there.close()
    with here, here.makefile("rb") as replies:
        answer = [json.loads(line) for line in replies]
    _, status, usage = os.wait4(pid, 0)
    return Ended(answer[0] if answer else None, os.waitstatus_to_exitcode(status), usage.ru_maxrss)


def _answer(function: str, task: dict, connection: socket.socket) -> None:
    """In a forked process: call a function, answer, and end."""
    status = 1
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked ends this process
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        stopping.die_with_parent()
        module, _, name = function.partition(":")
        answer = getattr(importlib.import_module(module), name)(task)
        connection.sendall(json.dumps(answer).encode() + b"\n")
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def serve(address: str) -> None:
    """Import what chapters need, then fork a process for each request, until standard input ends."""
    os.environ.update(dict.fromkeys(THREADS, "1"))
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the build, and this process ends with that
    wake, tell = socket.socketpair()
    tell.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    with socket.socket(socket.AF_UNIX) as listening:
        before = os.umask(0o077)  # nobody else may ask
        try:
            listening.bind(address)
        except OSError:  # a disk without sockets: chapters do without
            return
        os.umask(before)
        listening.listen()
        from book.tools.running import engine

        os.environ["MPLBACKEND"] = engine.INLINE  # Matplotlib reads it when it is imported
        for module in PRELOADED:
            importlib.import_module(module)
        gc.collect()
        gc.freeze()  # what is shared stays shared
        working: dict[int, socket.socket] = {}
        asking = [listening, sys.stdin]
        while asking or working:
            ready = select.select([wake, *asking, *working.values()], [], [])[0]
            if sys.stdin in ready:  # the build has ended; if it was killed, those who asked end by themselves
                asking = []
            if wake in ready:
                wake.recv(4096)
                _report(working)
            for pid in [pid for pid, connection in working.items() if connection in ready]:
                os.kill(pid, signal.SIGKILL)  # who asked is gone
                working.pop(pid).close()
            if asking and listening in ready:
                connection, _ = listening.accept()
                request, (out, error), *_ = socket.recv_fds(connection, 1 << 16, 2)
                if (pid := os.fork()) == 0:
                    for there, here in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (error, 2)):
                        os.dup2(there, here)
                    function, task = json.loads(request)
                    _answer(function, task, connection)
                os.close(out)
                os.close(error)
                working[pid] = connection


def _report(working: dict[int, socket.socket]) -> None:
    """Tell those who asked how the processes that have ended did."""
    with contextlib.suppress(ChildProcessError):
        while (ended := os.wait4(-1, os.WNOHANG))[0]:
            pid, status, usage = ended
            if connection := working.pop(pid, None):
                end = {"status": os.waitstatus_to_exitcode(status), "peak_kib": usage.ru_maxrss}
                with contextlib.suppress(OSError):
                    connection.sendall(json.dumps(end).encode() + b"\n")
                connection.close()


if __name__ == "__main__":
    serve(sys.argv[1])
