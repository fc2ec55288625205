"""Failed builds: nothing half-written reaches the book, what was finished is kept, the cause is named."""

import os
import re
import subprocess

import nbformat
from small_book import FIRST, SECOND


def test_an_unchecked_part_is_an_error_and_a_wrong_verdict_keeps_the_notebook_aside(built):
    built.edit("book/claims/B.yml", "B1:", "B2:")
    outcome = built.run("book", "assemble", "--profile", "smoke", "--out", "build/book")
    assert outcome.returncode == 1
    assert "error: B2.value is in the ledger as 'holds', but no chapter checks it" in outcome.stderr
    built.edit("book/claims/B.yml", "B2:", "B1:")
    built.edit("lmc_helpers/gamma.py", "return 1", "return 3")
    outcome = built.build()
    assert outcome.returncode == 1
    assert f"{FIRST} failed: Contradiction: A1.value: computed 'fails', the ledger expects 'holds'" in outcome.stderr
    kept = built.path(f"build/failed/smoke/{FIRST}.ipynb")
    assert str(kept) in outcome.stderr and kept.exists()
    assert not built.executed(FIRST).exists() and built.executed(SECOND).exists()
    assert list(built.path("build/executed").rglob(".*.ipynb")) == []

    built.edit("lmc_helpers/gamma.py", "return 3", "return 1")
    assert built.stale() == [FIRST]


#: Arguments of the command that executes one chapter, and what it says to them.
REFUSED = [
    (("first", "-p", "sise", "3"), "unknown parameter 'sise' = 3 (did you mean 'size'?); allowed: size (integer in"),
    (("first", "-p", "size", "3.5"), "parameter size = 3.5 (float) is not allowed; allowed: integer in [1, 9]"),
    (("first", "-p", "size", "three"), "parameter size = 'three' (str) is not allowed"),
    (("01_first", "-p", "size", "10"), "parameter size = 10 (int) is not allowed; allowed: integer in [1, 9]"),
    (("third",), "chapter 'third' does not exist; allowed: first, second"),
    (("first", "--profile", "large"), "profile 'large' does not exist; allowed: laptop, smoke"),
    (("first", "-p", "size", "[1, 2"), "parameter size = '[1, 2': expected ',' or ']'"),
    (("first", "-p", "size", "!!python/object:x"), "parameter size = '!!python/object:x': could not determine"),
    (("first", "-p", "size", "a: b: c"), "parameter size = 'a: b: c': mapping values are not allowed"),
    (("first", "-p", "size", "a: b"), "parameter size = 'a: b' is not allowed; allowed: a number, a word, true, fal"),
    (("first", "-p", "size", "1:30"), "parameter size = '1:30' (str) is not allowed; allowed: integer"),
    (("first", "-p", "size", "2020-01-01"), "parameter size = '2020-01-01' is not allowed; allowed: a number"),
    (("first", "-p", "size", ""), "parameter size = None (NoneType) is not allowed; allowed: integer in [1, 9]"),
    (("first", "-p", "size", "nan"), "parameter size = nan (float) is not allowed; allowed: integer in [1, 9]"),
    (("first", "-p", "size", "3", "-p", "size", "4"), "parameter 'size' is given twice"),
    (("first", "-p", "si ze", "3"), "unknown parameter 'si ze' = 3 (did you mean 'size'?); allowed: size (integer"),
]


def test_bad_parameters_are_refused_before_anything_runs_and_good_ones_are_used(toy):
    answers = toy.calls("execute", *(arguments for arguments, _ in REFUSED))
    wrong = [
        (arguments, answer.stdout, answer.stderr)
        for (arguments, says), answer in zip(REFUSED, answers, strict=True)
        if answer.returncode != 1
        or not answer.stderr.startswith("error: ")
        or says not in answer.stderr
        or "Traceback" in answer.stderr
        or "running at" in answer.stdout
    ]
    assert wrong == []
    assert not list(toy.path("build").glob("chapters/*"))
    outcome = toy.run("book", "execute", "first", "-p", "size", "5")
    assert outcome.returncode == 0, outcome.stderr
    assert "A1.value" in outcome.stdout and "holds" in outcome.stdout
    notebook = nbformat.read(toy.path("build/chapters/01_first.ipynb"), as_version=4)
    assert notebook.metadata["lmc"]["parameters"] == {"profile": "laptop", "size": 5}
    assert str(toy.where) not in nbformat.writes(notebook)


def test_the_plain_pipe_prints_verdicts_and_what_is_allowed(toy):
    pipe = "jupytext --from py:percent --to ipynb < notebooks/01_first.py | papermill - out.ipynb --log-output"
    bin = os.path.dirname(toy.command()[0])
    environment = toy.environment | {"PATH": bin + os.pathsep + os.environ["PATH"]}
    how = {"cwd": toy.where, "env": environment, "capture_output": True, "text": True}
    calls = (["bash", "-o", "pipefail", "-c", f"{pipe} {given}"] for given in ("-p size 3", "-p size 3 -p sise 4"))
    good, bad = (subprocess.run(call, **how) for call in calls)
    assert good.returncode == 0 and re.search("^verdict +holds", good.stderr, re.MULTILINE), good.stderr
    assert bad.returncode != 0 and "unknown parameter 'sise' = 4 (did you mean 'size'?)" in bad.stderr
