"""A verdict as the pages show it: the name of its style and its symbol, which stands beside every colour."""

from __future__ import annotations

from lmc_helpers.claims.criteria import BROKEN, CORRECTED, FAILS, HOLDS, OPEN, SHARPER

#: ⚠ is followed by the sign that asks for a plain glyph, not for a coloured picture.
SYMBOLS = {HOLDS: "✓", SHARPER: "✓+", BROKEN: "⚠\ufe0e", CORRECTED: "✎", FAILS: "✗", OPEN: "?"}


def slug(verdict: str) -> str:
    """A verdict as the style sheet names it."""
    return verdict.replace(",", "").replace(" ", "-")


def symbol(verdict: str) -> str:
    """The symbol of a verdict; what is none, as "not yet in the book", has no symbol."""
    return SYMBOLS.get(verdict, "")
