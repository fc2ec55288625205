"""Handwritten digits that scikit-learn ships, 8 × 8 pixels, for chapters that need a small real data set.

scikit-learn is imported when the digits are read; the mathematics runs without it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from lmc_helpers._typing import Positive, Seed, checked
from lmc_helpers.seeds import numpy_generator

__all__ = ["digits"]

_DIGITS = 1797  # images that scikit-learn ships


@checked
def digits(n: Positive = _DIGITS, seed: Seed = 0) -> tuple[Tensor, Tensor]:
    """Handwritten digits of 8 × 8 pixels (scikit-learn's copy of the UCI test set), or a random subset of them.

    Returns
    -------
    torch.Tensor, torch.Tensor
        pixels (n, 64), float64 in [0, 1], and labels (n,), long.
    """
    if n > _DIGITS:
        raise ValueError(f"n = {n} images; allowed: 1 <= n <= {_DIGITS}")
    from sklearn.datasets import load_digits

    pixels, labels = load_digits(return_X_y=True)
    chosen = slice(None) if n == _DIGITS else numpy_generator(seed, "subset of the digits").permutation(_DIGITS)[:n]
    return torch.from_numpy(pixels[chosen] / 16).double(), torch.from_numpy(labels[chosen]).long()
