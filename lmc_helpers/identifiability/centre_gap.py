"""How far apart the projected centres of neurons are: γ_out, its law, and the bound of Thm 4.6 (Bürgin et al.).

The centre of neuron i is v_i = Uᵀ f_i, with the rows f_i of the fixed part F (m, d) and an orthonormal basis U (d, k)
of the inputs. The gap is

    γ_out = √2 min ‖v_i − v_j‖   over i ≠ j.

The entries of F are B σ Y₀ with B ~ Bernoulli(p) and a density of Y₀ of at most M₀ (:func:`sample_fixed`); q = 2p − p².
Thm 4.6 bounds γ_out from below, eq. (22), under the hypothesis (21) (:func:`separation_bound`,
:func:`largest_constant`). With a mask two rows may vanish (:func:`coincidence_probability`).

For Gaussian F without a mask the centres are independent N(0, σ² I_k), two of them are within r with probability
p₁ = P(k/2, r²/4σ²), a regularised incomplete gamma function, and the number of pairs within r is nearly a Poisson
variable:

    P(γ_out > √2 r) ≈ exp(−n p₁),      n = m(m − 1)/2.

The error has the explicit bound :func:`poisson_error`. For fixed k and m → ∞ a Weibull law of shape k remains, and the
exponent of γ_out in m tends to −2/k from below (:func:`local_exponent`, :func:`asymptotic_width`).
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.spatial import cKDTree
from scipy.special import gammainc, gammaincc, gammaincinv, gammaln
from scipy.stats import binom, ncx2

from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.seeds import torch_generator

__all__ = [
    "asymptotic_width",
    "centre_gap",
    "close_probability",
    "coincidence_probability",
    "expected_log_gap",
    "gap_quantile",
    "growth_exponent",
    "largest_constant",
    "local_exponent",
    "log_unit_ball",
    "poisson_error",
    "sample_fixed",
    "sample_gaps",
    "sample_masked_gaps",
    "separation_bound",
    "star_probability",
    "weibull_scale",
]

#: c of eq. (22) from the proof, 1/(2 C₁), with the sharp constant C₁ = √2 of the density theorem it rests on.
PROOF_CONSTANT = 1 / (2 * math.sqrt(2))

#: Largest value of the standard normal density, M₀ of Thm 4.6 for Gaussian entries.
NORMAL_DENSITY = 1 / math.sqrt(2 * math.pi)

CHUNK = 2_000_000  # entries of the centres that are drawn at once: 16 MB


def _check_ranges(**values: float) -> None:
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
    """Fixed parts with independent entries B σ Y₀, B ~ Bernoulli(p), Y₀ standard normal, as in Thm 4.6.

    Parameters
    ----------
    m, d, n : int
        rows and columns of F, and how many F are drawn.
    p : float
        probability in (0, 1] that an entry is not 0.
    sigma : float
        σ > 0.
    seed, purpose : int, str
        key of the random numbers.

    Returns
    -------
    torch.Tensor
        (n, m, d), float64.

    Examples
    --------
    >>> F = sample_fixed(3, 4, 5, 1.0, 2.0, seed=1)
    >>> F.shape, bool((F != 0).all())
    (torch.Size([5, 3, 4]), True)
    """
    _check_ranges(m=max(m, 2), d=d, p=p, sigma=sigma)
    generator = torch_generator(seed, purpose)
    F = sigma * torch.randn(n, m, d, dtype=torch.float64, generator=generator)
    return F if p == 1 else F * (torch.rand(n, m, d, dtype=torch.float64, generator=generator) < p)


def centre_gap(v: torch.Tensor) -> torch.Tensor:
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

    Examples
    --------
    >>> centre_gap(torch.tensor([[0.0, 0.0], [3.0, 4.0], [3.0, 5.0]], dtype=torch.float64)).item() == math.sqrt(2)
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


def sample_gaps(m: int, k: int, n: int, seed: int) -> torch.Tensor:
    """γ_out of n layers with Gaussian F of σ = 1 and no mask: their centres are N(0, I_k) whatever U is.

    The centres are drawn in chunks, from one stream for each (k, m).

    Parameters
    ----------
    m, k : int
        centres and dimension.
    n : int
        layers.
    seed : int
        of the centres.

    Returns
    -------
    torch.Tensor
        (n,), float64.

    Examples
    --------
    With k = 1 the gap is near 1/n, n = m(m − 1)/2, here 780 to 45:

    >>> round((sample_gaps(10, 1, 2000, seed=1).mean() / sample_gaps(40, 1, 2000, seed=1).mean()).item())
    17
    """
    _check_ranges(m=m, k=k)
    generator = torch_generator(seed, f"centres {k} {m}")
    size = max(1, CHUNK // (m * k))
    parts = [
        centre_gap(torch.randn(min(size, n - start), m, k, dtype=torch.float64, generator=generator))
        for start in range(0, n, size)
    ]
    return torch.cat(parts)


def sample_masked_gaps(m: int, d: int, k: int, n: int, fixed: int, generator: torch.Generator) -> torch.Tensor:
    """γ_out of n layers with ``fixed`` entries in each row of F, at random places, and random U.

    The fixed entries are N(0, 1), the others 0 (:class:`~lmc_helpers.identifiability.asymmetric.WAsymmetric`); U is
    the orthonormalised frame of a Gaussian matrix.

    Parameters
    ----------
    m, d, k : int
        neurons, inputs and dimension of the subspace.
    n : int
        layers.
    fixed : int
        entries of a row that are not 0, at most d.
    generator : torch.Generator
        of everything.

    Returns
    -------
    torch.Tensor
        (n,), float64.

    Examples
    --------
    >>> sample_masked_gaps(4, 6, 2, n=3, fixed=2, generator=torch.Generator().manual_seed(1)).shape
    torch.Size([3])
    """
    gaps = []
    for _ in range(n):
        U = torch.linalg.qr(torch.randn(d, k, dtype=torch.float64, generator=generator)).Q
        F, _ = WAsymmetric(fixed=fixed, sigma=1.0).draw((m, d), generator)
        gaps.append(centre_gap(F @ U))
    return torch.stack(gaps)


def growth_exponent(small: torch.Tensor, large: torch.Tensor, ratio: float) -> tuple[float, float]:
    """Exponent of a gap between two sizes, (E ln γ₁ − E ln γ₀)/ln(m₁/m₀), and its standard error.

    Parameters
    ----------
    small, large : torch.Tensor
        independent samples (n,) of the gap at the sizes m₀ and m₁, n >= 2.
    ratio : float
        m₁/m₀ > 1.

    Returns
    -------
    (float, float)
        exponent and standard error.

    Examples
    --------
    >>> one = torch.ones(3, dtype=torch.float64)
    >>> growth_exponent(one, one / 8, 2.0)
    (-3.0, 0.0)
    """
    if small.shape != large.shape or small.ndim != 1 or len(small) < 2 or not ratio > 1:
        shapes = f"{tuple(small.shape)}, {tuple(large.shape)}"
        raise ValueError(f"samples {shapes}, ratio = {ratio}; allowed: two of (n,), n >= 2, and ratio > 1")
    low, high = small.log(), large.log()
    run = math.log(ratio)
    variance = (low.var() + high.var()).item() / len(low)
    return (high.mean() - low.mean()).item() / run, math.sqrt(variance) / run


def log_unit_ball(k: int) -> float:
    """ln V_k, the logarithm of the volume of the unit ball in R^k.

    Parameters
    ----------
    k : int
        dimension, at least 1.

    Examples
    --------
    >>> abs(math.exp(log_unit_ball(3)) - 4 * math.pi / 3) < 1e-12
    True
    """
    _check_ranges(k=k)
    return k / 2 * math.log(math.pi) - float(gammaln(k / 2 + 1))


def separation_bound(
    m: int, k: int, delta: float, sigma: float = 1.0, q: float = 1.0, density: float = NORMAL_DENSITY
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
    sigma, q, density : float
        σ_F, q = 2p − p² and M₀ of the theorem, the largest value of the density of Y₀.

    Returns
    -------
    float
        positive, in units of the entries of F.

    Examples
    --------
    >>> round(separation_bound(64, 2, 0.1), 6)
    0.002471
    """
    _check_ranges(m=m, k=k, delta=delta, sigma=sigma, q=q)
    root = math.exp((math.log(delta) - 2 * math.log(m) - log_unit_ball(k)) / k)
    return PROOF_CONSTANT * math.sqrt(q) / density * sigma * root


