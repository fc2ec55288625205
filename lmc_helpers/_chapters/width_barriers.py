"""Code of the chapter *width barriers*."""

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
from lmc_helpers.data.images import choose, load
from lmc_helpers.error_bars import QUANTILE, mean_and_error, place_of_peak, ratio_of_means, slope_and_error, widening
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments, barriers
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Result, Run

# ---------- peaks
#
# Heights relative to a peak whose place the same samples have to tell.
#
# The largest of several means is too large on average, since the place is chosen where the noise is high. Here the
# place is chosen on one half of the samples and the height taken on the other half, and both halves change their roles.


LEAST = 4  # samples at a place, two in each half


def ratio_at_peaks(upper: Sequence[ArrayLike], lower: Sequence[ArrayLike]) -> tuple[float, float]:
    """The height of one peak divided by that of another, cross-fitted, and its standard error."""
    curves = [[np.asarray(sample, dtype=float) for sample in curve] for curve in (upper, lower)]
    if not all(curves) or any(sample.ndim != 1 or len(sample) < LEAST for curve in curves for sample in curve):
        shapes = [[sample.shape for sample in curve] for curve in curves]
        raise ValueError(f"samples {shapes}; allowed: at least one a curve, of at least {LEAST} values each")
    found = []
    for half in (0, 1):
        above, below = (curve[int(np.argmax([s[half::2].mean() for s in curve]))][1 - half :: 2] for curve in curves)
        found.append(ratio_of_means(above, below))
    return (found[0][0] + found[1][0]) / 2, math.hypot(found[0][1], found[1][1]) / 2


# ---------- width barriers
#
# Networks of many widths and depths, in pairs, and the lines between them: Zhan, Li & Wu, Figs. 7, 8 and 14.
#
# A pair is two networks of one architecture that were trained with different seeds. The lines between them are taken
# with the hidden units of the second in several orders (:data:`ORDERS`): as they are, and as matchers put them.
# Barriers are those of the negative log-likelihood (NLL), above the chord.
#
# Training is what costs, so networks come in groups, and every two of a group are a pair. Pairs that share a network
# are not independent: a sample is the mean over the pairs of a group, and groups are.


DEPTH = 4  # linear maps of the networks of Fig. 7
RATE, BATCH = 0.05, 100  # App. B.1

#: λ = 0, 0.1, …, 1, the places of section 2.
PLACES = tuple(k / 10 for k in range(11))

#: Orders of the second network's units: as trained, after weight matching from one start and the best of its restarts,
#: after activation matching.
ORDERS = ("direct", "one start", "weights", "activations")


class Case(NamedTuple):
    """A run of the sweep: its numbers of linear maps and of units in a layer, and its part in the comparison."""

    depth: int
    width: int
    kind: str


@dataclass(frozen=True)
class Parameters:
    """What the training runs depend on, by the names that the chapter's parameters have."""

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
        data, every = _data(self.dataset, self.images, self.seed), sorted({self.epochs, *self.budgets})

        def run(case: Case, count: int, keep: Sequence[int]) -> Run:
            return _run(data, case, count * self.together, keep, self.seed)

        others = ((depth, self.depth_widths, self.depth_groups) for depth in self.depths)
        found: dict[Case, Run] = {}
        for depth, at, count in ((DEPTH, self.widths, self.groups), *others):
            kept = every if depth == DEPTH and not self.long_groups else [self.epochs]
            found |= {case: run(case, count, kept) for case in (Case(depth, m, "first") for m in at)}
            if depth in self.second:
                found |= {case: run(case, count, [self.epochs]) for case in (Case(depth, m, "second") for m in at)}
        for case in (Case(DEPTH, m, "long") for m in self.widths):
            first = found[case._replace(kind="first")]
            found[case] = run(case, self.long_groups, every) if self.long_groups else first
        return found

    def other_dataset_runs(self) -> dict[int, Run]:
        """Networks with four maps on another data set, by the same recipe: where Fig. 14 has its second curve."""
        data, count = _data(self.other, self.other_images, self.seed), 2 * self.other_pairs
        cases = {m: Case(DEPTH, m, "first") for m in self.other_widths}
        return {m: _run(data, case, count, [self.other_epochs], self.seed) for m, case in cases.items()}

    def runs(self) -> list[Run]:
        """All of them."""
        return list(dict.fromkeys([*self.sweep().values(), *self.other_dataset_runs().values()]))


def _data(dataset: str, images: int, seed: int) -> DataSpec:
    """Some training images of a data set that can be had, or all of them if there are fewer."""
    data = DataSpec(choose((dataset, "digits"))[0])
    return DataSpec(data.name, n=images, seed=seed) if images < data.size else data


