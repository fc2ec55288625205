"""Measured numbers in prose: ``[[Z3.minimum:.2f]]`` is recorded at paper scale, or from this run if there is no record.

==========================  ==============================================================
``[[Z7.gain:.3f]]``         the value in Python's format; without one, as people write it
``[[100 * Z7.gain:±]]``     the value and half of its 99.9 % interval, the one that judges
``[[1 - Z7.gain:to]]``      that interval, low to high
``[[Z7.gain:≤.2f]]``        the value rounded up, for "at most" and "up to"; ``≥`` rounds down, for "at least"
``[[n(Z7.gain)]]``          its samples; ``low``, ``high`` and ``abs`` work like it
==========================  ==============================================================
"""

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from book.tools.read.chapters import BuildError
from lmc_helpers.claims.numerals import people, signs, span
from lmc_helpers.claims.render.words import with_half_width

PART = re.compile(r"\b[A-Z]\d+\.[a-z]\w*")
NUMBER = re.compile(r"\[\[((?:(?!\]\]).)*?[A-Z]\d+\.[a-z](?:(?!\]\]).)*?)(?::((?:(?!\]\]).)+))?\]\]", re.S)
SIGNS: dict[type, Callable] = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.Pow: operator.pow, ast.USub: operator.neg},
}
FIELDS = ("low", "high", "n")
BOUND = r"\b(?:at most|up to|at least|more than|less than|within)[\s#*]+"
RECORDED = r"\[\[(?!n\()[^\]:]*:(?![≤≥±]|to\])[^\]]*\]\]"
UNROUNDED = re.compile(rf"{BOUND}(?:{RECORDED}|\{{glue:text\}}`[^`]*:\.\d[efg]`)")


def parts(text: str) -> list[str]:
    """The parts of the ledger whose numbers a text shows."""
    return [part for expression, _ in NUMBER.findall(text) for part in PART.findall(expression)]


def evaluate(expression: str, records: Mapping[str, dict]) -> float:
    """An expression of parts, each with its measured value.

    >>> evaluate("100 * (1 - Z7.gain)", {"Z7.gain": {"value": 0.25, "low": 0.2, "high": 0.3, "n": 8}})
    75.0
    """

    def of(node: ast.AST) -> float:
        match node:
            case ast.Expression(body=body):
                return of(body)
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.BinOp(left=left, op=sign, right=right) if type(sign) in SIGNS:
                return SIGNS[type(sign)](of(left), of(right))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -of(inner)
            case ast.Attribute(value=ast.Name(id=claim), attr=name):
                return _field(records, f"{claim}.{name}", "value")
            case ast.Call(func=ast.Name(id="abs"), args=[inner]):
                return abs(of(inner))
            case ast.Call(func=ast.Name(id=name), args=[ast.Attribute(value=ast.Name(id=claim), attr=part)]) if (
                name in FIELDS
            ):
                return _field(records, f"{claim}.{part}", name)
        raise BuildError(f"[[{expression}]]: allowed: parts, numbers, + - * / **, abs, {', '.join(FIELDS)}")

    try:
        return of(ast.parse(expression.strip(), mode="eval"))
    except (SyntaxError, ArithmeticError) as error:
        raise BuildError(f"[[{expression}]]: {error}") from None


def _ends(expression: str, records: Mapping[str, dict]) -> tuple[float, float]:
    """The least and the largest value of an expression, monotone in each part, over the parts' intervals."""
    if re.search(r"\b(abs|low|high|n)\(", expression):
        raise BuildError(f"[[{expression}]] has no interval; allowed with ± or to: parts, numbers, + - * / **")
    named = list(dict.fromkeys(PART.findall(expression)))
    corners = itertools.product(*([_field(records, part, end) for end in FIELDS[:2]] for part in named))
    found = [
        evaluate(expression, {part: {"value": end} for part, end in zip(named, ends, strict=True)}) for ends in corners
    ]
    return min(found), max(found)


def _field(records: Mapping[str, dict], part: str, field: str) -> float:
    record = records.get(part)
    if record is None or record["value"] is None:
        raise BuildError(f"no run measured {part}")
    found = record[field]
    return record["value"] if found is None else found  # an exact value is its own interval


def bound(value: float, form: str) -> str:
    """A value in a format of Python, rounded up (``≤.1f``) or down (``≥.1f``).

    >>> bound(21.5696, "≥.1f"), bound(21.5696, "≤.1f"), bound(21.5, "≤.1f")
    ('21.5', '21.6', '21.5')
    """
    if not math.isfinite(value):
        return people(value)
    shown, exact = Decimal(format(value, form[1:])), Decimal(f"{value:.12g}")  # exact but for rounding
    unit = Decimal(1).scaleb(int(shown.as_tuple().exponent))
    away = (exact > shown) - (exact < shown)
    return format(shown + away * unit if away == (1 if form[0] == "≤" else -1) else shown, form[1:])


def filled(text: str, records: Mapping[str, dict]) -> str:
    """A text with its numbers in place of ``[[…]]``."""

    def number(found: re.Match) -> str:
        expression, form = found[1], found[2] or ""
        value = evaluate(expression, records)
        if form in ("±", "to"):
            low, high = _ends(expression, records)
            if form == "to":
                return span(low, high) if low < high else people(value)
            return with_half_width(value, (high - low) / 2)
        try:
            if form[:1] in ("≤", "≥"):
                return signs(bound(value, form))
            return signs(format(value, form)) if form else people(value)
        except ValueError:
            allowed = "±, to, or one of Python, .2f, ≤.2f, ≥.2f"
            raise BuildError(f"{found[0]}: {form!r} is not a format; allowed: {allowed}") from None

    return NUMBER.sub(number, text)
