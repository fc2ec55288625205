"""What is chosen: words, options, functions, dtypes, generators."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from lmc_helpers.expect.refusal import refuse, short


def text(value: object, name: str) -> None:
    """A string that is not empty.

    Examples
    --------
    >>> text("", "purpose")
    Traceback (most recent call last):
        ...
    ValueError: purpose = ''; allowed: a string that is not empty
    """
    if not isinstance(value, str):
        refuse(name, f"= {short(value)}", "a string that is not empty")
    elif not value:
        refuse(name, "= ''", "a string that is not empty")


def one_of(value: object, name: str, allowed: Iterable) -> None:
    """One of some values.

    Examples
    --------
    >>> one_of("sideways", "leftovers", ("order", "sorted"))
    Traceback (most recent call last):
        ...
    ValueError: leftovers = 'sideways'; allowed: 'order', 'sorted'
    """
    if not any(type(value) is type(known) and value == known for known in allowed):
        refuse(name, f"= {short(value)}", ", ".join(map(repr, allowed)) or "nothing")


def function(value: object, name: str) -> None:
    """Something that can be called.

    Examples
    --------
    >>> function(3, "loss")
    Traceback (most recent call last):
        ...
    ValueError: loss = 3; allowed: a function
    """
    if not callable(value):
        refuse(name, f"= {short(value)}", "a function")


def floating(value: object, name: str) -> None:
    """A dtype of floating-point numbers.

    Examples
    --------
    >>> floating(torch.long, "dtype")
    Traceback (most recent call last):
        ...
    ValueError: dtype = torch.int64; allowed: a floating-point dtype of torch
    """
    if not isinstance(value, torch.dtype) or not value.is_floating_point:
        refuse(name, f"= {short(value)}", "a floating-point dtype of torch")


def generator(value: object, name: str) -> None:
    """A generator of torch.

    Examples
    --------
    >>> generator(1, "generator")
    Traceback (most recent call last):
        ...
    ValueError: generator = 1; allowed: a torch.Generator, as from seeds.torch_generator
    """
    if not isinstance(value, torch.Generator):
        refuse(name, f"= {short(value)}", "a torch.Generator, as from seeds.torch_generator")
