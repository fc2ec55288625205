"""How networks descend, as data: the optimiser, its rate from epoch to epoch, and what is done to the examples.

The recipes of the papers, on cross-entropy:

- Zhan et al. (App. B.1): ``Descent(epochs, batch=100, optimiser="sgd", rate=0.05)``;
- Bürgin et al., F.1: ``Descent(100, batch, optimiser="adamw", rate=1e-3, weight_decay=1e-2)``;
- F.2 and F.3: the rate warmed up, ``schedule="warm-up"``, to 10⁻², ``augment=("flip", "crop")``;
- G.4: ``Descent(200, batch=128, optimiser="adamw", schedule="cosine", …)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from lmc_helpers import expect

__all__ = ["AUGMENTATIONS", "OPTIMISERS", "SCHEDULES", "Descent"]

#: Optimisers by name, those of torch.optim.
OPTIMISERS = ("sgd", "adam", "adamw")

#: Schedules of the rate, from epoch to epoch.
SCHEDULES = ("constant", "warm-up", "cosine")

#: Changes of the training images, drawn anew in every epoch.
AUGMENTATIONS = ("flip", "crop")


@dataclass(frozen=True)
class Descent:
    """How to train on cross-entropy.

    Parameters
    ----------
    epochs, batch : int
        passes through the data, examples a step; a last smaller batch is used.
    optimiser : str
        ``"sgd"``, ``"adam"`` or ``"adamw"`` of torch.optim, Adam with β = (0.9, 0.999) and ε = 10⁻⁸.
    rate : float
        step size, the largest one of its schedule.
    momentum : float
        of SGD, in [0, 1); 0 for the others.
    weight_decay : float
        adds weight_decay · W to the gradient; for AdamW it is decoupled, W ← (1 − rate · weight_decay) W.
    decay : str
        what decays: ``"all"`` trained tensors, or the ``"weights"`` of linear maps and convolutions
        (:meth:`~lmc_helpers.networks.model.Model.maps`) only. The W of F + D ⊙ W decays, not the sum.
    schedule : str
        ``"constant"``; ``"warm-up"``: geometric from ``start_rate`` to ``rate`` in ``warm_up`` epochs, then constant;
        ``"cosine"``: rate · (1 + cos(π · epoch / epochs)) / 2.
    warm_up : int
        epochs of the warm-up; 0 for the other schedules.
    start_rate : float
        the rate of the warm-up's first epoch; 0 for the other schedules.
    augment : tuple of str
        of ``"flip"``, left to right with probability 1/2, and ``"crop"``, a random part of the image's own size of the
        image padded with 4 black pixels on each side.

    Examples
    --------
    The warm-up of Bürgin et al., F.2, whose ratio of two epochs is γ = 1.259:

    >>> descent = Descent(100, 128, "adamw", 1e-2, weight_decay=1e-2, schedule="warm-up", warm_up=20, start_rate=1e-4)
    >>> round(descent.rate_in(1) / descent.rate_in(0), 3), descent.rate_in(20), descent.rate_in(99)
    (1.259, 0.01, 0.01)
    """

    epochs: int
    batch: int
    optimiser: str = "sgd"
    rate: float = 1e-2
    momentum: float = 0.0
    weight_decay: float = 0.0
    decay: str = "all"
    schedule: str = "constant"
    warm_up: int = 0
    start_rate: float = 0.0
    augment: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, least in (("epochs", 0), ("batch", 1), ("warm_up", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise ValueError(f"{name} = {getattr(self, name)!r}; allowed: an integer >= {least}")
        for name in ("rate", "momentum", "weight_decay", "start_rate"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise ValueError(f"{name} = {value!r}; allowed: a finite number")
            object.__setattr__(self, name, float(value))  # 1 and 1.0 are one recipe
        for name, allowed in (("optimiser", OPTIMISERS), ("decay", ("all", "weights")), ("schedule", SCHEDULES)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} = {getattr(self, name)!r} is unknown; allowed: {', '.join(allowed)}")
        if self.rate <= 0 or self.weight_decay < 0:
            raise ValueError(f"rate = {self.rate}, weight_decay = {self.weight_decay}; allowed: rate > 0, decay >= 0")
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
        known = isinstance(self.augment, tuple) and set(self.augment) <= set(AUGMENTATIONS)
        if not known or len(set(self.augment)) < len(self.augment):
            raise ValueError(f"augment = {self.augment!r}; allowed: a tuple of different ones of {AUGMENTATIONS}")
        object.__setattr__(self, "augment", tuple(sorted(self.augment)))  # their order does not matter

    def rate_in(self, epoch: int) -> float:
        """The rate of one epoch.

        Parameters
        ----------
        epoch : int
            0, …, epochs − 1.

        Returns
        -------
        float
            constant during the epoch.

        Examples
        --------
        >>> [round(Descent(4, 1, rate=1.0, schedule="cosine").rate_in(epoch), 3) for epoch in range(4)]
        [1.0, 0.854, 0.5, 0.146]
        """
        expect.integer(epoch, "epoch", least=0, most=self.epochs - 1)
        if self.schedule == "warm-up" and epoch < self.warm_up:
            return self.start_rate * (self.rate / self.start_rate) ** (epoch / self.warm_up)
        if self.schedule == "cosine":
            return self.rate * (1 + math.cos(math.pi * epoch / self.epochs)) / 2
        return self.rate
