"""IDX files written by hand, of several shapes, cut and bent; MNIST files by hand, and the real ones where they are."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest

from lmc_helpers.data._mnist import parse, read_idx
from lmc_helpers.data.files import Content

REAL = Path(os.environ.get("LMC_DATA") or "no folder", "mnist")


def files(n: int = 5, **replaced) -> dict[str, Content]:
    """Four files with n training and 2 test images; ``train_labels=b"…"`` replaces one."""
    rng, raw = np.random.default_rng(2), {}
    for prefix, count in (("train", n), ("t10k", 2)):
        raw[f"{prefix}-images-idx3-ubyte"] = struct.pack(">4I", 0x803, count, 28, 28) + rng.bytes(784 * count)
        raw[f"{prefix}-labels-idx1-ubyte"] = struct.pack(">2I", 0x801, count) + bytes(range(count))
    raw |= {f"{key.replace('_', '-')}-idx{3 if 'images' in key else 1}-ubyte": value for key, value in replaced.items()}
    return {name: Content(name, value, "") for name, value in raw.items()}


def head(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"train_images": head(0x803, 5, 28, 28) + bytes(783)}, "train-images-idx3-ubyte has 799 bytes"),
        ({"train_images": head(0x803, 5, 8, 8) + bytes(320)}, r"shape \(5, 8, 8\); allowed: \(n, 28, 28\)"),
        ({"train_images": head(0x803, 0, 28, 28)}, r"shape \(0, 28, 28\); allowed: .* with n >= 1"),
        ({"train_images": head(0x801, 5) + bytes(5)}, r"train-images-idx3-ubyte has shape \(5,\)"),
        ({"t10k_labels": head(0x801, 3) + bytes(3)}, r"t10k-labels-idx1-ubyte has shape \(3,\); allowed: \(2,\)"),
        ({"train_labels": head(0x801, 5) + b"\0\0\0\x0a\0"}, "train-labels-idx1-ubyte has the label 10; allowed: 0 "),
    ],
)
def test_a_bad_file_is_named(replaced, message):
    with pytest.raises(ValueError, match=message):
        parse(files(**replaced))


@pytest.mark.skipif(not any(REAL.glob("train-images*")), reason="LMC_DATA names no folder with MNIST")
def test_the_real_files(monkeypatch):
    from lmc_helpers.data.images import load

    monkeypatch.setenv("LMC_DATA", str(REAL.parent))
    train, test = load("mnist"), load("mnist", "test")
    assert train.verified and (len(train), len(test)) == (60_000, 10_000)
    assert train.y[:5].tolist() == [5, 0, 4, 1, 9] and test.y[:5].tolist() == [7, 2, 1, 0, 4]
    assert train.y.bincount().tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert train.mean.item() == pytest.approx(0.1307, abs=5e-5)
    assert train.deviation.item() == pytest.approx(0.3081, abs=5e-5)


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
        (b"", "a is not an IDX file of bytes: it begins with nothing; allowed: 00 00 08 and the number of dimensions"),
        (b"<html>", "it begins with 3c 68 74 6d"),
        (RAW[:3], "it begins with 00 00 08"),
        (b"\0\0\x0d" + RAW[3:], "it begins with 00 00 0d 02"),  # floats
        (b"\0\0\x08\0", "it begins with 00 00 08 00"),
        (RAW[:9], "a has 9 bytes, and its header has 12; allowed: the complete file"),
        (RAW[:-1], "a has 17 bytes, and its header says 18; allowed: the complete file"),
        (RAW + b"\0", "a has 19 bytes, and its header says 18"),
        (struct.pack(">HBB4I", 0, 8, 4, *[2**32 - 1] * 4), f"its header says {20 + (2**32 - 1) ** 4}"),
    ],
)
def test_another_file_is_refused(raw, message):
    with pytest.raises(ValueError) as caught:
        read_idx(raw, "a")
    assert message in str(caught.value)
