"""A Python that starts at once, for commands of small books: a process forked from one that has made the imports.

A command of a small book takes seconds to import pydantic, Snakemake and papermill, and hundredths for its work.
``interpreter()`` stands in for ``sys.executable``: it hands arguments, folder, environment and streams to a server,
which forks a process for them, and it ends as that does. Modules of the book are never imported ahead.

python -I -X utf8 forked.py ADDRESS     ends when its standard input does, that is, with the tests
"""

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PRELOADED = (
    *("nbformat", "jupytext", "papermill", "pydantic", "ruamel.yaml", "yaml", "filelock", "psutil", "platformdirs"),
    *("matplotlib_inline.backend_inline", "IPython.core.interactiveshell", "snakemake.cli", "scipy.stats"),
)
CLIENT = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [b"-"], [0, 1, 2])
    server.sendall(json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    status = int(server.makefile().readline() or -9)
sys.exit(status if status >= 0 else 128 - status)
"""


@functools.cache
def interpreter() -> str:
    """The stand-in, whose server lives as long as this process; Python itself where a system cannot fork safely."""
    if sys.platform != "linux":
        return sys.executable
    folder = Path(tempfile.mkdtemp(prefix="lmc-"))
    address, client = folder / "socket", folder / "python"
    client.write_text(CLIENT.format(python=sys.executable, address=str(address)))
    client.chmod(0o755)
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    one["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as the server of a build has it
    command = [sys.executable, "-I", "-X", "utf8", __file__, str(address)]
    server = subprocess.Popen(command, env=os.environ | one, stdin=subprocess.PIPE, start_new_session=True)

    def stop():
        server.stdin.close()
        server.wait()
        shutil.rmtree(folder)

    atexit.register(stop)
    while not address.exists():
        assert server.poll() is None, "the server of forked.py has ended"
        time.sleep(0.02)
    return str(client)


def serve(address: str) -> tuple[list[str], str, dict[str, str]]:
    """Fork a process for each request; in that process, what it has to do."""
    for name in PRELOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"{address}-new")
        listening.listen()
        os.rename(f"{address}-new", address)
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            connection, _ = listening.accept()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            _, streams, *_ = socket.recv_fds(connection, 1, 3)
            if os.fork() == 0:
                listening.close()
                return _looked_after(connection, streams)
            connection.close()
            for stream in streams:
                os.close(stream)
    os._exit(0)


def _looked_after(connection: socket.socket, streams: list[int]) -> tuple[list[str], str, dict[str, str]]:
    """Fork once more; tell who asked how it ended, and end it if who asked is gone."""
    with connection.makefile("rb") as request:
        task = json.loads(request.readline())
    if (pid := os.fork()) == 0:
        connection.close()
        for here, stream in enumerate(streams):
            os.dup2(stream, here)
            os.close(stream)
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)
        return task
    for stream in (*streams, 0, 1, 2):
        os.close(stream)
    if connection in select.select([connection, os.pidfd_open(pid)], [], [])[0]:
        os.kill(pid, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(b"%d\n" % status)
    os._exit(0)


def run(command: list[str], folder: str, environment: dict[str, str]) -> None:
    """Do what Python does with ``-m NAME ...`` or ``-c PROGRAM ...``."""
    executable, option, what, *rest = command
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.executable, sys.orig_argv, sys.argv = executable, command, [option, *rest]
    sys.path[:0] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.dont_write_bytecode = True  # a file may be edited twice in a second, and Python would not see it
    if option == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        assert option == "-c", f"forked.py knows no {option}"
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})


if __name__ == "__main__":
    run(*serve(sys.argv[1]))
