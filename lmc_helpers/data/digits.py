"""Handwritten digits that scikit-learn ships, 8 × 8 pixels, for chapters that need a small real data set.

scikit-learn is imported where the digits are read, so that the mathematics runs without it.
"""

from __future__ import annotations

import torch

from lmc_helpers import expect
from lmc_helpers.seeds import numpy_generator

__all__ = ["DIGITS", "digits"]

DIGITS = 1797  # images that scikit-learn ships


def digits(n: int = DIGITS, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Handwritten digits of 8 × 8 pixels (scikit-learn's copy of the UCI test set).

    Parameters
    ----------
    n : int
        number of images, 1 <= n <= 1797; fewer are a random subset.
    seed : int
        seed of the subset.

    Returns
    -------
    torch.Tensor, torch.Tensor
        pixels (n, 64), float64 in [0, 1], and labels (n,), long.

    Examples
    --------
    >>> x, labels = digits(5)
    >>> x.shape, float(x.min()) >= 0, float(x.max()) <= 1, labels.shape
    (torch.Size([5, 64]), True, True, torch.Size([5]))
    """
    expect.integer(n, "n")
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    if not 1 <= n <= DIGITS:
        raise ValueError(f"n = {n} images; allowed: 1 <= n <= {DIGITS}")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    chosen = slice(None) if n == DIGITS else numpy_generator(seed, "subset of the digits").permutation(DIGITS)[:n]
    return torch.from_numpy(pixels[chosen] / 16).double(), torch.from_numpy(labels[chosen]).long()
