"""The letters of the book; what is refused is in test_bad_input.py."""

from book.tools.read import chapters
from book.tools.render import notation


def test_every_letter_is_explained_once_and_ranges_take_the_chapters_that_are_there(monkeypatch):
    names = [letter.letter for letter in notation.letters()]
    assert len(set(names)) == len(names) > 10
    monkeypatch.setattr(chapters, "chapters", lambda: ["11_a", "12_b", "21_c"])
    meaning = notation.Meaning(says="a thing", chapters=["11-19", 21])
    assert meaning.pages() == ["11_a", "12_b", "21_c"]
    first, last, single = (f"[{c[:2]}](/book/executed/{c}.ipynb)" for c in ("11_a", "12_b", "21_c"))
    assert meaning.shown == [f"{first} – {last}", single]
