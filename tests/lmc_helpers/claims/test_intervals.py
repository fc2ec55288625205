"""Numbers and intervals of the ledger: closed forms against sympy, places by hand."""

import math

import pytest
import sympy
from oracles.ledger import BASE, parse_part

from lmc_helpers.claims.intervals import FORMS, Interval, form, number


@pytest.mark.parametrize(
    "text",
    [
        *("-1/2", "2/sqrt(pi)", "1 - exp(-2)*(besseli(0,2)+besseli(1,2))/2", "-EulerGamma/2 - log(2)/2", "81/256"),
        *("0.1", "1e-12", "2**(1/3)", "E", "erfc(3)", "atan(1)*4 - pi + 1e-3"),
    ],
)
def test_closed_forms_are_sympy_s(text):
    assert number(text) == float(sympy.sympify(text, rational=True).evalf(40))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((1e-9, "1e−09"), ("-1/2", "−1/2"), ("2/sqrt(pi)", "2/√π ≈ 1.12838"), ("2**(1/3)", "2^(1/3) ≈ 1.25992")),
        *(("3*besselj(1, 2)", "3J₁(2) ≈ 1.73017"), ("exp(-2)", "exp(−2) ≈ 0.135335"), ("0.25", "0.25")),
    ],
)
def test_numbers_are_shown_in_the_signs_of_mathematics(value, shown):
    assert form(value) == shown


@pytest.mark.parametrize(
    ("criterion", "low", "high", "words"),
    [
        ({"equals": "1/3", "tolerance": 0.1, "says": "a third"}, 0.2333, 0.4333, "= 1/3 ± 0.1: a third"),
        ({"equals": 2}, 2, 2, "= 2"),
        ({"between": [0, "1/4"]}, 0, 0.25, "in [0, 1/4]"),
        ({"at_most": -1}, -math.inf, -1, "≤ −1"),
        ({"at_least": 1.5, "says": "grows"}, 1.5, math.inf, "≥ 1.5: grows"),
    ],
)
def test_the_four_forms_of_a_criterion(criterion, low, high, words):
    found = parse_part("T1.a", BASE | {"criterion": criterion, "rival": {"says": "measured"}}).criterion
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-4) and found.words == words
    assert set(criterion) & set(FORMS)


@pytest.mark.parametrize(
    ("other", "place"),
    [
        *(((1, 2), "inside"), ((1.5, 1.5), "inside"), ((2, 2), "inside"), ((2, 3), "across"), ((0, 3), "across")),
        *(((0.9, 1.1), "across"), ((2.1, 3), "outside"), ((0, 0.9), "outside")),
    ],
)
def test_a_touch_is_not_inside(other, place):
    interval, other = Interval(1, 2, ""), Interval(*other, "")
    assert interval.place_of(other) == place
    assert interval.meets(other) == other.meets(interval) == (place != "outside")
