"""Recipes of descent as data: the optimiser, its rate from epoch to epoch, and the augmentation of the examples.

The recipes of the papers, on cross-entropy:

- Zhan et al. (App. B.1): ``Descent(epochs, batch=100, optimiser="sgd", rate=0.05)``;
- Bürgin et al., F.1: ``Descent(100, batch, optimiser="adamw", rate=1e-3, weight_decay=1e-2)``;
- F.2 and F.3: the rate warmed up, ``schedule="warm-up"``, to 10⁻², ``augment=("flip", "crop")``;
- G.4: ``Descent(200, batch=128, optimiser="adamw", schedule="cosine", …)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from lmc_helpers._typing import Natural, NonNegative, Positive, PositiveNumber, checked

__all__ = ["Descent"]


@checked
@dataclass(frozen=True)
class Descent:
    """A recipe for training on cross-entropy.

    Parameters
    ----------
    epochs, batch
        passes through the data, examples a step; a last smaller batch is used.
    optimiser
        of torch.optim, Adam with β = (0.9, 0.999) and ε = 10⁻⁸.
    rate
        step size, the largest one of its schedule.
    momentum
        of SGD, in [0, 1); 0 for the others.
    weight_decay
        adds weight_decay · W to the gradient; for AdamW it is decoupled, W ← (1 − rate · weight_decay) W.
    decay
        what decays: all trained tensors, or the weights of linear maps and convolutions
        (:meth:`~lmc_helpers.networks.model.Model.maps`) only. The W of F + D ⊙ W decays, not the sum.
    schedule
        ``"warm-up"``: geometric from ``start_rate`` to ``rate`` in ``warm_up`` epochs, then constant; ``"cosine"``:
        rate · (1 + cos(π · epoch / epochs)) / 2.
    warm_up, start_rate
        epochs of the warm-up and the rate of its first one; 0 for the other schedules.
    augment
        of ``"flip"``, left to right with probability 1/2, and ``"crop"``, a random part of the image's own size of the
        image padded with 4 black pixels on each side.

    Examples
    --------
    The warm-up of Bürgin et al., F.2, whose ratio of two epochs is γ = 1.259:

    >>> descent = Descent(100, 128, "adamw", 1e-2, weight_decay=1e-2, schedule="warm-up", warm_up=20, start_rate=1e-4)
    >>> round(descent.rate_in(1) / descent.rate_in(0), 3), descent.rate_in(20), descent.rate_in(99)
    (1.259, 0.01, 0.01)
    """

    epochs: Natural
    batch: Positive
    optimiser: Literal["sgd", "adam", "adamw"] = "sgd"
    rate: PositiveNumber = 1e-2
    momentum: NonNegative = 0.0
    weight_decay: NonNegative = 0.0
    decay: Literal["all", "weights"] = "all"
    schedule: Literal["constant", "warm-up", "cosine"] = "constant"
    warm_up: Natural = 0
    start_rate: NonNegative = 0.0
    augment: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("rate", "momentum", "weight_decay", "start_rate"):
            object.__setattr__(self, name, float(getattr(self, name)))  # 1 and 1.0 are one recipe
        if not 0 <= self.momentum < 1 or (self.momentum and self.optimiser != "sgd"):
            raise ValueError(f"momentum = {self.momentum} of {self.optimiser}; allowed: in [0, 1) for sgd, 0 otherwise")
        if self.schedule == "warm-up":
            if not (self.warm_up and 0 < self.start_rate <= self.rate):
                raise ValueError(
                    f"warm_up = {self.warm_up} from start_rate = {self.start_rate}; allowed: at least 1 epoch, "
                    f"0 < start_rate <= rate = {self.rate}"
                )
        elif self.warm_up or self.start_rate:
            raise ValueError(
                f"warm_up = {self.warm_up}, start_rate = {self.start_rate} with the schedule {self.schedule!r}; "
                "allowed: 0, or the schedule 'warm-up'"
            )
        if sorted(set(self.augment) & {"flip", "crop"}) != sorted(self.augment):
            raise ValueError(f"augment = {self.augment!r}; allowed: a tuple of different ones of 'flip', 'crop'")
        object.__setattr__(self, "augment", tuple(sorted(self.augment)))  # their order does not matter

    def rate_in(self, epoch: int) -> float:
        """The rate of epoch 0, …, epochs − 1."""
        if self.schedule == "warm-up" and epoch < self.warm_up:
            return self.start_rate * (self.rate / self.start_rate) ** (epoch / self.warm_up)
        if self.schedule == "cosine":
            return self.rate * (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        return self.rate
