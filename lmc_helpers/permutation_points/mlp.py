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
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float, Float64, Int64, Shaped
from torch import Tensor

from lmc_helpers._typing import Integer, Positive, PositiveNumber, checked, many, require_finite
from lmc_helpers.permutation_points.hessian import Loss
from lmc_helpers.seeds import normal

__all__ = ["DERIVATIVES", "MLP", "NONLINEARITIES", "Activation", "squared_loss"]


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


def _of_tanh(s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    h = torch.tanh(s)
    slope = 1 - h.square()
    return h, slope, -2 * h * slope


def _of_sigmoid(s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    h = torch.sigmoid(s)
    slope = h * (1 - h)
    return h, slope, slope * (1 - 2 * h)


def _of_erf(s: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    slope = 2 / math.sqrt(math.pi) * torch.exp(-s.square())
    return torch.erf(s), slope, -2 * s * slope


Activation = Callable[[Tensor], tuple[Tensor, Tensor, Tensor]]  # s to g(s), g'(s) and g''(s)

#: g with g' and g'' by its name; of ReLU those inside its linear pieces
DERIVATIVES: dict[str, Activation] = {
    "relu": lambda s: (torch.relu(s), (s > 0).to(s), torch.zeros_like(s)),
    "tanh": _of_tanh,
    "softplus": lambda s: (_softplus(s), *_of_sigmoid(s)[:2]),
    "sigmoid": _of_sigmoid,
    "erf": _of_erf,
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
        shapes = list(pairwise(self.sizes))
        parts = theta.split([n for before, after in shapes for n in (after * before, after)], dim=-1)
        weights = [W.unflatten(-1, (after, before)) for W, (before, after) in zip(parts[::2], shapes, strict=True)]
        return list(zip(weights, parts[1::2], strict=True))

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
        return self._forward(theta, x)

    def _forward(self, theta: Tensor, x: Tensor) -> Tensor:
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
        """Indices in θ of the parameter vector ϑ_m^(k) = (W^(k)_m, b^(k)_m)."""
        return self._incoming(layer, neuron).clone()

    def _incoming(self, layer: int, neuron: int) -> Tensor:
        if not 1 <= layer <= self.depth:
            raise ValueError(f"layer = {layer}; allowed: 1 <= layer <= {self.depth}")
        self._check_neuron(layer, neuron)
        return _rows(self)[layer - 1][neuron]

    @checked
    def outgoing(self, layer: Integer, neuron: Integer) -> Int64[Tensor, " n"]:
        """Indices in θ of the column W^(k+1)[:, m]."""
        return self._outgoing(layer, neuron).clone()

    def _outgoing(self, layer: int, neuron: int) -> Tensor:
        self._check_hidden(layer)
        self._check_neuron(layer, neuron)
        return _rows(self)[layer][:, neuron]

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

    def _check_neuron(self, layer: int, neuron: int) -> None:
        if not 0 <= neuron < self.sizes[layer]:
            raise ValueError(f"neuron = {neuron} of layer {layer}; allowed: 0 <= neuron < {self.sizes[layer]}")

    def _check_hidden(self, layer: int) -> None:
        if not 1 <= layer < self.depth:
            raise ValueError(f"layer = {layer} is not a hidden layer; allowed: 1 <= layer < {self.depth}")


@cache
def _rows(net: MLP) -> list[Tensor]:
    """Indices in θ of the parameter vectors of each layer, (n_k, n_{k−1} + 1); read only."""
    return [torch.cat([W, b[:, None]], dim=1) for W, b in net._split(torch.arange(net.size))]


@cache
def _to_rows(net: MLP) -> Tensor:
    """Indices of the entries of θ in the concatenated parameter vectors, (p,)."""
    return torch.cat([rows.flatten() for rows in _rows(net)]).argsort()


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """L(θ) = w Σ_μ ‖f(x_μ) − y_μ‖² as a function of θ (..., p), with its derivatives in closed form.

    At each sample let s_k = W^(k) h_{k−1} + b^(k), h_k = g(s_k), z_k = (h_{k−1}, 1) and e_k = ∂L/∂s_k. Then

        e_d = 2w (f − y),    e_{k−1} = u_k ∘ g'(s_{k−1}),    u_k = W^(k)ᵀ e_k,    ∂L/∂ϑ^(k) = Σ_μ e_k ⊗ z_k.

    A derivative by s_l times W^(l) diag(g'(s_{l−1})) is that by s_{l−1}, and

        ∂e_{k−1}/∂s_{k−1} = diag(g') W^(k)ᵀ ∂e_k/∂s_{k−1} + diag(u_k ∘ g''),    ∂h_{k−1}/∂s_{k−1} = diag(g'),
        ∂²L/∂ϑ^(k)∂ϑ^(l) = Σ_μ (∂e_k/∂s_l ⊗ z_k + e_k ⊗ ∂z_k/∂s_l) ⊗ z_l,    l <= k.
    """

    net: MLP
    x: Tensor  # (T, n_0), or (..., T, n_0) as θ
    y: Tensor  # (T, n_d), or (..., T, n_d) as θ
    weight: Tensor  # w, () or (...) as θ
    activation: Activation

    def __call__(self, theta: Tensor) -> Tensor:
        """L (...)."""
        return self.weight * (self.net._forward(theta, self.x) - self.y).square().sum(dim=(-2, -1))

    def value_and_gradient(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """L (...) and ∇L (..., p)."""
        z, off, e, *_ = self._backward(self.net._split(theta))
        return self.weight * off.square().sum(dim=(-2, -1)), self._gradient(z, e)

    def gradient_and_hessian(self, theta: Tensor) -> tuple[Tensor, Tensor]:
        """∇L (..., p) and ∇²L (..., p, p)."""
        layers = self.net._split(theta)
        z, off, e, slope, bent = self._backward(layers)
        ends = [0, *accumulate(rows.numel() for rows in _rows(self.net))]
        H = theta.new_empty(*theta.shape, ends[-1])  # by the parameter vectors, one after the other

        def put(k: int, j: int, block: Tensor) -> None:  # (..., n_k, n_{k−1} + 1, n_l, n_{l−1} + 1), k and l from 0
            of_k, of_j = slice(*ends[k : k + 2]), slice(*ends[j : j + 2])
            H[..., of_k, of_j] = block.reshape(*theta.shape[:-1], ends[k + 1] - ends[k], -1)
            H[..., of_j, of_k] = H[..., of_k, of_j].mT

        def below(of: Tensor, j: int) -> Tensor:  # a derivative by s_{l−1} of that by s_l, (..., m, n_l, T)
            return (layers[j][0].mT[..., None, :, :] @ of) * slope[j - 1][..., None, :, :]

        own = _diagonal((2 * self.weight[..., None, None]).expand_as(off))  # ∂e_k/∂s_k
        for k in reversed(range(len(layers))):
            put(k, k, _sums(own, _outer(z[k], z[k])).transpose(-3, -2))
            if k == 0:
                break
            of_e, of_h = below(own, k), _diagonal(slope[k - 1])
            own = (layers[k][0].mT @ of_e.flatten(-2)).view_as(of_h) * slope[k - 1][..., None, :] + _diagonal(
                bent[k - 1]
            )
            of_z = torch.nn.functional.pad(of_h, (0, 0, 0, 0, 0, 1))  # the 1 of z_k is constant
            for j in reversed(range(k)):
                block = _sums(of_e, _outer(z[k], z[j])).transpose(-3, -2)
                put(k, j, block + _sums(_outer(e[k], z[j]), of_z).movedim(-3, -1))
                if j:
                    of_e, of_z = below(of_e, j), below(of_z, j)
        order = _to_rows(self.net)
        return self._gradient(z, e), H[..., order[:, None], order]

    def _backward(self, layers: list[tuple[Tensor, Tensor]]) -> tuple[Any, ...]:
        """Lists z_k, f − y, and lists e_k, g'(s_k) and u_{k+1} ∘ g''(s_k), k from 0; each is (..., n, T)."""
        h, z, slope, bent = self.x.mT, [], [], []
        for W, b in layers[:-1]:
            z.append(_with_one(h))
            h, first, second = self.activation(W @ h + b[..., None])
            slope.append(first)
            bent.append(second)
        z.append(_with_one(h))
        W, b = layers[-1]
        off = W @ h + b[..., None] - self.y.mT
        e = [2 * self.weight[..., None, None] * off]
        for k in reversed(range(len(slope))):
            u = layers[k + 1][0].mT @ e[0]
            bent[k] = u * bent[k]
            e.insert(0, u * slope[k])
        return z, off, e, slope, bent

    def _gradient(self, z: list[Tensor], e: list[Tensor]) -> Tensor:
        """Σ_μ e_k ⊗ z_k in the order of θ."""
        rows = [(e_k @ z_k.mT).flatten(-2) for e_k, z_k in zip(e, z, strict=True)]
        return torch.cat(rows, dim=-1)[..., _to_rows(self.net)]


def _with_one(h: Tensor) -> Tensor:
    """(h, 1) of activations (..., n, T)."""
    return torch.cat([h, torch.ones_like(h[..., :1, :])], dim=-2)


def _outer(a: Tensor, b: Tensor) -> Tensor:
    """a ⊗ b at each sample, (..., m, n, T)."""
    return a[..., :, None, :] * b[..., None, :, :]


def _diagonal(v: Tensor) -> Tensor:
    """diag(v) at each sample, (..., n, n, T)."""
    return torch.diag_embed(v.mT, dim1=-3, dim2=-2)


def _sums(a: Tensor, b: Tensor) -> Tensor:
    """Σ_μ a ⊗ b of a (..., i, j, T) and b (..., k, l, T), (..., i, j, k, l)."""
    sums = a.flatten(-3, -2) @ b.flatten(-3, -2).mT
    return sums.unflatten(-1, b.shape[-3:-1]).unflatten(-3, a.shape[-3:-1])


@checked
def squared_loss(
    net: MLP, x: Float[Tensor, "T n_0"], y: Float[Tensor, "*batch T n_d"], weight: Float[Tensor, "*batch"] | None = None
) -> Loss:
    """The loss L(θ) = w Σ_μ ‖f(x_μ) − y_μ‖² as a function of θ, by default with w = 1/(2T).

    It takes θ (..., p) to (...). Its gradient and its Hessian are known in closed form.

    Examples
    --------
    L of the network 2 tanh(x), with zero biases, at the sample (0, 1):

    >>> net = MLP((1, 1, 1), "tanh")
    >>> L = squared_loss(net, torch.zeros(1, 1), torch.ones(1, 1))
    >>> L(torch.tensor([1.0, 0.0, 2.0, 0.0]))
    tensor(0.5000)
    """
    if x.shape[1] != net.sizes[0] or y.shape[-1] != net.sizes[-1]:
        shapes = f"x has shape {tuple(x.shape)} and y {tuple(y.shape)}"
        raise ValueError(f"{shapes}; allowed: (T, {net.sizes[0]}) and (T, {net.sizes[-1]})")
    require_finite(x=x, y=y)
    if weight is None:
        weight = torch.tensor(1 / (2 * len(x)), dtype=x.dtype, device=x.device)
    return SquaredLoss(net, x, y, weight, DERIVATIVES[net.activation])
