"""Straight-through matching (Ainsworth, Hayase & Srinivasa 2023, Algorithm 2).

The loss halfway between a and π b is to be small, but a permutation π has no gradient. Free weights b̃ have one: they
are projected to the nearest permutation of b,

    π = argmin_π ‖b̃ − π b‖²      (weight matching, Algorithm 1),

the loss is taken at (a + π b)/2, and its gradient passes straight through the projection to b̃, as if π b were b̃. The
first projection, at b̃ = a, is weight matching of a and b.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.assignment import _start
from lmc_helpers.alignment.midpoint import Best, Loss, _interpolated, _midpoint_losses
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.networks.permutations import Permutations, Symmetry, permute_axes
from lmc_helpers.progress import progress

__all__ = ()  # what packages of ours lend each other


def straight_through(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    loss: Loss,
    steps: int = 100,
    rate: float = 1e-2,
    seed: int = 0,
    start: Permutations | None = None,
    step_loss: Callable[[Tensors, int], Tensor] | None = None,
) -> Best:
    """Permute b so that the loss halfway is small, by Adam on free weights that are projected to permutations of b.

    ``a`` and ``b`` are P pairs, name → (P, …). ``loss`` takes them to (P,) and judges the permutations; the gradient
    is that of ``step_loss`` of (parameters, step), for example of a batch, where it is given. ``start``, else the
    identity, is judged first, and the first projection begins there; ``seed`` is that of weight matching.
    """
    p = _start(a, b, symmetry, start)
    whole = {name: value.dtype for name, value in a.items() if not value.is_floating_point()}
    if whole:
        raise TypeError(f"parameters {whole}; allowed: floating point")
    best = Best(p, _midpoint_losses(a, b, symmetry, p, loss)[None])
    free = {name: value.detach().clone().requires_grad_() for name, value in a.items()}  # b̃
    adam = torch.optim.Adam(free.values(), lr=rate)
    for step in progress(range(steps + 1), "step"):
        p = weight_matching(free, b, symmetry, 1, seed, p).permutations
        best = best._seen(p, _midpoint_losses(a, b, symmetry, p, loss))
        if step < steps:
            projected = permute_axes(b, symmetry.groups, p)
            through = {name: projected[name] + (value - value.detach()) for name, value in free.items()}
            middle = _interpolated(a, through)
            adam.zero_grad()
            (loss(middle) if step_loss is None else step_loss(middle, step)).sum().backward()
            adam.step()
    return best
