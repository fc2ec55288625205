"""Confirmatory runs: seeds from a clean commit, every outcome stored, and seen to be out of date."""

import hashlib
import json

import pytest
from small_book import FIRST, SECOND

from book.tools.record import confirm
from book.tools.run import listing

MISSING = "from book.tools.record import confirm\nprint(*confirm.missing('smoke', ['01_first', '02_second']))"


@pytest.fixture
def book(clone):
    """The small book with one commit, and what is needed to confirm it."""

    def stored():
        path = clone.path("book/recorded/smoke.json")
        return {r["part"]: r for r in json.loads(path.read_text())} if path.exists() else {}

    clone.confirm = lambda *more: clone.run("book", "confirm", "--profile", "smoke", "--cores", "2", *more)
    clone.missing = lambda: clone.python("-c", MISSING).stdout.split()
    clone.stored = stored
    clone.commit()
    return clone


def test_the_whole_life_of_a_record(book):
    """What was finished when a run failed is stored and not run again; a record stands while what it rests on does."""
    assert book.built() and book.run("book", "reference").returncode == 0
    good = book.commit("lmc_helpers/gamma.py", "return 1", "return 1 / 0")
    done = book.confirm()
    assert sorted(book.ran(done)) == [FIRST, SECOND], done.stdout + done.stderr
    assert done.returncode == 1 and "division by zero" in done.stdout + done.stderr
    assert list(book.stored()) == ["B1.value"] and book.stored()["B1.value"]["seeds"] == good
    head = book.commit("lmc_helpers/gamma.py", "return 1 / 0", "return 1")
    done = book.confirm()
    assert done.returncode == 0 and book.ran(done) == [FIRST], done.stdout + done.stderr
    for chapter, part, commit in ((FIRST, "A1.value", head), (SECOND, "B1.value", good)):
        record = book.stored()[part]
        digest = hashlib.sha256(f"{commit}:{chapter}".encode()).digest()
        assert record["parameters"]["seed"] == int.from_bytes(digest[:4]) % (2**32 - 1)
        assert record["parameters"]["size"] == 3  # the chapter's own, which the profile does not set
        assert record["seeds"] == commit and commit.startswith(record["commit"])
        assert record["verdict"] == "holds" and len(record["criteria"]) == 16 and "code" not in record
        assert record["reference"]["profile"] == "smoke" and record["reference"]["value"] == record["value"]

    refused = book.confirm()  # all is there, so that the changed record does not matter
    assert refused.returncode == 0 and "every part has a record that stands" in refused.stdout
    book.commit()
    book.edit("book/claims/B.yml", "quantity: q", "quantity: another")
    assert book.missing() == [SECOND]
    refused = book.confirm()
    assert refused.returncode == 1 and "needs a clean commit; not committed:" in refused.stderr
    assert "B.yml" in refused.stderr and book.ran(refused) == []
    changed = book.commit()
    refused = book.confirm("--commit", good)
    assert "B1.value changed since" in refused.stderr and "confirm a later commit" in refused.stderr
    refused = book.confirm("--commit", good, "--later", "B1.value", "second.size")
    assert "--later second.size did not change since" in refused.stderr
    book.commit("notebooks/02_second.py", "# # second", "# # Second\n# Prose.")
    assert book.ran(book.confirm("--commit", changed)) == [SECOND]
    assert book.stored()["B1.value"]["seeds"] == changed

    book.commit()
    book.edit("tests/reference/01_first.ipynb", '"value": 1.0', '"value": 1.5')
    assert book.missing() == [FIRST]
    book.git("checkout", "tests")
    book.edit("book/claims/B.yml", "equals: 2", "equals: 2\n        tolerance: 0.5")
    assert book.missing() == [SECOND]
    refused = book.confirm("--anew")
    assert "error: B1.value: criterion = 2 ± 0.5 is wider than what stood" in refused.stderr
    assert "allowed: an interval inside [2, 2]" in book.run("book", "check").stderr
    book.edit(
        "book/claims/B.yml",
        "        tolerance: 0.5",
        "        tolerance: 0.5\n      revised: {from: {criterion: {equals: 2}}, why: it is rounded}",
    )
    assert book.missing() == [SECOND]
    done = book.confirm("--anew")
    assert done.returncode == 0 and "1 record judged anew" in done.stdout, done.stdout + done.stderr
    assert book.missing() == [] and book.stored()["B1.value"]["first_judged_by"] == "= 2"


