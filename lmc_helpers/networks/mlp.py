"""Multilayer perceptrons of the papers as a :class:`~lmc_helpers.networks.model.Model`.

Each hidden layer is a linear map, a norm and an activation, with names, laws of initial weights and a permutation
symmetry. Shapes and words are those of :mod:`lmc_helpers.networks.stacked_mlp`.

The activation FiGLU of σ-asymmetric networks (Lim et al. 2024), h ↦ s(G h) ⊙ h with the logistic function s, has a
matrix G, the *gate*. It is a map like the others, so that a scheme can fix all of its entries to N(0, 1), as there:
``WAsymmetric(fixed=m, sigma=1.0)``. With G permuted on both axes the network is the same function of its inputs.

Batch norm takes the statistics of the inputs that it is given, in training those of the batch. There are no running
ones: a network with this norm is a function of a set of images, and is evaluated on all of them at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import torch

from lmc_helpers.networks.layers import INITIAL, check_choice, draw_by_law, linear, norm_units, norm_vectors
from lmc_helpers.networks.model import Model, Record, Tensors
from lmc_helpers.networks.permutations import Axis, Symmetry
from lmc_helpers.networks.stacked_mlp import ACTIVATIONS, NORMS, Architecture

__all__ = ["MLP"]

FIGLU = "figlu"


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
        ``"relu"``, ``"gelu"`` (exact), ``"tanh"``, or ``"figlu"`` with a gate for each hidden layer.
    norm : str
        of hidden layers, before the activation: ``"none"``, or ``"layer"`` or ``"batch"`` with trained gain and shift.
    bias : bool
        whether the linear maps have biases.
    init : str
        law of the initial weights, as in :func:`~lmc_helpers.networks.layers.initial`: ``"torch"``, ``"he"`` or
        ``"normal"``.

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
        check_choice("activation", self.activation, (*ACTIVATIONS, FIGLU))
        check_choice("norm", self.norm, NORMS)
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
        activation = "gelu" if self.activation == FIGLU else self.activation  # sizes and words are checked there
        return Architecture(self.sizes, activation, self.norm, self.bias)

    @property
    def _gates(self) -> dict[str, tuple[int, int]]:
        hidden = self.sizes[1:-1] if self.activation == FIGLU else ()
        return {f"{k}.gate": (m, m) for k, m in enumerate(hidden)}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """For map k ``k.weight`` and ``k.bias``, for hidden layer k ``k.gain`` and ``k.shift``; then any ``k.gate``."""
        return self._architecture().shapes() | self._gates

    def maps(self) -> tuple[str, ...]:
        """All linear maps, gates included."""
        return (*(f"{k}.weight" for k in range(len(self.sizes) - 1)), *self._gates)

    def widest(self) -> int:
        """Numbers in the largest activation of one input."""
        return max(self.sizes)

    def draw(self, generator: torch.Generator) -> Tensors:
        """Weights and biases by the law ``init``, gains 1, shifts 0, gates N(0, 1).

        By ``"torch"`` they are those of ``stacked_mlp``; gates are drawn last.
        """
        drawn = draw_by_law(self._architecture().shapes(), self.init, generator)
        gates = {
            name: torch.randn(shape, generator=generator, dtype=torch.float64) for name, shape in self._gates.items()
        }
        return drawn | gates

    def forward(self, params: Tensors, x: torch.Tensor, record: Record | None = None) -> torch.Tensor:
        """Outputs (N, B, n_d); recorded are the hidden layers after their activations."""
        if record is not None and not isinstance(record, dict):
            raise ValueError(f"record is {type(record).__name__}; allowed: None or a dict")
        h, last = self.batched(params, x), len(self.sizes) - 2
        for k in range(last):
            h = linear(h, params[f"{k}.weight"], params.get(f"{k}.bias"))  # (N, B, m)
            if self.norm == "layer":
                h = norm_vectors(h[:, None], params[f"{k}.gain"], params[f"{k}.shift"])[:, 0]
            elif self.norm == "batch":
                h = norm_units(h, params[f"{k}.gain"], params[f"{k}.shift"])
            if self.activation == FIGLU:
                h = torch.sigmoid(linear(h, params[f"{k}.gate"], None)) * h  # s(G h) ⊙ h
            else:
                h = ACTIVATIONS[self.activation](h)
            if record is not None:
                record[str(k)] = h.detach()
        return linear(h, params[f"{last}.weight"], params.get(f"{last}.bias"))

    def symmetry(self) -> Symmetry:
        """A group ``"k"`` for each hidden layer: its rows, its bias, gain, shift and gate, the next map's columns."""
        shapes, groups = self.shapes(), {}
        for k, _ in enumerate(pairwise(self.sizes[1:])):
            rows = [Axis(name, 0) for name in shapes if name.split(".")[0] == str(k)]
            columns = [Axis(name, 1) for name in (f"{k + 1}.weight", f"{k}.gate") if name in shapes]
            groups[str(k)] = (*rows, *columns)
        return Symmetry(groups, {group: self.sizes[int(group) + 1] for group in groups})
