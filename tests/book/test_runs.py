"""Training runs as jobs in front of their chapters: each trained once, shared, taken up, and refused in one line."""

import os
import re
import signal
import subprocess
import sys
import time
import types

import jupytext
import pytest
import torch
from small_book import FIRST, HEADER, SECOND

from book.tools import chapters, confirm, profiles, runs
from book.tools.chapters import BuildError


def log(toy) -> list[str]:
    path = toy.path("build/trained")
    return [line.split(" at ")[0] for line in path.read_text().splitlines()] if path.exists() else []


def test_a_run_is_trained_once_for_all_who_need_it(trained):
    outcome = trained.build()
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert sorted(log(trained)) == ["3 from 0", "4 from 0", "5 from 0"]
    lines = outcome.stdout.splitlines()
    assert lines[1] == "Training: 3 of 3 run(s) missing, about 6 core-minutes."
    said = [re.sub(r"in \d+ s.*", "in", line) for line in lines if line.startswith("run ") and ", done in" in line]
    assert [line.partition(":")[0] for line in said] == ["run 1/3", "run 2/3", "run 3/3"]
    assert sorted(line.partition(": ")[2] for line in said) == [f"toy of size {n}, done in" for n in (3, 4, 5)]
    for chapter in (FIRST, SECOND):
        first = trained.executed(chapter)
        assert all(path.stat().st_mtime <= first.stat().st_mtime for path in trained.path("build/runs").glob("*.npz"))

    imported = trained.path("build/imported").read_text()
    outcome = trained.build()  # nothing to do, and nothing that trains is imported
    assert trained.ran(outcome) == [] and trained.path("build/imported").read_text() == imported
    assert outcome.stdout.splitlines()[1] == "Training: 0 of 3 run(s) missing."

    trained.path(f"build/runs/{5:016x}.npz").unlink()  # no chapter that is stale needs it
    for path in trained.path("build/runs").glob("*.npz"):  # its time says nothing
        os.utime(path)
    assert trained.ran(trained.build()) == [] and len(log(trained)) == 3

    trained.edit(f"notebooks/{FIRST}.py", "# # first", "# # First")  # the stamp is newer than the runs
    trained.executed(SECOND).unlink()
    outcome = trained.build()
    assert sorted(trained.ran(outcome)) == [FIRST, SECOND] and log(trained)[3:] == ["5 from 1"]
    assert outcome.stdout.splitlines()[1] == "Training: 1 of 3 run(s) missing, about 2 core-minutes."
    outcome = trained.run("book.tools.build", "--profile", "laptop", "--target", "trained")  # sizes 3 and 4 again
    assert outcome.stdout.splitlines()[1] == "Training: 0 of 2 run(s) missing." and len(log(trained)) == 4


def test_runs_alone_and_their_list(trained):
    def listed() -> list[list[str]]:
        said = trained.run("book.tools.runs", "--profile", "smoke").stdout.splitlines()
        return [re.split(" {2,}", line) for line in said]

    before = listed()
    assert before[0] == ["digest", "training run", "chapters", "state"]
    assert before[2] == [f"{4:016x}", "toy of size 4", "01, 02", "about 2 core-minutes"]
    assert before[-1] == ["Training: 3 of 3 run(s) missing, about 6 core-minutes."]

    trained.set_parameters("smoke", first={"seconds": 1.0}, second={"size": 4, "seconds": 1.0})
    outcome = trained.run("book.tools.build", "--profile", "smoke", "--target", "trained", "--cores", "2")
    assert outcome.returncode == 0, outcome.stderr
    assert trained.ran(outcome) == [] and len(log(trained)) == 3
    starts = sorted(float(line.rpartition(" ")[2]) for line in trained.path("build/trained").read_text().splitlines())
    assert starts[1] - starts[0] < 1.0  # two at once, of more than a second each
    assert [row[-1] for row in listed()[1:-1]] == ["done"] * 3


