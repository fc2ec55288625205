"""Images with labels: one interface to scikit-learn's digits, MNIST and CIFAR-10, and to substitutes of a missing one.

Pixels stay bytes until they are asked for as numbers, :meth:`Images.inputs`. They are normalised by mean and standard
deviation, one per channel, of all training images of the data set, computed from them; a subset, a part and the test
images are normalised by the same numbers.

``python -m lmc_helpers.data.images mnist cifar10`` fetches data sets ahead of time, for machines without network.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import torch

from lmc_helpers._typing import Integer, Seed, checked, many
from lmc_helpers.data._cifar10 import CIFAR10
from lmc_helpers.data._mnist import MNIST
from lmc_helpers.data.digits import digits
from lmc_helpers.data.files import Content, DataError, Found, Source, find, flag
from lmc_helpers.seeds import numpy_generator

if TYPE_CHECKING:
    Names = Sequence[str]
else:
    Names = many(str, "a list of names")

__all__ = ["NAMES", "SPLITS", "Images", "available", "choose", "load"]

_CLASSES = 10  # of each data set
_DIGITS_TEST = 360  # the last ones in scikit-learn's order

# A split is "train", "test", or a part of the training images: these fractions of them, in an order that is shuffled
# once and for all. The test images are in no part. App. F.3 of Bürgin et al. has "a random 80%/10%/10% train/val/test
# split" and does not say of what: read as a split of the training images, it is train80, validation80 and test80. The
# code that the authors published splits the training images 90 % to 10 % and keeps the test images, so that of all
# MNIST images 77 %, 9 % and 14 % (of CIFAR-10: 75 %, 8 % and 17 %) are in the three: train90, validation90 and test.
PARTS = {
    "train80": (0.0, 0.8),
    "validation80": (0.8, 0.9),
    "test80": (0.9, 1.0),
    "train90": (0.0, 0.9),
    "validation90": (0.9, 1.0),
}
SPLITS = ("train", "test", *PARTS)


def _digits(_: Mapping[str, Content]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    x, y = digits()  # (1797, 64) in [0, 1]
    pixels = (255 * x).round().to(torch.uint8).reshape(-1, 1, 8, 8).numpy()
    labels = y.to(torch.uint8).numpy()
    both = {"train": slice(None, -_DIGITS_TEST), "test": slice(-_DIGITS_TEST, None)}
    return {split: (pixels[rows], labels[rows]) for split, rows in both.items()}


SOURCES = {"digits": Source("scikit-learn's digits", "digits", (), _digits), "mnist": MNIST, "cifar10": CIFAR10}
NAMES = tuple(SOURCES)


@dataclass(frozen=True, eq=False)
class Images:
    """Images of one split of a data set, with labels."""

    x: torch.Tensor  # (n, C, H, W), uint8. Calls that ask for the same images may share it: do not write into it
    y: torch.Tensor  # labels (n,), long, 0 to classes − 1
    name: str
    split: str
    classes: int
    #: whether every file is, by its SHA-256, the published one; digits come with scikit-learn and are not checked
    verified: bool
    mean: torch.Tensor  # (C,), float64: of the pixels, scaled to [0, 1], of all training images
    deviation: torch.Tensor

    def __len__(self) -> int:
        return len(self.y)

    @property
    def title(self) -> str:
        """The name of the data set as written on pages."""
        return SOURCES[self.name].title

    @property
    def says(self) -> str:
        """Description of the images, and whether the files are the published ones, for pages and records."""
        _, C, H, W = self.x.shape
        words = f"{len(self)} images ({self.split}) of {self.title}, {H} × {W} pixels" + (
            ", in colour" if C > 1 else ""
        )
        return words + ("." if self.verified else "; the files differ from the canonical ones.")

    @property
    def source(self) -> str:
        """The name of the data set, with a note if its files are not the published ones."""
        return self.name if self.verified else f"{self.name}, from other files"

    def inputs(
        self, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None, *, flat: bool = False
    ) -> torch.Tensor:
        """The normalised pixels, (x / 255 − mean) / deviation, (n, C, H, W), or (n, C H W) if ``flat``."""
        mean, deviation = (v.to(device, dtype)[:, None, None] for v in (self.mean, self.deviation))  # (C, 1, 1)
        x = self.x.to(device).to(dtype).div_(255).sub_(mean).div_(deviation)
        return x.flatten(1) if flat else x


@dataclass(frozen=True)
class _DataSet:
    """A data set as described by its files."""

    splits: dict[str, tuple[torch.Tensor, torch.Tensor]]
    differing: tuple[str, ...]  # names of the files that are not the published ones
    mean: torch.Tensor
    deviation: torch.Tensor


def _moments(x: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation (C,) of bytes (n, C, H, W) over 255: S/N and √(N Q − S²)/N, in integers till then."""
    mean, deviation = [], []
    for channel in x.swapaxes(0, 1):  # (n, H, W)
        N, S = channel.size, int(channel.sum(dtype=np.int64))
        Q = int(np.square(channel, dtype=np.uint16).sum(dtype=np.int64))
        mean.append(S / (255 * N))
        deviation.append(math.sqrt(N * Q - S**2) / (255 * N))
    return torch.tensor(mean, dtype=torch.float64), torch.tensor(deviation, dtype=torch.float64)


