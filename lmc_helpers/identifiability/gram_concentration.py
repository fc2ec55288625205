"""How far the Gram matrix S = Uᵀ diag(d)² U of a random row d is from its mean μ I (Bürgin et al., Theorem 4.4).

The entries of d² are independent with mean μ, variance σ² and distance at most b from μ. With the rows u_l of U, S −
μI = Σ_l (d_l² − μ) u_l u_lᵀ, so that E (S − μI)² = σ² Σ_l ``‖u_l‖²`` u_l u_lᵀ exactly. Its norm is σ² times the
*variance parameter* of U, which lies between ν² and the coherence ν. The matrix Bernstein inequality bounds ``‖S −
μI‖`` with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from lmc_helpers.identifiability.input_subspace import refuse

__all__ = [
    "Moments",
    "bernstein_bound",
    "exact_copies",
    "frobenius_moment",
    "mask_moments",
    "syre_moments",
    "variance_parameter",
]


@dataclass(frozen=True)
class Moments:
    """Mean μ, variance σ² and largest distance b from the mean, of the squared entries of D."""

    mean: float
    variance: float
    distance: float


def mask_moments(p: float) -> Moments:
    """Moments of a mask whose entries are 0 with probability p and 1 otherwise.

    Examples
    --------
    >>> mask_moments(0.25)
    Moments(mean=0.75, variance=0.1875, distance=0.75)
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p = {p}; allowed: a probability in [0, 1]")
    return Moments(1 - p, p * (1 - p), max(p, 1 - p) if 0 < p < 1 else 0.0)


def syre_moments(epsilon: float) -> Moments:
    """Moments of 1/u for u uniform on (1 − epsilon, 1 + epsilon), the squared entries of D in syre.

    Examples
    --------
    >>> m = syre_moments(0.5)
    >>> round(m.mean, 6), round(m.variance, 6)
    (1.098612, 0.126384)
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon = {epsilon}; allowed: 0 < epsilon < 1")
    mean = math.atanh(epsilon) / epsilon
    return Moments(mean, 1 / (1 - epsilon**2) - mean**2, max(1 / (1 - epsilon) - mean, mean - 1 / (1 + epsilon)))


def variance_parameter(U: torch.Tensor) -> torch.Tensor:
    """Norm of Σ_l ``‖u_l‖²`` u_l u_lᵀ, between ν(U)² and ν(U); shape (...).

    Examples
    --------
    An axis, and the diagonal of the plane, where it is ν² = ν and ν:

    >>> axis, half = torch.tensor([[1.0], [0.0]]), torch.full((2, 1), 0.5).sqrt()
    >>> round(variance_parameter(axis).item(), 6), round(variance_parameter(half).item(), 6)
    (1.0, 0.5)
    """
    U = U.double()
    refuse(U)
    leverage = U.square().sum(dim=-1, keepdim=True)
    return torch.linalg.matrix_norm(U.mT @ (leverage * U), 2)


def frobenius_moment(U: torch.Tensor, variance: float, fixed_number: bool = False) -> torch.Tensor:
    """E ``‖S − μI‖_F²`` exactly: σ² Σ_l ``‖u_l‖⁴`` for independent entries.

    Parameters
    ----------
    U : torch.Tensor
        orthonormal basis (..., d, k).
    variance : float
        σ², of one squared entry of d.
    fixed_number : bool
        True for masks with a fixed number of zeros in uniform places, d >= 2, whose entries have the covariance
        −σ²/(d − 1): σ² (d Σ_l ``‖u_l‖⁴`` − k)/(d − 1).

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    One entry of two is fixed, inputs on the diagonal: S is ½ whatever the place.

    >>> half = torch.full((2, 1), 0.5, dtype=torch.float64).sqrt()
    >>> [round(frobenius_moment(half, 0.25, fixed).item(), 12) for fixed in (False, True)]
    [0.125, 0.0]
    """
    U = U.double()
    refuse(U)
    d, k = U.shape[-2:]
    fourth = U.square().sum(dim=-1).square().sum(dim=-1)
    if not fixed_number:
        return variance * fourth
    if d < 2:
        raise ValueError(f"d = {d}; allowed for a fixed number of zeros: d >= 2")
    return variance * (d * fourth - k) / (d - 1)


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
    refuse(U)
    log = math.log(2 * U.shape[-1] / delta)
    nu = U.square().sum(dim=-1).amax(dim=-1)
    if not refined:
        return (2 * moments.variance * nu * log).sqrt() + 2 / 3 * moments.distance * nu * log
    third = moments.distance * nu * log / 3
    return third + (third.square() + 2 * moments.variance * variance_parameter(U) * log).sqrt()


def exact_copies(d: int, k: int, copies: int) -> torch.Tensor:
    """Basis of inputs that hold each of k latent numbers ``copies`` times and zeros besides (App. F.5); ν = 1/copies.

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
