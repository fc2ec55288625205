"""The box of a part: a verdict as shown in an executed notebook and on its page."""

from __future__ import annotations

import html
import math
import os
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lmc_helpers import chapter
from lmc_helpers._undefined import Undefined
from lmc_helpers.claims import _runs, reading, words
from lmc_helpers.claims._lines import text
from lmc_helpers.claims.criteria import BROKEN, HOLDS, NOT_RUN, OPEN, OURS, READING, Part, slug, symbol
from lmc_helpers.claims.formulas import Address, typeset
from lmc_helpers.claims.judge import Contradiction, Verdict, contradicts, farthest, judge

__all__ = ["MIME", "RECORDED_ONLY", "Links", "check", "render"]

RECORDED_ONLY = "LMC_RECORD_CONTRADICTIONS"  #: in the environment of a run that stores what contradicts the ledger
OTHER_READING = "other reading"  #: the style of what does not count, for another reading of it is better
MIME = "application/vnd.lmc.claim+json"  #: where the metadata of a cell's output hold a verdict


@dataclass(frozen=True)
class Links:
    """Position of a box in the book and its links; empty in a notebook."""

    anchor: str = ""
    row: str = ""  # the part's row on the scoreboard
    erratum: str = ""  # its entry in the errata, if it is one in this run
    grammar: str = ""  # the page that says how to read a verdict
    address: Address | None = None  # of ids of the ledger and labels of theorems in texts
    counts: str = ""  # of a reading that does not count: the one that does, and its verdict
    price: str = ""  # of deciding it, in words
    closed: bool = False  # True if the box is one line until a reader opens it


def check(
    id: str,
    value,
    *error: float,
    stderr: float | None = None,
    interval: tuple[float, float] | None = None,
    n: int | None = None,
    rival: float | None = None,
    second_seed=None,
    of=None,
    again=None,
) -> None:
    """Judge a measurement against the ledger's part ``id``, show the outcome and store it in the notebook.

    Parameters are those of :func:`~lmc_helpers.claims.judge.judge`, and ``value`` may be a sequence of exact values:
    then its worst value for the criterion is judged (:func:`~lmc_helpers.claims.judge.farthest`), with n the
    number of values unless it is given; of none the part is open. ``error`` is ``stderr``, or the two ends of
    ``interval``, as a measurement returns them: ``check(id, *measured, n=n)``. The record is stored in the metadata of
    the cell's output.

    ``value`` may also be a quantity, a function of an experiment that returns (value, stderr) or (value, low, high):
    ``check(id, quantity, of=first, again=second, n=n)`` judges ``quantity(first)``, and ``quantity(second)`` is the
    second seed. ``second`` may be a function without arguments that makes the experiment, called only for that;
    without one a rejection stays open. Too few samples may have no such quantity; the part is open then.

    Raises
    ------
    Contradiction
        if the verdict contradicts the ledger's expectation, after the outcome was shown; not in a confirmatory run,
        which stores every outcome.
    LedgerError, ValueError
        as :func:`~lmc_helpers.claims.reading.part` and :func:`~lmc_helpers.claims.judge.judge`.
    """
    from IPython.display import display

    part = reading.part(id)
    if callable(value):
        if error or any(one is not None for one in (stderr, interval, second_seed)):
            raise ValueError(
                f"{id}: a quantity gives its own errors and second seed; allowed beside it: of, again, n, rival"
            )
        quantity = value
        try:
            value, *error = quantity(of)
        except Undefined:
            if (n or 0) >= part.min_samples:
                raise
            value, stderr = math.nan, math.nan
        second_seed = None if again is None else lambda: quantity(again() if callable(again) else again)
    if len(error) == 1:
        (stderr,) = error
    elif error:
        interval = error[0], error[1]
    values = np.asarray(value, dtype=float)
    if values.ndim:
        if stderr is not None or interval is not None or second_seed:
            raise ValueError(f"{id}: {values.size} values; allowed: a sequence of exact values, no error")
        value = farthest(values, part.criterion) if values.size else math.nan
        n = values.size if n is None or not values.size else n
    if n is None:
        raise ValueError(f"{id}: n is missing; allowed: the number of samples behind a single value")
    measured: dict[str, Any] = {"stderr": stderr, "interval": interval, "n": n, "rival": rival}
    used, confirms = chapter.in_use(), bool(os.environ.get(RECORDED_ONLY))
    always = confirms or used.get("profile") == "paper" or second_seed is None
    measured["recorded"] = "" if always else reading.twice_rejected(part)
    verdict = judge(part, float(value), **measured, second_seed=second_seed, used=used)
    display(seen(part, verdict), metadata={MIME: asdict(verdict)}, raw=True)
    if contradicts(verdict) and not confirms:
        raise Contradiction(f"{id}: computed {verdict.verdict!r}, the ledger expects {verdict.expected!r}")


def seen(part: Part, verdict: Verdict) -> dict[str, str]:
    """The box of a verdict in a notebook, as lines of text and as HTML."""
    return {"text/plain": text(part, verdict), "text/html": render(part, asdict(verdict))}


