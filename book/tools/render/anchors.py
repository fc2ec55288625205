"""Anchors of claims on the built pages; ``Z3.limit`` becomes ``Z3-limit`` in them."""

VERDICTS = "verdicts"  #: the page, below ``book/``, that explains verdicts


def box(part: str) -> str:
    """The anchor of a part's box in its chapter, ``claim-Z3-limit``."""
    return f"claim-{part.replace('.', '-')}"


def row(id: str) -> str:
    """The anchor of an id, or of a part, on the scoreboard, ``score-Z3-limit``."""
    return f"score-{id.replace('.', '-')}"


def erratum(part: str) -> str:
    """The anchor of a part's entry in the errata, ``erratum-Z3-limit``."""
    return f"erratum-{part.replace('.', '-')}"


def errata_page(part: str) -> str:
    """The page, below ``book/``, with the errata of the paper of an id or a part, ``errata/Z``."""
    return f"errata/{part[0]}"
