"""The smallest gap between projected centres, and the bound of Thm 4.6 on it (Bürgin, Herbst, Lin & Jegelka).

The centres are v_i = Uᵀ f_i, i = 1, …, m, and γ_out = √2 min ‖v_i − v_j‖ over i ≠ j. Its law for Gaussian F is in
:mod:`lmc_helpers.gap_law`.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.spatial import cKDTree
from scipy.special import gammaln
from scipy.stats import binom

from lmc_helpers.device import torch_generator

__all__ = [
    "center_gap",
    "coincidence_probability",
    "largest_constant",
    "log_unit_ball",
    "sample_fixed",
    "separation_bound",
]

#: c of eq. (22) from the proof, 1/(2 C₁), with the sharp constant C₁ = √2 of the density theorem it rests on.
PROOF_CONSTANT = 1 / (2 * math.sqrt(2))
#: Peak of the standard normal density, M₀ of Thm 4.6 for Gaussian entries.
NORMAL_PEAK = 1 / math.sqrt(2 * math.pi)


def check(**values: float) -> None:
    """Refuse sizes, scales and probabilities that are out of range, each by its name."""
    least = {"m": 2, "k": 1, "d": 1}
    for name, value in values.items():
        if name in least and not (value >= least[name] and value == int(value)):
            raise ValueError(f"{name} = {value}; allowed: an integer >= {least[name]}")
        if name in ("sigma", "r") and not value > 0:
            raise ValueError(f"{name} = {value}; allowed: {name} > 0")
        if name in ("p", "q", "nu") and not 0 < value <= 1:
            raise ValueError(f"{name} = {value}; allowed: 0 < {name} <= 1")
        if name in ("delta", "probability") and not 0 < value < 1:
            raise ValueError(f"{name} = {value}; allowed: 0 < {name} < 1")


def sample_fixed(
    m: int, d: int, n: int, p: float, sigma: float, seed: int, purpose: str = "fixed part"
) -> torch.Tensor:
    """Fixed parts F (n, m, d) with independent entries B σ Y₀, B ~ Bernoulli(p), Y₀ standard normal (Thm 4.6).

    Examples
    --------
    >>> F = sample_fixed(3, 4, 5, 1.0, 2.0, seed=1)
    >>> F.shape, bool((F != 0).all())
    (torch.Size([5, 3, 4]), True)
    """
    check(m=max(m, 2), d=d, p=p, sigma=sigma)
    generator = torch_generator(seed, purpose)
    F = sigma * torch.randn(n, m, d, dtype=torch.float64, generator=generator)
    return F if p == 1 else F * (torch.rand(n, m, d, dtype=torch.float64, generator=generator) < p)


def center_gap(v: torch.Tensor) -> torch.Tensor:
    """γ_out = √2 min_{i≠j} ``|v_i − v_j|``.

    Up to k = 8 a k-d tree finds the nearest neighbours, beyond it products of matrices do, and the candidates'
    distances are computed from their differences.

    Parameters
    ----------
    v : torch.Tensor
        projected centres (..., m, k), float64.

    Returns
    -------
    torch.Tensor
        (...).

    Raises
    ------
    ValueError
        if there are fewer than two centres.

    Examples
    --------
    >>> center_gap(torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]], dtype=torch.float64)).item() == math.sqrt(2)
    True
    """
    if v.ndim < 2 or v.shape[-2] < 2:
        raise ValueError(f"centres have shape {tuple(v.shape)}; allowed: (..., m, k) with m >= 2")
    flat = v.reshape(-1, *v.shape[-2:])
    least = _by_tree if v.shape[-1] <= 8 else _by_products
    return math.sqrt(2) * torch.stack([least(w) for w in flat]).reshape(v.shape[:-2])


def _by_tree(v: torch.Tensor) -> torch.Tensor:
    distance, _ = cKDTree(v.numpy()).query(v.numpy(), k=2)
    return torch.tensor(distance[:, 1].min(), dtype=v.dtype)


def _by_products(v: torch.Tensor, chunk: int = 2048) -> torch.Tensor:
    squares = v.square().sum(-1)
    slack = 1e-12 * squares.max()  # rounding of the products
    candidates, best = [], torch.tensor(math.inf, dtype=v.dtype)
    for start in range(0, len(v), chunk):
        rows = slice(start, start + chunk)
        d2 = torch.addmm(squares[rows, None] + squares, v[rows], v.mT, alpha=-2)
        d2[torch.arange(d2.shape[0]), torch.arange(start, start + d2.shape[0])] = math.inf
        best = torch.minimum(best, d2.min())
        i, j = torch.nonzero(d2 <= best + slack, as_tuple=True)
        candidates.append(
            torch.linalg.vector_norm(v[start + i] - v[j], dim=-1).min() if len(i) else best.new_tensor(math.inf)
        )
    return torch.stack(candidates).min()


def log_unit_ball(k: int) -> float:
    """ln V_k, the volume of the unit ball in R^k.

    Examples
    --------
    >>> abs(math.exp(log_unit_ball(3)) - 4 * math.pi / 3) < 1e-12
    True
    """
    check(k=k)
    return k / 2 * math.log(math.pi) - float(gammaln(k / 2 + 1))


def separation_bound(
    m: int, k: int, delta: float, sigma: float = 1.0, q: float = 1.0, peak: float = NORMAL_PEAK
) -> float:
    """The lower bound (22) on γ_out with the constant of its proof, c √q σ/M₀ · V_k^(−1/k) (δ/m²)^(1/k), c = 1/√8.

    The proof has c = 1/(2 C₁), where C₁ is the constant of Rudelson and Vershynin's theorem on densities of
    projections; C₁ = √2 is its sharp value (Livshyts, Paouris and Pivovarov).

    Parameters
    ----------
    m, k : int
        centres and dimension.
    delta : float
        probability of failure.
    sigma, q, peak : float
        σ_F, q = 2p − p² and M₀ of the theorem.

    Raises
    ------
    ValueError
        if a parameter is out of range.

    Examples
    --------
    >>> round(separation_bound(64, 2, 0.1), 6)
    0.002471
    """
    check(m=m, k=k, delta=delta, sigma=sigma, q=q)
    root = math.exp((math.log(delta) - 2 * math.log(m) - log_unit_ball(k)) / k)
    return PROOF_CONSTANT * math.sqrt(q) / peak * sigma * root


def largest_constant(m: int, k: int, delta: float, q: float, nu: float) -> float:
    """The largest C with which hypothesis (21), q >= C(√(q ν Λ) + ν Λ) with Λ = ln(4km²/δ), is met.

    Parameters
    ----------
    m, k : int
        neurons and dimension of the subspace.
    delta, q, nu : float
        probability of failure, 2p − p² and the coherence, which is at least k/d.

    Returns
    -------
    float
        positive.

    Raises
    ------
    ValueError
        if a parameter is out of range.

    Examples
    --------
    >>> round(largest_constant(64, 32, 0.1, 1.0, 32 / 128), 3)
    0.171
    """
    check(m=m, k=k, delta=delta, q=q, nu=nu)
    x = nu * math.log(4 * k * m**2 / delta)
    return q / (math.sqrt(q * x) + x)


def coincidence_probability(m: int, d: int, p: float) -> float:
    """P(γ_out = 0) for masked F and a U without zero rows: the probability that two of the m rows of F are 0.

    Each row is 0 with probability (1 − p)^d. Centres of two other rows differ almost surely.

    Examples
    --------
    >>> coincidence_probability(2, 1, 0.5), coincidence_probability(5, 3, 1.0)
    (0.25, 0.0)
    """
    check(m=m, d=d, p=p)
    return float(np.clip(binom.sf(1, m, (1 - p) ** d), 0, 1))
