"""What is shown and stored: boxes to the last character, the worst of a sequence, contradictions after the box."""

from dataclasses import asdict

import numpy as np
import pytest
from oracles.ledger import BASE, CORRECTED, SHARPER, claim, parse_part, write

from lmc_helpers import claims
from lmc_helpers.claims import Contradiction, reading
from lmc_helpers.claims.box import MIME, rounded, table, text, with_error
from lmc_helpers.claims.judge import judge


@pytest.fixture
def shown(monkeypatch):
    """What ``check`` displays: data and record."""
    found = []
    monkeypatch.setattr("IPython.display.display", lambda data, metadata, raw: found.append((data, metadata[MIME])))
    return found


@pytest.fixture
def ledger_of(tmp_path, monkeypatch):
    """Make a ledger with the one part T1.a."""

    def make(entry):
        monkeypatch.setattr(reading, "LEDGER", write(tmp_path, {"T1": claim(parts={"a": entry})}))

    return make


def test_a_box_as_text():
    part = parse_part("T1.a", CORRECTED | {"sampled": True})
    assert text(part, judge(part, 3.04321, stderr=0.012, n=10, again=lambda: (3.0, 0.01))).splitlines() == [
        "T1.a       x",
        "stated by  the paper: eq. (1) (headline)",
        "measured   3.043 ± 0.012, in [3.004, 3.083] (n = 10)",
        "printed    = 2 ± 0.1  [rejected]",
        "corrected  in [2.9, 3.1]  [met]",
        "rival      2.5: five halves",
        "verdict    false as printed, corrected",
    ]


def test_a_box_of_a_reading_and_one_of_ours():
    sampled = BASE | {"sampled": True, "weight": "detail"}
    read = parse_part("T1.a", sampled | {"whose": "reading", "reading": "as the mean"})
    assert text(read, judge(read, 2.0, interval=(1.912345, 2.2), n=5)).splitlines() == [
        "T1.a       x",
        "stated by  the paper, as we read it: eq. (1) (detail)",
        "reading    as the mean",
        "measured   2 in [1.91, 2.2] (n = 5)",
        "read as    = 2 ± 0.1  [not decided]",
        "rival      2.5: five halves",
        "verdict    open (not decided: the interval reaches across the criterion's border)",
    ]
    ours = parse_part("T1.a", BASE | {"whose": "ours", "expected": "open", "reason": "r"})
    shown = text(ours, judge(ours, 2.0, n=5))
    assert "stated by  this book: eq. (1)\n" in shown and "criterion  = 2 ± 0.1  [met]" in shown
    assert "printed" not in shown and shown.endswith("verdict    holds (the ledger left it open)")


def test_a_box_of_what_is_sharper():
    part = parse_part("T1.a", SHARPER)
    assert "sharper    = 2 ± 0.01  [met]" in text(part, judge(part, 2.0, n=1))


def test_a_box_as_a_table():
    entry = BASE | {"quantity": "a < b", "min_samples": 9}
    part = parse_part("T1.a", entry | {"statement": "If $x < 2$, it is $\\kappa$ & more."})
    html = table(part, judge(part, 2.0, n=4))
    assert html.startswith(
        '<table class="lmc-claim lmc-open"><tr><th>T1.a</th><td class="mathjax_process" colspan="2">'
        r"If \(x &lt; 2\), it is \(\kappa\) &amp; more.</td></tr><tr><th>quantity</th><td>a &lt; b</td><td></td></tr>"
    )
    assert '<tr class="verdict"><th>verdict</th>' in html
    assert "<td>open (4 of the 9 samples that this part needs)</td>" in html
    assert 'class="lmc-claim lmc-holds-and-more-is-true"' in table(part, judge(parse_part("T1.a", SHARPER), 2.0, n=1))


def test_nothing_is_shown_or_stored_of_what_was_not_run():
    part = parse_part("T1.a", BASE)
    verdict = judge(part, 12345.0, n=0)
    assert verdict.value is None and verdict.verdict == claims.OPEN
    seen = text(part, verdict)
    assert "not run" in seen and "12345" not in seen and "[" not in seen


@pytest.mark.parametrize(
    ("computed", "expected", "raises"),
    [(2.0, "holds", False), (3.0, "holds", True), (3.0, "fails", False), (2.0, "fails", True), (3.0, "open", False)],
)
def test_only_a_contradiction_raises_and_only_after_the_outcome_is_shown(ledger_of, shown, computed, expected, raises):
    ledger_of(BASE | {"expected": expected, "reason": "because"})
    if raises:
        with pytest.raises(Contradiction, match=f"T1.a: computed .*, the ledger expects '{expected}'"):
            claims.check("T1.a", computed, n=1)
    else:
        claims.check("T1.a", computed, n=1)
    ((data, record),) = shown
    assert record["value"] == computed and record["verdict"] in data["text/plain"]
    assert record == asdict(judge(reading.part("T1.a"), computed, n=1))


def test_a_sequence_is_judged_by_its_worst_value(ledger_of, shown):
    ledger_of(BASE)
    claims.check("T1.a", [1.95, 2.08, 2.0])
    claims.check("T1.a", np.array([[1.91], [2.0]]), n=7)
    with pytest.raises(Contradiction):
        claims.check("T1.a", [2.0, 1.0])
    assert [(record["value"], record["n"]) for _, record in shown] == [(2.08, 3), (1.91, 7), (1.0, 2)]


def test_a_sequence_must_hold_exact_values(ledger_of, shown):
    ledger_of(BASE)
    for values, more in (([], {}), ([2.0], {"stderr": 0.1}), ([2.0], {"again": lambda: (2.0, 0.1)})):
        with pytest.raises(ValueError, match=r"allowed: a sequence of one or more exact values"):
            claims.check("T1.a", values, **more)
    with pytest.raises(ValueError, match="n is missing"):
        claims.check("T1.a", 2.0)
    with pytest.raises(ValueError, match="finite"):
        claims.check("T1.a", [2.0, float("nan"), 9.0])
    assert not shown


@pytest.mark.parametrize(
    ("value", "stderr", "shown"),
    [
        (0.1234567, 0.004, "0.123 ± 0.004"),
        (0.1234567, 0.0149, "0.123 ± 0.015"),
        (1.0, 0.0996, "1.00 ± 0.10"),
        (5, 3, "5 ± 3"),
        (123.4, 15, "123 ± 15"),
        (-1.5e7, 2.2e5, "(-1.50 ± 0.02)e+07"),
        (1e-9, 4e-8, "(0 ± 4)e-08"),
    ],
)
def test_values_have_the_digits_that_their_errors_support(value, stderr, shown):
    assert with_error(value, stderr) == shown


def test_small_values_are_shown_as_rounding():
    assert rounded(-3e-17, 4, floor=1e-12) == "< 1e-12"
