"""How far the Gram matrix S = Uᵀ diag(d)² U of a random row d is from its mean μ I (Bürgin et al., Theorem 4.4).

The entries of d² are independent with mean μ, variance σ² and distance at most b from μ. With the rows u_l of U,

    S − μI = Σ_l (d_l² − μ) u_l u_lᵀ,        E (S − μI)² = σ² Σ_l ``‖u_l‖²`` u_l u_lᵀ.

The norm of the last sum is the *variance parameter* v(U), between ν² and the coherence ν. The matrix Bernstein
inequality bounds ``‖S − μI‖`` with it, eq. (63). For masks in a few dimensions the law of S can be enumerated
(:func:`all_masks`), and for inputs that hold exact copies of latent numbers it is known (:func:`copies_law`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import binom

from lmc_helpers.identifiability.input_subspace import check_basis

__all__ = [
    "Moments",
    "all_masks",
    "bernstein_bound",
    "copies_law",
    "copies_mean_square",
    "exact_copies",
    "mask_moments",
    "mask_probabilities",
    "syre_moments",
    "variance_parameter",
]


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p}; allowed: a probability in [0, 1]")


@dataclass(frozen=True)
class Moments:
    """Mean μ, variance σ² and largest distance b from the mean, of the squared entries of D."""

    mean: float
    variance: float
    distance: float


def mask_moments(p: float) -> Moments:
    """Moments of a mask whose entries are 0 with probability p and 1 otherwise.

    Parameters
    ----------
    p : float
        in [0, 1].

    Examples
    --------
    >>> mask_moments(0.25)
    Moments(mean=0.75, variance=0.1875, distance=0.75)
    """
    _check_probability(p)
    return Moments(1 - p, p * (1 - p), max(p, 1 - p) if 0 < p < 1 else 0.0)


def syre_moments(epsilon: float) -> Moments:
    """Moments of the squared entries 1/u of syre's D, u uniform on (1 − ε, 1 + ε) (Table 1).

        μ = ln((1 + ε)/(1 − ε))/2ε,   σ² = 1/(1 − ε²) − μ²,   b = 1/(1 − ε) − μ

    Parameters
    ----------
    epsilon : float
        in (0, 1).

    Examples
    --------
    >>> moments = syre_moments(0.5)
    >>> round(moments.mean, 6) == round(math.log(3), 6), moments.distance == 2 - moments.mean
    (True, True)
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon = {epsilon}; allowed: 0 < epsilon < 1")
    mean = math.atanh(epsilon) / epsilon
    return Moments(mean, 1 / (1 - epsilon**2) - mean**2, 1 / (1 - epsilon) - mean)


