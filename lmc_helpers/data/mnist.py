"""MNIST: handwritten digits of 28 × 28 pixels, 60 000 to train and 10 000 to test (LeCun, Cortes & Burges).

Four gzipped IDX files. The checksums of the packed and of the unpacked files are the published ones: they stand, alike,
in many independent catalogues of data sets, and the files that this was written with agree.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lmc_helpers.data.files import Archive, Content, Source
from lmc_helpers.data.idx import read_idx

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


def parse(contents: Mapping[str, Content]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Pixels and labels of the four files.

    Parameters
    ----------
    contents : mapping of str to Content
        the unpacked files by their names.

    Returns
    -------
    dict
        ``"train"`` and ``"test"`` -> (pixels (n, 1, 28, 28), labels (n,)), uint8.

    Examples
    --------
    >>> images = bytes([0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28]) + bytes(784)
    >>> labels = bytes([0, 0, 8, 1, 0, 0, 0, 1, 7])
    >>> raw = {name: images if "images" in name else labels for name in SHA256}
    >>> pixels, y = parse({name: Content(name, raw[name], "") for name in raw})["test"]
    >>> pixels.shape, y.tolist()
    ((1, 1, 28, 28), [7])
    """
    if not isinstance(contents, Mapping) or len(contents) < len(SHA256):
        raise ValueError(f"contents is {type(contents).__name__}; allowed: {len(SHA256)} files by their names")
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
