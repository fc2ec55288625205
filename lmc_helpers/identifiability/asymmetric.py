"""Asymmetric layers, W_eff = F + D ⊙ W (Bürgin et al., eq. (2) and Table 1), for any weight of a torch module.

F and D are drawn by a *scheme*, one line of Table 1: ``scheme.draw(shape, generator)`` gives both in a weight's shape
(outputs, inputs, then the kernel's axes for a convolution), in float64. :func:`asymmetrise` makes them buffers of a
copy of a module and its weight W the parameter. The generator is keyed by (seed, name of the weight), hence the
networks of a pair, built with one seed, share F and D on every machine.

The loss depends on W only through D,

    ∂L/∂W = D ⊙ ∂L/∂W_eff,

and weight decay acts on W itself: its penalty is ``‖W‖²`` = ``‖(W_eff − F) ⊘ D‖²`` where D is not 0, hence it pulls
W_eff towards F. Entries of W where D = 0 have gradient 0 and only decay.

σ-asymmetric networks (Lim et al. 2024; Fig. 7 of Bürgin et al.) break the symmetry by an activation instead:
:class:`~lmc_helpers.networks.mlp.MLP` with ``"figlu"``.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from lmc_helpers._typing import Integer, Natural, NonNegative, Probability, Sizes, checked
from lmc_helpers._wrappers import bare
from lmc_helpers.seeds import torch_generator

__all__ = ["LinearResidual", "Scheme", "Sparse", "Syre", "WAsymmetric", "WBernoulli", "asymmetrise", "layer_parts"]

Drawn = tuple[Tensor, Tensor]  # F and D


def _mask(shape: tuple[int, ...], fixed: int, dim: int, generator: torch.Generator) -> Tensor:
    """Boolean mask with ``fixed`` true entries at uniform positions in every slice along ``dim``."""
    if len(shape) < 2:
        raise ValueError(f"shape = {shape}; allowed: that of a weight, outputs, inputs and those of a kernel")
    slices, entries = shape[dim], math.prod(shape) // shape[dim]
    if fixed > entries:
        raise ValueError(
            f"fixed = {fixed}; allowed: 0 to {entries}, the entries of a slice of {tuple(shape)} along {dim}"
        )
    drawn = torch.rand(slices, entries, dtype=torch.float64, generator=generator)
    places = drawn.topk(fixed, largest=False, sorted=False).indices
    chosen = torch.zeros(slices, entries, dtype=torch.bool).scatter_(1, places, True)
    if dim == 0:
        return chosen.reshape(shape)
    return chosen.reshape(shape[1], shape[0], *shape[2:]).transpose(0, 1).contiguous()


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=generator)


@checked
@dataclass(frozen=True)
class WAsymmetric:
    """W-asymmetric: ``fixed`` entries of every row are N(0, sigma²) and not trained, the others are.

    Parameters
    ----------
    fixed
        number of fixed entries of each slice, at uniform positions.
    sigma
        standard deviation of the fixed entries.
    dim
        0 counts by output row (linear and attention maps), 1 by input channel (the paper's convolutions).

    Examples
    --------
    >>> net = asymmetrise(nn.Linear(5, 3), WAsymmetric(fixed=2, sigma=1.0), seed=1)
    >>> F, D = net.parametrizations.weight[0].F, net.parametrizations.weight[0].D
    >>> (D == 0).sum(dim=1).tolist(), bool(((F != 0) == (D == 0)).all())
    ([2, 2, 2], True)
    """

    fixed: Natural
    sigma: NonNegative
    dim: Literal[0, 1] = 0

    @checked
    def draw(self, shape: Sizes, generator: torch.Generator) -> Drawn:
        """F and D of that shape, float64."""
        mask = _mask(shape, self.fixed, self.dim, generator)
        return mask * self.sigma * _normal(shape, generator), (~mask).double()


@checked
@dataclass(frozen=True)
class WBernoulli:
    """W-asymmetric: every entry is fixed with probability p, independently, at an N(0, sigma²) value."""

    p: Probability
    sigma: NonNegative

    @checked
    def draw(self, shape: Sizes, generator: torch.Generator) -> Drawn:
        """F and D of that shape, float64."""
        mask = torch.rand(shape, dtype=torch.float64, generator=generator) < self.p
        return mask * self.sigma * _normal(shape, generator), (~mask).double()


@checked
@dataclass(frozen=True)
class Syre:
    """Syre: F is N(0, sigma²) and D is u^(−1/2) with u uniform on (1 − epsilon, 1 + epsilon), epsilon < 1.

    Examples
    --------
    >>> net = asymmetrise(nn.Linear(6, 3), Syre(sigma=0.5, epsilon=0.0), seed=1)
    >>> net.parametrizations.weight[0].D.unique().tolist()
    [1.0]
    """

    sigma: NonNegative
    epsilon: Probability

    def __post_init__(self) -> None:
        if self.epsilon == 1:
            raise ValueError("epsilon = 1, so that D is unbounded; allowed: 0 <= epsilon < 1")

    @checked
    def draw(self, shape: Sizes, generator: torch.Generator) -> Drawn:
        """F and D of that shape, float64."""
        u = 1 + self.epsilon * (2 * torch.rand(shape, dtype=torch.float64, generator=generator) - 1)
        return self.sigma * _normal(shape, generator), u.rsqrt()


@dataclass(frozen=True)
class LinearResidual:
    """Linear residual connection: F is the identity, for a convolution the identity at the centre of an odd kernel.

    If the outputs are a multiple of the inputs, as in the stacked projections of attention, each block has an identity.
    """

    @checked
    def draw(self, shape: Sizes, generator: torch.Generator) -> Drawn:
        """F and D of that shape, float64."""
        if len(shape) < 2 or shape[0] % shape[1] or any(n % 2 == 0 for n in shape[2:]):
            raise ValueError(f"shape = {tuple(shape)}; allowed: outputs a multiple of inputs, and kernels of odd size")
        taps = math.prod(shape[2:])
        F = torch.zeros(shape[0], shape[1], taps, dtype=torch.float64)
        F[:, :, taps // 2] = torch.eye(shape[1], dtype=torch.float64).repeat(shape[0] // shape[1], 1)
        return F.reshape(shape), torch.ones(shape, dtype=torch.float64)


@checked
@dataclass(frozen=True)
class Sparse:
    """Sparse: ``fixed`` entries of every row stay 0; ``fixed`` and ``dim`` as for :class:`WAsymmetric`."""

    fixed: Natural
    dim: Literal[0, 1] = 0

    @checked
    def draw(self, shape: Sizes, generator: torch.Generator) -> Drawn:
        """F and D of that shape, float64."""
        return WAsymmetric(self.fixed, 0.0, self.dim).draw(shape, generator)


#: one of the schemes
Scheme = WAsymmetric | WBernoulli | Syre | LinearResidual | Sparse


class _Asymmetric(nn.Module):
    """The parametrisation W → F + D ⊙ W of eq. (2), for ``torch.nn.utils.parametrize``."""

    F: Tensor
    D: Tensor

    def __init__(self, F: Tensor, D: Tensor):
        super().__init__()
        self.register_buffer("F", F)
        self.register_buffer("D", D)

    def forward(self, W: Tensor) -> Tensor:
        return self.F + self.D * W


def _linear_maps(module: nn.Module) -> dict[str, tuple[nn.Module, str]]:
    """The linear maps in a module: name of each weight → (module, attribute).

    These are the weights of ``nn.Linear`` and of convolutions, and of ``nn.MultiheadAttention`` the input projection
    (queries, keys and values stacked, or three matrices) and the output projection.
    """
    maps = {}
    for prefix, owner in module.named_modules():
        if isinstance(owner, (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            names = ["weight"]
        elif isinstance(owner, nn.MultiheadAttention):
            names = ["in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"]
        else:
            continue
        for name in names:
            if getattr(owner, name) is not None:
                maps[f"{prefix}.{name}" if prefix else name] = (owner, name)
    return maps


@checked
def asymmetrise(module: nn.Module, schemes: Scheme | Mapping[str, Scheme], seed: Integer) -> nn.Module:
    """A copy of a module whose weights are W_eff = F + D ⊙ W, where the module's own weights become W.

    Weights are those of ``nn.Linear``, of convolutions and of ``nn.MultiheadAttention``; biases and norms stay.

    Parameters
    ----------
    module
        a network.
    schemes
        one scheme for every weight, or name of a weight → scheme; other weights are unchanged.
    seed
        of F and D. Each weight has its own stream, keyed by its name.

    Returns
    -------
    torch.nn.Module
        the copy, without wrappers of torch.compile and of data parallelism.

    Examples
    --------
    >>> from lmc_helpers.identifiability.asymmetric import WAsymmetric
    >>> a, b = (asymmetrise(nn.Linear(6, 3), WAsymmetric(2, 1.0), seed=1) for _ in range(2))
    >>> fixed = a.parametrizations.weight[0].D == 0
    >>> bool((a.weight[fixed] == b.weight[fixed]).all()), bool((a.weight[~fixed] == b.weight[~fixed]).any())
    (True, False)
    """
    module = copy.deepcopy(bare(module))
    maps = _linear_maps(module)
    chosen = dict(schemes) if isinstance(schemes, Mapping) else dict.fromkeys(maps, schemes)
    unknown = sorted(set(chosen) - set(maps))
    if unknown:
        raise ValueError(f"weights {unknown} are unknown; allowed: {', '.join(maps)}")
    for name, scheme in chosen.items():
        owner, attribute = maps[name]
        if parametrize.is_parametrized(owner, attribute):
            raise ValueError(f"weight {name!r} is parametrised already; allowed: plain weights")
        weight = getattr(owner, attribute)
        F, D = scheme.draw(tuple(weight.shape), torch_generator(seed, f"asymmetric {name}"))
        parametrize.register_parametrization(owner, attribute, _Asymmetric(F.to(weight), D.to(weight)))
    return module


@checked
def layer_parts(module: nn.Module) -> dict[str, tuple[Tensor, Tensor, Tensor]]:
    """F, D and W of every asymmetric weight of a module by name, not copied."""
    parts = {}
    for name, (owner, attribute) in _linear_maps(module).items():
        if parametrize.is_parametrized(owner, attribute):
            parametrization = getattr(owner.parametrizations, attribute)
            if isinstance(parametrization[0], _Asymmetric):
                parts[name] = (parametrization[0].F, parametrization[0].D, parametrization.original)
    return parts
