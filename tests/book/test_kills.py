"""Ctrl-C, SIGTERM and kill -9 at every stage: one line, no process lives on, nothing is left that no build takes up."""

import os
import re
import signal
import subprocess
import sys
import time

import nbformat
import psutil
import pytest
from killing import KEPT, Started
from small_book import FIRST, SECOND, STUB

from book.tools.running import workers

INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
FAKE = """
import pathlib, subprocess, sys, time
at = pathlib.Path(sys.argv[sys.argv.index("--path-output") + 1], "_build", "html")
at.mkdir(parents=True)
if pathlib.Path("build/wait-pages").exists():
    pathlib.Path("build/at-pages").touch()
    subprocess.run([sys.executable, "-c", "import time; time.sleep(300)"], start_new_session=True)
(at / "index.html").write_text("whole")
"""
WAIT = """
import pathlib
if pathlib.Path("build/wait-{stage}").exists():
    pathlib.Path("build/at-{stage}").touch()
    time.sleep(300)
"""


@pytest.fixture
def stages(toy):
    """The small book, with training, pages that a small program makes, and a place to wait in every stage."""
    toy.path("lmc_helpers/toys.py").write_text(
        STUB.replace(
            "def runs(size, seconds, wants=False):", "def runs(size, seconds, wants=False):\n    wait()"
        ).replace("            for step in", "            wait_training()\n            for step in")
        + "\ndef wait():"
        + WAIT.format(stage="listing").replace("\n", "\n    ")
        + "\ndef wait_training():"
        + WAIT.format(stage="training").replace("\n", "\n    ")
    )
    toy.edit(f"notebooks/{FIRST}.py", "name: python3}\n", "name: python3}\n#   lmc: {runs: lmc_helpers.toys.runs}\n")
    toy.edit(f"notebooks/{FIRST}.py", "import claims, ", "import claims, toys, ")
    toy.edit(
        f"notebooks/{FIRST}.py",
        "time.sleep(seconds)\n",
        "print([run.result() for run in toys.runs(size, 0.0)])\n" + WAIT.format(stage="chapter"),
    )
    toy.edit(
        "book/tools/assemble.py",
        "    stage(profile, staged)\n",
        "    records.Run(chapters.executed(profile)).records\n",
    )
    toy.edit("book/tools/assemble.py", 'str(Path(sys.executable).with_name("jupyter-book"))', '"fake-builder"')
    toy.edit("book/tools/assemble.py", '"fake-builder"', 'sys.executable, str(ROOT / "fake.py")')
    toy.edit(
        "book/tools/assemble.py",
        "    fresh.rename(out)\n",
        '    if (ROOT / "build" / "wait-swap").exists():\n        (ROOT / "build" / "at-swap").touch()\n'
        "        import time\n\n        time.sleep(300)\n    fresh.rename(out)\n",
    )
    toy.path("fake.py").write_text(FAKE)
    toy.edit("book/tools/check.py", "        wrong += _pages()\n", "        pass\n")  # it has no words of pages
    return toy


@pytest.fixture
def start():
    """Start a build of a small book; what lives on after the test is ended."""
    begun = []

    def begin(toy, *more: str, command: tuple[str, ...] = ("book.tools.build", "--cores", "2")) -> Started:
        begun.append(Started(toy.command(*command, "--profile", "smoke", *more), toy.where, toy.environment))
        return begun[-1]

    yield begin
    for build in begun:
        build.forget()


