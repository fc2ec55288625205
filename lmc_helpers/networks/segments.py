"""Losses and accuracies along the straight lines between networks of any architecture, in batches that fit in memory.

A point λ on the line of a pair (a, b) is a network of its own, λ a + (1 − λ) b; pairs and points are stacked and
evaluated at once. λ = 1 is a, as in :mod:`lmc_helpers.barrier`. The lines are those between effective weights,
F + D ⊙ W; running statistics are interpolated like weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from lmc_helpers._typing import Reals, checked
from lmc_helpers.barrier import check_lambdas
from lmc_helpers.networks.model import Model, Stack

__all__ = ["Line", "along_segments", "scores"]

_ACTIVATION = {"cpu": 2**21, "cuda": 2**28}  # numbers in the largest activation of one batch: 8 MiB, and 1 GiB
_PARAMETERS = {"cpu": 2**21, "cuda": 2**30}  # numbers in the networks that are evaluated at once: 8 MiB, 4 GiB
_EXAMPLES = 64  # a batch has at least about as many, if the networks that share it can be fewer


@dataclass(frozen=True)
class Line:
    """Losses and accuracies (P, L) at the places of the lines of P pairs."""

    loss: Tensor
    accuracy: Tensor


@checked
def scores(stack: Stack, x: Float[Tensor, "*shape"], y: Int64[Tensor, "*N n"]) -> Line:
    """Mean cross-entropy and accuracy (N, 1) of each network on some examples, float64.

    ``x``: inputs (n, …) of all networks, or (N, n, …). ``y``: labels (n,) or (N, n).
    """
    params = stack.effective()
    x, y = _examples(stack, x, y)
    loss, right = _sums(stack.model, params, x, y)
    if not loss.isfinite().all():
        raise ValueError(f"losses of the networks {loss.tolist()}; allowed: networks with finite losses")
    return Line(loss[:, None] / x.shape[1], right[:, None] / x.shape[1])


@checked
def along_segments(a: Stack, b: Stack, x: Float[Tensor, "*shape"], y: Int64[Tensor, "*P n"], lambdas: Reals) -> Line:
    """Mean cross-entropy and accuracy (P, L) of λ a + (1 − λ) b for P pairs and L places λ, float64.

    ``a``, ``b``: P networks each; λ = 1 is a. ``x``: inputs (n, …) of all pairs, or (P, n, …). ``y``: labels (n,) or
    (P, n).

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> nets, pairs = MLP((1, 2, 2)).initial([1, 2, 3]), torch.tensor([[0, 1], [0, 2], [1, 2]])
    >>> a, b = (nets.ordinary(pairs[:, end]) for end in (0, 1))
    >>> line = along_segments(a, b, torch.ones(4, 1), torch.tensor([0, 0, 1, 1]), [0, 0.5, 1])
    >>> line.loss.shape
    torch.Size([3, 3])
    """
    if a.model != b.model or len(a) != len(b):
        raise ValueError(
            f"the ends are {len(a)} networks {a.model} and {len(b)} networks {b.model}; allowed: equal architectures "
            "and numbers"
        )
    model, ends = a.model, (a.effective(), b.effective())
    x, y = _examples(a, x, y)
    places = check_lambdas(lambdas).to(x)
    P, L, n = len(a), len(places), x.shape[1]
    found = x.new_zeros(2, P * L, dtype=torch.float64)
    params: dict[str, Tensor] = {}
    for chosen in torch.arange(P * L, device=x.device).split(_at_once(model, x.device)):
        pair, lam = chosen // L, places[chosen % L]
        first, last = int(chosen[0]) // L, int(chosen[-1]) // L
        of = slice(first, first + 1) if first == last else pair  # no copies of the ends of one pair
        if len(params.get(next(iter(ends[0])), ())) != len(chosen):
            params = {name: u.new_empty(len(chosen), *u.shape[1:]) for name, u in ends[0].items()}
        with torch.no_grad():  # into the same memory again: new memory costs about as much as a layer
            for name, value in params.items():
                _between(ends[0][name][of], ends[1][name][of], lam, out=value)
        inputs, labels = (v[pair] if len(v) > 1 else v for v in (x, y))
        found[:, chosen] = torch.stack(_sums(model, params, inputs, labels))
    loss, accuracy = found.view(2, P, L) / n
    if not loss.isfinite().all():
        raise ValueError("a loss on a line is not finite; allowed: networks with finite losses")
    return Line(loss, accuracy)


def _between(u: Tensor, v: Tensor, lam: Tensor, out: Tensor | None = None) -> Tensor:
    """λ u + (1 − λ) v for stacks (Q, …), or one for all, and places (Q,)."""
    return torch.lerp(v, u, lam.view(-1, *[1] * (u.ndim - 1)), out=out)  # exactly v at λ = 0 and u at λ = 1


def _sums(model: Model, params: dict[str, Tensor], x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Sums of the losses and numbers of right answers of each network, (N,) each, float64; x (1 or N, n, …)."""
    N = len(next(iter(params.values())))
    loss, right = x.new_zeros(2, N, dtype=torch.float64)
    with torch.no_grad():
        batch = max(1, _ACTIVATION[_kind(x.device)] // (N * model.widest()))
        for inputs, labels in zip(x.split(batch, dim=1), y.split(batch, dim=1), strict=True):
            outputs = model._outputs(params, inputs)  # (N, B, classes)
            labels = labels.expand(N, -1)
            each = cross_entropy(outputs.flatten(0, 1), labels.flatten(), reduction="none").view_as(labels)
            loss += each.sum(dim=1, dtype=torch.float64)
            right += (outputs.argmax(dim=-1) == labels).sum(dim=1)
    return loss, right


def _at_once(model: Model, device: torch.device) -> int:
    """Number of networks that are evaluated at once."""
    kind = _kind(device)
    return max(1, min(_PARAMETERS[kind] // model.parameters(), _ACTIVATION[kind] // (_EXAMPLES * model.widest())))


def _check_classes(classes: int) -> None:
    """Raise for regression networks: the cross-entropy of a single class is 0 whatever they compute."""
    if classes < 2:
        raise ValueError(f"networks with {classes} output; allowed: two classes or more, for the cross-entropy")


def _kind(device: torch.device) -> str:
    return "cpu" if device.type == "cpu" else "cuda"


def _examples(stack: Stack, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Inputs (1 or N, n, …), of the networks' type and on their device, and labels (1 or N, n), or an error."""
    N, classes = len(stack), stack.model.classes
    _check_classes(classes)
    x = stack.model._batched(x.to(next(iter(stack.params.values()))), N)
    y = (y[None] if y.ndim == 1 else y).to(x.device)
    if y.ndim != 2 or len(y) not in (1, N) or y.shape[1] != x.shape[1] or not y.numel():
        raise ValueError(
            f"labels have shape {tuple(y.shape)} for inputs {tuple(x.shape)}; allowed: (n,) for all networks or "
            f"({N}, n), n >= 1"
        )
    if y.min() < 0 or y.max() >= classes:
        raise ValueError(f"labels {y.min()} to {y.max()}; allowed: integers 0 to {classes - 1}")
    return x, y