def _run(data: DataSpec, case: Case, count: int, keep: Sequence[int], seed: int) -> Run:
    """Some networks of one kind, kept after some epochs and at the last."""
    key = seed + (case.kind == "second")
    of = "networks followed over budgets" if case.kind == "long" else "networks"
    drawn = numpy_generator(key, f"{of}, depth {case.depth}, width {case.width}").integers(0, 2**32, count)
    pixels = load(data.name).x[0].numel()
    model = MLP((pixels, *[case.width] * (case.depth - 1), 10), init="he")
    return Run(model, Descent(keep[-1], BATCH, "sgd", RATE), data, tuple(drawn.tolist()), keep=tuple(keep[:-1]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs: the first networks, and for each order the second ones with their units in that order."""

    first: Stack
    second: dict[str, Stack]
    each: int = 1


def matched_pairs(
    result: Result,
    epoch: int,
    x: torch.Tensor,
    restarts: int,
    seed: int,
    orders: Sequence[str] = ORDERS,
    group_size: int = 2,
) -> Pairs:
    """Every two networks of each group of a run after some epochs, matched."""
    known = result.kept | {len(result.losses): result.stack}
    at = {place: k for k, place in enumerate(result.survivors)}
    groups = [range(k, k + group_size) for k in range(0, max(at, default=-1) + 1, group_size)]
    pairs = [(at[i], at[j]) for group in groups if {*group} <= {*at} for i, j in combinations(group, 2)]
    a, b = (known[epoch].ordinary([pair[end] for pair in pairs]) for end in (0, 1))
    second = {}
    for order in orders:
        if order == "direct":
            second[order] = b
        elif order == "activations":
            second[order] = b.permuted(activation_matching(a, b, x).permutations)
        else:
            count = restarts if order == "weights" else 1
            found = weight_matching(a.params, b.params, a.model.symmetry(), count, seed)
            second[order] = b.permuted(found.permutations)
    return Pairs(a, second, math.comb(group_size, 2))


@dataclass(frozen=True, eq=False)
class Lines:
    """NLL and accuracy on the lines of P pairs: order → (P, 11), at :data:`PLACES`."""

    loss: dict[str, torch.Tensor]
    accuracy: dict[str, torch.Tensor]
    each: int = 1

    def __post_init__(self) -> None:
        if any(len(v) % self.each for v in (*self.loss.values(), *self.accuracy.values())):
            numbers = sorted({len(v) for v in (*self.loss.values(), *self.accuracy.values())})
            raise ValueError(f"{numbers} pairs, {self.each} in a group; allowed: a whole number of groups")

    @property
    def groups(self) -> int:
        """G, the number of groups."""
        return len(next(iter(self.loss.values()))) // self.each

    def _of_groups(self, values: torch.Tensor) -> np.ndarray:
        """Means over the pairs of each group, (P,) → (G,)."""
        return values.view(-1, self.each).mean(dim=1).numpy()

    def of_pairs(self, order: str) -> np.ndarray:
        """Barriers (P,) of all pairs: the largest NLL above the chord. Those of a group are not independent."""
        return barriers(self.loss[order].double(), PLACES).peak_chord.numpy()

    def barriers(self, order: str) -> np.ndarray:
        """Mean barrier of each group, (G,)."""
        return self._of_groups(torch.from_numpy(self.of_pairs(order)))

    def drops(self, order: str) -> np.ndarray:
        """Mean over each group of the largest fall of the accuracy below the chord, (G,)."""
        return self._of_groups(barriers(-self.accuracy[order].double(), PLACES).peak_chord)

    def largest(self, order: str) -> np.ndarray:
        """Mean over each group of the largest NLL on a line, (G,)."""
        return self._of_groups(self.loss[order].amax(dim=1).double())


def lines(pairs: Pairs, x: torch.Tensor, y: torch.Tensor) -> Lines:
    """NLL and accuracy on all lines of some pairs."""
    found = {order: along_segments(pairs.first, b, x, y, PLACES) for order, b in pairs.second.items()}
    accuracy = {order: line.accuracy for order, line in found.items()}
    return Lines({order: line.loss for order, line in found.items()}, accuracy, pairs.each)


@dataclass(frozen=True, eq=False)
class Middles:
    """The middles of P lines, and of the lines between the same networks with s times their logits."""

    lost: torch.Tensor  # V = E max_k (z_k − z_y) (P,), float64, of the logits z
    wrong: torch.Tensor  # shares of misclassified examples (P,)
    nll: torch.Tensor  # N(s) at S scales s of the logits, (S, P): the NLL in the middle after both ends were scaled


def rescaled(stack: Stack, c: float) -> Stack:
    """S_c: the weights of map k = 1 … d times c, its biases times c^k, so ReLU networks have c^d times their logits."""
    power = {name: 1 + int(name.split(".")[0]) if name.endswith("bias") else 1 for name in stack.params}
    return Stack(stack.model, {name: c ** power[name] * value for name, value in stack.params.items()})


def middles(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, scales: Sequence[float]) -> Middles:
    """What the NLL in the middle tends to, divided by the scale of the logits: V ≤ N(s)/s ≤ V + ln(classes)/s."""
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


# ---------- width curves
#
# Barriers over the width, read off: an end against the peak, the peak's place, what an order of the units leaves.
#
# The questions of Zhan, Li & Wu, section 6 and Figs. 7, 8 and 14. Every reading is a value and a standard error over
# independent groups of pairs, and a height at a peak is cross-fitted (:mod:`lmc_helpers._chapters.width_barriers`).


@dataclass(frozen=True, eq=False)
class Curves:
    """The lines of independent groups of pairs at several widths."""

    at: Mapping[int, Lines]  # width → :class:`~lmc_helpers._chapters.width_barriers.Lines`, widths increasing

    @property
    def widths(self) -> list[int]:
        """All widths."""
        return list(self.at)

    @property
    def groups(self) -> int:
        """Groups that did not diverge, at the width where they are fewest."""
        return min(line.groups for line in self.at.values())

    def only(self, widths: Sequence[int]) -> Curves:
        """The curves at some of the widths."""
        return Curves({m: self.at[m] for m in widths})

    def barriers(self, order: str) -> list[np.ndarray]:
        """Mean barriers (G,) of the groups at each width, with the units in an order of ``ORDERS``."""
        return [line.barriers(order) for line in self.at.values()]

    def relative(self, order: str, m: int, over: Sequence[int]) -> tuple[float, float]:
        """Mean barrier at one width divided by that at the peak over other widths, and its standard error."""
        return ratio_at_peaks([self.at[m].barriers(order)], self.only(over).barriers(order))

    def place(self, order: str, seed: int) -> tuple[float, float]:
        """Width of the largest mean barrier, and a standard error that knows the selection and the grid."""
        return place_of_peak(self.widths, self.barriers(order), seed)

    def peaks(self, order: str) -> bool:
        """Whether the largest mean barrier stands between the ends of the widths."""
        return 0 < int(np.argmax([sample.mean() for sample in self.barriers(order)])) < len(self.at) - 1

    def left(self, m: int, order: str, base: str = "direct") -> tuple[float, float]:
        """Mean barrier with one order divided by that with another, of the same pairs, and its standard error."""
        return ratio_of_means(self.at[m].barriers(order), self.at[m].barriers(base), paired=True)

    def farthest(self, order: str, base: str) -> tuple[float, float]:
        """What :meth:`left` says at the width where it is farthest from 1, as a factor, cross-fitted."""

        def left(m: int, half: int) -> tuple[float, float]:
            above, below = (self.at[m].barriers(name)[half::2] for name in (order, base))
            return ratio_of_means(above, below, paired=True)

        found = []
        for half in (0, 1):
            chosen = max(self.at, key=lambda m: abs(math.log(max(left(m, half)[0], 1e-300))))
            found.append(left(chosen, 1 - half))
        return (found[0][0] + found[1][0]) / 2, math.hypot(found[0][1], found[1][1]) / 2

    def contrast(self, order: str, m: int, other: int) -> tuple[float, float]:
        """The share of the direct barrier that an order leaves at one width, divided by that at another."""
        (a, da), (b, db) = (self.left(at, order) for at in (m, other))
        return a / b, a / b * math.hypot(da / a, db / b)

    def summits(self, order: str) -> np.ndarray:
        """Means of the largest loss on each line and their standard errors, (2, widths)."""
        return np.array(mean_and_error([line.largest(order) for line in self.at.values()]))


def bounds_of(n: int, *readings: tuple[float, float], of_all: Callable = max) -> tuple[float, float, float]:
    """The largest or least of some readings, with its interval by Student's quantile at n − 2 degrees of freedom."""
    half = QUANTILE * widening(max(n, 3) - 1)
    value, low, high = (of_all(value + sign * half * error for value, error in readings) for sign in (0, -1, 1))
    return value, low, high


def depth_trend(curves: Mapping[int, Curves], order: str, seed: int) -> tuple[float, float] | None:
    """Slope of the logarithm of the peak's place in the depth, over depths that show a peak."""
    at = {depth: curve.place(order, seed) for depth, curve in curves.items() if curve.peaks(order)}
    if len(at) < 3:
        return None
    places, errors = np.array(list(at.values())).T
    return slope_and_error(list(at), np.log(places), errors / places)


def place_ratio(upper: Curves, lower: Curves, order: str, seed: int) -> tuple[float, float]:
    """Width of the largest mean barrier of some curves divided by that of others, and its standard error."""
    (a, da), (b, db) = (curves.place(order, seed) for curves in (upper, lower))
    return a / b, a / b * math.hypot(da / a, db / b)
