"""Training runs as jobs in front of their chapters: each trained once, shared, taken up, and refused in one line."""

import os
import re
import subprocess

import pytest
import torch
from small_book import FIRST, SECOND, copy, make, with_runs

from book.tools.run import runs

TRAINED = ("book", "build", "--profile", "smoke", "--target", "trained", "--cores")


def log(toy) -> list[str]:
    path = toy.path("build/trained")
    return [line.split(" at ")[0] for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture(scope="module")
def first_training(tmp_path_factory, root):
    """A small book with training runs that nobody edits, and what its one build said."""
    book = with_runs(make(tmp_path_factory.mktemp("trained"), root))
    return book, book.built()


@pytest.fixture
def finished(first_training, tmp_path):
    """The small book whose runs and chapters are all there."""
    return copy(first_training[0], tmp_path)


def test_a_run_is_trained_once_for_all_who_need_it(first_training):
    book, outcome = first_training
    assert sorted(log(book)) == ["3 from 0", "4 from 0", "5 from 0"]
    lines = outcome.stdout.splitlines()
    assert lines[1] == "Training: 3 of 3 runs missing, about 6 core-minutes."
    said = [re.sub(r"in \d+ s.*", "in", line) for line in lines if line.startswith("run ") and ", done in" in line]
    assert [line.partition(":")[0] for line in said] == ["run 1/3", "run 2/3", "run 3/3"]
    assert sorted(line.partition(": ")[2] for line in said) == [f"toy of size {n}, done in" for n in (3, 4, 5)]
    trained = [path.stat().st_mtime for path in book.path("build/runs").glob("*.npz")]
    for chapter in (FIRST, SECOND):  # each needs two of them, and waits for no other
        assert sum(at <= book.executed(chapter).stat().st_mtime for at in trained) >= 2

    imported = book.path("build/imported").read_text()
    outcome = book.build()  # nothing to do, and nothing that trains is imported
    assert book.ran(outcome) == [] and book.path("build/imported").read_text() == imported
    assert outcome.stdout.splitlines()[1] == "Training: 0 of 3 runs missing."


def test_a_run_that_is_missing_is_trained_when_a_chapter_that_is_stale_needs_it(finished):
    finished.path(f"build/runs/{5:016x}.npz").unlink()  # no chapter that is stale needs it
    for path in finished.path("build/runs").glob("*.npz"):  # its time says nothing
        os.utime(path)
    assert finished.ran(finished.built()) == [] and len(log(finished)) == 3

    finished.edit(f"notebooks/{FIRST}.py", "import time", "import time, math")  # the stamp is newer than the runs
    finished.executed(SECOND).unlink()
    outcome = finished.built()
    assert sorted(finished.ran(outcome)) == [FIRST, SECOND] and log(finished)[3:] == ["5 from 1"]
    assert outcome.stdout.splitlines()[1] == "Training: 1 of 3 runs missing, about 2 core-minutes."
    outcome = finished.run("book", "build", "--profile", "laptop", "--target", "trained")  # sizes 3 and 4 again
    assert outcome.stdout.splitlines()[1] == "Training: 0 of 2 runs missing." and len(log(finished)) == 4


def test_the_list_of_runs_follows_the_parameters(finished):
    for first, sizes in ((3, (3, 4, 5)), (7, (7, 8, 4, 5))):  # the second list is not the one that was kept
        finished.set_parameters("smoke", first={"size": first}, second={"size": 4})
        listed = finished.run("book", "runs", "--profile", "smoke").stdout
        assert re.findall(r"^(\w{16}) ", listed, re.MULTILINE) == [f"{size:016x}" for size in sizes]


def test_a_run_waits_for_what_it_needs_and_then_goes_first(trained):
    trained.set_parameters("smoke", first={"size": 3}, second={"size": 5})
    trained.edit("lmc_helpers/toys.py", "gpu=wants) for k in (0, 1)]", "gpu=wants, after=size * k) for k in (1, 0)]")
    outcome = trained.run(*TRAINED, "1")
    assert outcome.returncode == 0, outcome.stderr
    order = [int(line.split()[0]) for line in log(trained)]  # 4 needs 3, and 6 needs 5
    assert order in ([3, 4, 5, 6], [5, 6, 3, 4])
    trained.path(f"build/runs/{3:016x}.npz").unlink()  # what needed it is there
    outcome = trained.run(*TRAINED, "1")
    assert outcome.returncode == 0, outcome.stderr
    assert [int(line.split()[0]) for line in log(trained)] == [*order, 3]


def test_runs_alone_and_their_list(trained):
    def listed() -> list[list[str]]:
        said = trained.run("book", "runs", "--profile", "smoke").stdout.splitlines()
        return [re.split(" {2,}", line) for line in said]

    trained.set_parameters("smoke", first={"seconds": 3.0}, second={"size": 3, "seconds": 3.0})
    before = listed()
    assert before[0] == ["digest", "training run", "chapters", "state"]
    assert before[2] == [f"{4:016x}", "toy of size 4", "01, 02", "about 2 core-minutes"]
    assert before[-1] == ["Training: 2 of 2 runs missing, about 4 core-minutes."]

    outcome = trained.run(*TRAINED, "2")
    assert outcome.returncode == 0, outcome.stderr
    assert trained.ran(outcome) == [] and len(log(trained)) == 2
    starts = sorted(float(line.rpartition(" ")[2]) for line in trained.path("build/trained").read_text().splitlines())
    assert starts[1] - starts[0] < 3.0  # two at once, of more than three seconds each
    assert [row[-1] for row in listed()[1:-1]] == ["done"] * 2
    seen = "import os\n\nopen('threads', 'w').write(os.environ.get('OMP_NUM_THREADS', 'all'))\n"
    toys = trained.path("lmc_helpers/toys.py")
    toys.write_text(seen + toys.read_text())
    trained.environment.pop("OMP_NUM_THREADS", None)
    done = trained.run("book", "runs", FIRST, "--profile", "smoke", "--run", f"{3:016x}")
    assert done.returncode == 0, done.stderr
    assert trained.path("threads").read_text() == "1"


def test_a_run_that_fails_is_said_and_spares_the_others(trained):
    """On the CPU of a machine without the GPU that it wants, because somebody says so."""
    trained.edit("lmc_helpers/toys.py", "gpu=wants)", "gpu=size + k == 5, fails=size + k == 5)")
    outcome = trained.build()
    assert outcome.returncode == 1 and log(trained) == [] and trained.ran(outcome) == []
    said = "on a GPU, and this machine has none; about 2 core-minutes on its CPU"
    how = "make runs PROFILE=smoke LIST=1 lists them; LMC_ON_CPU=1 trains them on the CPU"
    assert f"error: 1 training run of {SECOND} {said}\n       {how}\n" == outcome.stderr

    trained.environment = trained.environment | {"LMC_ON_CPU": "1"}
    outcome = trained.build()
    assert outcome.returncode == 1 and "5 from 0" in log(trained)
    assert trained.executed(FIRST).exists() and not trained.executed(SECOND).exists()
    said = f"error: run {5:016x} (toy of size 5) failed: ValueError: the loss is not finite"
    assert said in outcome.stderr.splitlines() and "Traceback" not in outcome.stderr


def test_what_jobs_ask_for(trained):
    """A chapter asks for a GPU if its runs do; a run has large pages if nobody says otherwise."""
    trained.edit("lmc_helpers/toys.py", "gpu=wants)", "gpu=size + k == 5)")
    options = ("--dry-run", "--printshellcmds", "--cores", "2", "--config", "profile=smoke", "out=build/book")
    said = trained.run("snakemake", *(str(trained.executed(chapter)) for chapter in (FIRST, SECOND)), *options)
    assert said.returncode == 0, said.stderr
    found = re.findall(r"rule (chapter|run):(.*?resources: .*?\n.*?)(?=\n\n|\Z)", said.stdout, re.DOTALL)
    jobs = {f"{rule} {re.search(r'(?:chapter|digest)=(.*)', job)[1]}": job for rule, job in found}
    assert len(jobs) == 5
    assert {name for name, job in jobs.items() if "gpu=1" in job} == {f"run {5:016x}", f"chapter {SECOND}"}
    prefixes = {job.partition("Shell command: ")[2].partition(" ")[0] for name, job in jobs.items() if "run" in name}
    (tunables,) = prefixes
    for given, seen in (({}, "glibc.malloc.hugetlb=1"), ({"GLIBC_TUNABLES": "a=2"}, "a=2")):
        environment = {k: v for k, v in os.environ.items() if k != "GLIBC_TUNABLES"} | given
        command = ["bash", "-c", f"{tunables} printenv GLIBC_TUNABLES"]
        shown = subprocess.run(command, env=environment, capture_output=True)
        assert shown.stdout.decode().strip() == seen


def test_a_run_of_another_chapter_and_a_header_that_the_chapter_does_not_import(trained):
    outcome = trained.run("book", "runs", "first", "--profile", "smoke", "--run", f"{5:016x}")
    said = f"error: chapter {FIRST} has no run '{5:016x}' at smoke; it has: {3:016x}, {4:016x}\n"
    assert outcome.returncode == 1 and outcome.stderr == said
    trained.edit(f"notebooks/{FIRST}.py", "import claims, toys, ", "import claims, ")
    said = trained.build().stderr
    assert re.fullmatch(rf"error: {FIRST}.py.*lmc_helpers\.toys\.runs.* import lmc_helpers\.toys\n", said)


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
