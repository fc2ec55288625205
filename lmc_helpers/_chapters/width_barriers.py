"""Barriers of pairs of networks of many widths and depths, for the chapter *width barriers*.

Zhan, Li & Wu, section 6 and Figs. 7, 8 and 14. Barriers are those of the negative log-likelihood (NLL) above the chord,
with the hidden units of the second network in several :data:`ORDERS`.

Training is expensive, so networks come in groups, and every two networks of a group are a pair. Pairs that share a
network are not independent, groups are: a sample is the mean over the pairs of a group.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.nn.functional import cross_entropy

from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.barrier import barrier_kinds
from lmc_helpers.data.images import choose
from lmc_helpers.error_bars import QUANTILE, mean_and_error, place_of_peak, ratio_of_means, slope_and_error, widening
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import drawn_seeds
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Result, Run


def ratio_at_peaks(upper: Sequence[ArrayLike], lower: Sequence[ArrayLike]) -> tuple[float, float]:
    """The height of one peak divided by that of another, cross-fitted, and its standard error.

    The largest of several means is biased upwards by its selection, so the peak is selected on one half of the samples
    and its height measured on the other half, and vice versa.
    """
    curves = [[np.asarray(sample, dtype=float) for sample in curve] for curve in (upper, lower)]
    ratios = []
    for half in (0, 1):
        above, below = (curve[int(np.argmax([s[half::2].mean() for s in curve]))][1 - half :: 2] for curve in curves)
        ratios.append(ratio_of_means(above, below))
    return _mean_of_halves(ratios)


def _mean_of_halves(values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean of two independent values, and its standard error."""
    (a, da), (b, db) = values
    return (a + b) / 2, math.hypot(da, db) / 2


DEPTH = 4  # linear maps of the networks of Fig. 7
RATE, BATCH = 0.05, 100  # App. B.1

#: λ = 0, 0.1, …, 1, as in section 2.
LAMBDAS = tuple(k / 10 for k in range(11))

#: Orders of the second network's units: as trained, after weight matching from one start and the best of its restarts,
#: after activation matching.
ORDERS = ("direct", "one start", "weights", "activations")


class Case(NamedTuple):
    """A run of the sweep."""

    depth: int  # number of linear maps
    width: int  # units in a layer
    kind: str  # "first", "second" (another seed) or "long" (longer training)


@dataclass(frozen=True)
class Parameters:
    """The parameters of the chapter on which the training runs depend."""

    dataset: str
    widths: Sequence[int]
    depths: Sequence[int]
    depth_widths: Sequence[int]
    groups: int
    depth_groups: int
    long_groups: int
    together: int
    epochs: int
    budgets: Sequence[int]
    images: int
    second: Sequence[int]
    other: str
    other_widths: Sequence[int]
    other_pairs: int
    other_epochs: int
    other_images: int
    seed: int

    def sweep(self) -> dict[Case, Run]:
        """The training runs of the comparison, by the recipe of App. B.1."""
        data, budgets = _data(self.dataset, self.images, self.seed), sorted({self.epochs, *self.budgets})

        def run(case: Case, count: int, keep: Sequence[int]) -> Run:
            return _run(data, case, count * self.together, keep, self.seed)

        others = ((depth, self.depth_widths, self.depth_groups) for depth in self.depths)
        runs: dict[Case, Run] = {}
        for depth, widths, count in ((DEPTH, self.widths, self.groups), *others):
            keep = budgets if depth == DEPTH and not self.long_groups else [self.epochs]
            runs |= {case: run(case, count, keep) for case in (Case(depth, m, "first") for m in widths)}
            if depth in self.second:
                runs |= {case: run(case, count, [self.epochs]) for case in (Case(depth, m, "second") for m in widths)}
        for case in (Case(DEPTH, m, "long") for m in self.widths):
            first = runs[case._replace(kind="first")]
            runs[case] = run(case, self.long_groups, budgets) if self.long_groups else first
        return runs

    def other_dataset_runs(self) -> dict[int, Run]:
        """Width → networks with four maps on another data set, by the same recipe (second curve of Fig. 14)."""
        data, count = _data(self.other, self.other_images, self.seed), 2 * self.other_pairs
        cases = {m: Case(DEPTH, m, "first") for m in self.other_widths}
        return {m: _run(data, case, count, [self.other_epochs], self.seed) for m, case in cases.items()}

    def runs(self) -> list[Run]:
        """All training runs."""
        return list(dict.fromkeys([*self.sweep().values(), *self.other_dataset_runs().values()]))


def _data(dataset: str, images: int, seed: int) -> DataSpec:
    """At most ``images`` training images of a data set, or of the digits if it is not available."""
    return DataSpec(choose((dataset, "digits"))[0]).at_most(images, seed)


