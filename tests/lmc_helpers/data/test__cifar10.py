"""CIFAR-10 files written by hand, and the real ones where LMC_DATA has them."""

import os
from pathlib import Path

import numpy as np
import pytest

from lmc_helpers.data._cifar10 import parse, records
from lmc_helpers.data.files import Content

REAL = Path(os.environ.get("LMC_DATA") or "no folder", "cifar10")
NAMES = [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]


def raw(n: int, seed: int) -> bytes:
    """n records, label i % 10, then 3072 random bytes."""
    rng = np.random.default_rng(seed)
    return b"".join(bytes([i % 10]) + rng.bytes(3072) for i in range(n))


def test_pixels_and_labels_are_where_they_belong():
    files = {name: Content(name, raw(3 if "test" in name else 2, seed), "") for seed, name in enumerate(NAMES)}
    both = parse(dict(reversed(files.items())))  # the order of the batches is that of their numbers
    pixels, y = both["train"]
    assert pixels.shape == (10, 3, 32, 32) and y.tolist() == [0, 1] * 5
    second = files["data_batch_3.bin"].raw[3073:]
    for c, i, j in ((0, 0, 0), (1, 4, 9), (2, 31, 31)):
        assert pixels[5, c, i, j] == second[1 + 1024 * c + 32 * i + j]
    assert both["test"][0].shape == (3, 3, 32, 32) and both["test"][1].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "test_batch.bin has 0 bytes; allowed: a multiple of 3073, at least one record"),
        (raw(2, 1)[:-1], "test_batch.bin has 6145 bytes; allowed: a multiple of 3073"),
        (b"<html>", "test_batch.bin has 6 bytes"),
        (raw(2, 1) + bytes([10]) + bytes(3072), "test_batch.bin has the label 10; allowed: 0 to 9"),
    ],
)
def test_a_bad_file_is_named(content, message):
    with pytest.raises(ValueError, match=message):
        records(Content("test_batch.bin", content, ""))


@pytest.mark.skipif(
    not any((REAL / name).exists() for name in ("cifar-10-binary.tar.gz", "cifar-10-batches-bin")),
    reason="LMC_DATA names no folder with CIFAR-10",
)
def test_the_real_files(monkeypatch):
    from lmc_helpers.data.images import load

    monkeypatch.setenv("LMC_DATA", str(REAL.parent))
    monkeypatch.setenv("LMC_DATA_UNVERIFIED", "1")
    train, test = load("cifar10"), load("cifar10", "test")
    assert train.y.bincount().tolist() == [5000] * 10 and test.y.bincount().tolist() == [1000] * 10
    assert train.mean.tolist() == pytest.approx([0.4914, 0.4822, 0.4465], abs=5e-4)
    assert train.deviation.tolist() == pytest.approx([0.2470, 0.2435, 0.2616], abs=5e-3)
    if train.verified:
        assert train.y[:5].tolist() == [6, 9, 9, 4, 1] and test.y[:5].tolist() == [3, 8, 8, 0, 6]
