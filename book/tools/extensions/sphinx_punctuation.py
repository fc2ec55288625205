"""Sphinx extension: what follows a formula without a space, a comma or a bracket, stays on its line.

A browser may break a line behind a formula, and then a full stop stands alone at the start of the next one.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

INLINE = r"\\\((?:(?!\\\)|<).)*\\\)"
FORMULA = rf'<span class="math notranslate nohighlight">{INLINE}</span>|(?<!nohighlight">){INLINE}'
FOLLOWED = re.compile(rf"({FORMULA})([.,;:!?)\]’”]+|-(?=\w)[\w-]+)", re.S)


def kept(body: str) -> str:
    r"""Formulas of a page together with the signs that follow them.

    Examples
    --------
    >>> kept(r"at every \(k\). The \(n\)-th, \(m\) too")
    'at every <span class="lmc-keep">\\(k\\).</span> The <span class="lmc-keep">\\(n\\)-th</span>, \\(m\\) too'
    """
    return FOLLOWED.sub(r'<span class="lmc-keep">\1\2</span>', body)


def keep(app: Sphinx, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Do so on every page."""
    if "body" in context:
        context["body"] = kept(context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", keep)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
