"""Build progress: past durations, order, estimated time left.

Runs and chapters print one line when they start and another when they are done; both are read here.
"""

import contextlib
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from book.tools.read import profiles, sources
from book.tools.read.chapters import ROOT, chapters
from book.tools.run import variants

STARTED = re.compile(r"((?:run )?[\w.@]+): (?:running at \w+|training .+)")
DONE = re.compile(r"((?:run )?[\w.@]+): done in ([\d.]+) s")
RUN = "run "  # what the lines of training runs begin with
KINDS = (RUN, "")  # runs and chapters
BELOW = 0.8  # of a budget, which is an upper bound
START = 1.0  # seconds that a run takes in addition to training
PRIOR = 30.0  # seconds that count as done: of everything as on the reference machine, of a kind as everything


def _memory(profile: str) -> Path:
    return ROOT / "build" / "times" / f"{profile}.json"


def _times(path: Path) -> dict[str, float]:
    found = sources.read(path)
    return {chapter: s for chapter, s in found.items() if isinstance(s, (int, float)) and 0 < s < float("inf")}


def expected(profile: str) -> dict[str, float]:
    """Chapter → expected seconds: its last time here; else that of the reference machine; else a part of its budget.

    Chapters with better known times scale the others. The reference machine's seconds are a copy of its
    ``build/times``.
    """
    found = {chapter: BELOW * profiles.settings(chapter, profile).budget_s for chapter in chapters()}
    for path in (ROOT / "notebooks" / "profiles" / f"{profile}.seconds.json", _memory(profile)):
        better = _times(path)
        known = [chapter for chapter in found if chapter in better]
        scale = sum(better[c] for c in known) / sum(found[c] for c in known) if known else 1.0
        found = {chapter: better.get(chapter, scale * seconds) for chapter, seconds in found.items()}
    return found


def in_words(seconds: float) -> str:
    """A time to wait for, rounded.

    >>> [in_words(seconds) for seconds in (0, 11, 49, 60, 9000)]
    ['about 10 s to go', 'about 20 s to go', 'about 50 s to go', 'about 1 min to go', 'about 2.5 h to go']
    """
    if seconds < 50:
        return f"about {10 * max(1, -int(-seconds // 10))} s to go"
    if seconds < 5400:
        return f"about {max(1, round(seconds / 60))} min to go"
    return f"about {seconds / 3600:.1f} h to go"


class Progress:
    """Messages of runs and chapters, with how many are done and how long the rest will take.

    ``stale`` has the titles of chapters (``book/tools/run/variants.py``), ``runs`` the titles and seconds of
    training runs by their digests; ``after`` is the time for what comes after them. The times of finished chapters are
    kept for the next build of the profile.
    """

    def __init__(
        self,
        profile: str,
        stale: list[str],
        cores: int,
        after: float,
        clock: Callable[[], float] = time.monotonic,
        runs: Mapping[str, tuple[str, float]] | None = None,
    ):
        every = expected(profile)
        self.profile, self.cores, self.after, self.clock = profile, cores, after, clock
        self.titles = {RUN + digest: title for digest, (title, _) in (runs or {}).items()}
        trained = {RUN + digest: START + seconds for digest, (_, seconds) in (runs or {}).items()}
        of_chapters = {title: every[variants.chapter(title)] for title in stale}
        self.waiting = _longest_first(trained) | _longest_first(of_chapters)  # in the order in which they start
        self.running: dict[str, tuple[float, float]] = {}  # name → seconds expected, time of its start
        self.total = {kind: sum(_kind(name) == kind for name in self.waiting) for kind in KINDS}
        self.freed: list[float] = []  # when cores ended what they did; the next one starts there
        self.taken, self.foreseen = dict.fromkeys(KINDS, 0.0), dict.fromkeys(KINDS, 0.0)  # seconds of what is done

    def line(self, text: str) -> str:
        """A line as it is shown; the last one of a run or chapter includes the progress of the build."""
        if started := STARTED.fullmatch(text):
            name = started[1]
            self.running[name] = (self.waiting.pop(name, 0.0), self.freed.pop(0) if self.freed else self.clock())
        elif (done := DONE.fullmatch(text)) and done[1] in self.running:
            name, seconds = done[1], float(done[2])
            kind, now = _kind(name), self.clock()
            foreseen, start = self.running.pop(name)
            self.foreseen[kind] += foreseen
            self.taken[kind] += now - start
            self.freed.append(now)
            open_ones = sum(_kind(other) == kind for other in (*self.waiting, *self.running))
            count = f"{self.total[kind] - open_ones}/{self.total[kind]}"
            if kind == RUN:
                text = f"run {count}: {self.titles.get(name, name)}, done in {seconds:.0f} s"
            else:
                self._remember(variants.chapter(name), seconds)
                text = f"[{count}] {name}: done in {seconds:.0f} s"
            left = self.left()
            text += f", {in_words(left)}" if left else ""
        return text

    def left(self) -> float:
        """Seconds until everything is done: runs at the pace of runs, chapters at that of chapters."""
        every = (PRIOR + sum(self.taken.values())) / (PRIOR + sum(self.foreseen.values()))
        pace = {kind: (PRIOR * every + self.taken[kind]) / (PRIOR + self.foreseen[kind]) for kind in KINDS}
        now = self.clock()
        left = [max(pace[_kind(name)] * s - (now - start), 0.0) for name, (s, start) in self.running.items()]
        left += [pace[_kind(name)] * s for name, s in self.waiting.items()]
        return max(max(left, default=0.0), sum(left) / self.cores) + self.after

    def _remember(self, chapter: str, seconds: float) -> None:
        with contextlib.suppress(OSError):  # a full disk is reported by those who need it
            sources.write(_memory(self.profile), _times(_memory(self.profile)) | {chapter: max(seconds, 0.1)})


def _kind(name: str) -> str:
    return RUN if name.startswith(RUN) else ""


def _longest_first(seconds: dict[str, float]) -> dict[str, float]:
    return dict(sorted(seconds.items(), key=lambda item: -item[1]))
