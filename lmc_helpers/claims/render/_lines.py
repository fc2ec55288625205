"""A box as lines of text: stored in notebooks as ``text/plain``, and compared with reference outputs."""

from __future__ import annotations

from lmc_helpers.claims.criteria import OPEN, OURS, PAPER, Part
from lmc_helpers.claims.intervals import ACROSS, INSIDE, OUTSIDE
from lmc_helpers.claims.numerals import plain_with_error

OUTCOMES = {INSIDE: "met", OUTSIDE: "rejected", ACROSS: "not decided"}
LABELS = {PAPER: "printed", OURS: "criterion"}  # of the criterion; a reading's is neither


def text(part: Part, record: dict) -> str:
    """The box of a part: label, content, outcome."""
    rows = _rows(part, record)
    width = max(len(label) for label, *_ in rows)
    return "\n".join(
        f"{label:<{width}}  {content}" + (f"  [{outcome}]" if outcome else "") for label, content, outcome in rows
    )


def _rows(part: Part, record: dict) -> list[tuple[str, str, str]]:
    """Label, content, outcome."""
    who = {PAPER: "the paper", OURS: "this book"}.get(part.whose, "the paper, as we read it")
    note = record["lacks"] or record["note"]
    if part.expected == OPEN != record["verdict"]:
        note += ("; " if note else "") + "the ledger left it open"
    return [
        (part.id, part.quantity, ""),
        ("stated by", f"{who}: {part.where}" + (f" ({part.weight})" if part.whose != OURS else ""), ""),
        *([("reading", part.reading, "")] if part.reading else []),
        ("measured", _measured(part, record), ""),
        *(
            (LABELS.get(part.whose, "read as"), interval.words, OUTCOMES.get(record["place"], ""))
            if name == "criterion"
            else (name, interval.words, OUTCOMES.get(record[f"place_{name}"], ""))
            for name, interval in part.criteria()
        ),
        ("rival", record["rival"], ""),
        ("verdict", record["verdict"] + (f" ({note})" if note else ""), ""),
    ]


def _measured(part: Part, record: dict) -> str:
    """The value with its error, the interval that is judged and its samples, or that nothing was run."""
    value, low, high = record["value"], record["low"], record["high"]
    if value is None:
        return "not run"
    if record["stderr"]:  # the interval: 3.29 standard errors to both sides
        shown = plain_with_error(value, record["stderr"])
        decimals = len(shown.rpartition(".")[2].split(")")[0]) if "." in shown else 0
        ends = [f"{end:.3g}" if "e" in shown else f"{end:.{decimals}f}" for end in (low, high)]
        shown += f", in [{', '.join(ends)}]"
    elif low < high:
        shown = f"{value:.3g} in [{low:.3g}, {high:.3g}]"
    else:
        shown = f"< {part.floor:g}" if abs(value) < part.floor else f"{value:.{part.digits}g}"
    return f"{shown} (n = {record['n']})".replace("-", "−")
