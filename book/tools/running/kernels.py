"""The kernel of a chapter: this Python, whatever kernelspecs the machine has, and how it ended if it did.

jupyter_client takes the first kernelspec of the name ``python3`` on ``JUPYTER_PATH`` or in the user's folders, which
may start another Python with other packages. And it picks five TCP ports that are free, for the kernel to take a moment
later: where many start side by side, another may have taken one by then, and the kernel ends. So it is spoken to by
sockets in a folder of its own, where the system has them.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import tempfile
from pathlib import Path
from typing import ClassVar

from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from jupyter_client.manager import AsyncKernelManager
from nbclient.exceptions import DeadKernelError
from traitlets import Any, default

from book.tools.base.leftovers import SOCKETS

CGROUP = Path("/sys/fs/cgroup")
DEAD = (DeadKernelError, NoSuchKernel, RuntimeError)  # what papermill raises if there is no kernel, or no longer


class Kernel(AsyncKernelManager):
    """A kernel of this Python; its exit status is kept when it ends."""

    ended: ClassVar[int | None] = None  #: the exit status of the last kernel that was found to have ended

    sockets = Any(help="the folder with the sockets; None where TCP ports serve")

    @default("sockets")
    def _own_sockets(self) -> Path | None:
        return socket_folder()

    @default("transport")
    def _sockets_if_possible(self) -> str:
        return "tcp" if self.sockets is None else "ipc"

    @default("connection_file")
    def _beside_them(self) -> str:
        return "" if self.sockets is None else str(self.sockets / "kernel.json")

    def cleanup_ipc_files(self) -> None:
        """Remove the sockets with their folder; no kernel is started twice."""
        super().cleanup_ipc_files()
        if self.sockets is not None:
            shutil.rmtree(self.sockets, ignore_errors=True)

    @default("kernel_spec_manager")
    def _own_specs(self) -> KernelSpecManager:
        specs = KernelSpecManager(parent=self)
        specs.kernel_dirs = []  # without folders to look in, python3 is the Python that asks
        return specs

    async def is_alive(self) -> bool:  # type: ignore[override]
        """Whether the kernel's process runs."""
        if self.provisioner is not None and self.provisioner.has_process:
            status = await self.provisioner.poll()
            Kernel.ended = Kernel.ended if status is None else status
        return await self._async_is_alive()


def socket_folder() -> Path | None:
    """A new folder for the sockets of a kernel; None where there can be none, as where its path would be too long."""
    try:
        folder = Path(tempfile.mkdtemp(prefix=SOCKETS, suffix=f"-{os.getpid()}"))
    except OSError:
        return None
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(folder / "kernel-ipc-00"))
        (folder / "kernel-ipc-00").unlink()
    except (OSError, AttributeError):  # AttributeError: a Python without them
        shutil.rmtree(folder, ignore_errors=True)
        return None
    return folder


def told(error: BaseException, running: Path) -> str:
    """What became of a chapter's kernel and in which cell, in words; ``running`` is what papermill left."""
    if isinstance(error, NoSuchKernel):
        return f"its header asks for the kernel {error.name!r}; allowed: python3, which is this Python"
    return how_it_ended(Kernel.ended) + _cell(running)


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
    """Bytes of memory that this machine, or the container that this is, has."""
    pages = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [pages]
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limits.append(int((CGROUP / name).read_text()))
        except (OSError, ValueError):  # there is none, or no limit
            continue
    return min(limits)


def how_it_ended(status: int | None, peak_kib: int | None = None) -> str:
    """How a kernel ended, in words, with the memory that it had taken.

    Parameters
    ----------
    status : int or None
        its exit status, a negative one is that of a signal; None if it is not known.
    peak_kib : int, optional
        the most memory that it had; by default that of this process's children that have ended.

    Examples
    --------
    >>> how_it_ended(-11, 2**20).partition(";")[0]
    'its kernel crashed (SIGSEGV)'
    """
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss if peak_kib is None else peak_kib
    had = f"it had taken {peak / 2**20:.1f} GiB of memory, of {memory_here() / 2**30:.1f} GiB here"
    if status is None or status >= 0:
        return f"its kernel ended by itself (exit status {'unknown' if status is None else status}); {had}"
    name = signal.Signals(-status).name
    if -status == signal.SIGKILL:
        return (
            f"its kernel was killed ({name}), as the system does where memory runs out; {had}. Try fewer chapters side "
            "by side (--cores 1), or a smaller profile"
        )
    return f"its kernel {'was ended' if -status == signal.SIGTERM else 'crashed'} ({name}); {had}"
