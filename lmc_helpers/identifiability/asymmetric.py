"""Asymmetric layers, W_eff = F + D ⊙ W (Bürgin et al., eq. (2) and Table 1), for any weight of a torch module.

F and D are drawn by a *scheme*, one line of Table 1: ``scheme.draw(shape, generator)`` gives both in a weight's shape
(outputs, inputs, then the kernel's axes for a convolution), in float64. :func:`asymmetrise` makes them buffers of a
module and its weight W the parameter. The numbers come from a generator that is keyed by (seed, name of the weight)
alone, so that the networks of a pair, built with one seed, share F and D on every machine.

The loss sees W through D only,

    ∂L/∂W = D ⊙ ∂L/∂W_eff,

and weight decay acts on W itself: its penalty is ``‖W‖²`` = ``‖(W_eff − F) ⊘ D‖²`` where D is not 0, so that it pulls
W_eff towards F. Entries of W where D = 0 have gradient 0 and only decay.

:class:`FiGLU` breaks the symmetry by an activation instead (σ-asymmetric networks, Lim et al. 2024; Fig. 7 of Bürgin
et al., outside their eq. (2)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.utils import parametrize

from lmc_helpers import expect
from lmc_helpers.seeds import normal, torch_generator

__all__ = [
    "Asymmetric",
    "FiGLU",
    "LinearResidual",
    "Scheme",
    "Sparse",
    "Syre",
    "WAsymmetric",
    "WBernoulli",
    "asymmetrise",
    "layer_parts",
    "linear_maps",
]


def _check_scale(sigma: float) -> None:
    expect.number(sigma, "sigma")
    if not (math.isfinite(sigma) and sigma >= 0):
        raise ValueError(f"sigma = {sigma}; allowed: a finite number >= 0")


def _mask(shape: tuple[int, ...], fixed: int, dim: int, generator: torch.Generator) -> torch.Tensor:
    """Boolean mask with ``fixed`` true entries, uniformly placed, in every slice of index ``dim``."""
    expect.integer(dim, "dim")
    expect.integer(fixed, "fixed")
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

    Parameters
    ----------
    fixed : int
        entries of each slice that are fixed, in uniform places.
    sigma : float
        standard deviation of the fixed entries, >= 0.
    dim : int
        0 counts by output row (linear and attention maps), 1 by input channel (the paper's convolutions).

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
        expect.sizes(shape, "shape")
        if len(shape) < 2:
            raise ValueError(f"shape = {shape}; allowed: (outputs, inputs), then the kernel's axes")
        expect.generator(generator, "generator")
        _check_scale(self.sigma)
        mask = _mask(shape, self.fixed, self.dim, generator)
        return mask * self.sigma * _normal(shape, generator), (~mask).double()


@dataclass(frozen=True)
class WBernoulli:
    """W-asymmetric with every entry fixed with probability p, independently.

    Parameters
    ----------
    p : float
        probability that an entry is fixed.
    sigma : float
        standard deviation of the fixed entries, >= 0.

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
        expect.sizes(shape, "shape")
        if len(shape) < 2:
            raise ValueError(f"shape = {shape}; allowed: (outputs, inputs), then the kernel's axes")
        expect.generator(generator, "generator")
        expect.number(self.p, "p")
        _check_scale(self.sigma)
        if not 0 <= self.p <= 1:
            raise ValueError(f"p = {self.p}; allowed: a probability in [0, 1]")
        mask = torch.rand(shape, dtype=torch.float64, generator=generator) < self.p
        return mask * self.sigma * _normal(shape, generator), (~mask).double()


