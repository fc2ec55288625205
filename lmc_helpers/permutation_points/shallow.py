"""Loss, gradient and Hessian of networks with one hidden layer in closed form, many networks in one batch.

With s = ϑ_i·z, z = (x, 1), residuals r = f(x) − y and features ∂f of the outputs,

    L = Σ_μ ‖r_μ‖²/(2T),    ∇L = Σ_μ ∂f_μᵀ r_μ/T,    ∇²L = Σ_μ ∂f_μᵀ ∂f_μ/T + Σ_μ r_μ·∂²f_μ/T,

and ∂²f has entries only within one neuron: a_i g''(s) z zᵀ and g'(s) z. This takes matrix products instead of p
backward passes (:mod:`~lmc_helpers.permutation_points.hessian`). The activation may be any smooth function, such as a
rounded ReLU, and the norms ‖ϑ_i‖ may be pinned, which costs nothing where g is positively homogeneous.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.permutation_points.mlp import MLP, NONLINEARITIES

__all__ = ["Shallow", "equal_norms", "rounded_relu"]


def rounded_relu(width: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """A smooth ReLU, g(s) = (s + √(s² + h²))/2, above max(s, 0) by at most h/2.

    Parameters
    ----------
    width : float
        h > 0.

    Returns
    -------
    callable
        g, elementwise.

    Examples
    --------
    >>> rounded_relu(2.0)(torch.tensor([0.0, 100.0]))
    tensor([  1.0000, 100.0100])
    """
    if not width > 0:
        raise ValueError(f"width = {width}; allowed: width > 0")

    def g(s: torch.Tensor) -> torch.Tensor:
        root = torch.sqrt(s.square() + width**2)
        return torch.where(s > 0, s + root, width**2 / (root + s.abs())) / 2  # free of cancellation for s < 0

    return g


def equal_norms(net: MLP, theta: torch.Tensor) -> torch.Tensor:
    """The same ReLU network with ‖ϑ_i‖ = 1 for all hidden neurons: ϑ_i/‖ϑ_i‖ and a_i ‖ϑ_i‖.

    Parameters
    ----------
    net : MLP
        one hidden layer.
    theta : torch.Tensor
        (..., p), ϑ_i not 0.

    Returns
    -------
    torch.Tensor
        (..., p).

    Examples
    --------
    >>> equal_norms(MLP((1, 1, 1), "relu"), torch.tensor([3.0, 4.0, 2.0, 7.0]))
    tensor([ 0.6000,  0.8000, 10.0000,  7.0000])
    """
    (W, b), (V, bias) = net.split(theta)
    size = torch.sqrt(W.square().sum(dim=-1) + b.square())  # (..., n)
    return net.join([(W / size[..., None], b / size), (V * size[..., None, :], bias)])


@dataclass(frozen=True)
class Shallow:
    """The squared loss of a network with one hidden layer, as :func:`~lmc_helpers.permutation_points.mlp.squared_loss`.

    Parameters
    ----------
    net : MLP
        sizes (n_0, n_1, n_2); its activation is used if ``g`` is not given.
    x, y : torch.Tensor
        inputs (T, n_0) and targets (T, n_2) of all networks, or (B, T, n_0) and (B, T, n_2), one set for each.
    g : callable, optional
        an activation that is twice differentiable.
    pin : float
        if positive, Σ_i (‖ϑ_i‖² − 1)² · pin/8 is added to the loss.

    Examples
    --------
    >>> net = MLP((1, 2, 1), "tanh")
    >>> problem = Shallow(net, torch.zeros(4, 1), torch.full((4, 1), 3.0))
    >>> problem.loss(torch.zeros(1, net.size)), problem.derivatives(torch.zeros(1, net.size))[0][0, -1]
    (tensor([4.5000]), tensor(-3.))
    """

    net: MLP
    x: torch.Tensor
    y: torch.Tensor
    g: Callable[[torch.Tensor], torch.Tensor] | None = None
    pin: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.net, MLP):
            raise ValueError(f"net = {self.net!r}; allowed: an MLP")
        if self.net.depth != 2:
            raise ValueError(f"the network has sizes {self.net.sizes}; allowed: one hidden layer")
        expect.tensor(self.x, "x", "... T n_0", finite=False)
        expect.tensor(self.y, "y", "... T n_2", finite=False)
        expect.same({"x": self.x, "y": self.y}, shape=False)
        if self.x.ndim > 3 or self.x.shape[-1] != self.net.sizes[0]:
            raise ValueError(f"x has shape {tuple(self.x.shape)}; allowed: (T, {self.net.sizes[0]}), or B of them")
        if self.y.shape[:-1] != self.x.shape[:-1] or self.y.shape[-1] != self.net.sizes[2]:
            raise ValueError(
                f"y has shape {tuple(self.y.shape)}; allowed: {(*self.x.shape[:-1], self.net.sizes[2])}, as x has"
            )
        if self.g is not None and not callable(self.g):
            raise ValueError(f"g = {self.g!r}; allowed: a function, or None for the network's activation")
        expect.number(self.pin, "pin", least=0)

    def select(self, rows: torch.Tensor) -> Shallow:
        """The problems of these rows of the batch."""
        expect.tensors({"rows": rows})
        if rows.ndim != 1 or rows.dtype != torch.long:
            raise ValueError(f"rows has shape {tuple(rows.shape)} and dtype {rows.dtype}; allowed: (b,) and torch.long")
        if self.x.ndim == 3 and rows.numel() and (rows.amin() < 0 or rows.amax() >= len(self.x)):
            raise ValueError(
                f"rows go from {rows.min().item()} to {rows.max().item()}; allowed: 0 to {len(self.x) - 1}, the batch"
            )
        if self.x.ndim == 2:
            return self
        return Shallow(self.net, self.x[rows], self.y[rows], self.g, self.pin)

    def output(self, theta: torch.Tensor) -> torch.Tensor:
        """f(x) (..., T, n_2) of θ (..., p)."""
        expect.tensor(theta, "theta", "... p", finite=False)
        expect.same({"theta": theta, "x": self.x}, shape=False)
        if self.x.ndim == 3 and (theta.ndim != 2 or len(self.x) not in (1, len(theta))):
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (B, p), B = {len(self.x)} sets of inputs")
        (W, b), (V, bias) = self.net.split(theta)
        g = self.g or NONLINEARITIES[self.net.activation]
        return (V @ g(W @ self.x.mT + b[..., None]) + bias[..., None]).mT

    def loss(self, theta: torch.Tensor) -> torch.Tensor:
        """L (...,) of θ (..., p)."""
        (W, b), _ = self.net.split(theta)
        loss = (self.output(theta) - self.y).square().sum(dim=(-2, -1)) / (2 * self.x.shape[-2])
        return loss + self.pin / 8 * self._excess(W, b).square().sum(dim=-1) if self.pin else loss

    def derivatives(self, theta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """∇L (B, p) and ∇²L (B, p, p) of θ (B, p)."""
        expect.tensor(theta, "theta", "... p", finite=False)
        expect.same({"theta": theta, "x": self.x}, shape=False)
        if theta.ndim != 2:
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (B, p)")
        if self.x.ndim == 3 and (theta.ndim != 2 or len(self.x) not in (1, len(theta))):
            raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (B, p), B = {len(self.x)} sets of inputs")
        (W, b), (V, bias) = self.net.split(theta)
        T, before, n, after = self.x.shape[-2], *self.net.sizes
        h, h1, h2 = self._activation(W @ self.x.mT + b[..., None])  # each (B, n, T)
        z = torch.cat([self.x, torch.ones_like(self.x[..., :1])], dim=-1)  # (…, T, n_0 + 1)
        r = V @ h + bias[..., None] - self.y.mT  # (B, n_2, T)
        slope = V[:, :, :, None] * h1[:, None]  # ∂f/∂s, (B, n_2, n, T)
        incoming = (slope[..., None] * (z if z.ndim == 2 else z[:, None, None])).transpose(2, 3)  # (B, n_2, T, n, m)
        first = torch.zeros(len(theta), after, T, self.net.size, dtype=theta.dtype, device=theta.device)
        places = [self.net.incoming(1, i) for i in range(n)]
        first[..., torch.cat(places)] = incoming.flatten(-2)
        for o in range(after):
            first[:, o, :, n * (before + 1) + o * n : n * (before + 1) + (o + 1) * n] = h.mT
            first[:, o, :, n * (before + 1) + after * n + o] = 1.0
        flat = first.flatten(1, 2)  # (B, n_2 T, p)
        gradient = (flat.mT @ r.flatten(1)[..., None])[..., 0] / T
        H = flat.mT @ flat / T
        bent = torch.einsum("bon,bot->bnt", V, r) * h2 / T  # Σ_o V_on r_o g''/T
        curved = torch.einsum("bnt,...ti,...tj->bnij" if z.ndim == 2 else "bnt,bti,btj->bnij", bent, z, z)
        mixed = torch.einsum("bot,bnt,ti->boni" if z.ndim == 2 else "bot,bnt,bti->boni", r, h1, z) / T
        for i, place in enumerate(places):
            H[:, place[:, None], place] += curved[:, i]
            out = self.net.outgoing(1, i)
            H[:, out[:, None], place] += mixed[:, :, i]
            H[:, place[:, None], out] += mixed[:, :, i].mT
        if self.pin:
            excess, size = self._excess(W, b), len(places[0])
            for i, place in enumerate(places):
                v, off = theta[:, place], excess[:, i, None]
                gradient[:, place] += self.pin / 2 * off * v
                identity = torch.eye(size, dtype=theta.dtype, device=theta.device)
                H[:, place[:, None], place] += self.pin * (off[..., None] / 2 * identity + v[:, :, None] * v[:, None])
        return gradient, H

    def hessian(self, theta: torch.Tensor) -> torch.Tensor:
        """∇²L (B, p, p) of θ (B, p)."""
        return self.derivatives(theta)[1]

    def _activation(self, s: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """g, g' and g'' by elementwise differentiation."""
        g = self.g or NONLINEARITIES[self.net.activation]
        with torch.enable_grad():
            s = s.detach().requires_grad_()
            h = g(s)
            (h1,) = torch.autograd.grad(h.sum(), s, create_graph=True)
            h2 = torch.autograd.grad(h1.sum(), s)[0] if h1.requires_grad else torch.zeros_like(s)
        return h.detach(), h1.detach(), h2

    @staticmethod
    def _excess(W: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return W.square().sum(dim=-1) + b.square() - 1
