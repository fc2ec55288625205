"""The command line, the kernel and the locale: one sentence where they are odd, and the same book where they may be."""

import json
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


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            [("size", "[1, 2")],
            "error: parameter size = '[1, 2': did not find expected ',' or ']'; allowed:",
        ),
        ([("size", "!!python/object:x")], "parameter size = '!!python/object:x': could not determine"),
        ([("size", "a: b: c")], "parameter size = 'a: b: c': mapping values are not allowed"),
        (
            [("size", "a: b")],
            "parameter size = 'a: b' is not allowed; allowed: a number, a word, true, false, or a list",
        ),
        ([("size", "1:30")], "parameter size = '1:30': 1:30 would be read as 90; allowed: 90"),
        ([("size", "2020-01-01")], "parameter size = '2020-01-01' is not allowed; allowed: a number"),
        ([("size", "")], "parameter size = None (NoneType) is not allowed; allowed: integer in [1, 9]"),
        ([("size", "nan")], "parameter size = nan (float) is not allowed; allowed: integer in [1, 9]"),
        ([("size", "3"), ("size", "4")], "parameter 'size' is given twice"),
        ([("si ze", "3")], "unknown parameter 'si ze' = 3 (did you mean 'size'?); allowed: size (integer in [1, 9])"),
    ],
)
def test_parameters_that_are_refused_before_anything_runs(toy, given, says):
    arguments = [word for name, value in given for word in ("-p", name, value)]
    outcome = toy.run("book.tools.execute", "first", *arguments)
    assert says in refused(outcome) and "running at" not in outcome.stdout


def test_a_build_begins_with_the_check(toy):
    toy.edit("notebooks/profiles/smoke.yaml", "parameters: {}", "parameters: {size: 10}")
    toy.edit("book/claims/A.yml", "equals: 1", "at_most: 10")
    said = refused(toy.build())
    assert "error: A.yml, line" in said and "also accepts its rival (9)" in said
    assert "error: smoke.yaml, line" in said and "first: parameter size = 10 (int) is not allowed" in said
    assert not toy.path("build/stamps").exists()


def killed(toy, how: str, *more: str) -> str:
    toy.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)\n", f"import os, signal\nheld = b'x' * (300 << 20)\n{how}\n")
    outcome = toy.build("smoke", *more)
    assert toy.executed(SECOND).exists() and not toy.executed(FIRST).exists()
    return refused(outcome)


@pytest.mark.parametrize("stem", ["--stem", "--no-stem"])
def test_a_kernel_that_is_killed_is_said_with_its_memory(toy, stem):
    said = killed(toy, "os.kill(os.getpid(), signal.SIGKILL)", stem)
    found = re.search(rf"{FIRST} failed: its kernel was killed \(SIGKILL\).*taken ([\d.]+) GiB of memory, of", said)
    assert found and 0.3 < float(found[1]) < 3
    assert "It ran code cell 4 of 5: " in said
    assert str(toy.path(f"build/failed/smoke/{FIRST}.ipynb")) in said


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "its kernel crashed (SIGSEGV); it had taken"),
        ("os._exit(3)", "its kernel ended by itself (exit status 3); it had taken"),
    ],
)
def test_a_kernel_that_ends_is_said(toy, how, says):
    assert f"{FIRST} failed: {says}" in killed(toy, how)


def test_a_foreign_kernelspec_is_not_taken(toy):
    folder = toy.path("foreign/kernels/python3")
    folder.mkdir(parents=True)
    spec = {"argv": ["/bin/false", "{connection_file}"], "display_name": "Python 3", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))
    toy.environment |= {"JUPYTER_PATH": str(toy.path("foreign")), "JUPYTER_PREFER_ENV_PATH": "0"}
    outcome = toy.build("smoke", "--no-stem")
    assert outcome.returncode == 0, outcome.stderr
    notebook = json.loads(toy.executed(FIRST).read_text())
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


@pytest.mark.parametrize("stem", ["--stem", "--no-stem"])
def test_start_up_files_of_the_user_are_not_run(toy, stem):
    startup = toy.path("home/.ipython/profile_default/startup")
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("print('started up')\nraise SystemExit\n")
    toy.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)\n", "time.sleep(seconds)\nprint('here')\n")
    toy.environment |= {"HOME": str(toy.path("home")), "IPYTHONDIR": str(toy.path("home/.ipython"))}
    outcome = toy.build("smoke", stem)
    assert outcome.returncode == 0, outcome.stderr
    text = toy.executed(FIRST).read_text(encoding="utf-8")
    assert '"here\\n"' in text and "started up" not in text


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_locale_without_utf_8(toy, encoding):
    """Python's own way out of the C locale is closed, so that the locale is what a Latin-1 one would be."""
    toy.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)\n", "time.sleep(seconds)\nprint('λ ≤ 10⁻³')\n")
    toy.edit("notebooks/profiles/smoke.yaml", "says: toy", "says: λ ≤ 10⁻³")
    toy.environment |= {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0", "PYTHONIOENCODING": encoding}
    outcome = toy.build()
    assert outcome.returncode == 0, outcome.stderr
    assert "λ ≤ 10⁻³" in toy.executed(FIRST).read_text(encoding="utf-8")
    toy.path("book/claims/A.yml").write_text("λ: 1\n", encoding="utf-8")
    assert "A.yml, line 1: " in refused(toy.build())


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
    assert (
        done.returncode == 2 and "error: papers.yml: cannot be read" in done.stderr and "Traceback" not in done.stderr
    )
