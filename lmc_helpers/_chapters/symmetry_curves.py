"""The map (6) of Zhao, Dehmamy, Walters & Yu, and real logarithms, for the chapter *symmetry curves*.

Networks of Fig. 3 are trained by full-batch gradient descent on ``‖W_2 σ(W_1 X) − Y‖²/(2k)`` of k samples with normal
data, from a stream ``normal(*shape)`` such as :func:`lmc_helpers.seeds.normal_stream`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.special import beta, betainc, expit, gamma

from lmc_helpers.general_linear import rotation_logarithm
from lmc_helpers.orbits.group_actions import EPS, GeneralLinear, Weights


@dataclass(frozen=True)
class PseudoInverse:
    """The map of a two-layer network and inputs X (n, k): g·(W_1, W_2) = (g W_1, W_2 σ(W_1 X) σ(g W_1 X)⁺).

    In eq. (6) (U, V) = (W_2, W_1). In general the map is neither an action nor a symmetry.
    """

    activation: Callable[[torch.Tensor], torch.Tensor]
    X: torch.Tensor

    def hidden(self, W_1: torch.Tensor) -> torch.Tensor:
        """σ(W_1 X), (..., h, k)."""
        return self.activation(W_1 @ self.X)

    def output(self, w: Weights) -> torch.Tensor:
        """W_2 σ(W_1 X), (..., m, k)."""
        return w[1] @ self.hidden(w[0])

    def exp(self, M: torch.Tensor, t: torch.Tensor | float = 1.0) -> torch.Tensor:
        """exp(tM), as for GL_h."""
        return GeneralLinear().exp(M, t)

    def act(self, g: torch.Tensor, w: Weights) -> Weights:
        """g·w for an invertible g; id·w need not be w."""
        moved = g @ w[0]
        s = self.hidden(moved)
        return moved, self.output(w) @ torch.linalg.pinv(s, rtol=max(s.shape[-2:]) * EPS)


def projection(s: torch.Tensor) -> torch.Tensor:
    """s⁺ s, the orthogonal projection of R^k onto the row space of s (..., h, k), from its right singular vectors."""
    _, sigma, V = torch.linalg.svd(s, full_matrices=False)
    nonzero = (sigma > max(s.shape[-2:]) * EPS * sigma[..., :1]).to(V)
    return V.mT @ (nonzero[..., :, None] * V)


def has_negative_eigenvalue(g: torch.Tensor) -> torch.Tensor:
    """True where g (..., h, h) has a negative eigenvalue: for a simple spectrum, where it has no real logarithm.

    LAPACK returns real eigenvalues of a real matrix with an imaginary part of exactly 0. A double eigenvalue that
    rounding splits into a conjugate pair is not counted.

    The eigenvalues of a real logarithm that exp maps to a negative one of g come in conjugate pairs. So det g > 0 is
    not enough: each Jordan block of a negative eigenvalue must occur an even number of times (Culver).
    """
    values = torch.linalg.eigvals(g)
    return ((values.imag == 0) & (values.real < 0)).any(dim=-1)


def probability_without_logarithm(h: int) -> float:
    """``P(no real logarithm | det g > 0)`` for g (h, h) with independent N(0, 1) entries: exact, for h <= 100.

    Almost surely g has simple eigenvalues, so this is the probability of a negative eigenvalue. By Forrester & Nagao's
    generating function of the real Ginibre ensemble, P(no negative eigenvalue) = Pf(S − E)/Pf(S), where S is the skew
    product of the monic skew-orthogonal polynomials x^(2j) and x^(2j+1) − 2j x^(2j−1), of norms 2 √(2π) (2j)!, and E
    the part with x < 0 or y < 0 of the real eigenvalues' product ``∬ p(x) q(y) sgn(y − x) exp(−(x² + y²)/2) dx dy``.
    For odd h both are bordered by the integrals of the polynomials. Such a g has det g > 0, of probability 1/2.
    """
    j, k = np.arange(h)[:, None], np.arange(h)[None, :]
    a, b = (k + 1) / 2, (j + 1) / 2
    radial = 2.0 ** ((j + k) / 2) * gamma((j + k) / 2 + 1)
    quadrant = radial * beta(a, b) / 2 * (1 - 2 * betainc(a, b, 0.5))  # x^j y^k over x, y > 0
    half = 2.0 ** ((np.arange(h) - 1) / 2) * gamma((np.arange(h) + 1) / 2)  # x^j over x > 0
    sign = (-1.0) ** np.arange(h)
    E = np.outer(sign * half, half) - np.outer(half, sign * half) - np.outer(sign, sign) * quadrant
    basis = np.eye(h)
    for odd in range(3, h, 2):
        basis[odd, odd - 2] = -(odd - 1)

    size = h + h % 2
    S = np.zeros((size, size))
    for even in range(0, h - 1, 2):
        S[even, even + 1] = 2 * np.sqrt(2 * np.pi) * gamma(even + 1.0)
    S -= S.T
    positive = S.copy()
    positive[:h, :h] -= basis @ E @ basis.T
    if h % 2:
        for matrix, border in ((S, basis @ (half + sign * half)), (positive, basis @ half)):
            matrix[:h, h], matrix[h, :h] = border, -border
    scale = np.sqrt(np.abs(S).max(axis=1))
    none = np.sqrt(np.linalg.det(positive / np.outer(scale, scale)) / np.linalg.det(S / np.outer(scale, scale)))
    return float(1 - 2 * none)


INPUTS, HIDDEN, OUTPUTS = 16, 32, 64  # of Fig. 3b, c
RATE, MOMENTUM = 0.02, 0.9
Normal = Callable[..., torch.Tensor]


def leaky_relu(slope: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """Leaky ReLU, z for z > 0 and slope · z elsewhere."""
    return lambda z: torch.where(z > 0, z, slope * z)


def sigmoid_network(sizes: Sequence[int], steps: int, normal: Normal) -> tuple[PseudoInverse, Weights, torch.Tensor]:
    """A network of Fig. 3a: sigmoid activation, gradient descent at the rates 1/h and 1/h for the two layers."""
    m, h, n, k = (int(size) for size in sizes)
    X, Y = normal(n, k), normal(m, k)
    start = normal(h, n) / math.sqrt(n), normal(m, h) / math.sqrt(h)
    x, y, V, W = (A.numpy() for A in (X, Y, *start))  # a step of NumPy's takes less time than torch's
    for _ in range(steps):
        s = expit(V @ x)
        residual = (W @ s - y) / k
        inner = (W.T @ residual) * s * (1 - s)
        V, W = V - inner @ x.T / h, W - residual @ s.T / h
    return PseudoInverse(torch.sigmoid, X), (torch.from_numpy(V), torch.from_numpy(W)), Y


def leaky_minimum(
    samples: int, slope: float, steps: int, normal: Normal
) -> tuple[PseudoInverse, Weights, torch.Tensor]:
    """A network of Fig. 3b, c: leaky ReLU, 16 inputs, 32 hidden neurons, 64 outputs, gradient descent with momentum."""
    X, Y = normal(INPUTS, samples), normal(OUTPUTS, samples)
    w = normal(HIDDEN, INPUTS) / math.sqrt(INPUTS), normal(OUTPUTS, HIDDEN) / math.sqrt(HIDDEN)
    x, y, V, W = (A.numpy() for A in (X, Y, *w))
    first, second = np.zeros_like(V), np.zeros_like(W)  # velocities
    for _ in range(steps):
        z = V @ x
        g = np.where(z > 0, 1.0, slope)
        h = z * g
        residual = (W @ h - y) / samples
        inner = (W.T @ residual) * g
        first = MOMENTUM * first - RATE * (inner @ x.T)
        second = MOMENTUM * second - RATE * (residual @ h.T)
        V, W = V + first, W + second
    return PseudoInverse(leaky_relu(slope), X), (torch.from_numpy(V), torch.from_numpy(W)), Y


def least_singular_value(s: torch.Tensor) -> torch.Tensor:
    """The least of the min(h, k) singular values of s (..., h, k), from the smaller Gram matrix."""
    gram = s.mT @ s if s.shape[-1] <= s.shape[-2] else s @ s.mT
    return torch.linalg.eigvalsh(gram)[..., 0].clamp(min=0).sqrt()


def real_logarithm(g: torch.Tensor) -> torch.Tensor:
    """The principal logarithm M, exp(M) = g, of a diagonalisable g with no eigenvalue on the closed negative axis."""
    values, vectors = torch.linalg.eig(g)
    M = torch.linalg.solve(vectors, vectors * values.log()[..., None, :], left=False).real  # V log(Λ) V⁻¹
    residual = torch.linalg.matrix_norm(torch.linalg.matrix_exp(M) - g) / torch.linalg.matrix_norm(g)
    if not (residual <= 1e-8).all():
        raise ValueError(f"exp(log g) misses g by {residual.max():.1e} of its norm")
    return M


def two_exponentials(g: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A skew and B symmetric with g = exp(A) exp(B), from the polar decomposition; any g with det g > 0 has them."""
    P, s, Qh = torch.linalg.svd(g)
    return rotation_logarithm(P @ Qh), Qh.mT @ (s.log()[..., :, None] * Qh)


def two_factor_curve(w: Weights, g: torch.Tensor, t: torch.Tensor) -> Weights:
    """exp(tA) exp(tB)·w for GL_h, with g = exp(A) exp(B): from w to g·w for every g of positive determinant."""
    action = GeneralLinear()
    A, B = two_exponentials(g)
    return action.act(action.exp(A, t) @ action.exp(B, t), (w[0].unsqueeze(-3), w[1].unsqueeze(-3)))