@dataclass(frozen=True)
class Syre:
    """Syre: F is N(0, sigma²) and D is u^(−1/2) with u uniform on (1 − epsilon, 1 + epsilon), everywhere.

    Parameters
    ----------
    sigma : float
        standard deviation of F, >= 0.
    epsilon : float
        half-width of u's interval, in [0, 1).

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
        expect.sizes(shape, "shape")
        if len(shape) < 2:
            raise ValueError(f"shape = {shape}; allowed: (outputs, inputs), then the kernel's axes")
        expect.generator(generator, "generator")
        expect.number(self.epsilon, "epsilon")
        _check_scale(self.sigma)
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
        expect.sizes(shape, "shape")
        if len(shape) < 2:
            raise ValueError(f"shape = {shape}; allowed: (outputs, inputs), then the kernel's axes")
        expect.generator(generator, "generator")
        if shape[0] % shape[1] or any(n % 2 == 0 for n in shape[2:]):
            raise ValueError(f"shape = {tuple(shape)}; allowed: outputs a multiple of inputs, and kernels of odd size")
        taps = math.prod(shape[2:])
        F = torch.zeros(shape[0], shape[1], taps, dtype=torch.float64)
        F[:, :, taps // 2] = torch.eye(shape[1], dtype=torch.float64).repeat(shape[0] // shape[1], 1)
        return F.reshape(shape), torch.ones(shape, dtype=torch.float64)


@dataclass(frozen=True)
class Sparse:
    """Sparse network: ``fixed`` entries of every row are 0 and stay.

    Parameters
    ----------
    fixed, dim : int
        as for :class:`WAsymmetric`.

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


