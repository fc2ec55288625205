"""Cross-fitted peaks, and descent in many dimensions, for the chapter *double descent* (Zhan, Li & Wu)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike

from lmc_helpers.error_bars import ratio_of_means
from lmc_helpers.teacher_student import even_sharpness
from lmc_helpers.teacher_student.gradient_descent import gradient_descent


def peak_over_ends(samples: Sequence[ArrayLike]) -> tuple[float, float]:
    """Mean at the peak over the larger of the means at both ends, cross-fitted, and its standard error.

    The largest of several sampled means is biased upwards by its selection: here one half of the samples selects the
    peak and the other half measures its height (Fig. 10).
    """
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    ratios = []
    for half in (0, 1):
        chosen, measured = [x[half::2] for x in arrays], [x[1 - half :: 2] for x in arrays]
        means = [x.mean() for x in chosen]
        peak, end = int(np.argmax(means)), max((0, len(means) - 1), key=lambda k: means[k])
        ratios.append(ratio_of_means(measured[peak], measured[end]))
    (first, first_error), (second, second_error) = ratios
    return (first + second) / 2, math.hypot(first_error, second_error) / 2


def descend_in_span(
    starts: list[torch.Tensor], M: int, relative_rate: float, steps: int, tol: float
) -> list[torch.Tensor]:
    """Gradient descent from weights (n, m, d) in several d, with one step size in units of the threshold η₀.

    The teacher lives on the first M axes. The rows' components on the other axes span at most m directions, which
    descent never leaves. So m rows in any d descend as in D = M + m dimensions (Fig. 11); their loss differs by the
    factor D/d, which a step size in units of η₀ ∝ d takes up, and networks of several d share one batch.
    """
    m = starts[0].shape[1]
    thin, frames = [], []
    for W in starts:
        frame, factor = torch.linalg.qr(W[..., M:].mT)  # W off the teacher's axes = factorᵀ frameᵀ
        rest = torch.zeros(len(W), m, m, dtype=W.dtype)
        rest[..., : factor.shape[-2]] = factor.mT
        thin.append(torch.cat([W[..., :M], rest], dim=-1))  # (n, m, M + m)
        frames.append(frame)
    rate = relative_rate * 2 / even_sharpness(m, M, M + m)
    ends = gradient_descent(torch.cat(thin), M, rate, steps, tol=tol).W.split([len(W) for W in starts])
    return [
        torch.cat([W[..., :M], W[..., M : M + frame.shape[-1]] @ frame.mT], dim=-1)
        for W, frame in zip(ends, frames, strict=True)
    ]
