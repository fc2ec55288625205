"""CIFAR-10: colour images of 32 × 32 pixels in ten classes, 50 000 to train and 10 000 to test (Krizhevsky, 2009).

The binary version: a record is a byte for the label and 3072 for the red, the green and the blue plane. The checksums
of the archive and of the six files are those that public catalogues of data sets state; the archive itself was not at
hand when this was written, so they were compared with each other (three catalogues for the archive, two for the files)
and not with it. The page of the data set gives the archive's MD5, c32a1d4ab5d03f1284b67883e8d87530.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lmc_helpers.data.files import Archive, Content, Source

__all__ = ["CIFAR10"]

MIRRORS = (
    "https://www.cs.toronto.edu/~kriz/",
    "https://cave.cs.toronto.edu/kriz/",
    "https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10/",
)
ARCHIVE_SHA256 = "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"
SHA256 = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
SHAPE, CLASSES = (3, 32, 32), 10
RECORD = 1 + 3 * 32 * 32  # bytes


def records(content: Content) -> np.ndarray:
    """The records (n, 3073) of a file, uint8: label, then pixels."""
    if not content.raw or len(content.raw) % RECORD:
        raise ValueError(
            f"{content.name} has {len(content.raw)} bytes; allowed: a multiple of {RECORD}, at least one record"
        )
    found = np.frombuffer(content.raw, np.uint8).reshape(-1, RECORD)
    if found[:, 0].max() >= CLASSES:
        raise ValueError(f"{content.name} has the label {found[:, 0].max()}; allowed: 0 to {CLASSES - 1}")
    return found


def parse(contents: Mapping[str, Content]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pixels (n, 3, 32, 32) and labels (n,) of the six files, uint8, for ``"train"`` and ``"test"``."""
    *batches, test = (records(contents[name]) for name in SHA256)
    both = {"train": np.concatenate(batches), "test": test}
    return {split: (rows[:, 1:].reshape(-1, *SHAPE), rows[:, 0]) for split, rows in both.items()}


FOLDER = "cifar-10-batches-bin"
CIFAR10 = Source(
    "CIFAR-10",
    "cifar10",
    (
        Archive(
            "cifar-10-binary.tar.gz",
            ARCHIVE_SHA256,
            tuple((f"{FOLDER}/{name}", sha256) for name, sha256 in SHA256.items()),
            MIRRORS,
        ),
    ),
    parse,
)
