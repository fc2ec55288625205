"""What matchers make of pairs of trained networks (chapter 56).

Matchers see training images. What they reach is measured on test images, half-way: the *barrier*, the loss above the
mean of the two ends, which is the chord's value there, and the *drop*, how much lower the accuracy is than the mean of
the ends', in percentage points. Both again with REPAIR.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import spearmanr

from lmc_helpers import expect
from lmc_helpers.alignment.methods import Method
from lmc_helpers.alignment.repair import repair
from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.error_bars import ratio_of_means
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Permutations, random_permutations
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.seeds import torch_generator

__all__ = ["Descents", "Match", "Pairs", "cross_fitted_gain", "descents", "match"]

Examples = tuple[torch.Tensor, torch.Tensor]  # inputs (n, …) and labels (n,)


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


def match(
    a: Stack,
    b: Stack,
    matcher: Callable[[], Permutations],
    x: torch.Tensor,
    unseen: Examples,
    chord: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> Match:
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
    chord : (torch.Tensor, torch.Tensor), optional
        mean loss and accuracy (P,) of the ends there, on which the order of the units has no influence; computed if
        left out.

    Returns
    -------
    Match
        float64, on the CPU.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> model, x, y = MLP((2, 4, 3)), torch.randn(20, 2), torch.arange(20) % 3
    >>> a = model.initial([1, 2])
    >>> swap = {"0": torch.tensor([[1, 0, 2, 3]] * 2)}
    >>> found = match(a, a.permuted(swap), lambda: swap, x, (x, y))
    >>> bool(found.barrier.abs().max() < 1e-6), found.objective.round(decimals=6).tolist()
    (True, [1.0, 1.0])
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    expect.function(matcher, "matcher")
    expect.tensor(x, "x")
    expect.tensors(unseen, "unseen")
    if len(unseen) != 2:
        raise ValueError(f"unseen holds {len(unseen)} tensors; allowed: inputs and labels")
    expect.tensors(chord or (), "chord")
    began = time.perf_counter()
    p = dict(matcher())
    seconds = (time.perf_counter() - began) / len(a)
    moved = b.permuted(p)
    loss, accuracy = chord or _chord(a, b, unseen)
    line, merged = along_segments(a, moved, *unseen, [0.5]), scores(repair(a, moved, x).stack, *unseen)
    assert line.accuracy is not None and merged.accuracy is not None
    size = (agreement(a.params, a.params) * agreement(b.params, b.params)).sqrt()
    return Match(
        permutations=p,
        seconds=seconds,
        objective=agreement(a.params, moved.params) / size,
        barrier=line.loss[:, 0] - loss,
        drop=100 * (accuracy - line.accuracy[:, 0]),
        repaired_barrier=merged.loss[:, 0] - loss,
        repaired_drop=100 * (accuracy - merged.accuracy[:, 0]),
    )


@dataclass(frozen=True, eq=False)
class Descents:
    """Several descents of weight matching for P pairs: objective and barrier half-way of each, (R, P)."""

    objective: torch.Tensor
    barrier: torch.Tensor

    def rank_correlations(self) -> np.ndarray:
        """Spearman's correlation of objective and barrier over the descents of each pair, (P,)."""
        return np.array([spearmanr(*pair).statistic for pair in zip(self.objective.T, self.barrier.T, strict=True)])


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
    >>> from lmc_helpers.networks.mlp import MLP
    >>> a, b = MLP((2, 4, 4, 3)).initial([1, 2]), MLP((2, 4, 4, 3)).initial([3, 4])
    >>> descents(a, b, 5, (x, y), seed=1).barrier.shape
    torch.Size([5, 2])
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    expect.integer(number, "number", least=1)
    expect.tensors(unseen, "unseen")
    if len(unseen) != 2:
        raise ValueError(f"unseen holds {len(unseen)} tensors; allowed: inputs and labels")
    symmetry, size = a.model.symmetry(), (agreement(a.params, a.params) * agreement(b.params, b.params)).sqrt()
    objective, barrier, (chord, _) = [], [], _chord(a, b, unseen)
    for r in range(number):
        start = random_permutations(symmetry, len(a), torch_generator(seed, f"start of descent {r}"))
        moved = b.permuted(weight_matching(a.params, b.params, symmetry, 1, seed + r, start).permutations)
        objective.append(agreement(a.params, moved.params) / size)
        barrier.append(along_segments(a, moved, *unseen, [0.5]).loss[:, 0] - chord)
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

    Examples
    --------
    >>> cross_fitted_gain({"identity": torch.tensor([3.0, 3.0]), "a": torch.tensor([1.0, 2.0])}).tolist()
    [2.0, 1.0]
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"values is {type(values).__name__}; allowed: Mapping")
    expect.text(reference, "reference")
    others = [name for name in values if name != reference]
    if reference not in values or not others or len(values[reference]) < 2:
        raise ValueError(f"reference = {reference!r} of {', '.join(values)}; allowed: one of two or more, for 2 pairs")
    table = np.stack([np.asarray(values[name], dtype=float) for name in others])  # (methods, P)
    expect.array(values[reference], reference, "P")
    if not np.isfinite(table).all():
        raise ValueError("a value is not finite; allowed: finite numbers, (P,) of each method")
    gain = np.empty(table.shape[1])
    for half in (0, 1):
        best = table[:, 1 - half :: 2].mean(axis=1).argmin()
        gain[half::2] = np.asarray(values[reference], dtype=float)[half::2] - table[best, half::2]
    return gain


