"""The letters of the book: the file is checked, and every chapter that it names exists."""

import pytest

from book.tools.base import chapters
from book.tools.base.chapters import BuildError
from book.tools.pages import notation


@pytest.fixture(autouse=True)
def toy(monkeypatch):
    monkeypatch.setattr(chapters, "chapters", lambda: ["11_a", "12_b", "21_c"])


def test_ranges_take_the_chapters_that_are_there():
    meaning = notation.Meaning(says="a thing", chapters=["11-19", 21])
    assert meaning.pages() == ["11_a", "12_b", "21_c"]
    first, last, single = (f"[{c[:2]}](/book/executed/{c}.ipynb)" for c in ("11_a", "12_b", "21_c"))
    assert meaning.shown == [f"{first} – {last}", single]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {letter: $a$, means: []}", "at least 1 item"),
        ("- {letter: $a$}", "line 1: 0.means"),
        ("- {letter: $a$, means: [{says: x, chapters: [13]}]}", "chapters 13 of 'x': there are none"),
        ("- {letter: $a$, means: [{says: x, chapters: [a-b]}]}", "notation.yml"),
        ("- {letter: $a$, colour: red, means: [{says: x, chapters: [11]}]}", "colour"),
    ],
)
def test_a_bad_entry_is_one_clear_error(tmp_path, text, said):
    path = tmp_path / "notation.yml"
    path.write_text(text)
    with pytest.raises(BuildError) as error:
        notation.letters(path)
    assert said in str(error.value) and "notation.yml" in str(error.value)


def test_the_book_s_letters(monkeypatch):
    monkeypatch.undo()
    found = notation.letters()
    names = [letter.letter for letter in found]
    assert len(set(names)) == len(names) and all(name.startswith("$") and name.endswith("$") for name in names)
