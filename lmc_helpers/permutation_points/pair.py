"""Permutation points: two neurons of a hidden layer with one parameter vector (Brea, Şimşek, Illing & Gerstner).

Let neurons 0 and 1 of layer k have ϑ_0 = ϑ − δe/2, ϑ_1 = ϑ + δe/2, ‖e‖ = 1, and outgoing columns a_0, a_1. With
c = a_0 + a_1 and A = δ(a_1 − a_0)/2 their contribution to layer k + 1 is

    c [g(s₋) + g(s₊)]/2 + A [g(s₊) − g(s₋)]/δ  →  c g(s) + A (e·z) g'(s)    as δ → 0,

where z is the input of the layer with a 1 appended, s = ϑ·z. In these centred coordinates the limit is regular, while
a_0, a_1 = c/2 ∓ A/δ diverge unless A = O(δ). At δ = 0 = A and a_0 = a_1 lies the permutation point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch

from lmc_helpers.permutation_points.mlp import ACTIVATIONS, MLP

__all__ = ["Pair", "embed", "equal_loss_exchange", "pair_matrices", "reduce_pair"]


@dataclass(frozen=True)
class Pair:
    """Coordinates φ = (θ with some slots replaced, δ) of neurons 0 and 1 of a hidden layer; (..., p + 1).

    The slot of ϑ_1 holds a vector along e. In the centred chart the slot of ϑ_0 holds ϑ and those of the columns hold c
    and A; in the paper's chart, ϑ_1 = ϑ_0 + δe, they stay what they are. The last entry is δ; it gets no gradient.

    Parameters
    ----------
    net : MLP
        the architecture.
    layer : int
        hidden layer k, 1 <= k < depth, with at least two neurons.
    chart : str
        ``"centred"`` or ``"paper"``.

    Raises
    ------
    ValueError
        if the layer is no hidden layer or has a single neuron, or the chart is unknown.

    Examples
    --------
    >>> pair = Pair(MLP((2, 3, 1), "tanh"), layer=1)
    >>> theta = pair.net.initial(4, seed=1)
    >>> bool(torch.allclose(pair.weights(pair.coordinates(theta)), theta))
    True
    """

    net: MLP
    layer: int
    chart: str = "centred"

    def __post_init__(self) -> None:
        if self.chart not in ("centred", "paper"):
            raise ValueError(f"chart = {self.chart!r}; allowed: 'centred', 'paper'")
        hidden = self.net.sizes[1:-1]
        if not 1 <= self.layer <= len(hidden):
            raise ValueError(f"layer = {self.layer}; allowed: a hidden layer, 1 <= layer <= {len(hidden)}")
        if hidden[self.layer - 1] < 2:
            raise ValueError(f"layer {self.layer} has one neuron; allowed: at least two to merge")

    def _slots(self) -> tuple[torch.Tensor, ...]:
        """Flat indices of ϑ_0, ϑ_1, a_0, a_1."""
        net, k = self.net, self.layer
        return net.incoming(k, 0), net.incoming(k, 1), net.outgoing(k, 0), net.outgoing(k, 1)

    def bring_forward(self, theta: torch.Tensor, first: int, second: int) -> torch.Tensor:
        """θ with neurons ``first`` and ``second`` of the layer moved to places 0 and 1; the same network function.

        Raises
        ------
        ValueError
            if both are the same neuron or one does not exist.
        """
        if first == second:
            raise ValueError(f"neurons {first} and {second} are the same; allowed: two different neurons")
        theta = self.net.swap(theta, self.layer, 0, first)
        return self.net.swap(theta, self.layer, 1, first if second == 0 else second)

    def distance(self, theta: torch.Tensor) -> torch.Tensor:
        """``δ = ‖ϑ_1 − ϑ_0‖``, shape (...)."""
        first, second, _, _ = self._slots()
        return torch.linalg.vector_norm(theta[..., second] - theta[..., first], dim=-1)

    def coordinates(self, theta: torch.Tensor) -> torch.Tensor:
        """φ (..., p + 1) of θ (..., p).

        Raises
        ------
        ValueError
            if δ = 0, where e is not defined.
        """
        first, second, out_first, out_second = self._slots()
        delta = self.distance(theta)[..., None]
        if not (delta > 0).all():
            raise ValueError("the pair has distance 0; allowed: delta > 0, at 0 the direction is not defined")
        phi = theta.clone()
        phi[..., second] = (theta[..., second] - theta[..., first]) / delta
        if self.chart == "paper":
            return torch.cat([phi, delta], dim=-1)
        phi[..., first] = (theta[..., first] + theta[..., second]) / 2
        phi[..., out_first] = theta[..., out_first] + theta[..., out_second]
        phi[..., out_second] = delta * (theta[..., out_second] - theta[..., out_first]) / 2
        return torch.cat([phi, delta], dim=-1)

    def weights(self, phi: torch.Tensor) -> torch.Tensor:
        """θ (..., p) of φ (..., p + 1), differentiable; δ counts as a constant."""
        first, second, out_first, out_second = self._slots()
        delta, phi = phi[..., -1:].detach(), phi[..., :-1]
        direction = phi[..., second]
        step = delta * direction / torch.linalg.vector_norm(direction, dim=-1, keepdim=True)
        theta = phi.clone()
        if self.chart == "paper":
            theta[..., second] = phi[..., first] + step
            return theta
        step, share, split = step / 2, phi[..., out_first] / 2, phi[..., out_second] / delta
        theta[..., first], theta[..., second] = phi[..., first] - step, phi[..., first] + step
        theta[..., out_first], theta[..., out_second] = share - split, share + split
        return theta

    def unit(self, phi: torch.Tensor) -> torch.Tensor:
        """φ with ``‖e‖ = 1``; the weights stay what they are."""
        second = self._slots()[1]
        phi = phi.clone()
        phi[..., second] = torch.nn.functional.normalize(phi[..., second], dim=-1)
        return phi

    def closer(self, phi: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
        """φ at distances ``delta`` (...), with the same ϑ (centred) or ϑ_0 (paper), direction and columns a_0, a_1.

        Raises
        ------
        ValueError
            if a distance is not positive.
        """
        if not (delta > 0).all():
            raise ValueError(f"delta = {delta.min().item()}; allowed: delta > 0")
        out_second = self._slots()[3]
        phi = phi.clone()
        if self.chart == "centred":
            phi[..., out_second] *= (delta / phi[..., -1])[..., None]
        phi[..., -1] = delta
        return phi


def reduce_pair(net: MLP, theta: torch.Tensor, layer: int) -> tuple[MLP, torch.Tensor]:
    """The network with neurons 0 and 1 of a layer replaced by one: their mean ϑ, the sum of their columns.

    Returns
    -------
    MLP, torch.Tensor
        the smaller architecture and its parameters (..., p').

    Examples
    --------
    >>> net = MLP((1, 3, 2), "tanh")
    >>> small, theta = reduce_pair(net, net.initial(1, seed=1)[0], layer=1)
    >>> small.sizes, theta.shape
    ((1, 2, 2), torch.Size([10]))
    """
    Pair(net, layer)
    layers = [(W.clone(), b.clone()) for W, b in net.split(theta)]
    (W, b), (V, bias) = layers[layer - 1], layers[layer]
    W = torch.cat([W[..., :2, :].mean(dim=-2, keepdim=True), W[..., 2:, :]], dim=-2)
    b = torch.cat([b[..., :2].mean(dim=-1, keepdim=True), b[..., 2:]], dim=-1)
    V = torch.cat([V[..., :2].sum(dim=-1, keepdim=True), V[..., 2:]], dim=-1)
    layers[layer - 1], layers[layer] = (W, b), (V, bias)
    sizes = (*net.sizes[:layer], net.sizes[layer] - 1, *net.sizes[layer + 1 :])
    small = MLP(sizes, net.activation)
    return small, small.join(layers)


def embed(
    small: MLP, theta: torch.Tensor, layer: int, neuron: int, first: torch.Tensor | None = None
) -> tuple[MLP, torch.Tensor]:
    """The network with one neuron twice, in places 0 and 1; the same function.

    Parameters
    ----------
    small : MLP
        the smaller architecture.
    theta : torch.Tensor
        its parameters (..., p').
    layer, neuron : int
        which neuron is doubled.
    first : torch.Tensor, optional
        outgoing column (..., n_{k+1}) of the copy in place 0; the other gets the rest. Default: half each, the
        permutation point.

    Returns
    -------
    MLP, torch.Tensor
        the larger architecture and its parameters (..., p).

    Raises
    ------
    ValueError
        if the layer or the neuron does not exist.

    Examples
    --------
    >>> small = MLP((2, 2, 1), "tanh")
    >>> theta, x = small.initial(1, seed=1)[0], torch.ones(3, 2, dtype=torch.float64)
    >>> net, doubled = embed(small, theta, layer=1, neuron=1)
    >>> bool(torch.allclose(net.forward(doubled, x), small.forward(theta, x)))
    True
    """
    theta = small.swap(theta, layer, 0, neuron)
    layers = [(W.clone(), b.clone()) for W, b in small.split(theta)]
    (W, b), (V, bias) = layers[layer - 1], layers[layer]
    c = V[..., 0]
    a = c / 2 if first is None else first
    W = torch.cat([W[..., :1, :], W], dim=-2)
    b = torch.cat([b[..., :1], b], dim=-1)
    V = torch.cat([a[..., None], (c - a)[..., None], V[..., 1:]], dim=-1)
    layers[layer - 1], layers[layer] = (W, b), (V, bias)
    net = MLP((*small.sizes[:layer], small.sizes[layer] + 1, *small.sizes[layer + 1 :]), small.activation)
    return net, net.join(layers)


def pair_matrices(
    small: MLP, theta: torch.Tensor, layer: int, neuron: int, x: torch.Tensor, output_loss: Callable
) -> tuple[torch.Tensor, torch.Tensor]:
    """J and D, which decide the type of the permutation points where ``neuron`` of the smaller network is doubled.

    With r_μ the derivative of L by the input of layer k + 1 on sample μ, z_μ the input of layer k with a 1 appended,
    s_μ = ϑ·z_μ and c the outgoing column: J = Σ_μ r_μ z_μᵀ g'(s_μ) and D = Σ_μ (r_μ·c) g''(s_μ) z_μ z_μᵀ.

    Parameters
    ----------
    small : MLP
        the smaller architecture.
    theta : torch.Tensor
        (p',), one network.
    layer, neuron : int
        the doubled neuron.
    x : torch.Tensor
        inputs (T, n_0).
    output_loss : callable
        outputs (T, n_d) to L.

    Returns
    -------
    torch.Tensor, torch.Tensor
        J (n_{k+1}, n_{k−1} + 1), D (n_{k−1} + 1, n_{k−1} + 1).

    Raises
    ------
    ValueError
        if the activation has no second derivative, or the layer or the neuron does not exist.

    Examples
    --------
    A network that fits its targets has neither:

    >>> small, x = MLP((1, 2, 1), "tanh"), torch.ones(5, 1, dtype=torch.float64)
    >>> theta = small.initial(1, seed=1)[0]
    >>> y = small.forward(theta, x)
    >>> J, D = pair_matrices(small, theta, 1, 0, x, lambda f: (f - y).square().mean())
    >>> float(J.abs().max()), float(D.abs().max())
    (0.0, 0.0)
    """
    if small.activation == "relu":
        smooth = ", ".join(sorted(set(ACTIVATIONS) - {"relu"}))
        raise ValueError(f"activation 'relu' has no second derivative; allowed: {smooth}")
    if not 1 <= layer < small.depth or not 0 <= neuron < small.sizes[layer]:
        raise ValueError(f"layer {layer} has no neuron {neuron} to double; allowed: neurons of hidden layers")
    layers = small.split(theta.detach())
    below = x if layer == 1 else small.hidden(theta.detach(), x, layer - 1)
    W, b = layers[layer - 1]
    z = torch.cat([below, below.new_ones(len(below), 1)], dim=1)  # (T, n_{k−1} + 1)
    s = (z @ torch.cat([W[neuron], b[neuron : neuron + 1]])).requires_grad_()  # (T,)
    g = ACTIVATIONS[small.activation]
    (first,) = torch.autograd.grad(g(s).sum(), s, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), s)
    V, bias = layers[layer]
    signal = (g(below @ W.T + b) @ V.T + bias).detach().requires_grad_()  # input of layer k + 1, (T, n_{k+1})
    out = signal
    for W_next, b_next in layers[layer + 1 :]:
        out = g(out) @ W_next.T + b_next
    (r,) = torch.autograd.grad(output_loss(out), signal)
    J = (r * first.detach()[:, None]).T @ z
    D = z.T @ (((r @ V[:, neuron]) * second.detach())[:, None] * z)
    return J, (D + D.T) / 2


def equal_loss_exchange(net: MLP, theta: torch.Tensor, layer: int, other: int, points: int = 20) -> torch.Tensor:
    """The six steps of section 4.2 (ii): from a permutation point of neurons 0 and 1 to one of 0 and ``other``.

    Neurons 0 and 1 share one parameter vector. (1) The column of 1 goes to 0; (2) ϑ_1 moves to ϑ_other; (3) the
    column of ``other`` goes to 1; (4, 5) ϑ_other moves to 0 and on to ϑ_0; (6) neurons 0 and ``other`` share the
    column of 0 equally. The function never changes. In the end neuron 1 stands where ``other`` stood.

    Parameters
    ----------
    net : MLP
        the architecture.
    theta : torch.Tensor
        (p,), with ϑ_0 = ϑ_1 in this layer.
    layer, other : int
        the layer and the third neuron, other >= 2.
    points : int
        points of each step, at least 2.

    Returns
    -------
    torch.Tensor
        (6 points, p), a piecewise straight path.

    Raises
    ------
    ValueError
        if ϑ_0 and ϑ_1 differ, ``other`` < 2, or points < 2.

    Examples
    --------
    >>> small = MLP((1, 2, 1), "tanh")
    >>> net, theta = embed(small, small.initial(1, seed=1)[0], layer=1, neuron=0)
    >>> path = equal_loss_exchange(net, theta, layer=1, other=2)
    >>> x = torch.linspace(-1, 1, 5, dtype=torch.float64)[:, None]
    >>> bool((net.forward(path, x) - net.forward(theta, x)).abs().max() < 1e-14)
    True
    """
    pair = Pair(net, layer)
    if not 2 <= other < net.sizes[layer]:
        raise ValueError(f"other = {other}; allowed: a third neuron, 2 <= other < {net.sizes[layer]}")
    if points < 2:
        raise ValueError(f"points = {points}; allowed: points >= 2")
    if pair.distance(theta) > 0:
        raise ValueError(f"neurons 0 and 1 are {pair.distance(theta).item():.3g} apart; allowed: a permutation point")
    rows = [net.incoming(layer, i) for i in (0, 1, other)]
    columns = [net.outgoing(layer, i) for i in (0, 1, other)]
    corners = [theta]

    def go(**slots: tuple[torch.Tensor, torch.Tensor]) -> None:
        there = corners[-1].clone()
        for index, value in slots.values():
            there[index] = value
        corners.append(there)

    zero = torch.zeros_like(theta[columns[0]])
    go(a=(columns[0], theta[columns[0]] + theta[columns[1]]), b=(columns[1], zero))
    go(a=(rows[1], theta[rows[2]]))
    go(a=(columns[1], theta[columns[2]]), b=(columns[2], zero))
    go(a=(rows[2], torch.zeros_like(theta[rows[2]])))
    go(a=(rows[2], theta[rows[0]]))
    half = corners[-1][columns[0]] / 2
    go(a=(columns[0], half), b=(columns[2], half))
    t = torch.linspace(0, 1, points, dtype=theta.dtype)[:, None]
    return torch.cat([a + t * (b - a) for a, b in pairwise(corners)])