def largest_constant(m: int, k: int, delta: float, q: float, nu: float) -> float:
    """The largest C with which hypothesis (21) of Thm 4.6 is met.

        q >= C (√(q ν Λ) + ν Λ),      Λ = ln(4 k m²/δ)

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

    Examples
    --------
    >>> round(largest_constant(64, 32, 0.1, 1.0, 32 / 128), 3)
    0.171
    """
    _check_ranges(m=m, k=k, delta=delta, q=q, nu=nu)
    x = nu * math.log(4 * k * m**2 / delta)
    return q / (math.sqrt(q * x) + x)


def coincidence_probability(m: int, d: int, p: float) -> float:
    """P(γ_out = 0) for masked F and a U without zero rows: the probability that two of the m rows of F are 0.

    Each row is 0 with probability (1 − p)^d. Centres of two other rows differ almost surely.

    Parameters
    ----------
    m, d : int
        rows and columns of F.
    p : float
        probability in (0, 1] that an entry is not masked.

    Returns
    -------
    float
        P(Bin(m, (1 − p)^d) >= 2).

    Examples
    --------
    >>> coincidence_probability(2, 1, 0.5), coincidence_probability(5, 3, 1.0)
    (0.25, 0.0)
    """
    _check_ranges(m=m, d=d, p=p)
    return float(np.clip(binom.sf(1, m, (1 - p) ** d), 0, 1))


