"""IDX files written by hand, of several shapes, cut and bent."""

import struct

import numpy as np
import pytest

from lmc_helpers.data.idx import read_idx


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 1), (2, 3, 5), (1, 2, 1, 3), (300,)])
def test_what_was_written_is_read(shape):
    array = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    found = read_idx(idx(array), "a")
    assert found.dtype == np.uint8 and found.shape == shape and (found == array).all()


RAW = idx(np.arange(6, dtype=np.uint8).reshape(2, 3))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "a is no IDX file of bytes: it begins with nothing; allowed: 00 00 08 and the number of dimensions"),
        (b"<html>", "it begins with 3c 68 74 6d"),
        (RAW[:3], "it begins with 00 00 08"),
        (b"\0\0\x0d" + RAW[3:], "it begins with 00 00 0d 02"),  # floats
        (b"\0\0\x08\0", "it begins with 00 00 08 00"),
        (RAW[:9], "a has 9 bytes, and its header alone has 12; allowed: the whole file"),
        (RAW[:-1], "a has 17 bytes, and its header says 18; allowed: the whole file"),
        (RAW + b"\0", "a has 19 bytes, and its header says 18"),
        (struct.pack(">HBB4I", 0, 8, 4, *[2**32 - 1] * 4), f"its header says {20 + (2**32 - 1) ** 4}"),
    ],
)
def test_another_file_is_refused(raw, message):
    with pytest.raises(ValueError) as caught:
        read_idx(raw, "a")
    assert message in str(caught.value)
