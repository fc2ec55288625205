"""Coordinates in which two neurons of a hidden layer become one (Brea, Şimşek, Illing & Gerstner, section 4.1).

Let neurons 0 and 1 of layer k have ϑ_0 = ϑ − δe/2, ϑ_1 = ϑ + δe/2, ‖e‖ = 1, and outgoing columns a_0, a_1. With
c = a_0 + a_1 and A = δ(a_1 − a_0)/2 their contribution to layer k + 1 is

    c [g(s₋) + g(s₊)]/2 + A [g(s₊) − g(s₋)]/δ  →  c g(s) + A (e·z) g'(s)    as δ → 0,

where z is the input of the layer with a 1 appended, s = ϑ·z. In these centred coordinates the limit is regular, while
a_0, a_1 = c/2 ∓ A/δ diverge unless A = O(δ). At δ = 0 = A and a_0 = a_1 lies the permutation point.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Integer, checked, require_finite, short
from lmc_helpers.permutation_points.hessian import Loss, _gradient_and_hessian, _value_and_gradient
from lmc_helpers.permutation_points.mlp import MLP

__all__ = ["Chart", "PairChart", "reduce_pair"]


class Chart:
    """Coordinates φ = (θ with some slots replaced, δ) of two neurons; (..., p + 1).

    The slot of ϑ_1 holds a vector along e. In the centred chart the slot of ϑ_0 holds ϑ and those of the columns hold c
    and A; in the paper's chart, ϑ_1 = ϑ_0 + δe, they remain unchanged. The last entry is δ; it gets no gradient.
    """

    kind: str = "centred"

    @property
    def _size(self) -> int:
        """The number p of parameters."""
        raise NotImplementedError

    def _slots(self) -> tuple[Tensor, ...]:
        """Flat indices of ϑ_0, ϑ_1, a_0, a_1."""
        raise NotImplementedError

    def _check(self, phi: Tensor) -> None:
        if phi.shape[-1] != self._size + 1:
            raise ValueError(f"phi has shape {tuple(phi.shape)}; allowed: (..., {self._size + 1})")

    @checked
    def distance(self, theta: Float[Tensor, "*batch p"]) -> Float[Tensor, " *batch"]:
        """The distance ``δ = ‖ϑ_1 − ϑ_0‖`` of θ."""
        return self._distance(theta)

    def _distance(self, theta: Tensor) -> Tensor:
        if theta.shape[-1] != self._size:
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (..., {self._size})")
        first, second, _, _ = self._slots()
        return torch.linalg.vector_norm(theta[..., second] - theta[..., first], dim=-1)

    @checked
    def coordinates(self, theta: Float[Tensor, "*batch p"]) -> Float[Tensor, "*batch q"]:
        """φ (..., p + 1) of θ (..., p)."""
        require_finite(theta=theta)
        first, second, out_first, out_second = self._slots()
        delta = self._distance(theta)[..., None]
        if not (delta > 0).all():
            raise ValueError("the pair has distance 0; allowed: delta > 0, at 0 the direction is not defined")
        phi = theta.clone()
        phi[..., second] = (theta[..., second] - theta[..., first]) / delta
        if self.kind == "paper":
            return torch.cat([phi, delta], dim=-1)
        phi[..., first] = (theta[..., first] + theta[..., second]) / 2
        phi[..., out_first] = theta[..., out_first] + theta[..., out_second]
        phi[..., out_second] = delta * (theta[..., out_second] - theta[..., out_first]) / 2
        return torch.cat([phi, delta], dim=-1)

    @checked
    def weights(self, phi: Float[Tensor, "*batch q"]) -> Float[Tensor, "*batch p"]:
        """θ of φ, differentiable; δ counts as a constant."""
        self._check(phi)
        return self._weights(phi)

    def _weights(self, phi: Tensor) -> Tensor:
        first, second, out_first, out_second = self._slots()
        delta, phi = phi[..., -1:].detach(), phi[..., :-1]
        direction = phi[..., second]
        step = delta * direction / torch.linalg.vector_norm(direction, dim=-1, keepdim=True)
        theta = phi.clone()
        if self.kind == "paper":
            theta[..., second] = phi[..., first] + step
            return theta
        step, share, split = step / 2, phi[..., out_first] / 2, phi[..., out_second] / delta
        theta[..., first], theta[..., second] = phi[..., first] - step, phi[..., first] + step
        theta[..., out_first], theta[..., out_second] = share - split, share + split
        return theta

    def _pulled_gradient(self, phi: Tensor, slope: Tensor) -> Tensor:
        """∂L/∂φ at fixed δ of ∇L (..., p), Jᵀ∇L with J = ∂θ/∂φ."""
        return self._pulled(slope[..., None, :], phi[..., -1:, None], self._direction(phi)[1])[..., 0, :]

    def _pulled_hessian(self, phi: Tensor, slope: Tensor, H: Tensor) -> Tensor:
        """∂²L/∂φ² at fixed δ, Jᵀ∇²L J + ∇L·∂²θ/∂φ²; only e/‖e‖ is not linear in φ."""
        second, delta = self._slots()[1], phi[..., -1:, None]
        e, P, size = self._direction(phi)
        H = self._pulled(self._pulled(H, delta, P).mT, delta, P)
        G = self._by_direction(slope[..., None, :], delta).mT  # (..., n, 1)
        bent = P @ G * e.mT
        H[..., second[:, None], second] -= (bent + bent.mT + e.mT @ G * P) / size
        return H

    def _direction(self, phi: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The unit vector of e (..., n, 1), its derivative by e (..., n, n) and ‖e‖ (..., 1, 1)."""
        e = phi[..., self._slots()[1], None]
        size = torch.linalg.vector_norm(e, dim=-2, keepdim=True)
        e = e / size
        return e, (torch.eye(e.shape[-2]).to(e) - e * e.mT) / size, size

    def _by_direction(self, v: Tensor, delta: Tensor) -> Tensor:
        """The derivatives by the unit vector of e, (..., r, n), of those by θ."""
        first, second, _, _ = self._slots()
        return delta * v[..., second] if self.kind == "paper" else delta / 2 * (v[..., second] - v[..., first])

    def _pulled(self, v: Tensor, delta: Tensor, P: Tensor) -> Tensor:
        """Jᵀ times each row of v (..., r, p)."""
        first, second, out_first, out_second = self._slots()
        u = torch.nn.functional.pad(v, (0, 1))
        u[..., first], u[..., second] = v[..., first] + v[..., second], self._by_direction(v, delta) @ P
        if self.kind == "centred":
            u[..., out_first] = (v[..., out_first] + v[..., out_second]) / 2
            u[..., out_second] = (v[..., out_second] - v[..., out_first]) / delta
        return u

    @checked
    def unit(self, phi: Float[Tensor, "*batch q"]) -> Float[Tensor, "*batch q"]:
        """φ with ``‖e‖ = 1``; the weights remain unchanged."""
        self._check(phi)
        second = self._slots()[1]
        phi = phi.clone()
        phi[..., second] = torch.nn.functional.normalize(phi[..., second], dim=-1)
        return phi

    @checked
    def closer(self, phi: Float[Tensor, "*batch q"], delta: Float[Tensor, " *batch"]) -> Float[Tensor, "*batch q"]:
        """φ at distances ``delta`` (...), with the same ϑ (centred) or ϑ_0 (paper), direction and columns a_0, a_1."""
        self._check(phi)
        require_finite(delta=delta)
        if not (delta > 0).all():
            raise ValueError(f"delta = {delta.min().item()}; allowed: delta > 0")
        out_second = self._slots()[3]
        phi = phi.clone()
        if self.kind == "centred":
            phi[..., out_second] *= (delta / phi[..., -1])[..., None]
        phi[..., -1] = delta
        return phi


