"""N networks of any architecture trained as one batched computation.

The sum of the N losses is differentiated and one optimiser of torch acts on the stacked tensors (N, …), entry by entry:
each network receives the update that it would get alone. What a network sees depends on its own seed: the order of the
examples on (seed, epoch), flips and crops too.

A network whose loss leaves all bounds has *diverged*: its parameters become NaN, hence it neither disturbs the others
nor recovers, and it is left out of the result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor
from torch.nn.functional import cross_entropy

from lmc_helpers._typing import Integers, NonNegative, Tensors, checked
from lmc_helpers.networks.model import Stack
from lmc_helpers.progress import progress
from lmc_helpers.training._checkpoints import digest, load_checkpoint, save_checkpoint
from lmc_helpers.training.description import described
from lmc_helpers.training.examples import Examples, Normal
from lmc_helpers.training.recipes import Descent

__all__ = ["BOUND", "PRECISIONS", "Fitted", "Precision", "fit"]

#: A network whose mean loss in an epoch exceeds this has diverged; guessing costs log(classes).
BOUND = 1e6

Precision = Literal["float32", "float64", "bfloat16"]

#: Precision → type of the parameters. With "bfloat16" products are computed in that type, by torch.autocast.
PRECISIONS = {"float32": torch.float32, "float64": torch.float64, "bfloat16": torch.float32}


class _AllDiverged(ValueError):
    """No network is left."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """Trained networks; those that diverged are left out of every stack and curve."""

    stack: Stack  # the N networks that did not diverge
    losses: Tensor  # (epochs, N), float64, means over the batches of an epoch, each before its step
    accuracies: Tensor
    #: epoch → the same N networks after that epoch; 0 is the beginning
    kept: dict[int, Stack] = field(default_factory=dict)
    survivors: tuple[int, ...] = ()  # their N places among the networks that were to be trained
    diverged: tuple[int, ...] = ()  # seeds of the networks that are left out
    seconds: float = 0.0  # wall time, of all sessions if there were checkpoints


@checked
def fit(
    stack: Stack,
    descent: Descent,
    x: Shaped[Tensor, "*shape"],
    y: Int64[Tensor, "*sets n"],
    seeds: Integers,
    *,
    normal: Normal | None = None,
    keep: Collection[int] = (),
    checkpoint: Path | str | None = None,
    every_s: NonNegative = 120,
    precision: Precision = "float32",
    show_progress: bool = False,
) -> Fitted:
    """Train N networks, all at once, on the device of ``x``.

    Parameters
    ----------
    stack
        where to start; it is not changed.
    x
        inputs (n, …) of all networks, with as many entries each as the model takes: floats as they are, or images
        (n, C, H, W), uint8, which are normalised batch by batch; or (G, n, …) with G a divisor of N, of which networks
        0 … N/G − 1 share the first set, and so on.
    y
        labels (n,) or (G, n).
    seeds
        one per network, of the order of its examples and of their flips and crops.
    normal
        mean and deviation of each channel, in units of 255, for images in uint8: (x/255 − mean) / deviation.
    keep
        epochs, from 0 (the beginning) to the last, after which copies of the networks are kept.
    checkpoint
        npz file. A run that finds it resumes from it and ends with the same numbers.
    every_s
        seconds from one checkpoint to the next; there is one at the end, too.
    precision
        of the parameters; ``"bfloat16"`` is that of products, with parameters in float32 (for GPUs; a CPU computes it
        too, slowly).

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> x, y, seeds = torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1]), [1, 2, 3]
    >>> descent = Descent(epochs=60, batch=2, optimiser="adam", rate=0.1)
    >>> done = fit(MLP((1, 4, 2)).initial(seeds), descent, x, y, seeds, keep=[0])
    >>> done.losses.shape, done.accuracies[-1].tolist(), list(done.kept), done.diverged
    (torch.Size([60, 3]), [1.0, 1.0, 1.0], [0], ())
    """
    if x.is_floating_point() and not x.isfinite().all():
        raise ValueError("x holds values that are not finite; allowed: finite inputs")
    seeds = [int(seed) for seed in seeds]
    examples = Examples(x, y, stack.model.input_shape, stack.model.classes, normal, PRECISIONS[precision])
    _check(stack, descent, examples, seeds, keep)
    run = {
        "model": described(stack.model),
        "descent": described(descent),
        "seeds": seeds,
        "keep": sorted(keep),
        "precision": precision,
        "normal": described(normal),
        "data": digest(x, y),
        "initial": digest(*stack.params.values()),
        "fixed": {name: digest(*pair) for name, pair in stack.fixed.items()},
    }
    state = _State(stack, descent, len(examples), x.device, precision)
    if checkpoint is not None and Path(checkpoint).exists():
        state.restore(load_checkpoint(checkpoint, run))
    elif 0 in keep:
        state.keep()

    saved = time.monotonic()

    def save() -> float:
        now = time.monotonic()
        state.seconds += now - saved
        if checkpoint is not None:
            save_checkpoint(checkpoint, run, state.tensors())
        return now

    for epoch in progress(range(state.epoch, descent.epochs), description="epochs", disable=not show_progress):
        state.set_rate(descent.rate_in(epoch))
        for inputs, labels in examples.batches(seeds, epoch, descent.batch, descent.augment, first=state.step):
            state.descend(inputs, labels)
            if time.monotonic() - saved >= every_s:
                saved = save()
        state.end_epoch(seeds)
        if state.epoch in keep:
            state.keep()
    save()
    return state.result(seeds)


def _check(stack: Stack, descent: Descent, examples: Examples, seeds: list[int], keep: Collection[int]) -> None:
    if len(seeds) != len(stack):
        raise ValueError(f"{len(seeds)} seeds of {len(stack)} networks; allowed: one each")
    if not set(keep) <= set(range(descent.epochs + 1)):
        raise ValueError(f"epochs {sorted(keep)} to keep; allowed: 0 to {descent.epochs}")
    x, n = examples.x, len(examples)
    if descent.augment and x.ndim != 4:
        raise ValueError(f"augment = {descent.augment} of inputs {tuple(x.shape)}; allowed: images (n, C, H, W)")
    if len(stack) % examples.sets:
        raise ValueError(f"{examples.sets} sets of examples for {len(stack)} networks; allowed: a divisor of these")
    if stack.model.statistics() and 1 in (n, descent.batch, n % descent.batch):
        raise ValueError(
            f"{n} examples in batches of {descent.batch} with running statistics; allowed: no batch of 1 example"
        )


class _State:
    """Everything that changes while networks train; its tensors are a checkpoint."""

    def __init__(self, start: Stack, descent: Descent, n: int, device: torch.device, precision: str) -> None:
        dtype, N = PRECISIONS[precision], len(start)
        params = {name: value.detach().to(device, dtype, copy=True) for name, value in start.params.items()}
        for name in params.keys() - start.model.statistics():
            params[name].requires_grad_()
        fixed = {name: (F.to(device, dtype), D.to(device, dtype)) for name, (F, D) in start.fixed.items()}
        self.stack, self.n = Stack(start.model, params, fixed), n
        self.optimiser = _optimiser(self.stack, descent)
        self.cast = torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16")
        self.epoch = self.step = 0  # epochs done, and steps done in the next one
        self.seconds = 0.0
        self.losses = torch.zeros(descent.epochs, N, dtype=torch.float64, device=device)  # sums over examples
        self.correct = torch.zeros(descent.epochs, N, dtype=torch.float64, device=device)  # numbers of examples
        self.alive = torch.ones(N, dtype=torch.bool, device=device)
        self.kept: dict[int, Tensors] = {}

    def set_rate(self, rate: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    def descend(self, inputs: Tensor, labels: Tensor) -> None:
        """One step of all networks, (N, B, …) and (N, B); nothing waits for the device."""
        N, B = labels.shape
        with self.cast:
            outputs = self.stack.model._outputs(self.stack.effective(), inputs, training=True)  # (N, B, classes)
        each = cross_entropy(outputs.flatten(0, 1).to(self._dtype), labels.flatten(), reduction="none").view(N, B)
        self.optimiser.zero_grad()
        (each.sum() / B).backward()  # the sum of the networks' mean losses
        self.optimiser.step()
        with torch.no_grad():
            self.losses[self.epoch] += each.sum(dim=1)
            self.correct[self.epoch] += (outputs.argmax(dim=-1) == labels).sum(dim=1)
        self.step += 1

    @property
    def _dtype(self) -> torch.dtype:
        return next(iter(self.stack.params.values())).dtype

    @torch.no_grad()
    def end_epoch(self, seeds: Integers) -> None:
        """Remove the networks that diverged: NaN stays NaN under every optimiser."""
        params = self.stack.params.values()
        self.alive &= self.losses[self.epoch] <= BOUND * self.n  # false for NaN, too
        for value in params:
            self.alive &= value.isfinite().flatten(1).all(dim=1)
        for value in params:
            value[~self.alive] = math.nan
        self.epoch, self.step = self.epoch + 1, 0
        if not self.alive.any():
            named = ", ".join(map(str, seeds[:8])) + (", …" if len(seeds) > 8 else "")
            raise _AllDiverged(
                f"all {len(seeds)} networks diverged by epoch {self.epoch} (seeds {named}); allowed: a descent in "
                "which one stays finite, so a smaller rate"
            )

    def keep(self) -> None:
        self.kept[self.epoch] = {name: value.detach().clone() for name, value in self.stack.params.items()}

    def tensors(self) -> Tensors:
        """All of it, by name."""
        state = {
            "at": torch.tensor([self.epoch, self.step]),
            "seconds": torch.tensor(self.seconds, dtype=torch.float64),
        }
        state |= {name: getattr(self, name) for name in ("losses", "correct", "alive")}
        for name, value in self.stack.params.items():
            state[f"params/{name}"] = value
            state |= {f"optimiser {key}/{name}": moment for key, moment in self.optimiser.state[value].items()}
        for epoch, params in self.kept.items():
            state |= {f"kept {epoch}/{name}": value for name, value in params.items()}
        return state

    @torch.no_grad()
    def restore(self, state: Tensors) -> None:
        """Put the tensors of a checkpoint back in place."""
        self.epoch, self.step = state.pop("at").tolist()
        self.seconds = state.pop("seconds").item()
        for name in ("losses", "correct", "alive"):
            getattr(self, name).copy_(state.pop(name))
        for key, tensor in state.items():
            kind, _, name = key.partition("/")
            value = self.stack.params[name]
            if kind == "params":
                value.copy_(tensor)
            elif kind.startswith("kept "):
                self.kept.setdefault(int(kind.removeprefix("kept ")), {})[name] = tensor.to(value.device)
            else:
                self.optimiser.state[value][kind.removeprefix("optimiser ")] = tensor.to(value.device)

    def result(self, seeds: Integers) -> Fitted:
        """The networks that did not diverge, without gradients."""
        index = self.alive.nonzero().flatten()
        survivors = tuple(index.tolist())

        def of(params: Tensors) -> Stack:
            chosen = {name: value.detach()[index] for name, value in params.items()}
            return Stack(self.stack.model, chosen, _fixed_of(self.stack, index))

        return Fitted(
            of(self.stack.params),
            self.losses[:, index] / self.n,
            self.correct[:, index] / self.n,
            {epoch: of(params) for epoch, params in sorted(self.kept.items())},
            survivors,
            tuple(seed for i, seed in enumerate(seeds) if i not in survivors),
            self.seconds,
        )


def _fixed_of(stack: Stack, index: Tensor) -> dict[str, tuple[Tensor, Tensor]]:
    """F and D of some networks: as they are if all are chosen or share them, else one pair each."""
    if len(index) == len(stack):
        return dict(stack.fixed)

    def of(part: Tensor) -> Tensor:
        return part if len(part) == 1 else part[index // (len(stack) // len(part))]

    return {name: (of(F), of(D)) for name, (F, D) in stack.fixed.items()}


def _optimiser(stack: Stack, descent: Descent) -> torch.optim.Optimizer:
    trained = {name: value for name, value in stack.params.items() if name not in stack.model.statistics()}
    decayed = trained.keys() if descent.decay == "all" else set(stack.model.maps())
    groups = [
        {"params": [value for name, value in trained.items() if (name in decayed) is which], "weight_decay": decay}
        for which, decay in ((True, descent.weight_decay), (False, 0.0))
    ]
    groups = [group for group in groups if group["params"]]
    if descent.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=descent.rate, momentum=descent.momentum, fused=True)
    kind = torch.optim.AdamW if descent.optimiser == "adamw" else torch.optim.Adam
    return kind(groups, lr=descent.rate, fused=True)