def all_masks(d: int) -> torch.Tensor:
    """All 2^d masks of zeros and ones, (2^d, d), float64.

    Parameters
    ----------
    d : int
        entries of a mask, 1 <= d <= 20.

    Examples
    --------
    >>> all_masks(2).tolist()
    [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    if not 1 <= d <= 20:
        raise ValueError(f"d = {d}; allowed: 1 <= d <= 20, as there are 2^d masks")
    return torch.cartesian_prod(*[torch.tensor([0.0, 1.0], dtype=torch.float64)] * d).reshape(-1, d)


def mask_probabilities(masks: torch.Tensor, p: float) -> torch.Tensor:
    """Probability p^z (1 − p)^(d − z) of masks with z zeros, if every entry is 0 with probability p, independently.

    Parameters
    ----------
    masks : torch.Tensor
        zeros and ones, (..., d).
    p : float
        in [0, 1].

    Returns
    -------
    torch.Tensor
        (...), float64.

    Examples
    --------
    >>> mask_probabilities(all_masks(2), 0.25).tolist()
    [0.0625, 0.1875, 0.1875, 0.5625]
    """
    _check_probability(p)
    zeros = (masks == 0).double().sum(dim=-1)
    return p**zeros * (1 - p) ** (masks.shape[-1] - zeros)


def variance_parameter(U: torch.Tensor) -> torch.Tensor:
    """The variance parameter v(U), the norm of Σ_l ``‖u_l‖²`` u_l u_lᵀ; ν² <= v <= ν.

    Parameters
    ----------
    U : torch.Tensor
        orthonormal basis (..., d, k).

    Returns
    -------
    torch.Tensor
        (...), float64.

    Examples
    --------
    An axis, and the diagonal of the plane, where it is ν² = ν and ν:

    >>> axis, half = torch.tensor([[1.0], [0.0]]), torch.full((2, 1), 0.5).sqrt()
    >>> round(variance_parameter(axis).item(), 6), round(variance_parameter(half).item(), 6)
    (1.0, 0.5)
    """
    U = U.double()
    check_basis(U)
    leverage = U.square().sum(dim=-1, keepdim=True)
    return torch.linalg.matrix_norm(U.mT @ (leverage * U), 2)


def bernstein_bound(U: torch.Tensor, moments: Moments, delta: float, refined: bool = False) -> torch.Tensor:
    """Theorem 4.4 with the constants of its proof: √(2σ²νΛ) + (2/3) b ν Λ with Λ = log(2k/δ).

    ``‖S − μI‖`` exceeds it with probability at most δ. So (12) holds with C = √2.

    Parameters
    ----------
    U : torch.Tensor
        orthonormal basis (..., d, k).
    moments : Moments
        of the squared entries of d.
    delta : float
        in (0, 1).
    refined : bool
        True takes the variance parameter of U in place of ν in the root, and the exact root of the quadratic of eq.
        (63).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> U = torch.full((4, 1), 0.5, dtype=torch.float64)
    >>> bound = bernstein_bound(U, mask_moments(0.5), delta=0.1)
    >>> abs(bound.item() - (math.sqrt(2 * 0.25 * 0.25 * math.log(20)) + 2 / 3 * 0.5 * 0.25 * math.log(20))) < 1e-12
    True
    """
    if not 0 < delta < 1:
        raise ValueError(f"delta = {delta}; allowed: 0 < delta < 1")
    U = U.double()
    check_basis(U)
    log = math.log(2 * U.shape[-1] / delta)
    nu = U.square().sum(dim=-1).amax(dim=-1)
    if not refined:
        return (2 * moments.variance * nu * log).sqrt() + 2 / 3 * moments.distance * nu * log
    third = moments.distance * nu * log / 3
    return third + (third.square() + 2 * moments.variance * variance_parameter(U) * log).sqrt()


def exact_copies(d: int, k: int, copies: int) -> torch.Tensor:
    """Basis of inputs that hold each of k latent numbers ``copies`` times and zeros besides (App. F.5); ν = 1/copies.

    Parameters
    ----------
    d, k, copies : int
        inputs, latent numbers and copies of each, k · copies <= d.

    Returns
    -------
    torch.Tensor
        (d, k), orthonormal, float64.

    Examples
    --------
    >>> (2 * exact_copies(5, 2, 2).square()).round().tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]
    """
    if not (k >= 1 and copies >= 1 and k * copies <= d):
        raise ValueError(f"d = {d}, k = {k}, copies = {copies}; allowed: k, copies >= 1 and k · copies <= d")
    U = torch.zeros(d, k, dtype=torch.float64)
    U[: k * copies] = torch.eye(k, dtype=torch.float64).repeat(copies, 1) / math.sqrt(copies)
    return U


def copies_law(copies: int, k: int, p: float) -> tuple[np.ndarray, np.ndarray]:
    """The exact law of ``‖S − μI‖`` for exact copies and masks whose entries are 0 with probability p.

    S is diagonal with k independent entries, each the mean of ``copies`` independent mask entries.

    Parameters
    ----------
    copies, k : int
        copies of each of k latent numbers, as in :func:`exact_copies`.
    p : float
        in [0, 1].

    Returns
    -------
    numpy.ndarray, numpy.ndarray
        the values that the norm takes, in increasing order, and its distribution function there.

    Examples
    --------
    One copy, p = ¼: the norm is ¼ or ¾, the first if no entry of two is 0.

    >>> [x.tolist() for x in copies_law(1, 2, 0.25)]
    [[0.25, 0.75], [0.5625, 1.0]]
    """
    _check_probability(p)
    if copies < 1 or k < 1:
        raise ValueError(f"copies = {copies}, k = {k}; allowed: at least 1 each")
    ones = np.arange(copies + 1)
    size = np.round(np.abs(ones / copies - (1 - p)), 12)
    values, place = np.unique(size, return_inverse=True)
    mass = np.bincount(place, binom.pmf(ones, copies, 1 - p))
    return values, np.minimum(np.cumsum(mass), 1) ** k


def copies_mean_square(copies: int, k: int, p: float) -> float:
    """E ``‖S − μI‖²`` by :func:`copies_law`, with its parameters and errors.

    Examples
    --------
    For k = 1 it is σ²ν = p(1 − p)/copies:

    >>> round(copies_mean_square(10, 1, 0.5), 12)
    0.025
    """
    values, law = copies_law(copies, k, p)
    return float(values**2 @ np.diff(law, prepend=0))
