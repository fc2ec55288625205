"""A box as text, to the last character: what reference outputs are compared by."""

from dataclasses import asdict

from oracles.ledger import BASE, SHARPER, parse_part

from lmc_helpers import claims
from lmc_helpers.claims.judge import judge
from lmc_helpers.claims.render import text


def test_boxes_of_a_reading_of_ours_of_what_is_sharper_and_of_what_was_not_run():
    sampled = BASE | {"sampled": True, "weight": "detail"}
    read = parse_part("T1.a", sampled | {"whose": "reading", "reading": "as the mean"})
    assert text(read, asdict(judge(read, 2.0, interval=(1.912345, 2.2), n=5))).splitlines() == [
        "T1.a       x",
        "stated by  the paper, as we read it: eq. (1) (detail)",
        "reading    as the mean",
        "measured   2 in [1.91, 2.2] (n = 5)",
        "read as    = 2 ± 0.1  [not decided]",
        "rival      2.5: five halves",
        "verdict    open (not decided: the interval reaches across the criterion's border)",
    ]
    ours = parse_part("T1.a", BASE | {"whose": "ours", "expected": "open", "reason": "r"})
    shown = text(ours, asdict(judge(ours, 2.0, n=5)))
    assert "stated by  this book: eq. (1)\n" in shown and "criterion  = 2 ± 0.1  [met]" in shown
    assert "printed" not in shown and shown.endswith("verdict    holds (the ledger left it open)")
    part = parse_part("T1.a", SHARPER)
    assert "sharper    = 2 ± 0.01  [met]" in text(part, asdict(judge(part, 2.0, n=1)))
    part = parse_part("T1.a", BASE)
    verdict = judge(part, 12345.0, n=0)
    assert verdict.value is None and verdict.verdict == claims.OPEN
    seen = text(part, asdict(verdict))
    assert "not run" in seen and "12345" not in seen and "[" not in seen