@functools.lru_cache(maxsize=len(NAMES))
def _read(name: str, found: tuple[Found, ...]) -> _DataSet:
    contents = {content.name: content for content in chain.from_iterable(place.contents() for place in found)}
    parsed = SOURCES[name].parse(contents)
    mean, deviation = _moments(parsed["train"][0])
    if not (deviation > 0).all():
        raise ValueError("the training images have one value in all pixels of a channel; allowed: at least two values")
    return _DataSet(
        {split: (torch.tensor(x), torch.tensor(y).long()) for split, (x, y) in parsed.items()},
        tuple(content.name for content in contents.values() if not content.canonical),
        mean,
        deviation,
    )


def _data_set(name: str) -> _DataSet:
    """The data set, read once per process while its files stay the same; raises DataError if it is not available."""
    if name not in SOURCES:
        raise ValueError(f"name = {name!r}; allowed: {', '.join(NAMES)}")
    source = SOURCES[name]
    found = tuple(find(source, archive) for archive in source.archives)
    folders = ", ".join(sorted({str(path.parent) for place in found for path in place.paths}))
    try:
        data = _read(name, found)
    except ValueError as error:
        raise DataError(source.title, str(error), f"the files are in {folders}; replace or remove them") from error
    if data.differing and not flag("LMC_DATA_UNVERIFIED"):
        first, *others = data.differing
        raise DataError(
            source.title,
            f"{first} differs from the published file" + (f", and {len(others)} more do" if others else ""),
            f"the files are in {folders}; replace or remove them, or set LMC_DATA_UNVERIFIED=1 to use them as they are",
        )
    return data


@checked
def load(name: str, split: str = "train", n: Integer | None = None, seed: Seed = 0) -> Images:
    """Images of a data set; missing files are downloaded if that is allowed.

    ``name``: ``"digits"``, ``"mnist"`` or ``"cifar10"``. ``split``: ``"train"``, ``"test"`` or a part of the training
    images: ``"train80"``, ``"validation80"``, ``"test80"`` are 80, 10 and 10 % of them, ``"train90"``,
    ``"validation90"`` 90 and 10 %, in a shuffled order that does not depend on the seed. ``n``: number of images: the
    first n of the split in an order that the seed shuffles; a larger n includes a smaller one. Not balanced: every
    image is as likely as any other. Without n all of them, in the split's order.

    Examples
    --------
    >>> some = load("digits", n=5)
    >>> some.x.shape, some.x.dtype, some.y.shape, some.classes
    (torch.Size([5, 1, 8, 8]), torch.uint8, torch.Size([5]), 10)
    """
    if split not in SPLITS:
        raise ValueError(f"split = {split!r}; allowed: {', '.join(SPLITS)}")
    data = _data_set(name)
    x, y = data.splits["test" if split == "test" else "train"]
    chosen = np.arange(len(y))
    if split in PARTS:
        start, end = (round(fraction * len(y)) for fraction in PARTS[split])
        chosen = numpy_generator(0, f"parts of {name}").permutation(len(y))[start:end]
    if n is not None:
        if not 1 <= n <= len(chosen):
            raise ValueError(f"n = {n} images; allowed: an integer from 1 to {len(chosen)}")
        chosen = chosen[numpy_generator(seed, f"subset of {name} {split}").permutation(len(chosen))[:n]]
    if len(chosen) < len(y) or n is not None:
        x, y = x[chosen], y[chosen]
    return Images(x, y, name, split, _CLASSES, not data.differing, data.mean, data.deviation)


@checked
def available(name: str) -> str | None:
    """The reason why a data set is not available, without names of folders, or None; it is downloaded if allowed."""
    try:
        _data_set(name)
    except DataError as error:
        return error.reason
    return None


@checked
def choose(names: Names) -> tuple[str, str]:
    """The first data set that is available, and a sentence for the page.

    The sentence names the data set, why no earlier one is used, and whether its files differ from the published ones.
    """
    missing: list[str] = []
    for name in names:
        reason = available(name)
        if reason is not None:
            missing.append(f"{SOURCES[name].title} is not here ({reason})")
            continue
        words = f"this run uses {SOURCES[name].title}"
        if _data_set(name).differing:
            words += ", from files that differ from the canonical ones"
        return name, f"{'; '.join(missing)}: {words}." if missing else f"{words[0].upper()}{words[1:]}."
    raise ValueError(f"{'; '.join(missing) or 'no data set is named'}; allowed: names of {', '.join(NAMES)}")


def _main(names: Sequence[str]) -> int:
    """Fetch data sets and report the outcome; 0 if all are available, else 1."""
    failed = 0
    for name in names:
        try:
            print(load(name).says)
        except ValueError as error:
            failed = 1
            print(f"error: {error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
