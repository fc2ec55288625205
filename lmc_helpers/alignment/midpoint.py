"""The loss of networks as a function of their parameters, and the search for permutations that make it small halfway.

Matchers that descend on the loss of the midpoint, (a + π b)/2, visit many permutations. :class:`Best` keeps for each
pair the first one with the least loss, hence a search never returns anything worse than its start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from lmc_helpers._typing import Tensors, returned
from lmc_helpers.networks.model import Model
from lmc_helpers.networks.permutations import Permutations, Symmetry, permute_axes

__all__ = ()  # what packages of ours lend each other

#: Parameters name → (P, …) to the mean loss of each network, (P,), differentiable.
Loss = Callable[[Tensors], Tensor]


def data_loss(model: Model, x: Tensor, y: Tensor) -> Loss:
    """Mean cross-entropy on data x (n, …) and y (n,), as a function of the parameters of P networks."""

    def loss(params: Tensors) -> Tensor:
        outputs = model._outputs(params, x[None])  # (P, B, classes)
        return torch.stack([cross_entropy(one, y) for one in outputs])

    return loss


def _interpolated(a: Tensors, b: Tensors, lam: float = 0.5) -> Tensors:
    """λ a + (1 − λ) b for each parameter."""
    return {name: lam * value + (1 - lam) * b[name] for name, value in a.items()}


def _midpoint_losses(a: Tensors, b: Tensors, symmetry: Symmetry, permutations: Permutations, loss: Loss) -> Tensor:
    """The loss halfway between a and the permuted b, (P,), without gradient."""
    with torch.no_grad():
        P = len(next(iter(a.values())))
        losses = returned("the loss", loss(_interpolated(a, permute_axes(b, symmetry.groups, permutations))), (P,))
    if not torch.isfinite(losses).all():
        raise ValueError(f"losses halfway {losses.tolist()}; allowed: finite losses")
    return losses


@dataclass(frozen=True, eq=False)
class Best:
    """The best permutations that a search has seen, for P pairs."""

    permutations: dict[str, Tensor]  # group → (P, m): those with the least loss halfway, the first of equals
    losses: Tensor  # (steps, P): losses halfway at all permutations that were seen, in their order

    def _seen(self, permutations: Permutations, losses: Tensor) -> Best:
        """The best including one more set of permutations, with their losses (P,) halfway."""
        better = losses < self.losses.min(dim=0).values  # False for NaN
        kept = {
            g: torch.where(better[:, None], permutations[g].to(better.device), p) for g, p in self.permutations.items()
        }
        return Best(kept, torch.cat([self.losses, losses[None]]))
