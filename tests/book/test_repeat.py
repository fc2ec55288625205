"""The small book with other seeds and in other settings: what is stored, what is named, what is not done again."""

import hashlib
import json
import sys

import pytest
import yaml
from small_book import FIRST, SECOND

from book.tools.read.chapters import BuildError
from book.tools.run import build, variants

ONCE = """
from pathlib import Path

def value():
    ran = Path("build/ran-{name}")
    before = ran.exists()
    ran.touch()
    {then}
    return {right}
"""
BASES = """
from book.tools.record import repeat
from book.tools.read import sources

known, stored = sources.Sources(), repeat.with_known_commits(repeat.Record("sweep", "smoke").read())
for chapter in ("01_first", "02_second"):
    print(repeat.seed_commit("smoke", chapter, stored.get(chapter), known))
"""
THREE = {"three": {"says": "3 threads", "threads": 3}}
SETTINGS = {"exact": 1e-6, "sampled": 1, "pythons": ["3.11"], "settings": THREE}
THREADS = "import torch\n\ndef value():\n    return 1 + {wrong} * (torch.get_num_threads() == 3)\n"


@pytest.fixture
def book(clone):
    """The small book as a clone, and what repeats it."""
    clone.sweep = lambda n, *more: clone.run("book", "repeat", "--seeds", str(n), "--cores", "1", *more)
    clone.settings = lambda *names: clone.run("book", "repeat", "--cores", "2", "--settings", *names)
    clone.bases = lambda: clone.python("-c", BASES).stdout.splitlines()
    clone.stored = lambda: json.loads(clone.path("book/recorded/sweep-smoke.json").read_text())
    return clone


def started(outcome) -> list[str]:
    return sorted(line.partition(":")[0] for line in outcome.stdout.splitlines() if ": running at " in line)


def test_the_whole_life_of_a_sweep(book):
    """What seeds decide differently, or stop at, is named; what is stored and up to date is not run again."""
    book.path("lmc_helpers/beta.py").write_text(ONCE.format(name="beta", then="if before: return 7", right=2))
    fails = "if before: raise ArithmeticError('a planted fault')"
    book.path("lmc_helpers/gamma.py").write_text(ONCE.format(name="gamma", then=fails, right=1))
    head = book.commit()
    done = book.sweep(2)
    assert started(done) == [f"{chapter}.{k}" for chapter in (FIRST, SECOND) for k in (1, 2)]
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert f"error: B1.value ({SECOND}) is decided differently: " in done.stderr, done.stdout + done.stderr
    assert "holds 1/2" in done.stderr and "fails 1/2" in done.stderr
    assert f"error: {FIRST}.2 failed: ArithmeticError: a planted fault" in done.stderr
    assert "is exact and depends on the seed, 2 to 7, and its quantity does not say over what" in done.stderr
    for chapter, part, verdicts in ((FIRST, "A1.value", ["holds"]), (SECOND, "B1.value", ["holds", "fails"])):
        entry = book.stored()[chapter]
        for k, run in enumerate(entry["runs"], start=1):
            digest = hashlib.sha256(f"{head}.{k}:{chapter}".encode()).digest()
            assert run["seed"] == int.from_bytes(digest[:4]) % (2**32 - 1) and run["variant"] == f"{head}.{k}"
            assert head.startswith(run["commit"]) and run["python"] and run["versions"]["torch"] and run["machine"]
        assert [run["measured"][part]["verdict"] for run in entry["runs"]] == verdicts
        assert set(entry["bases"]) == {part} and entry["bases"][part]["parameters"] == {"size": 3, "seconds": 0.0}

    book.path("lmc_helpers/gamma.py").write_text("def value():\n    return 1\n")
    refused = book.sweep(3)
    assert refused.returncode == 1 and "needs a clean commit" in refused.stderr and "Traceback" not in refused.stderr
    book.commit()
    done = book.sweep(2, "first")
    assert done.returncode == 0 and started(done) == [f"{FIRST}.2"], done.stdout + done.stderr
    assert [run["variant"] for run in book.stored()[FIRST]["runs"]] == [f"{head}.{k}" for k in (1, 2)]
    book.commit()
    done = book.sweep(3, "second")
    assert started(done) == [f"{SECOND}.3"], done.stdout + done.stderr
    assert [run["variant"] for run in book.stored()[SECOND]["runs"]] == [f"{head}.{k}" for k in (1, 2, 3)]
    assert len(book.stored()[FIRST]["runs"]) == 2

    book.commit()
    assert started(book.sweep(2)) == [] and book.bases() == [head, head]
    book.git("checkout", "--quiet", "--orphan", "another")
    book.commit()  # seeds of a commit that is not in this history are drawn again
    assert book.bases() == ["", ""]


