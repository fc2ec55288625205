"""Networks of many widths and depths, in pairs, and the lines between them: Zhan, Li & Wu, Figs. 7, 8 and 14.

A pair is two networks of one architecture that were trained with different seeds. The lines between them are taken with
the hidden units of the second in several orders (:data:`ORDERS`): as they are, and as matchers put them. Barriers are
those of the negative log-likelihood (NLL), above the chord.

Training is what costs, so networks come in groups, and every two of a group are a pair. Pairs that share a network are
not independent: a sample is the mean over the pairs of a group, and groups are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from lmc_helpers import expect
from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import choose, load
from lmc_helpers.networks.lines import barriers
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Result, Run

__all__ = [
    "ORDERS",
    "PLACES",
    "Case",
    "Lines",
    "Middles",
    "Pairs",
    "elsewhere",
    "lines",
    "matched_pairs",
    "middles",
    "rescaled",
    "runs",
    "sweep",
]

DEPTH = 4  # linear maps of the networks of Fig. 7
RATE, BATCH = 0.05, 100  # App. B.1

#: λ = 0, 0.1, …, 1, the places of section 2.
PLACES = tuple(k / 10 for k in range(11))

#: Orders of the second network's units: as trained, after weight matching from one start and the best of its restarts,
#: after activation matching.
ORDERS = ("direct", "one start", "weights", "activations")


class Case(NamedTuple):
    """A run of the sweep: its numbers of linear maps and of units in a layer, and its part in the comparison.

    ``kind``: ``"first"``; ``"second"``, with the next seed, for what the first rejects; ``"long"``, for the budgets.
    """

    depth: int
    width: int
    kind: str


def sweep(
    *,
    dataset: str,
    widths: Sequence[int],
    depths: Sequence[int],
    depth_widths: Sequence[int],
    groups: int,
    depth_groups: int,
    long_groups: int,
    together: int,
    epochs: int,
    budgets: Sequence[int],
    images: int,
    second: Sequence[int],
    seed: int,
) -> dict[Case, Run]:
    """The training runs of the comparison, by the recipe of App. B.1.

    ReLU, Kaiming-He initial weights, SGD with batches of 100 at the constant rate 0.05.

    Parameters
    ----------
    dataset : str
        ``"mnist"``, ``"cifar10"`` or ``"digits"``; the digits stand in for what cannot be had.
    widths : sequence of int
        of the hidden layers of networks with four linear maps.
    depths, depth_widths : sequence of int
        other numbers of linear maps, and the widths at these.
    groups, depth_groups, long_groups : int
        groups at each width with four maps, with others, and of networks that are followed over the budgets. If
        ``long_groups`` is 0, these are those with four maps.
    together : int
        networks in a group, 2 or more.
    epochs : int
        at which all networks are compared.
    budgets : sequence of int
        further epochs for those that are followed.
    images : int
        training images, or all of them if there are fewer.
    second : sequence of int
        numbers of maps of the networks that are trained with a second seed as well.
    seed : int
        of everything.

    Returns
    -------
    dict
        case → its run, whose networks are one group after another.

    Examples
    --------
    >>> settings = {"widths": [4], "depths": [2], "depth_widths": [4], "epochs": 5, "budgets": [9], "seed": 1}
    >>> some = {"groups": 3, "depth_groups": 2, "long_groups": 1, "together": 2, "images": 60_000, "second": []}
    >>> for case, run in sweep(dataset="digits", **settings, **some).items():
    ...     print(case.kind, run.model.sizes, len(run.seeds), run.keep, run.descent.epochs)
    first (64, 4, 4, 4, 10) 6 () 5
    first (64, 4, 10) 4 () 5
    long (64, 4, 4, 4, 10) 2 (5,) 9
    """
    expect.array(widths, "widths", "k", empty=True)
    expect.array(depths, "depths", "k", empty=True)
    expect.array(depth_widths, "depth_widths", "k", empty=True)
    expect.array(budgets, "budgets", "k", empty=True)
    expect.integer(groups, "groups", least=1)
    expect.integer(depth_groups, "depth_groups", least=1)
    expect.integer(long_groups, "long_groups", least=0)
    expect.integer(together, "together", least=2)
    expect.integer(epochs, "epochs", least=0)
    expect.array(second, "second", "k", empty=True)
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    data, every = _data(dataset, images, seed), sorted({epochs, *budgets})

    def run(case: Case, count: int, keep: Sequence[int]) -> Run:
        return _run(data, case, count * together, keep, seed)

    found: dict[Case, Run] = {}
    for depth, at, count in ((DEPTH, widths, groups), *((depth, depth_widths, depth_groups) for depth in depths)):
        kept = every if depth == DEPTH and not long_groups else [epochs]
        found |= {case: run(case, count, kept) for case in (Case(depth, m, "first") for m in at)}
        if depth in second:
            found |= {case: run(case, count, [epochs]) for case in (Case(depth, m, "second") for m in at)}
    for case in (Case(DEPTH, m, "long") for m in widths):
        found[case] = run(case, long_groups, every) if long_groups else found[case._replace(kind="first")]
    return found


def _data(dataset: str, images: int, seed: int) -> DataSpec:
    """Some training images of a data set that can be had, or all of them if there are fewer."""
    expect.integer(images, "images", least=1)
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


def elsewhere(
    *, other: str, other_widths: Sequence[int], other_pairs: int, other_epochs: int, other_images: int, seed: int
) -> dict[int, Run]:
    """Networks with four maps on another data set, by the same recipe: where Fig. 14 has its second curve.

    Parameters
    ----------
    other : str
        as ``dataset`` of :func:`sweep`.
    other_widths : sequence of int
        of the hidden layers.
    other_pairs : int
        pairs at each width.
    other_epochs : int
        of training.
    other_images : int
        training images, or all of them if there are fewer.
    seed : int
        of everything.

    Returns
    -------
    dict
        width → its run, networks 2k and 2k + 1 of which are a pair.

    Examples
    --------
    >>> found = elsewhere(other="digits", other_widths=[3], other_pairs=4, other_epochs=5, other_images=99, seed=1)
    >>> found[3].title
    '8 × MLP(64-3-3-3-10, init=he) on digits (train, 99 images), 5 epochs of sgd at 0.05'
    """
    expect.array(other_widths, "other_widths", "k", empty=True)
    expect.integer(other_pairs, "other_pairs", least=1)
    expect.integer(other_epochs, "other_epochs", least=0)
    expect.integer(other_images, "other_images", least=1)
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    data = _data(other, other_images, seed)
    return {m: _run(data, Case(DEPTH, m, "first"), 2 * other_pairs, [other_epochs], seed) for m in other_widths}


def runs(
    *,
    dataset: str,
    widths: Sequence[int],
    depths: Sequence[int],
    depth_widths: Sequence[int],
    groups: int,
    depth_groups: int,
    long_groups: int,
    together: int,
    epochs: int,
    budgets: Sequence[int],
    images: int,
    second: Sequence[int],
    other: str,
    other_widths: Sequence[int],
    other_pairs: int,
    other_epochs: int,
    other_images: int,
    seed: int,
) -> list[Run]:
    """All runs of :func:`sweep` and of :func:`elsewhere`, which say what the parameters are.

    Returns
    -------
    list of Run
        each once.

    Examples
    --------
    >>> settings = {"widths": [4], "depths": [2], "depth_widths": [4], "epochs": 5, "budgets": [9], "seed": 1}
    >>> some = {"groups": 3, "depth_groups": 2, "long_groups": 0, "together": 2, "images": 60_000, "second": []}
    >>> there = {"other_widths": [5], "other_pairs": 1, "other_epochs": 3, "other_images": 60_000}
    >>> for run in runs(dataset="digits", other="digits", **settings, **some, **there):
    ...     print(run.title)
    6 × MLP(64-4-4-4-10, init=he) on digits (train, 1437 images), 9 epochs of sgd at 0.05
    4 × MLP(64-4-10, init=he) on digits (train, 1437 images), 5 epochs of sgd at 0.05
    2 × MLP(64-5-5-5-10, init=he) on digits (train, 1437 images), 3 epochs of sgd at 0.05
    """
    found = sweep(
        dataset=dataset,
        widths=widths,
        depths=depths,
        depth_widths=depth_widths,
        groups=groups,
        depth_groups=depth_groups,
        long_groups=long_groups,
        together=together,
        epochs=epochs,
        budgets=budgets,
        images=images,
        second=second,
        seed=seed,
    )
    there = elsewhere(
        other=other,
        other_widths=other_widths,
        other_pairs=other_pairs,
        other_epochs=other_epochs,
        other_images=other_images,
        seed=seed,
    )
    return list(dict.fromkeys([*found.values(), *there.values()]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs: the first networks, and for each order the second ones with their units in that order.

    ``each`` says how many pairs, one after another, are of one group.
    """

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
    together: int = 2,
) -> Pairs:
    """Every two networks of each group of a run after some epochs, matched.

    Groups of which a network diverged are left out.

    Parameters
    ----------
    result : Result
        of a run with ``together`` seeds a group.
    epoch : int
        a kept one, or the last.
    x : torch.Tensor
        inputs (n, …) for activation matching.
    restarts : int
        of weight matching.
    seed : int
        of the matcher.
    orders : sequence of str
        of :data:`ORDERS`.
    together : int
        networks in a group.

    Returns
    -------
    Pairs
        in the orders that are asked for.

    Examples
    --------
    >>> model, images = MLP((64, 5, 10)), load("digits")
    >>> result = Result(model.initial([1, 2, 3, 4]), torch.zeros(1, 4), torch.zeros(1, 4), survivors=(0, 2, 3, 5))
    >>> pairs = matched_pairs(result, 1, images.inputs(flat=True), restarts=2, seed=1)  # the second of three is whole
    >>> len(pairs.first), list(pairs.second)
    (1, ['direct', 'one start', 'weights', 'activations'])
    """
    if not isinstance(result, Result):
        raise ValueError(f"result is {type(result).__name__}; allowed: Result")
    expect.integer(epoch, "epoch")
    expect.tensor(x, "x")
    expect.integer(restarts, "restarts", least=1)
    expect.integer(seed, "seed", least=0, most=2**32 - 1)
    if not isinstance(orders, (list, tuple)):
        raise ValueError(f"orders = {orders!r}; allowed: some of {', '.join(ORDERS)}")
    if not set(orders) <= set(ORDERS):
        raise ValueError(f"orders = {list(orders)}; allowed: {', '.join(ORDERS)}")
    known = result.kept | {len(result.losses): result.stack}
    if epoch not in known:
        raise ValueError(f"epoch = {epoch} was not kept; allowed: {', '.join(map(str, sorted(known)))}")
    expect.integer(together, "together", least=2)
    at = {place: k for k, place in enumerate(result.survivors)}
    groups = [range(k, k + together) for k in range(0, max(at, default=-1) + 1, together)]
    pairs = [(at[i], at[j]) for group in groups if {*group} <= {*at} for i, j in combinations(group, 2)]
    if not pairs:
        raise ValueError(f"networks {list(at)} did not diverge; allowed: all of at least one group of {together}")
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
    return Pairs(a, second, math.comb(together, 2))


