"""No git, a folder with blanks and umlauts, LC_ALL=C, umask 077, no HOME: the book builds all the same."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from small_book import FIRST, SECOND

pytestmark = pytest.mark.slow
BUILD = ("-m", "book", "build", "--profile", "smoke", "--target", "executed", "--cores", "1")


@pytest.fixture
def odd(built, tmp_path_factory) -> Path:
    """The small book, built and moved to a folder whose name is no ASCII word."""
    where = tmp_path_factory.mktemp("räume und so") / "ein (zwei) 'drei' & 100%"
    built.where.rename(where)
    return where


@pytest.fixture
def bare(tmp_path_factory) -> dict[str, str]:
    """An environment that holds only the locale C and a PATH on which there are shells and hardly more: no git."""
    tools = tmp_path_factory.mktemp("tools")
    for name in ("sh", "bash", "which", "env"):
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    return {"PATH": str(tools), "LC_ALL": "C"}


def run(where: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess:
    """Python's arguments there, with umask 077."""
    command = [sys.executable, *arguments]
    out = {"capture_output": True, "encoding": "utf-8", "timeout": 300}
    return subprocess.run(command, cwd=where, env=environment, umask=0o077, **out)


def test_chapters_are_executed(odd, bare):
    (odd / "build" / "executed" / "smoke" / f"{SECOND}.ipynb").unlink()
    done = run(odd, bare, *BUILD)
    assert done.returncode == 0 and f"{SECOND}: running" in done.stdout, done.stdout + done.stderr
    made = odd / "build" / "executed" / "smoke"
    assert sorted(path.stem for path in made.glob("*.ipynb")) == [FIRST, SECOND]
    again = run(odd, bare, *BUILD)
    assert again.returncode == 0 and ": running" not in again.stdout


def test_a_confirmatory_run_says_that_it_needs_git(odd, bare):
    done = run(odd, bare, "-m", "book", "confirm", "--profile", "smoke")
    assert done.returncode == 1
    assert done.stderr.startswith("error: git is not installed") and "Traceback" not in done.stderr
