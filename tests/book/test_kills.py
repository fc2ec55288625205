"""Ctrl-C, SIGTERM and kill -9 at every stage: one line, no process lives on, nothing is left that no build takes up."""

import os
import signal
import sys
import time

import nbformat
import pytest
from killing import KEPT, NOTHING, Started
from small_book import FIRST, HEADER, SECOND, STUB, TORCH, complete

from book.tools.run import forkserver

INT, TERM, KILL = signal.SIGINT, signal.SIGTERM, signal.SIGKILL

#: Stages of the small book call this; it stops where the test wants to end the build.
WAIT = """
import pathlib, time

def wait(stage):
    if pathlib.Path(f"build/wait-{stage}").exists():
        pathlib.Path(f"build/at-{stage}").touch()
        time.sleep(300)
"""
#: Every Python of the small book reads this when it starts. Where pages are built, they are made from the executed
#: notebooks only, ``pages.py`` stands in for jupyter-book, and the new book may wait before it is moved.
PAGES = """
import sys

if any(word.endswith("assemble") for word in sys.orig_argv):
    import pathlib, subprocess, types

    from book.tools.render import findings
    from book.tools.render import pages, staging
    from waiting import wait

    def run(command, *, run=subprocess.run, **named):
        return run([sys.executable, "pages.py", *command[1:]] if "jupyter-book" in command[0] else command, **named)

    def rename(path, target, *, rename=pathlib.Path.rename):
        if path.name == ".book-new":
            wait("swap")
        return rename(path, target)

    findings.of, pages.write = lambda *_: types.SimpleNamespace(surprises=()), lambda *_: None
    staging.shown = lambda *_: staging.Shown()
    subprocess.run, pathlib.Path.rename = run, rename
"""
BUILDER = """
import pathlib, sys
from waiting import wait

at = pathlib.Path(sys.argv[sys.argv.index("--path-output") + 1], "_build", "html")
at.mkdir(parents=True)
wait("pages")
(at / "index.html").write_text("complete")
"""


@pytest.fixture
def stages(toy):
    """The small book, with training and pages that a small program makes; it can wait in every stage."""
    listing = "def runs(size, seconds, wants=False):\n"
    runs = STUB.replace(listing, listing + "    wait('listing')\n")
    runs = runs.replace("            for step in", "            wait('training')\n            for step in")
    texts = {"waiting.py": WAIT, "sitecustomize.py": PAGES, "pages.py": BUILDER, "torch.py": TORCH}
    texts["lmc_helpers/toys.py"] = "from waiting import wait\n" + runs
    for name, text in texts.items():
        toy.path(name).write_text(text)
    complete(toy.where)
    chapter = f"notebooks/{FIRST}.py"
    toy.edit(chapter, "name: python3}\n", "name: python3}\n" + HEADER)
    toy.edit(chapter, "import claims, ", "import claims, toys, ")
    waits = "from waiting import wait\nprint([run.result() for run in toys.runs(size, 0.0)])\nwait('chapter')\n"
    toy.edit(chapter, "time.sleep(seconds)\n", waits)
    toy.path("build").mkdir()
    toy.interpreter = sys.executable  # which reads sitecustomize.py
    return toy


@pytest.fixture
def start():
    """Start a build of a small book; processes that are left after the test are ended."""
    begun = []

    def begin(toy, *more: str, command: tuple[str, ...] = ("book", "build", "--cores", "2")) -> Started:
        begun.append(Started(toy.command(*command, "--profile", "smoke", *more), toy.where, toy.environment))
        return begun[-1]

    yield begin
    for build in begun:
        build.forget()


def next_build(toy) -> list[str]:
    """A build goes through, and nothing is left of those that did not; the chapters that it executed."""
    outcome = toy.run("book", "build", "--profile", "smoke", "--cores", "2")
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    for chapter in (FIRST, SECOND):
        nbformat.validate(nbformat.read(toy.executed(chapter), as_version=4))
    assert toy.path("build/book/_build/html/.built").exists()
    left = [path for path in toy.path("build").rglob(".*") if path.name not in (".lock", ".built")]
    assert left == []
    return toy.ran(outcome)


