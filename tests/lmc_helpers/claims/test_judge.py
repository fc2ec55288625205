"""Verdicts by their definitions."""

import math

import pytest
from oracles.ledger import BASE, CORRECTED, SAMPLED, SHARPER, claim, parse_part, step
from scipy import stats

from lmc_helpers.claims.criteria import VERDICTS, Claim, ClaimEntry, Part
from lmc_helpers.claims.intervals import LedgerError
from lmc_helpers.claims.judge import Z_TWO_SIDED, contradicts, farthest, judge, of_claim, worst
from lmc_helpers.error_bars import QUANTILE

STEP = step("T1.b")
RANDOM = {"sampled": True}


def part(entry=BASE, **changes) -> Part:
    return parse_part("T1.a", entry | changes)


@pytest.mark.parametrize(
    ("entry", "value", "verdict"),
    [
        (BASE, 2.05, "holds"),
        (BASE, 2.1, "holds"),  # a point on the border lies inside
        (BASE, 2.11, "fails"),
        (CORRECTED, 2.0, "holds"),
        (CORRECTED, 3.0, "false as printed, corrected"),
        (CORRECTED, 3.5, "fails"),
        (CORRECTED, 2.5, "fails"),
        (SHARPER, 2.05, "holds"),
        (SHARPER, 2.005, "holds, and more is true"),
        (SHARPER, 2.2, "fails"),
        (STEP, 2.0, "holds"),
        (STEP, 3.0, "broken, statement stands"),
        (STEP | {"corrected": {"between": [2.9, 3.1]}}, 3.0, "broken, statement stands"),
        (STEP | {"corrected": {"between": [2.9, 3.1]}}, 3.2, "fails"),  # nor is the mended step right
    ],
)
def test_verdicts_of_exact_values(entry, value, verdict):
    assert judge(part(entry), value, n=10).verdict == verdict


@pytest.mark.parametrize(
    ("entry", "value", "error", "verdict"),
    [
        (SAMPLED, 2.0, {"stderr": 0.02}, "holds"),
        (SAMPLED, 2.0, {"stderr": 0.0305}, "open"),  # 2 ± 0.1004 reaches across [1.9, 2.1]
        (SAMPLED, 2.11, {"stderr": 0.01}, "open"),  # a touch from outside
        (SAMPLED, 2.09, {"stderr": 0.01}, "open"),  # a touch from inside
        (SAMPLED, 2.2, {"stderr": 0.1}, "open"),
        (SAMPLED, 2.2, {"stderr": 0.01}, "open"),  # a rejection from random numbers without a second seed
        (SAMPLED, 2.0, {"interval": (1.95, 2.1)}, "holds"),
        (SAMPLED, 2.0, {"interval": (1.95, 2.11)}, "open"),
        (SHARPER | RANDOM, 2.0, {"stderr": 0.02}, "holds"),
        (SHARPER | RANDOM, 2.0, {"stderr": 0.003}, "holds, and more is true"),
    ],
)
def test_verdicts_of_samples(entry, value, error, verdict):
    assert judge(part(entry), value, n=10, **error).verdict == verdict


@pytest.mark.parametrize(
    ("second", "verdict"),
    [
        *(((3.0, 0.01), "false as printed, corrected"), ((3.0, 2.9, 3.3), "false as printed, corrected")),
        *(((2.0, 0.01), "open"), ((2.9, 0.3), "open"), ((2.9, 2.0, 3.0), "open")),
    ],
)
def test_a_rejection_must_survive_a_second_seed(second, verdict):
    found = judge(part(CORRECTED | RANDOM), 3.0, stderr=0.01, n=10, second_seed=lambda: second)
    assert found.verdict == verdict and found.second_seed == (verdict != "open")


def test_a_correction_that_is_not_decided_is_open():
    found = judge(part(CORRECTED | RANDOM), 3.0, stderr=0.05, n=10, second_seed=lambda: (3.0, 0.05))
    assert found.verdict == "open" and "not decided whether the correction holds" in found.note

    def again():
        raise AssertionError("run in vain")

    assert judge(part(SAMPLED), 2.0, stderr=0.01, n=10, second_seed=again).verdict == "holds"
    assert judge(part(SAMPLED), 2.1, stderr=0.01, n=10, second_seed=again).verdict == "open"


def test_a_second_seed_at_paper_scale_stands_in_where_the_verdict_is_the_same():
    def judged(recorded, second):
        return judge(part(CORRECTED | RANDOM), 3.0, stderr=0.01, n=10, second_seed=second, recorded=recorded)

    found = judged("false as printed, corrected", lambda: 1 / 0)
    assert (found.verdict, found.second_seed) == ("false as printed, corrected", None) and "paper scale" in found.note
    for other in ("fails", ""):
        assert judged(other, lambda: (2.0, 0.01)).verdict == "open"


def test_too_few_samples_decide_nothing():
    few = judge(part(min_samples=100), 7.0, n=99)
    assert few.verdict == "open" and "99 of the 100 samples" in few.lacks
    assert judge(part(min_samples=100), 7.0, n=100).verdict == "fails"
    assert few.value == 7.0
    for value, error in (
        (7.0, {"stderr": 0.0}),
        (7.0, {"stderr": 1e-17}),
        (math.nan, {"stderr": math.nan}),
        (2.0, {"interval": (2.0, math.inf)}),
        (2.0, {"interval": (2.0, 2.0)}),
    ):
        none = judge(part(SAMPLED, min_samples=3), value, n=2, **error)  # one or two samples may have no error
        assert none.verdict == "open" and none.value is None and none.lacks == "2 of the 3 samples that this part needs"
    none = judge(part(SAMPLED), 7.0, n=0)
    assert none.verdict == "open" and (none.value, none.low, none.high, none.stderr, none.place) == (None,) * 4 + ("",)


