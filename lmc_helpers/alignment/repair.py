"""REPAIR (Jordan, Sedghi, Saukh, Entezari & Neyshabur 2023): the statistics of a merged network's units, set right.

The units of λ a + (1 − λ) b vary less over the data than those of a and b, and ever less from layer to layer. REPAIR
gives every unit z of the merged network the interpolated mean and deviation of its two ends, before the activation,

    E[z'] = λ E[z_a] + (1 − λ) E[z_b],      std[z'] = λ std[z_a] + (1 − λ) std[z_b],

by an affine map of each unit, z' = s z + t. The map is absorbed by what makes the unit: its weights and its bias, or,
where a norm stands before the activation, its gain and shift. Layers are set from the inputs on, each with the earlier
ones already right, so that at the end all means and deviations hold together. Convolutions count every pixel.

A layer's z is read from the model's record of activations: with a large c added to its biases or shifts, ReLU and GELU
act as the identity, so that the recorded activation is z + c. In a residual network z is a summand: the block's last
norm or its shortcut's, and the recorded place of the stream less the same place with this summand at c gives z.

Where it does not apply: units without a bias or a norm cannot be shifted; tanh cannot be lifted; the sums of a residual
stream have no affine map of their own, only their summands do; a unit that is constant in the merged network cannot be
rescaled, so that only its mean is set; outputs stay as they are. Transformers are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Positive, Probability, Tensors, checked
from lmc_helpers.alignment.activation_matching import CONSTANT
from lmc_helpers.alignment.midpoint import _interpolated
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Model, Record, Stack, _check_same
from lmc_helpers.networks.resnet import ResNet20

__all__ = ["Repaired", "repair"]

SAFE, HIGHEST = 10.0, 2.0**30  # ReLU and GELU are the identity above 10; no layer is lifted further than 2³⁰


@dataclass(frozen=True)
class _Layer:
    """A layer of units with an affine map of their own."""

    name: str  # of the map
    group: str  # of the model's record that holds its activations
    scale: str  # the parameters that scale and shift a unit: weight and bias, or gain and shift of the norm
    shift: str
    place: int = 0  # which of the places that the record stacks along its samples
    places: int = 1  # how many these are
    summand: bool = False  # whether the activation reads the sum of this layer and something else


@dataclass(frozen=True, eq=False)
class Repaired:
    """Merged networks after REPAIR.

    Parameters
    ----------
    stack
        P merged networks with their units set right.
    ratios
        layer → (P, m): deviation of each unit before its own layer was set, with the earlier layers already right,
        relative to what it was set to; below 1 is the collapse that REPAIR undoes.
    dead
        layer → (P, m), bool: units that were constant, whose deviation could not be set.
    """

    stack: Stack
    ratios: dict[str, Tensor]
    dead: dict[str, Tensor]


def _affine_layers(model: Model) -> tuple[_Layer, ...]:
    """The layers of an architecture whose units have an affine map of their own, from the inputs on."""
    names = model.shapes()
    if isinstance(model, ResNet20):
        found = [_Layer("stem", "stream 1", "stem.gain", "stem.shift", 0, model.blocks + 1)]
        for group in (1, 2, 3):
            places = model.blocks + (group == 1)
            for block in range(model.blocks):
                for part in ("inner", "shortcut", "outer"):
                    name = f"{group}.{block}.{part}"
                    if f"{name}.gain" in names:
                        where = ("inner " + name.removesuffix(".inner"), 0, 1, False)
                        if part != "inner":
                            where = (f"stream {group}", places - model.blocks + block, places, True)
                        found.append(_Layer(name, where[0], f"{name}.gain", f"{name}.shift", *where[1:]))
        return tuple(found)
    if isinstance(model, MLP | CNN) and getattr(model, "activation", "relu") in ("relu", "gelu"):
        for scale, shift in (("gain", "shift"), ("weight", "bias")):
            if f"0.{shift}" in names:
                return tuple(_Layer(k, k, f"{k}.{scale}", f"{k}.{shift}") for k in model.symmetry().groups)
    raise ValueError(f"{model}; allowed: an MLP or CNN with biases or norms and with ReLU or GELU, or a ResNet20")


def _layer_statistics(
    model: Model, params: Tensors, layer: _Layer, x: Tensor, batch: int = 256
) -> tuple[Tensor, Tensor]:
    """Means and standard deviations (N, m) of the units of a layer over the data, before the activation, float64."""
    n, mean, square = 0, torch.zeros(()), torch.zeros(())
    with torch.no_grad():
        for part in x.split(batch):
            z = _before_activation(model, params, layer, part)  # (N, samples, m)
            k, centre = z.shape[1], z.mean(dim=1)
            square = square + (z - centre[:, None]).square().sum(dim=1) + n * k / (n + k) * (centre - mean).square()
            mean = mean + (centre - mean) * (k / (n + k))  # merged as in Chan, Golub & LeVeque (1983)
            n += k
    return mean, (square / n).sqrt()


def _before_activation(model: Model, params: Tensors, layer: _Layer, x: Tensor) -> Tensor:
    """z of a layer, (N, samples, m), float64: the recorded activation of z + c, less that of c."""

    def activation(scale: Tensor, shift: Tensor) -> Tensor:
        record: Record = {}
        model._outputs({**params, layer.scale: scale, layer.shift: shift}, x[None], record)
        return record[layer.group].chunk(layer.places, dim=1)[layer.place].double()

    scale, shift, c = params[layer.scale], params[layer.shift], 32.0
    while c <= HIGHEST:
        lifted = activation(scale, shift + c)
        ground = activation(0 * scale, 0 * shift + c) if layer.summand else torch.full_like(lifted, c)
        if min(lifted.min(), ground.min()) > SAFE:  # False for no number
            return lifted - ground
        c *= 4
    raise ValueError(f"layer {layer.name} of {model} is not above {SAFE} with shifts of {c:g}; allowed: finite numbers")


@checked
def repair(
    a: Stack, b: Stack, x: Float[Tensor, " n *shape"], lam: Probability = 0.5, batch: Positive = 256
) -> Repaired:
    """Merge P pairs of networks to λ a + (1 − λ) b and set means and deviations of their units right.

    Parameters
    ----------
    a, b
        MLPs or CNNs with biases or norms, with ReLU or GELU, or ResNet20s; b is aligned already.
    x
        two or more inputs, which the statistics are taken over.
    batch
        inputs of a pass.

    Examples
    --------
    >>> model = MLP((2, 8, 8, 3))
    >>> a, b = (model.initial([seed], torch.float64) for seed in (1, 2))
    >>> x = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> merged = repair(a, b, x).stack
    >>> first = [(x @ net.params["0.weight"][0].T + net.params["0.bias"][0]).std(dim=0) for net in (a, b, merged)]
    >>> bool(torch.allclose(first[2], (first[0] + first[1]) / 2))
    True
    """
    model = a.model
    if model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {model} and {len(b)} {b.model}; allowed: P pairs of one architecture")
    if len(x) < 2:
        raise ValueError(f"{len(x)} inputs; allowed: at least 2")
    x = model._batched(x, 1)[0]
    _check_same(x, next(iter(a.params.values())))
    ends = (a.ordinary().params, b.ordinary().params)
    merged, ratios, dead = _interpolated(ends[0], ends[1], lam), {}, {}
    for layer in _affine_layers(model):
        (mean_a, std_a), (mean_b, std_b) = (_layer_statistics(model, end, layer, x, batch) for end in ends)
        mean, std = _layer_statistics(model, merged, layer, x, batch)  # (P, m)
        goal, goal_std = lam * mean_a + (1 - lam) * mean_b, lam * std_a + (1 - lam) * std_b
        dead[layer.name] = std <= CONSTANT * (std.square() + mean.square()).sqrt()
        s = torch.where(dead[layer.name], 1, goal_std / torch.where(dead[layer.name], 1, std))
        ratios[layer.name] = std / goal_std  # no number for a unit that is constant in all three
        scale, shift = merged[layer.scale], merged[layer.shift]
        merged[layer.scale] = (s.view(*s.shape, *[1] * (scale.ndim - 2)) * scale).to(scale)
        merged[layer.shift] = (s * (shift - mean) + goal).to(shift)
    return Repaired(replace(a, params=merged, fixed={}), ratios, dead)
