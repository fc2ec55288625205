"""Losses and accuracies along the straight lines between trained networks, all pairs and all places in batches.

A place λ on the line of a pair (a, b) is a network of its own, λ a + (1 − λ) b, so that many of them are stacked and
evaluated at once, like the networks of an ensemble (:mod:`lmc_helpers.networks.stacked_mlp`). λ = 1 is a, as in
:mod:`lmc_helpers.barrier`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.barrier import check_places
from lmc_helpers.networks.stacked_mlp import Networks, check_data

__all__ = ["Barriers", "Line", "along_lines", "barriers", "evaluate"]

CHUNK = 2**20  # numbers in the largest activation of one batch: a few MiB, which caches hold


@dataclass(frozen=True)
class Line:
    """Losses (P, L) at the places of the lines of P pairs, and accuracies (P, L), None for the mean square."""

    loss: torch.Tensor
    accuracy: torch.Tensor | None


def evaluate(networks: Networks, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Mean loss and accuracy of each network of a stack on some examples.

    Parameters
    ----------
    networks : Networks
        N of them.
    x, y : torch.Tensor
        examples as in :func:`~lmc_helpers.networks.stacked_mlp.check_data`.

    Returns
    -------
    (torch.Tensor, torch.Tensor or None)
        (N,) and (N,); no accuracy for the mean square.

    Examples
    --------
    >>> from lmc_helpers.networks.stacked_mlp import Architecture
    >>> nets = Architecture((1, 2, 2)).initial([1, 2])
    >>> loss, accuracy = evaluate(nets, torch.ones(4, 1), torch.tensor([0, 0, 1, 1]))
    >>> loss.shape, accuracy.tolist()
    (torch.Size([2]), [0.5, 0.5])
    """
    if not isinstance(networks, Networks):
        raise ValueError(f"networks is {type(networks).__name__}; allowed: Networks")
    expect.tensor(x, "x", finite=False)
    networks = networks.ordinary()
    net, some, N = networks.architecture, networks.params["0.weight"], len(networks)
    x, y = check_data(net, x.to(some), y, N)
    n, widest = x.shape[1], max(net.sizes)
    loss, right = some.new_zeros(N), torch.zeros(N, dtype=torch.long, device=some.device)
    with torch.no_grad():
        for part in torch.arange(n, device=x.device).split(max(1, CHUNK // (N * widest))):
            inputs, targets = (
                v[:, part].repeat_interleave(N // len(v), 0) if len(v) > 1 else v[:, part] for v in (x, y)
            )
            outputs = networks.forward(inputs)
            targets = targets.expand(N, *targets.shape[1:])
            loss += net.losses(outputs, targets) * (len(part) / n)
            if net.loss != "mse":
                right += (outputs.argmax(dim=-1) == targets).sum(dim=1)
    if not loss.isfinite().all():
        raise ValueError(f"losses of the networks {loss.tolist()}; allowed: networks with finite losses")
    return loss, None if net.loss == "mse" else right.double() / n


def along_lines(a: Networks, b: Networks, x: torch.Tensor, y: torch.Tensor, lambdas: Sequence[float]) -> Line:
    """Loss and accuracy of λ a + (1 − λ) b for P pairs and all λ.

    The lines are those between effective weights, F + D ⊙ W. Running statistics of batch norm are interpolated like
    parameters.

    Parameters
    ----------
    a, b : Networks
        P networks each; λ = 1 is a.
    x, y : torch.Tensor
        examples (n, …) of all pairs, or (P, n, …).
    lambdas : sequence of float
        places, in [0, 1].

    Returns
    -------
    Line
        losses and accuracies (P, L).

    Examples
    --------
    >>> from lmc_helpers.networks.stacked_mlp import Architecture
    >>> nets, pairs = Architecture((1, 2, 2)).initial([1, 2, 3]), torch.tensor([[0, 1], [0, 2], [1, 2]])
    >>> a, b = (nets.ordinary(pairs[:, end]) for end in (0, 1))
    >>> along_lines(a, b, torch.ones(4, 1), torch.tensor([0, 0, 1, 1]), [0, 0.5, 1]).loss.shape
    torch.Size([3, 3])
    """
    if not isinstance(a, Networks):
        raise ValueError(f"a is {type(a).__name__}; allowed: Networks")
    if not isinstance(b, Networks):
        raise ValueError(f"b is {type(b).__name__}; allowed: Networks")
    expect.tensor(x, "x", finite=False)
    if a.architecture != b.architecture or len(a) != len(b):
        raise ValueError(
            f"the ends are {len(a)} networks {a.architecture} and {len(b)} networks {b.architecture}; "
            "allowed: equal architectures and numbers"
        )
    a, b = a.ordinary(), b.ordinary()
    net, some = a.architecture, a.params["0.weight"]
    places = check_places(lambdas).to(some)
    P, L = len(a), len(places)
    x, y = check_data(net, x.to(some), y, P)
    losses, accuracies = [], []
    for pairs in torch.arange(P).split(max(1, CHUNK // (L * 64 * max(net.sizes)))):
        params, statistics = (
            {name: _between(u[name][pairs], v[name][pairs], places) for name in u}
            for u, v in ((a.params, b.params), (a.statistics, b.statistics))
        )
        inputs, targets = (v[pairs] if len(v) > 1 else v for v in (x, y))
        loss, accuracy = evaluate(Networks(net, params, statistics), inputs, targets)
        losses.append(loss)
        accuracies += [] if accuracy is None else [accuracy]
    return Line(torch.cat(losses).view(P, L), torch.cat(accuracies).view(P, L) if accuracies else None)


def _between(u: torch.Tensor, v: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """λ u + (1 − λ) v for stacks (p, …) and L places, (p L, …)."""
    weight = places.view(1, -1, *[1] * (u.ndim - 1))
    return (weight * u[:, None] + (1 - weight) * v[:, None]).flatten(0, 1)


@dataclass(frozen=True)
class Barriers:
    """Barriers of P lines, each (P,), under the names that say what they are measured against.

    ``middle_mean``: the middle above the mean of the ends; ``middle_worse``: the middle above the worse end;
    ``peak_chord``: the largest value above the chord over all λ; ``peak_worse``: the largest value above the worse end.
    """

    middle_mean: torch.Tensor
    middle_worse: torch.Tensor
    peak_chord: torch.Tensor
    peak_worse: torch.Tensor


def barriers(loss: torch.Tensor, lambdas: Sequence[float]) -> Barriers:
    """Barriers from losses along lines.

    Parameters
    ----------
    loss : torch.Tensor
        (P, L), at the places of :func:`along_lines`.
    lambdas : sequence of float
        the L places, with 0, ½ and 1 among them.

    Returns
    -------
    Barriers
        (P,) each.

    Examples
    --------
    >>> found = barriers(torch.tensor([[1.0, 4.0, 3.0]]), [0, 0.5, 1])
    >>> found.middle_mean.item(), found.middle_worse.item()
    (2.0, 1.0)
    """
    expect.tensor(loss, "loss", "... L")
    expect.array(lambdas, "lambdas", "L")
    if not loss.numel():
        raise ValueError(f"loss has shape {tuple(loss.shape)}; allowed: (P, L), P >= 1")
    places = [float(value) for value in lambdas]
    if loss.shape[-1] != len(places) or not {0.0, 0.5, 1.0} <= set(places):
        raise ValueError(f"losses {tuple(loss.shape)} at lambdas = {places}; allowed: one each, with 0, 0.5 and 1")
    at_b, middle, at_a = (loss[..., places.index(value)] for value in (0.0, 0.5, 1.0))
    weight = torch.tensor(places).to(loss)
    if weight.amin() < 0 or weight.amax() > 1:
        raise ValueError(f"lambdas = {places}; allowed: places in [0, 1]")
    chord = at_b[..., None] * (1 - weight) + at_a[..., None] * weight
    worse = torch.maximum(at_b, at_a)
    return Barriers(middle - (at_b + at_a) / 2, middle - worse, (loss - chord).amax(dim=-1), loss.amax(dim=-1) - worse)
