"""Indices: of what is chosen, and permutations by their groups."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import torch

from lmc_helpers.expect.choices import one_of
from lmc_helpers.expect.refusal import refuse, short
from lmc_helpers.expect.torch_tensors import permutation


def indices(values: object, name: str, count: int) -> None:
    """One or more indices from 0 to count − 1, in a sequence of integers or a tensor (P,) of them; some may repeat.

    Examples
    --------
    >>> indices([0, 1, 1], "which", 2)
    >>> indices([0, -1], "which", 2)
    Traceback (most recent call last):
        ...
    ValueError: which holds -1; allowed: integers from 0 to 1
    """
    allowed = f"integers from 0 to {count - 1}"
    if isinstance(values, torch.Tensor):
        whole = not (values.is_floating_point() or values.is_complex()) and values.dtype != torch.bool
        if not whole or values.ndim != 1 or not len(values) or values.is_meta:
            refuse(name, f"has shape {tuple(values.shape)} and dtype {values.dtype}", f"(P,), P >= 1, {allowed}")
        found = [int(end) for end in torch.aminmax(values)]
    elif not isinstance(values, (Sequence, np.ndarray)) or isinstance(values, (str, bytes)) or not len(values):
        refuse(name, f"= {short(values)}", f"one or more, {allowed}")
        return
    else:
        array = np.asarray(values)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            refuse(name, f"= {short(values)}", allowed)
        found = [int(array.min()), int(array.max())]
    for one in found:
        if not 0 <= one < count:
            refuse(name, f"holds {one}", allowed)


def permutations(
    values: object, name: str, like: Mapping[str, torch.Tensor], every: bool = False, entries: bool = True
) -> None:
    """Group → permutations (P, m), with the shapes of others, some of their groups or with ``every`` all of them.

    Without ``entries`` the numbers are not looked at, as in inner loops.

    Examples
    --------
    >>> permutations({"a": torch.tensor([[0, 0]])}, "permutations", {"a": torch.tensor([[0, 1]])})
    Traceback (most recent call last):
        ...
    ValueError: permutations['a'] repeats a unit; allowed: permutations of 0 to 1
    """
    _permutations(values, name, {group: tuple(p.shape) for group, p in like.items()}, every, entries)


def listed_permutations(values: object, name: str, groups: Sequence[str], P: int, count: int) -> None:
    """Group → permutations (P, m) for all of some groups, where m! is known.

    Examples
    --------
    >>> listed_permutations({"a": torch.tensor([[1, 0, 2]])}, "permutations", ["a"], P=1, count=6)
    >>> listed_permutations({"a": torch.tensor([[1, 0]])}, "permutations", ["a"], P=1, count=6)
    Traceback (most recent call last):
        ...
    ValueError: permutations['a'] has shape (1, 2); allowed: (1, 3)
    """
    m = next(m for m in range(count + 1) if math.factorial(m + 1) > count)
    _permutations(values, name, dict.fromkeys(groups, (P, m)), True, True)


def _permutations(values: object, name: str, shapes: dict[str, tuple[int, ...]], every: bool, entries: bool) -> None:
    if not isinstance(values, Mapping):
        refuse(name, f"= {short(values)}", "tensors by their groups")
        return
    for group, p in values.items():
        one_of(group, f"a group of {name}", shapes)
        permutation(p, f"{name}[{group!r}]")
        if p.shape != shapes[group]:
            refuse(f"{name}[{group!r}]", f"has shape {tuple(p.shape)}", str(shapes[group]))
        if entries and not (p.sort(dim=-1).values == torch.arange(p.shape[-1], device=p.device)).all():
            refuse(f"{name}[{group!r}]", "repeats a unit", f"permutations of 0 to {p.shape[-1] - 1}")
    missing = [group for group in shapes if group not in values] if every else []
    if missing:
        refuse(name, f"lacks the group {missing[0]!r}", f"permutations of all groups: {', '.join(shapes)}")


def some_of(values: object, name: str, allowed: Collection) -> None:
    """A sequence of one or more values, each one of those allowed.

    Examples
    --------
    >>> some_of([3, 4], "widths", (3, 5))
    Traceback (most recent call last):
        ...
    ValueError: widths[1] = 4; allowed: 3, 5
    """
    if isinstance(values, str) or not isinstance(values, Collection) or not len(values):
        refuse(name, f"= {short(values)}", f"one or more of {', '.join(map(repr, allowed))}")
        return
    for k, value in enumerate(values):
        one_of(value, f"{name}[{k}]", allowed)
