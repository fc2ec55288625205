"""A verdict as readers see it: ``text`` and ``html`` of a part and its record, a verdict as notebooks store it.

No number depends on this package: a change of it makes the boxes of executed notebooks anew, and runs nothing.
"""

from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.render._box import OTHER_READING, Links, html, scale  # noqa: F401
from lmc_helpers.claims.render._lines import text

__all__ = ()  # what packages of ours lend each other


def bundle(part: Part, record: dict) -> dict[str, str]:
    """The box of a part in a notebook, by MIME type."""
    return {"text/plain": text(part, record), "text/html": html(part, record)}