def stop_at(toy, stage: str, start, numbers, *more: str, **command) -> None:
    """Stop builds, or another command, at a stage, one after the other."""
    at, wait = (toy.path(f"build/{what}-{stage}") for what in ("at", "wait"))
    wait.touch()
    for number in numbers:
        build = start(toy, *more, **command)
        build.until(at.exists if stage != "start" else build.watches)
        build.check(number, *([NOTHING] if command else []))
        at.unlink(missing_ok=True)
        if number != KILL:  # who is stopped tidies up; after a kill the next one does
            assert not list(toy.path("build").rglob(".*.ipynb")) and not toy.path("build/.forkserver").exists()
    wait.unlink()


def test_a_build_is_stopped_and_another_one_that_waits_takes_over(stages, start):
    """The second one says that it waits; the first one is killed, the second one stopped."""
    at = stages.path("build/at-chapter")
    stages.path("build/wait-chapter").touch()
    first = start(stages)
    first.until(lambda: at.exists() and stages.executed(SECOND).exists())
    second = start(stages)
    second.until(lambda: second.said.read_text().endswith("\n"))
    assert second.said.read_text() == "waiting for another build in this folder to end ...\n"
    at.unlink()
    first.check(KILL)
    second.until(at.exists)
    second.check(INT)
    assert not list(stages.path("build").rglob(".*.ipynb")) and not stages.executed(FIRST).exists()
    at.unlink()
    stages.path("build/wait-chapter").unlink()
    assert next_build(stages) == [FIRST]  # the second one was finished before
    assert stages.path("build/trained").read_text().count("from 0") == 2  # and both of the runs


ALL = (INT, TERM, KILL)
FORKS = pytest.mark.skipif(not forkserver.possible(), reason="this system cannot fork")
EXECUTE = {"command": ("book", "execute", "first")}
#: Nightly: at which stage, by which signals, and what is stopped there.
STOPS = [
    ("start", (INT, TERM), (), {}),
    *((stage, ALL, (), {}) for stage in ("listing", "training", "pages", "swap")),
    pytest.param("chapter", ALL, ("--fork",), {}, marks=FORKS),
    ("chapter", (INT, TERM), (), EXECUTE),
]


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "numbers", "more", "command"), STOPS)
def test_what_is_stopped_at_every_stage_leaves_nothing(stages, start, stage, numbers, more, command):
    if more:
        stages.path("torch.py").unlink()  # the process that chapters are forked from imports the real one
    stop_at(stages, stage, start, numbers, *more, **command)
    assert stage != "start" or not stages.path("build/executed").exists()
    next_build(stages)


@pytest.mark.slow
def test_a_second_ctrl_c_waits_for_nothing(stages, start):
    stages.path("build/wait-chapter").touch()
    build = start(stages, "--no-fork")
    build.until(stages.path("build/at-chapter").exists)
    os.killpg(build.process.pid, INT)
    os.killpg(build.process.pid, INT)
    assert build.process.wait(10) == 130
    time.sleep(3)
    assert build.alive() == [] and build.errors.read_text() in (KEPT, "")


@pytest.mark.slow
def test_a_book_that_stands_stays_until_the_next_one_is_whole(stages, start):
    next_build(stages)
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
    next_build(stages)
    assert not stages.path("build/book/old").exists() and not index.exists()


@pytest.mark.slow
def test_builds_that_wait_find_what_the_others_have_finished(stages, start):
    next_build(stages)
    both = start(stages), start(stages, "--out", "build/other")
    assert [build.process.wait(120) for build in both] == [0, 0]
    assert stages.path("build/other/_build/html/.built").exists()
    assert "running at" not in "".join(build.said.read_text() for build in both)
