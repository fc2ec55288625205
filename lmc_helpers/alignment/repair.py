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

from lmc_helpers import expect
from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.activation_matching import CONSTANT
from lmc_helpers.alignment.midpoint import interpolate
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Model, Record, Stack
from lmc_helpers.networks.resnet import ResNet20

__all__ = ["Layer", "Repaired", "affine_layers", "layer_statistics", "repair"]

SAFE, HIGHEST = 10.0, 2.0**30  # ReLU and GELU are the identity above 10; no layer is lifted further than 2³⁰


@dataclass(frozen=True)
class Layer:
    """A layer of units with an affine map of their own.

    Parameters
    ----------
    name : str
        of the map.
    group : str
        of the model's record that holds its activations.
    scale, shift : str
        the parameters that scale and shift a unit: weight and bias, or gain and shift of the norm.
    place : int
        which of the places that the record stacks along its samples.
    places : int
        how many these are.
    summand : bool
        whether the activation reads the sum of this layer and something else.
    """

    name: str
    group: str
    scale: str
    shift: str
    place: int = 0
    places: int = 1
    summand: bool = False


@dataclass(frozen=True, eq=False)
class Repaired:
    """Merged networks after REPAIR.

    Parameters
    ----------
    stack : Stack
        P merged networks with their units set right.
    ratios : dict of torch.Tensor
        layer → (P, m): deviation of each unit before its own layer was set, with the earlier layers already right,
        relative to what it was set to; below 1 is the collapse that REPAIR undoes.
    dead : dict of torch.Tensor
        layer → (P, m), bool: units that were constant, whose deviation could not be set.
    """

    stack: Stack
    ratios: dict[str, torch.Tensor]
    dead: dict[str, torch.Tensor]


def affine_layers(model: Model) -> tuple[Layer, ...]:
    """The layers of an architecture whose units have an affine map of their own, from the inputs on.

    Parameters
    ----------
    model : Model
        an MLP or a CNN with biases or norms, with ReLU or GELU, or a ResNet20 (:mod:`lmc_helpers.networks`).

    Returns
    -------
    tuple of Layer
        every layer after those that it reads.

    Examples
    --------
    >>> [(layer.name, layer.scale, layer.shift) for layer in affine_layers(MLP((4, 3, 3, 2), norm="layer"))]
    [('0', '0.gain', '0.shift'), ('1', '1.gain', '1.shift')]
    """
    if not isinstance(model, Model):
        raise ValueError(f"model is {type(model).__name__}; allowed: Model")
    names = model.shapes()
    if isinstance(model, ResNet20):
        found = [Layer("stem", "stream 1", "stem.gain", "stem.shift", 0, model.blocks + 1)]
        for group in (1, 2, 3):
            places = model.blocks + (group == 1)
            for block in range(model.blocks):
                for part in ("inner", "shortcut", "outer"):
                    name = f"{group}.{block}.{part}"
                    if f"{name}.gain" in names:
                        where = ("inner " + name.removesuffix(".inner"), 0, 1, False)
                        if part != "inner":
                            where = (f"stream {group}", places - model.blocks + block, places, True)
                        found.append(Layer(name, where[0], f"{name}.gain", f"{name}.shift", *where[1:]))
        return tuple(found)
    if isinstance(model, MLP | CNN) and getattr(model, "activation", "relu") in ("relu", "gelu"):
        for scale, shift in (("gain", "shift"), ("weight", "bias")):
            if f"0.{shift}" in names:
                return tuple(Layer(k, k, f"{k}.{scale}", f"{k}.{shift}") for k in model.symmetry().groups)
    raise ValueError(f"{model}; allowed: an MLP or CNN with biases or norms and with ReLU or GELU, or a ResNet20")


