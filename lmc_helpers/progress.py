"""A line that says how far a long computation is, on a terminal, and a limit of time."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from operator import length_hint
from typing import TypeVar

from lmc_helpers._typing import PositiveNumber, checked

__all__ = ["limit"]

AFTER, EVERY = 2.0, 0.2  # seconds before the line is shown, and between two of them
_T = TypeVar("_T")
_limit: ContextVar[tuple[float, float]] = ContextVar("limit", default=(math.inf, math.inf))  # when, after how long


class _Line(threading.local):
    """The loops that run, one inside the other, and when they were shown."""

    def __init__(self) -> None:
        self.loops: list[str] = []
        self.start = self.last = 0.0

    def show(self) -> None:
        now = time.monotonic()
        if sys.stderr.isatty() and now > self.start + AFTER and now > self.last + EVERY:
            sys.stderr.write(f"\r\x1b[K{', '.join(self.loops)}; {now - self.start:.0f} s"[:120])
            sys.stderr.flush()
            self.last = now


_line = _Line()


@contextmanager
def during(words: str) -> Iterator[int]:
    """A step that has others inside, in words; gives its level. The line vanishes when the outermost step ends."""
    if not _line.loops:
        _line.start = _line.last = time.monotonic()
    level = len(_line.loops)
    _line.loops.append(words)
    try:
        yield level
    finally:
        del _line.loops[level:]
        if not level and _line.last > _line.start:
            sys.stderr.write("\r\x1b[K")


def progress(iterable: Iterable[_T], description: str, total: int | None = None, disable: bool = False) -> Iterator[_T]:
    """The same items, within the limit of time; from two seconds on a line on a terminal says how many were taken."""
    if disable:
        yield from iterable
        return
    total = length_hint(iterable) if total is None else total
    with during(description) as level:
        for k, item in enumerate(iterable, 1):
            _line.loops[level:] = [f"{description} {k}" + (f" of {total}" if total else "")]
            tick()
            yield item


def tick() -> None:
    """Show the line again; raise if the time is over."""
    end, seconds = _limit.get()
    if time.monotonic() > end:
        where = ", ".join(_line.loops) or "at its start"
        _line.loops.clear()  # a traceback may keep the loops alive
        raise TimeoutError(
            f"not finished after {seconds:g} s ({where}); allowed: more seconds, fewer data, restarts or steps"
        )
    if _line.loops:
        _line.show()


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    token = _limit.set(min(_limit.get(), (time.monotonic() + seconds, seconds)))
    try:
        yield
    finally:
        _limit.reset(token)


@checked
def limit(seconds: PositiveNumber) -> AbstractContextManager[None]:
    """A limit of time for all calls in a ``with`` block.

    Time is looked at between the steps of a call: batches, restarts, assignments, steps of descent. What is not
    finished then gives no result, and nothing that was passed is changed.

    Raises
    ------
    TimeoutError
        in the call that runs when the time is over; it says how far that is.

    Examples
    --------
    >>> import torch
    >>> from lmc_helpers import match
    >>> a, b = (torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3)) for _ in range(2))
    >>> with limit(600):
    ...     b = match(a, b, torch.ones(1, 4))
    """
    return _limited(seconds)
