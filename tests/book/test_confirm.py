"""Confirmatory runs: seeds from a clean commit, every outcome stored, and seen to be out of date."""

import hashlib
import json
import subprocess

import pytest
from small_book import FIRST, SECOND

from book.tools import confirm
from book.tools.running import listing, variants


@pytest.fixture
def clone(toy):
    """The small book as a clone with one commit, and what is needed to change and confirm it."""

    def git(*arguments):
        done = subprocess.run(["git", "-C", str(toy.where), *arguments], capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(*edit):
        if edit:
            toy.edit(*edit)
        git("add", "--all")
        git("commit", "--quiet", "--message", "a commit")
        return git("rev-parse", "HEAD")

    def run(*arguments):
        return toy.run("book.tools.confirm", "--profile", "smoke", "--cores", "2", *arguments)

    def stored():
        path = toy.path("book/recorded/smoke.json")
        return {r["part"]: r for r in json.loads(path.read_text())} if path.exists() else {}

    toy.path(".gitignore").write_text("build/\n__pycache__/\n")
    git("init", "--quiet")
    git("config", "user.name", "a")
    git("config", "user.email", "a@b")

    def missing():
        program = "from book.tools import confirm\nprint(*confirm.missing('smoke', ['01_first', '02_second']))"
        return toy.python("-c", program).stdout.split()

    toy.git, toy.commit, toy.confirm, toy.stored, toy.missing = git, commit, run, stored, missing
    toy.head = commit()
    return toy


def test_the_whole_life_of_a_record(clone):
    """What was finished when a run failed is stored and not run again; a record stands while what it rests on does."""
    assert clone.built() and clone.run("book.tools.reference").returncode == 0
    good = clone.commit("lmc_helpers/gamma.py", "return 1", "return 1 / 0")
    done = clone.confirm()
    assert sorted(clone.ran(done)) == [FIRST, SECOND], done.stdout + done.stderr
    assert done.returncode == 1 and "division by zero" in done.stdout + done.stderr
    assert list(clone.stored()) == ["B1.value"] and clone.stored()["B1.value"]["seeds"] == good
    head = clone.commit("lmc_helpers/gamma.py", "return 1 / 0", "return 1")
    done = clone.confirm()
    assert done.returncode == 0 and clone.ran(done) == [FIRST], done.stdout + done.stderr
    for chapter, part, commit in ((FIRST, "A1.value", head), (SECOND, "B1.value", good)):
        record = clone.stored()[part]
        digest = hashlib.sha256(f"{commit}:{chapter}".encode()).digest()
        assert record["parameters"]["seed"] == int.from_bytes(digest[:4]) % (2**32 - 1)
        assert record["parameters"]["size"] == 3  # the chapter's own, which the profile does not set
        assert record["seeds"] == commit and commit.startswith(record["commit"])
        assert record["verdict"] == "holds" and len(record["criteria"]) == 16 and "code" not in record
        assert record["reference"]["profile"] == "smoke" and record["reference"]["value"] == record["value"]

    refused = clone.confirm()  # all is there, so that the changed record does not matter
    assert refused.returncode == 0 and "every part has a record that stands" in refused.stdout
    clone.commit()
    clone.edit("book/claims/B.yml", "quantity: q", "quantity: another")
    assert clone.missing() == [SECOND]
    refused = clone.confirm()
    assert refused.returncode == 1 and "needs a clean commit; not committed:" in refused.stderr
    assert "B.yml" in refused.stderr and clone.ran(refused) == []
    changed = clone.commit()
    refused = clone.confirm("--commit", good)
    assert "B1.value changed since" in refused.stderr and "confirm a later commit" in refused.stderr
    clone.commit("notebooks/02_second.py", "# # second", "# # Second\n# Prose.")
    assert clone.ran(clone.confirm("--commit", changed)) == [SECOND]
    assert clone.stored()["B1.value"]["seeds"] == changed

    clone.commit()
    clone.edit("tests/reference/01_first.ipynb", '"value": 1.0', '"value": 1.5')
    assert clone.missing() == [FIRST]
    clone.git("checkout", "tests")
    clone.edit("book/claims/B.yml", "equals: 2", "equals: 2\n        tolerance: 0.5")
    assert clone.missing() == [SECOND]


def test_a_spot_check_finds_what_no_reference_shows(clone):
    assert clone.confirm().returncode == 0
    clone.commit()
    done = clone.confirm("--spot", "1/2")
    assert done.returncode == 0 and "1 chapter(s) compared: 0 difference(s)" in done.stdout, done.stdout + done.stderr
    clone.commit("lmc_helpers/gamma.py", "return 1", "return 7")
    clone.commit("lmc_helpers/beta.py", "return 2", "return 3 - 1")
    assert clone.missing() == []
    done = clone.confirm("--spot", "1")
    assert done.returncode == 1 and sorted(clone.ran(done)) == [FIRST, SECOND]
    assert "error: A1.value: fails, in the record holds" in done.stderr and "B1.value" not in done.stderr
    assert "2 chapter(s) compared: 2 difference(s)" in done.stdout


def test_seeds_of_a_commit_that_is_not_in_this_history_are_drawn_again(clone):
    assert clone.ran(clone.confirm("second")) == [SECOND]
    clone.commit()
    clone.git("commit", "--quiet", "--amend", "--message", "the record, and the same commit under another id")
    assert clone.missing() == [FIRST]
    orphan = clone.git("commit-tree", "HEAD^{tree}", "-m", "all in one commit")
    clone.git("reset", "--quiet", "--hard", orphan)
    assert clone.missing() == [FIRST, SECOND]


def test_without_a_clone_there_is_one_clear_error(toy):
    done = toy.run("book.tools.confirm", "--profile", "smoke")
    assert done.returncode == 1 and done.stderr.startswith("error: git "), done.stderr
    assert "Traceback" not in done.stderr
    done = toy.run("book.tools.confirm", "--profile", "smoke", "third")
    assert "chapter 'third' does not exist; allowed: first, second" in done.stderr


def test_seeds_differ_between_chapters_and_commits():
    seeds = {variants.seed(40 * digit, chapter) for digit in "0123" for chapter in (FIRST, SECOND)}
    assert len(seeds) == 8 and all(0 <= seed <= 2**32 - 2 for seed in seeds)


def test_results_that_belong_with_the_book_are_copied_there(tmp_path, monkeypatch):
    class Some:
        def __init__(self, name, shelf=None, there=True):
            self.file, self.shelf = tmp_path / "runs" / name, shelf
            if there:
                self.file.write_text(name)

        def path(self):
            there = self.shelf and self.shelf / self.file.name
            return there if there and there.exists() else self.file

        def done(self):
            return self.path().exists()

    (tmp_path / "runs").mkdir()
    shelf = tmp_path / "book" / "runs"
    some = [Some("a.npz", shelf), Some("b.npz"), Some("c.npz", shelf, there=False), object()]
    monkeypatch.setattr(listing, "runs", lambda chapter, profile, seeds: some)
    assert confirm.shelve("smoke", "0" * 40, [FIRST]) == [shelf / "a.npz"]
    assert [path.name for path in shelf.iterdir()] == ["a.npz"] and (shelf / "a.npz").read_text() == "a.npz"
    assert confirm.shelve("smoke", "0" * 40, [FIRST]) == []  # it is there
    assert confirm.shelve("smoke", "0" * 40, []) == []
