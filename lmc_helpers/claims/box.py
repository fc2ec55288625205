"""What a reader sees of a verdict, and what a notebook stores of it."""

from __future__ import annotations

import html
import math
import os
from dataclasses import asdict

import numpy as np

from lmc_helpers.claims import reading
from lmc_helpers.claims.criteria import OURS, PAPER, Part
from lmc_helpers.claims.intervals import ACROSS, INSIDE, OUTSIDE
from lmc_helpers.claims.judge import Contradiction, Verdict, contradicts, farthest, judge, surprises

RECORDED_ONLY = "LMC_RECORD_CONTRADICTIONS"  #: in the environment of a run that stores what contradicts the ledger
MIME = "application/vnd.lmc.claim+json"  #: where the metadata of a cell's output hold a verdict
OUTCOMES = {INSIDE: "met", OUTSIDE: "rejected", ACROSS: "not decided"}
VERDICT_ROW = ' class="verdict"'
LABELS = {PAPER: "printed", OURS: "criterion"}  # of the criterion; a reading's is neither


def check(
    id: str,
    value,
    *,
    stderr: float | None = None,
    interval: tuple[float, float] | None = None,
    n: int | None = None,
    rival: float | None = None,
    again=None,
) -> None:
    """Judge a measurement against the ledger's part ``id``, show the outcome and store it in the notebook.

    Parameters are those of :func:`~lmc_helpers.claims.judge.judge`, and ``value`` may be a sequence of exact values:
    then its worst value for the criterion is judged (:func:`~lmc_helpers.claims.judge.farthest`), with n the
    number of values unless it is given. The record is stored in the metadata of the cell's output.

    Raises
    ------
    Contradiction
        if the verdict contradicts the ledger's expectation, after the outcome was shown; not in a confirmatory run,
        which stores every outcome.
    LedgerError, ValueError
        as :func:`~lmc_helpers.claims.reading.part` and :func:`~lmc_helpers.claims.judge.judge`; a sequence must not be
        empty.
    """
    from IPython.display import display

    part = reading.part(id)
    values = np.asarray(value, dtype=float)
    if values.ndim:
        if not values.size or stderr is not None or interval is not None or again:
            raise ValueError(f"{id}: {values.size} values; allowed: a sequence of one or more exact values, no error")
        value, n = farthest(values, part.criterion), values.size if n is None else n
    if n is None:
        raise ValueError(f"{id}: n is missing; allowed: the samples or the size behind a single value")
    verdict = judge(part, float(value), stderr=stderr, interval=interval, n=n, rival=rival, again=again)
    seen = {"text/plain": text(part, verdict), "text/html": table(part, verdict)}
    display(seen, metadata={MIME: asdict(verdict)}, raw=True)
    if contradicts(verdict) and not os.environ.get(RECORDED_ONLY):
        raise Contradiction(f"{id}: computed {verdict.verdict!r}, the ledger expects {verdict.expected!r}")


def rounded(value: float, digits: int, floor: float = 0.0) -> str:
    """A value with so many digits; one below ``floor`` in size is shown as a rounding error.

    Examples
    --------
    >>> rounded(0.123456, 3), rounded(2e-16, 3, floor=1e-12)
    ('0.123', '< 1e-12')
    """
    return f"< {floor:g}" if abs(value) < floor else f"{value:.{digits}g}"


def with_error(value: float, stderr: float) -> str:
    """A value and its standard error, both to the digits that the error supports: one, or two if the first is a 1.

    Examples
    --------
    >>> with_error(0.6543, 0.0123), with_error(-12345.6, 321.0), with_error(2e-7, 3e-9)
    ('0.654 ± 0.012', '-12300 ± 300', '(2.00 ± 0.03)e-07')
    """
    first = f"{stderr:.0e}"  # one digit
    place = int(first[2:]) - ("1" in (first[0], f"{stderr:e}"[0]))
    if -5 <= place <= 4:
        scale, decimals, unit = 1.0, max(0, -place), ""
        value, stderr = (round(number, -place) for number in (value, stderr))
    else:
        power = math.floor(math.log10(max(abs(value), stderr)))
        scale, decimals, unit = 10.0**power, max(0, power - place), f"e{power:+03d}"
    shown = f"{value / scale:.{decimals}f} ± {stderr / scale:.{decimals}f}"
    return f"({shown}){unit}" if unit else shown