def _run(data: DataSpec, case: Case, count: int, keep: Sequence[int], seed: int) -> Run:
    """``count`` networks of one kind, stored after the epochs ``keep``, of which the last ends the training."""
    key = seed + (case.kind == "second")
    purpose = "networks followed over budgets" if case.kind == "long" else "networks"
    seeds = drawn_seeds(key, f"{purpose}, depth {case.depth}, width {case.width}", count)
    model = MLP((math.prod(data.shape), *[case.width] * (case.depth - 1), 10), init="he")
    return Run(model, Descent(keep[-1], BATCH, "sgd", RATE), data, seeds, keep=tuple(keep[:-1]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs of networks."""

    first: Stack
    second: dict[str, Stack]  # order → the second networks with their units in that order
    each: int = 1  # number of pairs in a group


def matched_pairs(
    result: Result,
    epoch: int,
    x: torch.Tensor,
    restarts: int,
    seed: int,
    orders: Sequence[str] = ORDERS,
    group_size: int = 2,
) -> Pairs:
    """Every two networks of each complete group of a run after some epochs, matched."""
    stacks = result.kept | {len(result.losses): result.stack}
    row = {network: k for k, network in enumerate(result.survivors)}
    groups = [range(k, k + group_size) for k in range(0, max(row, default=-1) + 1, group_size)]
    pairs = [(row[i], row[j]) for group in groups if {*group} <= {*row} for i, j in combinations(group, 2)]
    a, b = (stacks[epoch].ordinary([pair[end] for pair in pairs]) for end in (0, 1))
    second = {}
    for order in orders:
        if order == "direct":
            second[order] = b
        elif order == "activations":
            second[order] = b.permuted(activation_matching(a, b, x).permutations)
        else:
            count = restarts if order == "weights" else 1
            matching = weight_matching(a.params, b.params, a.model.symmetry(), count, seed)
            second[order] = b.permuted(matching.permutations)
    return Pairs(a, second, math.comb(group_size, 2))


@dataclass(frozen=True, eq=False)
class Lines:
    """NLL and accuracy on the lines of P pairs at :data:`LAMBDAS`."""

    loss: dict[str, torch.Tensor]  # order → NLL (P, 11)
    accuracy: dict[str, torch.Tensor]  # order → (P, 11)
    each: int = 1  # number of pairs in a group

    @property
    def groups(self) -> int:
        """Number of groups G."""
        return len(next(iter(self.loss.values()))) // self.each

    def _of_groups(self, values: torch.Tensor) -> np.ndarray:
        """Means over the pairs of each group, (P,) → (G,)."""
        return values.view(-1, self.each).mean(dim=1).numpy()

    def of_pairs(self, order: str) -> np.ndarray:
        """Barriers (P,) of all pairs: the largest NLL above the chord. Those of a group are not independent."""
        return barrier_kinds(self.loss[order].double(), LAMBDAS)["chord"].numpy()

    def barriers(self, order: str) -> np.ndarray:
        """Mean barrier of each group, (G,)."""
        return self._of_groups(torch.from_numpy(self.of_pairs(order)))

    def drops(self, order: str) -> np.ndarray:
        """Mean over each group of the largest fall of the accuracy below the chord, (G,)."""
        return self._of_groups(barrier_kinds(-self.accuracy[order].double(), LAMBDAS)["chord"])

    def largest(self, order: str) -> np.ndarray:
        """Mean over each group of the largest NLL on a line, (G,)."""
        return self._of_groups(self.loss[order].amax(dim=1).double())


def lines(pairs: Pairs, x: torch.Tensor, y: torch.Tensor) -> Lines:
    """NLL and accuracy on the lines of all pairs."""
    by_order = {order: along_segments(pairs.first, b, x, y, LAMBDAS) for order, b in pairs.second.items()}
    accuracy = {order: line.accuracy for order, line in by_order.items()}
    return Lines({order: line.loss for order, line in by_order.items()}, accuracy, pairs.each)


@dataclass(frozen=True, eq=False)
class Middles:
    """The middles of P lines, and of lines between the same networks with s times their logits."""

    mean_gap: torch.Tensor  # V = E max_k (z_k − z_y) of the logits z, (P,), float64
    wrong: torch.Tensor  # shares of misclassified examples (P,)
    nll: torch.Tensor  # N(s), the NLL in the middle after both ends are scaled, (S, P)


def rescaled(stack: Stack, c: float) -> Stack:
    """S_c: weights of map k = 1 … d times c, biases times c^k, so that a ReLU network has c^d times its logits."""
    power = {name: 1 + int(name.split(".")[0]) if name.endswith("bias") else 1 for name in stack.params}
    return Stack(stack.model, {name: c ** power[name] * value for name, value in stack.params.items()})


def middles(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, scales: Sequence[float]) -> Middles:
    """The middles of the lines from a to b; V ≤ N(s)/s ≤ V + ln(classes)/s."""
    ends, depth = [stack.to(torch.float64) for stack in (a, b)], len(a.model.maps())

    def logits(s: float) -> torch.Tensor:
        u, v = (rescaled(end, s ** (1 / depth)).params for end in ends)
        with torch.no_grad():
            return Stack(a.model, {name: (u[name] + v[name]) / 2 for name in u}).forward(x.double())

    z = logits(1.0)  # (P, n, classes)
    labels = y.expand(z.shape[:2])  # (P, n)
    gaps = z.amax(dim=-1) - z.gather(-1, labels[..., None])[..., 0]  # (P, n)
    nll = [cross_entropy(logits(s).mT, labels, reduction="none").mean(dim=1) for s in scales]
    wrong = (z.argmax(dim=-1) != labels).double().mean(dim=1)
    return Middles(gaps.mean(dim=1), wrong, torch.stack(nll))


@dataclass(frozen=True, eq=False)
class Curves:
    """The lines of independent groups of pairs at several widths."""

    at: Mapping[int, Lines]  # width → lines, widths increasing

    @property
    def widths(self) -> list[int]:
        """All widths."""
        return list(self.at)

    @property
    def groups(self) -> int:
        """Number of groups that did not diverge, at the width where they are fewest."""
        return min(line.groups for line in self.at.values())

    def only(self, widths: Sequence[int]) -> Curves:
        """The curves at the given widths."""
        return Curves({m: self.at[m] for m in widths})

    def barriers(self, order: str) -> list[np.ndarray]:
        """Mean barriers (G,) of the groups at each width, with the units in an order of ``ORDERS``."""
        return [line.barriers(order) for line in self.at.values()]

    def relative(self, order: str, m: int, over: Sequence[int]) -> tuple[float, float]:
        """Ratio of the mean barrier at width m to the peak over other widths, and its standard error."""
        return ratio_at_peaks([self.at[m].barriers(order)], self.only(over).barriers(order))

    def peak_width(self, order: str, seed: int) -> tuple[float, float]:
        """Logarithm of the width of the largest mean barrier; its error includes the selection and the grid."""
        return place_of_peak(np.log(self.widths), self.barriers(order), seed)

    def peaks(self, order: str) -> bool:
        """True if the largest mean barrier is at an interior width."""
        return 0 < int(np.argmax([sample.mean() for sample in self.barriers(order)])) < len(self.at) - 1

    def remaining(self, m: int, order: str) -> tuple[float, float]:
        """Share of the direct barrier of the same pairs that remains with an order, and its standard error."""
        return ratio_of_means(self.at[m].barriers(order), self.at[m].barriers("direct"), paired=True)

    def largest_effect(self, order: str, base: str) -> tuple[float, float]:
        """Ratio of the mean barriers with two orders at the width where it is farthest from 1, cross-fitted."""

        def ratio(m: int, half: int) -> tuple[float, float]:
            above, below = (self.at[m].barriers(name)[half::2] for name in (order, base))
            return ratio_of_means(above, below, paired=True)

        ratios = []
        for half in (0, 1):
            chosen = max(self.at, key=lambda m: abs(math.log(max(ratio(m, half)[0], 1e-300))))
            ratios.append(ratio(chosen, 1 - half))
        return _mean_of_halves(ratios)

    def contrast(self, order: str, m: int, other: int) -> tuple[float, float]:
        """Ratio of the remaining shares of the direct barrier at two widths, and its standard error."""
        (a, da), (b, db) = (self.remaining(width, order) for width in (m, other))
        return a / b, a / b * math.hypot(da / a, db / b)

    def summits(self, order: str) -> np.ndarray:
        """Means of the largest loss on each line and their standard errors, (2, widths)."""
        return np.array(mean_and_error([line.largest(order) for line in self.at.values()]))


def bounds_of(
    n: int, *readings: tuple[float, float], of_all: Callable = max, log: bool = False
) -> tuple[float, float, float]:
    """The largest or least of several values or logarithms with errors; its Student interval (n − 2 degrees)."""
    half = QUANTILE * widening(max(n, 3) - 1)
    value, low, high = (of_all(value + sign * half * error for value, error in readings) for sign in (0, -1, 1))
    return (math.exp(value), math.exp(low), math.exp(high)) if log else (value, low, high)


def depth_trend(curves: Mapping[int, Curves], order: str, seed: int) -> tuple[float, float] | None:
    """Slope of the logarithm of the peak's width over the depth, for depths with a peak."""
    at = {depth: curve.peak_width(order, seed) for depth, curve in curves.items() if curve.peaks(order)}
    if len(at) < 3:
        return None
    places, errors = np.array(list(at.values())).T
    return slope_and_error(list(at), places, errors)


def peak_width_ratio(upper: Curves, lower: Curves, order: str, seed: int) -> tuple[float, float]:
    """Logarithm of the ratio of the peak widths of two sets of curves, and its standard error."""
    (a, da), (b, db) = (curves.peak_width(order, seed) for curves in (upper, lower))
    return a - b, math.hypot(da, db)
