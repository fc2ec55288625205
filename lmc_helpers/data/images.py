"""Images with labels: scikit-learn's digits, MNIST and CIFAR-10 under one roof, and what to do where one is missing.

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

import numpy as np
import torch

from lmc_helpers import expect
from lmc_helpers.data.cifar10 import CIFAR10
from lmc_helpers.data.digits import digits
from lmc_helpers.data.files import Content, DataError, Found, Source, find, flag
from lmc_helpers.data.mnist import MNIST
from lmc_helpers.seeds import numpy_generator

__all__ = ["NAMES", "SPLITS", "Images", "available", "choose", "load"]

CLASSES = 10  # of each data set
DIGITS_TEST = 360  # the last ones in scikit-learn's order

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
    both = {"train": slice(None, -DIGITS_TEST), "test": slice(-DIGITS_TEST, None)}
    return {split: (pixels[rows], labels[rows]) for split, rows in both.items()}


SOURCES = {"digits": Source("scikit-learn's digits", "digits", (), _digits), "mnist": MNIST, "cifar10": CIFAR10}
NAMES = tuple(SOURCES)


@dataclass(frozen=True, eq=False)
class Images:
    """Images of one split of a data set, with labels.

    Parameters
    ----------
    x : torch.Tensor
        (n, C, H, W), uint8. Calls that ask for the same images may share it: do not write into it.
    y : torch.Tensor
        labels (n,), long, 0 to ``classes`` − 1.
    name, split : str
        of the data set and of its part.
    classes : int
        number of classes.
    verified : bool
        whether every file is, by its SHA-256, the published one; digits come with scikit-learn and are not checked.
    mean, deviation : torch.Tensor
        (C,), float64: of the pixels, scaled to [0, 1], of all training images.
    """

    x: torch.Tensor
    y: torch.Tensor
    name: str
    split: str
    classes: int
    verified: bool
    mean: torch.Tensor
    deviation: torch.Tensor

    def __len__(self) -> int:
        return len(self.y)

    @property
    def title(self) -> str:
        """The name of the data set as pages write it."""
        return SOURCES[self.name].title

    @property
    def says(self) -> str:
        """What the images are and whether the files are the published ones, for pages and records.

        Examples
        --------
        >>> load("digits", "test").says
        "360 images (test) of scikit-learn's digits, 8 × 8 pixels."
        """
        _, C, H, W = self.x.shape
        told = f"{len(self)} images ({self.split}) of {self.title}, {H} × {W} pixels" + (", in colour" if C > 1 else "")
        return told + ("." if self.verified else "; the files differ from the canonical ones.")

    def inputs(
        self, dtype: torch.dtype = torch.float32, device: torch.device | str | None = None, *, flat: bool = False
    ) -> torch.Tensor:
        """The normalised pixels, (x / 255 − mean) / deviation.

        Parameters
        ----------
        dtype : torch.dtype
            a floating type.
        device : device, optional
            where they go; the CPU if it is not given.
        flat : bool
            one row an image.

        Returns
        -------
        torch.Tensor
            (n, C, H, W), or (n, C H W) if ``flat``; new at every call.

        Examples
        --------
        >>> x = load("digits").inputs(torch.float64, flat=True)
        >>> x.shape, round(x.mean().item(), 6), round(x.std(correction=0).item(), 6)
        (torch.Size([1437, 64]), 0.0, 1.0)
        """
        expect.floating(dtype, "dtype")
        expect.one_of(flat, "flat", (True, False))
        mean, deviation = (v.to(device, dtype)[:, None, None] for v in (self.mean, self.deviation))  # (C, 1, 1)
        x = self.x.to(device).to(dtype).div_(255).sub_(mean).div_(deviation)
        return x.flatten(1) if flat else x


@dataclass(frozen=True)
class _Whole:
    """A data set as its files have it."""

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
def _read(name: str, found: tuple[Found, ...]) -> _Whole:
    contents = {content.name: content for content in chain.from_iterable(place.contents() for place in found)}
    parsed = SOURCES[name].parse(contents)
    mean, deviation = _moments(parsed["train"][0])
    if not (deviation > 0).all():
        raise ValueError("the training images have one value in all pixels of a channel; allowed: at least two values")
    return _Whole(
        {split: (torch.tensor(x), torch.tensor(y).long()) for split, (x, y) in parsed.items()},
        tuple(content.name for content in contents.values() if not content.canonical),
        mean,
        deviation,
    )


def _whole(name: str) -> _Whole:
    """The data set, read once a process as long as its files stay the same; DataError if it cannot be had."""
    if name not in SOURCES:
        raise ValueError(f"name = {name!r}; allowed: {', '.join(NAMES)}")
    source = SOURCES[name]
    found = tuple(find(source, archive) for archive in source.archives)
    folders = ", ".join(sorted({str(path.parent) for place in found for path in place.paths}))
    try:
        whole = _read(name, found)
    except ValueError as error:
        raise DataError(source.title, str(error), f"the files are in {folders}; replace or remove them") from error
    if whole.differing and not flag("LMC_DATA_UNVERIFIED"):
        first, *others = whole.differing
        raise DataError(
            source.title,
            f"{first} differs from the published file" + (f", and {len(others)} more do" if others else ""),
            f"the files are in {folders}; replace or remove them, or set LMC_DATA_UNVERIFIED=1 to use them as they are",
        )
    return whole


def load(name: str, split: str = "train", n: int | None = None, seed: int = 0) -> Images:
    """Images of a data set; they are downloaded where they are missing and that is allowed.

    Parameters
    ----------
    name : str
        ``"digits"``, ``"mnist"`` or ``"cifar10"``.
    split : str
        ``"train"``, ``"test"`` or a part of the training images: ``"train80"``, ``"validation80"``, ``"test80"`` are
        80, 10 and 10 % of them, ``"train90"``, ``"validation90"`` 90 and 10 %, in a shuffled order that does not depend
        on the seed.
    n : int, optional
        number of images: the first n of the split in an order that the seed shuffles, so that more images contain the
        fewer. Not balanced: every image is as likely as any other. Without n all of them, in the split's order.
    seed : int
        of the subset.

    Returns
    -------
    Images
        n images.

    Examples
    --------
    >>> some = load("digits", n=5)
    >>> some.x.shape, some.x.dtype, some.y.shape, some.classes
    (torch.Size([5, 1, 8, 8]), torch.uint8, torch.Size([5]), 10)
    """
    expect.text(name, "name")
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    if split not in SPLITS:
        raise ValueError(f"split = {split!r}; allowed: {', '.join(SPLITS)}")
    whole = _whole(name)
    x, y = whole.splits["test" if split == "test" else "train"]
    chosen = np.arange(len(y))
    if split in PARTS:
        start, end = (round(fraction * len(y)) for fraction in PARTS[split])
        chosen = numpy_generator(0, f"parts of {name}").permutation(len(y))[start:end]
    if n is not None:
        if isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= len(chosen):
            raise ValueError(f"n = {n!r} images; allowed: an integer from 1 to {len(chosen)}")
        chosen = chosen[numpy_generator(seed, f"subset of {name} {split}").permutation(len(chosen))[:n]]
    if len(chosen) < len(y) or n is not None:
        x, y = x[chosen], y[chosen]
    return Images(x, y, name, split, CLASSES, not whole.differing, whole.mean, whole.deviation)


def available(name: str) -> str | None:
    """Why a data set cannot be had; None if it can. What is missing is downloaded if that is allowed.

    Parameters
    ----------
    name : str
        ``"digits"``, ``"mnist"`` or ``"cifar10"``.

    Returns
    -------
    str or None
        names of files and no folders, so that it can stand on a page.

    Examples
    --------
    >>> available("digits") is None
    True
    """
    expect.text(name, "name")
    try:
        _whole(name)
    except DataError as error:
        return error.reason
    return None


def choose(names: Sequence[str]) -> tuple[str, str]:
    """The first data set that can be had, and a sentence for the page.

    Parameters
    ----------
    names : sequence of str
        the one that is wanted first, then what may stand in for it.

    Returns
    -------
    (str, str)
        a name, and what the page should say: which data set it is, why no earlier one, and whether its files differ
        from the published ones.

    Examples
    --------
    >>> choose(("digits", "mnist"))
    ('digits', "This run uses scikit-learn's digits.")
    """
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ValueError(f"names = {names!r}; allowed: a sequence of names of data sets")
    missing: list[str] = []
    for name in names:
        reason = available(name)
        if reason is not None:
            missing.append(f"{SOURCES[name].title} is not here ({reason})")
            continue
        told = f"this run uses {SOURCES[name].title}"
        if _whole(name).differing:
            told += ", from files that differ from the canonical ones"
        told = f"{'; '.join(missing)}: {told}." if missing else f"{told[0].upper()}{told[1:]}."
        return name, told
    raise ValueError(f"{'; '.join(missing) or 'no data set is named'}; allowed: names of {', '.join(NAMES)}")


def main(names: Sequence[str]) -> int:
    """Fetch data sets and say what came of it.

    Parameters
    ----------
    names : sequence of str
        of data sets.

    Returns
    -------
    int
        0 if all can be had, else 1.

    Examples
    --------
    >>> main(["digits"])
    1437 images (train) of scikit-learn's digits, 8 × 8 pixels.
    0
    """
    if isinstance(names, str) or not isinstance(names, Sequence):
        raise ValueError(f"names = {names!r}; allowed: a sequence of names of data sets")
    failed = 0
    for name in names:
        try:
            print(load(name).says)
        except ValueError as error:
            failed = 1
            print(f"error: {error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
