"""Chapters in processes that are forked from one that has imported torch, papermill and the like already.

A chapter in a process of its own pays some seconds before its first cell: Python, papermill, a kernel, torch, scipy,
matplotlib. Here one process, the *stem*, imports them once a build. For each chapter it forks a worker, and before
anything runs in that, the worker forks the process that becomes its kernel. What a chapter computes and how its failure
is told do not change; modules of lmc_helpers are never imported ahead, so that every chapter sees the sources of its
own start.

The stem listens on a socket, whose address stands in the environment (:data:`ADDRESS`). ``book.tools.execute`` asks
there first (:func:`ask`); without a stem it executes the chapter itself. Forking a process that has imported so much is
safe while it has one thread, which holds on Linux; other systems have no stem.

python -m book.tools.workers SOCKET     ends when its standard input does, that is, with the build
"""

from __future__ import annotations

import atexit
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
import tempfile
import threading
import traceback
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

ADDRESS = "LMC_STEM"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
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
def stem(root: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Start a stem; the environment for those who may ask it."""
    with tempfile.TemporaryDirectory(prefix="lmc-") as folder:
        address = str(Path(folder) / "stem")
        command = [sys.executable, "-m", "book.tools.workers", address]
        process = subprocess.Popen(command, cwd=root, env=environment, stdin=subprocess.PIPE)
        try:
            yield environment | {ADDRESS: address}
        finally:
            assert process.stdin
            process.stdin.close()
            process.wait()


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
        listening.bind(address)
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
        from book.tools import execute

        status = execute.run(json.loads(request))
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
    os.kill(os.getpid(), signal.SIGINT)
    threading.Event().wait(5)
    os._exit(130)


class Prepared:
    """A forked process that waits to become a kernel; it looks like a ``subprocess.Popen`` to those who manage it."""

    current: Prepared | None = None
    stdin = stdout = stderr = None

    def __init__(self, connection: socket.socket):
        self.returncode: int | None = None
        read, self._tell = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._tell)
            connection.close()
            _become_kernel(read)
        os.close(read)

    def launch(self, arguments: list[str], environment: dict[str, str], folder: str) -> None:
        """Make it a kernel with these arguments."""
        with os.fdopen(self._tell, "w") as tell:
            json.dump([arguments, environment, folder], tell)

    def poll(self) -> int | None:
        """Its exit status, None while it runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self) -> int:
        """Wait until it ends."""
        if self.returncode is None:
            self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal while it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)


def _become_kernel(read: int) -> None:
    """Wait for arguments, then run a kernel as ``python -m ipykernel_launcher`` would, in a session of its own."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.setsid()
        with os.fdopen(read) as pipe:
            told = pipe.read()
        if told:
            arguments, environment, folder = json.loads(told)
            os.environ.clear()
            os.environ.update(environment)
            os.chdir(folder)
            if sys.path[0] in ("", folder):
                del sys.path[0]
            importlib.invalidate_caches()
            sys.argv = ["ipykernel_launcher", *arguments]
            from ipykernel import kernelapp

            kernelapp.launch_new_instance()
        atexit._run_exitfuncs()
        os._exit(0)
    except SystemExit:
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def provide() -> None:
    """Let kernels of this process be the prepared one, if there is one."""
    if Prepared.current is None:
        return
    from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd, **kwargs):
            prepared, Prepared.current = Prepared.current, None
            if prepared is None or cmd[0] != sys.executable or "ipykernel_launcher" not in cmd:
                return await super().launch_kernel(cmd, **kwargs)
            # A kernel ends with its parent; it has read JPY_PARENT_PID already, when it was not yet known.
            arguments = [*cmd[cmd.index("ipykernel_launcher") + 1 :], f"--IPKernelApp.parent_handle={os.getpid()}"]
            prepared.launch(arguments, dict(kwargs.get("env") or os.environ), kwargs.get("cwd") or os.getcwd())
            self.process = cast(Any, prepared)
            self.pid = self.pgid = prepared.pid
            return self.connection_info

    class Entry(EntryPoint):
        def load(self):
            return Provisioner

    factory = KernelProvisionerFactory.instance()
    factory.provisioners["prepared"] = Entry("prepared", "book.tools.workers", "jupyter_client.kernel_provisioners")
    factory.default_provisioner_name = "prepared"


if __name__ == "__main__":
    from book.tools import workers

    workers.serve(sys.argv[1])
