"""Chapters in processes that are forked from one that has imported torch, papermill and the like already.

A chapter in a process of its own pays some seconds before its first cell: Python, papermill, a kernel, torch, scipy,
matplotlib. Here one process, the *stem*, imports them once a build. For each chapter it forks a worker, and before
anything runs in that, the worker forks the process that becomes its kernel. What a chapter computes and how its failure
is told do not change; modules of lmc_helpers are never imported ahead, so that every chapter sees the sources of its
own start.

The stem listens on a socket, whose address stands in the environment (:data:`ADDRESS`). ``book.tools.execute`` asks
there first (:func:`ask`); without a stem it executes the chapter itself. Forking a process that has imported so much is
safe while it has one thread, which holds on Linux; other systems have no stem.

python -m book.tools.running.workers SOCKET     ends when its standard input does, that is, with the build
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
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

from book.tools.base import supervise
from book.tools.running.prepared import THREADS, Prepared

ADDRESS = "LMC_STEM"
INLINE = "module://matplotlib_inline.backend_inline"  # what a kernel takes if nobody says otherwise
AHEAD = (
    *("nbformat", "jupytext", "papermill", "ipykernel.ipkernel", "ipykernel.kernelapp", "yaml", "pydantic", "mpmath"),
    *("torch", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
    *("matplotlib.pyplot", "matplotlib.backends.backend_agg", "myst_nb"),
)


def possible() -> bool:
    """Whether this system can fork safely."""
    return sys.platform == "linux"


@contextlib.contextmanager
def stem(root: Path, environment: dict[str, str], lock: int | None = None) -> Iterator[dict[str, str]]:
    """Start a stem in a folder that has no other; the environment for those who may ask it there."""
    address = Path("build", ".stem")  # from ``root``: the address of a socket has 107 bytes at most
    (root / address).unlink(missing_ok=True)
    with supervise.started([sys.executable, "-m", "book.tools.running.workers", str(address)], root, environment, lock):
        yield environment | {ADDRESS: str(address)}
    (root / address).unlink(missing_ok=True)


def ask(arguments: list[str]) -> int | None:
    """Let the stem execute a chapter; its exit status, or None if there is no stem.

    What the worker prints goes to this process's standard output and error, and it ends when this process does.
    """
    address = os.environ.get(ADDRESS)
    if not address:
        return None
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(address)
        except OSError:
            return None
        socket.send_fds(connection, [json.dumps(arguments).encode()], [1, 2])
        answer = connection.recv(16)
    if not answer:
        print(f"error: the process that executed {arguments[0]} was ended from outside", file=sys.stderr)
    return int(answer or b"1")


def serve(address: str) -> None:
    """Import what chapters need, then fork a worker for each request, until standard input ends."""
    for name in THREADS:
        os.environ[name] = "1"
    os.environ.setdefault("MPLBACKEND", INLINE)  # Matplotlib reads it when it is imported
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the workers, and this process ends with the build
    with socket.socket(socket.AF_UNIX) as listening:
        before = os.umask(0o077)  # nobody else may ask
        try:
            listening.bind(address)
        except OSError:  # a disk without sockets: chapters do without
            return
        os.umask(before)
        listening.listen()
        for module in AHEAD:
            importlib.import_module(module)
        gc.collect()
        gc.freeze()  # what is shared stays shared
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for workers; they answer themselves
        while listening in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _work(connection)
            connection.close()


def _work(connection: socket.socket) -> None:
    """Execute one chapter for who asked, answer with its exit status, and end."""
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        request, (out, error), *_ = socket.recv_fds(connection, 1 << 16, 2)
        for there, here in ((os.open(os.devnull, os.O_RDONLY), 0), (out, 1), (error, 2)):
            os.dup2(there, here)
            os.close(there)
        Prepared.current = Prepared(connection)
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        from book.tools.running import execution

        status = execution.run(json.loads(request))
    except BaseException:
        traceback.print_exc()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asked goes as soon as the answer is there
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
            connection.sendall(str(status).encode())
        os._exit(status)


def _end_with(connection: socket.socket) -> None:
    """Stop this process as Ctrl-C would when the one that asked is gone, and at the latest after five seconds."""
    with contextlib.suppress(OSError):
        connection.recv(1)
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # nobody is there to be told
        os.dup2(silent, stream)
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(5)
    os._exit(130)


if __name__ == "__main__":
    serve(sys.argv[1])
