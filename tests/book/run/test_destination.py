"""Pages go only where a book may stand; what else lies there stays."""

import re

import pytest

from book.__main__ import main
from book.tools.read.chapters import BuildError
from book.tools.render import assemble
from book.tools.run import destination


def fill(path, *names):
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("mine")


def everything(path):
    return sorted((p.relative_to(path).as_posix(), p.read_bytes()) for p in path.rglob("*") if p.is_file())


def test_what_lies_there_is_kept_and_named_and_a_book_or_an_empty_folder_taken(tmp_path):
    for k, (files, out, said) in enumerate(
        (
            (["letters/one.txt"], "letters", "letters holds something other than a book"),
            (["letters"], "letters", "letters is not a folder"),
            (["_build/html/index.html", "conf.py"], ".", "holds something other than a book"),
        )
    ):
        folder = tmp_path / str(k)
        fill(folder, *files)
        before = everything(folder)
        with pytest.raises(BuildError, match=re.escape(said)):
            destination.check(folder / out)
        assert everything(folder) == before
    destination.check(tmp_path / "new")
    (tmp_path / "empty" / "_build" / "html").mkdir(parents=True)
    destination.check(tmp_path / "empty")
    fill(tmp_path / "book", "_build/html/.built", "_build/html/index.html")
    destination.check(tmp_path / "book")


def test_a_build_looks_before_it_runs_anything(toy, tmp_path_factory):
    letters = tmp_path_factory.mktemp("letters")
    fill(letters, "one.txt")
    done = toy.run("book", "build", "--profile", "smoke", "--out", str(letters))
    assert done.returncode == 1 and "holds something other than a book" in done.stderr
    assert "Traceback" not in done.stderr and ": running" not in done.stdout
    assert everything(letters) == [("one.txt", b"mine")]


def test_pages_are_assembled_only_where_they_may_go(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(assemble, "stage", lambda *arguments: pytest.fail("pages were begun"))
    fill(tmp_path, "letters/one.txt")
    assert main(["assemble", "--profile", "smoke", "--out", str(tmp_path / "letters")]) == 1
    assert re.fullmatch(r"error: [^\n]* holds something other than a book[^\n]*\n", capsys.readouterr().err)
    assert everything(tmp_path) == [("letters/one.txt", b"mine")]