class FiGLU(nn.Module):
    """The activation x ↦ s(F x) ⊙ x on the last axis, of size m, with the logistic function s.

    The entries of the fixed matrix F are independent N(0, 1). A permutation P of the neurons commutes with it only if
    PFPᵀ = F, which for random F and P ≠ I has probability 0.

    Parameters
    ----------
    m : int
        neurons, m >= 1.
    seed : int
        of F, in [0, 2³²). The networks of a pair share it.
    name : str
        name of the layer, so that the layers of one network have different F.

    Examples
    --------
    >>> activation = FiGLU(3, seed=1)
    >>> bool(activation(torch.zeros(2, 3)).eq(0).all()), list(activation.parameters())
    (True, [])
    """

    F: torch.Tensor

    def __init__(self, m: int, seed: int, name: str = "layer"):
        super().__init__()
        expect.integer(m, "m")
        expect.text(name, "name")
        if m < 1:
            raise ValueError(f"m = {m}; allowed: m >= 1")
        F = normal((m, m), seed, f"FiGLU {name}")
        self.register_buffer("F", F.to(torch.get_default_dtype()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """FiGLU(x), (..., m)."""
        expect.tensor(x, "x", "... m", finite=False)
        if x.shape[-1] != len(self.F):
            raise ValueError(f"x has {x.shape[-1]} neurons; allowed: {len(self.F)}")
        return torch.sigmoid(x @ self.F.to(x).mT) * x


class Asymmetric(nn.Module):
    """The parametrisation W → F + D ⊙ W of eq. (2), for ``torch.nn.utils.parametrize``.

    Parameters
    ----------
    F, D : torch.Tensor
        the fixed part and the multiplier, of the weight's shape.

    Examples
    --------
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> _ = parametrize.register_parametrization(
    ...     layer, "weight", Asymmetric(torch.tensor([[5.0, 0.0]]), torch.tensor([[0.0, 1.0]])))
    >>> with torch.no_grad():
    ...     _ = layer.parametrizations.weight.original.copy_(torch.tensor([[7.0, 2.0]]))
    >>> layer.weight.tolist(), [name for name, _ in layer.named_parameters()]
    ([[5.0, 2.0]], ['parametrizations.weight.original'])
    """

    F: torch.Tensor
    D: torch.Tensor

    def __init__(self, F: torch.Tensor, D: torch.Tensor):
        super().__init__()
        expect.tensor(F, "F", finite=False)
        expect.tensor(D, "D", finite=False)
        if F.shape != D.shape or not (F.isfinite().all() and D.isfinite().all()):
            raise ValueError(f"F {tuple(F.shape)} and D {tuple(D.shape)}; allowed: one shape and finite entries")
        expect.same({"F": F, "D": D})
        self.register_buffer("F", F.detach().clone())
        self.register_buffer("D", D.detach().clone())

    def forward(self, W: torch.Tensor) -> torch.Tensor:
        """W_eff."""
        expect.tensor(W, "W", finite=False)
        if W.shape != self.F.shape:
            raise ValueError(f"W has shape {tuple(W.shape)}; allowed: {tuple(self.F.shape)}, as F and D")
        return self.F + self.D * W


def linear_maps(module: nn.Module) -> dict[str, tuple[nn.Module, str]]:
    """The linear maps in a module: name of each weight → (owner, attribute).

    They are the weights of ``nn.Linear`` and of convolutions, and of ``nn.MultiheadAttention`` the input projection
    (queries, keys and values stacked, or three matrices) and the output projection.

    Parameters
    ----------
    module : torch.nn.Module
        a network, or a part of one.

    Returns
    -------
    dict
        in the module's order.

    Examples
    --------
    >>> list(linear_maps(nn.MultiheadAttention(4, 2)))
    ['in_proj_weight', 'out_proj.weight']
    """
    found = {}
    for prefix, owner in module.named_modules():
        if isinstance(owner, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            names = ["weight"]
        elif isinstance(owner, nn.MultiheadAttention):
            names = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"]
        else:
            continue
        for name in names:
            if getattr(owner, name) is not None:
                found[f"{prefix}.{name}" if prefix else name] = (owner, name)
    return found


def asymmetrise(module: nn.Module, schemes: Scheme | Mapping[str, Scheme], seed: int) -> nn.Module:
    """Replace the weights of a module by W_eff = F + D ⊙ W, in place; the present weights become W.

    Parameters
    ----------
    module : torch.nn.Module
        a network; its biases and norms stay as they are.
    schemes : scheme or mapping
        one scheme for every map that :func:`linear_maps` finds, or name of a weight → scheme; other weights stay.
    seed : int
        of F and D, in [0, 2³²). Each weight has its own stream, keyed by its name.

    Returns
    -------
    torch.nn.Module
        the module.

    Examples
    --------
    >>> from lmc_helpers.identifiability.asymmetric import WAsymmetric
    >>> a, b = (asymmetrise(nn.Linear(6, 3), WAsymmetric(2, 1.0), seed=1) for _ in range(2))
    >>> fixed = a.parametrizations.weight[0].D == 0
    >>> bool((a.weight[fixed] == b.weight[fixed]).all()), bool((a.weight[~fixed] == b.weight[~fixed]).any())
    (True, False)
    """
    known = linear_maps(module)
    chosen = dict(schemes) if isinstance(schemes, Mapping) else dict.fromkeys(known, schemes)
    unknown = sorted(set(chosen) - set(known))
    if unknown:
        raise ValueError(f"weights {unknown} are unknown; allowed: {', '.join(known)}")
    for name, scheme in chosen.items():
        owner, attribute = known[name]
        if parametrize.is_parametrized(owner, attribute):
            raise ValueError(f"weight {name!r} is parametrised already; allowed: plain weights")
        weight = getattr(owner, attribute)
        F, D = scheme.draw(tuple(weight.shape), torch_generator(seed, f"asymmetric {name}"))
        parametrize.register_parametrization(owner, attribute, Asymmetric(F.to(weight), D.to(weight)))
    return module


def layer_parts(module: nn.Module) -> dict[str, tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """F, D and W of every asymmetric weight of a module, as they are and not copied.

    Parameters
    ----------
    module : torch.nn.Module
        a network that :func:`asymmetrise` was applied to.

    Returns
    -------
    dict
        name of each weight → (F, D, W); weights that are not asymmetric are left out.

    Examples
    --------
    >>> layer = asymmetrise(nn.Linear(6, 3), WAsymmetric(2, 1.0), seed=1)
    >>> F, D, W = layer_parts(layer)["weight"]
    >>> bool((F + D * W == layer.weight).all()), W is layer.parametrizations.weight.original
    (True, True)
    """
    found = {}
    for name, (owner, attribute) in linear_maps(module).items():
        if parametrize.is_parametrized(owner, attribute):
            plan = getattr(owner.parametrizations, attribute)
            if isinstance(plan[0], Asymmetric):
                found[name] = (plan[0].F, plan[0].D, plan.original)
    return found
