"""Exact products with the Hessian of a perceptron's squared loss, by hand (Pearlmutter's R-operator).

With h_0 = x, z_k = W_k h_{k−1} + b_k, h_k = g(z_k) the loss L = w Σ_μ ‖z_d − y‖² has the gradient

    e_d = 2w (z_d − y),   e_{k−1} = W_kᵀ e_k ∘ g'(z_{k−1}),   ∂L/∂W_k = e_k h_{k−1}ᵀ,   ∂L/∂b_k = e_k 1.

Its derivative along a direction (Ẇ, ḃ) is the product with the Hessian. Written out it takes two products with the
inputs, and a tenth of the time that differentiating the gradient's graph takes for small networks. Coordinates φ → θ
(a chart) are differentiated by torch; no input enters there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from lmc_helpers.permutation_points.mlp import MLP

__all__ = ["Local", "local_squared_loss", "output_derivatives", "through"]

Product = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True, eq=False)
class Local:
    """A loss near one point: its value, its gradient (p,), and v (p,) → Hv."""

    value: torch.Tensor
    gradient: torch.Tensor
    product: Product


def local_squared_loss(net: MLP, theta: torch.Tensor, x: torch.Tensor, y: torch.Tensor, weight: float) -> Local:
    """L = w Σ_μ ‖f(x_μ) − y_μ‖² at one network.

    Parameters
    ----------
    net : MLP
        the architecture, with tanh.
    theta : torch.Tensor
        (p,).
    x, y : torch.Tensor
        inputs (T, n_0) and targets (T, n_d).
    weight : float
        w.

    Returns
    -------
    Local
        value, gradient and products.

    Examples
    --------
    >>> net, x = MLP((1, 1, 1), "tanh"), torch.ones(1, 1, dtype=torch.float64)
    >>> at = local_squared_loss(net, torch.zeros(4, dtype=torch.float64), x, 3 * x, weight=0.5)
    >>> at.value.item(), at.gradient.tolist(), at.product(at.gradient).tolist()
    (4.5, [0.0, 0.0, 0.0, -3.0], [0.0, 0.0, 0.0, -3.0])
    """
    _check_tanh(net)
    if theta.ndim != 1 or y.shape != (len(x), net.sizes[-1]):
        raise ValueError(
            f"theta and y have shapes {tuple(theta.shape)} and {tuple(y.shape)}; allowed: (p,), "
            f"({len(x)}, {net.sizes[-1]})"
        )
    layers, h = net.split(theta), [x.mT]  # h_k (n_k, T)
    for W, b in layers[:-1]:
        h.append(torch.tanh(W @ h[-1] + b[:, None]))
    W, b = layers[-1]
    residual = W @ h[-1] + b[:, None] - y.mT
    slope = [1 - one.square() for one in h[1:]]  # g' = 1 − h², g'' = −2 h g'
    e, back = [2 * weight * residual], []  # e_k and W_kᵀ e_k, last first
    for (W, _), g1 in zip(layers[:0:-1], slope[::-1], strict=True):
        back.append(W.mT @ e[-1])
        e.append(back[-1] * g1)
    e, back = e[::-1], back[::-1]
    bend = [-2 * one * u for one, u in zip(h[1:], [b * g1 for b, g1 in zip(back, slope, strict=True)], strict=True)]

    def joined(of_weights: list[torch.Tensor], of_biases: list[torch.Tensor]) -> torch.Tensor:
        return torch.cat([part.flatten() for both in zip(of_weights, of_biases, strict=True) for part in both])

    gradient = joined([d @ one.mT for d, one in zip(e, h, strict=True)], [d.sum(1) for d in e])

    def product(v: torch.Tensor) -> torch.Tensor:
        along, dz = net.split(v), []
        dh: list[torch.Tensor] = []  # dz: derivatives of z_k, dh: of h_k, k >= 1
        for k, ((dW, db), (W, _)) in enumerate(zip(along, layers, strict=True)):
            dz.append(dW @ h[k] + db[:, None] + (W @ dh[k - 1] if k else 0))
            if k < len(slope):
                dh.append(dz[k] * slope[k])
        de = [2 * weight * dz[-1]]
        for k in range(len(slope) - 1, -1, -1):
            (W, _), (dW, _) = layers[k + 1], along[k + 1]
            de.append((dW.mT @ e[k + 1] + W.mT @ de[-1]) * slope[k] + bend[k] * dz[k])
        de = de[::-1]
        of_weights = [d @ one.mT for d, one in zip(de, h, strict=True)]
        of_weights = [G + e[k] @ dh[k - 1].mT if k else G for k, G in enumerate(of_weights)]
        return joined(of_weights, [d.sum(1) for d in de])

    return Local(weight * residual.square().sum(), gradient, product)


def output_derivatives(net: MLP, theta: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Derivatives of the outputs f(x_μ) by the first layer's biases and by the parameters of all later layers.

    With D_d = 1 and D_{k−1} = D_k W_k Diag(g'(z_{k−1})) they are D_1, and for layer k >= 2 D_k ⊗ h_{k−1} by W_k and D_k
    by b_k.

    Parameters
    ----------
    net : MLP
        the architecture, with tanh.
    theta : torch.Tensor
        (p,).
    x : torch.Tensor
        inputs (T, n_0).

    Returns
    -------
    torch.Tensor, torch.Tensor
        (T, n_d, n_1) and (T, n_d, q), in the order of θ.

    Examples
    --------
    f(x) = 3 tanh(x) + 1 at 0, by b_1 and by (W_2, b_2):

    >>> net, theta = MLP((1, 1, 1), "tanh"), torch.tensor([1.0, 0.0, 3.0, 1.0])
    >>> output_derivatives(net, theta, torch.zeros(1, 1))
    (tensor([[[3.]]]), tensor([[[0., 1.]]]))
    """
    _check_tanh(net)
    layers, h = net.split(theta), [x]  # h_k (T, n_k)
    for W, b in layers[:-1]:
        h.append(torch.tanh(h[-1] @ W.T + b))
    D, parts = torch.eye(net.sizes[-1]).to(theta).expand(len(x), -1, -1), []  # last layer first
    for k in range(net.depth - 1, 0, -1):
        parts += [D, (D[..., None] * h[k][:, None, None]).flatten(2)]
        D = (D @ layers[k][0]) * (1 - h[k].square())[:, None]
    return D, torch.cat(parts[::-1], dim=-1)


