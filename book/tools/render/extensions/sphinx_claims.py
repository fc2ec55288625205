"""Sphinx extension: the roles ``{claim}`` and ``{verdict}`` show a verdict where the text speaks of it, with its link.

``{claim}`Z3.limit``` is the part's symbol and id, linked to its box; ``{claim}`Z3``` that of the id, linked to its row
on the scoreboard. Verdicts and addresses come from ``generated/verdicts.json``, which is written with the book's pages.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxRole

LISTING = "book/generated/verdicts.json"
logger = logging.getLogger(__name__)


class claim(nodes.Inline, nodes.TextElement):
    """An id or a part of the ledger, before its verdict and link are known."""


class VerdictRole(SphinxRole):
    """A verdict in words, with the part whose it is: ``{verdict}`near $2M$ <Z7.peak>```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        words, _, id = self.text.removesuffix(">").rpartition(" <")
        node = claim("", id=id, words=True)
        self.set_source_info(node)
        children, messages = self.inliner.parse(words, self.lineno, self.inliner, node)
        node.extend(children)
        return [node], messages


class ClaimRole(SphinxRole):
    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        node = claim("", self.text, id=self.text)
        self.set_source_info(node)
        return [node], []


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Replace ids by verdicts and links; an unknown id is a warning, and the build stops."""
    path = Path(app.confdir) / LISTING
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    for node in list(doctree.findall(claim)):
        entry = known.get(node["id"])
        if entry is None:
            logger.warning("claim %r is not in the ledger", node["id"], location=node)
            continue
        address = app.builder.get_relative_uri(docname, entry["page"]) if entry["page"] != docname else ""
        words = "" if node.get("words") else f"{entry['symbol']} {node['id']}"
        style = ["lmc-word", f"lmc-{entry['own']}"] if node.get("words") else ["lmc-badge", f"lmc-{entry['slug']}"]
        link = nodes.reference("", words, refuri=f"{address}#{entry['anchor']}", classes=style, internal=True)
        link["reftitle"] = f"{node['id']}: {entry['verdict']}"
        if node.get("words"):
            link.extend(node.children)
        node.replace_self(link)


def skip(self, node: nodes.Node) -> None:
    """Show the id: in builders other than HTML, and for unknown ids."""


def setup(app: Sphinx) -> dict:
    app.add_node(claim, html=(skip, skip), latex=(skip, skip), text=(skip, skip))
    app.add_role("claim", ClaimRole())
    app.add_role("verdict", VerdictRole())
    app.connect("doctree-resolved", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
