"""How far a build is, with a clock of the test's own."""

import json

import pytest

from book.tools.run import progress
from book.tools.run.progress import Progress

BUDGETS = {"11_a": 10.0, "12_b": 40.0, "13_c": 20.0, "14_d": 20.0}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Make the progress of a build; its clock."""
    monkeypatch.setattr(progress, "ROOT", tmp_path)
    monkeypatch.setattr(progress, "chapters", lambda: list(BUDGETS))
    for name, value in (("BELOW", 1.0), ("START", 0.0), ("PRIOR", 1e-9)):
        monkeypatch.setattr(progress, name, value)
    settings = type("Settings", (), {})

    def of(chapter, profile):
        settings.budget_s = BUDGETS[chapter]
        return settings

    monkeypatch.setattr(progress.profiles, "settings", of)
    clock = Clock()
    return lambda stale, cores=2, after=0.0, **more: (Progress("smoke", stale, cores, after, clock, **more), clock)


def test_a_build_counts_and_foresees(made):
    shown, clock = made(list(BUDGETS))
    assert list(shown.waiting) == ["12_b", "13_c", "14_d", "11_a"]
    assert shown.left() == 45  # 40 + 10 + 20 + 20 on two cores
    assert shown.line("12_b: running at smoke") == "12_b: running at smoke"
    shown.line("13_c: running at smoke")
    clock.now = 10.0
    assert shown.line("13_c: done in 10.0 s") == "[1/4] 13_c: done in 10 s, about 20 s to go"  # twice as fast
    shown.line("14_d: running at smoke")
    clock.now = 20.0
    assert shown.line("12_b: done in 20.0 s").startswith("[2/4] 12_b: done in 20 s")
    assert shown.line("14_d: done in 10.0 s") == "[3/4] 14_d: done in 10 s, about 10 s to go"
    shown.line("11_a: running at smoke")
    assert shown.line("11_a: done in 5.0 s") == "[4/4] 11_a: done in 5 s"
    assert shown.line("pages: building") == "pages: building"


def test_what_comes_after_is_waited_for(made):
    shown, _ = made(["11_a"], after=30.0)
    shown.line("11_a: running at smoke")
    assert shown.line("11_a: done in 5.0 s") == "[1/1] 11_a: done in 5 s, about 30 s to go"


def test_runs_come_first_and_are_counted_by_themselves(made, tmp_path):
    shown, clock = made(["11_a"], cores=1, runs={"ab": ("a toy", 20.0), "cd": ("another", 60.0)})
    assert list(shown.waiting) == ["run cd", "run ab", "11_a"] and shown.left() == 90
    assert shown.line("run cd: training another × 2") == "run cd: training another × 2"
    clock.now = 30.0
    assert shown.line("run cd: done in 30.0 s") == "run 1/2: another, done in 30 s, about 20 s to go"  # 10 + 5
    shown.line("run ab: training a toy")
    assert shown.line("run ab: done in 10.0 s") == "run 2/2: a toy, done in 10 s, about 10 s to go"
    shown.line("11_a: running at smoke")
    assert shown.line("11_a: done in 9.0 s") == "[1/1] 11_a: done in 9 s"
    assert json.loads((tmp_path / "build/times/smoke.json").read_text()) == {"11_a": 9.0}


def test_the_last_times_are_kept(made, tmp_path):
    shown, _ = made(["11_a"])
    shown.line("11_a: running at smoke")
    shown.line("11_a: done in 30.0 s")
    assert json.loads((tmp_path / "build/times/smoke.json").read_text()) == {"11_a": 30.0}
    assert progress.expected("smoke") == {"11_a": 30, "12_b": 120, "13_c": 60, "14_d": 60}  # budgets, scaled
    assert progress.expected("laptop") == BUDGETS
    (tmp_path / "build/times/smoke.json").write_text("{half")
    assert progress.expected("smoke") == BUDGETS


def carried_out(shown, clock, seconds, cores: int) -> list[tuple[float, float]]:
    """Let jobs run in the order in which they wait; the time left as it is foreseen, and the true one, at each end."""
    queue, free, ends, seen = list(shown.waiting), cores, [], []
    while queue or ends:
        while queue and free:
            name, free = queue.pop(0), free - 1
            ends.append((clock.now + seconds[name], name))
            clock.now += 0.1  # until it says that it begins
            shown.line(f"{name}: " + ("training it" if name.startswith("run ") else "running at laptop"))
        end, name = min(ends)
        ends.remove((end, name))
        clock.now, free = max(clock.now, end), free + 1
        shown.line(f"{name}: done in {seconds[name]} s")
        seen.append((shown.left(), clock.now))
    return [(left, clock.now - at) for left, at in seen if at > 60]


@pytest.mark.parametrize(
    ("cores", "runs", "chapters"), [(2, 1, 1), (2, 1.2, 1), (2, 1, 0.9), (2, 2, 2), (2, 0.6, 0.6), (4, 1, 1)]
)
def test_the_time_left_is_within_a_quarter_from_the_first_minute_on(monkeypatch, tmp_path, cores, runs, chapters):
    """A build at laptop on a machine that is as slow for runs, and for chapters, as the numbers say."""
    monkeypatch.setattr(progress, "_memory", lambda profile: tmp_path / "none")
    known = progress.expected("laptop")
    prices = {f"{digest:02x}": ("a toy", 1.0 + digest % 3) for digest in range(57)}
    clock = Clock()
    shown = Progress("laptop", list(known), cores, 0.0, clock, prices)
    uneven = [0.8, 1.3, 1.0, 0.9, 1.2]
    true = {name: chapters * s * uneven[n % 5] for n, (name, s) in enumerate(known.items())}
    true |= {f"run {digest}": runs * (1 + s) * uneven[n % 5] for n, (digest, (_, s)) in enumerate(prices.items())}
    seen = carried_out(shown, clock, true, cores)
    assert len(seen) > 30
    for left, truth in seen:
        assert abs(left - truth) <= 0.25 * truth + 30, (left, truth, clock.now)