def close_probability(r: float, k: int, sigma: float = 1.0) -> float:
    """Probability P(k/2, r²/4σ²) that two independent N(0, σ² I_k) points lie within r of each other.

    Parameters
    ----------
    r : float
        distance, above 0.
    k : int
        dimension.
    sigma : float
        σ > 0.

    Returns
    -------
    float
        p₁ of the theorem on the law of the gap (chapter 43).

    Examples
    --------
    >>> abs(close_probability(0.3, 2) - (1 - math.exp(-0.3**2 / 4))) < 1e-15
    True
    """
    _check_ranges(k=k, sigma=sigma, r=r)
    return float(gammainc(k / 2, r * r / (4 * sigma**2)))


def gap_quantile(probability: float, m: int, k: int, sigma: float = 1.0) -> float:
    """The quantile of γ_out for m Gaussian centres in the Poisson approximation.

        n P(k/2, γ²/8σ²) = −ln(1 − probability),      n = m(m − 1)/2

    Replacing −ln(1 − probability) by ``probability`` gives a rigorous lower bound on the quantile (union bound).

    Parameters
    ----------
    probability : float
        P(γ_out <= γ), in (0, 1).
    m, k : int
        centres and dimension.
    sigma : float
        σ_F.

    Returns
    -------
    float
        γ.

    Examples
    --------
    For m = 10⁶ and k = 2 the median of m² γ²/16 is ln 2, up to 1/m.

    >>> round(gap_quantile(0.5, 10**6, 2) ** 2 * 10**12 / 16, 4) == round(math.log(2), 4)
    True
    """
    _check_ranges(m=m, k=k, sigma=sigma, probability=probability)
    target = -math.log1p(-probability) / (m * (m - 1) / 2)
    if target >= 1:
        raise ValueError(f"probability = {probability} with m = {m}; allowed: below 1 − exp(−m(m−1)/2)")
    return 2 * math.sqrt(2) * sigma * math.sqrt(gammaincinv(k / 2, target))


def expected_log_gap(m: int, k: int, sigma: float = 1.0) -> float:
    """E ln γ_out for m Gaussian centres in the Poisson approximation: the mean of ln γ over n P(k/2, γ²/8σ²) ~ Exp(1).

    Parameters
    ----------
    m, k : int
        centres and dimension.
    sigma : float
        σ_F.

    Examples
    --------
    For k = 2 and large m, γ² = 16 E/m² with E ~ Exp(1), and E ln E = −0.5772 (Euler's constant).

    >>> round(2 * expected_log_gap(10**5, 2) - math.log(16) + 2 * math.log(10**5), 4)
    -0.5772
    """
    _check_ranges(m=m, k=k, sigma=sigma)
    n = m * (m - 1) / 2

    def integrand(y: float) -> float:  # y = ln of the exponential variable
        e = math.exp(y)
        return 0.5 * math.log(gammaincinv(k / 2, min(e / n, 1 - 1e-15))) * math.exp(y - e)

    value, _ = quad(integrand, -40, math.log(40), epsabs=1e-11, limit=400, points=[-5.0, 0.0])
    return value + math.log(2 * math.sqrt(2) * sigma)


def weibull_scale(m: int, k: int, sigma: float = 1.0) -> float:
    """s(m) with P(γ_out > s(m) y) → exp(−y^k) as m → ∞.

        s = √(8π) σ (2/(m² V_k))^(1/k)

    Parameters
    ----------
    m, k : int
        centres and dimension.
    sigma : float
        σ_F.

    Examples
    --------
    >>> abs(weibull_scale(100, 2) - 4 / 100) < 1e-15
    True
    """
    _check_ranges(m=m, k=k, sigma=sigma)
    return math.sqrt(8 * math.pi) * sigma * math.exp((math.log(2) - 2 * math.log(m) - log_unit_ball(k)) / k)


