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

from lmc_helpers import expect
from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.assignment import check_ends
from lmc_helpers.alignment.midpoint import Best, Loss, interpolate, midpoint_losses
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.networks.permutations import Permutations, Symmetry, identity, permute

__all__ = ["straight_through"]


def straight_through(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    loss: Loss,
    steps: int = 100,
    rate: float = 1e-2,
    seed: int = 0,
    start: Permutations | None = None,
    step_loss: Callable[[Tensors, int], torch.Tensor] | None = None,
) -> Best:
    """Permute b so that the loss half-way is small, by descent on free weights that are projected to permutations of b.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …), P pairs.
    symmetry : Symmetry
        of one network.
    loss : callable
        parameters name → (P, …) to losses (P,); it judges the permutations.
    steps : int
        number of steps of Adam, at least 0.
    rate : float
        its learning rate, > 0.
    seed : int
        of the orders of weight matching.
    start : dict of torch.Tensor, optional
        group → (P, m), judged first, and where the first projection begins; the identity if it is left out.
    step_loss : callable, optional
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
    >>> b = permute(a, model.symmetry(), {"0": torch.tensor([[2, 0, 3, 1]])})
    >>> straight_through(a, b, model.symmetry(), loss, steps=2).permutations["0"].tolist()
    [[1, 3, 0, 2]]
    """
    expect.function(loss, "loss")
    expect.number(rate, "rate")
    if start is not None and not isinstance(start, dict):
        raise ValueError(f"start is {type(start).__name__}; allowed: None, or permutations by their groups")
    expect.tensors(start or {}, "start")
    if step_loss is not None and not callable(step_loss):
        raise ValueError(f"step_loss = {step_loss!r}; allowed: None, or a function")
    P = check_ends(a, b, symmetry)
    if type(steps) is not int or steps < 0 or not rate > 0:
        raise ValueError(f"steps = {steps!r} with rate = {rate!r}; allowed: an integer >= 0 and a rate > 0")
    p = identity(symmetry, P) | dict(start or {})
    p = {g: one.to(next(iter(a.values())).device) for g, one in p.items()}
    best = Best(p, midpoint_losses(a, b, symmetry, p, loss)[None])
    free = {name: value.detach().clone().requires_grad_() for name, value in a.items()}  # b̃
    adam = torch.optim.Adam(free.values(), lr=rate)
    for step in range(steps + 1):
        p = weight_matching(free, b, symmetry, seed=seed, start=p).permutations
        best = best.seen(p, midpoint_losses(a, b, symmetry, p, loss))
        if step < steps:
            projected = permute(b, symmetry, p)
            through = {name: projected[name] + (value - value.detach()) for name, value in free.items()}
            middle = interpolate(a, through)
            adam.zero_grad()
            (loss(middle) if step_loss is None else step_loss(middle, step)).sum().backward()
            adam.step()
    return best
