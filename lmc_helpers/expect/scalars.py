"""Integers and numbers in a range, and sizes of tensors."""

from __future__ import annotations

import math
from numbers import Integral, Real

import numpy as np

from lmc_helpers.expect.refusal import refuse, short


def integer(value: object, name: str, least: int | None = None, most: int | None = None) -> None:
    """An integer of Python or NumPy, no bool, in a range.

    Examples
    --------
    >>> integer(3, "M", least=1)
    >>> integer(0, "M", least=1)
    Traceback (most recent call last):
        ...
    ValueError: M = 0; allowed: an integer, M >= 1
    """
    allowed = "an integer" + _range(name, least, most)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        refuse(name, f"= {short(value)}", allowed)
    elif (least is not None and int(value) < least) or (most is not None and int(value) > most):
        refuse(name, f"= {value}", allowed)


def number(value: object, name: str, least: float | None = None, most: float | None = None) -> None:
    """A finite real number of Python or NumPy, no bool, in a closed range.

    Examples
    --------
    >>> number(float("nan"), "tol", least=0)
    Traceback (most recent call last):
        ...
    ValueError: tol = nan; allowed: a finite number, tol >= 0
    """
    allowed = "a finite number" + _range(name, least, most)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        refuse(name, f"= {short(value)}", allowed)
        return
    x = float(value)
    if not math.isfinite(x) or (least is not None and x < least) or (most is not None and x > most):
        refuse(name, f"= {value}", allowed)


def _range(name: str, least: float | None, most: float | None) -> str:
    if least is None and most is None:
        return ""
    left = "" if least is None else f"{least} <= "
    if most is None:
        return f", {name} >= {least}"
    return f", {left}{name} <= {most}"


def sizes(value: object, name: str, least: int = 1) -> None:
    """A tuple, list or torch.Size of integers.

    Examples
    --------
    >>> sizes((2, -1), "shape")
    Traceback (most recent call last):
        ...
    ValueError: shape[1] = -1; allowed: an integer, shape[1] >= 1
    """
    if not isinstance(value, (tuple, list)):
        refuse(name, f"= {short(value)}", "a tuple of integers")
        return
    for k, size in enumerate(value):
        integer(size, f"{name}[{k}]", least)