class Pairs:
    """P pairs of one kind, and what each matcher makes of them, computed when it is asked for.

    Parameters
    ----------
    a, b : Stack
        P ordinary networks each.
    matchers : mapping
        name → matcher, as :func:`lmc_helpers.alignment.methods.methods` gives them.
    seen, unseen : (torch.Tensor, torch.Tensor)
        inputs and labels for the matchers and REPAIR, and those that barriers are measured on.
    seed : int
        of what is random in a matcher.

    Examples
    --------
    >>> from lmc_helpers.alignment.methods import methods
    >>> from lmc_helpers.networks.mlp import MLP
    >>> model, x, y = MLP((2, 4, 3)), torch.randn(20, 2), torch.arange(20) % 3
    >>> a = model.initial([1, 2])
    >>> pairs = Pairs(a, a, methods(), (x, y), (x, y), seed=1)
    >>> pairs["weights"].objective.round(decimals=6).tolist(), pairs.wins(("identity", "weights"))
    ([1.0, 1.0], {'identity': 2, 'weights': 2})
    """

    def __init__(
        self, a: Stack, b: Stack, matchers: Mapping[str, Method], seen: Examples, unseen: Examples, seed: int
    ) -> None:
        self.a, self.b, self.matchers, self.seen, self.unseen, self.seed = a, b, matchers, seen, unseen, seed
        self.chord = _chord(a, b, unseen)
        self._made: dict[str, Match] = {}

    def __getitem__(self, name: str) -> Match:
        expect.one_of(name, "name", self.matchers)
        if name not in self._made:
            matcher = self.matchers[name]
            run = lambda: matcher(self.a, self.b, *self.seen, self.seed)  # noqa: E731
            self._made[name] = match(self.a, self.b, run, self.seen[0], self.unseen, self.chord)
        return self._made[name]

    def moved(self, name: str) -> Stack:
        """The networks b in the order that a matcher has found."""
        return self.b.permuted(self[name].permutations)

    def ratio(self, above: str, below: str) -> tuple[float, float]:
        """A matcher's mean barrier over another's, with its standard error over pairs."""
        expect.one_of(above, "above", self.matchers)
        expect.one_of(below, "below", self.matchers)
        return ratio_of_means(self[above].barrier, self[below].barrier, paired=True)

    def repaired(self, name: str) -> tuple[float, float]:
        """Mean barrier with REPAIR over that without, with its standard error over pairs."""
        return ratio_of_means(self[name].repaired_barrier, self[name].barrier, paired=True)

    def wins(self, names: Iterable[str]) -> dict[str, int]:
        """Matcher → number of pairs for which its barrier, without REPAIR, is the lowest; ties count for each."""
        if not isinstance(names, Iterable) or isinstance(names, str):
            raise ValueError(f"names = {names!r}; allowed: one or more of {', '.join(self.matchers)}")
        names = tuple(names)
        expect.some_of(names, "names", self.matchers)
        values = torch.stack([self[name].barrier for name in names])
        return dict(zip(names, (values == values.amin(dim=0)).sum(dim=1).tolist(), strict=True))


def _chord(a: Stack, b: Stack, unseen: Examples) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean loss and accuracy of the two ends, (P,) each: the chord half-way."""
    line = along_segments(a, b, *unseen, (0, 1))
    assert line.accuracy is not None
    return line.loss.mean(dim=1), line.accuracy.mean(dim=1)