def _check_tanh(net: MLP) -> None:
    if net.activation != "tanh":
        raise ValueError(f"activation = {net.activation!r}; allowed: 'tanh'")


def through(chart: Callable[[torch.Tensor], torch.Tensor], phi: torch.Tensor, local: Callable) -> Local:
    """The loss as a function of coordinates: L(C(φ)), its gradient C'ᵀ∇L and products C'ᵀ H C' + ∇L · C''.

    Parameters
    ----------
    chart : callable
        C, φ (q,) to θ (p,), twice differentiable by torch.
    phi : torch.Tensor
        (q,).
    local : callable
        θ (p,) to a :class:`Local`.

    Returns
    -------
    Local
        in the coordinates.

    Examples
    --------
    L = θ and C = φ³:

    >>> linear = lambda theta: Local(theta.sum(), torch.ones_like(theta), torch.zeros_like)
    >>> at = through(lambda phi: phi**3, torch.tensor([2.0]), linear)
    >>> at.value.item(), at.gradient.item(), at.product(torch.tensor([1.0])).item()
    (8.0, 12.0, 12.0)
    """
    phi = phi.detach().requires_grad_()
    theta = chart(phi)
    at = local(theta.detach())
    u = at.gradient.detach().clone().requires_grad_()
    (pulled,) = torch.autograd.grad(theta, phi, u, create_graph=True)  # C'(φ)ᵀ u, linear in u

    def product(v: torch.Tensor) -> torch.Tensor:
        bent, pushed = torch.autograd.grad(pulled, (phi, u), v, retain_graph=True, materialize_grads=True)
        (back,) = torch.autograd.grad(theta, phi, at.product(pushed), retain_graph=True)
        return back + bent

    return Local(at.value, pulled.detach(), product)
