"""Neurons many times over, and targets that give a doubled neuron any curvature (Brea et al., sections 4.2 and 4.3).

A permutation point of order K repeats neurons of a smaller network, s_m copies of neuron m with K = Σ (s_m − 1), and
shares their outgoing columns equally. Chapter 22 shows that its Hessian has the inertia of the smaller network's and
s_m − 1 times the block of every neuron m (:func:`~lmc_helpers.permutation_points.doubling.pair_inertia`).

For one output the block is D, linear in the residuals. So residuals can be chosen that are orthogonal to all tangents
of the smaller network, which is then at a critical point, and that give D any value.
"""

from __future__ import annotations

import torch

from lmc_helpers.permutation_points.mlp import MLP, NONLINEARITIES

__all__ = ["replicate", "targets_with_curvature"]


def replicate(small: MLP, theta: torch.Tensor, layer: int, copies: tuple[int, ...]) -> tuple[MLP, torch.Tensor]:
    """The network with ``copies[m]`` neurons in place of neuron m of a layer, which share its column equally.

    Parameters
    ----------
    small : MLP
        the smaller architecture.
    theta : torch.Tensor
        its parameters (..., p').
    layer : int
        a hidden layer.
    copies : tuple of int
        (n_k,), each at least 1.

    Returns
    -------
    MLP, torch.Tensor
        the larger architecture and its parameters (..., p); the same function.

    Examples
    --------
    >>> small, x = MLP((1, 2, 1), "tanh"), torch.ones(1, 1, dtype=torch.float64)
    >>> theta = small.initial(1, seed=1)[0]
    >>> net, many = replicate(small, theta, layer=1, copies=(3, 1))
    >>> net.sizes, bool(torch.allclose(net.forward(many, x), small.forward(theta, x)))
    ((1, 4, 1), True)
    """
    if not 1 <= layer < small.depth:
        raise ValueError(f"layer = {layer} is no hidden layer; allowed: 1 <= layer < {small.depth}")
    if len(copies) != small.sizes[layer] or min(copies) < 1:
        raise ValueError(f"copies = {copies}; allowed: {small.sizes[layer]} numbers >= 1")
    count = torch.tensor(copies)
    neuron = torch.repeat_interleave(count)  # of each new neuron, the one that it repeats
    layers = list(small.split(theta))
    (W, b), (V, bias) = layers[layer - 1], layers[layer]
    layers[layer - 1] = W[..., neuron, :], b[..., neuron]
    layers[layer] = V[..., neuron] / count[neuron], bias
    net = MLP((*small.sizes[:layer], sum(copies), *small.sizes[layer + 1 :]), small.activation)
    return net, net.join(layers)


def targets_with_curvature(
    small: MLP, theta: torch.Tensor, neuron: int, x: torch.Tensor, D: torch.Tensor, size: float
) -> torch.Tensor:
    """Targets for which θ is critical and the doubled neuron has a prescribed D, up to a positive factor.

    For one output and one hidden layer the residuals r = f(x) − y must fulfil, with the loss Σ r²/(2T),

        Σ_μ r_μ ∂f(x_μ)/∂θ = 0    and    Σ_μ r_μ c g''(s_μ) z_μ z_μᵀ/T = D,

    a linear system; its shortest solution is scaled to the largest residual ``size``. For small residuals the Hessian
    of the smaller network is close to Σ ∂f ∂fᵀ/T, positive definite if the tangents are linearly independent.

    Parameters
    ----------
    small : MLP
        sizes (n_0, n_1, 1), with a smooth activation.
    theta : torch.Tensor
        (p,), float64.
    neuron : int
        the neuron that will be doubled.
    x : torch.Tensor
        inputs (T, n_0).
    D : torch.Tensor
        symmetric (n_0 + 1, n_0 + 1), not 0.
    size : float
        largest residual, positive.

    Returns
    -------
    torch.Tensor
        targets (T, 1).

    Examples
    --------
    >>> from lmc_helpers.permutation_points.doubling import double_neurons
    >>> small, x = MLP((1, 2, 1), "tanh"), torch.linspace(-3, 3, 40, dtype=torch.float64)[:, None]
    >>> theta = small.initial(1, seed=1, scale=2.0)[0]
    >>> y = targets_with_curvature(small, theta, 0, x, torch.diag(torch.tensor([1.0, -1.0])), size=0.01)
    >>> D = double_neurons(small, theta, x, y)[0].D
    >>> bool(torch.allclose(D / D[0, 0], torch.diag(torch.tensor([1.0, -1.0])).double()))
    True
    """
    side = small.sizes[0] + 1
    if small.depth != 2 or small.sizes[-1] != 1 or small.activation == "relu":
        raise ValueError(f"{small}; allowed: one hidden layer, one output and a smooth activation")
    if D.shape != (side, side) or not size > 0:
        raise ValueError(f"D has shape {tuple(D.shape)}, size = {size}; allowed: ({side}, {side}) and size > 0")
    f = small.forward(theta, x)[:, 0]  # (T,)
    tangents = torch.func.jacrev(lambda t: small.forward(t, x)[:, 0])(theta)  # (T, p)
    (W, b), (V, _) = small.split(theta)
    z = torch.cat([x, x.new_ones(len(x), 1)], dim=1)  # (T, n_0 + 1)
    g = NONLINEARITIES[small.activation]
    second = torch.func.vmap(torch.func.grad(torch.func.grad(g)))(z @ torch.cat([W[neuron], b[neuron : neuron + 1]]))
    upper = torch.triu_indices(side, side)
    bent = (V[0, neuron] * second)[:, None] * z[:, upper[0]] * z[:, upper[1]]  # (T, (n_0 + 1)(n_0 + 2)/2)
    system = torch.cat([tangents, bent], dim=1).T
    right = torch.cat([torch.zeros_like(theta), D[upper[0], upper[1]].to(theta)])
    residuals = torch.linalg.lstsq(system, right, driver="gelsd").solution
    if not torch.allclose(system @ residuals, right, atol=1e-6 * float(right.abs().max())):
        raise ValueError("the tangents and the entries of D depend on each other on these inputs; allowed: more inputs")
    return (f - residuals * (size / residuals.abs().max()))[:, None]
