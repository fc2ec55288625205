"""Replicated neurons and minima near permutation points, for the chapter *permutation points*."""

from __future__ import annotations

import torch

from lmc_helpers.permutation_points import (
    MLP,
    NONLINEARITIES,
    Loss,
    PermutationPoint,
    double_neurons,
    inertia,
    minimise,
    reduce_pair,
    squared_loss,
)
from lmc_helpers.permutation_points.hessian import hessian


def replicate(small: MLP, theta: torch.Tensor, layer: int, copies: tuple[int, ...]) -> tuple[MLP, torch.Tensor]:
    """The network with ``copies[m]`` copies of neuron m of a layer, which share its outgoing column equally.

    A permutation point; the chapter shows that its Hessian has the inertia of the smaller network's and
    ``copies[m]`` − 1 times the block of every neuron m (:func:`~lmc_helpers.permutation_points.doubling.pair_inertia`).
    """
    count = torch.tensor(copies)
    neuron = torch.repeat_interleave(count)  # the original of each new neuron
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

    For one output the block of the doubled neuron is D, linear in the residuals. Residuals orthogonal to all tangents
    of the smaller network keep it critical and give D any value (Brea et al., sections 4.2 and 4.3).
    """
    side = small.sizes[0] + 1
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
    return (f - residuals * (size / residuals.abs().max()))[:, None]


def strict_minima(loss: Loss, starts: torch.Tensor, steps: int, tol: float, zero: float) -> torch.Tensor:
    """The strict local minima (n, p) at which trust-region Newton descents end, in the order of their starts."""
    done = minimise(loss, starts, steps, tol)
    kind = inertia(hessian(loss, done.theta), zero)
    return done.theta[done.converged & (kind.negative == 0) & (kind.zero == 0)]


def distinct(loss: Loss, theta: torch.Tensor) -> list[torch.Tensor]:
    """One of all minima (n, p) with the same loss up to 1e-9 of it, in their order."""
    kept: dict[str, torch.Tensor] = {}
    for one, value in zip(theta, loss(theta).tolist(), strict=True):
        kept.setdefault(f"{value:.8e}", one)
    return list(kept.values())


def descents(
    loss: Loss, theta: torch.Tensor, radius: float = 0.2, steps: int = 400, points: int = 10
) -> list[torch.Tensor]:
    """The ways (n, p) of Newton descents from each θ (B, p), steps of at most ``radius`` with points between them."""
    ways, t = [[one[None]] for one in theta], torch.linspace(1 / points, 1, points, dtype=theta.dtype)[:, None]
    going = list(range(len(theta)))
    for _ in range(steps):
        last = torch.stack([ways[k][-1][-1] for k in going])
        after = minimise(loss, last, 1, 1e-13, radius=radius).theta
        moved = (after != last).any(dim=1).tolist()
        for k, here, there, moves in zip(going, last, after, moved, strict=True):
            ways[k] += [here + t * (there - here)] * moves
        if not (going := [k for k, moves in zip(going, moved, strict=True) if moves]):
            break
    return [torch.cat(way) for way in ways]


def positive_outputs(net: MLP, theta: torch.Tensor) -> torch.Tensor:
    """The same shallow tanh network with one output, its output weights made positive by the signs of its neurons."""
    (W, b), (V, bias) = net.split(theta)
    sign = V[0].sign()
    return net.join([(W * sign[:, None], b * sign), (V * sign, bias)])


def half_turn(loss: Loss, net: MLP, theta: torch.Tensor, towards: torch.Tensor, points: int = 33) -> torch.Tensor:
    """A way (points, p) from θ to θ with neurons 0 and 1 of layer 1 exchanged.

    ϑ_1 − ϑ_0 makes half a turn at fixed length, in the plane of itself and ``towards``; all else starts on the half
    circle through both ends and is minimised.
    """
    first, second = net.incoming(1, 0), net.incoming(1, 1)
    step, unit = theta[second] - theta[first], torch.eye(len(theta), dtype=theta.dtype)
    across = towards - (towards @ step) / (step @ step) * step
    turn = (across * step.norm() / across.norm()) @ (unit[second] - unit[first]) / 2
    mirror, t = net.swap(theta, 1, 0, 1), torch.linspace(0, torch.pi, points, dtype=theta.dtype)[:, None]
    circle = (theta + mirror) / 2 + t.cos() * (theta - mirror) / 2 + t.sin() * turn
    basis = torch.linalg.svd(unit[second] - unit[first])[2]  # (p, p); the first len(step) rows span the differences

    def at_fixed_difference(y: torch.Tensor) -> torch.Tensor:
        return loss(torch.cat([y[..., : len(step)].detach(), y[..., len(step) :]], dim=-1) @ basis)

    return minimise(at_fixed_difference, circle @ basis.T, 60, 1e-9, radius=0.1).theta @ basis


def way_round(loss: Loss, net: MLP, theta: torch.Tensor, towards: torch.Tensor, between: int = 5) -> torch.Tensor:
    """The path θ (K, p), half a turn at its end, and its mirror image back, with points between those given."""
    back = net.swap(theta[:-1], 1, 0, 1).flip(0)
    way = torch.cat([theta[:-1], half_turn(loss, net, theta[-1], towards), back])
    t = torch.linspace(0, 1, between + 1, dtype=theta.dtype)[1:, None, None]
    return torch.cat([way[:1], (way[:-1] + t * (way[1:] - way[:-1])).transpose(0, 1).flatten(0, 1)])


def arrival(net: MLP, theta: torch.Tensor, x: torch.Tensor, y: torch.Tensor, steps: int) -> PermutationPoint:
    """The permutation point of neurons 0 and 1 of layer 1 near θ (p,), its smaller network minimised."""
    small, start = reduce_pair(net, theta[None], layer=1)
    done = minimise(squared_loss(small, x, y), start, steps, 1e-12, radius=0.1)
    return double_neurons(small, done.theta[0], x, y)[0]


def separated(H: torch.Tensor, low: float, high: float) -> torch.Tensor:
    """True where no absolute eigenvalue lies strictly between ``low`` and ``high`` times the largest one, (...).

    Then every tolerance in between counts the same zeros. Rounding moves a zero to about 1e-15 times the condition of
    the gradient; sloppy directions of a network can be of any size.
    """
    size = torch.linalg.eigvalsh(H).abs()  # (..., p)
    largest = size.amax(dim=-1, keepdim=True)
    return ((size <= low * largest) | (size >= high * largest)).all(dim=-1)
