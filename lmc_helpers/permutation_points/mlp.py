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

import torch

from lmc_helpers import expect
from lmc_helpers.seeds import normal


def _softplus(x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.softplus(x, threshold=40)  # torch's own 20 is off by 2e-9 there, 40 by 4e-18


#: the activation g by its name
NONLINEARITIES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "softplus": _softplus,
    "sigmoid": torch.sigmoid,
    "erf": torch.erf,
}


@dataclass(frozen=True)
class MLP:
    """An architecture: the sizes (n_0, …, n_d) and the activation g of the hidden layers.

    Parameters
    ----------
    sizes : tuple of int
        input, hidden and output sizes, at least one hidden layer.
    activation : str
        ``"relu"``, ``"tanh"``, ``"softplus"``, ``"sigmoid"`` or ``"erf"``.

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
        expect.text(self.activation, "activation")
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

    def split(self, theta: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Weights and biases of all layers, as views.

        Parameters
        ----------
        theta : torch.Tensor
            (..., p).

        Returns
        -------
        list of (torch.Tensor, torch.Tensor)
            W^(k) (..., n_k, n_{k−1}) and b^(k) (..., n_k) for k = 1, …, d.

        Examples
        --------
        >>> [(W, b)] = MLP((2, 1, 1), "tanh").split(torch.arange(5.0))[:1]
        >>> W, b
        (tensor([[0., 1.]]), tensor([2.]))
        """
        expect.tensors({"theta": theta})
        if theta.ndim < 1 or theta.shape[-1] != self.size:
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (..., {self.size})")
        layers, start = [], 0
        for before, after in pairwise(self.sizes):
            middle, end = start + after * before, start + after * (before + 1)
            layers.append((theta[..., start:middle].unflatten(-1, (after, before)), theta[..., middle:end]))
            start = end
        return layers

    def join(self, layers: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
        """The flat parameters (..., p) of weights and biases; the inverse of :meth:`split`.

        Examples
        --------
        >>> net = MLP((2, 3, 1), "erf")
        >>> theta = net.initial(4, seed=1)
        >>> net.join(net.split(theta)).equal(theta)
        True
        """
        expect.layers(layers, "layers")
        shapes = [(tuple(W.shape[-2:]), tuple(b.shape[-1:])) for W, b in layers]
        expected = [((after, before), (after,)) for before, after in pairwise(self.sizes)]
        if shapes != expected:
            raise ValueError(f"layers have shapes {shapes}; allowed: {expected}")
        return torch.cat([part for W, b in layers for part in (W.flatten(-2), b)], dim=-1)

    def forward(self, theta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """f(x), eq. (1), for every network of a batch and every input.

        Parameters
        ----------
        theta : torch.Tensor
            (..., p).
        x : torch.Tensor
            inputs (T, n_0).

        Returns
        -------
        torch.Tensor
            (..., T, n_d), differentiable in both.

        Examples
        --------
        f(x) = 3 tanh(2x + 1) − 1:

        >>> net = MLP((1, 1, 1), "tanh")
        >>> net.forward(torch.tensor([2.0, 1.0, 3.0, -1.0]), torch.tensor([[-0.5], [50.0]]))
        tensor([[-1.],
                [ 2.]])
        """
        layers = self.split(theta)
        W, b = layers[-1]
        return (W @ self._hidden(layers[:-1], x) + b[..., None]).mT

    def hidden(self, theta: torch.Tensor, x: torch.Tensor, layer: int) -> torch.Tensor:
        """Activations of hidden layer ``layer``, 1 <= layer < d.

        Parameters
        ----------
        theta : torch.Tensor
            (..., p).
        x : torch.Tensor
            inputs (T, n_0).
        layer : int
            counted from 1.

        Returns
        -------
        torch.Tensor
            (..., T, n_layer).

        Examples
        --------
        >>> net = MLP((1, 2, 1), "relu")
        >>> net.hidden(torch.tensor([1.0, -1.0, 0.0, 0.0, 5.0, 5.0, 5.0]), torch.tensor([[2.0]]), layer=1)
        tensor([[2., 0.]])
        """
        self._check_hidden(layer)
        return self._hidden(self.split(theta)[:layer], x).mT

    def incoming(self, layer: int, neuron: int) -> torch.Tensor:
        """Where in θ the parameter vector ϑ_m^(k) = (W^(k)_m, b^(k)_m) stands.

        Parameters
        ----------
        layer : int
            k, 1 <= k <= d.
        neuron : int
            m, 0 <= m < n_k.

        Returns
        -------
        torch.Tensor
            (n_{k−1} + 1,), long.

        Examples
        --------
        >>> MLP((2, 3, 1), "tanh").incoming(1, 2)
        tensor([4, 5, 8])
        """
        expect.integer(layer, "layer")
        if not 1 <= layer <= self.depth:
            raise ValueError(f"layer = {layer}; allowed: 1 <= layer <= {self.depth}")
        W, b = self._index(layer, neuron)
        return torch.cat([W[neuron], b[neuron : neuron + 1]])

    def outgoing(self, layer: int, neuron: int) -> torch.Tensor:
        """Where in θ the column W^(k+1)[:, m] stands.

        Parameters
        ----------
        layer : int
            k, a hidden layer, 1 <= k < d.
        neuron : int
            m, 0 <= m < n_k.

        Returns
        -------
        torch.Tensor
            (n_{k+1},), long.

        Examples
        --------
        >>> MLP((2, 3, 1), "tanh").outgoing(1, 2)
        tensor([11])
        """
        self._check_hidden(layer)
        self._index(layer, neuron)
        return self.split(torch.arange(self.size))[layer][0][:, neuron]

    def swap(self, theta: torch.Tensor, layer: int, first: int, second: int) -> torch.Tensor:
        """Exchange two neurons of a hidden layer: their parameter vectors and their columns in the next layer.

        Parameters
        ----------
        theta : torch.Tensor
            (..., p); it is not changed.
        layer : int
            1 <= layer < d.
        first, second : int
            neurons of the layer; a neuron with itself is the identity.

        Returns
        -------
        torch.Tensor
            (..., p), the same function.

        Examples
        --------
        >>> MLP((1, 2, 1), "tanh").swap(torch.arange(7), layer=1, first=0, second=1)
        tensor([1, 0, 3, 2, 5, 4, 6])
        """
        expect.integer(first, "first")
        expect.integer(second, "second")
        self.split(theta)  # checks the shape
        one, other = (torch.cat([self.outgoing(layer, m), self.incoming(layer, m)]) for m in (first, second))
        source = torch.arange(self.size)
        source[one], source[other] = other, one
        return theta[..., source.to(theta.device)]

    def initial(self, n: int, seed: int, scale: float = 1.0) -> torch.Tensor:
        """Gaussian parameters: weights of variance c scale²/n_{k−1}, c = 2 for relu and 1 otherwise, biases scale²/4.

        Parameters
        ----------
        n : int
            networks, n >= 1.
        seed : int
            in [0, 2³²).
        scale : float
            a finite number > 0.

        Returns
        -------
        torch.Tensor
            (n, p), float64, on the CPU.

        Examples
        --------
        >>> MLP((2, 5, 1), "softplus").initial(10, seed=1).shape
        torch.Size([10, 21])
        """
        expect.integer(n, "n")
        expect.number(scale, "scale")
        if n < 1:
            raise ValueError(f"n = {n} networks; allowed: n >= 1")
        if not 0 < scale < math.inf:
            raise ValueError(f"scale = {scale}; allowed: a finite number > 0")
        gain = math.sqrt(2) if self.activation == "relu" else 1.0
        purpose = f"initial parameters sizes={self.sizes} activation={self.activation}"
        theta = scale * normal((n, self.size), seed, purpose)
        return self.join([(W * gain / math.sqrt(W.shape[-1]), b / 2) for W, b in self.split(theta)])

    def _hidden(self, layers: list[tuple[torch.Tensor, torch.Tensor]], x: torch.Tensor) -> torch.Tensor:
        """Activations after these layers, inputs last: W x is then one matrix product for the whole batch."""
        expect.tensor(x, "x", finite=False)
        if x.ndim != 2 or x.shape[1] != self.sizes[0] or not len(x):
            raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (T, {self.sizes[0]}) with T >= 1")
        expect.same({"theta": layers[0][0], "x": x}, shape=False)
        h, g = x.mT, NONLINEARITIES[self.activation]
        for W, b in layers:
            h = g(W @ h + b[..., None])  # (..., n_k, T)
        return h

    def _index(self, layer: int, neuron: int) -> tuple[torch.Tensor, torch.Tensor]:
        """The places of W^(layer) and b^(layer) in θ, for a layer that has this neuron."""
        expect.integer(neuron, "neuron")
        if not 0 <= neuron < self.sizes[layer]:
            raise ValueError(f"neuron = {neuron} of layer {layer}; allowed: 0 <= neuron < {self.sizes[layer]}")
        return self.split(torch.arange(self.size))[layer - 1]

    def _check_hidden(self, layer: int) -> None:
        expect.integer(layer, "layer")
        if not 1 <= layer < self.depth:
            raise ValueError(f"layer = {layer} is no hidden layer; allowed: 1 <= layer < {self.depth}")


def squared_loss(net: MLP, x: torch.Tensor, y: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """The loss L(θ) = 1/(2T) Σ_μ ‖f(x_μ) − y_μ‖² as a function of θ.

    Parameters
    ----------
    net : MLP
        the architecture.
    x, y : torch.Tensor
        inputs (T, n_0) and targets (T, n_d), T >= 1.

    Returns
    -------
    callable
        takes θ (..., p) to L (...).

    Examples
    --------
    A network that is 0 everywhere:

    >>> net = MLP((1, 2, 1), "tanh")
    >>> loss = squared_loss(net, torch.zeros(4, 1), torch.full((4, 1), 3.0))
    >>> loss(torch.zeros(net.size))
    tensor(4.5000)
    """
    if x.ndim != 2 or len(x) < 1 or x.shape[1] != net.sizes[0]:
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (T, {net.sizes[0]}) with T >= 1")
    if y.shape != (len(x), net.sizes[-1]):
        raise ValueError(f"y has shape {tuple(y.shape)}; allowed: ({len(x)}, {net.sizes[-1]})")
    if not (torch.isfinite(x).all() and torch.isfinite(y).all()):
        raise ValueError("x or y holds values that are not finite; allowed: finite inputs and targets")

    def loss(theta: torch.Tensor) -> torch.Tensor:
        return (net.forward(theta, x) - y).square().sum(dim=(-2, -1)) / (2 * len(x))

    return loss
