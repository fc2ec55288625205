"""The grammar of the ledger: closed forms against sympy, intervals by hand, refusals of what cannot fail."""

import math

import pytest
import sympy
from oracles.ledger import BASE, CORRECTED, parse_part
from scipy import special

from lmc_helpers.claims.criteria import FORMS, Interval, LedgerError, number


@pytest.mark.parametrize(
    "form",
    [
        *("-1/2", "2/sqrt(pi)", "1 - exp(-2)*(besseli(0,2)+besseli(1,2))/2", "-EulerGamma/2 - log(2)/2", "81/256"),
        *("0.1", "1e-12", "2**(1/3)", "E", "erfc(3)", "atan(1)*4 - pi + 1e-3"),
    ],
)
def test_closed_forms_are_sympy_s(form):
    assert number(form) == float(sympy.sympify(form, rational=True).evalf(40))


def test_closed_forms_of_functions():
    assert number("besseli(0, 2)") == pytest.approx(special.i0(2), rel=1e-15)


@pytest.mark.parametrize("form", ["", "x + 1", "two apples", "__import__('os')", "sqrt", "sqrt()", "1/0", "True", "(1"])
def test_what_is_no_closed_form_is_refused(form):
    with pytest.raises(LedgerError, match="neither a number nor a closed form"):
        number(form)
    assert math.isinf(number(math.inf))


@pytest.mark.parametrize(
    ("criterion", "low", "high", "words"),
    [
        ({"equals": "1/3", "tolerance": 0.1, "says": "a third"}, 0.2333, 0.4333, "= 1/3 ≈ 0.333333 ± 0.1: a third"),
        ({"equals": 2}, 2, 2, "= 2"),
        ({"between": [0, "1/4"]}, 0, 0.25, "in [0, 1/4 ≈ 0.25]"),
        ({"at_most": -1}, -math.inf, -1, "≤ -1"),
        ({"at_least": 1.5, "says": "grows"}, 1.5, math.inf, "≥ 1.5: grows"),
    ],
)
def test_the_four_forms_of_a_criterion(criterion, low, high, words):
    found = parse_part("T1.a", BASE | {"printed": criterion, "rival": {"says": "measured"}}).printed
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4) and found.words == words
    assert set(criterion) & set(FORMS)


@pytest.mark.parametrize(("other", "meets"), [((1, 2), True), ((2, 3), True), ((2.1, 3), False), ((0, 0.9), False)])
def test_closed_intervals_meet_at_their_ends(other, meets):
    interval = Interval(1, 2, "")
    assert interval.meets(Interval(*other, "")) == Interval(*other, "").meets(interval) == meets


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rival": {"value": 2.1, "says": "x"}}, "the printed criterion .* also accepts its rival"),
        ({"rival": {"value": 3, "says": "x"}, "corrected": CORRECTED["corrected"]}, "the corrected criterion .* also"),
        ({"rival": None}, "rival: None is not allowed here; allowed: a mapping with says, value"),
        ({"rival": {"value": 3}}, "rival.says: the field is missing"),
        ({"corrected": {"between": [2.05, 3]}}, "no measurement tells them apart"),
        ({"printed": {"at_most": math.inf}}, "printed: the criterion ≤ inf is empty or cannot fail"),
        ({"printed": {"between": [3, 2]}}, "empty or cannot fail"),
        ({"printed": {"between": [3]}}, "printed.between: "),
        (
            {"printed": {"equals": 2, "tolerence": 1}},
            "printed: unknown field 'tolerence'; allowed: says, equals, toler",
        ),
        ({"printed": {"equals": 2, "at_most": 1}}, "printed: unknown field 'at_most'"),
        ({"printed": {"about": 2}}, "printed: this is no criterion; allowed: equals .*, between, at_most or at_least"),
        ({"printed": {"equals": "two apples"}}, "printed.equals: 'two apples' is neither a number nor a closed form"),
        ({"printed": {"equals": True}}, "printed.equals: True is neither a number nor a closed form"),
        ({"printed": 3}, "printed: this is no criterion"),
        ({"expected": "true"}, "allowed: holds, holds with correction, open, fails"),
        ({"expected": "fails"}, "needs a reason"),
        ({"expected": "holds with correction", "reason": "x"}, "a correction needs"),
        ({"min_sample": 3}, "unknown field 'min_sample'; allowed: .*min_samples"),
        ({"min_samples": 0.5}, "min_samples: input should be a valid integer, not 0.5"),
        ({"pilot": "yes"}, "pilot: input should be a valid boolean, not 'yes'"),
    ],
)
def test_a_bad_part_is_refused(changes, message):
    with pytest.raises(LedgerError, match=f"^T1.a: {message}|^T1.a: .*{message}"):
        parse_part("T1.a", BASE | changes)
