"""Multilayer perceptrons of the papers as a :class:`~lmc_helpers.networks.model.Model`.

Each hidden layer is a linear map, a norm and an activation. The computation is that of
:mod:`lmc_helpers.networks.stacked_mlp`; here it gets names, laws of initial weights and its permutation symmetry.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch

from lmc_helpers.networks.layers import INITIAL, check_choice, draw_by_law
from lmc_helpers.networks.model import Model, Record, Tensors
from lmc_helpers.networks.permutations import Axis, Symmetry
from lmc_helpers.networks.stacked_mlp import Architecture, Networks

__all__ = ["MLP"]


@dataclass(frozen=True)
class MLP(Model):
    """A multilayer perceptron as data.

    The MLP of Bürgin et al. (App. F.1) is ``MLP((784, 512, 512, 512, 10), "gelu", "layer")``; that of Zhan, Li & Wu
    (App. B.1) of width m is ``MLP((784, m, m, m, 10), init="he")``.

    Parameters
    ----------
    sizes : tuple of int
        input, hidden and output sizes (n_0, …, n_d), d >= 2.
    activation : str
        ``"relu"``, ``"gelu"`` (exact) or ``"tanh"``.
    norm : str
        of hidden layers, before the activation: ``"none"``, or ``"layer"`` with a trained gain and shift.
    bias : bool
        whether the linear maps have biases.
    init : str
        law of the initial weights, as in :func:`~lmc_helpers.networks.layers.initial`: ``"torch"`` or ``"he"``.

    Raises
    ------
    ValueError
        if a size or a word is not allowed.

    Examples
    --------
    >>> model = MLP((784, 512, 512, 512, 10), "gelu", "layer")
    >>> model.parameters(), list(model.shapes())[:4]
    (935434, ['0.weight', '0.bias', '0.gain', '0.shift'])
    """

    sizes: tuple[int, ...] = (784, 512, 512, 512, 10)
    activation: str = "relu"
    norm: str = "none"
    bias: bool = True
    init: str = "torch"

    def __post_init__(self) -> None:
        check_choice("norm", self.norm, ("none", "layer"))
        check_choice("init", self.init, INITIAL)
        self._architecture()

    @property
    def input_shape(self) -> tuple[int, ...]:
        """(n_0,)."""
        return self.sizes[:1]

    @property
    def classes(self) -> int:
        """n_d."""
        return self.sizes[-1]

    def _architecture(self) -> Architecture:
        return Architecture(self.sizes, self.activation, self.norm, self.bias)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """For map k ``k.weight`` and ``k.bias``, for hidden layer k ``k.gain`` and ``k.shift``."""
        return self._architecture().shapes()

    def maps(self) -> tuple[str, ...]:
        """All linear maps."""
        return tuple(f"{k}.weight" for k in range(len(self.sizes) - 1))

    def widest(self) -> int:
        """Numbers in the largest activation of one input."""
        return max(self.sizes)

    def draw(self, generator: torch.Generator) -> Tensors:
        """Weights and biases by the law ``init``, gains 1, shifts 0; by ``"torch"`` those of ``stacked_mlp``."""
        return draw_by_law(self.shapes(), self.init, generator)

    def forward(self, params: Tensors, x: torch.Tensor, record: Record | None = None) -> torch.Tensor:
        """Outputs (N, B, n_d); recorded are the hidden layers after their activations."""
        networks = Networks(self._architecture(), params)
        x = self.batched(params, x)
        if record is not None:
            record |= {str(k): hidden for k, hidden in enumerate(networks.layer_inputs(x)[1:])}
        return networks.forward(x)

    def symmetry(self) -> Symmetry:
        """A group ``"k"`` for each hidden layer: its rows, its bias, gain and shift, and the next map's columns."""
        shapes, groups = self.shapes(), {}
        for k, _ in enumerate(pairwise(self.sizes[1:])):
            rows = [Axis(name, 0) for name in shapes if name.split(".")[0] == str(k)]
            groups[str(k)] = (*rows, Axis(f"{k + 1}.weight", 1))
        return Symmetry(groups, {group: self.sizes[int(group) + 1] for group in groups})
