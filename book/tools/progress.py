"""How far a build is: what each chapter took the last time, which comes first, and what is left to wait for."""

from __future__ import annotations

import heapq
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from book.tools import profiles
from book.tools.chapters import ROOT, chapters

STARTED = re.compile(r"(\w+): running at \w+")
DONE = re.compile(r"(\w+): done in ([\d.]+) s")


def _memory(profile: str) -> Path:
    return ROOT / "build" / "times" / f"{profile}.json"


def _last(profile: str) -> dict[str, float]:
    try:
        return json.loads(_memory(profile).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def expected(profile: str) -> dict[str, float]:
    """Chapter → seconds: what it took here the last time; else its budget, scaled as those of the others were."""
    last = _last(profile)
    budgets = {chapter: profiles.settings(chapter, profile).budget_s for chapter in chapters()}
    known = [chapter for chapter in budgets if chapter in last]
    scale = sum(last[c] for c in known) / sum(budgets[c] for c in known) if known else 1.0
    return {chapter: last.get(chapter, scale * budget) for chapter, budget in budgets.items()}


def in_words(seconds: float) -> str:
    """A time to wait for, rounded.

    Examples
    --------
    >>> in_words(3), in_words(44), in_words(100), in_words(7000)
    ('about 10 s to go', 'about 50 s to go', 'about 2 min to go', 'about 1.9 h to go')
    """
    if seconds < 50:
        return f"about {10 * max(1, -int(-seconds // 10))} s to go"
    if seconds < 5400:
        return f"about {max(1, round(seconds / 60))} min to go"
    return f"about {seconds / 3600:.1f} h to go"


class Progress:
    """What the chapters say while they run, with how many are done and how long the rest will take.

    Parameters
    ----------
    profile : str
        what is built; the times of finished chapters are kept for the next build of it.
    stale : list of str
        the chapters that will run.
    cores : int
        how many run side by side.
    after : float
        seconds for what comes after the chapters.
    clock : callable
        seconds that have passed; a test has its own.
    """

    def __init__(
        self, profile: str, stale: list[str], cores: int, after: float, clock: Callable[[], float] = time.monotonic
    ):
        every = expected(profile)
        self.profile, self.cores, self.after, self.clock = profile, cores, after, clock
        self.waiting = {chapter: every[chapter] for chapter in sorted(stale, key=lambda c: -every[c])}
        self.running: dict[str, tuple[float, float]] = {}  # chapter → seconds expected, time of its start
        self.total = len(stale)
        self.taken = self.foreseen = 0.0  # of the chapters that are done: seconds, and what was expected

    def line(self, text: str) -> str:
        """A line as it is shown; a chapter's last one says how far the build is."""
        if started := STARTED.fullmatch(text):
            chapter = started[1]
            self.running[chapter] = (self.waiting.pop(chapter, 0.0), self.clock())
        elif (done := DONE.fullmatch(text)) and done[1] in self.running:
            chapter, seconds = done[1], float(done[2])
            self.foreseen += self.running.pop(chapter)[0]
            self.taken += seconds
            self._remember(chapter, seconds)
            finished = self.total - len(self.waiting) - len(self.running)
            text = f"[{finished}/{self.total}] {chapter}: done in {seconds:.0f} s"
            left = self.left()
            text += f", {in_words(left)}" if left else ""
        return text

    def left(self) -> float:
        """Seconds until the last chapter and what comes after it, if the rest is as fast as what is done."""
        pace = min(max(self.taken / self.foreseen, 0.1), 10.0) if self.foreseen else 1.0
        now = self.clock()
        free = [max(pace * seconds - (now - start), 0.0) for seconds, start in self.running.values()]
        free += [0.0] * (self.cores - len(free))
        heapq.heapify(free)
        for seconds in self.waiting.values():
            heapq.heappush(free, heapq.heappop(free) + pace * seconds)
        return max(free) + self.after

    def _remember(self, chapter: str, seconds: float) -> None:
        path = _memory(self.profile)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(_last(self.profile) | {chapter: seconds}, indent=1) + "\n", encoding="utf-8")
