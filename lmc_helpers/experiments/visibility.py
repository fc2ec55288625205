"""What the neurons of a masked layer can see of a latent plane, and the exact laws of App. F.5 (Bürgin et al.).

A neuron with mask d_i sees the plane through S_i = Uᵀ Diag(d_i)² U, eq. (9). Its rank is 0 (the neuron sees nothing),
1 (it sees one direction) or 2 (it sees the plane). For Bernoulli(p) masks the laws of the rank are elementary.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy.stats import binom

from lmc_helpers import expect
from lmc_helpers.seeds import torch_generator

__all__ = [
    "bernoulli_masks",
    "mask_probability",
    "mean_cost",
    "rank_law",
    "ranks",
    "relative_anisotropy",
    "same_counts",
]

FAMILIES = ("exact-copy", "random-frame")
TOLERANCE = 1e-12  # of an eigenvalue of S_i; U has orthonormal columns


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p}; allowed: 0 <= p <= 1")


def _check_copies(k: int, p: float, positive: bool = False) -> None:
    if k < 1:
        raise ValueError(f"k = {k}; allowed: k >= 1")
    _check_probability(p)
    if positive and not p:
        raise ValueError("p = 0; allowed: 0 < p <= 1")


def bernoulli_masks(G: int, m: int, d: int, p: float, seed: int) -> torch.Tensor:
    """G masks of independent Bernoulli(p) entries.

    An entry is 1 where its uniform number lies below p, so that with one seed a larger p only adds ones.

    Parameters
    ----------
    G, m, d : int
        masks, neurons, coordinates.
    p : float
        probability of a 1, in [0, 1].
    seed : int
        seed of the uniform numbers.

    Returns
    -------
    torch.Tensor
        (G, m, d), float64.

    Examples
    --------
    >>> few, more = (bernoulli_masks(2, 5, 4, p, seed=1) for p in (0.2, 0.6))
    >>> few.shape, bool((more >= few).all())
    (torch.Size([2, 5, 4]), True)
    """
    expect.integer(G, "G", least=1)
    expect.integer(m, "m", least=1)
    expect.integer(d, "d", least=1)
    expect.number(p, "p")
    _check_probability(p)
    uniform = torch.rand(G, m, d, generator=torch_generator(seed, "masks"), dtype=torch.float64)
    return (uniform < p).double()


def ranks(U: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """Rank of S_i = Uᵀ Diag(d_i)² U, eq. (9), for every neuron: how many latent directions it sees.

    Parameters
    ----------
    U : torch.Tensor
        (..., d, k), orthonormal columns.
    D : torch.Tensor
        (..., m, d), masks.

    Returns
    -------
    torch.Tensor
        (..., m), long; eigenvalues up to 10⁻¹² count as 0.

    Examples
    --------
    >>> U = torch.eye(3, 2, dtype=torch.float64)
    >>> ranks(U, torch.tensor([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]]).double()).tolist()
    [2, 1, 0]
    """
    expect.tensor(U, "U", "... d k")
    expect.tensor(D, "D", "... m d")
    if U.shape[-2] != D.shape[-1]:
        raise ValueError(f"U and D have shapes {tuple(U.shape)} and {tuple(D.shape)}; allowed: (.., d, k), (.., m, d)")
    M = D[..., None] * U[..., None, :, :]  # (..., m, d, k)
    return (torch.linalg.eigvalsh(M.mT @ M) > TOLERANCE).sum(dim=-1)


def rank_law(k: int, p: float, family: str) -> tuple[float, float, float]:
    """Probabilities that S_i has rank 0, 1 and 2 for a Bernoulli(p) mask.

    In the exact-copy family each latent is seen with probability v = 1 − (1 − p)^k, independently. In the random-frame
    family, for almost every choice of angles, any two of the 2k coordinates span the plane, and the rank is the number
    of seen coordinates, at most 2.

    Parameters
    ----------
    k : int
        copies, k >= 1.
    p : float
        in [0, 1].
    family : str
        ``"exact-copy"`` or ``"random-frame"``.

    Returns
    -------
    (float, float, float)
        they add up to 1.

    Examples
    --------
    >>> [round(value, 4) for value in rank_law(1, 0.15, "exact-copy")]
    [0.7225, 0.255, 0.0225]
    """
    expect.integer(k, "k")
    expect.number(p, "p")
    expect.text(family, "family")
    _check_copies(k, p)
    if family not in FAMILIES:
        raise ValueError(f"family = {family!r} is unknown; allowed: {', '.join(FAMILIES)}")
    blind = (1 - p) ** (2 * k)
    if family == "exact-copy":
        v = 1 - (1 - p) ** k
        return blind, 2 * v * (1 - v), v * v
    one = 2 * k * p * (1 - p) ** (2 * k - 1)
    return blind, one, 1 - blind - one


def mask_probability(k: int, v: float) -> float:
    """The p of a Bernoulli mask that sees at least one of k copies with probability v: 1 − (1 − v)^(1/k).

    Parameters
    ----------
    k : int
        copies, k >= 1.
    v : float
        in [0, 1].

    Returns
    -------
    float
        p with 1 − (1 − p)^k = v.

    Examples
    --------
    >>> round(mask_probability(2, 0.75), 12)
    0.5
    """
    expect.integer(k, "k")
    expect.number(v, "v")
    if k < 1 or not 0 <= v <= 1:
        raise ValueError(f"k = {k}, v = {v}; allowed: k >= 1 and 0 <= v <= 1")
    return -math.expm1(math.log1p(-v) / k) if v < 1 else 1.0


def relative_anisotropy(k: int, p: float) -> float:
    """Var (S_i)_cc / (E (S_i)_cc)² = (1 − p)/(p k) in the exact-copy family, where k (S_i)_cc is binomial.

    Parameters
    ----------
    k : int
        copies of each latent, k >= 1.
    p : float
        probability that a mask lets an entry through, in (0, 1].

    Returns
    -------
    float
        relative variance.

    Examples
    --------
    >>> relative_anisotropy(2, 0.5)
    0.5
    """
    expect.integer(k, "k")
    expect.number(p, "p")
    _check_copies(k, p, positive=True)
    return (1 - p) / (p * k)


def mean_cost(k: int, p: float) -> float:
    """Mean squared realization cost of the target's direction (1, 1) with F = 0, given that a neuron sees both latents.

    Exact-copy family: S_i = Diag(n_a, n_b)/k, and (10) gives the squared cost c_i² = k (1/n_a + 1/n_b) with independent
    binomial counts, given that both are at least 1, so that

        E c_i² = 2k E[1/n | n >= 1].

    A neuron that does not see both cannot realise the direction: its cost is ∞.

    Parameters
    ----------
    k : int
        copies of each latent, k >= 1.
    p : float
        probability that a mask lets an entry through, in (0, 1].

    Returns
    -------
    float
        E c_i², at least 2.

    Examples
    --------
    >>> mean_cost(1, 0.15), round(mean_cost(2, 0.5), 12)
    (2.0, 3.333333333333)
    """
    expect.integer(k, "k")
    expect.number(p, "p")
    _check_copies(k, p, positive=True)
    n = np.arange(1, k + 1)
    weight = binom.pmf(n, k, p)
    return float(2 * k * (weight / n).sum() / weight.sum())


def same_counts(k: int, p: float) -> float:
    """Probability that two neurons which see both latents see the same numbers of copies (n_a, n_b), exact-copy family.

    (Σ_n P(n | n ≥ 1)²)² with n binomial. Such neurons are exchangeable.

    Parameters
    ----------
    k : int
        copies of each latent, k >= 1.
    p : float
        probability that a mask lets an entry through, in (0, 1].

    Returns
    -------
    float
        in (0, 1].

    Examples
    --------
    >>> same_counts(1, 0.15), round(same_counts(2, 0.5), 12)
    (1.0, 0.308641975309)
    """
    expect.integer(k, "k")
    expect.number(p, "p")
    _check_copies(k, p, positive=True)
    weight = binom.pmf(np.arange(1, k + 1), k, p)
    return float(((weight / weight.sum()) ** 2).sum() ** 2)
