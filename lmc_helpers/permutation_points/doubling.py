"""One neuron twice: permutation points, their plateau and their Hessian (Brea, Şimşek, Illing & Gerstner, section 4.2).

A neuron with parameter vector ϑ and outgoing column c is replaced by two with the same ϑ and columns a_0 + a_1 = c. The
function stays, so the loss is constant on this plateau of dimension n_{k+1}; at a_0 = a_1 = c/2 lies the permutation
point. With r_μ the derivative of the loss L by the input of layer k + 1 on sample μ, z_μ the input of layer k with a 1
appended and s_μ = ϑ·z_μ, let

    J = Σ_μ r_μ z_μᵀ g'(s_μ),        D = Σ_μ (r_μ·c) g''(s_μ) z_μ z_μᵀ.

Chapter 22 shows: the gradient on the plateau is a_0ᵀJ in ϑ_0 and a_1ᵀJ in ϑ_1, and over a critical point of the smaller
network the pair adds to the Hessian the inertia of ¼D and J in one block, ``(D/4, Jᵀ; J, 0)``, which is

    (ρ + ν₋, n_{k+1} − ρ + ν₀, ρ + ν₊),        ρ = rank J,    (ν₋, ν₀, ν₊) the inertia of D on the kernel of J.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Full, Integer, NonNegative, checked, require_finite
from lmc_helpers.permutation_points.hessian import Loss
from lmc_helpers.permutation_points.mlp import MLP, NONLINEARITIES, squared_loss
from lmc_helpers.permutation_points.pair import PairChart

__all__ = ["PermutationPoint", "double_neurons", "embed", "equal_loss_exchange", "pair_inertia"]


@dataclass(frozen=True, eq=False)
class PermutationPoint:
    """A permutation point of the squared loss, with the smaller network that it doubles a neuron of."""

    small: MLP
    small_theta: Tensor  # (p',)
    layer: int
    neuron: int  # that is doubled
    net: MLP  # the larger network; the copies are in places 0 and 1 of the layer
    theta: Tensor  # (p,)
    loss: Loss  # θ (..., p) to L (...)
    J: Tensor  # (n_{k+1}, n_{k−1} + 1), of the doubled neuron
    D: Tensor  # (n_{k−1} + 1, n_{k−1} + 1)

    @property
    def column(self) -> Tensor:
        """The outgoing column c of the neuron before it was doubled, (n_{k+1},)."""
        return self.small.split(self.small_theta)[self.layer][0][:, self.neuron]

    @checked
    def small_loss(self, theta: Float[Tensor, "*batch p"]) -> Float[Tensor, " *batch"]:
        """The loss of the smaller network with other parameters."""
        if theta.dtype != self.theta.dtype:
            raise TypeError(f"theta has dtype {theta.dtype}; allowed: {self.theta.dtype}, as the point")
        return self.loss(embed(self.small, theta, self.layer, self.neuron)[1])

    @checked
    def shared(self, first: Float[Tensor, " n"]) -> Float[Tensor, " p"]:
        """The point of the plateau with a_0 = ``first``, n = n_{k+1}, and a_1 = c − a_0."""
        return embed(self.small, self.small_theta, self.layer, self.neuron, first)[1]


@checked
def double_neurons(
    small: MLP, theta: Float[Tensor, " p"], x: Float[Tensor, "T n_0"], y: Float[Tensor, "T n_d"]
) -> list[PermutationPoint]:
    """Double each neuron of each hidden layer in turn; the loss is 1/(2T) Σ_μ ‖f(x_μ) − y_μ‖²."""
    require_finite(theta=theta, x=x, y=y)

    def of_output(f: Tensor) -> Tensor:
        return (f - y).square().sum() / (2 * len(y))

    found = []
    for layer in range(1, small.depth):
        for neuron in range(small.sizes[layer]):
            J, D = _pair_matrices(small, theta, layer, neuron, x, of_output)
            net, doubled = embed(small, theta, layer, neuron)
            loss = squared_loss(net, x, y)
            found.append(PermutationPoint(small, theta, layer, neuron, net, doubled, loss, J, D))
    return found


@checked
def embed(
    small: MLP,
    theta: Float[Tensor, "*batch p"],
    layer: Integer,
    neuron: Integer,
    first: Float[Tensor, "*#batch n"] | None = None,
) -> tuple[MLP, Tensor]:
    """The network with one neuron twice, in places 0 and 1; the same function.

    The copy in place 0 has the outgoing column ``first``, the other one the rest; by default half each, the permutation
    point.
    """
    theta = small.swap(theta, layer, 0, neuron)
    layers = small.split(theta)
    c = layers[layer][0][..., 0]
    a = c / 2 if first is None else first
    if a.shape[-1] != c.shape[-1]:
        raise ValueError(f"first has shape {tuple(a.shape)}; allowed: (..., {c.shape[-1]}), a column")
    batch = torch.broadcast_shapes(a.shape[:-1], c.shape[:-1])
    layers = [(W.expand(*batch, -1, -1).clone(), b.expand(*batch, -1).clone()) for W, b in layers]
    (W, b), (V, bias) = layers[layer - 1], layers[layer]
    W = torch.cat([W[..., :1, :], W], dim=-2)
    b = torch.cat([b[..., :1], b], dim=-1)
    V = torch.cat([a.expand(*batch, -1)[..., None], (c - a)[..., None], V[..., 1:]], dim=-1)
    layers[layer - 1], layers[layer] = (W, b), (V, bias)
    net = MLP((*small.sizes[:layer], small.sizes[layer] + 1, *small.sizes[layer + 1 :]), small.activation)
    return net, net.join(layers)


def _pair_matrices(
    small: MLP, theta: Tensor, layer: int, neuron: int, x: Tensor, output_loss: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """J and D of one neuron of the smaller network; ``output_loss`` takes the outputs (T, n_d) to L."""
    if small.activation == "relu":
        smooth = ", ".join(sorted(set(NONLINEARITIES) - {"relu"}))
        raise ValueError(f"activation 'relu' has no second derivative; allowed: {smooth}")
    layers = small.split(theta.detach())
    below = x if layer == 1 else small.hidden(theta.detach(), x, layer - 1)
    W, b = layers[layer - 1]
    z = torch.cat([below, below.new_ones(len(below), 1)], dim=1)  # (T, n_{k−1} + 1)
    s = (z @ torch.cat([W[neuron], b[neuron : neuron + 1]])).requires_grad_()  # (T,)
    g = NONLINEARITIES[small.activation]
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


@checked
def pair_inertia(J: Full[Tensor, "m n"], D: Full[Tensor, "n n"], tol: NonNegative) -> tuple[int, int, int]:
    """Negative, zero and positive eigenvalues that a doubled neuron adds to the Hessian.

        (ρ + ν₋, n_{k+1} − ρ + ν₀, ρ + ν₊),        ρ = rank J,    (ν₋, ν₀, ν₊) the inertia of D on the kernel of J.

    Singular values of J up to ``tol`` and eigenvalues of D on its kernel up to ``tol`` · max abs(D) count as 0.

    Examples
    --------
    One output and D with two signs:

    >>> pair_inertia(torch.zeros(1, 2), torch.tensor([[0.0, 1.0], [1.0, 0.0]]), tol=1e-6)
    (1, 1, 1)
    """
    require_finite(J=J, D=D)
    _, s, V = torch.linalg.svd(J)
    rank = int((s > tol).sum())
    kernel = V[rank:].T  # (n_{k−1} + 1, n_{k−1} + 1 − ρ)
    values = torch.linalg.eigvalsh(kernel.T @ D @ kernel)
    flat = values.abs() <= tol * D.abs().max().clamp(min=torch.finfo(D.dtype).tiny)
    negative, zero = int(((values < 0) & ~flat).sum()), int(flat.sum())
    return rank + negative, len(J) - rank + zero, rank + len(values) - negative - zero


@checked
def equal_loss_exchange(
    net: MLP, theta: Float[Tensor, " p"], layer: Integer, other: Integer, points: Integer = 20
) -> Float[Tensor, "steps p"]:
    """The six steps of section 4.2 (ii): from a permutation point of neurons 0 and 1 to one of 0 and ``other``.

    Neurons 0 and 1 share one parameter vector. (1) The column of 1 goes to 0; (2) ϑ_1 moves to ϑ_other; (3) the column
    of ``other`` goes to 1; (4, 5) ϑ_other moves to 0 and on to ϑ_0; (6) neurons 0 and ``other`` share the column of 0
    equally. The function never changes. In the end neuron 1 is where ``other`` was. Each step has ``points`` points on
    a straight line.

    Examples
    --------
    >>> small = MLP((1, 2, 1), "tanh")
    >>> net, theta = embed(small, small.initial(1, seed=1)[0], layer=1, neuron=0)
    >>> path = equal_loss_exchange(net, theta, layer=1, other=2)
    >>> x = torch.linspace(-1, 1, 5, dtype=torch.float64)[:, None]
    >>> bool((net.forward(path, x) - net.forward(theta, x)).abs().max() < 1e-14)
    True
    """
    chart = PairChart(net, layer)
    require_finite(theta=theta)
    if not 2 <= other < net.sizes[layer]:
        raise ValueError(f"other = {other}; allowed: a third neuron, 2 <= other < {net.sizes[layer]}")
    if points < 2:
        raise ValueError(f"points = {points}; allowed: points >= 2")
    if chart.distance(theta) > 0:
        raise ValueError(f"neurons 0 and 1 are {chart.distance(theta).item():.3g} apart; allowed: a permutation point")
    rows = [net.incoming(layer, i) for i in (0, 1, other)]
    columns = [net.outgoing(layer, i) for i in (0, 1, other)]
    corners = [theta]

    def move_to(*slots: tuple[Tensor, Tensor]) -> None:
        there = corners[-1].clone()
        for index, value in slots:
            there[index] = value
        corners.append(there)

    zero = torch.zeros_like(theta[columns[0]])
    move_to((columns[0], theta[columns[0]] + theta[columns[1]]), (columns[1], zero))  # (1)
    move_to((rows[1], theta[rows[2]]))
    move_to((columns[1], theta[columns[2]]), (columns[2], zero))
    move_to((rows[2], torch.zeros_like(theta[rows[2]])))
    move_to((rows[2], theta[rows[0]]))
    half = corners[-1][columns[0]] / 2
    move_to((columns[0], half), (columns[2], half))  # (6)
    t = torch.linspace(0, 1, points, dtype=theta.dtype)[:, None]
    return torch.cat([a + t * (b - a) for a, b in pairwise(corners)])
