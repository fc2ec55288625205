"""Multilayer perceptrons of the papers as a :class:`~lmc_helpers.networks.model.Model`.

Each hidden layer is a linear map, a norm and an activation, with names, laws of initial weights and a permutation
symmetry.

The activation FiGLU of σ-asymmetric networks (Lim et al. 2024), h ↦ s(G h) ⊙ h with the logistic function s, has a
matrix G, the *gate*. It is a map like the others, hence a scheme can fix all of its entries to N(0, 1), as there:
``WAsymmetric(fixed=m, sigma=1.0)``. With G permuted on both axes the network is the same function of its inputs.

There are two batch norms. ``"batch"`` takes the statistics of the inputs that it is given, always: such a network is a
function of a set of inputs, and is evaluated on all of them at once. ``"running"`` is that of ``torch.nn``: the
statistics of the batch in training, running ones later. They are tensors of the network like its weights, hence they
are stacked, permuted and interpolated with them.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from lmc_helpers._typing import Sizes, Tensors, checked
from lmc_helpers.networks.layers import Initial, draw_by_law, linear, norm_units, norm_vectors
from lmc_helpers.networks.model import Model, Record

__all__ = ["MLP", "Norm"]

_NORMS: dict[str, Callable[[int], nn.Module]] = {
    "none": lambda m: nn.Identity(),
    "layer": nn.LayerNorm,
    "batch": partial(nn.BatchNorm1d, track_running_stats=False),
    "running": nn.BatchNorm1d,
}

Norm = Literal["none", "layer", "batch", "running"]


class _Gate(nn.Module):
    """FiGLU, h ↦ s(G h) ⊙ h."""

    def __init__(self, m: int) -> None:
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(m, m))

    def forward(self, h: Tensor) -> Tensor:
        return torch.sigmoid(functional.linear(h, self.gate)) * h


_ACTIVATIONS: dict[str, Callable[[int], nn.Module]] = {
    "relu": lambda m: nn.ReLU(),
    "gelu": lambda m: nn.GELU(),
    "tanh": lambda m: nn.Tanh(),
    "figlu": _Gate,
}


@checked
@dataclass(frozen=True)
class MLP(Model):
    """A multilayer perceptron as data.

    The MLP of Bürgin et al. (App. F.1) is ``MLP((784, 512, 512, 512, 10), "gelu", "layer")``; that of Zhan, Li & Wu
    (App. B.1) of width m is ``MLP((784, m, m, m, 10), init="he")``.

    Parameters
    ----------
    sizes
        input, hidden and output sizes (n_0, …, n_d), d >= 2.
    activation
        ``"gelu"`` is the exact one, ``"figlu"`` has a gate for each hidden layer.
    norm
        of hidden layers, before the activation, with trained gain and shift.
    init
        law of the initial weights: that of ``torch.nn``, He's normal law with zero biases, or a normal law of variance
        1/inputs.

    Examples
    --------
    >>> model = MLP((784, 512, 512, 512, 10), "gelu", "layer")
    >>> model.parameters(), list(model.shapes())[:4]
    (935434, ['0.weight', '0.bias', '0.gain', '0.shift'])
    """

    sizes: Sizes = (784, 512, 512, 512, 10)
    activation: Literal["relu", "gelu", "tanh", "figlu"] = "relu"
    norm: Norm = "none"
    bias: bool = True
    init: Initial = "torch"

    def __post_init__(self) -> None:
        if len(self.sizes) < 3:
            raise ValueError(f"sizes = {self.sizes!r}; allowed: (n_0, …, n_d) with d >= 2")

    @property
    def input_shape(self) -> tuple[int, ...]:
        """(n_0,)."""
        return self.sizes[:1]

    @property
    def classes(self) -> int:
        """n_d."""
        return self.sizes[-1]

    def module(self) -> nn.Module:
        """Layer k makes the units of group ``"k"``; the last map is ``"d"`` for d + 1 maps."""
        net, last = nn.Sequential(), len(self.sizes) - 2
        for k, (before, after) in enumerate(pairwise(self.sizes)):
            layer = nn.Sequential(OrderedDict(_map=nn.Linear(before, after, self.bias)))
            if k < last:
                layer.add_module("_norm", _NORMS[self.norm](after))
                layer.add_module("_activation", _ACTIVATIONS[self.activation](after))
            net.add_module(str(k), layer)
        return net

    def maps(self) -> tuple[str, ...]:
        """All linear maps, gates included."""
        return super().maps() + tuple(name for name in self.shapes() if name.endswith(".gate"))

    def widest(self) -> int:
        """Numbers in the largest activation of one input."""
        return max(self.sizes)

    def draw(self, generator: torch.Generator) -> Tensors:
        """Weights and biases by the law ``init``, gains 1, shifts 0, gates N(0, 1), which are drawn last."""
        gates = {name: shape for name, shape in self.shapes().items() if name.endswith(".gate")}
        drawn = draw_by_law({k: v for k, v in self.shapes().items() if k not in gates}, self.init, generator)
        return drawn | {k: torch.randn(v, generator=generator, dtype=torch.float64) for k, v in gates.items()}

    def _outputs(self, params: Tensors, x: Tensor, record: Record | None = None, training: bool = False) -> Tensor:
        """Hidden layers are recorded after their activations; in training a batch has two or more examples."""
        h, last = x, len(self.sizes) - 2
        for k in range(last):
            h = linear(h, params[f"{k}.weight"], params.get(f"{k}.bias"))  # (N, B, m)
            if self.norm == "layer":
                h = norm_vectors(h, params[f"{k}.gain"], params[f"{k}.shift"])
            elif self.norm == "batch":
                h = norm_units(h, params[f"{k}.gain"], params[f"{k}.shift"])
            elif self.norm == "running":
                running = params[f"{k}.mean"], params[f"{k}.variance"]
                h = norm_units(h, params[f"{k}.gain"], params[f"{k}.shift"], running, update=training)
            if self.activation == "figlu":
                h = torch.sigmoid(linear(h, params[f"{k}.gate"], None)) * h  # s(G h) ⊙ h
            else:
                h = getattr(functional, self.activation)(h)
            if record is not None:
                record[str(k)] = h.detach()
        return linear(h, params[f"{last}.weight"], params.get(f"{last}.bias"))
