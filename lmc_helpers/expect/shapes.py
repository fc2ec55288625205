"""Axes by their names, as in ``"... m d"``."""

from __future__ import annotations

from collections.abc import Sequence

from lmc_helpers.expect.refusal import refuse


def shape(found: Sequence[int], name: str, axes: str, empty: bool = False) -> None:
    """Refuse a shape with other axes than the words say, or an empty one of those that are named."""
    words = axes.split()
    wrong = len(found) < len(words) - 1 if "..." in words else len(found) != len(words)
    square = len(words) > 1 and words[-1] == words[-2]
    named = found[len(found) - len(words) + 1 :] if words[0] == "..." else found
    if wrong or (0 in named and not empty) or (square and found[-1] != found[-2]):
        refuse(name, f"has shape {tuple(found)}", f"({', '.join(words)}), no axis empty")
