"""Sparsity of weights and sharpness of minima (Zhan, Li & Wu, section 5).

Sparsity is measured by the PQ index (11) and by the number of rows that are 0.

The Hessian of the loss at a minimum depends on its types only (chapter *Minima and the exact loss*): with n_j rows of
type j that are not 0, its largest eigenvalue is that of K^(1/2) N K^(1/2), N = diag(n_1, …, n_M) ⊗ I, where K has the
d × d blocks K_jj = I/d and K_jj' = (I/2 + (e_j e_j'ᵀ + e_j' e_jᵀ)/π)/d. It is convex in the counts, as the largest
eigenvalue of a matrix that is linear in them, and symmetric in the types: among minima with k such rows the evenly
spread ones are the least sharp.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from jaxtyping import Float, Int64, Real
from scipy.special import poch
from scipy.stats import binom
from torch import Tensor

from lmc_helpers._typing import Number, Positive, PositiveNumber, checked, require_finite

__all__ = ["even_sharpness", "expected_pq", "pq_index", "sharpness", "zero_rows"]


@checked
def pq_index(w: Float[Tensor, "*batch n"], p: Number = 0.5, q: Number = 1.0) -> Float[Tensor, " *batch"]:
    """The PQ index 1 − n^(1/q − 1/p) ‖w‖_p/‖w‖_q of Definition 7, eq. (11); larger is sparser.

    It lies in [0, 1 − n^(1/q − 1/p)].

    Examples
    --------
    >>> pq_index(torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0]]))
    tensor([0.0000, 0.7500])
    """
    if not 0 < p < q:
        raise ValueError(f"p = {p}, q = {q}; allowed: 0 < p < q")
    size = w.abs()
    largest = size.amax(dim=-1, keepdim=True)
    if not (largest > 0).all():
        raise ValueError("w has a vector 0; allowed: vectors that are not 0")
    size = size / largest
    norm_p, norm_q = (size.pow(r).sum(dim=-1).pow(1 / r) for r in (p, q))
    return 1 - w.shape[-1] ** (1 / q - 1 / p) * norm_p / norm_q


@checked
def expected_pq(m: Positive, M: Positive, a: float | int = 1.0) -> float:
    """Mean PQ index by neuron (p = ½, q = 1) of minima with multinomial counts and Dirichlet(a) entries, exactly.

    The entries of all M types sum to M, so the index is 1 − S²/(mM) with S = Σ_i √x_i. For a type with n rows E S_n² =
    1 + (n − 1) (Γ(a + ½)/Γ(a))²/a and E S_n = n Γ(a + ½)/Γ(a) · Γ(na)/Γ(na + ½); two types have independent entries
    given their counts, which are 1 + Multinomial(m − M). For a = ∞ the entries are equal.

    Examples
    --------
    Two rows of one type: E √(x(1 − x)) = π/8 for uniform x, so the index is 1 − (1 + π/4)/2.

    >>> abs(expected_pq(2, 1) - (1 - (1 + math.pi / 4) / 2)) < 1e-12
    True
    """
    if M > m:
        raise ValueError(f"m = {m}, M = {M}; allowed: m >= M >= 1")
    if not a > 0:
        raise ValueError(f"a = {a}; allowed: a > 0")
    n = np.arange(1, m - M + 2)  # possible counts of one type
    if math.isinf(a):
        first, second = np.sqrt(n), n.astype(float)
    else:
        root = float(poch(a, 0.5))  # Γ(a + ½)/Γ(a)
        first = n * root / poch(n * a, 0.5)  # E S_n
        second = 1 + (n - 1) * root**2 / a  # E S_n²
    surplus = n - 1
    mean_square = M * float(binom.pmf(surplus, m - M, 1 / M) @ second)
    if M > 1:  # two types: the second count given the first is binomial in what is left
        for k, weight in zip(surplus, binom.pmf(surplus, m - M, 1 / M), strict=True):
            given = binom.pmf(surplus, m - M - k, 1 / (M - 1)) @ first
            mean_square += M * (M - 1) * float(weight * first[k] * given)
    return 1 - mean_square / (m * M)


@checked
def zero_rows(W: Float[Tensor, "*batch m d"], threshold: PositiveNumber = 1e-3) -> Int64[Tensor, " *batch"]:
    """Number of rows with a norm below ``threshold``."""
    require_finite(W=W)
    return (torch.linalg.vector_norm(W, dim=-1) < threshold).sum(dim=-1)


@checked
def sharpness(counts: Real[Tensor, "*batch M"], d: Positive) -> Float[Tensor, " *batch"]:
    """Largest Hessian eigenvalue at a minimum with given numbers of non-zero rows of each type.

    Examples
    --------
    With one teacher and s = Σ_i ‖w_i‖, L = (s − 1)²/(2d) on the ray; n rows that grow together have the curvature n/d.

    >>> round(sharpness(torch.tensor([3]), d=2).item(), 12)
    1.5
    """
    require_finite(counts=counts)
    M = counts.shape[-1]
    if not 1 <= M <= d:
        raise ValueError(f"M = {M} types in dimension d = {d}; allowed: 1 <= M <= d")
    if not (counts >= 1).all():
        raise ValueError(f"counts = {counts.tolist()}; allowed: at least one row of each type")
    eye = torch.eye(d, dtype=torch.float64)
    K = torch.zeros(M, d, M, d, dtype=torch.float64)
    for i in range(M):
        for j in range(M):
            swap = torch.outer(eye[i], eye[j]) + torch.outer(eye[j], eye[i])
            K[i, :, j, :] = eye / d if i == j else (eye / 2 + swap / math.pi) / d
    root = counts.to(torch.float64).sqrt().repeat_interleave(d, dim=-1)  # (..., M d)
    return torch.linalg.eigvalsh(root[..., :, None] * K.reshape(M * d, M * d) * root[..., None, :])[..., -1]


@checked
def even_sharpness(k: Number, M: Positive, d: Positive) -> float:
    """Sharpness of k non-zero rows spread evenly over M types: (k/M) μ_M/d, the least of all minima with k such rows.

    μ_M is the larger eigenvalue of [[1 + (M−1)/π, (M−1)/2], [1/2, M/2 + 1/π]], to which K d reduces on vectors that are
    symmetric in the types. If k is not a multiple of M, this is a lower bound. Gradient descent with a step size above
    2 over the sharpness cannot settle there.

    Examples
    --------
    >>> abs(even_sharpness(6, M=3, d=4) - sharpness(torch.tensor([2, 2, 2]), d=4).item()) < 1e-12
    True
    """
    if not 1 <= M <= d:
        raise ValueError(f"M = {M} types in dimension d = {d}; allowed: 1 <= M <= d")
    if M == 1:
        return k / d
    a, b, c, e = 1 + (M - 1) / math.pi, (M - 1) / 2, 1 / 2, M / 2 + 1 / math.pi
    mu = (a + e) / 2 + math.sqrt(((a - e) / 2) ** 2 + b * c)
    return k / M * mu / d
