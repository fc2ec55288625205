"""The ledger as data: what a claim and its parts may say, and the intervals that their criteria are.

The models are the grammar of ``book/claims/*.yml``, and the JSON Schema that editors use is written from them. A
criterion has one of four forms, each with an optional ``says`` (what it means in words):

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
from collections.abc import Callable
from dataclasses import dataclass, field
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

HOLDS, CORRECTED, FAILS, OPEN = "holds", "holds with correction", "fails", "open"
VERDICTS = (HOLDS, CORRECTED, OPEN, FAILS)  # from best to worst: an id's verdict is that of its worst part

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


class LedgerError(ValueError):
    """The ledger is malformed or not there, or one of its criteria cannot fail."""


def number(value: int | float | str) -> float:
    """A number of the ledger; a string is a closed form, evaluated with 30 digits.

    Closed forms consist of numbers, ``+ - * / **``, parentheses, ``pi``, ``E``, ``EulerGamma`` and the functions
    ``sqrt exp log gamma erf erfc besseli besselj sin cos tan asin acos atan``.

    Parameters
    ----------
    value : int, float or str
        a number or a closed form.

    Returns
    -------
    float
        the nearest float.

    Raises
    ------
    LedgerError
        if a string is no closed form.

    Examples
    --------
    >>> abs(number("1 - 1/(2*sqrt(pi))") - (1 - 1 / (2 * math.sqrt(math.pi)))) < 1e-15
    True
    """
    if not isinstance(value, str) and not isinstance(value, bool):
        return float(value)
    import mpmath

    try:
        with mpmath.workdps(DIGITS):
            return float(_evaluated(ast.parse(str(value).strip(), mode="eval").body))
    except (SyntaxError, KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise LedgerError(f"{value!r} is neither a number nor a closed form") from error


def _evaluated(node: ast.expr):
    import mpmath

    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return mpmath.mpf(repr(value))
        case ast.Name(id=name):
            return +getattr(mpmath, CONSTANTS[name])
        case ast.BinOp(left=left, op=op, right=right):
            return OPERATORS[type(op)](_evaluated(left), _evaluated(right))
        case ast.UnaryOp(op=op, operand=operand):
            return OPERATORS[type(op)](_evaluated(operand))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return getattr(mpmath, name)(*map(_evaluated, arguments))
    raise ValueError(f"{ast.unparse(node)} is no part of a closed form")


def _is_number(value: Any) -> Any:
    """What a field that takes a number refuses is said in words, before the types' own messages."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{value!r} is neither a number nor a closed form")
    number(value)
    return value


class Entry(BaseModel):
    """What every mapping of a YAML file has in common: it cannot change, and a field that nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, entry: Any) -> Any:
        allowed = ", ".join(cls.model_fields)
        if not isinstance(entry, dict):
            raise ValueError(f"{entry!r} is not allowed here; allowed: a mapping with {allowed}")
        unknown = [str(name) for name in entry if name not in cls.model_fields]
        if unknown:
            raise ValueError(f"unknown field {', '.join(map(repr, unknown))}; allowed: {allowed}")
        return entry


Number = Annotated[
    int | float | str,
    BeforeValidator(_is_number),
    WithJsonSchema({"type": ["number", "string"], "description": "a number, or a closed form as 1/(2*sqrt(pi))"}),
]


class _Form(Entry):
    """One way to write a criterion."""

    says: str = Field("", description="what the criterion means, in words")

    def bounds(self) -> tuple[float, float, str]:
        """Lower end, upper end, and the form in words."""
        raise NotImplementedError


class _Equals(_Form):
    equals: Number
    tolerance: Number = Field(0, description="the smallest difference that would matter")

    def bounds(self) -> tuple[float, float, str]:
        x, tolerance = number(self.equals), number(self.tolerance)
        return x - tolerance, x + tolerance, f"= {form(self.equals)}" + (f" ± {tolerance:g}" if tolerance else "")


class _Between(_Form):
    between: Annotated[list[Number], Field(min_length=2, max_length=2)]

    def bounds(self) -> tuple[float, float, str]:
        low, high = self.between
        return number(low), number(high), f"in [{form(low)}, {form(high)}]"


class _AtMost(_Form):
    at_most: Number

    def bounds(self) -> tuple[float, float, str]:
        return -math.inf, number(self.at_most), f"≤ {form(self.at_most)}"


class _AtLeast(_Form):
    at_least: Number

    def bounds(self) -> tuple[float, float, str]:
        return number(self.at_least), math.inf, f"≥ {form(self.at_least)}"


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
        custom_error_message="this is no criterion; allowed: equals (with tolerance), between, at_most or at_least",
    ),
]


def form(value: int | float | str) -> str:
    """A number as it stands in the ledger, a closed form with its value."""
    return f"{value} ≈ {number(value):.6g}" if isinstance(value, str) else f"{value:g}"


@dataclass(frozen=True)
class Interval:
    """A closed interval with the words that describe it; in the ledger one of the four forms of a criterion.

    Examples
    --------
    >>> Interval(0.5, 1.5, "").meets(Interval(1.5, 2.0, ""))
    True
    """

    low: float
    high: float
    words: str

    def meets(self, other: Interval) -> bool:
        """Whether the two intervals have a point in common."""
        return self.low <= other.high and other.low <= self.high

    @classmethod
    def _from(cls, entry: _Form) -> Interval:
        low, high, words = entry.bounds()
        if not low <= high or low == -high == -math.inf:
            raise ValueError(f"the criterion {words} is empty or cannot fail")
        return cls(low, high, f"{words}: {entry.says}" if entry.says else words)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls._from, handler.generate_schema(_Criterion))


class Rival(Entry):
    """A plausible value that a part's criteria must exclude."""

    says: str = Field(description="why the value is plausible")
    value: Number | None = Field(None, description="absent if the chapter measures it")

    @property
    def interval(self) -> Interval | None:
        """The value as an interval without width; none if the chapter measures it."""
        return None if self.value is None else Interval(number(self.value), number(self.value), form(self.value))


