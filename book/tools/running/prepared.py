"""A forked process that becomes a chapter's kernel: torch and the like are imported there already."""

from __future__ import annotations

import atexit
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from importlib.metadata import EntryPoint
from typing import Any, cast

#: What says how many threads one operation of a chapter takes.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


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
    factory.provisioners["prepared"] = Entry(
        "prepared", "book.tools.running.prepared", "jupyter_client.kernel_provisioners"
    )
    factory.default_provisioner_name = "prepared"