@dataclass(frozen=True, eq=False)
class Lines:
    """NLL and accuracy on the lines of P pairs: order → (P, 11), at :data:`PLACES`.

    ``each`` pairs, one after another, are a group, and G = P / ``each``.
    """

    loss: dict[str, torch.Tensor]
    accuracy: dict[str, torch.Tensor]
    each: int = 1

    def __post_init__(self) -> None:
        expect.integer(self.each, "each", least=1)
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
        """Barriers (P,) of all pairs: the largest NLL above the chord. Those of a group are not independent.

        Examples
        --------
        >>> Lines({"direct": torch.tensor([[0.0] * 5 + [3.0] + [1.0] * 5])}, {}).of_pairs("direct").tolist()
        [2.5]
        """
        expect.one_of(order, "order", self.loss)
        return barriers(self.loss[order].double(), PLACES).peak_chord.numpy()

    def barriers(self, order: str) -> np.ndarray:
        """Mean barrier of each group, (G,).

        Examples
        --------
        >>> two = torch.tensor([[0.0] * 5 + [3.0] + [1.0] * 5, [0.0] * 11])
        >>> Lines({"direct": two}, {}, each=2).barriers("direct").tolist()
        [1.25]
        """
        return self._of_groups(torch.from_numpy(self.of_pairs(order)))

    def drops(self, order: str) -> np.ndarray:
        """Mean over each group of the largest fall of the accuracy below the chord, (G,).

        Examples
        --------
        >>> Lines({}, {"direct": torch.tensor([[1.0] * 5 + [0.25] + [0.5] * 5])}).drops("direct").tolist()
        [0.5]
        """
        expect.one_of(order, "order", self.accuracy)
        return self._of_groups(barriers(-self.accuracy[order].double(), PLACES).peak_chord)

    def largest(self, order: str) -> np.ndarray:
        """Mean over each group of the largest NLL on a line, (G,)."""
        expect.one_of(order, "order", self.loss)
        return self._of_groups(self.loss[order].amax(dim=1).double())


