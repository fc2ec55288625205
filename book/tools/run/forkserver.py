"""Chapters and training runs in processes forked from one that has imported torch and the like already.

A fresh process needs some seconds for imports: torch, scipy, matplotlib, papermill, the ledger. Hence a build starts
one server that has imported them; the command of a chapter or a run asks it to fork a process that does the work, and
ends with that one's exit status. If sources of lmc_helpers or the ledger were edited since, the process imports them
again: every chapter sees the sources of its own start. Forking a process that has imported so much is safe while it has
one thread, which holds on Linux; elsewhere, and where no server runs, a command does its work itself.

python -m book.tools.run.forkserver     standard input is the socket that listens; ends with the build
"""

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from book.tools.read import stopping
from book.tools.read.chapters import PACKAGE, ROOT, THREADS, chapters

ADDRESS = "LMC_FORKSERVER"
#: Large pages, with which a step of wide networks, which refills large tensors, takes about a tenth less time.
LARGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
PRELOADED = (
    *("nbformat", "jupytext", "papermill", "pydantic", "mpmath", "book.tools.run.engine"),
    *("torch", "torch._dynamo", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats"),
    *("sklearn.datasets", "matplotlib.pyplot", "matplotlib.backends.backend_agg", "myst_nb"),
    *("book.__main__", "book.tools.record.execute", "book.tools.run.runs", "book.tools.read.profiles"),
)


@dataclass(frozen=True)
class Ended:
    """The end of a process: its answer, its exit status (−9: killed), and its peak memory."""

    answer: dict | None
    status: int
    peak_kib: int


def possible() -> bool:
    """True if this system can fork safely."""
    return sys.platform == "linux"


@contextlib.contextmanager
def running(root: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Start a server in a folder that has no other; yield the environment of its clients."""
    address = Path("build", ".forkserver")  # from ``root``: the address of a socket has 107 bytes at most
    (root / address).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        before = os.umask(0o077)  # nobody else may ask
        with contextlib.suppress(OSError), contextlib.chdir(root):  # a disk without sockets: nobody asks
            listening.bind(str(address))
        os.umask(before)
        listening.listen(128)
        command, settings = [sys.executable, "-m", __name__], LARGE_PAGES | environment | dict.fromkeys(THREADS, "1")
        server = subprocess.Popen(command, cwd=root, env=settings, stdin=listening.fileno(), start_new_session=True)
    with server:
        try:
            yield environment | {ADDRESS: str(address)}
        finally:
            server.kill()
            (root / address).unlink(missing_ok=True)


def ask() -> None:
    """If a server runs, let it carry out this command, and exit with its status."""
    with socket.socket(socket.AF_UNIX) as server:
        try:
            server.connect(os.environ[ADDRESS])
            socket.send_fds(server, [json.dumps(sys.argv[1:]).encode()], [1, 2])
            status = server.recv(16)
        except (KeyError, OSError):  # none, or it ended before it took the request, so that nothing was begun
            return
    if not status:
        print(f"error: {' '.join(sys.argv[1:])}: its process was killed, as where memory runs out", file=sys.stderr)
    os._exit(int(status or 128 + signal.SIGKILL))


def serve() -> None:
    """Import the modules that chapters and runs need, then fork a process for each request."""
    stopping.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the build, and that this process
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that have ended
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    with socket.socket(fileno=os.dup(0)) as listening:
        before = _edited()
        _preload()
        while True:
            connection, _ = listening.accept()
            request, descriptors, *_ = socket.recv_fds(connection, 1 << 16, 2)
            if os.fork() == 0:
                _end_with(partial(_work, connection, json.loads(request), descriptors, before))
            for descriptor in descriptors:
                os.close(descriptor)
            connection.close()


def _work(connection: socket.socket, arguments: list[str], descriptors: list[int], before: dict[str, int]) -> None:
    """In a forked process: carry out a command with its standard output and error, and send it the status."""
    for there, here in zip((os.open(os.devnull, os.O_RDONLY), *descriptors), range(3), strict=True):
        os.dup2(there, here)
    sys.stdout, sys.stderr = (open(here, "w", buffering=1, closefd=False) for here in (1, 2))  # files, perhaps
    if _edited() != before:
        for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
            del sys.modules[name]
    connection.sendall(b"%d" % importlib.import_module("book.__main__").main(arguments))


def _preload() -> None:
    """Import modules, among them those of lmc_helpers that chapters need, and read the ledger."""
    from book.tools.run import drawing, engine

    os.environ["MPLBACKEND"] = engine.INLINE  # Matplotlib reads it when it is imported
    for module in PRELOADED:
        importlib.import_module(module)
    drawing.remember()
    from book.tools.read import sources
    from lmc_helpers.claims import reading

    known = sources.Sources()
    with contextlib.suppress(Exception):  # the chapter that needs a source reports its errors
        reading.ledger()
        for module in dict.fromkeys(name for chapter in chapters() for name in known.modules(chapter)):
            importlib.import_module(module)
    gc.collect()
    gc.freeze()  # what is shared stays shared


def _edited() -> dict[str, int]:
    """Time of the last edit of each source of lmc_helpers and file of the ledger."""
    paths = [
        *(ROOT / PACKAGE).rglob("*.py"),
        *(ROOT / PACKAGE).rglob("*.pyi"),
        *(ROOT / "book" / "claims").glob("*.yml"),
    ]
    return {str(path): path.stat().st_mtime_ns for path in paths}


def call(function: Callable[[dict], dict], task: dict) -> Ended:
    """Call a function in a process forked from this one; its answer must be JSON."""
    here, there = socket.socketpair()
    if (pid := os.fork()) == 0:
        here.close()
        _end_with(lambda: there.sendall(json.dumps(function(task)).encode()))
    there.close()
    with here, here.makefile("rb") as replies:
        answer = replies.read()
    _, status, usage = os.wait4(pid, 0)
    return Ended(json.loads(answer) if answer else None, os.waitstatus_to_exitcode(status), usage.ru_maxrss)


def _end_with(act: Callable[[], object]) -> None:
    """In a forked process: call a function, and end."""
    status = 1
    try:
        stopping.die_with_parent()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asked ends this process
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        act()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
