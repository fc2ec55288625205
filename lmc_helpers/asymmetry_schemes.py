"""How the fixed part F and the multiplier D of an asymmetric layer are drawn: Table 1 of Bürgin et al. as data.

A scheme is one line of the table. ``scheme.draw(shape, generator)`` gives F and D of a weight's shape (outputs,
inputs, then the kernel's axes for a convolution), in float64.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

__all__ = ["LinearResidual", "Scheme", "Sparse", "Syre", "WAsymmetric", "WBernoulli", "fixed_counts"]


def _refuse_scale(sigma: float) -> None:
    if not (math.isfinite(sigma) and sigma >= 0):
        raise ValueError(f"sigma = {sigma}; allowed: a finite number >= 0")


def _mask(shape: tuple[int, ...], fixed: int, dim: int, generator: torch.Generator) -> torch.Tensor:
    """Boolean mask with ``fixed`` true entries, uniformly placed, in every slice of index ``dim``."""
    if dim not in (0, 1):
        raise ValueError(f"dim = {dim}; allowed: 0 (each output row) or 1 (each input channel)")
    slices, entries = shape[dim], math.prod(shape) // shape[dim]
    if not 0 <= fixed <= entries:
        raise ValueError(
            f"fixed = {fixed}; allowed: 0 to {entries}, the entries of a slice of {tuple(shape)} along {dim}"
        )
    order = torch.rand(slices, entries, dtype=torch.float64, generator=generator).argsort(dim=-1)
    chosen = torch.zeros(slices, entries, dtype=torch.bool).scatter_(1, order[:, :fixed], True)
    if dim == 0:
        return chosen.reshape(shape)
    return chosen.reshape(shape[1], shape[0], *shape[2:]).transpose(0, 1).contiguous()


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=generator)


@dataclass(frozen=True)
class WAsymmetric:
    """W-asymmetric: ``fixed`` entries of every row are N(0, sigma²) and stay, the others are trained.

    ``dim = 0`` counts by output row (linear and attention maps), ``dim = 1`` by input channel (the paper's
    convolutions).

    Examples
    --------
    >>> F, D = WAsymmetric(fixed=2, sigma=1.0).draw((3, 5), torch.Generator().manual_seed(0))
    >>> (D == 0).sum(dim=1).tolist(), bool(((F != 0) == (D == 0)).all())
    ([2, 2, 2], True)
    """

    fixed: int
    sigma: float
    dim: int = 0

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """F and D of that shape, float64."""
        _refuse_scale(self.sigma)
        mask = _mask(shape, self.fixed, self.dim, generator)
        return mask * self.sigma * _normal(shape, generator), (~mask).double()


@dataclass(frozen=True)
class WBernoulli:
    """W-asymmetric with every entry fixed with probability p, independently.

    Examples
    --------
    >>> F, D = WBernoulli(p=1.0, sigma=0.0).draw((2, 2), torch.Generator().manual_seed(0))
    >>> D.sum().item()
    0.0
    """

    p: float
    sigma: float

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """F and D of that shape, float64."""
        _refuse_scale(self.sigma)
        if not 0 <= self.p <= 1:
            raise ValueError(f"p = {self.p}; allowed: a probability in [0, 1]")
        mask = torch.rand(shape, dtype=torch.float64, generator=generator) < self.p
        return mask * self.sigma * _normal(shape, generator), (~mask).double()


@dataclass(frozen=True)
class Syre:
    """Syre: F is N(0, sigma²) and D is u^(−1/2) with u uniform on (1 − epsilon, 1 + epsilon), everywhere.

    Examples
    --------
    >>> F, D = Syre(sigma=0.1, epsilon=0.5).draw((4, 4), torch.Generator().manual_seed(0))
    >>> bool((D.pow(-2) > 0.5).all() and (D.pow(-2) < 1.5).all())
    True
    """

    sigma: float
    epsilon: float

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """F and D of that shape, float64."""
        _refuse_scale(self.sigma)
        if not 0 <= self.epsilon < 1:
            raise ValueError(f"epsilon = {self.epsilon}; allowed: 0 <= epsilon < 1")
        u = 1 + self.epsilon * (2 * torch.rand(shape, dtype=torch.float64, generator=generator) - 1)
        return self.sigma * _normal(shape, generator), u.rsqrt()


@dataclass(frozen=True)
class LinearResidual:
    """Linear residual connection: F is the identity, for a convolution the identity at the centre of an odd kernel.

    Where the outputs are a multiple of the inputs, as in the stacked projections of attention, each block has its
    identity.

    Examples
    --------
    >>> F, D = LinearResidual().draw((4, 2), torch.Generator())
    >>> F.tolist(), D.eq(1).all().item()
    ([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], True)
    """

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """F and D of that shape, float64."""
        if shape[0] % shape[1] or any(n % 2 == 0 for n in shape[2:]):
            raise ValueError(f"shape = {tuple(shape)}; allowed: outputs a multiple of inputs, and kernels of odd size")
        F = torch.zeros(shape, dtype=torch.float64)
        F[(..., *(n // 2 for n in shape[2:]))] = torch.eye(shape[1], dtype=torch.float64).repeat(
            shape[0] // shape[1], 1
        )
        return F, torch.ones(shape, dtype=torch.float64)


@dataclass(frozen=True)
class Sparse:
    """Sparse network: ``fixed`` entries of every row (``dim = 1``: input channel) are 0 and stay.

    Examples
    --------
    >>> F, D = Sparse(fixed=4).draw((2, 5), torch.Generator().manual_seed(0))
    >>> F.abs().sum().item(), D.sum(dim=1).tolist()
    (0.0, [1.0, 1.0])
    """

    fixed: int
    dim: int = 0

    def draw(self, shape: tuple[int, ...], generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        """F and D of that shape, float64."""
        return WAsymmetric(self.fixed, 0.0, self.dim).draw(shape, generator)


#: one of the schemes
Scheme = WAsymmetric | WBernoulli | Syre | LinearResidual | Sparse


def fixed_counts(D: torch.Tensor) -> torch.Tensor:
    """Number of fixed entries in every row of a mask D (..., m, d) of zeros and ones; shape (..., m).

    Raises
    ------
    ValueError
        if D has an entry that is neither 0 nor 1, a negative one for example.

    Examples
    --------
    >>> fixed_counts(torch.tensor([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]])).tolist()
    [2, 0]
    """
    wrong = (D != 0) & (D != 1)
    if wrong.any():
        raise ValueError(f"D has an entry {D[wrong][0].item():g}; allowed in a mask: 0 and 1")
    return (D == 0).sum(dim=-1)
