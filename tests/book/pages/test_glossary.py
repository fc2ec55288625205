"""The glossary: its file is checked, concepts are found in prose only, and the first use of each is linked."""

import docutils.core
import pytest
from docutils import nodes

from book.tools.base import chapters
from book.tools.base.chapters import BuildError
from book.tools.extensions import sphinx_terms
from book.tools.pages import glossary

TOY = """
- {term: wide barrier, says: a wide one, chapter: 11_a}
- {term: Type, says: a row's kind, chapter: 12_b, forms: [of type, types], only: [12]}
- {term: rival, says: a value, page: verdicts, forms: []}
"""


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "glossary.yml"
    path.write_text(TOY)
    return path


def test_terms_are_sorted_and_have_anchors(toy):
    found = glossary.terms(toy)
    assert [(term.term, term.anchor) for term in found] == [
        ("rival", "term-rival"),
        ("Type", "term-type"),
        ("wide barrier", "term-wide-barrier"),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- {term: a, says: b}", "one of 'chapter' and 'page'"),
        ("- {term: a, says: b, chapter: c, page: d}", "one of 'chapter' and 'page'"),
        ("- {term: a, says: b, chapter: c, colour: red}", "colour"),
        ("- {says: b, chapter: c}", "term"),
        ("- {term: '', says: b, chapter: c}", "at least 1 character"),
        ("- {term: a-b, says: b, chapter: c}\n- {term: A b, says: b, chapter: c}", "'term-a-b' stands twice"),
    ],
)
def test_a_bad_entry_is_one_clear_error(tmp_path, text, said):
    path = tmp_path / "glossary.yml"
    path.write_text(text)
    with pytest.raises(BuildError, match=r"glossary\.yml") as error:
        glossary.terms(path)
    assert said in str(error.value)


def test_concepts_are_found_as_words_in_prose(toy, tmp_path, monkeypatch):
    source = "# %% [markdown]\n# # Wide barrier\n#\n# {}\n\n# %%\nx = 'wide barrier'\n"
    texts = {
        "11_a": "A wide\n# barriers' `wide barrier` and $wide barrier$, [x](wide barrier).",
        "12_b": "Rows of type 3, a Wide Barrier.",
        "13_c": "Rows of type 3, a half-wide barrier-like thing.",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(source.format(text))
    monkeypatch.setattr(chapters, "chapters", lambda: list(texts))
    found = {use.term.term: use for use in glossary.uses(glossary.terms(toy), tmp_path)}
    assert {name: use.chapters for name, use in found.items()} == {
        "rival": [],
        "Type": ["12_b"],
        "wide barrier": ["12_b"],
    }
    assert found["Type"].others == [] and found["wide barrier"].others == ["12_b"]


def test_only_open_text_is_linked():
    page = docutils.core.publish_doctree(
        "Title type\n==========\n\nA `type <x.html>`_ and ``type``, then *type* and type.\n\n- type"
    )
    (title,) = [t for t in page.findall(nodes.Text) if t.astext() == "Title type"]
    texts = sphinx_terms.open_texts(page)
    assert title not in texts and [t.astext() for t in texts] == [
        "A ",
        " and ",
        ", then ",
        "type",
        " and type.",
        "type",
    ]


def test_a_link_leaves_the_words_around_it():
    page = docutils.core.publish_doctree("Rows of type 3 are rows.")
    (text,) = sphinx_terms.open_texts(page)
    term = glossary.Term(term="Type", says="a kind", chapter="12_b", forms=["of type"])
    sphinx_terms.link(text, term.pattern.search(text.astext()), "g.html#term-type", term)
    (paragraph,) = page.findall(nodes.paragraph)
    assert paragraph.astext() == "Rows of type 3 are rows."
    (made,) = page.findall(nodes.reference)
    assert made.astext() == "of type" and made["refuri"] == "g.html#term-type"


def test_the_book_s_glossary_names_chapters_and_pages_that_exist(root):
    for term in glossary.terms():
        assert not term.chapter or term.chapter in chapters.chapters(), term.term
        assert not term.page or (root / "book" / f"{term.page}.md").exists(), term.term
        assert term.says.endswith(".") and term.says.count("$") % 2 == 0, term.term
