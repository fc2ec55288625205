"""Minima with a prescribed matched mass and exponents of power laws, for the chapter *barrier rate*."""

from __future__ import annotations

import math

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor


def minima_with_matched_share(gamma: float, M: int) -> tuple[Tensor, Tensor]:
    """Two minima (3M/2, M), M even, that Algorithm 1 leaves in place, with the mean matched mass γ.

    Half of the types are split into 2γ − 1, matched, and 2(1 − γ), unmatched, in the first network, the others in the
    second. Halfway every type has the matched mass γ >= ¾, so that unmatched rows are smaller than matched ones.
    """
    eye, rest = torch.eye(M, dtype=torch.float64), 2 * (1 - gamma)
    first = (torch.arange(M) < M // 2).double()[:, None]  # (M, 1)
    W1 = torch.cat([eye * (1 - rest * first), rest * eye[: M // 2]])
    W2 = torch.cat([eye * (1 - rest * (1 - first)), rest * eye[M // 2 :]])
    return W1, W2


def power_law(x: ArrayLike, samples: ArrayLike) -> tuple[float, float]:
    """Exponent of a power law through means, and its standard error, with errors of log(mean) to first order.

    That is the slope of log(mean) against log(x), each point weighed by its error, from two or more positive values
    (k, n) at positive places x (k,), not all equal.
    """
    samples = np.asarray(samples)
    mean = samples.mean(axis=1)
    error = samples.std(axis=1, ddof=1) / math.sqrt(samples.shape[1]) / mean  # of log(mean)
    log_x = np.log(x)
    w = 1 / error**2
    centred = log_x - (w @ log_x) / w.sum()
    return float((w * centred) @ np.log(mean) / (w @ centred**2)), float((w @ centred**2) ** -0.5)
