"""Gaussian mixtures in a subspace of chosen dimension: the data set of Bürgin et al., eq. (278).

A sample of class c is x = P Q_c (μ_c + ε): the centre μ_c has independent N(0, σ_sep²) entries, ε is N(0, diag(s²)),
Q_c is an orthogonal matrix of the class and P embeds k dimensions into d. Q_c is drawn from the Haar law. P is drawn
uniformly among the matrices with orthonormal columns; the paper does not say what it is. As μ_c is isotropic and
independent of Q_c, Q_c μ_c and μ_c have one law, and the rotation shows in the noise only.

The structure (centres, rotations, embedding, scales) and the samples have seeds of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.general_linear import haar
from lmc_helpers.seeds import torch_generator

__all__ = ["GaussianMixture", "draw_mixture", "published_mixture"]

PUBLISHED_SEED, PUBLISHED_SEPARATION = 789, 0.3  # defaults of the authors' code


@dataclass(frozen=True)
class GaussianMixture:
    """A mixture of C equally likely Gaussian classes in k of d dimensions, float64.

    Parameters
    ----------
    centres : torch.Tensor
        μ_c, (C, k).
    rotations : torch.Tensor
        Q_c, (C, k, k).
    scales : torch.Tensor
        s, (k,), the standard deviations of ε up to sign.
    embedding : torch.Tensor
        P, (d, k).
    """

    centres: torch.Tensor
    rotations: torch.Tensor
    scales: torch.Tensor
    embedding: torch.Tensor

    def sample(self, n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        """n samples and their classes, in random order.

        The classes are balanced: if C does not divide n, the first ones have one sample more.

        Parameters
        ----------
        n : int
            number of samples, at least C.
        seed : int
            of the samples, in [0, 2³²).

        Returns
        -------
        (torch.Tensor, torch.Tensor)
            x (n, d) and y (n,), int64.

        Examples
        --------
        >>> x, y = draw_mixture(k=2, d=6, classes=3, seed=1).sample(8, seed=2)
        >>> x.shape, y.bincount().tolist(), torch.linalg.matrix_rank(x).item()
        (torch.Size([8, 6]), [3, 3, 2], 2)
        """
        expect.integer(n, "n")
        C, k = self.centres.shape
        if n < C:
            raise ValueError(f"n = {n} samples of {C} classes; allowed: n >= {C}")
        generator = torch_generator(seed, "samples of a Gaussian mixture")
        y = (torch.arange(n) % C)[torch.randperm(n, generator=generator)]
        noise = torch.randn(n, k, dtype=torch.float64, generator=generator) * self.scales
        z = (self.rotations[y] @ (self.centres[y] + noise)[..., None])[..., 0]
        return z @ self.embedding.mT, y

    def classify(self, x: torch.Tensor) -> torch.Tensor:
        """The most likely class of each sample: no classifier has a larger expected accuracy.

        Parameters
        ----------
        x : torch.Tensor
            samples (n, d), in the span of P.

        Returns
        -------
        torch.Tensor
            (n,), int64.

        Examples
        --------
        >>> mixture = draw_mixture(k=2, separation=100.0, scales=[1.0, 0.5], seed=1)
        >>> x, y = mixture.sample(1000, seed=1)
        >>> bool((mixture.classify(x) == y).all())
        True
        """
        expect.tensor(x, "x", "n d", dtype=self.embedding.dtype)
        if x.shape[1] != len(self.embedding):
            raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (n, {len(self.embedding)})")
        if (self.scales == 0).any():
            raise ValueError("a scale is 0; allowed: scales that are not 0")
        z = x @ self.embedding  # (n, k)
        own = z @ self.rotations - self.centres[:, None]  # (C, n, k): Q_cᵀ z − μ_c
        return (own / self.scales).square().sum(dim=-1).argmin(dim=0)


def draw_mixture(
    k: int,
    *,
    d: int = 128,
    classes: int = 5,
    separation: float = 3.0,
    scales: Sequence[float] | torch.Tensor | None = None,
    seed: int,
) -> GaussianMixture:
    """Draw the structure of a mixture.

    Parameters
    ----------
    k, d : int
        intrinsic and ambient dimension, 1 <= k <= d.
    classes : int
        number of classes, at least 1.
    separation : float
        σ_sep >= 0.
    scales : sequence of float, optional
        s, k numbers; drawn from N(0, 1) if not given. Only their squares matter.
    seed : int
        of centres, rotations, embedding and scales, in [0, 2³²). Each has a stream of its own, so that two calls that
        differ in ``separation`` or ``scales`` share the others.

    Returns
    -------
    GaussianMixture

    Examples
    --------
    >>> near, far = (draw_mixture(k=2, separation=value, seed=1) for value in (1.0, 3.0))
    >>> bool(torch.allclose(3 * near.centres, far.centres)), bool((near.embedding == far.embedding).all())
    (True, True)
    """
    expect.integer(k, "k")
    expect.integer(d, "d")
    expect.integer(classes, "classes")
    expect.number(separation, "separation")
    expect.reals(0 if scales is None else scales, "scales")
    if not 1 <= k <= d:
        raise ValueError(f"k = {k}, d = {d}; allowed: 1 <= k <= d")
    if classes < 1:
        raise ValueError(f"classes = {classes}; allowed: at least 1")
    if not (math.isfinite(separation) and separation >= 0):
        raise ValueError(f"separation = {separation}; allowed: a finite number >= 0")

    def stream(what: str) -> torch.Generator:
        return torch_generator(seed, f"{what} of a Gaussian mixture")

    if scales is None:
        scales = torch.randn(k, dtype=torch.float64, generator=stream("scales"))
    scales = torch.as_tensor(scales, dtype=torch.float64)
    if scales.shape != (k,) or not scales.isfinite().all():
        raise ValueError(f"scales {scales.tolist()}; allowed: k = {k} finite numbers")
    return GaussianMixture(
        centres=separation * torch.randn(classes, k, dtype=torch.float64, generator=stream("centres")),
        rotations=haar((classes, k, k), stream("rotations")),
        scales=scales,
        embedding=haar((d, k), stream("embedding")),
    )


def published_mixture(
    k: int, *, d: int = 128, classes: int = 5, separation: float = PUBLISHED_SEPARATION, seed: int = PUBLISHED_SEED
) -> GaussianMixture:
    """The structure that the authors' published code draws, with its default seed and separation.

    One generator gives, in this order and in float32, the centres, the rotations (QR of normal matrices), the scales
    and the embedding. The code adds the rotated noise to centres that it does not rotate, x = P(μ_c + Q_c ε); here the
    centres are Q_cᵀμ_c, so that eq. (278) gives the same samples.

    Parameters
    ----------
    k, d : int
        intrinsic and ambient dimension, 1 <= k <= d.
    classes : int
        number of classes.
    separation : float
        σ_sep.
    seed : int
        of the structure.

    Returns
    -------
    GaussianMixture

    Examples
    --------
    >>> [round(abs(s), 2) for s in published_mixture(k=2).scales.tolist()]
    [0.05, 1.39]
    """
    expect.integer(k, "k")
    expect.integer(d, "d")
    expect.integer(classes, "classes", least=1)
    expect.number(separation, "separation", least=0)
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    if not 1 <= k <= d:
        raise ValueError(f"k = {k}, d = {d}; allowed: 1 <= k <= d")
    generator = torch.Generator().manual_seed(seed)
    means = (torch.randn(classes, k, generator=generator) * separation).double()
    rotations = torch.linalg.qr(torch.randn(classes, k, k, generator=generator))[0].double()
    scales = torch.randn(1, k, generator=generator)[0].double()
    embedding = torch.linalg.qr(torch.randn(d, k, generator=generator))[0].double()
    return GaussianMixture((rotations.mT @ means[..., None])[..., 0], rotations, scales, embedding)
