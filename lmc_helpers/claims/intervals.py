"""Numbers and intervals of the ledger: closed forms, and the four forms of a criterion.

Each form has an optional ``says``, its meaning in words:

==========================================  ===============================
``{equals: x, tolerance: δ}``               [x − δ, x + δ]; δ is 0 if absent
``{between: [a, b]}``                       [a, b]
``{at_most: a}``                            (−∞, a]
``{at_least: a}``                           [a, ∞)
==========================================  ===============================

Numbers may be closed forms, ``1 - 1/(2*sqrt(pi))``.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    Tag,
    WithJsonSchema,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from lmc_helpers.claims.formulas import tex
from lmc_helpers.claims.numerals import people

OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
CONSTANTS = {"pi": "pi", "E": "e", "EulerGamma": "euler"}
FUNCTIONS = (
    *("sqrt", "exp", "log", "gamma", "erf", "erfc", "besseli", "besselj"),
    *("sin", "cos", "tan", "asin", "acos", "atan"),
)
DIGITS = 30  # of the arithmetic in closed forms, far more than a float keeps
LONGEST, LARGEST = 200, 10**6  # characters of a closed form; exponents and arguments in it: it takes no time


INSIDE, ACROSS, OUTSIDE = "inside", "across", "outside"


class LedgerError(ValueError):
    """The ledger is malformed or missing, or one of its criteria cannot fail."""


def number(value: int | float | str) -> float:
    """A number of the ledger; a string is a closed form, evaluated with 30 digits.

    Closed forms consist of numbers, ``+ - * / **``, parentheses, ``pi``, ``E``, ``EulerGamma`` and the functions
    ``sqrt exp log gamma erf erfc besseli besselj sin cos tan asin acos atan``.
    """
    if not isinstance(value, str) and not isinstance(value, bool):
        return float(value)
    import mpmath

    text = str(value).strip()
    try:
        if len(text) > LONGEST:
            raise ValueError
        with mpmath.workdps(DIGITS):
            found = float(_evaluated(ast.parse(text, mode="eval").body))
    except (
        *(SyntaxError, KeyError, TypeError, ValueError, ArithmeticError, AttributeError),
        *(RecursionError, MemoryError),  # of hundreds of parentheses
    ) as error:
        raise LedgerError(f"{cut(value)} is neither a number nor a closed form") from error
    if not math.isfinite(found):
        raise LedgerError(f"{cut(value)} is {found}; allowed: closed forms of finite numbers")
    return found


def _evaluated(node: ast.expr):
    import mpmath

    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return mpmath.mpf(repr(value))
        case ast.Name(id=name):
            return +getattr(mpmath, CONSTANTS[name])
        case ast.BinOp(left=left, op=op, right=right):
            first, second = _evaluated(left), _evaluated(right)
            return OPERATORS[type(op)](first, _small(second) if isinstance(op, ast.Pow) else second)
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATORS[type(op)](_evaluated(operand))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return getattr(mpmath, name)(*(_small(_evaluated(argument)) for argument in arguments))
    raise ValueError(f"{ast.unparse(node)} cannot be part of a closed form")


def _small(value: Any) -> Any:
    """An exponent or an argument, small enough for mpmath to evaluate at once."""
    if not abs(value) <= LARGEST:
        raise ValueError(f"{value} is too large")
    return value


def cut(value: Any, most: int = 80) -> str:
    """A value as Python writes it, in one line and not too long for a sentence."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _is_number(value: Any) -> Any:
    """Refuse anything but a finite number or closed form, before pydantic's own messages."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{cut(value)} is neither a number nor a closed form")
    if not math.isfinite(number(value)):
        raise ValueError(f"{value!r} is not finite; allowed: a finite number or closed form")
    return value


class Entry(BaseModel):
    """Base of every mapping in a YAML file: immutable, with unknown fields refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, entry: Any) -> Any:
        names = [field.alias or name for name, field in cls.model_fields.items()]
        allowed = ", ".join(names)
        if not isinstance(entry, dict):
            raise ValueError(f"{cut(entry)} is not allowed here; allowed: a mapping with {allowed}")
        unknown = [str(name) for name in entry if name not in names]
        if unknown:
            raise ValueError(f"unknown field {', '.join(map(repr, unknown))}; allowed: {allowed}")
        return entry


Number = Annotated[
    int | float | str,
    BeforeValidator(_is_number),
    WithJsonSchema({"type": ["number", "string"], "description": "a number, or a closed form as 1/(2*sqrt(pi))"}),
]


class _Form(Entry):
    """One way to write a criterion: ``bounds`` gives its ends and its words, ``shown`` the text for readers."""

    says: str = Field("", description="what the criterion means, in words")


