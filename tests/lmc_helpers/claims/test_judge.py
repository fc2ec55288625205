"""Verdicts by their definitions."""

import math

import pytest
from oracles.ledger import BASE, CORRECTED, parse_part
from scipy import stats

from lmc_helpers.claims.criteria import LedgerError, Part
from lmc_helpers.claims.judge import Z_TWO_SIDED, contradicts, farthest, judge
from lmc_helpers.error_bars import QUANTILE


def part(entry=BASE, **changes) -> Part:
    return parse_part("T1.a", entry | changes)


def test_the_level_is_two_sided_one_in_a_thousand():
    assert pytest.approx(stats.norm.isf(0.0005), abs=1e-12) == Z_TWO_SIDED == QUANTILE


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
    assert judge(part(entry), value, stderr=stderr, n=10).verdict == verdict


@pytest.mark.parametrize(
    ("second", "verdict"), [((3.0, 0.01), "holds with correction"), ((2.0, 0.01), "open"), ((2.9, 0.3), "open")]
)
def test_a_rejection_must_survive_a_second_seed(second, verdict):
    found = judge(part(CORRECTED), 3.0, stderr=0.01, n=10, again=lambda: second)
    assert found.verdict == verdict and found.second_seed == (verdict != "open")


def test_no_second_seed_is_run_without_a_rejection():
    def again():
        raise AssertionError("run in vain")

    assert judge(part(), 2.0, stderr=0.01, n=10, again=again).verdict == "holds"


def test_too_few_samples_decide_nothing():
    few = judge(part(min_samples=100), 7.0, n=99)
    assert few.verdict == "open" and "99 of the 100 samples" in few.note
    assert judge(part(min_samples=100), 7.0, n=100).verdict == "fails"


def test_a_measured_rival():
    entry = BASE | {"rival": {"says": "measured"}}
    assert judge(part(entry), 2.0, n=1, rival=2.2).verdict == "holds"
    with pytest.raises(LedgerError, match=r"T1.a: the printed criterion .* also accepts its rival \(2.05\)"):
        judge(part(entry), 2.0, n=1, rival=2.05)
    with pytest.raises(ValueError, match="exactly one of them"):
        judge(part(entry), 2.0, n=1)
    with pytest.raises(ValueError, match="exactly one of them"):
        judge(part(), 2.0, n=1, rival=2.5)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_measurement_must_be_finite(value):
    with pytest.raises(ValueError, match="allowed: finite numbers"):
        judge(part(), value, n=1)


@pytest.mark.parametrize(
    ("computed", "expected", "contradiction"),
    [(2.0, "holds", False), (3.0, "holds", True), (3.0, "fails", False), (2.0, "fails", True), (3.0, "open", False)],
)
def test_open_never_contradicts(computed, expected, contradiction):
    verdict = judge(part(expected=expected, reason="because"), computed, n=1)
    assert contradicts(verdict) == contradiction


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
    assert farthest(values, part(printed=criterion, rival={"says": "measured"}).printed) == worst
