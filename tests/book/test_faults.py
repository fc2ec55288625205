"""Full disks, read-only folders, damaged files: one sentence that names the file and what to do, and no page of it."""

import errno
import json
import os
import shutil
import subprocess
from dataclasses import asdict

import pytest
from oracles import notebooks
from small_book import FIRST, SECOND

from book.tools.read import sources
from book.tools.read.chapters import BuildError
from book.tools.record import published, records
from book.tools.run import progress, runs
from lmc_helpers import claims
from lmc_helpers.claims.judge import Verdict
from lmc_helpers.training._checkpoints import load_checkpoint

ALONE = shutil.which("unshare") and not subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode
AGAIN = "then run it again: what was finished is kept"
FULL = f"the disk is full; free some space, {AGAIN}"


def on_a_disk(toy, options: str, *more: str) -> subprocess.CompletedProcess:
    """A build whose folder is a disk of its own."""
    toy.path("build").mkdir(exist_ok=True)
    command = toy.command("book", "build", "--profile", "smoke", "--target", "executed", "--cores", "2", *more)
    script = f'mount -t tmpfs -o {options} none build && exec "$@"'
    where = {"cwd": toy.where, "env": toy.environment, "timeout": 300}
    shell = ["unshare", "-rm", "sh", "-c", script, "sh"]
    return subprocess.run([*shell, *command], capture_output=True, text=True, **where)


@pytest.mark.slow
@pytest.mark.skipif(not ALONE, reason="no disk can be mounted here")
def test_disks(toy):
    outcome = on_a_disk(toy, "ro")
    readonly = f"it lies on a disk that can only be read; make it writable, {AGAIN}"
    assert (outcome.returncode, outcome.stderr) == (1, f"error: {toy.path('build/.lock')}: {readonly}\n")
    toy.edit(f"notebooks/{FIRST}.py", "time.sleep(seconds)", "time.sleep(seconds)\nprint('x' * 500_000)")
    outcome = on_a_disk(toy, "size=300k", "--no-fork")
    *first, last = outcome.stderr.splitlines()  # the second chapter may find the disk full as well
    assert sorted(first)[0] == f"error: {FIRST}: {toy.executed(FIRST)}: {FULL}"
    assert last.startswith("error: the build stopped") and outcome.returncode == 1
    assert all(line.endswith(FULL) for line in first) and "Traceback" not in outcome.stderr + outcome.stdout


def record() -> dict:
    said = ("A1.value", "holds", "holds", "paper", "headline", "q")
    return asdict(Verdict(*said, 1.0, None, 1.0, 1.0, 1, *[""] * 5, None, None, None, "0"))


def executed(*more: dict) -> dict:
    return notebooks.executed(FIRST, notebooks.shown({}, **{claims.MIME: record()}), *more)