class PartEntry(Entry):
    """One part of a claim as the ledger writes it: a measured quantity, its criteria and the expected verdict."""

    where: str = Field(description="equation, theorem, table or figure of the paper")
    quantity: str = Field(description="what is measured")
    printed: Interval = Field(description="the criterion that the paper's words come to")
    rival: Rival
    expected: str = Field(description="the verdict that the book expects", json_schema_extra={"enum": list(VERDICTS)})
    min_samples: int = Field(1, ge=1, description="with fewer the part stays open")
    corrected: Interval | None = Field(None, description="what holds where the paper is wrong")
    reason: str = Field("", description="why the verdict is another than holds")
    statement: str = Field("", description="what the paper prints, in its words")
    correction: str = Field("", description="what holds instead, in words")
    proof: str = Field("", description="label of the theorem that proves the correction")
    digits: int = Field(4, ge=1, description="of the measured value that are shown")
    pilot: bool = Field(False, description="the criterion was written after a pilot run, and the scoreboard says so")
    floor: float = Field(0.0, ge=0, strict=False, description="smaller values are shown as rounding errors")

    @model_validator(mode="after")
    def _has_teeth(self) -> PartEntry:
        if self.expected not in VERDICTS:
            raise ValueError(f"expected {self.expected!r}; allowed: {', '.join(VERDICTS)}")
        if self.expected in (CORRECTED, FAILS, OPEN) and not self.reason:
            raise ValueError(f"expected {self.expected!r} needs a reason")
        if self.expected == CORRECTED and not (self.corrected and self.correction and self.proof):
            raise ValueError("a correction needs 'corrected', its statement 'correction' and its 'proof'")
        if self.corrected and self.corrected.meets(self.printed):
            raise ValueError("the printed and the corrected criterion overlap: no measurement tells them apart")
        if self.rival.interval:
            self.exclude(self.rival.interval)
        return self

    def exclude(self, rival: Interval) -> None:
        """Raise a LedgerError if a criterion of this part also accepts the rival."""
        for name, criterion in (("printed", self.printed), ("corrected", self.corrected)):
            if criterion and criterion.meets(rival):
                raise LedgerError(f"the {name} criterion ({criterion.words}) also accepts its rival ({rival.words})")


class Misprint(Entry):
    """A slip that changes no result."""

    where: str
    printed: str
    meant: str


class ClaimEntry(Entry):
    """One id of the ledger as it is written: what a paper claims, where, and the parts that the book checks."""

    paper: str = Field(description="the letter of the paper, as in the file's name")
    where: str = Field(description="equation, theorem, table or figure of the paper")
    says: str = Field(description="the claim in one line")
    parts: dict[str, PartEntry] = Field(default_factory=dict, description="absent: not yet in the book")
    misprints: list[Misprint] = Field(default_factory=list)


class Part(PartEntry):
    """One part of a claim, with its id, ``Z3.limit``."""

    id: str

    def refuse(self, rival: Interval) -> None:
        """Raise a LedgerError, with this part's id, if a criterion of it also accepts the rival."""
        try:
            self.exclude(rival)
        except LedgerError as error:
            raise LedgerError(f"{self.id}: {error}") from None


@dataclass(frozen=True)
class Claim:
    """One id of the ledger: what a paper claims, where, and the parts that the book checks, by their ids."""

    id: str
    paper: str
    where: str
    says: str
    parts: dict[str, Part] = field(default_factory=dict)
    misprints: list[Misprint] = field(default_factory=list)

    @classmethod
    def of(cls, id: str, entry: ClaimEntry) -> Claim:
        """The claim that an entry of the ledger writes."""
        parts = {
            f"{id}.{name}": Part.model_construct(id=f"{id}.{name}", **dict(part)) for name, part in entry.parts.items()
        }
        return cls(id, entry.paper, entry.where, entry.says, parts, entry.misprints)
