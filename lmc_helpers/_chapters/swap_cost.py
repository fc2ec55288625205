"""Concentration of Gram matrices and the cheapest permutation, for the chapter *swap cost*.

The Gram matrix S = Uᵀ diag(d)² U of a random row d is near its mean μ I (Bürgin et al., Theorem 4.4). The entries of d²
are independent with mean μ, variance σ² and distance at most b from μ. And pairs of syre-MLPs, to ask whether costs
predict which neurons change places.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from scipy.stats import binom
from torch import Tensor

from lmc_helpers.alignment.activation_matching import recorded_moments
from lmc_helpers.alignment.assignment import assign
from lmc_helpers.alignment.pairs import ends
from lmc_helpers.identifiability import Syre, output_sensitivity
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.seeds import drawn_seeds
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run


def centre_shift(F: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """δ_π = (P_π − I) F U of eq. (17), (..., m, k), with rows v_π(i) − v_i; neuron i gets the function of p[i]."""
    v = F.double() @ U.double()
    return v[p] - v


@dataclass(frozen=True)
class Moments:
    """Mean μ, variance σ² and largest distance b from the mean, of the squared entries of D."""

    mean: float
    variance: float
    distance: float


def mask_moments(p: float) -> Moments:
    """Moments of a mask whose entries are 0 with probability p and 1 otherwise."""
    return Moments(1 - p, p * (1 - p), max(p, 1 - p) if 0 < p < 1 else 0.0)


def syre_moments(epsilon: float) -> Moments:
    """Moments of the squared entries 1/u of syre's D, u uniform on (1 − ε, 1 + ε) (Table 1).

    μ = ln((1 + ε)/(1 − ε))/2ε,   σ² = 1/(1 − ε²) − μ²,   b = 1/(1 − ε) − μ
    """
    mean = math.atanh(epsilon) / epsilon
    return Moments(mean, 1 / (1 - epsilon**2) - mean**2, 1 / (1 - epsilon) - mean)


def all_masks(d: int) -> torch.Tensor:
    """All 2^d masks of zeros and ones, (2^d, d), float64."""
    return torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * d).reshape(-1, d)


def mask_probabilities(masks: torch.Tensor, p: float) -> torch.Tensor:
    """Probability p^z (1 − p)^(d − z) of masks with z zeros, if every entry is 0 with probability p, independently."""
    zeros = (masks == 0).double().sum(dim=-1)
    return p**zeros * (1 - p) ** (masks.shape[-1] - zeros)


def variance_parameter(U: torch.Tensor) -> torch.Tensor:
    """The variance parameter v(U), the norm of Σ_l ``‖u_l‖²`` u_l u_lᵀ; ν² <= v <= ν.

    Times σ² that sum is E (S − μI)².
    """
    U = U.double()
    leverage = U.square().sum(dim=-1, keepdim=True)
    return torch.linalg.matrix_norm(U.mT @ (leverage * U), 2)


def bernstein_bound(U: torch.Tensor, moments: Moments, delta: float) -> torch.Tensor:
    """Theorem 4.4 with the constants of its proof: √(2σ²νΛ) + (2/3) b ν Λ with Λ = log(2k/δ).

    ``‖S − μI‖`` exceeds it with probability at most δ. So (12) holds with C = √2.
    """
    log = math.log(2 * U.shape[-1] / delta)
    nu = U.square().sum(dim=-1).amax(dim=-1)
    return (2 * moments.variance * nu * log).sqrt() + 2 / 3 * moments.distance * nu * log


def copies_law(copies: int, k: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """The exact law of ``‖S − μI‖`` for exact copies and masks whose entries are 0 with probability p.

    S is diagonal with k independent entries, each the mean of ``copies`` independent mask entries.
    """
    ones = np.arange(copies + 1)
    size = np.round(np.abs(ones / copies - (1 - p)), 12)
    values, index = np.unique(size, return_inverse=True)
    mass = np.bincount(index, binom.pmf(ones, copies, 1 - p))
    return values, np.minimum(np.cumsum(mass), 1) ** k


def copies_mean_square(copies: int, k: int, p: float) -> float:
    """E ``‖S − μI‖²`` by :func:`copies_law`."""
    values, law = copies_law(copies, k, p)
    return float(values**2 @ np.diff(law, prepend=0))


def _assign(table: np.ndarray) -> np.ndarray | None:
    """The permutation of least total cost, or None if all cost ∞."""
    try:
        return linear_sum_assignment(table)[1]
    except ValueError as error:
        if "infeasible" in str(error):
            return None
        raise


def cheapest(table: Tensor) -> tuple[Tensor, float]:
    """The permutation with the least Δ_π, and Δ_π, at most 0.

    Δ_π = Σ_i (T_iπ(i) − T_ii) is linear in the permutation matrix: a linear assignment problem in the table T of
    squared costs (m, m), infinite where impossible.
    """
    p = torch.from_numpy(_assign(table.double().numpy()))
    change = output_sensitivity(table.double(), p).item()
    return (p, change) if change < 0 else (torch.arange(len(table)), 0.0)


def cheapest_other(table: Tensor) -> tuple[Tensor, float]:
    """The permutation π ≠ id with the least Δ_π, and Δ_π; the identity and ∞ if all others cost ∞.

    It moves some neuron i, so that the minimum is the least of m problems with T_ii forbidden; one problem is enough
    where the identity is not a minimum.
    """
    m = len(table)
    p, change = cheapest(table)
    if change < 0:
        return p, change
    costs, best, least = table.double().numpy().copy(), torch.arange(m), float("inf")
    for i in range(m):
        diagonal, costs[i, i] = costs[i, i], np.inf
        assignment = _assign(costs)
        costs[i, i] = diagonal
        if assignment is not None:
            p = torch.from_numpy(assignment)
            change = output_sensitivity(table.double(), p).item()
            if change < least:
                best, least = p, change
    return best, least


RATE, BATCH = 1e-3, 64  # of Bürgin et al., F.1


def syre_pairs(data: DataSpec, width: int, pairs: int, epochs: int, tau: float, seed: int) -> Run:
    """Pairs of MLPs that share F, D = 1, where F and the first W have one law; weight decay for a time τ."""
    model = MLP((math.prod(data.shape), *[width] * 3, 10), "gelu", "layer", init="normal")  # N(0, 1/inputs)
    schemes = {name: Syre(math.prod(model.map_shape(name)[1:]) ** -0.5, 0.0) for name in model.maps()}
    steps = epochs * math.ceil(data.size / BATCH)
    descent = Descent(epochs, BATCH, "adamw", RATE, weight_decay=(1 - math.exp(-tau / steps)) / RATE)
    seeds = drawn_seeds(seed, "syre pairs", 3 * pairs)
    thirds = (0, epochs // 3, 2 * epochs // 3)
    return Run(model, descent, data, seeds[: 2 * pairs], schemes, seeds[2 * pairs :], thirds)


def auc(score: Tensor, p: Tensor, allowed: Tensor) -> Tensor:
    """Mean over neurons i of how often the score of (i, p(i)) exceeds that of another allowed (i, j), ties one half."""
    own = score.gather(-1, p[..., None])
    others = allowed & (torch.arange(p.shape[-1]) != p[..., None])  # (..., m, m)
    count = others.sum(dim=-1)
    wins = (((own > score) + 0.5 * (own == score)) * others).sum(dim=-1) / count.clamp(min=1)
    return wins.sum(dim=-1) / (count > 0).sum(dim=-1)


def lift(score: Tensor, p: Tensor) -> Tensor:
    """Mean over neurons i of the score of (i, p(i)) less the mean of row i."""
    return (score.gather(-1, p[..., None]) - score.mean(dim=-1, keepdim=True)).mean(dim=(-2, -1))


@dataclass(frozen=True)
class Places:
    """Which first-layer neurons of the second networks of pairs take the places of the first networks' neurons."""

    p: Tensor  # (pairs, m), by activation matching
    a: Tensor  # functions of the first networks, (pairs, m, k), float64
    v: Tensor  # fixed parts of the second networks, as the inputs see them
    z: Tensor  # their first W, in the same way


def places(run: Run, x: Tensor, U: Tensor, epoch: int | None = None, other: int = 0) -> Places:
    """The places at the end or after an epoch kept; ``other``: the second network is of the pair so many places on."""
    (first, b), (_, b0), F = ends(run.result(), epoch), ends(run.result(), 0), run.fixed()["0.weight"][0]
    b, b0 = (Stack(s.model, {name: W.roll(-other, 0) for name, W in s.params.items()}) for s in (b, b0))
    p = assign(recorded_moments(first, b, x)["0"].correlations())
    v, start = F.roll(-other, 0) @ U, b0.params["0.weight"].double() @ U
    return Places(p, first.params["0.weight"].double() @ U, v, start - v)
