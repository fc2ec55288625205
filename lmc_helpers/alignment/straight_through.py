"""Straight-through matching (Ainsworth, Hayase & Srinivasa 2023, Algorithm 2).

The loss half-way between a and π b is to be small, but a permutation π has no gradient. Free weights b̃ have one: they
are projected to the nearest permutation of b,

    π = argmin_π ‖b̃ − π b‖²      (weight matching, Algorithm 1),

the loss is taken at (a + π b)/2, and its gradient passes straight through the projection to b̃, as if π b were b̃. The
first projection, at b̃ = a, is weight matching of a and b.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from lmc_helpers._typing import Natural, PositiveNumber, Seed, Tensors, checked
from lmc_helpers.alignment.assignment import _start
from lmc_helpers.alignment.midpoint import Best, Loss, _interpolated, _midpoint_losses
from lmc_helpers.alignment.weight_matching import _matched
from lmc_helpers.networks.permutations import Permutations, Symmetry, _permuted

__all__ = ["straight_through"]


@checked
def straight_through(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    loss: Loss,
    steps: Natural = 100,
    rate: PositiveNumber = 1e-2,
    seed: Seed = 0,
    start: Permutations | None = None,
    step_loss: Callable[[Tensors, int], Tensor] | None = None,
) -> Best:
    """Permute b so that the loss half-way is small, by descent on free weights that are projected to permutations of b.

    Parameters
    ----------
    a, b
        name → (P, …), P pairs.
    loss
        parameters name → (P, …) to losses (P,); it judges the permutations.
    steps, rate
        of Adam.
    seed
        of the orders of weight matching.
    start
        group → (P, m), judged first, and where the first projection begins; the identity if it is left out.
    step_loss
        (parameters, step) to losses (P,) whose gradient is followed, for example of a batch; ``loss`` if left out.

    Returns
    -------
    Best
        the permutations with the least loss half-way, among the start and those of every step.

    Examples
    --------
    >>> from lmc_helpers.alignment.midpoint import data_loss
    >>> from lmc_helpers.networks.mlp import MLP
    >>> model, x = MLP((2, 4, 3)), torch.randn(50, 2, generator=torch.Generator().manual_seed(1))
    >>> a = model.initial([1]).params
    >>> loss = data_loss(model, x, model.forward(a, x)[0].argmax(dim=1))
    >>> from lmc_helpers.networks.permutations import permute
    >>> b = permute(a, model.symmetry(), {"0": torch.tensor([[2, 0, 3, 1]])})
    >>> straight_through(a, b, model.symmetry(), loss, steps=2).permutations["0"].tolist()
    [[1, 3, 0, 2]]
    """
    p = _start(a, b, symmetry, start)
    whole = {name: value.dtype for name, value in a.items() if not value.is_floating_point()}
    if whole:
        raise TypeError(f"parameters {whole}; allowed: floating point")
    best = Best(p, _midpoint_losses(a, b, symmetry, p, loss)[None])
    free = {name: value.detach().clone().requires_grad_() for name, value in a.items()}  # b̃
    adam = torch.optim.Adam(free.values(), lr=rate)
    for step in range(steps + 1):
        p = _matched(free, b, symmetry, 1, seed, p, 100).permutations
        best = best._seen(p, _midpoint_losses(a, b, symmetry, p, loss))
        if step < steps:
            projected = _permuted(b, symmetry.groups, p)
            through = {name: projected[name] + (value - value.detach()) for name, value in free.items()}
            middle = _interpolated(a, through)
            adam.zero_grad()
            (loss(middle) if step_loss is None else step_loss(middle, step)).sum().backward()
            adam.step()
    return best
