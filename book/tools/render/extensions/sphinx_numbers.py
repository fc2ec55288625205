"""Sphinx extension: theorems and figures carry the number of their chapter, Theorem 12.5 and Fig. 12.3.

Sphinx numbers them through the whole book. Chapters have their number in their file's name.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

CHAPTER = re.compile(r"(?:.*/)?executed/(\d+)_[^/]+")
Numbers = dict[str, dict[str, tuple[int, ...]]]


def by_chapter(docname: str, numbers: Numbers) -> Numbers:
    """The numbers of one page's figures and theorems, kind → anchor → number, counted from 1 in each chapter."""
    found = CHAPTER.fullmatch(docname)
    if found is None:
        return numbers
    ordered = {kind: sorted(anchors, key=anchors.__getitem__) for kind, anchors in numbers.items()}
    return {kind: {a: (int(found[1]), k) for k, a in enumerate(anchors, 1)} for kind, anchors in ordered.items()}


def renumber(app: Sphinx, env: BuildEnvironment) -> list[str]:
    env.toc_fignumbers = {docname: by_chapter(docname, numbers) for docname, numbers in env.toc_fignumbers.items()}
    return []


def setup(app: Sphinx) -> dict:
    app.connect("env-get-updated", renumber, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
