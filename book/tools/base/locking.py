"""One build at a time in a folder: the others wait, and say for whom."""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from typing import TextIO

from book.tools.base.chapters import ROOT, BuildError


@contextlib.contextmanager
def held() -> Iterator[TextIO]:
    """The lock of this folder's builds; it is held until the last process of this one has ended, however it ends."""
    path = ROOT / "build" / ".lock"
    while True:
        path.parent.mkdir(exist_ok=True)
        with path.open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.seek(0)
                who = lock.read(200).strip() or "no process said that it is its own"
                print(f"waiting for another build in this folder to end ({who}) ...", flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            except OSError as error:
                raise BuildError(f"{path}: this disk knows no locks ({error.strerror}); build on another one") from None
            if not path.exists() or not os.path.samestat(os.fstat(lock.fileno()), path.stat()):
                continue  # ``make clean`` took it away meanwhile
            lock.truncate(0)
            try:
                os.write(lock.fileno(), f"process {os.getpid()}, since {time.strftime('%H:%M')}\n".encode())
            except OSError as error:  # a full disk does not say for which file
                raise OSError(error.errno, error.strerror, str(path)) from None
            yield lock
            return
