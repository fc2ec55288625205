"""The claims ledger: criteria committed beforehand, verdicts computed from measurements.

``book/claims/`` holds one file per paper, with one entry for each id of its claims, each with parts. A part records
whose statement it is, its weight, its criterion for a measured quantity, the corrected or sharper statement if there is
one, and a rival: a plausible value that lies outside. ``check`` compares a measured value with them.

=======================================  ===============================================================================
:mod:`~lmc_helpers.claims.numerals`      numbers for people: powers of ten, values and errors with equal digits
``formulas``                             closed forms as TeX, texts and labels as HTML, TeX as Unicode
:mod:`~lmc_helpers.claims.intervals`     numbers, closed forms, and the intervals that criteria are
``needs``                                requirements on a run that judges a part
:mod:`~lmc_helpers.claims.criteria`      the ledger as data: parts, claims, and their fields
``yaml_files``                           YAML read strictly, refused with file, line, field and what is allowed
:mod:`~lmc_helpers.claims.reading`       the ledger's files: each read once
:mod:`~lmc_helpers.claims.judge`         a measurement against a part's criteria: verdicts, by rules
``render``                               a verdict as readers see it: its box as text and as HTML
:mod:`~lmc_helpers.claims.checking`      ``check``, which judges, shows and stores a measurement
=======================================  ===============================================================================

Every chapter calls ``check``; the book's tools read what it stored under ``MIME``. Importing the package reads no file:
a missing ledger is an error only when a part is asked for.
"""

from lmc_helpers.claims import render
from lmc_helpers.claims.checking import MIME, check
from lmc_helpers.claims.criteria import (
    BROKEN,
    CORRECTED,
    FAILS,
    HEADLINE,
    HOLDS,
    NOT_RUN,
    OPEN,
    OURS,
    SHARPER,
    VERDICTS,
    slug,
    symbol,
)
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.judge import Contradiction, best_reading, not_run, of_claim
from lmc_helpers.claims.reading import ledger, part, recorded
from lmc_helpers.claims.render.words import Result, criterion, revised

__all__ = [
    "BROKEN",
    "CORRECTED",
    "FAILS",
    "HEADLINE",
    "HOLDS",
    "MIME",
    "NOT_RUN",
    "OPEN",
    "OURS",
    "SHARPER",
    "VERDICTS",
    "Contradiction",
    "LedgerError",
    "Result",
    "best_reading",
    "check",
    "criterion",
    "ledger",
    "not_run",
    "of_claim",
    "part",
    "recorded",
    "render",
    "revised",
    "slug",
    "symbol",
]
