"""The claims machinery: verdicts by their definitions, refusals of criteria that cannot fail, contradictions."""

import math

import numpy as np
import pytest
import yaml
from scipy import stats

from lmc_helpers import claims
from lmc_helpers.claims import Contradiction, Interval, LedgerError, Part

BASE = {
    "where": "eq. (1)",
    "quantity": "x",
    "printed": {"equals": 2, "tolerance": 0.1},
    "rival": {"value": 2.5, "says": "five halves"},
    "expected": "holds",
}
CORRECTED = BASE | {
    "corrected": {"between": [2.9, 3.1]},
    "expected": "holds with correction",
    "reason": "because",
    "correction": "three",
    "proof": "thm",
}


def part(entry=BASE, **changes) -> Part:
    return Part.parse("T1.a", entry | changes)


def test_the_level_is_two_sided_one_in_a_thousand():
    assert claims.Z_TWO_SIDED == pytest.approx(stats.norm.isf(0.0005), abs=1e-12)


@pytest.mark.parametrize(
    ("entry", "value", "stderr", "verdict"),
    [
        (BASE, 2.05, 0, "holds"),
        (BASE, 2.11, 0, "fails"),
        (BASE, 2.11, 0.01, "holds"),  # 2.11 ± 0.033 meets [1.9, 2.1] and excludes 2.5
        (BASE, 2.2, 0.1, "open"),  # ± 0.33 cannot reject the rival
        (BASE, 2.2, 0.01, "open"),  # a rejection from random numbers without a second seed
        (CORRECTED, 2.0, 0, "holds"),
        (CORRECTED, 3.0, 0, "holds with correction"),
        (CORRECTED, 3.5, 0, "fails"),
        (CORRECTED, 2.5, 0, "fails"),
    ],
)
def test_verdicts(entry, value, stderr, verdict):
    assert claims.judge(part(entry), value, stderr=stderr, n=10).verdict == verdict


@pytest.mark.parametrize(
    ("second", "verdict"), [((3.0, 0.01), "holds with correction"), ((2.0, 0.01), "open"), ((2.9, 0.3), "open")]
)
def test_a_rejection_must_survive_a_second_seed(second, verdict):
    found = claims.judge(part(CORRECTED), 3.0, stderr=0.01, n=10, again=lambda: second)
    assert found.verdict == verdict and found.second_seed == (verdict != "open")


def test_no_second_seed_is_run_without_a_rejection():
    def again():
        raise AssertionError("run in vain")

    assert claims.judge(part(), 2.0, stderr=0.01, n=10, again=again).verdict == "holds"


def test_too_few_samples_decide_nothing():
    few = claims.judge(part(min_samples=100), 7.0, n=99)
    assert few.verdict == "open" and "99 of the 100 samples" in few.note
    assert claims.judge(part(min_samples=100), 7.0, n=100).verdict == "fails"


def test_nothing_is_shown_or_stored_of_what_was_not_run():
    verdict = claims.judge(part(), 12345.0, n=0)
    assert verdict.value is None and verdict.verdict == claims.OPEN
    text = claims._text(claims._rows(part(), verdict))
    assert "not run" in text and "12345" not in text and "met" not in text and "rejected" not in text


def test_a_measured_rival():
    entry = BASE | {"rival": {"says": "measured"}}
    assert claims.judge(part(entry), 2.0, n=1, rival=2.2).verdict == "holds"
    with pytest.raises(LedgerError, match=r"printed criterion .* also accepts its rival \(2.05\)"):
        claims.judge(part(entry), 2.0, n=1, rival=2.05)
    with pytest.raises(ValueError, match="exactly one of them"):
        claims.judge(part(entry), 2.0, n=1)
    with pytest.raises(ValueError, match="exactly one of them"):
        claims.judge(part(), 2.0, n=1, rival=2.5)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_measurement_must_be_finite(value):
    with pytest.raises(ValueError, match="allowed: finite numbers"):
        claims.judge(part(), value, n=1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rival": {"value": 2.1, "says": "x"}}, "also accepts its rival"),
        ({"rival": {"value": 3, "says": "x"}, **{k: CORRECTED[k] for k in ("corrected",)}}, "corrected criterion"),
        ({"rival": None}, "a rival is"),
        ({"rival": {"value": 3}}, "a rival is"),
        ({"corrected": {"between": [2.05, 3]}}, "no measurement tells them apart"),
        ({"printed": {"at_most": math.inf}}, "cannot fail"),
        ({"printed": {"between": [3, 2]}}, "empty or cannot fail"),
        ({"printed": {"equals": 2, "tolerence": 1}}, "allowed: equals"),
        ({"printed": {"equals": "two apples"}}, "neither a number nor a closed form"),
        ({"printed": {"equals": "x + 1"}}, "neither a number nor a closed form"),
        ({"expected": "true"}, "allowed: holds, holds with correction, open, fails"),
        ({"expected": "fails"}, "needs a reason"),
        ({"expected": "holds with correction", "reason": "x"}, "a correction needs"),
        ({"min_sample": 3}, "min_sample"),
    ],
)
def test_a_bad_ledger_is_refused(changes, message):
    with pytest.raises(LedgerError, match=message) as error:
        part(BASE, **changes)
    assert "T1.a" in str(error.value)


