"""Stop in one line: Ctrl-C, SIGTERM and a closed terminal end a tool, and all that it started, without a traceback.

A tool is stopped at once: no exception passes through it that something might catch or show. Clean-up is registered
beforehand (:func:`on_interrupt`).

When a build is killed, its processes end too: on Linux each ends with its parent (:func:`die_with_parent`).
"""

import contextlib
import ctypes
import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
PDEATHSIG = 1  # of prctl(2)
IN_BUILD = "LMC_IN_BUILD"  # set for the processes of a build on this machine
KEPT = "stopped; what was finished is kept"
AGAIN = "then run it again: what was finished is kept"
ADVICE = {
    errno.ENOSPC: f"the disk is full; free some space, {AGAIN}",
    errno.EDQUOT: f"your share of the disk is full; free some space, {AGAIN}",
    errno.EFBIG: f"it is larger than a file may be here (ulimit -f); raise the limit, {AGAIN}",
    errno.EROFS: f"it lies on a disk that can only be read; make it writable, {AGAIN}",
    errno.EACCES: f"you have no permission for it; make it yours to write (chmod, chown), {AGAIN}",
    errno.EPERM: f"you have no permission for it; make it yours to write (chmod, chown), {AGAIN}",
    errno.ENOENT: "it disappeared; run it again",
    errno.ESTALE: "it disappeared; run it again",
    errno.EIO: f"the disk does not read or write it; mend the disk, {AGAIN}",
    errno.EISDIR: f"it is a folder where a file belongs; remove it, {AGAIN}",
    errno.ENOTDIR: f"it lies below a file where a folder belongs; remove that file, {AGAIN}",
    errno.EMFILE: f"too many files are open; raise the limit (ulimit -n), {AGAIN}",
}

_callbacks: list[Callable[[], object]] = []


@contextlib.contextmanager
def on_interrupt(callback: Callable[[], object]) -> Iterator[None]:
    """Call something if the tool is stopped inside the block; the innermost block comes first."""
    _callbacks.append(callback)
    try:
        yield
    finally:
        _callbacks.remove(callback)


def watch(text: str = KEPT) -> None:
    """From now on a signal ends this process and its children; ``text`` is the one line that is printed.

    A signal that was ignored, as under nohup, remains ignored. A second one waits for nothing. A process of a build
    ends with its parent.
    """
    if IN_BUILD in os.environ:
        die_with_parent()

    def end(number: int, frame: object) -> None:
        for each in SIGNALS:
            signal.signal(each, lambda number, frame: os._exit(128 + number))
        for callback in reversed(_callbacks):
            with contextlib.suppress(Exception):
                callback()
        with contextlib.suppress(Exception):  # stopped within an import, where nothing was started yet
            end_children()
        with contextlib.suppress(Exception):
            sys.stdout.flush()
        with contextlib.suppress(OSError):  # the terminal may be gone
            os.write(2, f"{text}\n".encode())
        os._exit(128 + number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Let Linux send this process a signal when its parent ends, however that ends; for ``preexec_fn`` too."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(PDEATHSIG, number, 0, 0, 0)


def end_children(seconds: float = 5.0) -> None:
    """Kill every process below this one; wait until they are gone, but not for ever."""
    if "subprocess" not in sys.modules:  # nothing was started yet, and psutil takes a while to import
        return
    import psutil

    def alive(process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.NoSuchProcess):
            return process.status() != psutil.STATUS_ZOMBIE
        return False

    killed: set[psutil.Process] = set()
    while seconds > 0:
        killed.update(psutil.Process().children(recursive=True))
        if not (left := [process for process in killed if alive(process)]):
            break
        for act in (psutil.Process.suspend, psutil.Process.kill):  # so that no parent reports that its child was killed
            for process in left:
                with contextlib.suppress(psutil.Error):
                    act(process)
        time.sleep(0.02)
        seconds -= 0.02


def explained(error: OSError, path: object = None) -> str:
    """One sentence on the file for which an operation failed, and what to do."""
    where = path or error.filename2 or error.filename or "a file"
    code = error.errno or 0
    return f"{where}: {ADVICE.get(code, error.strerror or str(error))}"


def status(act: Callable[[], int | None]) -> int:
    """Call a function and return the exit status, with one line if it fails for a file or is interrupted.

    Errors of the build (``BuildError``) are reported like those of files.
    """
    from book.tools.read.chapters import BuildError

    try:
        code = act() or 0
        sys.stdout.flush()
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:  # where nobody watches: within a test, or another tool
        print(KEPT, file=sys.stderr)
        return 130
    except BrokenPipeError:  # nobody reads on, as in ``make book | head``
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except OSError as error:
        print(f"error: {explained(error)}", file=sys.stderr)
        return 1
    return code
