"""Sphinx extension: theorems and figures carry the number of their chapter, Theorem 12.5 and Fig. 12.3.

Sphinx numbers them through the whole book. Chapters have their number in their file's name. The search of the pages
finds a theorem by its number in its own chapter first, and a chapter by the words of its name.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

CHAPTER = re.compile(r"(.*/)?executed/(\d+)(A?)_([^/]+)")
Numbers = dict[str, dict[str, tuple[int, ...]]]


def by_chapter(docname: str, everywhere: dict[str, Numbers]) -> Numbers:
    """The numbers of one page's figures and theorems, kind → anchor → number, counted from 1 in each chapter.

    A chapter's second page, ``15A_…``, goes on where the first ends.
    """
    found, numbers = CHAPTER.fullmatch(docname), everywhere[docname]
    if found is None:
        return numbers
    first = everywhere.get(f"{found[1] or ''}executed/{found[2]}_{found[4]}", {}) if found[3] else {}
    ordered = {kind: sorted(anchors, key=anchors.__getitem__) for kind, anchors in numbers.items()}
    return {
        kind: {anchor: (int(found[2]), k) for k, anchor in enumerate(anchors, len(first.get(kind, ())) + 1)}
        for kind, anchors in ordered.items()
    }


def renumber(app: Sphinx, env: BuildEnvironment) -> list[str]:
    everywhere = env.toc_fignumbers
    env.toc_fignumbers = {docname: by_chapter(docname, everywhere) for docname in everywhere}
    return []


def entries(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Entries of the index of a chapter's page, which the search weighs most: its name, and its theorems' numbers."""
    if (found := CHAPTER.fullmatch(docname)) is None:
        return
    named = [] if found[3] else [(found[4].replace("_", " "), "")]
    numbers = {at: number for kind in app.env.toc_fignumbers.get(docname, {}).values() for at, number in kind.items()}
    for node in doctree.findall(nodes.Admonition):
        if (at := next((id for id in node.get("ids", ()) if id in numbers), None)) is not None:
            kind = node["realtype"].capitalize()
            named.append((f"{kind} {'.'.join(map(str, numbers[at]))}", at))
    listed = [("single", words, at, "main", None) for words, at in named]
    doctree.insert(0, addnodes.index(entries=listed))


def setup(app: Sphinx) -> dict:
    app.connect("env-get-updated", renumber, priority=900)
    app.connect("doctree-resolved", entries)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
