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

import torch
from tqdm import tqdm

from lmc_helpers.permutation_points.hessian import Loss, gradient
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.pair import Pair

__all__ = ["MergePath", "descent", "merge_neurons", "newton"]

#: takes a loss of φ and starts φ (B, p + 1); returns φ, gradient norms (B,) and whether they converged (B,)
Minimiser = Callable[[Loss, torch.Tensor], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]


@dataclass(frozen=True)
class MergePath:
    """A path of decreasing distance, all pairs side by side; K steps, B pairs.

    Attributes
    ----------
    theta : torch.Tensor
        (K, B, p), the pair in places 0 and 1.
    delta, loss, gradient_norm : torch.Tensor
        (K, B); the gradient is that of the coordinates which the minimiser used, at fixed δ.
    converged : torch.Tensor
        (K, B), bool.
    outgoing : torch.Tensor
        (K, B, 2), norms of a_0 and a_1.
    """

    theta: torch.Tensor
    delta: torch.Tensor
    loss: torch.Tensor
    gradient_norm: torch.Tensor
    converged: torch.Tensor
    outgoing: torch.Tensor


def merge_neurons(
    loss: Loss,
    pair: Pair,
    theta: torch.Tensor,
    pairs: list[tuple[int, int]],
    factors: torch.Tensor,
    minimiser: Minimiser,
    progress: bool = False,
) -> MergePath:
    """Move each pair together: at every distance minimise the loss over all other parameters (section 4.1).

    Parameters
    ----------
    loss : callable
        θ (..., p) to (...).
    pair : Pair
        architecture and layer.
    theta : torch.Tensor
        start (p,), the same for all pairs, or (B, p), one for each.
    pairs : list of (int, int)
        neurons to merge; all go through the path as one batch.
    factors : torch.Tensor
        distances in units of the first one, (K,), positive.
    minimiser : callable
        takes a loss of φ and starts φ (B, p + 1), returns φ, gradient norms and whether they converged (B,);
        :func:`newton` and :func:`descent` make one.
    progress : bool
        show a bar.

    Returns
    -------
    MergePath
        K steps.

    Raises
    ------
    ValueError
        if the shapes differ, a pair is one neuron twice or does not exist, a factor is not positive, or the loss at a
        step is not finite.

    Examples
    --------
    >>> from lmc_helpers.permutation_points.mlp import MLP
    >>> net = MLP((1, 2, 1), "tanh")
    >>> x = torch.linspace(-2, 2, 40, dtype=torch.float64)[:, None]
    >>> theta = net.initial(1, seed=3)[0]
    >>> from lmc_helpers.permutation_points.mlp import squared_loss
    >>> loss = squared_loss(net, x, net.forward(theta, x))
    >>> path = merge_neurons(loss, Pair(net, 1), theta, [(0, 1)], torch.tensor([1.0, 0.9]), newton(200, 1e-10))
    >>> path.loss.shape, bool(path.loss[0] < 1e-20), bool(path.converged.all())
    (torch.Size([2, 1]), True, True)
    """
    if theta.shape not in {(pair.net.size,), (len(pairs), pair.net.size)}:
        raise ValueError(f"theta has shape {tuple(theta.shape)}; allowed: (p,) or (B, p) with B = {len(pairs)} pairs")
    starts = theta.expand(len(pairs), -1)
    if not (factors > 0).all():
        raise ValueError(f"factors hold {factors.min().item()}; allowed: positive distances")
    start = torch.stack([pair.bring_forward(t, *two) for t, two in zip(starts, pairs, strict=True)])  # (B, p)
    first = pair.distance(start)
    phi = pair.coordinates(start)

    def of_coordinates(phi: torch.Tensor) -> torch.Tensor:
        return loss(pair.weights(phi))

    steps = []
    for factor in tqdm(factors, disable=not progress, desc="merging", leave=False):
        phi = pair.closer(phi, factor * first)
        value = of_coordinates(phi)
        if not torch.isfinite(value).all():
            raise ValueError(
                f"the loss is {value[~torch.isfinite(value)][0].item()} on the path; allowed: finite values"
            )
        phi, norm, converged = minimiser(of_coordinates, phi)
        phi = pair.unit(phi)
        theta_now = pair.weights(phi)
        a = torch.stack([theta_now[:, pair.net.outgoing(pair.layer, i)].norm(dim=-1) for i in (0, 1)], dim=-1)
        steps.append((theta_now, phi[:, -1], loss(theta_now), norm, converged, a))
    return MergePath(*(torch.stack(column) for column in zip(*steps, strict=True)))


def newton(steps: int, tol: float) -> Minimiser:
    """Trust-region Newton method with a budget of ``steps`` at every distance; needs a smooth activation."""

    def minimiser(loss: Loss, phi: torch.Tensor):
        done = minimise(loss, phi, steps, tol, radius=0.1)
        return done.theta, done.gradient_norm, done.converged

    return minimiser


def descent(steps: int, rate: float, tol: float = 0.0) -> Minimiser:
    """Full-batch gradient descent with a budget of ``steps`` at every distance, as in the paper.

    Raises
    ------
    ValueError
        if the budget or the rate is not allowed.
    """
    if steps < 0 or not rate > 0:
        raise ValueError(f"steps = {steps}, rate = {rate}; allowed: steps >= 0 and rate > 0")

    def minimiser(loss: Loss, phi: torch.Tensor):
        for _ in range(steps):
            slope = gradient(loss, phi)
            if bool((slope.norm(dim=-1) <= tol).all()):
                break
            phi = phi - rate * slope
        norm = gradient(loss, phi).norm(dim=-1)
        return phi, norm, norm <= tol

    return minimiser
