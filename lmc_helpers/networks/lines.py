"""Losses and accuracies along the straight lines between trained networks, all pairs and all places in batches.

A place on the line of a pair is a network of its own, so that many of them are stacked and evaluated at once, like the
networks of an ensemble (:mod:`lmc_helpers.networks.stacked_mlp`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers.networks.stacked_mlp import Architecture, Fixed, Tensors, check_data, check_fixed

__all__ = ["Barriers", "Line", "all_pairs", "along_lines", "barriers", "evaluate"]

CHUNK = 2**20  # numbers in the largest activation of one batch: a few MiB, which caches hold


@dataclass(frozen=True)
class Line:
    """Losses (P, L) at the places of the lines of P pairs, and accuracies (P, L), None for the mean square."""

    loss: torch.Tensor
    accuracy: torch.Tensor | None


def evaluate(
    architecture: Architecture,
    params: Tensors,
    statistics: Tensors,
    x: torch.Tensor,
    y: torch.Tensor,
    fixed: Fixed | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Mean loss and accuracy of each network of a stack on some examples.

    Parameters
    ----------
    architecture, params, statistics, fixed
        as in :meth:`~lmc_helpers.networks.stacked_mlp.Architecture.forward`.
    x, y : torch.Tensor
        examples as in :func:`~lmc_helpers.training.ensemble.train`.

    Returns
    -------
    (torch.Tensor, torch.Tensor or None)
        (N,) and (N,); no accuracy for the mean square.

    Raises
    ------
    ValueError
        if shapes do not fit.

    Examples
    --------
    >>> net = Architecture((1, 2, 2))
    >>> loss, accuracy = evaluate(net, net.initial([1, 2]), {}, torch.ones(4, 1), torch.tensor([0, 0, 1, 1]))
    >>> loss.shape, accuracy.tolist()
    (torch.Size([2]), [0.5, 0.5])
    """
    some = next(iter(params.values()))
    N = len(some)
    x, y = check_data(architecture, x.to(some), y, N)
    fixed = {k: tuple(part.to(some) for part in pair) for k, pair in (fixed or {}).items()}
    check_fixed(architecture, fixed, N)
    n, widest = x.shape[1], max(architecture.sizes)
    loss, right = torch.zeros_like(some[(slice(None),) + (0,) * (some.ndim - 1)]), 0
    with torch.no_grad():
        for part in torch.arange(n, device=x.device).split(max(1, CHUNK // (N * widest))):
            inputs, targets = (
                v[:, part].repeat_interleave(N // len(v), 0) if len(v) > 1 else v[:, part] for v in (x, y)
            )
            outputs = architecture.forward(params, statistics, inputs, fixed)
            targets = targets.expand(N, *targets.shape[1:])
            loss += architecture.losses(outputs, targets) * (len(part) / n)
            if architecture.loss != "mse":
                right = right + (outputs.argmax(dim=-1) == targets).sum(dim=1)
    return loss, None if architecture.loss == "mse" else right.double() / n


def all_pairs(N: int) -> torch.Tensor:
    """Indices (N(N − 1)/2, 2) of all pairs of N networks.

    Examples
    --------
    >>> all_pairs(3).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    return torch.combinations(torch.arange(N))


def along_lines(
    architecture: Architecture,
    a: tuple[Tensors, Tensors],
    b: tuple[Tensors, Tensors],
    x: torch.Tensor,
    y: torch.Tensor,
    lambdas: Sequence[float],
) -> Line:
    """Loss and accuracy of (1 − λ) a + λ b for P pairs and all λ.

    Running statistics of batch norm are interpolated like parameters.

    Parameters
    ----------
    architecture : Architecture
        of all networks.
    a, b : (dict, dict)
        P networks each, as :func:`~lmc_helpers.training.ensemble.pick` returns them; λ = 0 is a.
    x, y : torch.Tensor
        examples (n, …) of all pairs, or (P, n, …).
    lambdas : sequence of float
        places, in [0, 1].

    Returns
    -------
    Line
        losses and accuracies (P, L).

    Raises
    ------
    ValueError
        if the ends differ in shape or a λ lies outside [0, 1].

    Examples
    --------
    >>> net = Architecture((1, 2, 2))
    >>> from lmc_helpers.training.ensemble import Trained, pick
    >>> done = Trained(net.initial([1, 2, 3]), {}, torch.zeros(0, 3))
    >>> pairs = all_pairs(3)
    >>> a, b = (pick(net, done, pairs[:, end]) for end in (0, 1))
    >>> along_lines(net, a, b, torch.ones(4, 1), torch.tensor([0, 0, 1, 1]), [0, 0.5, 1]).loss.shape
    torch.Size([3, 3])
    """
    shapes = [{k: tuple(v.shape) for part in end for k, v in part.items()} for end in (a, b)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"the ends have shapes {shapes[0]} and {shapes[1]}; allowed: equal shapes")
    some = next(iter(a[0].values()))
    places = torch.as_tensor(lambdas, dtype=torch.float64)
    if places.ndim != 1 or not len(places) or not ((places >= 0) & (places <= 1)).all():
        raise ValueError(f"lambdas = {list(lambdas)}; allowed: one or more numbers in [0, 1]")
    places = places.to(some)
    P, L = len(some), len(places)
    x, y = check_data(architecture, x.to(some), y, P)
    found = []
    for pairs in torch.arange(P).split(max(1, CHUNK // (L * 64 * max(architecture.sizes)))):
        params, statistics = (
            {name: _between(u[name][pairs], v[name][pairs], places) for name in u} for u, v in zip(a, b, strict=True)
        )
        inputs, targets = (v[pairs] if len(v) > 1 else v for v in (x, y))
        found.append(evaluate(architecture, params, statistics, inputs, targets))
    loss = torch.cat([loss for loss, _ in found]).view(P, L)
    return Line(loss, None if found[0][1] is None else torch.cat([acc for _, acc in found]).view(P, L))


def _between(u: torch.Tensor, v: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
    """(1 − λ) u + λ v for stacks (p, …) and L places, (p L, …)."""
    weight = places.view(1, -1, *[1] * (u.ndim - 1))
    return ((1 - weight) * u[:, None] + weight * v[:, None]).flatten(0, 1)


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
        (P, L).
    lambdas : sequence of float
        the L places, with 0, ½ and 1 among them.

    Raises
    ------
    ValueError
        if 0, ½ or 1 is missing or the numbers of places differ.

    Examples
    --------
    >>> found = barriers(torch.tensor([[1.0, 4.0, 3.0]]), [0, 0.5, 1])
    >>> found.middle_mean.item(), found.middle_worse.item()
    (2.0, 1.0)
    """
    places = [float(value) for value in lambdas]
    if loss.shape[-1] != len(places) or not {0.0, 0.5, 1.0} <= set(places):
        raise ValueError(f"losses {tuple(loss.shape)} at lambdas = {places}; allowed: one each, with 0, 0.5 and 1")
    start, middle, end = (loss[..., places.index(value)] for value in (0.0, 0.5, 1.0))
    weight = torch.tensor(places).to(loss)
    chord = start[..., None] * (1 - weight) + end[..., None] * weight
    worse = torch.maximum(start, end)
    return Barriers(middle - (start + end) / 2, middle - worse, (loss - chord).amax(dim=-1), loss.amax(dim=-1) - worse)
