"""Settings: chapters of the small book with other threads and another linear algebra, and what is named."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml
from small_book import FIRST, SECOND

from book.tools.base.chapters import BuildError
from book.tools.outcomes.difference import Difference
from book.tools.running import variants
from lmc_helpers.claims.intervals import Interval

THREADS = "import torch\n\ndef value():\n    return 1 + {wrong} * (torch.get_num_threads() == 3)\n"
ALGEBRA = """
import os

import torch

def value():
    found = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    assert os.environ["OMP_NUM_THREADS"] == str(torch.get_num_threads())
    return 2.0 + 5 * bool(found)
"""
SETTINGS = {
    "exact": 1e-6,
    "sampled": 1,
    "pythons": ["3.11"],
    "settings": {"three": {"says": "3 threads", "threads": 3}, "numpy": {"says": "NumPy", "numpy_algebra": True}},
}


@pytest.fixture
def clone(toy):
    def git(*arguments):
        subprocess.run(["git", "-C", str(toy.where), *arguments], capture_output=True, text=True, check=True)

    def commit():
        git("add", "--all")
        git("commit", "--quiet", "--message", "a commit")

    toy.path(".gitignore").write_text("build/\n.snakemake/\n__pycache__/\n")
    toy.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS, sort_keys=False))
    git("init", "--quiet")
    git("config", "user.name", "a")
    git("config", "user.email", "a@b")
    toy.commit = commit
    toy.machines = lambda *more: toy.run("book.tools.machines", "--cores", "2", *more)
    return toy


@pytest.mark.slow
def test_what_a_setting_changes_is_named(clone):
    clone.path("lmc_helpers/gamma.py").write_text(THREADS.format(wrong=1e-3))
    clone.edit("book/claims/A.yml", "equals: 1", "equals: 1\n        tolerance: 0.5")
    clone.path("lmc_helpers/beta.py").write_text(ALGEBRA)
    clone.commit()
    done = clone.machines()
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stdout + done.stderr
    assert f"error: A1.value ({FIRST}, three): 1.001 and as built 1.0 differ by 0.00067 (relative; " in done.stderr
    assert f"error: B1.value ({SECOND}, numpy): fails, as built holds" in done.stderr
    assert "A1.value (01_first, numpy)" not in done.stderr and "B1.value (02_second, three)" not in done.stderr
    entry = json.loads(clone.path("book/recorded/machines-smoke.json").read_text())[FIRST]
    assert [run["variant"] for run in entry["runs"]] == ["", "@three", "@numpy"]
    assert [run["seed"] for run in entry["runs"]] == [None] * 3
    again = clone.machines()
    assert ": running at" not in again.stdout and again.returncode == 1


@pytest.mark.slow
def test_what_differs_in_rounding_alone_does_not(clone):
    clone.path("lmc_helpers/gamma.py").write_text(THREADS.format(wrong=1e-12))
    clone.edit("book/claims/A.yml", "equals: 1", "equals: 1\n        tolerance: 0.5")
    clone.commit()
    done = clone.machines("first", "--settings", "three")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 chapter(s), 1 comparison(s): 0 contradiction(s)" in done.stdout


def test_a_setting_that_is_unknown_or_wrong_is_named(clone):
    unknown = clone.machines("--settings", "four")
    assert "setting 'four' is not in book/settings.yml; allowed: three, numpy" in unknown.stderr
    clone.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS | {"exact": -1}))
    wrong = clone.machines()
    assert wrong.returncode == 1 and "settings.yml, line 1: exact" in wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_another_python_is_asked_for(clone):
    mine = ".".join(map(str, sys.version_info[:2]))
    stated = {"old": {"says": "Python 2.7", "python": "2.7"}, "mine": {"says": "this Python", "python": mine}}
    clone.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS | {"settings": stated}))
    clone.commit()
    done = clone.machines("--settings", "old", "mine")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: setting 'old' is Python 2.7, and this is {mine}."), done.stderr
    done = clone.machines()
    nothing = f"error: {FIRST}, {SECOND}: no up-to-date run as built by another Python than {mine} is recorded; "
    assert done.returncode == 1 and done.stderr.startswith(nothing), done.stderr


@pytest.mark.slow
def test_a_python_is_compared_with_another(clone):
    record = clone.path("book/recorded/machines-smoke.json")
    clone.commit()
    assert clone.machines("first", "--settings", "three").returncode == 0
    mine = ".".join(map(str, sys.version_info[:2]))
    stated = SETTINGS["settings"] | {"mine": {"says": "this Python", "python": mine}}
    clone.path("book/settings.yml").write_text(yaml.safe_dump(SETTINGS | {"settings": stated}))
    clone.commit()
    done = clone.machines("first")
    assert done.returncode == 1 and f"by another Python than {mine} is recorded" in done.stderr
    known = json.loads(record.read_text())
    known[FIRST]["runs"][0]["python"] = "2.7.18"
    record.write_text(json.dumps(known))
    clone.commit()
    mixed = clone.machines("first", "--settings", "mine", "three")
    assert mixed.stderr == "error: settings mine, three: a setting that is a Python is run by itself\n"
    done = clone.machines("first")
    assert done.returncode == 0, done.stdout + done.stderr
    ran = [(run["variant"], run["python"]) for run in json.loads(record.read_text())[FIRST]["runs"]]
    assert ran[0] == ("", "2.7.18") and [name for name, _ in ran] == ["", "@three", "@mine"]


@pytest.mark.parametrize("variant", ["abc", 40 * "g", 40 * "a" + ".0", "@", 40 * "a" + ".1.2"])
def test_a_variant_that_is_none(variant):
    with pytest.raises(BuildError, match="allowed: a full commit id"):
        variants.check(variant)


def difference(own, there, sampled=False, floor=0.0, criterion=(0.5, 1.5)):
    part = SimpleNamespace(sampled=sampled, floor=floor, criterion=Interval(*criterion, ""))
    runs = [
        SimpleNamespace(value=v, low=v - 3.2905267314919255 * s, high=v + 3.2905267314919255 * s, verdict="holds")
        for v, s in (own, there)
    ]
    return Difference(part, *runs)


def test_the_size_of_a_difference():
    assert difference((1.0, 0), (1.001, 0)).size == pytest.approx(0.001 / 1.5)
    assert difference((1.0, 0.1), (1.05, 0.1), sampled=True).size == pytest.approx(0.5)
    assert difference((1e-15, 0), (3e-15, 0), criterion=(-1e-6, 1e-6)).size == pytest.approx(2e-9)
    assert difference((1e-15, 0), (3e-15, 0), criterion=(-1e-16, 1e-16)).size == pytest.approx(2 / 3)
    assert difference((1e-15, 0), (3e-15, 0), floor=1e-12, criterion=(-1e-16, 1e-16)).size == 0
