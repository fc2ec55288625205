"""Frozen dataclasses as canonical text, the same on every machine, and its digest."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

__all__ = ()  # what packages of ours lend each other

#: A dataclass or field that was renamed keeps its digests by its old name: ``described_as = "Old"`` in the
#: class, ``field(metadata={"described_as": "old"})`` for a field.
_AS = "described_as"


def described(value: Any) -> Any:
    """A value in a form that JSON can hold: a dataclass becomes its class's name and its fields, a tuple a list."""
    if is_dataclass(value) and not isinstance(value, type):
        inside = {field.metadata.get(_AS, field.name): described(getattr(value, field.name)) for field in fields(value)}
        return {"class": getattr(type(value), _AS, type(value).__name__)} | inside
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
    """A value as text: JSON with sorted keys, floats by ``repr``."""
    return json.dumps(described(value), sort_keys=True, separators=(",", ":"), allow_nan=False)


def _digest_of(value: Any) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of a value's text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:16]
