"""The gap γ_out of random centres: its law, samples and bounds, for the chapter *center gap*.

The centre of neuron i is v_i = Uᵀ f_i, and γ_out = √2 min ``‖v_i − v_j‖`` over i ≠ j. Thm 4.6 of Bürgin et al. bounds
it from below, eq. (22), if the entries of F are B σ Y₀ with B ~ Bernoulli(p) and a density of Y₀ of at most M₀;
q = 2p − p². For Gaussian F without a mask the centres are independent N(0, σ² I_k), two of them are within r with
probability p₁ = P(k/2, r²/4σ²), and P(γ_out > √2 r) ≈ exp(−n p₁) with n = m(m − 1)/2 pairs, up to
:func:`poisson_error`. For fixed k and m → ∞ a Weibull law of shape k remains, and the exponent of γ_out in m tends to
−2/k from below.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.integrate import quad
from scipy.optimize import brentq, linprog
from scipy.special import erf, gammainc, gammaincc, gammaincinv, gammaln
from scipy.stats import binom, ncx2, poisson

from lmc_helpers.identifiability import WAsymmetric
from lmc_helpers.seeds import torch_generator

CHUNK = 2_000_000  # entries of the centres that are drawn at once: 16 MB


def sample_fixed(
    m: int, d: int, n: int, p: float, sigma: float, seed: int, purpose: str = "fixed part"
) -> torch.Tensor:
    """Fixed parts with independent entries B σ Y₀, B ~ Bernoulli(p), Y₀ standard normal, as in Thm 4.6."""
    generator = torch_generator(seed, purpose)
    F = sigma * torch.randn(n, m, d, dtype=torch.float64, generator=generator)
    return F if p == 1 else F * (torch.rand(n, m, d, dtype=torch.float64, generator=generator) < p)


def sample_gaps(m: int, k: int, n: int, seed: int) -> torch.Tensor:
    """γ_out of n layers with Gaussian F of σ = 1 and no mask: their centres are N(0, I_k) whatever U is.

    The centres are drawn in chunks, from one stream for each (k, m).
    """
    generator = torch_generator(seed, f"centres {k} {m}")
    size = max(1, CHUNK // (m * k))
    parts = [
        centre_gap(torch.randn(min(size, n - start), m, k, dtype=torch.float64, generator=generator))
        for start in range(0, n, size)
    ]
    return torch.cat(parts)


def sample_masked_gaps(
    m: int, d: int, k: int, n: int, fixed: int, generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor]:
    """γ_out of n layers with ``fixed`` entries in each row of F, at random positions, and random U; shortest two rows.

    Fixed entries are N(0, 1), the others 0 (:class:`~lmc_helpers.identifiability.asymmetric.WAsymmetric`); U is the Q
    factor of a Gaussian matrix. The lengths of the two shortest rows of F are (n, 2), the shortest first.
    """
    gaps, lengths = [], []
    for _ in range(n):
        U = torch.linalg.qr(torch.randn(d, k, dtype=torch.float64, generator=generator)).Q
        F, _ = WAsymmetric(fixed=fixed, sigma=1.0).draw((m, d), generator)
        gaps.append(centre_gap(F @ U))
        lengths.append(F.norm(dim=1).topk(2, largest=False).values)
    return torch.stack(gaps), torch.stack(lengths)


def support_spectra(U: torch.Tensor, fixed: int, common: int, n: int, generator: torch.Generator) -> torch.Tensor:
    """Eigenvalues other than 0 of the covariance of v₁ − v₂, (n, rank), for rows that have ``common`` places in common.

    The rows have ``fixed`` entries N(0, 1) each; the places are drawn n times, and any k rows of U are independent.
    """
    places = torch.rand(n, len(U), generator=generator).argsort(dim=1)
    count = torch.zeros(n, len(U), dtype=U.dtype)  # how many of both rows have an entry at a place
    for first in (0, fixed - common):
        count.scatter_add_(1, places[:, first : first + fixed], torch.ones(n, fixed, dtype=U.dtype))
    rank = min(U.shape[1], 2 * fixed - common)
    return torch.linalg.eigvalsh((U.mT * count[:, None]) @ U)[:, -rank:]


def ball_probability(eigenvalues: np.ndarray, r: float, terms: int = 20) -> tuple[np.ndarray, np.ndarray]:
    """P(|x| <= r) for normal x with these eigenvalues of its covariance, and its derivative in ln r.

    The Laplace transform Π (1 + 2 μ s)^(−1/2) of |x|² is inverted on the contour of Talbot (Abate and Valkó, 2004).
    """
    angle = np.arange(1, terms) * np.pi / terms
    cot = 1 / np.tan(angle)
    s = np.concatenate([[1], angle * (cot + 1j)]) * 2 * terms / (5 * r * r)
    weight = np.concatenate([[0.5], 1 + 1j * (angle + (angle * cot - 1) * cot)]) * 2 / (5 * r * r)
    log_transform = -np.log1p(2 * s[:, None] * eigenvalues[..., None, :]).sum(-1) / 2
    density = np.exp(r * r * s + log_transform) * weight  # of |x|²
    return (density / s).real.sum(-1), 2 * r * r * density.real.sum(-1)


def largest_constant(m: int, k: int, delta: float, q: float, nu: float) -> float:
    """The largest C for which hypothesis (21) of Thm 4.6 holds.

    q >= C (√(q ν Λ) + ν Λ),      Λ = ln(4 k m²/δ)
    """
    x = nu * math.log(4 * k * m**2 / delta)
    return q / (math.sqrt(q * x) + x)


def coincidence_probability(m: int, d: int, p: float) -> float:
    """P(γ_out = 0) for masked F and a U without zero rows: the probability that two of the m rows of F are 0.

    Each row is 0 with probability (1 − p)^d. Centres of two other rows differ almost surely.
    """
    return float(np.clip(binom.sf(1, m, (1 - p) ** d), 0, 1))


def close_probability(r: float, k: int, sigma: float = 1.0) -> float:
    """Probability P(k/2, r²/4σ²) that two independent N(0, σ² I_k) points lie within r of each other."""
    return float(gammainc(k / 2, r * r / (4 * sigma**2)))


def expected_log_gap(m: int, k: int) -> float:
    """E ln γ_out of m centres N(0, I_k) in the Poisson approximation: the mean of ln γ for n P(k/2, γ²/8) ~ Exp(1)."""
    n = m * (m - 1) / 2

    def integrand(y: float) -> float:  # y = ln of the exponential variable
        e = math.exp(y)
        return 0.5 * math.log(gammaincinv(k / 2, min(e / n, 1 - 1e-15))) * math.exp(y - e)

    value, _ = quad(integrand, -40, math.log(40), epsabs=1e-11, limit=400, points=[-5.0, 0.0])
    return value + math.log(2 * math.sqrt(2))


def weibull_scale(m: int, k: int, sigma: float = 1.0) -> float:
    """s(m) with P(γ_out > s(m) y) → exp(−y^k) as m → ∞.

    s = √(8π) σ (2/(m² V_k))^(1/k)
    """
    return math.sqrt(8 * math.pi) * sigma * math.exp((math.log(2) - 2 * math.log(m) - _log_unit_ball(k)) / k)


def local_exponent(m: int, k: int) -> float:
    """d ln γ/d ln m of the median of γ_out in the Poisson approximation; −2/k in the limit m → ∞.

    With z = γ²/8σ² and P = P(k/2, z) it is −(2m−1)/(m−1) · P/(2 z P'(z)).
    """
    z = (gap_quantile(0.5, m, k) / (2 * math.sqrt(2))) ** 2
    log_slope = k / 2 * math.log(z) - z - float(gammaln(k / 2))  # ln(z P'(z))
    return -(2 * m - 1) / (m - 1) * float(gammainc(k / 2, z)) / (2 * math.exp(log_slope))


def asymptotic_width(k: int, accuracy: float) -> float:
    """The width m from which the local exponent is within ``accuracy`` (relative) of −2/k."""

    def excess(log_m: float) -> float:
        return local_exponent(round(math.exp(log_m)), k) / (-2 / k) - 1 - accuracy

    low, high = math.log(3), math.log(1e60)
    return float(math.exp(low)) if excess(low) < 0 else round(math.exp(brentq(excess, low, high, xtol=1e-6)))


def poisson_error(r: float, m: int, k: int) -> float:
    """Bound on ``|P(no two centres within r) − exp(−λ)|``, λ = n P(k/2, r²/4) (Arratia, Goldstein and Gordon).

    Pairs without a common centre are independent, so the bound is min(1, 1/λ) (b₁ + b₂) with b₁ = n(2m − 3) p₁² and
    b₂ = 2n(m − 2) p₂, where p₂ is the probability that two centres are both within r of a third.
    """
    p1, p2 = close_probability(r, k), star_probability(r, k)
    n = m * (m - 1) / 2
    return min(1.0, 1 / (n * p1)) * n * ((2 * m - 3) * p1**2 + 2 * (m - 2) * p2)


def star_probability(r: float, k: int, sigma: float = 1.0) -> float:
    """Probability p₂ that two N(0, σ² I_k) points are both within r of a third; at least p₁²."""
    x = (r / sigma) ** 2

    def integrand(y: float) -> float:  # y = |v|²/σ² of the third centre
        density = math.exp((k / 2 - 1) * math.log(y) - y / 2 - k / 2 * math.log(2) - float(gammaln(k / 2)))
        return density * float(ncx2.cdf(x, k, y)) ** 2

    spread = k + 12 * math.sqrt(2 * k) + 60
    p2, _ = quad(integrand, 1e-14, spread, limit=200, epsabs=0, epsrel=1e-6, points=[k / 2, float(k)])
    return p2 + float(gammaincc(k / 2, spread / 2)) * float(ncx2.cdf(x, k, spread)) ** 2


def exponent_ceiling(m0: int, m1: int, k: int) -> float:
    """Proven upper bound on ln(median γ_out(m₁)/median γ_out(m₀))/ln(m₁/m₀) for N(0, I_k) centres, m₀ < m₁.

    With p₁ and p₂ as in :func:`poisson_error`, both sides bracket the median:

        1 − n p₁(r) + (n − 1) p₂(r) <= P(γ_out > √2 r) <= exp(−n p₁(r)) + error(r),      n = m(m − 1)/2.

    The first is Hunter's union bound, along a tree on the pairs of centres whose edges join pairs with a common centre;
    the second is the theorem of Arratia, Goldstein and Gordon.
    """
    n0, n = m0 * (m0 - 1) / 2, m1 * (m1 - 1) / 2

    def radius(expected: float, pairs: float) -> float:  # r with ``expected`` close pairs on average
        return 2 * math.sqrt(float(gammaincinv(k / 2, expected / pairs)))

    def union(expected: float) -> float:
        return expected - (n0 - 1) * star_probability(radius(expected, n0), k) - 0.5

    def above(expected: float) -> float:
        r = radius(expected, n)
        return math.exp(-n * close_probability(r, k)) + poisson_error(r, m1, k) - 0.5

    least = radius(brentq(union, 0.5, math.log(2), xtol=1e-9), n0)

    expected = brentq(above, math.log(2), 2.0, xtol=1e-9)
    return math.log(radius(expected, n) / least) / math.log(m1 / m0)


def median_exponent(small: torch.Tensor, large: torch.Tensor, ratio: float) -> tuple[float, float]:
    """Exponent of the median between two sizes, ln(median₁/median₀)/ln(m₁/m₀), and its standard error."""
    medians, variance = [], 0.0
    for sample in (small, large):
        x, n = sample.log().sort().values, len(sample)
        medians.append((x[(n - 1) // 2] + x[n // 2]).item() / 2)
        window = min(round(math.sqrt(n)), (n - 1) // 2)
        spread = (x[n // 2 + window] - x[n // 2 - window]).item()
        variance += (spread * math.sqrt(n) / (4 * window)) ** 2
    log_ratio = math.log(ratio)
    return (medians[1] - medians[0]) / log_ratio, math.sqrt(variance) / log_ratio


def within_reach(s: torch.Tensor, inputs: torch.Tensor, bias: float) -> bool:
    """True if some weights let a ReLU neuron with this bias compute ReLU(s) on the inputs, (n, d): a linear program.

    >>> inputs = torch.tensor([[0.0], [1.0]])
    >>> within_reach(3 * inputs[:, 0] - 2, inputs, bias=-1.0)  # 2 x − 1 has the same values
    True
    """
    x, active, free = inputs.numpy(), (s > 0).numpy(), inputs.shape[1]
    limits = {"A_ub": x[~active], "b_ub": np.full((~active).sum(), -bias)} if (~active).any() else {}
    values = {"A_eq": x[active], "b_eq": s.numpy()[active] - bias} if active.any() else {}
    return linprog(np.zeros(free), **limits, **values, bounds=[(None, None)] * free).status == 0


def coincidence_width(d: int, p: float, probability: float = 0.5) -> float:
    """The width m at which two rows of a Bernoulli mask vanish with the given probability, so that γ_out = 0."""
    log_vanish = d * math.log1p(-p)
    expected = brentq(lambda rows: poisson.sf(1, rows) - probability, 1e-9, 1e3)
    return float(expected) * math.exp(-log_vanish)


def line_failure(m: int, d: int, p: float, delta: float) -> float:
    """Union bound on P(γ_out <= right-hand side of (22)), relative to δ, for k = 1, flat U and masked normal F.

    The difference of two centres is N(0, σ² N/d), where N ~ Bin(2d, p) is the number of unmasked entries of both rows,
    so that each term of the bound is exact.
    """
    bound = separation_bound(m, 1, delta, q=2 * p - p * p) / math.sqrt(2)  # on |v_i − v_j|, σ = 1
    law = binom(2 * d, p)
    low, high = (int(x) for x in (law.ppf(1e-16), law.isf(1e-16)))
    n = np.arange(max(low, 0), min(high, 2 * d) + 1)
    close = np.where(n > 0, erf(bound * np.sqrt(d / (2 * np.maximum(n, 1)))), 1.0)
    single = float(law.pmf(n) @ close) + (float(law.pmf(0)) if low > 0 else 0.0)
    return m * (m - 1) / 2 * single / delta


NORMAL_DENSITY = 1 / math.sqrt(2 * math.pi)  # M₀ of Thm 4.6 for Gaussian entries


def centre_gap(v: torch.Tensor) -> torch.Tensor:
    """γ_out = √2 min_{i≠j} ``|v_i − v_j|`` of projected centres.

    Of k <= 2 dimensions each centre is compared with those next in order, and otherwise by matrix products, with the
    distances of the candidates computed from differences.
    """
    flat = v.reshape(-1, *v.shape[-2:])
    if v.shape[-1] <= 2:
        least = torch.cat([_in_order(part) for part in flat.split(max(1, 2**15 // v.shape[-2]))])
    else:
        least = torch.stack([_by_products(w) for w in flat])
    return math.sqrt(2) * least.reshape(v.shape[:-2])


def _in_order(v: torch.Tensor) -> torch.Tensor:
    """Least distances (n,) of v (n, m, k), of centres up to so many places apart that a coordinate alone is more."""
    x = v.gather(1, v[..., :1].argsort(dim=1).expand_as(v)).movedim(-1, 0).contiguous()  # (k, n, m)
    best = torch.full((len(v),), math.inf, dtype=v.dtype)
    for ahead in range(1, v.shape[1]):
        d = x[..., ahead:] - x[..., :-ahead]
        if (d[0].amin(dim=1) > best).all():
            break
        best = torch.minimum(best, d.square().sum(dim=0).amin(dim=1).sqrt())
    return best


def _by_products(v: torch.Tensor, chunk: int = 128) -> torch.Tensor:
    """The least distance of v (m, k), of pairs whose first coordinates alone are not further apart than the best."""
    v = v[v[:, 0].argsort()]
    x, squares = v[:, 0].contiguous(), v.square().sum(-1)
    slack = 1e-12 * squares.max()  # rounding of the products
    best = torch.tensor(math.inf, dtype=v.dtype)
    for start in range(0, len(v) - 1, chunk):
        rows = slice(start, start + chunk)
        near = slice(start, int(torch.searchsorted(x, x[rows][-1] + best, right=True)))
        d2 = torch.addmm(squares[rows, None] + squares[near], v[rows], v[near].mT, alpha=-2).fill_diagonal_(math.inf)
        least = d2.amin(dim=1)
        close = (least <= least.min() + slack).nonzero()[:, 0]
        i, j = torch.nonzero(d2[close] <= least.min() + slack, as_tuple=True)
        best = torch.minimum(best, torch.linalg.vector_norm(v[start + close[i]] - v[start + j], dim=-1).min())
    return best


def _log_unit_ball(k: int) -> float:
    """ln V_k, the logarithm of the volume of the unit ball in R^k."""
    return k / 2 * math.log(math.pi) - float(gammaln(k / 2 + 1))


PRINTED = 1 / math.sqrt(8)  # c of the proof of Thm 4.6: 1/(2 C₁)


def separation_bound(m: int, k: int, delta: float, q: float = 1.0, constant: float = PRINTED) -> float:
    """The lower bound (22) on γ_out for Gaussian entries with σ = 1, c √q/M₀ · V_k^(−1/k) (δ/m²)^(1/k).

    The proof has c = 1/(2 C₁), where C₁ is the constant of Rudelson and Vershynin's theorem on densities of
    projections; C₁ = √2 is its sharp value (Livshyts, Paouris and Pivovarov). Without a mask c = 2^(1/k) will do.
    """
    root = math.exp((math.log(delta) - 2 * math.log(m) - _log_unit_ball(k)) / k)
    return constant * math.sqrt(q) / NORMAL_DENSITY * root


def gap_quantile(probability: float, m: int, k: int, sigma: float = 1.0) -> float:
    """The quantile of γ_out for m Gaussian centres in the Poisson approximation.

        n P(k/2, γ²/8σ²) = −ln(1 − probability),      n = m(m − 1)/2

    Replacing −ln(1 − probability) by ``probability`` gives a rigorous lower bound on the quantile (union bound).
    """
    n = m * (m - 1) / 2
    target = -math.log1p(-probability) / n
    return 2 * math.sqrt(2) * sigma * math.sqrt(gammaincinv(k / 2, target))
