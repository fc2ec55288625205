"""What NumPy turns into arrays of real numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import torch

from lmc_helpers.expect.devices import on_device
from lmc_helpers.expect.refusal import refuse, short
from lmc_helpers.expect.shapes import shape


def reals(value: object, name: str) -> None:
    """Something that NumPy or torch turns into real numbers: a number, a list of lists, an array, a tensor.

    Examples
    --------
    >>> reals([0, 0.5], "lambdas")
    >>> reals("0.5", "lambdas")
    Traceback (most recent call last):
        ...
    ValueError: lambdas = '0.5'; allowed: real numbers
    """
    if isinstance(value, torch.Tensor):
        if value.is_complex():
            refuse(name, f"has dtype {value.dtype}", "real numbers")
        on_device(value, name)
    elif _as_array(value).dtype.kind not in "fiub":
        refuse(name, f"= {short(value)}", "real numbers")


def _as_array(value: object) -> np.ndarray:
    """A NumPy array of it; one of objects where there is none."""
    try:
        return value.detach().cpu().numpy() if isinstance(value, torch.Tensor) else np.asarray(value)
    except (TypeError, ValueError, RuntimeError):
        return np.array(None)


def array(value: object, name: str, axes: str = "...", empty: bool = False, finite: bool = True) -> None:
    """What NumPy turns into an array of finite real numbers with the given axes, none of those that have a name empty.

    ``empty`` axes and numbers that are not ``finite`` may be left to the caller.

    Examples
    --------
    >>> array([1.0, 2.0], "x", "n")
    >>> array(["a"], "x", "n")
    Traceback (most recent call last):
        ...
    ValueError: x = ['a']; allowed: real numbers
    """
    reals(value, name)
    found = _as_array(value)
    shape(found.shape, name, axes, empty)
    if finite and not np.isfinite(found).all():
        refuse(name, f"holds {found[~np.isfinite(found)][0]}", "finite numbers")


def arrays(values: object, name: str, axes: str = "...", empty: bool = False) -> None:
    """A sequence of what :func:`array` takes, each by itself; what can be gone through only once is not looked at.

    With ``empty`` there may be none, and each of them may be empty.

    Examples
    --------
    >>> arrays([[1.0], [float("inf")]], "samples", "n")
    Traceback (most recent call last):
        ...
    ValueError: samples[1] holds inf; allowed: finite numbers
    """
    if isinstance(values, Iterator):
        return
    if isinstance(values, str) or not isinstance(values, (Collection, torch.Tensor)) or not (len(values) or empty):
        refuse(name, f"= {short(values)}", "one or more arrays of real numbers")
        return
    for k, value in enumerate(values):
        array(value, f"{name}[{k}]", axes, empty)
