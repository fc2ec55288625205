"""A progress bar for long loops, shown where tqdm is installed; without it the loops run in silence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

__all__ = ["progress"]

T = TypeVar("T")


def progress(
    iterable: Iterable[T], *, description: str, total: int | None = None, disable: bool = False
) -> Iterable[T]:
    """The same items, with a bar of ``tqdm`` while they are used up; without tqdm the iterable itself.

    Parameters
    ----------
    iterable : iterable
        what a loop runs over.
    description : str
        what the loop does, shown before the bar.
    total : int, optional
        number of items, where ``len`` does not tell.
    disable : bool
        show no bar.

    Returns
    -------
    iterable
        a bar that vanishes when the loop ends, or ``iterable``.

    Examples
    --------
    >>> [step for step in progress(range(3), description="descent", disable=True)]
    [0, 1, 2]
    """
    if disable:
        return iterable
    try:
        from tqdm import tqdm
    except ImportError:
        return iterable
    return tqdm(iterable, desc=description, total=total, leave=False)
