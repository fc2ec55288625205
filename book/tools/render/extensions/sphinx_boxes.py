"""Sphinx extension: the boxes of a chapter, proofs that fold, figures whose anchor is their name with dashes.

Exercises are counted in their chapter: Exercise 12.3.
"""

import re

from docutils import nodes
from docutils.parsers.rst.directives.admonitions import BaseAdmonition
from myst_nb.core.variables import RetrievalError, render_variable_outputs
from myst_nb.ext.glue.directives import PasteFigureDirective
from myst_nb.ext.glue.utils import retrieve_glue_data
from sphinx.application import Sphinx
from sphinx_proof.nodes import proof_node

BOXES = {  # directive → title and classes
    "need": ("Before you start", "lmc-need"),
    "try": ("Try it", "tip"),
    "exercise": ("Exercise", "lmc-exercise"),
    "solution": ("Solution", "dropdown lmc-solution"),
}
LETTERS = 100  # in a line of text, formulas as they are written
CHAPTER = re.compile(r"(?:.*/)?(\d+)A?_[^/]+")


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
        found = super().run()
        if self.name == "try":
            found[0]["ids"].append("try-it")
        return found


class Figure(PasteFigureDirective):
    """A figure from a cell, with an anchor, and with its second shape for phones where there is one."""

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        self.options.setdefault("name", name.replace("_", "-"))
        try:
            data = retrieve_glue_data(self.document, f"{name}_narrow")
        except RetrievalError:
            return super().run()
        image = {"alt": self.options.get("alt", "")}
        narrow = render_variable_outputs([data], self.document, self.line, self.source, render={"image": image})
        figure, *more = super().run()
        for shape, shown in (("lmc-wide", figure.children), ("lmc-narrow", narrow)):
            for picture in (picture for node in shown for picture in node.findall(nodes.image)):
                picture["classes"].append(shape)
        figure.insert(1, narrow)
        return [figure, *more]


def fold_proofs(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A proof folds under the number of its lines."""
    if app.builder.format != "html":
        return
    for proof in doctree.findall(proof_node):
        lines = max(1, round(len(proof.astext()) / LETTERS))
        head = f'<details class="lmc-proof"><summary>Proof ({lines} line{"s" * (lines > 1)})</summary>'
        proof.insert(0, nodes.raw("", head, format="html"))
        proof.append(nodes.raw("", "</details>", format="html"))


def setup(app: Sphinx) -> dict:
    app.connect("doctree-resolved", fold_proofs)
    for name in BOXES:
        app.add_directive(name, Box)
    app.add_directive_to_domain("glue", "figure", Figure, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
