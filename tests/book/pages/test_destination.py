"""Pages go only where a book may stand; what else lies there stays."""

import json

import pytest


def fill(path, *names):
    for name in names:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("mine")


def everything(path):
    return sorted((p.relative_to(path).as_posix(), p.read_bytes()) for p in path.rglob("*") if p.is_file())


@pytest.mark.parametrize("tool", ["build", "assemble"])
@pytest.mark.parametrize(
    ("files", "out", "said"),
    [
        (["letters/one.txt"], "letters", "letters holds something else than a book"),
        (["letters"], "letters", "letters is no folder"),
        (["_build/html/index.html", "conf.py"], ".", "holds something else than a book"),
        (["report.json"], "report", "report.json, which is none"),
    ],
)
def test_what_lies_there_is_kept_and_named(toy, tmp_path_factory, tool, files, out, said):
    place = tmp_path_factory.mktemp("mine")
    fill(place, *files)
    before = everything(place)
    done = toy.run(f"book.tools.{tool}", "--profile", "smoke", "--out", str(place / out))
    assert done.returncode == 1 and said in done.stderr and "Traceback" not in done.stderr
    assert everything(place) == before and ": running" not in done.stdout


def test_a_book_and_an_empty_folder_are_taken(tmp_path):
    from book.tools.pages import destination

    destination.check(tmp_path / "new")
    (tmp_path / "empty" / "_build" / "html").mkdir(parents=True)
    destination.check(tmp_path / "empty")
    fill(tmp_path / "book", "_build/html/.built", "_build/html/index.html")
    (tmp_path / "book.json").write_text(json.dumps({"profile": "smoke"}))
    destination.check(tmp_path / "book")
    (tmp_path / "book" / "_build" / "html" / ".built").unlink()  # as Snakemake does before it builds again
    destination.check(tmp_path / "book")