DAMAGE = [
    (lambda text: text[: len(text) // 2], "is cut off or damaged"),
    (lambda text: "\x00\xff", "is cut off or damaged"),
    (lambda text: "[]", "should be an object"),
    (lambda text: text.replace('"nbformat": 4', '"nbformat": 5'), "nbformat: input should be 4, not 5"),
    (lambda text: text.replace('"outputs": [{', '"outputs": [3, {'), "cells.0.outputs.0"),
    (lambda text: text.replace('"lmc"', '"lmc2"'), "metadata.lmc: the field is missing"),
    (lambda text: text.replace('"seconds": 1.0', '"seconds": "one"'), "metadata.lmc.seconds"),
    (lambda text: text.replace('"device"', '"machines"'), "metadata.lmc.device: the field is missing"),
    (lambda text: text.replace(FIRST, SECOND), f"it is chapter {SECOND}"),
    (lambda text: text.replace('"verdict"', '"judgement"'), "verdict: the field is missing"),
    (lambda text: text.replace('"value": 1.0', '"value": "1"'), "value: input should be a valid number, not '1'"),
]


def test_a_damaged_notebook_is_named_and_another_is_read(tmp_path):
    path = tmp_path / f"{FIRST}.ipynb"
    path.write_text(json.dumps(executed()))
    assert records.notebook(path) == executed()
    for spoil, message in DAMAGE:
        path.write_bytes(spoil(json.dumps(executed())).encode("latin-1"))
        with pytest.raises(BuildError) as error:
            records.notebook(path)
        said = str(error.value)
        assert said.startswith(str(path)) and message in said and said.endswith("; remove it and build again"), message
    said = "This run uses CIFAR-10, from files that differ from the canonical ones."
    for written, data in ((executed(), None), (executed(notebooks.glued("data_says", repr(said))), said)):
        path.write_text(json.dumps(written))
        (found,) = records.records(path)
        assert found.get("data") == data
        published.Record.model_validate({"id": "A1", "date": "2026-01-02"} | found)


def test_no_page_of_a_truncated_notebook_and_what_the_build_remembers_may_be_anything(built):
    path = built.executed(FIRST)
    text = path.read_text()
    path.write_text(text[: len(text) // 2])
    outcome = built.run("book", "assemble", "--profile", "smoke", "--out", "build/book")
    assert outcome.returncode == 1 and not built.path("build/book").exists()
    assert outcome.stderr.startswith(f"error: {path} is cut off or damaged (") and outcome.stderr.count("\n") == 1

    path.write_text(text)
    built.path("build/times/smoke.json").write_text('{"01_first": "fast", "02_second": -1}')
    built.executed(SECOND).write_text('{"metadata": {"lmc": "as it was"}}')
    outcome = built.build()  # a notebook that does not say what it was made from is stale
    assert built.ran(outcome) == [SECOND] and outcome.returncode == 0, outcome.stderr


def test_memories_and_checkpoints_that_are_none(tmp_path):
    path = tmp_path / "smoke.json"
    for kept in ("", "[]", "3", '{"a": ', '{"01_first": 3}', "null"):
        path.write_text(kept)
        assert progress._times(path) == ({FIRST: 3} if "01" in kept else {}), kept
        assert isinstance(sources.read(path), dict), kept
    path, kept = tmp_path / "0123.npz", tmp_path / ".0123.checkpoint.npz"
    assert runs._reason(ValueError("the loss is not finite"), path) == "ValueError: the loss is not finite"
    kept.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(ValueError, match="is not a checkpoint") as torn:
        load_checkpoint(kept, {})
    for error in (torn.value, KeyError("losses")):
        said = runs._reason(error, path)
        assert said.startswith(f"it cannot go on from {kept} (") and "remove that file, and the run starts anew" in said
    assert runs._reason(ValueError("the loss is not finite"), path) == "ValueError: the loss is not finite"
    assert runs._reason(OSError(errno.ENOSPC, "No space"), path) == f"{path}: {FULL}"


def test_what_was_edited_during_a_build_is_said_and_stale(built):
    built.path("lmc_helpers/beta.py").write_text(
        "import pathlib\npath = pathlib.Path(__file__)\ntext = path.read_text()\n"
        "def value():\n    path.write_text(text + 'edited = 1')\n    return 2\n"
    )
    outcome = built.build()
    assert outcome.returncode == 0, outcome.stderr
    said = f"sources of {SECOND} were edited while the build ran; run it again to have that in the book"
    assert said in outcome.stdout.splitlines() and built.stale() == [SECOND]


def test_a_reader_that_goes_away(toy):
    command = " ".join(toy.command("book", "runs", "--profile", "smoke"))
    run = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"],
        cwd=toy.where,
        env=toy.environment,
        capture_output=True,
        text=True,
    )
    assert (run.returncode, run.stderr) == (141, "")


@pytest.mark.skipif(not shutil.which("make") or not shutil.which("flock"), reason="no make or no flock")
def test_two_makes_set_up_once(tmp_path, root):
    """Both ask for .venv at once; pip is a stand-in that takes a while and must not run twice."""
    for name in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy(root / name, tmp_path)
    shutil.copytree(root / "book" / "tools" / "read", tmp_path / "book" / "tools" / "read")
    shutil.copy(root / "book" / "__main__.py", tmp_path / "book")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\ncase "$*" in *install*) echo "$*" >> log; sleep 0.5;; esac\n')
    python.chmod(0o755)
    half = tmp_path / ".venv" / "lib" / "half.dist-info"
    half.mkdir(parents=True)
    (half / "METADATA").touch()
    both = [subprocess.Popen(["make", "-s", "setup"], cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(2)]
    said = "".join(process.communicate(timeout=60)[0].decode() for process in both)
    assert [process.returncode for process in both] == [0, 0]
    installed = (tmp_path / "log").read_text().splitlines()
    steps = ("build/.first.lock", "build/.rest.lock", "--dry-run", "--no-index torch==", "-e .")  # this pip has torch
    assert len(installed) == len(steps) and all(step in line for step, line in zip(steps, installed, strict=True))
    assert said.count("Set-up:") == 1 and not half.exists()
    assert os.path.getmtime(tmp_path / ".venv" / ".installed") >= os.path.getmtime(tmp_path / "pyproject.toml")
