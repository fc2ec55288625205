"""Sphinx extension: in each chapter the first use of a concept leads to the glossary."""

from __future__ import annotations

import re
from functools import cache

from docutils import nodes
from sphinx.application import Sphinx

from book.tools.pages.glossary import Term, terms

CHAPTER = re.compile(r"book/executed/(\d+_\w+)")
PAGE = "book/glossary"
#: Where a link would be wrong or in the way.
CLOSED = (nodes.title, nodes.reference, nodes.literal, nodes.literal_block, nodes.math, nodes.raw, nodes.caption)


def open_texts(doctree: nodes.document) -> list[nodes.Text]:
    """The texts of a page that may hold a link: paragraphs and lists, no titles, links, code or theorem headings."""
    found = []
    for text in doctree.findall(nodes.Text):
        above, node = [], text.parent
        while node is not None:
            above.append(node)
            node = node.parent
        if any(isinstance(a, nodes.paragraph) for a in above) and not any(isinstance(a, CLOSED) for a in above):
            found.append(text)
    return found


known_terms = cache(terms)  # read once for all pages


def link(text: nodes.Text, place: re.Match, address: str, term: Term) -> list[nodes.Text]:
    """Replace a text by what stands before, a link, and what stands after; the texts on both sides."""
    said = text.astext()
    target = nodes.reference("", place[0], refuri=address, classes=["lmc-term"], internal=True, reftitle=term.term)
    before, after = nodes.Text(said[: place.start()]), nodes.Text(said[place.end() :])
    text.parent.replace(text, [piece for piece in (before, target, after) if piece.astext()])
    return [piece for piece in (before, after) if piece.astext()]


def link_first_uses(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Let the first use of each concept in a chapter lead to what it means."""
    chapter = CHAPTER.fullmatch(docname)
    if chapter is None or PAGE not in app.env.found_docs:
        return
    texts = open_texts(doctree)
    for term in known_terms():
        if term.pattern is None or not term.meant_in(chapter[1]):
            continue
        for at, text in enumerate(texts):
            if place := term.pattern.search(text.astext()):
                address = f"{app.builder.get_relative_uri(docname, PAGE)}#{term.anchor}"
                texts[at : at + 1] = link(text, place, address, term)
                break


def setup(app: Sphinx) -> dict:
    app.connect("doctree-resolved", link_first_uses)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