def local_exponent(m: int, k: int) -> float:
    """d ln γ/d ln m of the median of γ_out in the Poisson approximation; −2/k in the limit m → ∞.

    With z = γ²/8σ² and P = P(k/2, z) it is −(2m−1)/(m−1) · P/(2 z P'(z)).

    Parameters
    ----------
    m, k : int
        centres and dimension; σ does not matter.

    Examples
    --------
    >>> round(local_exponent(10**6, 2), 6), round(local_exponent(64, 32) / (-2 / 32), 2)
    (-1.000001, 1.51)
    """
    _check_ranges(m=m, k=k)
    z = (gap_quantile(0.5, m, k) / (2 * math.sqrt(2))) ** 2
    log_slope = k / 2 * math.log(z) - z - float(gammaln(k / 2))  # ln(z P'(z))
    return -(2 * m - 1) / (m - 1) * float(gammainc(k / 2, z)) / (2 * math.exp(log_slope))


def asymptotic_width(k: int, accuracy: float) -> float:
    """The width m from which the local exponent is within ``accuracy`` (relative) of −2/k.

    Parameters
    ----------
    k : int
        dimension.
    accuracy : float
        in (0, 1).

    Returns
    -------
    float
        m.

    Examples
    --------
    >>> asymptotic_width(2, 0.05) < 64 < 10**6 < asymptotic_width(32, 0.05)
    True
    """
    _check_ranges(k=k)
    if not 0 < accuracy < 1:
        raise ValueError(f"accuracy = {accuracy}; allowed: 0 < accuracy < 1")

    def excess(log_m: float) -> float:
        return local_exponent(round(math.exp(log_m)), k) / (-2 / k) - 1 - accuracy

    low, high = math.log(3), math.log(1e60)
    if excess(high) > 0:
        raise ValueError(f"accuracy = {accuracy} for k = {k}; allowed: accuracies reached below m = 1e60")
    return float(math.exp(low)) if excess(low) < 0 else round(math.exp(brentq(excess, low, high, xtol=1e-6)))


def poisson_error(r: float, m: int, k: int, sigma: float = 1.0) -> float:
    """Bound on ``|P(no two centres within r) − exp(−λ)|``, λ = n P(k/2, r²/4σ²) (Arratia, Goldstein and Gordon).

    Pairs without a common centre are independent, so the bound is min(1, 1/λ) (b₁ + b₂) with
    b₁ = n(2m − 3) p₁² and b₂ = 2n(m − 2) p₂, where p₂ is the probability that two centres are both within r of a third.

    Parameters
    ----------
    r : float
        distance; γ_out = √2 r.
    m, k : int
        centres and dimension.
    sigma : float
        σ_F.

    Returns
    -------
    float
        non-negative; informative below 1.

    Examples
    --------
    >>> poisson_error(gap_quantile(0.5, 10**4, 2) / math.sqrt(2), 10**4, 2) < 1e-3
    True
    """
    _check_ranges(m=m, k=k, sigma=sigma, r=r)
    p1, p2 = close_probability(r, k, sigma), star_probability(r, k, sigma)
    n = m * (m - 1) / 2
    return min(1.0, 1 / (n * p1)) * n * ((2 * m - 3) * p1**2 + 2 * (m - 2) * p2)


def star_probability(r: float, k: int, sigma: float = 1.0) -> float:
    """Probability p₂ that two N(0, σ² I_k) points are both within r of a third; at least p₁².

    Parameters
    ----------
    r : float
        distance, above 0.
    k : int
        dimension.
    sigma : float
        σ > 0.

    Returns
    -------
    float
        p₂ of the theorem on the law of the gap (chapter 43).

    Examples
    --------
    >>> star_probability(0.3, 2) > close_probability(0.3, 2) ** 2
    True
    """
    _check_ranges(k=k, sigma=sigma, r=r)
    x = (r / sigma) ** 2

    def integrand(y: float) -> float:  # y = |v|²/σ² of the third centre
        density = math.exp((k / 2 - 1) * math.log(y) - y / 2 - k / 2 * math.log(2) - float(gammaln(k / 2)))
        return density * float(ncx2.cdf(x, k, y)) ** 2

    spread = k + 12 * math.sqrt(2 * k) + 60
    p2, _ = quad(integrand, 1e-14, spread, limit=200, epsabs=0, epsrel=1e-6, points=[k / 2, float(k)])
    return p2 + float(gammaincc(k / 2, spread / 2)) * float(ncx2.cdf(x, k, spread)) ** 2
