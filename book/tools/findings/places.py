"""Where things stand on the built pages: the anchors of claims, and the addresses that lead to them.

Every page that links to a claim takes its address from here, and so does the page that it stands on.
"""

from __future__ import annotations

VERDICTS = "verdicts"  #: the page, below ``book/``, that says how to read a verdict


def slug(part: str) -> str:
    """An id or a part of the ledger as it may stand in an anchor.

    Examples
    --------
    >>> slug("Z3"), slug("Z3.limit_of_ratio")
    ('Z3', 'Z3-limit_of_ratio')
    """
    return part.replace(".", "-")


def box(part: str) -> str:
    """The anchor of a part's box in its chapter.

    Examples
    --------
    >>> box("Z3.limit")
    'claim-Z3-limit'
    """
    return f"claim-{slug(part)}"


def row(id: str) -> str:
    """The anchor of an id, or of a part, on the scoreboard.

    Examples
    --------
    >>> row("Z3"), row("Z3.limit")
    ('score-Z3', 'score-Z3-limit')
    """
    return f"score-{slug(id)}"


def erratum(part: str) -> str:
    """The anchor of a part's entry in the errata.

    Examples
    --------
    >>> erratum("Z3.limit")
    'erratum-Z3-limit'
    """
    return f"erratum-{slug(part)}"


def errata(part: str) -> str:
    """The page, below ``book/``, with the errata of the paper that an id or a part belongs to.

    Examples
    --------
    >>> errata("Z3.limit")
    'errata/Z'
    """
    return f"errata/{part[0]}"