def lines(pairs: Pairs, x: torch.Tensor, y: torch.Tensor) -> Lines:
    """NLL and accuracy on all lines of some pairs.

    Parameters
    ----------
    pairs : Pairs
        P of them.
    x, y : torch.Tensor
        inputs (n, …) and labels (n,).

    Returns
    -------
    Lines
        in the orders of the pairs.

    Examples
    --------
    >>> nets = MLP((1, 2, 2)).initial([1, 2])
    >>> pairs = Pairs(nets.ordinary([0]), {"direct": nets.ordinary([1])})
    >>> lines(pairs, torch.ones(4, 1), torch.tensor([0, 0, 1, 1])).loss["direct"].shape
    torch.Size([1, 11])
    """
    if not isinstance(pairs, Pairs):
        raise ValueError(f"pairs is {type(pairs).__name__}; allowed: Pairs")
    found = {order: along_segments(pairs.first, b, x, y, PLACES) for order, b in pairs.second.items()}
    accuracy = {order: line.accuracy for order, line in found.items() if line.accuracy is not None}
    return Lines({order: line.loss for order, line in found.items()}, accuracy, pairs.each)


@dataclass(frozen=True, eq=False)
class Middles:
    """The middles of P lines, and of the lines between the same networks with s times their logits.

    Parameters
    ----------
    lost : torch.Tensor
        V = E max_k (z_k − z_y) (P,), float64, of the logits z: 0 only if every example is classified as labelled.
    wrong : torch.Tensor
        shares of misclassified examples (P,).
    nll : torch.Tensor
        N(s) at S scales s of the logits, (S, P): the NLL in the middle after both ends were scaled.
    """

    lost: torch.Tensor
    wrong: torch.Tensor
    nll: torch.Tensor


