"""Numbers for people: a table of cases, digits that tell a value from a border, equal digits of value and error."""

import itertools
import math
from decimal import Decimal

import pytest

from lmc_helpers.claims import numerals

RAISED = dict(zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True))
THIN = "\u202f"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        *((0.0, "0"), (0.73812195, "0.7381"), (-0.03874708, "−0.03875"), (2.0, "2"), (10000, f"10{THIN}000")),
        *((9999, "9999"), (580000, f"580{THIN}000"), (-12345.678, f"−12{THIN}350"), (4115749731, "4.1·10⁹")),
        *((1e6, "10⁶"), (-8.87335e14, "−8.9·10¹⁴"), (1e-12, "10⁻¹²"), (-1e-6, "−10⁻⁶"), (2.9e-5, "2.9·10⁻⁵")),
        *((0.0001, "0.0001"), (9.99e-13, "10⁻¹²"), (math.inf, "∞"), (-math.inf, "−∞"), (math.nan, "not a number")),
    ],
)
def test_people_read_numbers_without_code(value, shown):
    assert numerals.people(value) == shown


@pytest.mark.parametrize("value", [1.5, 123456.7, 3e-9, 7.25e11, 0.00123456, 999999.6, 2**-30])
def test_a_number_for_people_is_the_number(value):
    text = numerals.people(value)
    text = text.translate({raised: plain for plain, raised in numerals.RAISED.items()})
    text = text.replace(THIN, "").replace("·10", "e").replace("−", "-")
    assert float(text) == pytest.approx(value, rel=0.05)


@pytest.mark.parametrize(
    ("value", "borders", "shown"),
    [
        *((1.00007207, [1.0], "1.0001"), (0.99996, [1.0], "0.99996"), (1.0 + 1e-15, [1.0], "1")),
        *((0.7073968, [math.sqrt(0.5), 1.0], "0.7074"), (0.70710708, [math.sqrt(0.5)], "0.70711")),
        (2.2922, [], "2.292"),
    ],
)
def test_digits_tell_a_value_from_a_border(value, borders, shown):
    assert numerals.telling(value, borders) == shown


@pytest.mark.parametrize(
    ("value", "floor", "shown"),
    [
        *(
            (4.2e-16, 1e-12, "0 to rounding (below 10⁻¹²)"),
            (4.2e-16, 1e-30, ""),
            (-9e-11, 0.0, "0 to rounding (below 10⁻⁹)"),
        ),
        *((7.7e-8, 1e-6, "below 10⁻⁶"), (7.7e-8, 0.0, ""), (0.0, 1e-12, "")),
    ],
)
def test_what_is_zero_but_for_rounding_is_called_so(value, floor, shown):
    assert numerals.rounding(value, floor) == shown


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        *((0.02315378, 0.00171340, "0.0232 ± 0.0017"), (9.0, 0.5787, "9.0 ± 0.6")),
        *((0.1234567, 0.0149, "0.123 ± 0.015"), (1.0, 0.0996, "1.00 ± 0.10"), (123.4, 15.0, "123 ± 15")),
        *((-12345.6, 321.0, f"−12{THIN}300 ± 300"), (-0.0000336, 0.0000271, "(−3 ± 3)·10⁻⁵")),
        *((-8.87335e14, 3.1e13, "(−8.9 ± 0.3)·10¹⁴"), (1e-9, 4e-8, "(0 ± 4)·10⁻⁸"), (-0.0001, 0.02, "0.00 ± 0.02")),
    ],
)
def test_value_and_error_have_equal_digits(value, error, shown):
    assert numerals.with_error(value, error) == shown


@pytest.mark.parametrize(
    ("low", "high", "borders", "shown"),
    [
        *((0.196124, 0.343278, [], "0.20 to 0.34"), (0.89961, 0.9521, [0.9], "0.8996 to 0.9521")),
        *((0.9, 0.95, [0.9], "0.900 to 0.950"), (-1.2e-4, 5.6e-5, [], "(−1.2 to 0.6)·10⁻⁴")),
        *((0.0, 0.03, [], "0.000 to 0.030"), (8.0, 36.0, [], "8 to 36")),
    ],
)
def test_intervals_do_not_seem_to_end_on_a_border(low, high, borders, shown):
    assert numerals.span(low, high, borders) == shown


@pytest.mark.parametrize(
    ("value", "stderr", "shown"),
    [
        *((0.1234567, 0.004, "0.123 ± 0.004"), (0.1234567, 0.0149, "0.123 ± 0.015"), (1.0, 0.0996, "1.00 ± 0.10")),
        *((5, 3, "5 ± 3"), (123.4, 15, "123 ± 15"), (-1.5e7, 2.2e5, "(-1.50 ± 0.02)e+07")),
        (1e-9, 4e-8, "(0 ± 4)e-08"),
    ],
)
def test_a_plain_value_has_the_digits_that_its_error_supports(value, stderr, shown):
    assert numerals.plain_with_error(value, stderr) == shown


def read(shown: str) -> Decimal:
    """The number that a page shows, read without the code that wrote it."""
    digits, _, raised = shown.rpartition("10") if set(shown) & RAISED.keys() else (shown, "", "")
    exponent = int("".join(RAISED[sign] for sign in raised) or "0")
    return Decimal(digits.removesuffix("·").replace(THIN, "") or 1).scaleb(exponent)


def test_a_number_keeps_its_value():
    wrong = []
    for exponent, digits in itertools.product(range(-30, 31), ["1", "9", "1.0", "2.53"]):
        written = f"{digits}e{exponent:+03d}"
        shown = numerals.signs(written)
        kept = "e" not in shown and read(shown) == Decimal(written) and numerals.signs(f"-{written}") == f"−{shown}"
        if not kept or numerals.signs(f"from {written} to ({written}).") != f"from {shown} to ({shown}).":
            wrong.append(f"{written}: {shown}")
    assert wrong == []
    texts = ["", "1.25", "profile e-5", "a1e-05", "1e-05x", "0x1e-05", "12e-05", "1e5", "fig_1e+02", "784-64", "W-1"]
    texts += ["CIFAR-10 100", "a, 100", "“10000 steps”", *"0322324 1.23456 1/10000 9999 10.1145/35346 c12345".split()]
    assert [numerals.signs(text) for text in texts] == texts


@pytest.mark.parametrize("text", ["60 000 images,", "60,000 images,", "60000 images,"])
def test_thousands_are_apart_from_five_digits_on(text):
    assert numerals.signs(f"of {text} 1,000") == f"of 60{THIN}000 images, 1000"


@pytest.mark.parametrize(("text", "shown"), [("-7", "−7"), ("-1 to -0", "−1 to 0"), ("(-0.00 ± 2)", "(0.00 ± 2)")])
def test_a_minus_is_no_hyphen_and_a_zero_has_no_sign(text, shown):
    assert numerals.signs(text) == shown
