"""Command lines, a chapter's process and locales: one sentence where they are odd, the same book where they may be."""

import os
import re
import stat
import subprocess
import sys

import pytest
from small_book import FIRST, SECOND


def refused(outcome) -> str:
    """What a command said that failed, without a traceback."""
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert "Traceback" not in outcome.stdout + outcome.stderr
    return outcome.stderr


def killed(book, how: str, execute) -> str:
    """What is said of the first chapter, whose process ends so."""
    how = f"import os, signal\nheld = b'x' * (300 << 20)\n{how}\n"
    book.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)\n", how)
    said = refused(execute())
    assert book.executed(SECOND).exists() and not book.path(f"build/chapters/{FIRST}.ipynb").exists()
    return said


@pytest.mark.parametrize("stem", [pytest.param("--fork", marks=pytest.mark.slow), "--no-fork"])
def test_a_process_that_is_killed_is_said_with_its_memory(built, stem):
    said = killed(built, "os.kill(os.getpid(), signal.SIGKILL)", lambda: built.build("smoke", stem))
    found = re.search(rf"{FIRST} failed: its process was killed \(SIGKILL\).*taken ([\d.]+) GiB of memory, of", said)
    assert found and 0.3 < float(found[1]) < 3
    assert "It ran code cell 4 of 5: " in said
    assert str(built.path(f"build/failed/smoke/{FIRST}.ipynb")) in said and not built.executed(FIRST).exists()


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "its process crashed (SIGSEGV); it had taken"),
        ("os._exit(3)", "its process ended by itself (exit status 3); it had taken"),
    ],
)
def test_a_process_that_ends_is_said(built, how, says):
    assert f"{FIRST} failed: {says}" in killed(built, how, lambda: built.run("book", "execute", "first"))


@pytest.mark.parametrize("stem", [pytest.param(True, marks=pytest.mark.slow), False], ids=["stem", "no stem"])
def test_start_up_files_of_the_user_are_not_run(built, stem):
    startup = built.path("home/.ipython/profile_default/startup")
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("print('started up')\nraise SystemExit\n")
    built.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)\n", "time.sleep(seconds)\nprint('here')\n")
    built.environment |= {"HOME": str(built.path("home")), "IPYTHONDIR": str(built.path("home/.ipython"))}
    outcome = built.build("smoke", "--fork") if stem else built.run("book", "execute", "first")
    assert outcome.returncode == 0, outcome.stderr
    executed = built.executed(FIRST) if stem else built.path(f"build/chapters/{FIRST}.ipynb")
    text = executed.read_text(encoding="utf-8")
    assert '"here\\n"' in text and "started up" not in text


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_utf_8(built, encoding):
    """Python's own way out of the C locale is closed, so that the locale is what a Latin-1 one would be."""
    built.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)\n", "time.sleep(seconds)\nprint('λ ≤ 10⁻³')\n")
    built.edit("notebooks/profiles/smoke.yaml", "says: toy", "says: λ ≤ 10⁻³")
    built.interpreter = sys.executable
    built.environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    outcome = built.build()
    assert outcome.returncode == 0 and built.ran(outcome) == [FIRST], outcome.stderr
    assert "λ ≤ 10⁻³" in built.executed(FIRST).read_text(encoding="utf-8")
    built.path("book/claims/A.yml").write_text("λ: 1\n", encoding="utf-8")
    assert "A.yml, line 1: " in refused(built.build())


def test_make_check(toy, root):
    """The target runs the check of the folder that make runs in, and no other."""
    (toy.path(".venv") / "bin").mkdir(parents=True)
    (toy.path(".venv") / ".installed").touch()
    python = toy.path(".venv/bin/python")
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    os.utime(toy.path("requirements.lock"), (0, 0))
    toy.path("pyproject.toml").write_text("")
    os.utime(toy.path("pyproject.toml"), (0, 0))
    command = ["make", "--no-print-directory", "-f", str(root / "Makefile"), "check"]
    done = subprocess.run(command, cwd=toy.where, env=toy.environment, capture_output=True, text=True)
    assert done.returncode == 2 and "error: papers.yml: cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
