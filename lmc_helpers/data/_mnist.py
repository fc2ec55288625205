"""MNIST: handwritten digits of 28 × 28 pixels, 60 000 to train and 10 000 to test (LeCun, Cortes & Burges).

Four gzipped IDX files: two zero bytes, one byte for the type (8: unsigned bytes), one for the number of dimensions,
each dimension as four bytes with the most significant one first, and the entries in row-major order. The checksums of
the packed and of the unpacked files are the published ones: many independent catalogues of data sets list the same
ones, and the files used in writing this module agree.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from lmc_helpers.data.files import Archive, Content, Source

__all__ = ["MNIST"]

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "https://yann.lecun.com/exdb/mnist/",
)
SHA256 = {  # name: (packed, unpacked)
    "train-images-idx3-ubyte": (
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train-labels-idx1-ubyte": (
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k-images-idx3-ubyte": (
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "t10k-labels-idx1-ubyte": (
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}
PREFIX = {"train": "train", "test": "t10k"}
SIDE, CLASSES = 28, 10


def read_idx(raw: bytes, name: str) -> np.ndarray:
    """The array of an IDX file of unsigned bytes, read-only; errors call it by its name."""
    if len(raw) < 4 or raw[:3] != b"\x00\x00\x08" or raw[3] == 0:
        raise ValueError(
            f"{name} is not an IDX file of bytes: it begins with {raw[:4].hex(' ') or 'nothing'}; allowed: 00 00 08 "
            "and the number of dimensions"
        )
    header = 4 + 4 * raw[3]
    if len(raw) < header:
        raise ValueError(f"{name} has {len(raw)} bytes, and its header has {header}; allowed: the complete file")
    shape = tuple(int(size) for size in np.frombuffer(raw, ">u4", raw[3], 4))
    if len(raw) != header + math.prod(shape):
        raise ValueError(
            f"{name} has {len(raw)} bytes, and its header says {header + math.prod(shape)}; allowed: the complete file"
        )
    return np.frombuffer(raw, np.uint8, offset=header).reshape(shape)


def parse(contents: Mapping[str, Content]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pixels (n, 1, 28, 28) and labels (n,) of the four files, uint8, for ``"train"`` and ``"test"``."""
    found = {}
    for split, prefix in PREFIX.items():
        images, labels = f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"
        pixels, y = (read_idx(contents[name].raw, name) for name in (images, labels))
        if pixels.ndim != 3 or pixels.shape[1:] != (SIDE, SIDE) or not len(pixels):
            raise ValueError(f"{images} has shape {pixels.shape}; allowed: (n, {SIDE}, {SIDE}) with n >= 1")
        if y.shape != (len(pixels),):
            raise ValueError(f"{labels} has shape {y.shape}; allowed: ({len(pixels)},), as many as {images}")
        if y.max() >= CLASSES:
            raise ValueError(f"{labels} has the label {y.max()}; allowed: 0 to {CLASSES - 1}")
        found[split] = pixels[:, None], y
    return found


MNIST = Source(
    "MNIST",
    "mnist",
    tuple(Archive(f"{name}.gz", packed, ((name, unpacked),), MIRRORS) for name, (packed, unpacked) in SHA256.items()),
    parse,
)
