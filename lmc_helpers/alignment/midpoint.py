"""The loss of networks as a function of their parameters, and the search for permutations that make it small half-way.

Matchers that descend on the loss of the midpoint, (a + π b)/2, visit many permutations. :class:`Best` keeps for each
pair the first one with the least loss, so that what a search returns is never worse than where it began.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch.nn.functional import cross_entropy

from lmc_helpers import expect
from lmc_helpers._typing import Tensors
from lmc_helpers.networks.model import Model
from lmc_helpers.networks.permutations import Permutations, Symmetry, permute

__all__ = ["Best", "Loss", "data_loss", "interpolate", "midpoint_losses"]

#: Parameters name → (P, …) to the mean loss of each network, (P,), differentiable.
Loss = Callable[[Tensors], torch.Tensor]


def data_loss(model: Model, x: torch.Tensor, y: torch.Tensor) -> Loss:
    """Mean cross-entropy on given data, as a function of the parameters.

    Parameters
    ----------
    model : Model
        the architecture.
    x : torch.Tensor
        inputs (B, …).
    y : torch.Tensor
        labels (B,), torch.long.

    Returns
    -------
    callable
        parameters name → (P, …) to losses (P,).

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> model = MLP((2, 5, 3))
    >>> loss = data_loss(model, torch.ones(4, 2), torch.tensor([0, 1, 2, 0]))
    >>> loss({name: 0 * value for name, value in model.initial([1, 2]).params.items()}).exp().round(decimals=4)
    tensor([3., 3.])
    """
    if not isinstance(model, Model):
        raise ValueError(f"model is {type(model).__name__}; allowed: Model")
    expect.tensor(x, "x")
    expect.tensors({"y": y})
    if x.shape[1:] != model.input_shape:
        raise ValueError(f"x has shape {tuple(x.shape)}; allowed: (B, ...), inputs of shape {model.input_shape}")
    if y.dtype != torch.long:
        raise ValueError(f"{len(x)} inputs and labels of {y.dtype}; allowed: torch.long")
    if y.numel() and (y.amin() < 0 or y.amax() >= model.classes):
        raise ValueError(f"y holds {y.amin().item()} to {y.amax().item()}; allowed: 0 to {model.classes - 1}")
    if len(x) < 1 or y.shape != (len(x),):
        raise ValueError(f"{len(x)} inputs and labels of shape {tuple(y.shape)}; allowed: (B,) labels, B >= 1")

    def loss(params: Tensors) -> torch.Tensor:
        outputs = model.forward(params, x)  # (P, B, classes)
        return torch.stack([cross_entropy(one, y) for one in outputs])

    return loss


def interpolate(a: Tensors, b: Tensors, lam: float = 0.5) -> Tensors:
    """λ a + (1 − λ) b for each parameter.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …).
    lam : float
        1 is a.

    Returns
    -------
    dict of torch.Tensor
        name → (P, …).

    Examples
    --------
    >>> interpolate({"W": torch.tensor([4.0])}, {"W": torch.tensor([0.0])}, 0.75)["W"].item()
    3.0
    """
    if not isinstance(a, dict) or not a:
        raise ValueError(f"a = {a!r}; allowed: tensors by their names, one or more")
    expect.tensors(a, "a")
    if not isinstance(b, dict) or not b:
        raise ValueError(f"b = {b!r}; allowed: tensors by their names, one or more")
    expect.tensors(b, "b")
    expect.number(lam, "lam", least=0, most=1)
    return {name: lam * value + (1 - lam) * b[name] for name, value in a.items()}


def midpoint_losses(a: Tensors, b: Tensors, symmetry: Symmetry, permutations: Permutations, loss: Loss) -> torch.Tensor:
    """The loss half-way between a and the permuted b.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …).
    symmetry : Symmetry
        of one network.
    permutations : dict of torch.Tensor
        group → (P, m).
    loss : callable
        parameters to losses (P,).

    Returns
    -------
    torch.Tensor
        (P,), without gradient.

    Examples
    --------
    >>> from lmc_helpers.networks.permutations import Axis
    >>> symmetry = Symmetry({"h": (Axis("W", 0),)}, {"h": 2})
    >>> a, b = {"W": torch.tensor([[1.0, 0.0]])}, {"W": torch.tensor([[0.0, 1.0]])}
    >>> swap = {"h": torch.tensor([[1, 0]])}
    >>> midpoint_losses(a, b, symmetry, swap, lambda params: params["W"].square().sum(dim=1)).item()
    1.0
    """
    expect.function(loss, "loss")
    with torch.no_grad():
        losses = loss(interpolate(a, permute(b, symmetry, permutations)))
    if not torch.isfinite(losses).all():
        raise ValueError(f"losses half-way {losses.tolist()}; allowed: finite losses")
    return losses


@dataclass(frozen=True, eq=False)
class Best:
    """The best permutations that a search has seen, for P pairs.

    Parameters
    ----------
    permutations : dict of torch.Tensor
        group → (P, m): for each pair those with the least loss half-way, the first of equals.
    losses : torch.Tensor
        (steps, P): losses half-way at all permutations that were seen, in their order.
    """

    permutations: dict[str, torch.Tensor]
    losses: torch.Tensor

    def seen(self, permutations: Permutations, losses: torch.Tensor) -> Best:
        """With one more set of permutations.

        Parameters
        ----------
        permutations : dict of torch.Tensor
            group → (P, m).
        losses : torch.Tensor
            (P,), half-way.

        Returns
        -------
        Best
            of all that were seen.
        """
        expect.permutations(permutations, "permutations", self.permutations, every=True, entries=False)
        expect.tensor(losses, "losses", "P", finite=False)
        if losses.shape != self.losses.shape[1:]:
            raise ValueError(f"losses has shape {tuple(losses.shape)}; allowed: {tuple(self.losses.shape[1:])}")
        expect.same({"losses": losses, "those before": self.losses}, shape=False)
        better = losses < self.losses.min(dim=0).values  # False for NaN
        kept = {
            g: torch.where(better[:, None], permutations[g].to(better.device), p) for g, p in self.permutations.items()
        }
        return Best(kept, torch.cat([self.losses, losses[None]]))
