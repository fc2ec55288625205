"""MNIST files written by hand, and the real ones where LMC_DATA has them."""

import os
import struct
from pathlib import Path

import numpy as np
import pytest

from lmc_helpers.data.files import Content
from lmc_helpers.data.mnist import MNIST, parse

REAL = Path(os.environ.get("LMC_DATA") or "no folder", "mnist")


def files(n: int = 5, **replaced) -> dict[str, Content]:
    """Four files with n training and 2 test images; ``train_labels=b"…"`` replaces one."""
    rng, raw = np.random.default_rng(2), {}
    for prefix, count in (("train", n), ("t10k", 2)):
        raw[f"{prefix}-images-idx3-ubyte"] = struct.pack(">4I", 0x803, count, 28, 28) + rng.bytes(784 * count)
        raw[f"{prefix}-labels-idx1-ubyte"] = struct.pack(">2I", 0x801, count) + bytes(range(count))
    raw |= {f"{key.replace('_', '-')}-idx{3 if 'images' in key else 1}-ubyte": value for key, value in replaced.items()}
    return {name: Content(name, value, "") for name, value in raw.items()}


def test_pixels_and_labels_are_where_they_belong():
    found = files()
    both = parse(found)
    assert set(both) == {"train", "test"}
    for split, prefix, n in (("train", "train", 5), ("test", "t10k", 2)):
        pixels, y = both[split]
        raw = found[f"{prefix}-images-idx3-ubyte"].raw
        assert pixels.shape == (n, 1, 28, 28) and y.tolist() == list(range(n))
        assert pixels[1, 0, 3, 7] == raw[16 + 784 + 3 * 28 + 7]


def head(*numbers: int) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


@pytest.mark.parametrize(
    ("replaced", "message"),
    [
        ({"train_images": b"garbage"}, "train-images-idx3-ubyte is no IDX file of bytes"),
        ({"train_images": head(0x803, 5, 28, 28) + bytes(783)}, "train-images-idx3-ubyte has 799 bytes"),
        ({"train_images": head(0x803, 5, 8, 8) + bytes(320)}, r"shape \(5, 8, 8\); allowed: \(n, 28, 28\)"),
        ({"train_images": head(0x803, 0, 28, 28)}, r"shape \(0, 28, 28\); allowed: .* with n >= 1"),
        ({"train_images": head(0x801, 5) + bytes(5)}, r"train-images-idx3-ubyte has shape \(5,\)"),
        ({"t10k_labels": head(0x801, 3) + bytes(3)}, r"t10k-labels-idx1-ubyte has shape \(3,\); allowed: \(2,\)"),
        (
            {"train_labels": head(0x801, 5) + b"\0\0\0\x0a\0"},
            "train-labels-idx1-ubyte has the label 10; allowed: 0 to 9",
        ),
    ],
)
def test_a_bad_file_is_named(replaced, message):
    with pytest.raises(ValueError, match=message):
        parse(files(**replaced))


def test_every_file_has_its_mirrors_and_checksums():
    assert [a.name for a in MNIST.archives] == [f"{name}.gz" for name in files()]
    for archive in MNIST.archives:
        ((name, unpacked),) = archive.members
        assert f"{name}.gz" == archive.name and len(archive.mirrors) == 3
        assert all(len(bytes.fromhex(sha)) == 32 for sha in (archive.sha256, unpacked))


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