def test_a_killed_run_is_taken_up(trained):
    trained.set_parameters("smoke", first={"seconds": 3.0}, second={"size": 3, "seconds": 3.0})
    build = subprocess.Popen(
        trained.command("book.tools.build", "--profile", "smoke", "--target", "trained", "--cores", "2"),
        cwd=trained.where,
        env=trained.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    kept, deadline = trained.path(f"build/runs/{3:016x}.kept"), time.monotonic() + 120
    while not (kept.exists() and kept.read_text() not in ("", "1")):
        assert build.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(build.pid, signal.SIGKILL)
    build.wait()
    assert not trained.path(f"build/runs/{3:016x}.npz").exists()
    outcome = trained.build()
    assert outcome.returncode == 0, outcome.stderr
    again = [int(line.split()[-1]) for line in log(trained) if line.startswith("3 ")]
    assert len(again) == 2 and again[1] > 1


def test_what_a_run_fails_for_is_said(trained):
    trained.edit("lmc_helpers/toys.py", "gpu=wants)", "gpu=wants, fails=size + k == 5)")
    outcome = trained.build()
    assert outcome.returncode == 1 and trained.executed(FIRST).exists() and not trained.executed(SECOND).exists()
    said = f"error: run {5:016x} (toy of size 5) failed: ValueError: the loss is not finite"
    assert said in outcome.stderr.splitlines() and "Traceback" not in outcome.stderr


def test_a_run_that_wants_a_gpu_is_refused_before_anything_runs(trained):
    trained.edit("lmc_helpers/toys.py", "gpu=wants)", "gpu=size + k == 5)")
    environment = {"CUDA_VISIBLE_DEVICES": ""}
    trained.environment = trained.environment | environment
    outcome = trained.build()
    assert outcome.returncode == 1 and log(trained) == [] and trained.ran(outcome) == []
    command = f"python -m book.tools.runs second --profile smoke --run {5:016x}"
    price = "wants a GPU, and this machine has none; about 2 core-minutes on its CPU"
    assert f"error: run {5:016x} (toy of size 5) {price}: {command}\n" == outcome.stderr
    by_hand = trained.run(*command.split()[2:])
    assert by_hand.returncode == 0 and log(trained) == ["5 from 0"], by_hand.stderr


def test_the_header_survives_jupytext(tmp_path):
    text = "# ---\n# jupyter:\n#   kernelspec: {display_name: Python 3, language: python, name: python3}\n"
    notebook = jupytext.reads(text + HEADER + "# ---\n\n# %%\nx = 1\n", fmt="py:percent")
    assert notebook.metadata["lmc"] == {"runs": "lmc_helpers.toys.runs"}
    jupytext.write(notebook, tmp_path / "a.ipynb")
    again = jupytext.writes(jupytext.read(tmp_path / "a.ipynb"), fmt="py:percent")
    assert jupytext.reads(again, fmt="py:percent").metadata["lmc"] == notebook.metadata["lmc"]


class Some:
    digest, title = "0123456789abcdef", "some"

    def path(self): ...

    def done(self): ...

    def resources(self): ...

    def prices(self): ...

    def result(self, show_progress=False): ...


@pytest.fixture
def chapter(tmp_path, monkeypatch):
    """One chapter of a header and parameters; its runs from a function of the test's own."""
    monkeypatch.setattr(chapters, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(profiles, "parameters", lambda name, profile: {"profile": profile, "width": 8})
    module = types.ModuleType("lmc_helpers.toys")
    monkeypatch.setitem(sys.modules, "lmc_helpers.toys", module)

    def make(function=None, header="lmc_helpers.toys.runs"):
        if function is not None:
            module.runs = function
        (tmp_path / "51_widths.py").write_text(
            f"# ---\n# jupyter:\n#   lmc: {{runs: {header}}}\n# ---\n\n# %% [markdown]\n# # Widths\n"
            '\n# %% tags=["hide-input", "parameters"]\nwidth: int = 4  # neurons\nseed: int = (\n    7\n)\n'
            "# %%\nwidth = 1"
        )
        return "51_widths"

    return make


def test_the_function_is_called_with_the_parameters_that_it_names(chapter):
    called = []
    name = chapter(lambda width, seed, more=3: called.append((width, seed, more)) or [Some(), Some()])
    assert [run.title for run in runs.runs(name, "smoke")] == ["some"]  # one digest, one run
    runs.runs(name, "smoke", seeds="825a4ae")
    assert called == [(8, 7, 3), (8, confirm.seed("825a4ae", name), 3)]  # the profile's width, the commit's seed
    assert runs.parameters(name, "smoke") == {"width": 8, "seed": 7, "profile": "smoke"}


WHERE = "chapter 51_widths: lmc_helpers.toys.runs"


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda widht: [], f"{WHERE} wants 'widht', no parameter of the chapter; it has: width, seed, profile"),
        (lambda: Some(), f"{WHERE} returned a Some and no list of runs"),
        (lambda: [Some(), 3], f"{WHERE} returned a list with 3, which is no run"),
        (lambda: [1 / 0], f"{WHERE} failed: ZeroDivisionError: division by zero"),
        (3, f"{WHERE}, named in its header, is a int and no function"),
        (None, f"{WHERE}, named in its header, does not exist: module 'lmc_helpers.toys' has no attribute 'runs'"),
    ],
)
def test_a_function_that_gives_no_runs_is_named(chapter, function, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        runs.runs(chapter(function), "smoke")


def test_headers(chapter, tmp_path):
    with pytest.raises(BuildError, match=r"51_widths: lmc_helpers.nothing.runs, named in its header, does not exist"):
        runs.runs(chapter(header="lmc_helpers.nothing.runs"), "smoke")
    for wrong in ("os.remove", "lmc_helpers", "3"):
        with pytest.raises(BuildError, match=r"lmc.runs = .* in its header is not allowed; allowed: the full name"):
            runs.function_name(chapter(header=wrong))
    chapter()
    (tmp_path / "51_widths.py").write_text("# ---\n# jupyter: {lmc\n# ---\n")
    with pytest.raises(BuildError, match="its header is no YAML"):
        runs.function_name("51_widths")
    (tmp_path / "51_widths.py").write_text("# ---\n# jupyter:\n#   kernelspec: {name: python3}\n# ---\n# %%\n")
    assert runs.function_name("51_widths") is None and runs.runs("51_widths", "smoke") == []


def test_a_header_that_the_chapter_does_not_import(trained):
    trained.edit(f"notebooks/{FIRST}.py", "import claims, toys, ", "import claims, ")
    said = f"error: chapter {FIRST}: its header names lmc_helpers.toys.runs, but it does not import lmc_helpers.toys\n"
    assert trained.build().stderr == said


def test_a_run_of_another_chapter(trained):
    outcome = trained.run("book.tools.runs", "first", "--profile", "smoke", "--run", f"{5:016x}")
    said = f"error: run '{5:016x}' is none of chapter {FIRST} at smoke; it has: {3:016x}, {4:016x}\n"
    assert outcome.returncode == 1 and outcome.stderr == said


def test_runs_side_by_side_have_a_gpu_each(tmp_path, monkeypatch):
    taken = []
    monkeypatch.setattr(runs, "ROOT", tmp_path)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    with runs._gpu():
        with runs._gpu():
            assert taken == [0, 1]
            with runs._gpu():  # none is left; which does not happen in a build
                assert taken == [0, 1]
        with runs._gpu():
            assert taken == [0, 1, 1]