def measured(part: Part, record: dict) -> str:
    """A measured value with its error, the interval that is judged and its samples, or that nothing was run."""
    if record["value"] is None:
        return "not run"
    if record["stderr"]:
        shown = with_error(record["value"], record["stderr"])
        if record.get("low") is not None:  # what is judged: 3.29 standard errors to both sides
            decimals = len(shown.rpartition(".")[2].split(")")[0]) if "." in shown else 0
            ends = [f"{end:.3g}" if "e" in shown else f"{end:.{decimals}f}" for end in (record["low"], record["high"])]
            shown += f", in [{', '.join(ends)}]"
    elif record.get("low") is not None and record["low"] < record["high"]:
        shown = f"{record['value']:.3g} in [{record['low']:.3g}, {record['high']:.3g}]"
    else:
        shown = rounded(record["value"], part.digits, part.floor)
    return f"{shown} (n = {record['n']})".replace("-", "−")


def stated(part: Part) -> str:
    """Who states a part, and where."""
    who = {PAPER: "the paper", OURS: "this book"}.get(part.whose, "the paper, as we read it")
    return f"{who}: {part.where}" + (f" ({part.weight})" if part.whose != OURS else "")


def _rows(part: Part, v: Verdict) -> list[tuple[str, str, str]]:
    """Label, content, outcome."""
    criteria = [(LABELS.get(part.whose, "read as"), v.criterion, v.place)]
    criteria += [("sharper", v.sharper, v.place_sharper or "")] if v.sharper else []
    criteria += [("corrected", v.corrected, v.place_corrected or "")] if v.corrected else []
    note = v.note + (f"{'; ' if v.note else ''}the ledger left it open" if surprises(v) else "")
    return [
        (v.part, v.quantity, ""),
        ("stated by", stated(part), ""),
        *([("reading", part.reading, "")] if part.reading else []),
        ("measured", measured(part, asdict(v)), ""),
        *((label, words, OUTCOMES.get(place or "", "")) for label, words, place in criteria),
        ("rival", v.rival, ""),
        ("verdict", v.verdict + (f" ({note})" if note else ""), ""),
    ]


def text(part: Part, verdict: Verdict) -> str:
    """The box as lines of text: label, content, outcome."""
    rows = _rows(part, verdict)
    width = max(len(label) for label, *_ in rows)
    return "\n".join(
        f"{label:<{width}}  {content}" + (f"  [{outcome}]" if outcome else "") for label, content, outcome in rows
    )


def slug(verdict: str) -> str:
    """A verdict as the style sheet names it.

    Examples
    --------
    >>> slug("holds, and more is true")
    'holds-and-more-is-true'
    """
    return verdict.replace(",", "").replace(" ", "-")


def _typeset(text: str) -> str:
    """HTML of a text with formulas between $, which MathJax typesets where a class tells it to look."""
    pieces = html.escape(text, quote=False).split("$")
    return "".join(rf"\({piece}\)" if at % 2 else piece for at, piece in enumerate(pieces))


def _cell(text: str) -> str:
    return f'<td class="mathjax_process">{_typeset(text)}</td>' if "$" in text else f"<td>{html.escape(text)}</td>"


def table(part: Part, verdict: Verdict) -> str:
    """The box as an HTML table, which ``book/_static/book.css`` colours by the verdict."""
    rows = [f'<tr><th>{part.id}</th><td class="mathjax_process" colspan="2">{_typeset(part.statement)}</td></tr>']
    for label, *contents in _rows(part, verdict):
        label = "quantity" if label == part.id else label
        cells = "".join(map(_cell, contents))
        rows.append(f"<tr{VERDICT_ROW if label == 'verdict' else ''}><th>{html.escape(label)}</th>{cells}</tr>")
    return f'<table class="lmc-claim lmc-{slug(verdict.verdict)}">{"".join(rows)}</table>'