def test_what_was_set_later_than_the_seeds_is_named_in_the_records(book):
    """Parameters and criteria, each by the one who runs it, and only if they changed."""
    seeds = book.git("rev-parse", "HEAD")
    book.set_parameters("smoke", first={"size": 4, "seconds": 0.1}, second={})
    book.commit()
    refused = book.confirm("first", "--commit", seeds, "--later", "first.size")
    assert "first.seconds changed since" in refused.stderr and book.ran(refused) == []
    done = book.confirm("first", "--commit", seeds, "--later", "first.size", "first.seconds")
    assert done.returncode == 0 and book.ran(done) == [FIRST], done.stdout + done.stderr
    record = book.stored()["A1.value"]
    assert record["set_later"] == ["size", "seconds"] and record["seeds"] == seeds
    assert record["parameters"]["size"] == 4 and book.missing() == [SECOND]
    assert "smoke.json" not in book.run("book", "check").stderr
    book.commit("book/claims/B.yml", "value: 9", "value: 8")
    assert book.ran(book.confirm("second", "--commit", seeds, "--later", "B1.value")) == [SECOND]
    assert book.stored()["B1.value"]["set_later"] == ["criterion"]


def test_a_spot_check_finds_what_no_reference_shows(book):
    assert book.confirm().returncode == 0
    book.commit()
    done = book.confirm("--spot", "1/2")
    assert done.returncode == 0 and "1 chapter compared: 0 differences" in done.stdout, done.stdout + done.stderr
    book.commit("lmc_helpers/gamma.py", "return 1", "return 7")
    book.commit("lmc_helpers/beta.py", "return 2", "return 3 - 1")
    assert book.missing() == []
    done = book.confirm("--spot", "1")
    assert done.returncode == 1 and sorted(book.ran(done)) == [FIRST, SECOND]
    assert "error: A1.value: fails, in the record holds" in done.stderr and "B1.value" not in done.stderr
    assert "2 chapters compared: 2 differences" in done.stdout


def test_seeds_of_a_commit_that_is_not_in_this_history_are_drawn_again(book):
    assert book.ran(book.confirm("second")) == [SECOND]
    book.commit()
    book.git("commit", "--quiet", "--amend", "--message", "the record, and the same commit under another id")
    assert book.missing() == [FIRST]
    orphan = book.git("commit-tree", "HEAD^{tree}", "-m", "all in one commit")
    book.git("reset", "--quiet", "--hard", orphan)
    assert book.missing() == [FIRST, SECOND]


def test_without_a_clone_there_is_one_clear_error(toy):
    done = toy.run("book", "confirm", "--profile", "smoke")
    assert done.returncode == 1 and done.stderr.startswith("error: git "), done.stderr
    assert "Traceback" not in done.stderr
    done = toy.run("book", "confirm", "--profile", "smoke", "third")
    assert "chapter 'third' does not exist; allowed: first, second" in done.stderr


def test_results_that_belong_with_the_book_are_copied_there(tmp_path, monkeypatch):
    class Some:
        def __init__(self, name, stored_in=None, there=True):
            self.file, self.stored_in = tmp_path / "runs" / name, stored_in
            if there:
                self.file.write_text(name)

        def path(self):
            there = self.stored_in and self.stored_in / self.file.name
            return there if there and there.exists() else self.file

        def done(self):
            return self.path().exists()

    (tmp_path / "runs").mkdir()
    stored_in = tmp_path / "book" / "runs"
    some = [Some("a.npz", stored_in), Some("b.npz"), Some("c.npz", stored_in, there=False), object()]
    monkeypatch.setattr(listing, "runs", lambda chapter, profile, seeds: some)
    assert confirm.store_results("smoke", "0" * 40, [FIRST]) == [stored_in / "a.npz"]
    assert [path.name for path in stored_in.iterdir()] == ["a.npz"] and (stored_in / "a.npz").read_text() == "a.npz"
    assert confirm.store_results("smoke", "0" * 40, [FIRST]) == []  # it is there
    assert confirm.store_results("smoke", "0" * 40, []) == []