def test_what_cannot_be_swept_or_set_is_one_clear_error(book):
    book.commit()
    third = ("--seeds", "2", "third")
    for done, said in zip(
        book.calls("repeat", ("--seeds", "1"), third),
        ("SEEDS = 1; allowed: 2 or more", "chapter 'third' does not exist; allowed: first, second"),
        strict=True,
    ):
        assert done.returncode == 1 and done.stderr.startswith("error: ") and said in done.stderr
        assert "Traceback" not in done.stderr
    book.path("book/recorded").mkdir()
    book.path("book/recorded/sweep-smoke.json").write_text('{"01_first": {"code": 1}}')
    done = book.sweep(2)
    assert done.returncode == 1 and "book/recorded/sweep-smoke.json" in done.stderr and "Traceback" not in done.stderr
    stated = SETTINGS["settings"] | {"old": {"says": "Python 2.7", "python": "2.7"}}
    book.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS | {"settings": stated}, sort_keys=False))
    book.commit()
    unknown, old = book.calls("repeat", ("--settings", "four"), ("--settings", "old"))
    assert "setting 'four' is not in book/settings.yml; allowed: three, old" in unknown.stderr
    assert old.stderr.startswith("error: setting 'old' is Python 2.7; in a clone of its own"), old.stderr
    book.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS | {"exact": -1}))
    wrong = book.settings("three")
    assert wrong.returncode == 1 and "settings.yml, line 1: exact" in wrong.stderr and "Traceback" not in wrong.stderr


@pytest.mark.slow
def test_what_a_setting_changes_is_named(book):
    book.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS, sort_keys=False))
    book.path("lmc_helpers/gamma.py").write_text(THREADS.format(wrong=1e-3))
    book.edit("book/claims/A.yml", "equals: 1", "equals: 1\n        tolerance: 0.5")
    book.commit()
    book.interpreter = sys.executable  # the number of threads is read once in a process
    done = book.settings("all")
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert f"error: A1.value ({FIRST}, three): 1.001 and as built 1.0 differ by 0.00067 (relative; " in done.stderr
    assert "B1.value (02_second, three)" not in done.stderr
    entry = json.loads(book.path("book/recorded/machines-smoke.json").read_text())[FIRST]
    assert [(run["variant"], run["seed"]) for run in entry["runs"]] == [("", None), ("@three", None)]
    again = book.settings("three")
    assert ": running at" not in again.stdout and again.returncode == 1


@pytest.mark.parametrize(("executor", "expected"), [("local", [["a"], ["b"]]), ("slurm", [["a", "b"]])])
def test_here_one_build_a_variant_on_a_cluster_one_for_all(monkeypatch, tmp_path, executor, expected):
    seen = []

    def stand_in(profile, out, target, check, chosen, executor, cores):
        seen.append(list(chosen))
        if "a" in chosen:
            raise BuildError("a fails")

    monkeypatch.setattr(build, "build", stand_in)
    with pytest.raises(BuildError, match="a fails"):
        build.each("smoke", tmp_path, {"a": ["01_first"], "b": ["02_second"]}, None, executor=executor, cores=1)
    assert seen == expected


def test_a_variant_that_is_none():
    for variant in ("abc", 40 * "g", 40 * "a" + ".0", "@", 40 * "a" + ".1.2"):
        with pytest.raises(BuildError, match="allowed: a full commit id"):
            variants.check(variant)
