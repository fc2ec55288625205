"""The gap γ_out between the projected centres of neurons, its law, and the bound of Thm 4.6 (Bürgin et al.).

The centre of neuron i is v_i = Uᵀ f_i, with the rows f_i of the fixed part F (m, d) and an orthonormal basis U (d, k)
of the inputs. The gap is

    γ_out = √2 min ‖v_i − v_j‖   over i ≠ j.

Thm 4.6 bounds γ_out from below, eq. (22), if the entries of F are B σ Y₀ with B ~ Bernoulli(p) and a density of Y₀ of
at most M₀; q = 2p − p².

For Gaussian F without a mask the centres are independent N(0, σ² I_k), two of them are within r with probability
p₁ = P(k/2, r²/4σ²), a regularised incomplete gamma function, and the number of pairs within r is nearly a Poisson
variable:

    P(γ_out > √2 r) ≈ exp(−n p₁),      n = m(m − 1)/2.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from scipy.spatial import cKDTree
from scipy.special import gammaincinv, gammaln
from torch import Tensor

from lmc_helpers._typing import Positive, PositiveNumber, Probability, checked, require_finite

__all__ = ["centre_gap", "gap_quantile", "separation_bound"]

#: c of eq. (22) from the proof, 1/(2 C₁), with the sharp constant C₁ = √2 of the density theorem.
PROOF_CONSTANT = 1 / (2 * math.sqrt(2))

#: Largest value of the standard normal density, M₀ of Thm 4.6 for Gaussian entries.
NORMAL_DENSITY = 1 / math.sqrt(2 * math.pi)


@checked
def centre_gap(v: Float[Tensor, "*batch m k"]) -> Float[Tensor, "*batch"]:
    """γ_out = √2 min_{i≠j} ``|v_i − v_j|`` of projected centres.

    Nearest neighbours come from a k-d tree for k <= 8, and otherwise from matrix products, with the distances of the
    candidates computed from differences.

    Examples
    --------
    >>> centre_gap(torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]], dtype=torch.float64)).item() == math.sqrt(2)
    True
    """
    if v.shape[-2] < 2:
        raise ValueError(f"v has shape {tuple(v.shape)}; allowed: (..., m, k) with m >= 2")
    require_finite(v=v)
    flat = v.reshape(-1, *v.shape[-2:])
    least = _by_tree if v.shape[-1] <= 8 else _by_products
    return math.sqrt(2) * torch.stack([least(w) for w in flat]).reshape(v.shape[:-2])


def _by_tree(v: Tensor) -> Tensor:
    distance, _ = cKDTree(v.numpy()).query(v.numpy(), k=2)
    return torch.tensor(distance[:, 1].min(), dtype=v.dtype)


def _by_products(v: Tensor, chunk: int = 2048) -> Tensor:
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


def _log_unit_ball(k: int) -> float:
    """ln V_k, the logarithm of the volume of the unit ball in R^k."""
    return k / 2 * math.log(math.pi) - float(gammaln(k / 2 + 1))


@checked
def separation_bound(
    m: Positive,
    k: Positive,
    delta: Probability,
    sigma: PositiveNumber = 1.0,
    q: Probability = 1.0,
    density: PositiveNumber = NORMAL_DENSITY,
) -> float:
    """The lower bound (22) on γ_out with the constant of its proof, c √q σ/M₀ · V_k^(−1/k) (δ/m²)^(1/k), c = 1/√8.

    The proof has c = 1/(2 C₁), where C₁ is the constant of Rudelson and Vershynin's theorem on densities of
    projections; C₁ = √2 is its sharp value (Livshyts, Paouris and Pivovarov).

    Parameters
    ----------
    m, k
        number of centres and dimension.
    delta
        probability of failure, > 0.
    sigma, q, density
        σ_F, q = 2p − p² and M₀ of the theorem, the largest value of the density of Y₀.

    Returns
    -------
    float
        in units of the entries of F.

    Examples
    --------
    >>> round(separation_bound(64, 2, 0.1), 6)
    0.002471
    """
    if delta == 0:
        raise ValueError("delta = 0; allowed: 0 < delta <= 1")
    root = math.exp((math.log(delta) - 2 * math.log(m) - _log_unit_ball(k)) / k)
    return PROOF_CONSTANT * math.sqrt(q) / density * sigma * root


@checked
def gap_quantile(probability: Probability, m: Positive, k: Positive, sigma: PositiveNumber = 1.0) -> float:
    """The quantile of γ_out for m Gaussian centres in the Poisson approximation.

        n P(k/2, γ²/8σ²) = −ln(1 − probability),      n = m(m − 1)/2

    Replacing −ln(1 − probability) by ``probability`` gives a rigorous lower bound on the quantile (union bound).

    Parameters
    ----------
    probability
        P(γ_out <= γ).
    m, k
        number of centres and dimension.
    sigma
        σ_F.

    Examples
    --------
    For m = 10⁶ and k = 2 the median of m² γ²/16 is ln 2, up to 1/m.

    >>> round(gap_quantile(0.5, 10**6, 2) ** 2 * 10**12 / 16, 4) == round(math.log(2), 4)
    True
    """
    n = m * (m - 1) / 2
    if not probability < -math.expm1(-n):
        raise ValueError(f"probability = {probability} with m = {m}; allowed: below 1 − exp(−m(m−1)/2)")
    target = -math.log1p(-probability) / n
    return 2 * math.sqrt(2) * sigma * math.sqrt(gammaincinv(k / 2, target))