class _Equals(_Form):
    equals: Number
    tolerance: Number = Field(0, description="the smallest difference that would matter")

    def bounds(self) -> tuple[float, float, str]:
        x, tolerance = number(self.equals), number(self.tolerance)
        return x - tolerance, x + tolerance, f"= {form(self.equals)}" + (f" ± {form(tolerance)}" if tolerance else "")

    def shown(self) -> str:
        return f"= {shown(self.equals)}" + (f" ± {shown(self.tolerance)}" if number(self.tolerance) else "")


class _Between(_Form):
    between: Annotated[list[Number], Field(min_length=2, max_length=2)]

    def bounds(self) -> tuple[float, float, str]:
        low, high = self.between
        return number(low), number(high), f"in [{form(low)}, {form(high)}]"

    def shown(self) -> str:
        return f"from {shown(self.between[0])} to {shown(self.between[1])}"


class _AtMost(_Form):
    at_most: Number

    def bounds(self) -> tuple[float, float, str]:
        return -math.inf, number(self.at_most), f"≤ {form(self.at_most)}"

    def shown(self) -> str:
        return f"≤ {shown(self.at_most)}"


class _AtLeast(_Form):
    at_least: Number

    def bounds(self) -> tuple[float, float, str]:
        return number(self.at_least), math.inf, f"≥ {form(self.at_least)}"

    def shown(self) -> str:
        return f"≥ {shown(self.at_least)}"


FORMS = {"equals": _Equals, "between": _Between, "at_most": _AtMost, "at_least": _AtLeast}


def _form_of(entry: Any) -> str | None:
    return next((name for name in FORMS if isinstance(entry, dict) and name in entry), None)


_Criterion = Annotated[
    Annotated[_Equals, Tag("equals")]
    | Annotated[_Between, Tag("between")]
    | Annotated[_AtMost, Tag("at_most")]
    | Annotated[_AtLeast, Tag("at_least")],
    Discriminator(
        _form_of,
        custom_error_type="criterion",
        custom_error_message="this is not a criterion; allowed: equals (with tolerance), between, at_most or at_least",
    ),
]


NAMES = {"pi": "π", "E": "e", "EulerGamma": "γ", "sqrt": "√", "besseli": "I", "besselj": "J"}
LOWER, UPPER = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"), str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def form(value: int | float | str) -> str:
    """A number in mathematical notation; a closed form with its value."""
    if not isinstance(value, str):
        return f"{value:g}".replace("-", "−")
    text = re.sub(r"\bbessel([ij])\((\d+), *", lambda hit: hit[1].upper() + hit[2].translate(LOWER) + "(", value)
    text = re.sub(r"\*\*(-?\d+)\b", lambda hit: hit[1].translate(UPPER), text)
    text = re.sub(r"\b(pi|E|EulerGamma|sqrt)\b", lambda hit: NAMES[hit[1]], text)
    text = re.sub(r"√\((\w+)\)", r"√\1", text)
    text = re.sub(r"(\d)\*(?=[^\W\d]|√)", r"\1", text).replace("**", "^").replace("*", "·").replace("-", "−")
    shown = f"{number(value):.6g}".replace("-", "−")
    return text if text == shown or re.fullmatch(r"−?\d+/\d+", text) else f"{text} ≈ {shown}"


def shown(value: int | float | str) -> str:
    r"""A number for readers: closed forms as TeX between $, with their values."""
    exact = form(value)
    if not isinstance(value, str) or re.fullmatch(r"−?[\d.]+", exact):
        return people(number(value), 6)
    return exact if re.fullmatch(r"−?\d+/\d+", exact) else f"${tex(value)}$ ≈ {people(number(value))}"


@dataclass(frozen=True)
class Interval:
    """A closed interval with the words that describe it; in the ledger one of the four forms of a criterion.

    Notebooks store ``words``; pages show ``shown`` and ``says``, with formulas as TeX between $.
    """

    low: float
    high: float
    words: str
    shown: str = ""
    says: str = ""

    def meets(self, other: Interval) -> bool:
        """True if the two intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high

    def contains(self, other: Interval) -> bool:
        """True if the other interval lies inside this one."""
        return self.low <= other.low and other.high <= self.high

    def place_of(self, other: Interval) -> str:
        """Position of the other interval: ``inside`` this one, ``outside``, or ``across`` a border of it."""
        return INSIDE if self.contains(other) else ACROSS if self.meets(other) else OUTSIDE

    @classmethod
    def _from(cls, entry: Any) -> Interval:
        low, high, words = entry.bounds()
        if not low <= high or low == -high == -math.inf:
            raise ValueError(f"the criterion {words} is empty or cannot fail")
        return cls(low, high, f"{words}: {entry.says}" if entry.says else words, entry.shown(), entry.says)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls._from, handler.generate_schema(_Criterion))
