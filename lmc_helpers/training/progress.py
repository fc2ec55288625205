"""A progress bar for long loops, shown where tqdm is installed; without it the loops run in silence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

__all__ = ()  # what packages of ours lend each other

_T = TypeVar("_T")


def progress(
    iterable: Iterable[_T], *, description: str, total: int | None = None, disable: bool = False
) -> Iterable[_T]:
    """The same items, with a bar of ``tqdm`` while they are used up; without tqdm the iterable itself.

    The bar vanishes when the loop ends.
    """
    if disable:
        return iterable
    try:
        from tqdm import tqdm
    except ImportError:
        return iterable
    return tqdm(iterable, desc=description, total=total, leave=False)
