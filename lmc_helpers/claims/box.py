"""What a reader sees of a verdict, and what a notebook stores of it."""

from __future__ import annotations

import html
from dataclasses import asdict

import numpy as np

from lmc_helpers.claims import reading
from lmc_helpers.claims.criteria import Part
from lmc_helpers.claims.judge import Contradiction, Verdict, contradicts, farthest, judge

MIME = "application/vnd.lmc.claim+json"  #: where the metadata of a cell's output hold a verdict


def check(id: str, value, *, stderr: float = 0.0, n: int | None = None, rival: float | None = None, again=None) -> None:
    """Judge a measurement against the ledger's part ``id``, show the outcome and store it in the notebook.

    Parameters are those of :func:`~lmc_helpers.claims.judge.judge`, and ``value`` may be a sequence of exact values:
    then its worst value for the printed criterion is judged (:func:`~lmc_helpers.claims.judge.farthest`), with n the
    number of values unless it is given. The record is stored in the metadata of the cell's output.

    Raises
    ------
    Contradiction
        if the verdict contradicts the ledger's expectation, after the outcome was shown.
    LedgerError, ValueError
        as :func:`~lmc_helpers.claims.reading.part` and :func:`~lmc_helpers.claims.judge.judge`; a sequence must not be
        empty.
    """
    from IPython.display import display

    criteria = reading.part(id)
    values = np.asarray(value, dtype=float)
    if values.ndim:
        if not values.size or stderr or again:
            raise ValueError(f"{id}: {values.size} values; allowed: a sequence of one or more exact values, no stderr")
        value, n = farthest(values, criteria.printed), values.size if n is None else n
    if n is None:
        raise ValueError(f"{id}: n is missing; allowed: the samples or the size behind a single value")
    verdict = judge(criteria, float(value), stderr=stderr, n=n, rival=rival, again=again)
    seen = {"text/plain": text(criteria, verdict), "text/html": table(criteria, verdict)}
    display(seen, metadata={MIME: asdict(verdict)}, raw=True)
    if contradicts(verdict):
        raise Contradiction(f"{id}: computed {verdict.verdict!r}, the ledger expects {verdict.expected!r}")


def rounded(value: float, digits: int, floor: float = 0.0) -> str:
    """A value with so many digits; one below ``floor`` in size is shown as a rounding error.

    Examples
    --------
    >>> rounded(0.123456, 3), rounded(2e-16, 3, floor=1e-12)
    ('0.123', '< 1e-12')
    """
    return f"< {floor:g}" if abs(value) < floor else f"{value:.{digits}g}"


def _rows(part: Part, v: Verdict) -> list[tuple[str, str, str]]:
    """Label, content, outcome."""
    if v.value is None:
        criteria = [("printed", v.printed, "")] + ([("corrected", v.corrected, "")] if v.corrected else [])
        return [
            (v.part, v.quantity, ""),
            ("measured", "not run", ""),
            *criteria,
            ("verdict", f"{v.verdict} ({v.note})", ""),
        ]
    shown = rounded(v.value, part.digits, part.floor) + (f" ± {v.stderr:.1g}" if v.stderr else "") + f" (n = {v.n})"
    rows = [
        (v.part, v.quantity, ""),
        ("measured", shown, ""),
        ("printed", v.printed, "met" if v.printed_met else "rejected"),
    ]
    if v.corrected:
        rows.append(("corrected", v.corrected, "met" if v.corrected_met else "rejected"))
    rows.append(("rival", v.rival, "rejected" if v.rival_rejected else "not rejected"))
    rows.append(("verdict", v.verdict + (f" ({v.note})" if v.note else ""), ""))
    return rows


def text(part: Part, verdict: Verdict) -> str:
    """The box as lines of text: label, content, outcome."""
    rows = _rows(part, verdict)
    width = max(len(label) for label, *_ in rows)
    return "\n".join(
        f"{label:<{width}}  {content}" + (f"  [{outcome}]" if outcome else "") for label, content, outcome in rows
    )


def table(part: Part, verdict: Verdict) -> str:
    """The box as an HTML table, which ``book/_static/book.css`` colours by the verdict."""
    body = "".join(
        f"<tr><th>{html.escape(label)}</th><td>{html.escape(content)}</td><td>{html.escape(outcome)}</td></tr>"
        for label, content, outcome in _rows(part, verdict)
    )
    return f'<table class="lmc-claim lmc-{verdict.verdict.replace(" ", "-")}">{body}</table>'
