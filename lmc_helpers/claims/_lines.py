"""A box as lines of text: stored in notebooks as ``text/plain``, and compared with reference outputs."""

from __future__ import annotations

from dataclasses import asdict

from lmc_helpers.claims.criteria import OURS, PAPER, Part
from lmc_helpers.claims.intervals import ACROSS, INSIDE, OUTSIDE
from lmc_helpers.claims.judge import Verdict, surprises
from lmc_helpers.claims.numerals import plain_with_error

OUTCOMES = {INSIDE: "met", OUTSIDE: "rejected", ACROSS: "not decided"}
LABELS = {PAPER: "printed", OURS: "criterion"}  # of the criterion; a reading's is neither


def rounded(value: float, digits: int, floor: float = 0.0) -> str:
    """A value with a given number of digits; one below ``floor`` in size is shown as a rounding error."""
    return f"< {floor:g}" if abs(value) < floor else f"{value:.{digits}g}"


def measured(part: Part, record: dict) -> str:
    """A measured value with its error, the interval that is judged and its samples, or that nothing was run."""
    if record["value"] is None:
        return "not run"
    if record["stderr"]:
        shown = plain_with_error(record["value"], record["stderr"])
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
    """The source of a statement: whose it is, and where it is made."""
    who = {PAPER: "the paper", OURS: "this book"}.get(part.whose, "the paper, as we read it")
    return f"{who}: {part.where}" + (f" ({part.weight})" if part.whose != OURS else "")


def _rows(part: Part, v: Verdict) -> list[tuple[str, str, str]]:
    """Label, content, outcome."""
    criteria = [(LABELS.get(part.whose, "read as"), v.criterion, v.place)]
    criteria += [("sharper", v.sharper, v.place_sharper or "")] if v.sharper else []
    criteria += [("corrected", v.corrected, v.place_corrected or "")] if v.corrected else []
    note = (v.lacks or v.note) + (f"{'; ' if v.note else ''}the ledger left it open" if surprises(v) else "")
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
