"""Frozen dataclasses as canonical text: what a run is, the same on every machine, and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ["AS", "canonical", "described", "digest_of"]

#: A dataclass or field that was renamed keeps its digests by its old name: ``described_as = "Old"`` in the
#: class, ``field(metadata={"described_as": "old"})`` for a field.
AS = "described_as"


def described(value: Any) -> Any:
    """A value as JSON can hold it: a dataclass becomes its class's name and its fields, a tuple a list.

    Parameters
    ----------
    value : object
        a dataclass, mapping with names as keys, tuple, list, str, int, finite float, bool or None, and these inside.

    Returns
    -------
    dict, list, str, int, float, bool or None
        what ``json.dumps`` takes.

    Examples
    --------
    >>> from dataclasses import dataclass, field
    >>> from lmc_helpers.training.recipes import Descent
    >>> found = described(Descent(epochs=3, batch=8))
    >>> found["class"], found["epochs"], found["augment"]
    ('Descent', 3, [])
    >>> @dataclass(frozen=True)
    ... class Recipe:
    ...     described_as = "Descent"
    ...     steps: int = field(metadata={"described_as": "epochs"})
    >>> described(Recipe(steps=3))
    {'class': 'Descent', 'epochs': 3}
    """
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.metadata.get(AS, field.name): described(getattr(value, field.name)) for field in fields(value)}
        return {"class": getattr(type(value), AS, type(value).__name__)} | inside
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: described(value[key]) for key in sorted(value)}
    if type(value) in (tuple, list):
        return [described(part) for part in value]
    if value is None or type(value) in (str, int, bool) or (type(value) is float and math.isfinite(value)):
        return value
    raise ValueError(
        f"{value!r} is {type(value).__name__}; allowed: dataclasses, mappings, tuples, lists, text, finite numbers"
    )


def canonical(value: Any) -> str:
    """A value as text: JSON with sorted keys, floats by ``repr``.

    Examples
    --------
    >>> canonical({"b": (1, 0.1), "a": None})
    '{"a":null,"b":[1,0.1]}'
    """
    return json.dumps(described(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest_of(value: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a value's text.

    Examples
    --------
    >>> digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1}), len(digest_of(None))
    (True, 16)
    """
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]