def render(
    part: Part, record: dict, confirmed: dict | None = None, *, links: Links | None = None, run: str = ""
) -> str:
    """The box of a part as HTML, styled by ``book/_static/css/boxes.css``.

    ``record`` is the verdict of this run as :func:`check` stores it, ``confirmed`` that of the confirmatory run with
    its provenance and ``changed``, the changes in its basis since; ``run`` is the scale of this run.
    """
    links = links or Links()
    stands = confirmed if confirmed and not confirmed["changed"] else None
    leading = _shown(stands or record)
    anchor = f' id="{html.escape(links.anchor)}"' if links.anchor else ""
    measured = "Derived" if part.derivation else "Measured"
    inner = [
        _source(part, links),
        _verdict(part, record, stands, links),
        _instead(part, leading, links),
        _paragraph("quantity", f"{measured}: {_ended(typeset(part.quantity, links.address))}"),
        _paragraph("revised", _ended(typeset(said, links.address))) if (said := words.revised(part)) else "",
        _runs.drawn(part, record, stands),
        _runs.rows(part, record, confirmed, run),
        _runs.details(part, record, confirmed, links.address),
    ]
    style = slug(OTHER_READING if links.counts else leading)
    given = f'class="lmc-claim lmc-{style}"{anchor}' + ("" if links.closed else ' open=""')
    return "\n".join([f"<details {given}>", _line(part, stands or record, links), *filter(None, inner), "</details>"])


def _line(part: Part, record: dict, links: Links) -> str:
    """The line of a closed box: sign, statement, measured value, criterion."""
    verdict = OTHER_READING if links.counts else _shown(record)
    sign = f'<span class="lmc-sign" role="img" aria-label="{verdict}">{symbol(_shown(record))}</span>'
    value = "not run" if record["value"] is None else typeset(words.measurement(part, record))
    label = words.SMALLER.strip() if words.not_run(record) and record["value"] is not None else "measured"
    shown = {
        "says": f" {typeset(part.statement, links.address)} ",
        "measured": f"<small>{label}</small> {value} ",
        "allowed": f"<small>allowed</small> {typeset(part.criterion.shown)}",
    }
    cells = "".join(f'<span class="lmc-{name} mathjax_process">{said}</span>' for name, said in shown.items())
    return f"<summary>{sign}{cells}</summary>"


def _paragraph(name: str, content: str) -> str:
    return f'<p class="lmc-{name} mathjax_process">{content}</p>'


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(".") else sentence + "."


def _source(part: Part, links: Links) -> str:
    """Whose statement it is, where it is made, and how its words are read."""
    who = html.escape(words.authors(part))
    if part.whose == OURS:
        return _paragraph("statement", f"<b>{who}</b>")
    read = f", <b>as we read it</b>: {_ended(typeset(part.reading, links.address))}" if part.whose == READING else ""
    return _paragraph("statement", f"<b>{who}</b>, {typeset(part.where)}{read}")


def _shown(record: dict) -> str:
    """The verdict of a record; "not run" for an open one that was not run."""
    return NOT_RUN if words.not_run(record) else record["verdict"]


def _badge(verdict: str, where: str = "", style: str = "") -> str:
    sign = f'<span class="lmc-symbol" aria-hidden="true">{symbol(verdict)}</span>'
    return f'<span class="lmc-badge lmc-{slug(style or verdict)}">{sign} {verdict}{where}</span>'


def _link(address: str, content: str, title: str, name: str) -> str:
    given = f'href="{html.escape(address)}" title="{title}" aria-label="{title}" class="lmc-{name}"'
    return f"<a {given}>{content}</a>" if address else ""


def _verdict(part: Part, record: dict, confirmed: dict | None, links: Links) -> str:
    """The verdict, of both runs where they differ, and the links of the box."""
    style = OTHER_READING if links.counts else ""
    if confirmed and _shown(confirmed) != _shown(record):
        badges = (
            _badge(_shown(confirmed), " at paper scale", style) + " " + _badge(_shown(record), " in this run", style)
        )
    else:
        badges = _badge(_shown(record), style=style)
    said = words.SAID.get(_shown(confirmed or record), "")
    if links.counts:
        said = f"In this reading; what counts is another, {typeset(links.counts, links.address)}."
    said += f" Price: {typeset(links.price)}." if links.price else ""
    said = f"<span>{said}</span>" if said else ""
    id = f"<code>{part.id}</code>"
    to = [
        _link(links.row, id, f"{part.id} on the scoreboard", "id") or f'<span class="lmc-id">{id}</span>',
        _link(links.erratum, "erratum", "its entry in the errata", "erratum"),
        _link(links.anchor and f"#{links.anchor}", "¶", "link to this box", "permalink"),
        _link(links.grammar, "?", "how to read a verdict", "grammar"),
    ]
    there = f'<span class="lmc-links">{" ".join(filter(None, to))}</span>'
    return f'<p class="lmc-verdict">{badges} {said} {there}</p>'


def _instead(part: Part, verdict: str, links: Links) -> str:
    """The corrected or sharper statement and its proof."""
    content = part.correction or part.sharpening
    if not content or (verdict in (HOLDS, OPEN, NOT_RUN) and part.correction):
        return ""
    label = "More is true" if part.sharpening else "What stands" if verdict == BROKEN else "What holds instead"
    target = links.address(part.proof) if links.address and part.proof else None
    proof = f' Proof: <a href="{html.escape(target[0])}">{typeset(target[1])}</a>.' if target else ""
    return _paragraph("instead", f"<b>{label}:</b> {typeset(content, links.address)}{proof}")
