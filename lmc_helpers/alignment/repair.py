"""REPAIR (Jordan, Sedghi, Saukh, Entezari & Neyshabur 2023): the statistics of a merged network's units, set right.

The units of λ a + (1 − λ) b vary less over the data than those of a and b, and ever less from layer to layer. REPAIR
gives every unit z of the merged network the interpolated mean and deviation of its two ends, before the activation,

    E[z'] = λ E[z_a] + (1 − λ) E[z_b],      std[z'] = λ std[z_a] + (1 − λ) std[z_b],

by an affine map of each unit, z' = s z + t. The map is absorbed by what makes the unit: its weights and its bias, or,
where a norm stands before the activation, its gain and shift. Layers are set from the inputs on, each with the earlier
ones already right, so that at the end all means and deviations hold together. Convolutions count every pixel.

A layer's z is read from the model's record, which is asked for it by the name of the shift. Where it does not apply:
units without a bias or a norm cannot be shifted; the sums of a residual stream have no affine map of their own, only
their summands do; a unit that is constant in the merged network cannot be rescaled, so that only its mean is set;
outputs stay as they are. Transformers are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Positive, Probability, Tensors, checked, require_finite
from lmc_helpers.alignment._midpoint import _interpolated
from lmc_helpers.alignment.activation_matching import CONSTANT
from lmc_helpers.networks.model import Model, Stack, _check_same

__all__ = ["Repaired", "repair"]


@dataclass
class _Moments:
    """Streaming means and sums of squared deviations of units, float64."""

    n: int = 0
    mean: Tensor | float = 0.0
    square: Tensor | float = 0.0

    def add(self, z: Tensor) -> None:
        """One more batch (..., samples, m), merged as in Chan, Golub & LeVeque (1983)."""
        z = z.double()
        k, centre = z.shape[-2], z.mean(dim=-2)
        spread = (z - centre[..., None, :]).square().sum(dim=-2)
        self.square = self.square + spread + self.n * k / (self.n + k) * (centre - self.mean).square()
        self.mean = self.mean + (centre - self.mean) * (k / (self.n + k))
        self.n += k

    def found(self) -> tuple[Tensor, Tensor]:
        """Means and standard deviations (..., m)."""
        return torch.as_tensor(self.mean), (torch.as_tensor(self.square) / self.n).sqrt()


_Statistics = tuple[Tensor, Tensor]  # means and deviations


def _correction(a: _Statistics, b: _Statistics, merged: _Statistics, lam: float) -> tuple[Tensor, ...]:
    """s and t of z' = s z + t, deviations relative to what they are set to, and which units are constant."""
    mean, std = merged
    goal, goal_std = (lam * u.to(mean) + (1 - lam) * v.to(mean) for u, v in zip(a, b, strict=True))
    dead = std <= CONSTANT * (std.square() + mean.square()).sqrt()
    s = torch.where(dead, 1, goal_std / torch.where(dead, 1, std))
    return s, goal - s * mean, std / goal_std, dead  # no number for a unit that is constant in all three


@dataclass(frozen=True, eq=False)
class Repaired:
    """Merged networks after REPAIR."""

    stack: Stack  # P merged networks with their units set right
    #: layer → (P, m): deviation of each unit before its own layer was set, with the earlier layers already right,
    #: relative to what it was set to; below 1 is the collapse that REPAIR undoes
    ratios: dict[str, Tensor]
    dead: dict[str, Tensor]  # layer → (P, m), bool: units that were constant, whose deviation could not be set


def _shifts(model: Model) -> list[str]:
    """The parameters that shift the units of hidden layers, in their order: those of norms, or else biases."""
    names = list(model.shapes())
    return [name for name in names if name.endswith(".shift")] or [n for n in names if n.endswith(".bias")][:-1]


def _statistics(model: Model, params: Tensors, shift: str, x: Tensor, batch: int = 256) -> _Statistics:
    """Means and standard deviations (N, m) of the units of a layer over the data, before the activation, float64."""
    moments = _Moments()
    with torch.no_grad():
        for part in x.split(batch):
            record: dict = {shift: None}
            model._outputs(params, part[None], record)
            if record[shift] is None:
                raise ValueError(f"{model}; allowed: MLPs, CNNs and ResNets")
            require_finite(**{f"units of {shift}": record[shift]})
            moments.add(record[shift])
    return moments.found()


@checked
def repair(
    a: Stack, b: Stack, x: Float[Tensor, " n *shape"], lam: Probability = 0.5, batch: Positive = 256
) -> Repaired:
    """Merge P pairs of networks to λ a + (1 − λ) b and set means and deviations of their units right.

    ``a``, ``b``: MLPs or CNNs with biases or norms, or ResNet20s; b is aligned already. ``x``: two or more inputs,
    which the statistics are taken over. ``batch``: inputs of a pass.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> model = MLP((2, 8, 8, 3))
    >>> a, b = (model.initial([seed], torch.float64) for seed in (1, 2))
    >>> x = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> merged = repair(a, b, x).stack
    >>> first = [(x @ net.params["0.weight"][0].T + net.params["0.bias"][0]).std(dim=0) for net in (a, b, merged)]
    >>> bool(torch.allclose(first[2], (first[0] + first[1]) / 2))
    True
    """
    model, shifts = a.model, _shifts(a.model)
    if model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {model} and {len(b)} {b.model}; allowed: P pairs of one architecture")
    if not shifts:
        raise ValueError(f"{model}; allowed: networks with biases or norms")
    if len(x) < 2:
        raise ValueError(f"{len(x)} inputs; allowed: at least 2")
    x = model._batched(x, 1)[0]
    _check_same(x, next(iter(a.params.values())))
    ends = (a.ordinary().params, b.ordinary().params)
    merged, ratios, dead = _interpolated(ends[0], ends[1], lam), {}, {}
    for shift in shifts:
        layer, _, kind = shift.rpartition(".")
        of_a, of_b, of_merged = (_statistics(model, params, shift, x, batch) for params in (*ends, merged))
        s, t, ratios[layer], dead[layer] = _correction(of_a, of_b, of_merged, lam)
        scale = f"{layer}.{'gain' if kind == 'shift' else 'weight'}"
        merged[scale] = (s.view(*s.shape, *[1] * (merged[scale].ndim - 2)) * merged[scale]).to(merged[scale])
        merged[shift] = (s * merged[shift] + t).to(merged[shift])
    return Repaired(replace(a, params=merged, fixed={}), ratios, dead)
