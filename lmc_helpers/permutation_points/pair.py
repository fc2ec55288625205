"""Coordinates in which two neurons of a hidden layer become one (Brea, Şimşek, Illing & Gerstner, section 4.1).

Let neurons 0 and 1 of layer k have ϑ_0 = ϑ − δe/2, ϑ_1 = ϑ + δe/2, ‖e‖ = 1, and outgoing columns a_0, a_1. With
c = a_0 + a_1 and A = δ(a_1 − a_0)/2 their contribution to layer k + 1 is

    c [g(s₋) + g(s₊)]/2 + A [g(s₊) − g(s₋)]/δ  →  c g(s) + A (e·z) g'(s)    as δ → 0,

where z is the input of the layer with a 1 appended, s = ϑ·z. In these centred coordinates the limit is regular, while
a_0, a_1 = c/2 ∓ A/δ diverge unless A = O(δ). At δ = 0 = A and a_0 = a_1 lies the permutation point.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.permutation_points.mlp import MLP

__all__ = ["PairChart", "reduce_pair"]


@dataclass(frozen=True)
class PairChart:
    """Coordinates φ = (θ with some slots replaced, δ) of neurons 0 and 1 of a hidden layer; (..., p + 1).

    The slot of ϑ_1 holds a vector along e. In the centred chart the slot of ϑ_0 holds ϑ and those of the columns hold c
    and A; in the paper's chart, ϑ_1 = ϑ_0 + δe, they stay what they are. The last entry is δ; it gets no gradient.

    Parameters
    ----------
    net : MLP
        the architecture.
    layer : int
        hidden layer k, 1 <= k < depth, with at least two neurons.
    kind : str
        ``"centred"`` or ``"paper"``.

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
            raise ValueError(f"net = {self.net!r}; allowed: an MLP")
        expect.integer(self.layer, "layer")
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

        Parameters
        ----------
        theta : torch.Tensor
            (..., p).
        first, second : int
            two different neurons of the layer.

        Returns
        -------
        torch.Tensor
            (..., p).
        """
        expect.integer(first, "first")
        expect.integer(second, "second")
        if first == second:
            raise ValueError(f"neurons {first} and {second} are the same; allowed: two different neurons")
        theta = self.net.swap(theta, self.layer, 0, first)
        return self.net.swap(theta, self.layer, 1, first if second == 0 else second)

    def distance(self, theta: torch.Tensor) -> torch.Tensor:
        """The distance ``δ = ‖ϑ_1 − ϑ_0‖`` (...) of θ (..., p)."""
        expect.tensor(theta, "theta", "... p", finite=False)
        if theta.shape[-1] != self.net.size:
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (..., {self.net.size})")
        first, second, _, _ = self._slots()
        return torch.linalg.vector_norm(theta[..., second] - theta[..., first], dim=-1)

    def coordinates(self, theta: torch.Tensor) -> torch.Tensor:
        """φ (..., p + 1) of θ (..., p).

        Parameters
        ----------
        theta : torch.Tensor
            (..., p), with δ > 0.

        Returns
        -------
        torch.Tensor
            (..., p + 1).
        """
        expect.tensor(theta, "theta", "... p")
        if theta.shape[-1] != self.net.size:
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (..., {self.net.size})")
        first, second, out_first, out_second = self._slots()
        delta = self.distance(theta)[..., None]
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

    def weights(self, phi: torch.Tensor) -> torch.Tensor:
        """θ (..., p) of φ (..., p + 1), differentiable; δ counts as a constant."""
        expect.tensor(phi, "phi", "... p", finite=False)
        if phi.shape[-1] != self.net.size + 1:
            raise ValueError(f"phi has shape {tuple(phi.shape)}; allowed: (..., {self.net.size + 1})")
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

    def unit(self, phi: torch.Tensor) -> torch.Tensor:
        """φ with ``‖e‖ = 1``; the weights stay what they are."""
        expect.tensor(phi, "phi", "... p", finite=False)
        if phi.shape[-1] != self.net.size + 1:
            raise ValueError(f"phi has shape {tuple(phi.shape)}; allowed: (..., {self.net.size + 1})")
        second = self._slots()[1]
        phi = phi.clone()
        phi[..., second] = torch.nn.functional.normalize(phi[..., second], dim=-1)
        return phi

    def closer(self, phi: torch.Tensor, delta: torch.Tensor) -> torch.Tensor:
        """φ at distances ``delta`` (...), with the same ϑ (centred) or ϑ_0 (paper), direction and columns a_0, a_1.

        Parameters
        ----------
        phi : torch.Tensor
            (..., p + 1).
        delta : torch.Tensor
            new distances (...), positive.

        Returns
        -------
        torch.Tensor
            (..., p + 1).
        """
        expect.tensor(phi, "phi", "... p", finite=False)
        if phi.shape[-1] != self.net.size + 1:
            raise ValueError(f"phi has shape {tuple(phi.shape)}; allowed: (..., {self.net.size + 1})")
        expect.tensor(delta, "delta")
        if not (delta > 0).all():
            raise ValueError(f"delta = {delta.min().item()}; allowed: delta > 0")
        expect.same({"phi": phi, "delta": delta}, shape=False)
        if delta.shape != phi.shape[:-1]:
            raise ValueError(
                f"delta has shape {tuple(delta.shape)}; allowed: {tuple(phi.shape[:-1])}, a distance for each phi"
            )
        out_second = self._slots()[3]
        phi = phi.clone()
        if self.kind == "centred":
            phi[..., out_second] *= (delta / phi[..., -1])[..., None]
        phi[..., -1] = delta
        return phi


def reduce_pair(net: MLP, theta: torch.Tensor, layer: int) -> tuple[MLP, torch.Tensor]:
    """The network with neurons 0 and 1 of a layer replaced by one: their mean ϑ, the sum of their columns.

    Parameters
    ----------
    net : MLP
        the architecture.
    theta : torch.Tensor
        (..., p).
    layer : int
        a hidden layer with at least two neurons.

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