def layer_statistics(
    model: Model, params: Tensors, layer: Layer, x: torch.Tensor, batch: int = 256
) -> tuple[torch.Tensor, torch.Tensor]:
    """Means and standard deviations of the units of a layer over the data, before the activation.

    Parameters
    ----------
    model : Model
        as in :func:`affine_layers`.
    params : dict of torch.Tensor
        name → (N, …).
    layer : Layer
        one of its layers.
    x : torch.Tensor
        inputs (n, …).
    batch : int
        inputs of a pass.

    Returns
    -------
    (torch.Tensor, torch.Tensor)
        (N, m) each, float64.

    Examples
    --------
    >>> model = MLP((1, 2, 2))
    >>> params = {name: 0 * value + 2 for name, value in model.initial([1]).params.items()}
    >>> layer_statistics(model, params, affine_layers(model)[0], torch.tensor([[-1.0], [1.0]]))
    (tensor([[2., 2.]], dtype=torch.float64), tensor([[2., 2.]], dtype=torch.float64))
    """
    if not isinstance(model, Model):
        raise ValueError(f"model is {type(model).__name__}; allowed: Model")
    if not isinstance(params, dict) or not params:
        raise ValueError(f"params = {params!r}; allowed: tensors by their names, one or more")
    expect.tensors(params, "params")
    if not isinstance(layer, Layer):
        raise ValueError(f"layer is {type(layer).__name__}; allowed: Layer")
    expect.tensor(x, "x")
    expect.integer(batch, "batch", least=1)
    if not x.ndim or not len(x):
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (n, ...), n >= 1")
    n, mean, square = 0, torch.zeros(()), torch.zeros(())
    with torch.no_grad():
        for part in x.split(batch):
            z = _before_activation(model, params, layer, part)  # (N, samples, m)
            k, centre = z.shape[1], z.mean(dim=1)
            square = square + (z - centre[:, None]).square().sum(dim=1) + n * k / (n + k) * (centre - mean).square()
            mean = mean + (centre - mean) * (k / (n + k))  # merged as in Chan, Golub & LeVeque (1983)
            n += k
    return mean, (square / n).sqrt()


def _before_activation(model: Model, params: Tensors, layer: Layer, x: torch.Tensor) -> torch.Tensor:
    """z of a layer, (N, samples, m), float64: the recorded activation of z + c, less that of c."""

    def activation(scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        record: Record = {}
        model.forward({**params, layer.scale: scale, layer.shift: shift}, x, record)
        return record[layer.group].chunk(layer.places, dim=1)[layer.place].double()

    scale, shift, c = params[layer.scale], params[layer.shift], 32.0
    while c <= HIGHEST:
        lifted = activation(scale, shift + c)
        ground = activation(0 * scale, 0 * shift + c) if layer.summand else torch.full_like(lifted, c)
        if min(lifted.min(), ground.min()) > SAFE:  # False for no number
            return lifted - ground
        c *= 4
    raise ValueError(f"layer {layer.name} of {model} is not above {SAFE} with shifts of {c:g}; allowed: finite numbers")


def repair(a: Stack, b: Stack, x: torch.Tensor, lam: float = 0.5, batch: int = 256) -> Repaired:
    """Merge P pairs of networks to λ a + (1 − λ) b and set means and deviations of their units right.

    Parameters
    ----------
    a, b : Stack
        P networks each, of one architecture of :func:`affine_layers`; b is aligned already.
    x : torch.Tensor
        inputs (n, …) that the statistics are taken over.
    lam : float
        in [0, 1]; 1 is a.
    batch : int
        inputs of a pass.

    Returns
    -------
    Repaired
        P networks of the same architecture.

    Examples
    --------
    >>> model = MLP((2, 8, 8, 3))
    >>> a, b = (model.initial([seed], torch.float64) for seed in (1, 2))
    >>> x = torch.randn(50, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    >>> merged = repair(a, b, x).stack
    >>> means = [layer_statistics(model, net.params, affine_layers(model)[1], x)[0] for net in (a, b, merged)]
    >>> bool(torch.allclose(means[2], (means[0] + means[1]) / 2))
    True
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    expect.tensor(x, "x")
    expect.number(lam, "lam")
    expect.integer(batch, "batch")
    model = a.model
    if model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {model} and {len(b)} {b.model}; allowed: P pairs of one architecture")
    if not 0 <= lam <= 1 or len(x) < 2 or batch < 1:
        raise ValueError(f"lam = {lam}, {len(x)} inputs in batches of {batch}; allowed: 0 to 1, at least 2, at least 1")
    ends = (a.ordinary().params, b.ordinary().params)
    merged, ratios, dead = interpolate(ends[0], ends[1], lam), {}, {}
    for layer in affine_layers(model):
        (mean_a, std_a), (mean_b, std_b) = (layer_statistics(model, end, layer, x, batch) for end in ends)
        mean, std = layer_statistics(model, merged, layer, x, batch)  # (P, m)
        goal, goal_std = lam * mean_a + (1 - lam) * mean_b, lam * std_a + (1 - lam) * std_b
        dead[layer.name] = std <= CONSTANT * (std.square() + mean.square()).sqrt()
        s = torch.where(dead[layer.name], 1, goal_std / torch.where(dead[layer.name], 1, std))
        ratios[layer.name] = std / goal_std  # no number for a unit that is constant in all three
        scale, shift = merged[layer.scale], merged[layer.shift]
        merged[layer.scale] = (s.view(*s.shape, *[1] * (scale.ndim - 2)) * scale).to(scale)
        merged[layer.shift] = (s * (shift - mean) + goal).to(shift)
    return Repaired(replace(a, params=merged, fixed={}), ratios, dead)