def rescaled(stack: Stack, c: float) -> Stack:
    """S_c: the weights of map k = 1 … d times c, its biases times c^k. ReLU networks then have c^d times their logits.

    Examples
    --------
    >>> nets, x = MLP((3, 2, 2)).initial([1], torch.float64), torch.ones(1, 3, dtype=torch.float64)
    >>> torch.allclose(rescaled(nets, 3.0).forward(x), 9 * nets.forward(x))
    True
    """
    if not isinstance(stack, Stack):
        raise ValueError(f"stack is {type(stack).__name__}; allowed: Stack")
    expect.number(c, "c")
    power = {name: 1 + int(name.split(".")[0]) if name.endswith("bias") else 1 for name in stack.params}
    return Stack(stack.model, {name: c ** power[name] * value for name, value in stack.params.items()})


def middles(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, scales: Sequence[float]) -> Middles:
    """What the NLL in the middle tends to, divided by the scale of the logits: V ≤ N(s)/s ≤ V + ln(classes)/s.

    Parameters
    ----------
    a, b : Stack
        P networks each, ordinary ReLU networks without norms; they are scaled by :func:`rescaled`, in float64.
    x, y : torch.Tensor
        inputs (n, …) and labels (n,).
    scales : sequence of float
        S values of s > 0.

    Returns
    -------
    Middles
        of P lines.

    Examples
    --------
    >>> nets = MLP((1, 2, 2)).initial([1, 2])
    >>> found = middles(nets.ordinary([0]), nets.ordinary([1]), torch.ones(2, 1), torch.tensor([0, 1]), [50.0])
    >>> bool(0 <= found.nll[0] / 50 - found.lost <= np.log(2) / 50)
    True
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    if a.model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {a.model} and {len(b)} {b.model}; allowed: P pairs of one architecture")
    expect.tensor(x, "x")
    expect.tensors({"y": y})
    if y.dtype != torch.long or y.shape != x.shape[:1] or y.amin() < 0 or y.amax() >= a.model.classes:
        raise ValueError(f"y has shape {tuple(y.shape)} and {y.dtype}; allowed: a class of each of {len(x)} inputs")
    expect.array(scales, "scales", "S")
    if min(scales) <= 0:
        raise ValueError(f"scales = {list(scales)}; allowed: positive numbers")
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