@dataclass(frozen=True)
class PairChart(Chart):
    """The coordinates of neurons 0 and 1 of a hidden layer.

    Examples
    --------
    >>> chart = PairChart(MLP((2, 3, 1), "tanh"), layer=1)
    >>> theta = chart.net.initial(4, seed=1)
    >>> bool(torch.allclose(chart.weights(chart.coordinates(theta)), theta))
    True
    """

    net: MLP
    layer: int
    kind: str = "centred"

    def __post_init__(self) -> None:
        if self.kind not in ("centred", "paper"):
            raise ValueError(f"kind = {self.kind!r}; allowed: 'centred', 'paper'")
        if not isinstance(self.net, MLP):
            raise TypeError(f"net = {short(self.net)}; allowed: an MLP")
        if type(self.layer) is not int:
            raise TypeError(f"layer = {short(self.layer)}; allowed: an integer")
        hidden = self.net.sizes[1:-1]
        if not 1 <= self.layer <= len(hidden):
            raise ValueError(f"layer = {self.layer}; allowed: a hidden layer, 1 <= layer <= {len(hidden)}")
        if hidden[self.layer - 1] < 2:
            raise ValueError(f"layer {self.layer} has one neuron; allowed: at least two to merge")

    @property
    def _size(self) -> int:
        return self.net.size

    def _slots(self) -> tuple[Tensor, ...]:
        """Flat indices of ϑ_0, ϑ_1, a_0, a_1."""
        return _places(self.net, self.layer)

    @checked
    def bring_forward(
        self, theta: Float[Tensor, "*batch p"], first: Integer, second: Integer
    ) -> Float[Tensor, "*batch p"]:
        """θ with neurons ``first`` and ``second`` of the layer moved to places 0 and 1; the same network function."""
        if first == second:
            raise ValueError(f"neurons {first} and {second} are the same; allowed: two different neurons")
        theta = self.net.swap(theta, self.layer, 0, first)
        return self.net.swap(theta, self.layer, 1, first if second == 0 else second)


