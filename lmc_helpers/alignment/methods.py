"""The matchers under one signature, by their names, so that a chapter compares them in one loop.

Each takes P pairs of ordinary networks a and b, examples x and y, and a seed, and gives group → p (P, m): a is aligned
with ``b.permuted(p)``. Some ignore the examples or the seed.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.alignment.midpoint import data_loss
from lmc_helpers.alignment.sinkhorn import sinkhorn_rebasin
from lmc_helpers.alignment.straight_through import straight_through
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import identity, random_permutations
from lmc_helpers.seeds import torch_generator

__all__ = ["METHODS", "Method"]

#: a, b (P networks each), inputs x (n, …), labels y (n,), seed → group → p (P, m).
Method = Callable[[Stack, Stack, torch.Tensor, torch.Tensor, int], dict[str, torch.Tensor]]


def _weights(restarts: int) -> Method:
    def match(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, seed: int) -> dict[str, torch.Tensor]:
        return weight_matching(a.params, b.params, a.model.symmetry(), restarts, seed).permutations

    return match


def _activations(objective: str) -> Method:
    def match(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, seed: int) -> dict[str, torch.Tensor]:
        return activation_matching(a, b, x, objective).permutations

    return match


def _straight_through(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, seed: int) -> dict[str, torch.Tensor]:
    loss = data_loss(a.model, x, y)
    return straight_through(a.params, b.params, a.model.symmetry(), loss, seed=seed).permutations


def _sinkhorn(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, seed: int) -> dict[str, torch.Tensor]:
    loss = data_loss(a.model, x, y)
    return sinkhorn_rebasin(a.params, b.params, a.model.symmetry(), loss, seed=seed).permutations


def _random(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, seed: int) -> dict[str, torch.Tensor]:
    return random_permutations(a.model.symmetry(), len(a), torch_generator(seed, "random permutations"))


#: Matchers by their names, the references "identity" and "random" first.
METHODS: dict[str, Method] = {
    "identity": lambda a, b, x, y, seed: identity(a.model.symmetry(), len(a)),
    "random": _random,
    "weights": _weights(restarts=1),
    "weights, 10 restarts": _weights(restarts=10),
    "activations": _activations("correlation"),
    "activations, as published": _activations("published"),
    "straight-through": _straight_through,
    "Sinkhorn": _sinkhorn,
}
