"""The sentence of an error: the argument, what it is, and what is allowed."""

from __future__ import annotations

import numpy as np
import torch


def refuse(name: str, found: str, allowed: str) -> None:
    """Refuse what was found under a name.

    Examples
    --------
    >>> refuse("m", "= 0", "m >= 1")
    Traceback (most recent call last):
        ...
    ValueError: m = 0; allowed: m >= 1
    """
    raise ValueError(f"{name} {found}; allowed: {allowed}")


def short(value: object) -> str:
    """A value in a few words."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
