"""Gradient descent in many input dimensions at once (Zhan, Li & Wu, Fig. 11).

The teacher lives on the first M axes. Turning the other d − M axes changes neither the loss nor its gradient's form,
and the rows' parts on these axes span at most m directions, which descent never leaves. So networks of m rows in any
dimension d descend as networks in dimension D = M + m; their loss differs by the factor D/d, which a step size in
units of the threshold η₀ ∝ d takes up. Networks of several dimensions share one batch.
"""

from __future__ import annotations

import torch

from lmc_helpers.teacher_student.gradient_descent import gradient_descent
from lmc_helpers.teacher_student.sparsity import even_sharpness

__all__ = ["descend_in_span"]


def descend_in_span(
    starts: list[torch.Tensor], M: int, relative_rate: float, steps: int, tol: float
) -> list[torch.Tensor]:
    """Gradient descent from weights in several dimensions, with one step size in units of the threshold.

    Parameters
    ----------
    starts : list of torch.Tensor
        (n_k, m, d_k), float64, one batch for each dimension d_k >= M; all with the same number of rows.
    M : int
        teacher neurons.
    relative_rate : float
        step size over η₀ = 2/λ, λ = :func:`~lmc_helpers.teacher_student.sparsity.even_sharpness` of m rows.
    steps : int
        budget of descent.
    tol : float
        norm of the gradient of (d/(M + m)) L at which a network has converged.

    Returns
    -------
    list of torch.Tensor
        (n_k, m, d_k), where :func:`~lmc_helpers.teacher_student.gradient_descent.gradient_descent` would take each
        batch with the step size ``relative_rate`` η₀ of its own dimension.

    Examples
    --------
    >>> from lmc_helpers.teacher_student.gradient_descent import initial_weights
    >>> starts = [initial_weights(5, d, 2, seed=1) for d in (4, 50)]
    >>> [tuple(W.shape) for W in descend_in_span(starts, M=2, relative_rate=0.5, steps=10, tol=1e-8)]
    [(2, 5, 4), (2, 5, 50)]
    """
    m = starts[0].shape[1]
    shapes = [tuple(W.shape) for W in starts]
    if any(W.ndim != 3 or W.shape[1] != m or W.shape[2] < M for W in starts):
        raise ValueError(f"shapes {shapes} with M = {M}; allowed: (n, m, d) with one m and d >= M")
    thin, frames = [], []
    for W in starts:
        frame, factor = torch.linalg.qr(W[..., M:].mT)  # W off the teacher's axes = factorᵀ frameᵀ
        rest = torch.zeros(len(W), m, m, dtype=W.dtype)
        rest[..., : factor.shape[-2]] = factor.mT
        thin.append(torch.cat([W[..., :M], rest], dim=-1))  # (n, m, M + m)
        frames.append(frame)
    rate = relative_rate * 2 / even_sharpness(m, M, M + m)
    done = gradient_descent(torch.cat(thin), M, rate, steps, tol=tol).W.split([len(W) for W in starts])
    return [
        torch.cat([W[..., :M], W[..., M : M + frame.shape[-1]] @ frame.mT], dim=-1)
        for W, frame in zip(done, frames, strict=True)
    ]
