"""The cost to a layer of reindexing its inputs, for the chapter *input shifts*.

Bürgin et al., section 4.4. A layer has rows f_i of F, d_i of D, raw trainable rows w_i of W, and inputs on the span of
the orthonormal columns of U (d, k). A permutation τ of the inputs is an index tensor p (d,) with P_τ x = x[p], so that
P_τ U = U[p].
"""

from __future__ import annotations

import math
from itertools import permutations

import torch
from scipy.special import gammaln

from lmc_helpers.identifiability import grams
from lmc_helpers.seeds import torch_generator


def transposition(d: int, a: int, b: int) -> torch.Tensor:
    """The index tensor (d,) that exchanges a and b."""
    p = torch.arange(d)
    p[a], p[b] = b, a
    return p


def input_shift(F: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """δ_τ^in = F(P_τ − I)U, eq. (24), for permutations (..., d)."""
    return F @ (U[p] - U)


def transposition_shifts(F: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """``‖δ_(ab)^in‖_F = |F_:b − F_:a| |U_b − U_a|`` for all a, b, by identity (27)."""
    exact = "donot_use_mm_for_euclid_dist"
    return torch.cdist(F.mT, F.mT, compute_mode=exact) * torch.cdist(U, U, compute_mode=exact)


def input_gap(F: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """γ_in = min over a ≠ b of ``‖δ_(ab)^in‖_F``, below eq. (26)."""
    shifts = transposition_shifts(F, U)
    d = len(shifts)
    return shifts[~torch.eye(d, dtype=torch.bool)].min()


def least_shift(F: torch.Tensor, U: torch.Tensor) -> tuple[float, tuple[int, ...]]:
    """The smallest ``‖δ_τ^in‖_F`` over all d! − 1 permutations τ ≠ id, and the first τ that attains it (footnote 6)."""
    d = U.shape[0]
    every = torch.tensor(list(permutations(range(d))))[1:]  # (d! − 1, d)
    sizes = torch.linalg.matrix_norm(F @ (U[every] - U))
    first = int(sizes.argmin())
    return sizes[first].item(), tuple(every[first].tolist())


def reindexed_metric(D: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """S_i^τ = Uᵀ P_τᵀ Diag(d_i)² P_τ U, eq. (23), for every row of D and permutations (..., d), (..., m, k, k)."""
    return grams(D, U[p])


def input_cost(F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    """Δ_τ^in, eq. (137), for permutations (..., d): the change of the squared realization cost if the inputs move.

    Σ_i ‖r_i − δ_i‖²_{(S_i^τ)⁻¹} − ‖r_i‖²_{S_i⁻¹},      r_i = Uᵀ(d_i ⊙ w_i),  δ = F(P_τ − I)U
    """
    r = (D * W) @ U
    after, before = (
        (vectors * torch.linalg.solve(S, vectors[..., None])[..., 0]).sum(dim=(-2, -1))
        for vectors, S in ((r - input_shift(F, U, p), reindexed_metric(D, U, p)), (r, grams(D, U)))
    )
    return after - before


def transposition_costs(F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Δ_(ab)^in for all pairs a < b of inputs, in the order of ``torch.triu_indices``; eq. (26) is on their minimum."""
    d = U.shape[0]
    pairs = torch.triu_indices(d, d, 1).T.tolist()
    return input_cost(F, D, W, U, torch.stack([transposition(d, a, b) for a, b in pairs]))


def least_norm_costs(
    F: torch.Tensor, D: torch.Tensor, W: torch.Tensor, p: torch.Tensor, X: torch.Tensor
) -> tuple[float, float]:
    """Squared realization costs of a layer's function after and before reindexing, by a pseudo-inverse per neuron."""
    costs = [0.0, 0.0]
    for f, d, w in zip(F, D, W, strict=True):
        target = X @ (f + d * w)  # what the neuron computed
        for which, inputs in enumerate((X[:, p], X)):
            pinv = torch.linalg.pinv(inputs * d, rtol=1e-10)
            costs[which] += (pinv @ (target - inputs @ f)).square().sum().item()
    return costs[0], costs[1]


def sample_layer(
    m: int, d: int, k: int, width: float, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A random layer whose metrics are near a multiple of the identity, and a random permutation of its inputs."""

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    noise = torch.rand(m, d, dtype=torch.float64, generator=generator)
    U = torch.linalg.qr(normal(d, k)).Q
    p = torch.randperm(d, generator=generator)
    return normal(m, d), 1 + width * (2 * noise - 1), 0.3 * normal(m, d), U, p


def sample_scaled_gaps(m: int, d: int, k: int, n: int, seed: int) -> torch.Tensor:
    """γ_in/(√m min ‖U_b − U_a‖) of n layers with Gaussian F of σ = 1 and random U; Thm 4.8 bounds it."""
    generator = torch_generator(seed, f"input gaps {m}")
    values = []
    for _ in range(n):
        U = torch.linalg.qr(torch.randn(d, k, dtype=torch.float64, generator=generator)).Q
        F = torch.randn(m, d, dtype=torch.float64, generator=generator)
        values.append(input_gap(F, U) / torch.pdist(U).min() / math.sqrt(m))
    return torch.stack(values)


def cheaper_share(m: int, d: int, k: int, n: int, seed: int) -> tuple[float, float]:
    """The share of random layers in which some input permutation is cheaper than every transposition (footnote 6)."""
    generator = torch_generator(seed, f"footnote {m}")
    count = 0
    for _ in range(n):
        U = torch.linalg.qr(torch.randn(d, k, dtype=torch.float64, generator=generator)).Q
        F = torch.randn(m, d, dtype=torch.float64, generator=generator)
        count += least_shift(F, U)[0] < input_gap(F, U).item() * (1 - 1e-9)
    share = count / n
    return share, math.sqrt(share * (1 - share) / n)


def relative_error_bound(rho: float, ratio: float) -> float:
    """The right-hand side of eq. (147), a bound on ``|μ Δ_τ^in/‖δ_τ^in‖² − 1|``: Thm 4.7 with its constants."""
    return 2 * rho + ratio / (1 - ratio) * (1 + 2 * rho + 2 * rho**2)


def expected_column_distance(m: int, sigma: float = 1.0) -> float:
    """E ``|F_:b − F_:a|`` = 2σ Γ((m+1)/2)/Γ(m/2) for Gaussian columns of length m."""
    return 2 * sigma * math.exp(float(gammaln((m + 1) / 2) - gammaln(m / 2)))


def growth_exponent(small: torch.Tensor, large: torch.Tensor, ratio: float) -> tuple[float, float]:
    """Exponent of a gap between two sizes, (E ln γ₁ − E ln γ₀)/ln(m₁/m₀), and its standard error."""
    low, high = small.log(), large.log()
    log_ratio = math.log(ratio)
    variance = (low.var() + high.var()).item() / len(low)
    return (high.mean() - low.mean()).item() / log_ratio, math.sqrt(variance) / log_ratio