def test_closed_forms():
    assert claims.number("besseli(0, 2)") == pytest.approx(2.2795853023360673, abs=1e-14)
    assert (
        Interval.parse({"equals": "1/3", "tolerance": 0.1, "says": "a third"}).words
        == "= 1/3 ≈ 0.333333 ± 0.1: a third"
    )


@pytest.mark.parametrize(
    ("computed", "expected", "raises"),
    [
        (2.0, "holds", False),
        (3.0, "holds", True),
        (3.0, "fails", False),
        (2.0, "fails", True),
        (3.0, "open", False),
    ],
)
def test_only_a_contradiction_raises_and_only_after_the_outcome_is_shown(
    tmp_path, monkeypatch, computed, expected, raises
):
    entry = {k: v for k, v in BASE.items()} | {"expected": expected, "reason": "because"}
    path = tmp_path / "claims.yml"
    path.write_text(yaml.safe_dump({"T1": {"paper": "Z", "where": "w", "says": "s", "parts": {"a": entry}}}))
    monkeypatch.setattr(claims, "part", lambda id, path=path, real=claims.part: real(id, path))
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, metadata, raw: shown.append((data, metadata)))
    if raises:
        with pytest.raises(Contradiction, match=f"T1.a: computed .*, the ledger expects '{expected}'"):
            claims.check("T1.a", computed, n=1)
    else:
        claims.check("T1.a", computed, n=1)
    (data, metadata) = shown[0]
    assert metadata[claims.MIME]["value"] == computed
    assert metadata[claims.MIME]["verdict"] in data["text/plain"]


def test_unknown_parts_are_named():
    with pytest.raises(LedgerError, match=r"part 'Z3.bottom' is not in the ledger; known: Z3.exact"):
        claims.part("Z3.bottom")
    with pytest.raises(LedgerError, match="known: Z1, Z2"):
        claims.part("Q9.x")


def test_a_misprint_says_where_what_and_what_is_meant(tmp_path):
    path = tmp_path / "claims.yml"
    path.write_text("Z1: {paper: Z, where: x, says: y, misprints: [{where: eq. 1, printed: a}]}", encoding="utf-8")
    with pytest.raises(LedgerError, match="where, printed, meant"):
        claims.ledger(path)


def test_small_values_are_shown_as_rounding():
    assert claims.rounded(-3e-17, 4, floor=1e-12) == "< 1e-12"


def test_the_ledger_has_every_claim():
    ids = list(claims.ledger())
    counted = {paper: sum(id.startswith(paper) for id in ids) for paper in "ZPGIX"}
    assert counted == {"Z": 19, "P": 9, "G": 11, "I": 19, "X": 4}
    for claim in claims.ledger().values():
        assert claim.id[0] == claim.paper and claim.says and claim.where


@pytest.fixture
def ledger_of_one(tmp_path, monkeypatch):
    """A ledger with the one part T1.a; what `check` displays is returned in a list."""
    path, shown = tmp_path / "claims.yml", []
    path.write_text(yaml.safe_dump({"T1": {"paper": "Z", "where": "", "says": "", "parts": {"a": BASE}}}))
    monkeypatch.setattr(claims, "part", lambda id: claims.ledger(path)["T1"].parts[id])
    monkeypatch.setattr("IPython.display.display", lambda data, metadata, raw: shown.append(metadata[claims.MIME]))
    return shown


def test_a_sequence_is_judged_by_its_worst_value(ledger_of_one):
    claims.check("T1.a", [1.95, 2.08, 2.0])
    claims.check("T1.a", np.array([[1.91], [2.0]]), n=7)
    with pytest.raises(Contradiction):
        claims.check("T1.a", [2.0, 1.0])
    assert [(record["value"], record["n"]) for record in ledger_of_one] == [(2.08, 3), (1.91, 7), (1.0, 2)]


@pytest.mark.parametrize(
    ("criterion", "values", "worst"),
    [
        ({"at_most": 0.5}, [-9, 0.1, 0.4], 0.4),
        ({"at_least": 0.5}, [0.9, 0.6, 7], 0.6),
        ({"equals": 1}, [0.9, 1.0, 1.05], 0.9),
        ({"between": [0, 4]}, [1.5, 2.0, 3.5], 3.5),
    ],
)
def test_the_worst_value_is_farthest_outside(criterion, values, worst):
    assert claims.farthest(values, Interval.parse(criterion)) == worst


def test_a_sequence_must_hold_exact_values(ledger_of_one):
    for values, more in (([], {}), ([2.0], {"stderr": 0.1}), ([2.0], {"again": lambda: (2.0, 0.1)})):
        with pytest.raises(ValueError, match=r"allowed: a sequence of one or more exact values"):
            claims.check("T1.a", values, **more)
    with pytest.raises(ValueError, match="n is missing"):
        claims.check("T1.a", 2.0)
    with pytest.raises(ValueError, match="finite"):
        claims.check("T1.a", [2.0, float("nan"), 9.0])
    assert not ledger_of_one
