"""Multilayer perceptrons with flat parameters, many networks in one batch (Brea, Şimşek, Illing & Gerstner, eq. (1)).

    f(x) = W^(d) g(W^(d−1) … g(W^(1) x + b^(1)) … + b^(d−1)) + b^(d),      W^(k) of shape (n_k, n_{k−1}).

A network of sizes (n_0, …, n_d) is one vector θ of R^p: layer after layer, the rows of W^(k) and then b^(k). A batch is
a tensor (..., p). Layers are counted from 1 as in the paper, neurons from 0 as in Python. The parameter vector of
neuron m in layer k is ϑ_m^(k) = (W^(k)_m, b^(k)_m); two hidden neurons of a layer change places, and f does not change,
when their parameter vectors and their columns of W^(k+1) do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float, Float64, Int64, Shaped
from torch import Tensor

from lmc_helpers._typing import Integer, Positive, PositiveNumber, checked, many, require_finite
from lmc_helpers.seeds import normal


def _softplus(x: Tensor) -> Tensor:
    return torch.nn.functional.softplus(x, threshold=40)  # torch's own 20 is off by 2e-9 there, 40 by 4e-18


#: the activation g by its name
NONLINEARITIES: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "softplus": _softplus,
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
}


if TYPE_CHECKING:
    Layers = list[tuple[Tensor, Tensor]]
else:
    Layers = many(tuple[Tensor, Tensor], "a list of pairs of tensors, weights and biases")


@dataclass(frozen=True)
class MLP:
    """An architecture: the sizes (n_0, …, n_d) and the activation g of the hidden layers.

    Examples
    --------
    >>> net = MLP((2, 5, 1), "softplus")
    >>> net.size, net.depth
    (21, 2)
    >>> net.forward(net.initial(3, seed=1), torch.zeros(7, 2, dtype=torch.float64)).shape
    torch.Size([3, 7, 1])
    """

    sizes: tuple[int, ...]
    activation: str

    def __post_init__(self) -> None:
        whole = isinstance(self.sizes, tuple) and all(type(n) is int and n >= 1 for n in self.sizes)
        if not whole or len(self.sizes) < 3:
            raise ValueError(f"sizes = {self.sizes!r}; allowed: a tuple (n_0, …, n_d) of integers >= 1 with d >= 2")
        if self.activation not in NONLINEARITIES:
            raise ValueError(f"activation = {self.activation!r} is unknown; allowed: {', '.join(NONLINEARITIES)}")

    @property
    def depth(self) -> int:
        """The number d of weight matrices."""
        return len(self.sizes) - 1

    @property
    def size(self) -> int:
        """The number p of parameters."""
        return sum(after * (before + 1) for before, after in pairwise(self.sizes))

    @checked
    def split(self, theta: Shaped[Tensor, "*batch p"]) -> list[tuple[Tensor, Tensor]]:
        """Weights and biases of all layers, as views.

        They are W^(k) (..., n_k, n_{k−1}) and b^(k) (..., n_k) for k = 1, …, d.
        """
        return self._split(theta)

    def _split(self, theta: Tensor) -> list[tuple[Tensor, Tensor]]:
        if theta.shape[-1] != self.size:
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (..., {self.size})")
        layers, start = [], 0
        for before, after in pairwise(self.sizes):
            middle, end = start + after * before, start + after * (before + 1)
            layers.append((theta[..., start:middle].unflatten(-1, (after, before)), theta[..., middle:end]))
            start = end
        return layers

    @checked
    def join(self, layers: Layers) -> Tensor:
        """The flat parameters (..., p) of weights and biases; the inverse of :meth:`split`."""
        shapes = [(tuple(W.shape[-2:]), tuple(b.shape[-1:])) for W, b in layers]
        expected = [((after, before), (after,)) for before, after in pairwise(self.sizes)]
        if shapes != expected or len({batch for W, b in layers for batch in (W.shape[:-2], b.shape[:-1])}) > 1:
            raise ValueError(f"layers have shapes {shapes}; allowed: {expected}")
        return torch.cat([part for W, b in layers for part in (W.flatten(-2), b)], dim=-1)

    @checked
    def forward(self, theta: Float[Tensor, "*batch p"], x: Float[Tensor, "T n_0"]) -> Float[Tensor, "*batch T n_d"]:
        """f(x), eq. (1), for every network of a batch and every input."""
        layers = self._split(theta)
        W, b = layers[-1]
        return (W @ self._hidden(layers[:-1], x) + b[..., None]).mT

    @checked
    def hidden(
        self, theta: Float[Tensor, "*batch p"], x: Float[Tensor, "T n_0"], layer: Integer
    ) -> Float[Tensor, "*batch T n_k"]:
        """Activations of hidden layer ``layer``, 1 <= layer < d."""
        self._check_hidden(layer)
        return self._hidden(self._split(theta)[:layer], x).mT

    @checked
    def incoming(self, layer: Integer, neuron: Integer) -> Int64[Tensor, " n"]:
        """Where in θ the parameter vector ϑ_m^(k) = (W^(k)_m, b^(k)_m) stands."""
        return self._incoming(layer, neuron)

    def _incoming(self, layer: int, neuron: int) -> Tensor:
        if not 1 <= layer <= self.depth:
            raise ValueError(f"layer = {layer}; allowed: 1 <= layer <= {self.depth}")
        W, b = self._index(layer, neuron)
        return torch.cat([W[neuron], b[neuron : neuron + 1]])

    @checked
    def outgoing(self, layer: Integer, neuron: Integer) -> Int64[Tensor, " n"]:
        """Where in θ the column W^(k+1)[:, m] stands."""
        return self._outgoing(layer, neuron)

    def _outgoing(self, layer: int, neuron: int) -> Tensor:
        self._check_hidden(layer)
        self._index(layer, neuron)
        return self._split(torch.arange(self.size))[layer][0][:, neuron]

    @checked
    def swap(
        self, theta: Shaped[Tensor, "*batch p"], layer: Integer, first: Integer, second: Integer
    ) -> Shaped[Tensor, "*batch p"]:
        """Exchange two neurons of a hidden layer: their parameter vectors and their columns in the next layer.

        The function stays the same.
        """
        self._split(theta)  # checks the shape
        one, other = (torch.cat([self._outgoing(layer, m), self._incoming(layer, m)]) for m in (first, second))
        source = torch.arange(self.size)
        source[one], source[other] = other, one
        return theta[..., source.to(theta.device)]

    @checked
    def initial(self, n: Positive, seed: Integer, scale: PositiveNumber = 1.0) -> Float64[Tensor, "n p"]:
        """Gaussian: weights of variance c scale²/n_{k−1}, c = 2 for relu and 1 otherwise, biases scale²/4."""
        gain = math.sqrt(2) if self.activation == "relu" else 1.0
        purpose = f"initial parameters sizes={self.sizes} activation={self.activation}"
        theta = scale * normal((n, self.size), seed, purpose)
        return self.join([(W * gain / math.sqrt(W.shape[-1]), b / 2) for W, b in self._split(theta)])

    def _hidden(self, layers: list[tuple[Tensor, Tensor]], x: Tensor) -> Tensor:
        """Activations after these layers, inputs last: W x is then one matrix product for the whole batch."""
        if x.shape[1] != self.sizes[0]:
            raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (T, {self.sizes[0]})")
        h, g = x.mT, NONLINEARITIES[self.activation]
        for W, b in layers:
            h = g(W @ h + b[..., None])  # (..., n_k, T)
        return h

    def _index(self, layer: int, neuron: int) -> tuple[Tensor, Tensor]:
        """The places of W^(layer) and b^(layer) in θ, for a layer that has this neuron."""
        if not 0 <= neuron < self.sizes[layer]:
            raise ValueError(f"neuron = {neuron} of layer {layer}; allowed: 0 <= neuron < {self.sizes[layer]}")
        return self._split(torch.arange(self.size))[layer - 1]

    def _check_hidden(self, layer: int) -> None:
        if not 1 <= layer < self.depth:
            raise ValueError(f"layer = {layer} is no hidden layer; allowed: 1 <= layer < {self.depth}")


@checked
def squared_loss(net: MLP, x: Float[Tensor, "T n_0"], y: Float[Tensor, "T n_d"]) -> Callable[[Tensor], Tensor]:
    """The loss L(θ) = 1/(2T) Σ_μ ‖f(x_μ) − y_μ‖² as a function of θ.

    It takes θ (..., p) to (...).
    """
    if x.shape[1] != net.sizes[0] or y.shape[1] != net.sizes[-1]:
        shapes = f"x has shape {tuple(x.shape)} and y {tuple(y.shape)}"
        raise ValueError(f"{shapes}; allowed: (T, {net.sizes[0]}) and (T, {net.sizes[-1]})")
    require_finite(x=x, y=y)

    def loss(theta: Tensor) -> Tensor:
        return (net.forward(theta, x) - y).square().sum(dim=(-2, -1)) / (2 * len(x))

    return loss