@cache
def _places(net: MLP, k: int) -> tuple[Tensor, ...]:
    return net._incoming(k, 0), net._incoming(k, 1), net._outgoing(k, 0), net._outgoing(k, 1)


@dataclass(frozen=True)
class ChartLoss:
    """A loss by the coordinates φ (..., p + 1) of a chart, with its derivatives at fixed δ by the chain rule.

    Examples
    --------
    >>> from lmc_helpers.permutation_points.hessian import gradient
    >>> chart = PairChart(MLP((2, 3, 1), "tanh"), layer=1)
    >>> phi = chart.coordinates(chart.net.initial(4, seed=1))
    >>> gradient(ChartLoss(lambda theta: theta.square().sum(dim=-1), chart), phi).shape
    torch.Size([4, 14])
    """

    loss: Loss
    chart: Chart

    def __call__(self, phi: Tensor) -> Tensor:
        """L (...)."""
        return self.loss(self.chart._weights(phi))

    def value_and_gradient(self, phi: Tensor) -> tuple[Tensor, Tensor]:
        """L (...) and ∂L/∂φ (..., p + 1)."""
        value, slope = _value_and_gradient(self.loss, self.chart._weights(phi))
        return value, self.chart._pulled_gradient(phi, slope)

    def gradient_and_hessian(self, phi: Tensor) -> tuple[Tensor, Tensor]:
        """∂L/∂φ (..., p + 1) and ∂²L/∂φ² (..., p + 1, p + 1)."""
        slope, H = _gradient_and_hessian(self.loss, self.chart._weights(phi))
        return self.chart._pulled_gradient(phi, slope), self.chart._pulled_hessian(phi, slope, H)


@checked
def reduce_pair(net: MLP, theta: Float[Tensor, "*batch p"], layer: Integer) -> tuple[MLP, Tensor]:
    """The network with neurons 0 and 1 of a layer replaced by one: their mean ϑ, the sum of their columns."""
    PairChart(net, layer)  # checks the layer
    layers = [(W.clone(), b.clone()) for W, b in net.split(theta)]
    (W, b), (V, bias) = layers[layer - 1], layers[layer]
    W = torch.cat([W[..., :2, :].mean(dim=-2, keepdim=True), W[..., 2:, :]], dim=-2)
    b = torch.cat([b[..., :2].mean(dim=-1, keepdim=True), b[..., 2:]], dim=-1)
    V = torch.cat([V[..., :2].sum(dim=-1, keepdim=True), V[..., 2:]], dim=-1)
    layers[layer - 1], layers[layer] = (W, b), (V, bias)
    sizes = (*net.sizes[:layer], net.sizes[layer] - 1, *net.sizes[layer + 1 :])
    small = MLP(sizes, net.activation)
    return small, small.join(layers)
