"""The IDX format of the MNIST files: a header that says the shape, then the entries.

Two zero bytes, one byte for the type (8: unsigned bytes), one for the number of dimensions, each dimension as four
bytes with the most significant one first, and the entries in row-major order.
"""

from __future__ import annotations

import math

import numpy as np

from lmc_helpers import expect

__all__ = ["read_idx"]

UNSIGNED_BYTES = b"\x00\x00\x08"


def read_idx(raw: bytes, name: str) -> np.ndarray:
    """The array of an IDX file of unsigned bytes.

    Parameters
    ----------
    raw : bytes
        the whole file.
    name : str
        what errors call it.

    Returns
    -------
    numpy.ndarray
        of the shape that the header says, uint8, read-only.

    Examples
    --------
    >>> read_idx(bytes([0, 0, 8, 2, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9]), "an example")
    array([[7, 8, 9]], dtype=uint8)
    >>> read_idx(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7]), "an example")
    Traceback (most recent call last):
        ...
    ValueError: an example has 9 bytes, and its header says 11; allowed: the whole file
    """
    if not isinstance(raw, bytes):
        raise ValueError(f"raw is {type(raw).__name__}; allowed: bytes")
    expect.text(name, "name")
    if len(raw) < 4 or raw[:3] != UNSIGNED_BYTES or raw[3] == 0:
        raise ValueError(
            f"{name} is no IDX file of bytes: it begins with {raw[:4].hex(' ') or 'nothing'}; allowed: 00 00 08 and "
            "the number of dimensions"
        )
    header = 4 + 4 * raw[3]
    if len(raw) < header:
        raise ValueError(f"{name} has {len(raw)} bytes, and its header alone has {header}; allowed: the whole file")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", raw[3], 4))
    if len(raw) != header + math.prod(shape):
        raise ValueError(
            f"{name} has {len(raw)} bytes, and its header says {header + math.prod(shape)}; allowed: the whole file"
        )
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)
