"""First and last steps of every chapter: check its parameters, fix the number of threads, report the device.

papermill ignores unknown parameters; the library call in a chapter's second code cell does not, whichever way the
chapter is run: an unknown name, a wrong type or a value out of range is one clear error.
"""

from __future__ import annotations

import difflib
import math
import platform
import time
from dataclasses import dataclass, fields
from importlib.metadata import version
from types import NoneType
from typing import TypeVar

LITERALS = (bool, int, float, str, list, tuple, dict, NoneType)


IPYTHON = {"In", "Out"}


class ParameterError(ValueError):
    """A chapter's parameter is unknown, missing, of the wrong type or out of range."""


@dataclass(frozen=True)
class Integer:
    """Integers in [low, high], from low in steps; ``zero`` allows 0 besides, for none."""

    low: int
    high: int
    step: int = 1
    zero: bool = False

    def __str__(self) -> str:
        steps = f" in steps of {self.step}" if self.step > 1 else ""
        return f"{'0 or ' if self.zero else ''}integer in [{self.low}, {self.high}]{steps}"

    def allows(self, value) -> bool:
        """True if a parameter may have this value."""
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return value in range(self.low, self.high + 1, self.step) or (self.zero and value == 0)


@dataclass(frozen=True)
class Real:
    """Finite real numbers in [low, high]; integers count."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"number in [{self.low}, {self.high}]"

    def allows(self, value) -> bool:
        """True if a parameter may have this value."""
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return number and math.isfinite(value) and self.low <= value <= self.high


@dataclass(frozen=True)
class Flag:
    """True or False."""

    def __str__(self) -> str:
        return "true or false"

    def allows(self, value) -> bool:
        """True if a parameter may have this value."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Choice:
    """One of some words."""

    options: tuple[str, ...]

    def __str__(self) -> str:
        return "one of " + ", ".join(self.options)

    def allows(self, value) -> bool:
        """True if a parameter may have this value."""
        return isinstance(value, str) and value in self.options


@dataclass(frozen=True)
class Text:
    """Any text; ``says`` describes it."""

    says: str

    def __str__(self) -> str:
        return f"text, {self.says}"

    def allows(self, value) -> bool:
        """True if a parameter may have this value."""
        return isinstance(value, str)


@dataclass(frozen=True)
class ListOf:
    """A list of ``least`` or more allowed values, of ``most`` if that is given."""

    item: Integer | Real | Choice
    least: int = 1
    most: float = math.inf

    def __str__(self) -> str:
        size = f"{self.least}" if self.most == self.least else f"{self.least} or more"
        return f"list of {size}, each {self.item}"

    def allows(self, value) -> bool:
        """True if a parameter may have this value."""
        fits = isinstance(value, (list, tuple)) and self.least <= len(value) <= self.most
        return fits and all(map(self.item.allows, value))


Rule = Integer | Real | Flag | Choice | Text | ListOf


def validate(namespace: dict, rules: dict[str, Rule]) -> dict:
    """The parameters in a notebook's namespace, each checked against its rule.

    Names that start with an underscore and values that are not literals (modules, functions) do not count as
    parameters.

    Raises
    ------
    ParameterError
        names every offending parameter, its value and what is allowed.
    """
    given = {
        name: value
        for name, value in namespace.items()
        if isinstance(value, LITERALS) and not name.startswith("_") and name not in IPYTHON
    }
    problems = []
    for name, value in given.items():
        if name not in rules:
            close = difflib.get_close_matches(name, rules, n=1)
            hint = f" (did you mean {close[0]!r}?)" if close else ""
            allowed = ", ".join(f"{known} ({rule})" for known, rule in rules.items())
            problems.append(f"unknown parameter {name!r} = {value!r}{hint}; allowed: {allowed}")
        elif not rules[name].allows(value):
            listed = isinstance(value, str) and value.startswith("[")  # as papermill reads -p
            hint = f'; with papermill: -y "{name}: {value}"' if listed else ""
            problems.append(
                f"parameter {name} = {value!r} ({type(value).__name__}) is not allowed; allowed: {rules[name]}{hint}"
            )
    problems += [f"parameter {name} is missing; allowed: {rule}" for name, rule in rules.items() if name not in given]
    if problems:
        raise ParameterError("\n".join(problems))
    return given


#: Rules of the parameters that every chapter has.
COMMON: dict[str, Rule] = {"seed": Integer(0, 2**32 - 2), "profile": Choice(("smoke", "laptop", "paper", "custom"))}
REPORTED = ("torch", "numpy", "scipy", "matplotlib")


_started: dict[str, float] = {}
_in_use: dict[str, object] = {}


def begin(namespace: dict, **rules: Rule) -> None:
    """Check the parameters in ``namespace``, give them to the text, fix the thread count and start the clock.

    Every chapter has a ``seed`` and a ``profile``; :data:`COMMON` gives their rules unless ``rules`` does.

    The first call looks for unknown names. A reader who runs the cell again later has many more names; then only the
    known ones are checked.

    Raises
    ------
    ParameterError
        names every parameter that is unknown, missing, of the wrong type or out of range.
    """
    rules = rules | {name: rule for name, rule in COMMON.items() if name not in rules}
    again = namespace.get("_chapter_begun", False)
    given = validate({k: v for k, v in namespace.items() if k in rules} if again else namespace, rules)
    namespace["_chapter_begun"] = True
    from myst_nb import glue

    from lmc_helpers import device  # it takes a while to import torch

    for name, value in given.items():
        glue(name, value, display=False)
    device.fix_threads(1)
    _in_use.clear()
    _in_use.update(given)
    _started["at"] = time.perf_counter()


def uses(**values: object) -> None:
    """Report what a run uses in place of what its parameters ask for, such as digits where MNIST is missing.

    ``claims.check`` compares this with what a part needs.
    """
    if unknown := [name for name in values if name not in _in_use]:
        raise ParameterError(f"unknown parameter {', '.join(unknown)}; allowed: {', '.join(_in_use)}")
    _in_use.update(values)


def in_use() -> dict[str, object]:
    """The parameters of this run, with what it uses in place of what they ask for."""
    return dict(_in_use)


T = TypeVar("T")


def parameters(kind: type[T], namespace: dict) -> T:
    """A dataclass of the parameters that have the names of its fields."""
    return kind(**{field.name: namespace[field.name] for field in fields(kind)})  # type: ignore[arg-type]


def end() -> str:
    """Wall time since :func:`begin`, device and versions, one per line."""
    from lmc_helpers import device

    return "\n".join(
        [
            f"{time.perf_counter() - _started['at']:.1f} s on {device.describe()}, {platform.machine()}",
            f"Python {platform.python_version()}",
            *(f"{name} {version(name)}" for name in REPORTED),
        ]
    )