def test_what_is_open_by_rule_stays_open_whatever_is_measured():
    one = part(expected="open", reason="the rate is not stated", by_rule=True)
    assert [judge(one, value, n=9).verdict for value in (2.0, 9.0)] == ["open", "open"]
    assert judge(one, 9.0, n=9).place == "outside" and one.digest() != part().digest()
    with pytest.raises(LedgerError, match="'by_rule' is for a part that is expected to be 'open'"):
        part(by_rule=True)


def test_a_measured_rival():
    entry = BASE | {"rival": {"says": "measured"}}
    assert judge(part(entry), 2.0, n=1, rival=2.2).verdict == "holds"
    with pytest.raises(LedgerError, match=r"T1.a: criterion \(= 2 ± 0.1\) also accepts its rival \(2.05\)"):
        judge(part(entry), 2.0, n=1, rival=2.05)
    with pytest.raises(ValueError, match="exactly one of them"):
        judge(part(entry), 2.0, n=1)
    with pytest.raises(ValueError, match="exactly one of them"):
        judge(part(), 2.0, n=1, rival=2.5)


@pytest.mark.parametrize(
    ("entry", "value", "error", "message"),
    [
        (BASE, math.nan, {}, "finite"),
        (BASE, math.inf, {}, "finite"),
        (BASE, 2.0, {"stderr": 0.1}, "allowed: none, the ledger calls the part exact"),
        (BASE, 2.0, {"interval": (1, 3)}, "allowed: none, the ledger calls the part exact"),
        (SAMPLED, 2.0, {}, "allowed: stderr > 0 or interval"),
        (SAMPLED, 2.0, {"stderr": 0.0}, "no standard error of 0"),
        (SAMPLED, 2.0, {"stderr": -0.1}, "allowed: finite and > 0"),
        (SAMPLED, 2.0, {"stderr": math.nan}, "allowed: finite and > 0"),
        (SAMPLED, 2.0, {"stderr": 0.1, "interval": (1, 3)}, "allowed: one of them"),
        (SAMPLED, 2.0, {"interval": (2.1, 3)}, "inside its interval"),
        (SAMPLED, 2.0, {"interval": (2.0, 2.0)}, "allowed: one of some width"),
    ],
)
def test_a_measurement_that_is_none_is_refused(entry, value, error, message):
    with pytest.raises(ValueError, match=f"^T1.a: .*{message}"):
        judge(part(entry), value, n=1, **error)


@pytest.mark.parametrize(
    ("entry", "value", "contradiction"),
    [
        (SHARPER, 2.0, False),
        (SHARPER, 2.05, True),  # the sharper criterion is rejected
        (STEP, 2.0, True),
    ],
)
def test_what_contradicts_the_expectation(entry, value, contradiction):
    assert contradicts(judge(part(entry), value, n=1)) == contradiction


def test_a_sharper_criterion_that_is_not_decided_does_not_contradict():
    found = judge(part(SHARPER | RANDOM), 2.0, stderr=0.02, n=9)
    assert (found.verdict, found.place_sharper) == ("holds", "across") and not contradicts(found)
    rejected = judge(part(SHARPER | RANDOM), 2.05, stderr=0.01, n=9)
    assert (rejected.verdict, rejected.place_sharper) == ("holds", "outside") and contradicts(rejected)
    assert pytest.approx(stats.norm.isf(0.0005), abs=1e-12) == Z_TWO_SIDED == QUANTILE


@pytest.mark.parametrize(
    ("criterion", "values", "least"),
    [
        ({"at_most": 0.5}, [-9, 0.1, 0.4], 0.4),
        ({"at_least": 0.5}, [0.9, 0.6, 7], 0.6),
        ({"equals": 1}, [0.9, 1.0, 1.05], 0.9),
        ({"between": [0, 4]}, [1.5, 2.0, 3.5], 3.5),
    ],
)
def test_the_worst_value_is_farthest_outside(criterion, values, least):
    assert farthest(values, part(criterion=criterion, rival={"says": "measured"}).criterion) == least


def test_the_worst_verdict():
    for at, verdict in enumerate(VERDICTS):
        assert all(worst([better, verdict]) == verdict for better in VERDICTS[2 : at + 1])
    assert worst(["holds", "holds, and more is true"]) == "holds, and more is true"
    assert worst(["holds", "holds, and more is true", "open"]) == "open"


def test_an_id_has_the_verdict_of_its_headlines_and_of_readings_the_best():
    entries = {
        "a": BASE,
        "b": BASE | {"one_of": "peak"},
        "c": BASE | {"one_of": "peak", "whose": "reading", "reading": "by rows"},
        "d": BASE | {"weight": "detail"},
        "e": BASE | {"whose": "ours"},
        "f": BASE | {"weight": "slip"},
    }
    found = Claim.of("T1", ClaimEntry.model_validate(claim(parts=entries)))
    all_hold = dict.fromkeys(found.parts, "holds")
    assert of_claim(found, all_hold) == "holds"
    beside = all_hold | {"T1.d": "fails", "T1.e": "fails", "T1.f": "false as printed, corrected"}
    assert of_claim(found, beside) == "holds"
    assert of_claim(found, all_hold | {"T1.b": "fails"}) == "holds"
    one_reading = all_hold | {"T1.b": "false as printed, corrected"}
    assert of_claim(found, one_reading) == "holds"
    assert of_claim(found, one_reading | {"T1.c": "open"}) == "open"
    assert of_claim(found, one_reading | {"T1.c": "fails"}) == "false as printed, corrected"
    assert of_claim(found, all_hold | {"T1.a": "fails"}) == "fails"
    assert of_claim(found, {}) == "open"