def whole(toy) -> None:
    """A build goes through, and nothing is left of those that did not."""
    outcome = toy.run("book.tools.build", "--profile", "smoke", "--cores", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    for chapter in (FIRST, SECOND):
        nbformat.validate(nbformat.read(toy.executed(chapter), as_version=4))
    assert toy.path("build/book/_build/html/.built").exists()
    left = [path for path in toy.path("build/running").rglob("*") if path.is_file()]
    left += [path for path in toy.path("build").rglob(".*") if path.name not in (".lock", ".built")]
    assert left == []


ALL = (INT, TERM, KILL)
LONG = pytest.mark.torture
FORKS = pytest.mark.skipif(not workers.possible(), reason="no stem on this system")
STAGES = [
    pytest.param("listing", (), (INT,), id="listing-some"),
    pytest.param("listing", (), ALL, id="listing", marks=LONG),
    pytest.param("training", (), (TERM, KILL), id="training-some"),
    pytest.param("training", (), ALL, id="training", marks=LONG),
    pytest.param("chapter", ("--stem",), ALL, id="forked", marks=FORKS),
    pytest.param("chapter", ("--no-stem",), (KILL,), id="chapter-some"),
    pytest.param("chapter", ("--no-stem",), ALL, id="chapter", marks=LONG),
    pytest.param("pages", (), (INT, KILL), id="pages-some"),
    pytest.param("pages", (), ALL, id="pages", marks=LONG),
    pytest.param("swap", (), ALL, id="swap", marks=LONG),
]


@pytest.mark.parametrize(("stage", "more", "numbers"), STAGES)
def test_a_build_is_stopped(stages, start, stage, more, numbers):
    at, wait = (stages.path(f"build/{what}-{stage}") for what in ("at", "wait"))
    wait.parent.mkdir()
    for number in numbers:
        wait.touch()
        build = start(stages, *more)
        build.until(at.exists)
        build.check(number)
        at.unlink()
        wait.unlink()
        if number != KILL:  # who is stopped tidies up; after a kill the next one does
            assert not list(stages.path("build/running").rglob("*.ipynb"))
            assert not stages.path("build/.stem").exists()
    whole(stages)


def test_a_build_is_stopped_before_it_has_done_anything(toy, start):
    for number in (INT, TERM):
        build = start(toy)
        build.until(build.watches)
        build.check(number)
    assert not toy.path("build/executed").exists()


def test_a_second_ctrl_c_waits_for_nothing(stages, start):
    stages.path("build").mkdir()
    stages.path("build/wait-chapter").touch()
    build = start(stages, "--no-stem")
    build.until(stages.path("build/at-chapter").exists)
    os.killpg(build.process.pid, INT)
    os.killpg(build.process.pid, INT)
    assert build.process.wait(10) == 130
    time.sleep(3)
    assert build.alive() == [] and build.errors.read_text() in (KEPT, "")


def test_a_chapter_alone_is_stopped(stages, start):
    stages.path("build").mkdir()
    stages.path("build/wait-chapter").touch()
    for number in (INT, TERM):
        alone = start(stages, command=("book.tools.execute", "first"))
        alone.until(stages.path("build/at-chapter").exists)
        assert alone.stop(number) == [] and alone.process.returncode == 128 + number
        assert alone.errors.read_text() == "stopped; nothing half-done is left\n"
        assert not list(stages.path("build/running").rglob("*.ipynb"))
        stages.path("build/at-chapter").unlink()


def test_a_book_that_stands_stays_until_the_next_one_is_whole(stages, start):
    whole(stages)
    index = stages.path("build/book/index.html")
    stages.path("build/book/old").touch()
    stages.edit("_toc.yml", "root:", "# edited\nroot:")
    stages.path("build/wait-pages").touch()
    build = start(stages)
    build.until(stages.path("build/at-pages").exists)
    build.check(KILL)
    assert stages.path("build/book/old").exists() and stages.path("build/.book-new").exists()
    stages.path("build/wait-pages").unlink()
    stages.path("build/at-pages").unlink()
    whole(stages)
    assert not stages.path("build/book/old").exists() and not index.exists()


def test_the_lock_lasts_until_the_last_process_has_gone(stages, start):
    """Two builds at once: the second waits, and says for whom; also when the first one is killed meanwhile."""
    stages.path("build").mkdir()
    stages.path("build/wait-chapter").touch()
    first = start(stages)
    first.until(stages.path("build/at-chapter").exists)
    second = start(stages)
    second.until(lambda: "waiting" in second.said.read_text())
    said = second.said.read_text()
    assert re.fullmatch(
        rf"waiting for another build in this folder to end \(process {first.process.pid}, since \d\d:\d\d\) ...\n", said
    )
    stages.path("build/wait-chapter").unlink()
    assert first.stop(KILL) == []
    assert second.process.wait(120) == 0, second.errors.read_text()
    assert stages.executed(FIRST).exists() and re.search(rf"\] {FIRST}: done in", second.said.read_text())
    third, fourth = start(stages), start(stages, "--out", "build/other")
    assert third.process.wait(120) == fourth.process.wait(120) == 0
    assert stages.path("build/other/_build/html/.built").exists()
    assert "running at" not in third.said.read_text() + fourth.said.read_text()


def test_what_somebody_writes_now_stays(tmp_path, monkeypatch):
    from book.tools.base import leftovers

    monkeypatch.setattr(leftovers, "ROOT", tmp_path)
    monkeypatch.setattr(leftovers, "RUNNING", tmp_path / "build" / "running")
    monkeypatch.setattr(leftovers, "KERNELS", tmp_path / "build" / "running" / "jupyter")
    runs, digest, other = tmp_path / "runs", "0123456789abcdef", "fedcba9876543210"
    old = tmp_path / "build" / "running" / "smoke" / "01_first-1.ipynb"
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    gone = [
        old,
        runs / f".{digest}.npz.17",
        runs / f"..{digest}.checkpoint.npz.17",
        runs / f".{digest}.lock",
        tmp_path / "build" / f".parsed.json-{dead.pid}",
        tmp_path / "build" / ".book-new" / "index.html",
        tmp_path / "build" / ".book-old" / "index.html",
    ]
    stay = [
        runs / f"{digest}.npz",
        runs / f".{digest}.checkpoint.npz",
        runs / f".{other}.lock",
        runs / f"..{other}.checkpoint.npz.17",
        tmp_path / "build" / f".parsed.json-{os.getpid()}",
        tmp_path / "build" / ".lock",
    ]
    for path in gone + stay:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for path in (tmp_path / "build").glob(".parsed*"):
        os.utime(path, (0, 0))
    hold = "import fcntl, sys; f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX); print(flush=True); input()"
    command = [sys.executable, "-c", hold, str(runs / f".{other}.lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        with leftovers.running("smoke", "02_second") as mine:
            leftovers.clear(tmp_path / "build" / "book", runs)
            assert mine.exists()
            assert [path for path in gone if path.exists()] == []
            assert [path for path in stay if not path.exists()] == []
        assert not mine.exists()
        holder.stdin.close()


def test_who_supervises_lets_no_one_go(tmp_path, root):
    """A process that forks twice into sessions of its own, and ignores every signal that can be ignored."""
    script = tmp_path / "away.py"
    script.write_text(
        "import os, signal, time\n"
        "for number in (1, 2, 15): signal.signal(number, signal.SIG_IGN)\n"
        "for _ in range(2):\n    if os.fork(): os._exit(0)\n    os.setsid()\n"
        "open('pid', 'w').write(str(os.getpid()))\ntime.sleep(300)\n"
    )
    parent = f"import subprocess, time; subprocess.run(['{sys.executable}', '{script}']); time.sleep(300)"
    command = [sys.executable, "-c", parent]
    pid = tmp_path / "pid"
    guard = subprocess.Popen(
        [sys.executable, "-m", "book.tools.base.supervise", "0", *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not (pid.exists() and pid.read_text()):
        assert time.monotonic() < deadline and guard.poll() is None
        time.sleep(0.02)
    guard.stdin.close()
    assert guard.wait(20) == 137
    assert not psutil.pid_exists(int(pid.read_text()))


@pytest.mark.parametrize(("code", "status"), [("raise SystemExit(3)", 3), ("import os; os.kill(os.getpid(), 9)", 137)])
def test_who_supervises_tells_how_it_ended(root, code, status):
    command = [sys.executable, "-m", "book.tools.base.supervise", "0", sys.executable, "-c", code]
    with subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE) as guard:
        assert guard.wait(60) == status
