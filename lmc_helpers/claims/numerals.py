"""Numbers for people: powers of ten in signs, values and errors with equal digits, nothing below rounding.

Notebooks store numbers as plain text, ``-1e-08``, by :func:`plain_with_error`; pages show −10⁻⁸.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from decimal import Decimal

__all__ = ["people", "plain_with_error", "rounding", "signs", "span", "telling", "thousands"]

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
GAP = "\u202f"  # a thin space that does not break
ROUNDING = (1e-12, 1e-9)  # below which a value is called 0 to rounding
SMALL, LARGE = 1e-4, 1e6  # between them numbers are written without powers of ten
CLOSE = 1e-9  # relative difference of numbers that are equal but for rounding
NUMBER = re.compile(r"(?<![\w.])(?P<digits>\d(?:\.\d+)?|\(.+?\))e(?P<exponent>[−+-]\d+)(?![\w.])")
WHOLE = r"(?<![\w.,/^\"“-])[1-9]\d{0,2}%s(?![\w^]|[.,/-]\d)"
LONG, SPLIT = re.compile(WHOLE % r"\d{2,}"), re.compile(WHOLE % r"(?:[ ,]\d{3})+")
MINUS = re.compile(r"(?<![\w.)⁻-])-(?=(?P<digits>\d[\d.]*))")  # not a hyphen, as in 784-64-10
DECIMAL = range(-3, 6)  # exponents of numbers in a text that are written without a power of ten


def _power(exponent: int) -> str:
    """A power of ten."""
    return "10" + str(exponent).translate(RAISED)


def signs(text: str) -> str:
    """A text with its numbers as people write them: −1, 10⁻⁸, gaps between thousands."""

    def written(found: re.Match) -> str:
        digits, exponent = found["digits"], int(found["exponent"].replace("−", "-"))
        if exponent in DECIMAL and not digits.startswith("("):
            return f"{Decimal(found[0]):f}"
        return _power(exponent) if digits == "1" else f"{digits}·{_power(exponent)}"

    def signed(found: re.Match) -> str:
        return "−" if found["digits"].strip("0.") else ""  # a zero has no sign

    text = MINUS.sub(signed, NUMBER.sub(written, text))
    return thousands(LONG.sub(lambda found: _grouped(found[0]), text))


def thousands(text: str) -> str:
    r"""A text with thin gaps between the thousands of its numbers from five digits on, and none in shorter ones.

    >>> thousands("1,000 of 12 345, not of 12345")
    '1000 of 12\u202f345, not of 12345'
    """
    return SPLIT.sub(lambda found: _grouped(re.sub("[ ,]", "", found[0])), text)


def _grouped(text: str) -> str:
    """A decimal number with a proper minus sign, and gaps between the thousands if it has five digits or more."""
    sign, digits = ("−", text[1:]) if text.startswith("-") else ("", text)
    whole, point, rest = digits.partition(".")
    return sign + (f"{int(whole):,}".replace(",", GAP) if len(whole) > 4 else whole) + point + rest


def people(value: float, digits: int = 4) -> str:
    """A number with a given number of digits, whole numbers in full; very small and large ones with a power of ten."""
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else "∞" if value > 0 else "−∞"
    if value == int(value) and abs(value) < LARGE:
        return _grouped(str(int(value)))
    if SMALL <= abs(value) < LARGE:
        text = f"{value:.{digits}g}"
        return _grouped(f"{float(text):.0f}" if "e" in text else text)
    mantissa, exponent = f"{value:.{min(digits, 2) - 1}e}".split("e")
    mantissa = mantissa.removesuffix(".0").replace("-", "−")
    return {"1": "", "−1": "−"}.get(mantissa, f"{mantissa}·") + _power(int(exponent))


def telling(value: float, borders: Iterable[float], digits: int = 4) -> str:
    """A number with as many digits, up to eight, as distinguish it from the borders that it does not equal."""
    near = [border for border in borders if abs(value - border) > CLOSE * max(abs(value), abs(border))]

    def tells(digits: int) -> bool:
        shown = float(f"{value:.{digits}g}")
        return all((shown > border) == (value > border) and shown != border for border in near)

    return people(value, next((enough for enough in range(digits, 8) if tells(enough)), digits))


def rounding(value: float, floor: float = 0.0) -> str:
    """Text for a value that is zero up to rounding or negligible; empty otherwise."""
    bound = rounding_bound(value, floor)
    if bound is None:
        return ""
    return f"0 to rounding (below {people(bound)})" if bound in ROUNDING else f"below {people(floor)}"


def rounding_bound(value: float, floor: float = 0.0) -> float | None:
    """The bound quoted for a value that is zero up to rounding or negligible; None for 0 itself and otherwise."""
    bounds = (floor,) if 0 < floor < ROUNDING[0] else (*ROUNDING, floor)
    return next((bound for bound in bounds if 0 < abs(value) < bound), None)


def last_place(error: float) -> int:
    """The power of ten of the last digit that an error supports: its first digit, or the second if that is a 1."""
    first = f"{error:.0e}"
    return int(first[2:]) - ("1" in (first[0], f"{error:e}"[0]))


def with_common_exponent(values: list[float], place: int) -> tuple[list[str], str]:
    """Numbers with the same last digit, and the power of ten that all are multiplied by."""
    largest = max(map(abs, values))
    if place >= -8 and (not largest or 10 * SMALL <= largest < LARGE):
        texts = [f"{round(value, -place):.{max(0, -place)}f}" for value in values]
        unit = ""
    else:
        exponent = max(math.floor(math.log10(largest)), place) if largest else place
        texts, unit = [f"{value / 10.0**exponent:.{exponent - place}f}" for value in values], _power(exponent)
    return [_grouped(text.removeprefix("-") if float(text) == 0 else text) for text in texts], unit


def with_error(value: float, error: float) -> str:
    """A value and its error, with equal digits: those that the error supports."""
    (value_, error_), unit = with_common_exponent([value, error], last_place(error))
    return f"({value_} ± {error_})·{unit}" if unit else f"{value_} ± {error_}"


def plain_with_error(value: float, stderr: float) -> str:
    """A value and its error as notebooks store them, with other limits for writing without a power of ten."""
    place = last_place(stderr)
    if -5 <= place <= 4:
        scale, decimals, unit = 1.0, max(0, -place), ""
        value, stderr = (round(number, -place) for number in (value, stderr))
    else:
        exponent = math.floor(math.log10(max(abs(value), stderr)))
        scale, decimals, unit = 10.0**exponent, max(0, exponent - place), f"e{exponent:+03d}"
    shown = f"{value / scale:.{decimals}f} ± {stderr / scale:.{decimals}f}"
    return f"({shown}){unit}" if unit else shown


def last_place_of_width(low: float, high: float) -> int:
    """The power of ten of the last digit that an interval supports: the second of its width."""
    return math.floor(math.log10(high - low)) - 1


def span(low: float, high: float, borders: Iterable[float] = (), place: int | None = None) -> str:
    """An interval with as many digits as its width supports, and more where an end would seem to lie on a border."""
    place = last_place_of_width(low, high) if place is None else place
    near = [(end, b) for end in (low, high) for b in borders if abs(end - b) > CLOSE * max(abs(end), abs(b))]

    def tells(place: int) -> bool:
        return all(round(end, -place) != border for end, border in near)

    place = next((enough for enough in range(place, place - 4, -1) if tells(enough)), place)
    (low_, high_), unit = with_common_exponent([low, high], place)
    return f"({low_} to {high_})·{unit}" if unit else f"{low_} to {high_}"
