"""The claims ledger: criteria committed beforehand, verdicts computed from measurements.

``book/claims/`` holds one file a paper, with one entry for each id of its claims, each with parts. A part says whose
statement it is, what weight it has, what it comes to for a measured quantity, what holds instead or beyond, and a
rival: a value near enough to be plausible that lies outside. ``check`` compares a measured value with them.

=====================================  ================================================================================
:mod:`~lmc_helpers.claims.intervals`   numbers, closed forms, and the intervals that criteria are
:mod:`~lmc_helpers.claims.criteria`    the ledger as data: parts, claims, and what each field may hold
:mod:`~lmc_helpers.claims.reading`     the files: read once, refused with file, id, field and what is allowed
:mod:`~lmc_helpers.claims.judge`       a measurement against a part's criteria: verdicts, by rules
:mod:`~lmc_helpers.claims.box`         ``check``: what a reader sees of a verdict, and what a notebook stores of it
=====================================  ================================================================================

Every chapter calls ``check``; the book's tools read what it stored under ``MIME``. Importing the room reads no
file: a ledger that is not there is an error only for who asks for it.
"""

from lmc_helpers.claims.box import MIME, check, measured, rounded, slug
from lmc_helpers.claims.criteria import (
    BROKEN,
    CORRECTED,
    FAILS,
    HEADLINE,
    HOLDS,
    OPEN,
    OURS,
    SHARPER,
    VERDICTS,
)
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.judge import Contradiction, best_reading, differing, of_claim, worst
from lmc_helpers.claims.reading import ledger, part

__all__ = [
    "BROKEN",
    "CORRECTED",
    "FAILS",
    "HEADLINE",
    "HOLDS",
    "MIME",
    "OPEN",
    "OURS",
    "SHARPER",
    "VERDICTS",
    "Contradiction",
    "LedgerError",
    "best_reading",
    "check",
    "differing",
    "ledger",
    "measured",
    "of_claim",
    "part",
    "rounded",
    "slug",
    "worst",
]
