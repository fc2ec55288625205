"""Requirements on a run that judges a part: conditions on the parameters of the chapter that checks it.

========================  ======================================================
``dataset: mnist``        this word
``width: 512``            this number or more; of a list of numbers the largest
``budgets: [200]``        a list with these entries
``M: {exactly: 20}``      this number or list and no other
========================  ======================================================

A run that falls short of a number is a small run of the same experiment, and its measurement is shown. A run that fails
otherwise is another experiment, and has measured nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from lmc_helpers.claims.intervals import Entry, LedgerError, cut

__all__ = ()  # what packages of ours lend each other

MOST = 3  # conditions that are named
Scalar = int | float | str
Values = Scalar | list[Scalar]


class Exactly(Entry):
    """Exactly this number or list."""

    exactly: Values


def _is_need(entry: Any) -> Any:
    values = entry if isinstance(entry, list) else [entry]
    if isinstance(entry, dict) or (
        values and all(isinstance(one, Scalar) and not isinstance(one, bool) for one in values)
    ):
        return entry
    raise ValueError(f"{cut(entry)} is not a need; allowed: a word, a number, a list of them, a mapping with exactly")


Need = Annotated[Values | Exactly, BeforeValidator(_is_need)]


def met(need: Values | Exactly, used: Any) -> bool:
    """True if a parameter's value meets a need; the value is None if there is no such parameter."""
    if used is None:
        return False
    match need:
        case Exactly(exactly=value) | (str() as value):
            return used == value
        case list():
            return set(need) <= set(used)
    return (max(used, default=-math.inf) if isinstance(used, (list, tuple)) else used) >= need


def says(name: str, need: Values | Exactly) -> str:
    """A need in words."""
    match need:
        case Exactly(exactly=value):
            return f"{name} = {shown(value)}"
        case list():
            return f"{name} with {shown(need)}"
    return f"{name} {'' if isinstance(need, str) else '≥ '}{need}"


def unmet(needs: Mapping[str, Values | Exactly], used: Mapping[str, Any]) -> tuple[str, bool]:
    """The unmet needs of a run with these parameters, in words, and whether it is another experiment.

    >>> unmet({"width": 512, "dataset": "mnist"}, {"width": 64, "dataset": "mnist"})
    ('width ≥ 512 (here 64)', False)
    """
    if unknown := [name for name in needs if name not in used]:
        raise LedgerError(
            f"needs {', '.join(unknown)}: no parameter of the chapter; it has: {', '.join(used) or 'none'}"
        )
    missed = {name: need for name, need in needs.items() if not met(need, used[name])}
    other = any(isinstance(need, (str, list, Exactly)) for need in missed.values())
    words = [f"{says(name, need)} (here {shown(used[name])})" for name, need in missed.items()]
    more = [f"and {len(words) - MOST} more"] if len(words) > MOST else []
    return ", ".join(words[:MOST] + more), other


def shown(value: Any) -> str:
    """A parameter's value in words."""
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
