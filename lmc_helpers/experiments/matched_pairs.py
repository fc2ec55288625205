"""Matchers side by side on the same pairs of trained MLPs (chapter 56).

Four kinds of MLPs with three hidden layers of ReLU units are trained by one recipe, that of Bürgin et al., App. F.1:
without norms, with layer norms, and with layer norms and fixed weights F of σ_F = 0 and 1. A pair is two networks with
different seeds; those with fixed weights share F and D, and each pair has its own. A fifth run, of small networks with
two hidden layers on digits, is for :mod:`~lmc_helpers.experiments.every_permutation`.

Matchers see training images. What they reach is measured on test images, half-way: the *barrier*, the loss above the
mean of the two ends, which is the chord's value there, and the *drop*, how much lower the accuracy is than the mean of
the ends', in percentage points. Both again with REPAIR.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import torch

from lmc_helpers.alignment.repair import repair
from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.data.images import choose
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.lines import barriers
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Permutations, random_permutations
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.seeds import numpy_generator, torch_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

__all__ = ["KINDS", "SMALL", "Descents", "Match", "cross_fitted_gain", "descents", "ends", "match", "runs"]

#: Kind of networks → norm, and σ_F of their fixed weights.
KINDS: dict[str, tuple[str, float | None]] = {
    "plain": ("none", None),
    "layer norm": ("layer", None),
    "σ_F = 0": ("layer", 0.0),
    "σ_F = 1": ("layer", 1.0),
}
SMALL = 5  # neurons in a hidden layer of the small networks
SHARES = (64 / 784, 64 / 512, 64 / 512, 256 / 512)  # of fixed entries in a row of each map (Bürgin et al., F.1)
PIXELS = {"digits": 64, "mnist": 784}

Examples = tuple[torch.Tensor, torch.Tensor]  # inputs (n, …) and labels (n,)


def runs(
    *, dataset: str, width: int, pairs: int, images: int, epochs: int, small_pairs: int, small_epochs: int, seed: int
) -> list[Run]:
    """The trainings of the chapter: 2P networks of each kind, and the small ones.

    Parameters
    ----------
    dataset : str
        ``"digits"`` or ``"mnist"``; digits where MNIST cannot be had.
    width : int
        units in each of three hidden layers.
    pairs : int
        P.
    images, epochs : int
        training images, at most all that there are, and passes through them.
    small_pairs, small_epochs : int
        the same of the small networks, on all digits.
    seed : int
        of all.

    Returns
    -------
    list of Run
        one for each of :data:`KINDS`, then the small one.

    Examples
    --------
    >>> sizes = dict(width=8, pairs=2, images=100, epochs=1, small_pairs=3, small_epochs=1)
    >>> [len(run.seeds) for run in runs(dataset="digits", seed=1, **sizes)]
    [4, 4, 4, 4, 6]
    """
    name, _ = choose((dataset, "digits"))

    def seeds(kind: str, number: int) -> tuple[int, ...]:
        return tuple(numpy_generator(seed, f"matched pairs, {kind}").integers(0, 2**32, number).tolist())

    data = DataSpec(name, n=min(images, DataSpec(name).size), seed=seed)
    sizes = (PIXELS[name], width, width, width, 10)
    descent = Descent(epochs, 128, "adamw", 1e-3, weight_decay=1e-2)
    found = []
    for kind, (norm, sigma) in KINDS.items():
        run = Run(MLP(sizes, norm=norm), descent, data, seeds(kind, 2 * pairs))
        if sigma is not None:
            fixed = [max(1, round(share * inputs)) for share, inputs in zip(SHARES, sizes[:-1], strict=True)]
            scheme = {f"{k}.weight": WAsymmetric(number, sigma) for k, number in enumerate(fixed)}
            run = replace(run, scheme=scheme, mask_seeds=seeds(f"masks of {kind}", pairs))
        found.append(run)
    small = MLP((PIXELS["digits"], SMALL, SMALL, 10))
    descent = Descent(small_epochs, 128, "adamw", 1e-2, weight_decay=1e-2)
    return [*found, Run(small, descent, DataSpec("digits"), seeds("small", 2 * small_pairs))]


def ends(stack: Stack) -> tuple[Stack, Stack]:
    """The ends of the pairs (0, 1), (2, 3), … of a stack, as ordinary networks.

    Parameters
    ----------
    stack : Stack
        2P networks.

    Returns
    -------
    (Stack, Stack)
        P each.

    Raises
    ------
    ValueError
        if their number is odd, as after one has diverged.

    Examples
    --------
    >>> a, b = ends(MLP((2, 3, 2)).initial([1, 2, 3, 4]))
    >>> len(a), len(b)
    (2, 2)
    """
    if len(stack) % 2:
        raise ValueError(f"{len(stack)} networks; allowed: an even number, two a pair")
    return stack.ordinary(range(0, len(stack), 2)), stack.ordinary(range(1, len(stack), 2))


@dataclass(frozen=True, eq=False)
class Match:
    """What a matcher makes of P pairs.

    Parameters
    ----------
    permutations : dict of torch.Tensor
        group → p (P, m).
    seconds : float
        of the matcher, for each pair.
    objective : torch.Tensor
        (P,): ⟨a, π b⟩ / (‖a‖ ‖b‖), what weight matching maximises.
    barrier, drop : torch.Tensor
        (P,): loss half-way above the mean of the ends; accuracy below it, in percentage points.
    repaired_barrier, repaired_drop : torch.Tensor
        the same with REPAIR.
    """

    permutations: dict[str, torch.Tensor]
    seconds: float
    objective: torch.Tensor
    barrier: torch.Tensor
    drop: torch.Tensor
    repaired_barrier: torch.Tensor
    repaired_drop: torch.Tensor


def match(a: Stack, b: Stack, matcher: Callable[[], Permutations], x: torch.Tensor, unseen: Examples) -> Match:
    """Run one matcher and measure what it reaches.

    Parameters
    ----------
    a, b : Stack
        P ordinary networks each.
    matcher : callable
        without arguments; gives group → p (P, m).
    x : torch.Tensor
        inputs (n, …) for the statistics of REPAIR.
    unseen : (torch.Tensor, torch.Tensor)
        inputs and labels that the barriers are measured on.

    Returns
    -------
    Match
        float64, on the CPU.

    Examples
    --------
    >>> model, x, y = MLP((2, 4, 3)), torch.randn(20, 2), torch.arange(20) % 3
    >>> a = model.initial([1, 2])
    >>> swap = {"0": torch.tensor([[1, 0, 2, 3]] * 2)}
    >>> found = match(a, a.permuted(swap), lambda: swap, x, (x, y))
    >>> bool(found.barrier.abs().max() < 1e-6), found.objective.round(decimals=6).tolist()
    (True, [1.0, 1.0])
    """
    began = time.perf_counter()
    p = dict(matcher())
    seconds = (time.perf_counter() - began) / len(a)
    moved = b.permuted(p)
    line = along_segments(a, moved, *unseen, (0, 0.5, 1))
    assert line.accuracy is not None
    merged = scores(repair(a, moved, x).stack, *unseen)
    assert merged.accuracy is not None
    loss, right = line.loss[:, [0, 2]].mean(dim=1), line.accuracy[:, [0, 2]].mean(dim=1)  # (P,), mean of the ends
    size = (agreement(a.params, a.params) * agreement(b.params, b.params)).sqrt()
    return Match(
        permutations=p,
        seconds=seconds,
        objective=agreement(a.params, moved.params) / size,
        barrier=barriers(line.loss, (0, 0.5, 1)).middle_mean,
        drop=100 * barriers(-line.accuracy, (0, 0.5, 1)).middle_mean,
        repaired_barrier=merged.loss[:, 0] - loss,
        repaired_drop=100 * (right - merged.accuracy[:, 0]),
    )


@dataclass(frozen=True, eq=False)
class Descents:
    """Several descents of weight matching for P pairs: objective and barrier half-way of each, (R, P)."""

    objective: torch.Tensor
    barrier: torch.Tensor


def descents(a: Stack, b: Stack, number: int, unseen: Examples, seed: int) -> Descents:
    """Local optima of weight matching from uniform starts, independent for each pair.

    Parameters
    ----------
    a, b : Stack
        P ordinary networks each.
    number : int
        R descents.
    unseen : (torch.Tensor, torch.Tensor)
        inputs and labels that the barriers are measured on.
    seed : int
        of starts and orders.

    Returns
    -------
    Descents
        the objective is ⟨a, π b⟩ / (‖a‖ ‖b‖).

    Examples
    --------
    >>> x, y = torch.randn(20, 2), torch.arange(20) % 3
    >>> a, b = ends(MLP((2, 4, 4, 3)).initial([1, 2, 3, 4]))
    >>> descents(a, b, 5, (x, y), seed=1).barrier.shape
    torch.Size([5, 2])
    """
    symmetry, size = a.model.symmetry(), (agreement(a.params, a.params) * agreement(b.params, b.params)).sqrt()
    objective, barrier = [], []
    for r in range(number):
        start = random_permutations(symmetry, len(a), torch_generator(seed, f"start of descent {r}"))
        moved = b.permuted(weight_matching(a.params, b.params, symmetry, 1, seed + r, start).permutations)
        objective.append(agreement(a.params, moved.params) / size)
        barrier.append(barriers(along_segments(a, moved, *unseen, (0, 0.5, 1)).loss, (0, 0.5, 1)).middle_mean)
    return Descents(torch.stack(objective), torch.stack(barrier))


def cross_fitted_gain(values: Mapping[str, torch.Tensor], reference: str = "identity") -> np.ndarray:
    """How far the best of several methods lies below a reference, without the luck of the choice.

    Pairs stand in two halves, those of even and of odd number. The method with the least mean on one half is measured
    on the other.

    Parameters
    ----------
    values : mapping
        name → (P,), P >= 2, less is better.
    reference : str
        one of the names; it may not be chosen.

    Returns
    -------
    numpy.ndarray
        (P,): value of the reference less that of the chosen method.

    Raises
    ------
    ValueError
        if the reference is unknown, or there are fewer than two methods or pairs.

    Examples
    --------
    >>> cross_fitted_gain({"identity": torch.tensor([3.0, 3.0]), "a": torch.tensor([1.0, 2.0])}).tolist()
    [2.0, 1.0]
    """
    others = [name for name in values if name != reference]
    if reference not in values or not others or len(values[reference]) < 2:
        raise ValueError(f"reference = {reference!r} of {', '.join(values)}; allowed: one of two or more, for 2 pairs")
    table = np.stack([np.asarray(values[name], dtype=float) for name in others])  # (methods, P)
    gain = np.empty(table.shape[1])
    for half in (0, 1):
        best = table[:, 1 - half :: 2].mean(axis=1).argmin()
        gain[half::2] = np.asarray(values[reference], dtype=float)[half::2] - table[best, half::2]
    return gain
