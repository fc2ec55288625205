"""The glossary: its terms lead back to the chapters that use them, and chapters lead to it where they first do."""

import re

from book.tools.read import chapters
from book.tools.render import glossary

PAGE = """# Words

```{glossary}
Type
  a row's *kind*.
  Defined in [](/book/executed/12_b.ipynb).

wide barrier
  a wide one.
  See [](/book/verdicts.md).
```
"""
TERM = '<span class="xref std std-term">'
LINK = re.compile(rf'<a class="reference internal" href="\.\./glossary\.html#([^"]+)" ?>?{TERM}')


def test_the_chapters_that_lead_to_a_term_are_found(tmp_path, monkeypatch):
    texts = {"11_a": "Rows of {term}`types <Type>`, `{term}`.", "12_b": "A {term}`Wide barrier`, a {term}`type`."}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(f"# %% [markdown]\n# {text}\n")
    monkeypatch.setattr(chapters, "chapters", lambda: list(texts))
    monkeypatch.setattr(glossary, "NOTEBOOKS", tmp_path)
    found = glossary.uses()
    assert found == {"type": ["11_a", "12_b"], "wide barrier": ["12_b"]}
    lines = glossary.with_uses(PAGE, found).splitlines()
    assert lines[5] == "  Defined in [](/book/executed/12_b.ipynb); also in [11](/book/executed/11_a.ipynb)."
    assert lines[9] == "  See [](/book/verdicts.md); also in [12](/book/executed/12_b.ipynb)."
    rest = ([line for k, line in enumerate(some) if k not in (5, 9)] for some in (lines, PAGE.splitlines()))
    assert next(rest) == next(rest)


def test_a_chapter_leads_to_each_of_its_terms_once():
    for chapter in chapters.chapters():
        terms = glossary.ROLE.findall((chapters.NOTEBOOKS / f"{chapter}.py").read_text(encoding="utf-8"))
        assert len(terms) == len({term.lower() for term in terms}), chapter


def test_pages_lead_to_terms_and_terms_to_pages(html):
    page = (html / "book" / "glossary.html").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<dt id="([^"]+)"', page))
    assert len(anchors) > 50
    for chapter in chapters.chapters():
        text = (html / "book" / "executed" / f"{chapter}.html").read_text(encoding="utf-8")
        found = set(LINK.findall(text))
        assert found and found <= anchors, chapter
        for anchor in found:
            entry = page[page.index(f'<dt id="{anchor}"') :].partition("</dd>")[0]
            assert f'href="executed/{chapter}.html"' in entry, (chapter, anchor)
