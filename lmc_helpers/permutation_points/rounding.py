"""Minima of the piecewise smooth loss of a shallow ReLU network, through ReLUs that are rounded less and less.

At a minimum some inputs may lie on the kinks, where the loss has no gradient. The loss with the rounded ReLU of width h
(:func:`~lmc_helpers.permutation_points.shallow.rounded_relu`) is smooth, and its slope g' in [0, 1] is one of the
subgradients within h: a minimum for h → 0 is a point where 0 is a subgradient. Widths go down, each from the last
minimum, and the ReLU loss itself shows whether the limit has been reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch

from lmc_helpers import expect
from lmc_helpers.permutation_points.mlp import MLP, squared_loss
from lmc_helpers.permutation_points.newton import minimise
from lmc_helpers.permutation_points.shallow import Shallow, rounded_relu

__all__ = ["ReluMinima", "relu_minima"]


@dataclass(frozen=True)
class ReluMinima:
    """Where B descents through K widths ended.

    Attributes
    ----------
    theta : torch.Tensor
        (B, p), at the smallest width.
    losses : torch.Tensor
        (K, B), the loss with ReLU after each width.
    converged : torch.Tensor
        (B,), bool: whether the gradient at the smallest width vanished to the tolerance.
    """

    theta: torch.Tensor
    losses: torch.Tensor
    converged: torch.Tensor

    @property
    def loss(self) -> torch.Tensor:
        """The loss with ReLU at the end, (B,)."""
        return self.losses[-1]

    def settled(self, tol: float = 1e-3) -> torch.Tensor:
        """Whether the descent converged and its loss changed by less than ``tol`` at the last width, (B,)."""
        expect.number(tol, "tol", least=0)
        return self.converged & ((self.losses[-2] - self.losses[-1]).abs() <= tol * self.losses[-1])


def relu_minima(
    net: MLP,
    theta: torch.Tensor,
    x: torch.Tensor,
    y: torch.Tensor,
    widths: Sequence[float] = (0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4),
    steps: int = 300,
    tol: float = 1e-8,
) -> ReluMinima:
    """Minimise the squared loss of a network with one hidden layer of ReLUs, with ‖ϑ_i‖ = 1.

    Parameters
    ----------
    net : MLP
        one hidden layer.
    theta : torch.Tensor
        starts (B, p), float64.
    x, y : torch.Tensor
        inputs (T, n_0) and targets (T, n_2).
    widths : sequence of float
        widths h of the rounded ReLU, at least two, decreasing.
    steps : int
        budget of the second-order method at every width.
    tol : float
        norm of the gradient at which a descent has converged.

    Returns
    -------
    ReluMinima
        one column for each start.

    Examples
    --------
    A neuron that starts near its teacher, max(x + 0.5, 0), finds it:

    >>> net, x = MLP((1, 1, 1), "relu"), torch.linspace(-2, 2, 101, dtype=torch.float64)[:, None]
    >>> start = torch.tensor([[1.0, 0.3, 0.8, 0.1]], dtype=torch.float64)
    >>> found = relu_minima(net, start, x, (x + 0.5).clamp(min=0))
    >>> bool(found.loss < 1e-8), found.theta[0, 1] / found.theta[0, 0]
    (True, tensor(0.5000, dtype=torch.float64))
    """
    if len(widths) < 2 or any(after >= before for before, after in pairwise(widths)):
        raise ValueError(f"widths = {tuple(widths)}; allowed: at least two, decreasing")
    exact, losses = squared_loss(net, x, y), []
    for width in widths:
        smooth = Shallow(net, x, y, rounded_relu(width), pin=1.0)
        done = minimise(smooth.loss, theta, steps, tol, radius=0.1, second=smooth.hessian)
        theta = done.theta
        losses.append(exact(theta))
    return ReluMinima(theta, torch.stack(losses), done.converged)
