"""The claims ledger: criteria committed beforehand, verdicts computed from measurements.

``book/claims/`` holds one file a paper, with one entry for each id of its claims, each with parts. A part says what the
paper prints, what holds instead where the paper is wrong, and a rival: a value near enough to be plausible that the
measurement must be able to reject. :func:`~lmc_helpers.claims.box.check` compares a measured value with them.

=====================================  ================================================================================
:mod:`~lmc_helpers.claims.criteria`    the ledger as data: intervals, parts, claims, and what each field may hold
:mod:`~lmc_helpers.claims.reading`     the files: read once, refused with file, id, field and what is allowed
:mod:`~lmc_helpers.claims.judge`       a measurement against a part's criteria: verdicts, by rules
:mod:`~lmc_helpers.claims.box`         ``check``: what a reader sees of a verdict, and what a notebook stores of it
=====================================  ================================================================================

Every chapter calls ``check``; the book's tools read what it stored under ``MIME``. Importing the room reads no
file: a ledger that is not there is an error only for who asks for it.
"""

from lmc_helpers.claims.box import MIME, check, rounded
from lmc_helpers.claims.criteria import CORRECTED, FAILS, HOLDS, OPEN, VERDICTS, LedgerError
from lmc_helpers.claims.judge import Contradiction, worst
from lmc_helpers.claims.reading import ledger, part

__all__ = [
    "CORRECTED",
    "FAILS",
    "HOLDS",
    "MIME",
    "OPEN",
    "VERDICTS",
    "Contradiction",
    "LedgerError",
    "check",
    "ledger",
    "part",
    "rounded",
    "worst",
]
