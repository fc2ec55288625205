"""Sphinx extension: the boxes of a chapter, and figures whose anchor is their name in the notebook with dashes.

Exercises are counted in their chapter: Exercise 12.3.
"""

from __future__ import annotations

import re

from docutils import nodes
from docutils.parsers.rst.directives.admonitions import BaseAdmonition
from myst_nb.ext.glue.directives import PasteFigureDirective
from sphinx.application import Sphinx

BOXES = {  # directive → title and classes
    "summary": ("In short", "lmc-summary"),
    "need": ("Before you start", "lmc-need"),
    "try": ("Try it", "tip"),
    "exercise": ("Exercise", "lmc-exercise"),
    "solution": ("Solution", "dropdown lmc-solution"),
}
CHAPTER = re.compile(r"(?:.*/)?(\d+)_[^/]+")


class Box(BaseAdmonition):
    """An admonition whose title and classes follow from its name."""

    node_class = nodes.admonition

    def run(self) -> list[nodes.Node]:
        title, classes = BOXES[self.name]
        self.options["class"] = classes.split()
        if self.name == "exercise":
            env = self.state.document.settings.env
            count = env.temp_data["exercises"] = env.temp_data.get("exercises", 0) + 1
            chapter = CHAPTER.fullmatch(env.docname)
            title += f" {chapter[1]}.{count}" if chapter else f" {count}"
        self.arguments = [title]
        return super().run()


class Figure(PasteFigureDirective):
    """A figure from a cell, with an anchor."""

    def run(self) -> list[nodes.Node]:
        self.options.setdefault("name", self.arguments[0].replace("_", "-"))
        return super().run()


def setup(app: Sphinx) -> dict:
    for name in BOXES:
        app.add_directive(name, Box)
    app.add_directive_to_domain("glue", "figure", Figure, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
