"""Failed and killed builds: nothing half-written reaches the book, what was finished is kept, the cause is named."""

import os
import signal
import subprocess
import time

import nbformat
import pytest

FIRST, SECOND = "01_first", "02_second"


def test_a_wrong_verdict_fails_the_run_and_keeps_the_notebook_aside(toy):
    toy.built()
    toy.edit("lmc_helpers/gamma.py", "return 1", "return 3")
    outcome = toy.build()
    assert outcome.returncode == 1
    assert f"{FIRST} failed: Contradiction: A1.value: computed 'fails', the ledger expects 'holds'" in outcome.stderr
    kept = toy.path(f"build/failed/smoke/{FIRST}.ipynb")
    assert str(kept) in outcome.stderr and kept.exists()
    assert not toy.executed(FIRST).exists() and toy.executed(SECOND).exists()
    assert list(toy.path("build/running").rglob("*.ipynb")) == []

    toy.edit("lmc_helpers/gamma.py", "return 3", "return 1")
    assert toy.ran(toy.build()) == [FIRST]


def test_a_killed_build_resumes(toy):
    toy.set_parameters("smoke", first={}, second={"seconds": 300.0})
    with toy.path("said").open("w") as said:
        build = subprocess.Popen(
            toy.command("book.tools.build", "--profile", "smoke", "--target", "executed", "--cores", "2"),
            cwd=toy.where,
            env=toy.environment,
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    deadline = time.monotonic() + 120
    running = toy.path("build/running/smoke")
    while not (toy.executed(FIRST).exists() and list(running.glob(f"{SECOND}*"))):
        assert build.poll() is None and time.monotonic() < deadline, toy.path("said").read_text()
        time.sleep(0.1)
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert not toy.executed(SECOND).exists()
    before = toy.executed(FIRST).stat().st_mtime_ns

    toy.set_parameters("smoke", first={}, second={})
    outcome = toy.build()
    assert outcome.returncode == 0, outcome.stderr
    assert toy.ran(outcome) == [SECOND]
    assert toy.executed(FIRST).stat().st_mtime_ns == before
    nbformat.validate(nbformat.read(toy.executed(SECOND), as_version=4))


def test_an_unchecked_part_is_an_error(toy):
    toy.built()
    toy.edit("book/claims/B.yml", "B1:", "B2:")
    outcome = toy.run("book.tools.assemble", "--profile", "smoke", "--out", "build/book")
    assert outcome.returncode == 1
    assert "error: B2.value stands in the ledger as 'holds', but no chapter checks it" in outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("first", "-p", "sise", "3"),
            "unknown parameter 'sise' = 3 (did you mean 'size'?); allowed: size (integer in",
        ),
        (("first", "-p", "size", "3.5"), "parameter size = 3.5 (float) is not allowed; allowed: integer in [1, 9]"),
        (("first", "-p", "size", "three"), "parameter size = 'three' (str) is not allowed"),
        (("01_first", "-p", "size", "10"), "parameter size = 10 (int) is not allowed; allowed: integer in [1, 9]"),
        (("third",), "chapter 'third' does not exist; allowed: first, second"),
        (("first", "--profile", "large"), "profile 'large' does not exist; allowed: laptop, smoke"),
    ],
)
def test_bad_parameters_from_the_command_line(toy, arguments, message):
    outcome = toy.run("book.tools.execute", *arguments)
    assert outcome.returncode == 1 and message in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not list(toy.path("build").glob("chapters/*"))


def test_a_good_parameter_from_the_command_line(toy):
    outcome = toy.run("book.tools.execute", "first", "-p", "size", "5")
    assert outcome.returncode == 0, outcome.stderr
    assert "A1.value" in outcome.stdout and "holds" in outcome.stdout
    notebook = nbformat.read(toy.path("build/chapters/01_first.ipynb"), as_version=4)
    assert notebook.metadata["lmc"]["parameters"] == {"profile": "laptop", "size": 5}
    assert str(toy.where) not in nbformat.writes(notebook)


def test_bad_parameters_from_a_profile(toy):
    toy.set_parameters("smoke", first={"sizes": 3}, second={})
    outcome = toy.build()
    assert outcome.returncode == 1 and "unknown parameter 'sizes' = 3 (did you mean 'size'?)" in outcome.stderr
    toy.set_parameters("smoke", first={}, second={}, third={})
    assert "profile 'smoke' names chapters that do not exist: third" in toy.build().stderr
    toy.set_parameters("smoke", first={})
    assert "profile 'smoke' has no entry for chapter 'second'" in toy.build().stderr
    toy.set_parameters("smoke", first={}, second={})
    assert "profile 'big' does not exist; allowed: laptop, smoke" in toy.build("big").stderr


def test_bad_parameters_through_the_plain_pipe(toy):
    pipe = "jupytext --from py:percent --to ipynb < notebooks/01_first.py | papermill - out.ipynb -p size 3 -p sise 4"
    bin = os.path.dirname(toy.command()[0])
    environment = toy.environment | {"PATH": bin + os.pathsep + os.environ["PATH"]}
    run = subprocess.run(
        ["bash", "-o", "pipefail", "-c", pipe], cwd=toy.where, env=environment, capture_output=True, text=True
    )
    assert run.returncode != 0 and "unknown parameter 'sise' = 4 (did you mean 'size'?)" in run.stderr
