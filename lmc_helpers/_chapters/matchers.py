"""Matchers on trained networks and on two-layer students, for the chapter *matchers*.

MLPs with three hidden layers of ReLU units are trained by the recipe of Bürgin et al., App. F.1: without norms, with
layer norms, and with layer norms and fixed weights F of σ_F = 0 and 1. A pair is two networks with different seeds;
those with fixed weights share F and D, and each pair has its own. Small networks with two hidden layers, on digits, are
for :func:`every_permutation`.

Matchers use training images. Their results are measured halfway on test images, also with REPAIR: the *barrier* is the
loss above the mean of the two ends, the *drop* the accuracy below that mean, in percentage points.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from scipy.stats import spearmanr
from torch.nn.functional import cross_entropy

from lmc_helpers.alignment.activation_matching import activation_matching
from lmc_helpers.alignment.assignment import assign, matched_sum
from lmc_helpers.alignment.midpoint import Best, data_loss
from lmc_helpers.alignment.sinkhorn import sinkhorn_rebasin
from lmc_helpers.alignment.straight_through import straight_through
from lmc_helpers.alignment.weight_matching import agreement, weight_matching
from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.data.images import choose
from lmc_helpers.error_bars import ratio_of_means
from lmc_helpers.identifiability.printed_networks import schemes
from lmc_helpers.matching import algorithm_1, all_permutations, best_permutation, pair_matching, permute
from lmc_helpers.modules.repair import repair_stacks
from lmc_helpers.networks.mlp import MLP, Norm
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import Axis, Permutations, Symmetry, identity, random_permutations
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.seeds import drawn_seeds, torch_generator
from lmc_helpers.teacher_student import kappa, population_loss
from lmc_helpers.teacher_student.between_minima import BEST, barrier_objective
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

GROUPS = ("0", "1")


@dataclass(frozen=True, eq=False)
class AllPermutations:
    """Objective and loss halfway of all permutations (p, q) of P pairs with two hidden layers of m neurons."""

    objective: torch.Tensor  # (P, m!, m!), float64
    loss: torch.Tensor  # (P, m!, m!), float64

    def rank(self, permutations: Permutations) -> tuple[torch.Tensor, torch.Tensor]:
        """Ranks of given permutations among all (m!)² by objective and by loss, (P,) each; 0 is the best."""
        index = torch.stack([_index(permutations[g]) for g in GROUPS])  # (2, P)
        pair = torch.arange(len(self.loss))
        higher = self.objective > self.objective[pair, *index][:, None, None] * (1 + 1e-12)
        lower = self.loss < self.loss[pair, *index][:, None, None] * (1 - 1e-6)  # the networks are float32
        return higher.sum(dim=(1, 2)), lower.sum(dim=(1, 2))

    def best(self) -> dict[str, torch.Tensor]:
        """The permutations with the largest objective, group → (P, m)."""
        return self._at(self.objective.flatten(1).argmax(dim=1))

    def lowest(self) -> dict[str, torch.Tensor]:
        """The permutations with the lowest loss, group → (P, m)."""
        return self._at(self.loss.flatten(1).argmin(dim=1))

    def _at(self, index: torch.Tensor) -> dict[str, torch.Tensor]:
        """The permutations at flat indices (P,), group → (P, m)."""
        n = self.objective.shape[-1]
        m = next(m for m in range(1, n + 1) if math.factorial(m) == n)
        permutations = all_permutations(m)
        return {"0": permutations[index // n], "1": permutations[index % n]}


def every_permutation(a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor) -> AllPermutations:
    """Objective of weight matching and loss halfway of all permutations of P pairs."""
    model = cast(MLP, a.model)
    m = model.sizes[1]
    permutations = all_permutations(m)  # (m!, m)
    pairs = [(a.ordinary([k]), b.ordinary([k])) for k in range(len(a))]
    objectives = [_objectives(left, right, permutations) for left, right in pairs]
    losses = [_losses(*pair, permutations, x, y) for pair in pairs]
    return AllPermutations(torch.stack(objectives), torch.stack(losses))


def _losses(a: Stack, b: Stack, permutations: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Losses halfway of one pair for all p (rows) and q (columns), (m!, m!); one first-layer pass for each p."""
    A, B = ({name: value[0] for name, value in end.params.items()} for end in (a, b))
    n, labels = len(permutations), y.expand(len(permutations), -1).flatten()
    last = ((A["2.weight"] + B["2.weight"][:, permutations].movedim(1, 0)) / 2).mT  # (q, m, classes)
    bias = ((A["1.bias"] + B["1.bias"][permutations]) / 2, (A["2.bias"] + B["2.bias"]) / 2)  # (q, m), (classes,)
    losses = []
    for p in permutations:
        h = torch.relu(x @ ((A["0.weight"] + B["0.weight"][p]) / 2).mT + (A["0.bias"] + B["0.bias"][p]) / 2)  # (n, m)
        between = (A["1.weight"] + B["1.weight"][permutations][:, :, p]) / 2  # (q, m, m)
        outputs = torch.relu(h @ between.mT + bias[0][:, None]) @ last + bias[1]  # (q, n, classes)
        terms = cross_entropy(outputs.flatten(0, 1), labels, reduction="none")
        losses.append(terms.view(n, -1).mean(dim=1, dtype=torch.float64))
    return torch.stack(losses)


def _objectives(a: Stack, b: Stack, permutations: torch.Tensor) -> torch.Tensor:
    """⟨a, π b⟩ of one pair for all p (rows) and q (columns), (m!, m!).

    It is Σ_i S_ip(i) + Σ_i T_iq(i) + Σ_ij A_ij B_q(i)p(j), with S from the weights that only p moves, T from those that
    only q moves, and the maps A and B between the layers.
    """
    A, B = ({name: value[0].double() for name, value in end.params.items()} for end in (a, b))

    def similarity(k: int) -> torch.Tensor:
        """S (k = 0) or T (k = 1), (m, m): inner products of all weights but those of the map between the layers."""
        parts = [(A[name], B[name]) for name in A if name.split(".")[0] == str(k) and (k == 0 or name != "1.weight")]
        parts += [(A["2.weight"].mT, B["2.weight"].mT)] if k == 1 else []
        return torch.stack([u.reshape(len(u), -1) @ v.reshape(len(v), -1).mT for u, v in parts]).sum(dim=0)

    p_terms, q_terms = (matched_sum(similarity(k).expand(len(permutations), -1, -1), permutations) for k in (0, 1))
    between = B["1.weight"][permutations][:, :, permutations]  # (m!, m, m!, m): B_q(i)p(j)
    bilinear = torch.einsum("ij,qipj->pq", A["1.weight"], between)
    return p_terms[:, None] + q_terms + bilinear


def _index(p: torch.Tensor) -> torch.Tensor:
    """Indices of permutations (P, m) in the list of all, (P,)."""
    return (p.cpu()[:, None] == all_permutations(p.shape[-1])).all(dim=-1).long().argmax(dim=1)


#: a, b (P networks each), inputs x (n, …), labels y (n,), seed → group → p (P, m), so that ``b.permuted(p)`` fits to a.
Method = Callable[[Stack, Stack, torch.Tensor, torch.Tensor, int], dict[str, torch.Tensor]]


def methods(restarts: int = 10, steps: int = 100, batch: int = 256) -> dict[str, Method]:
    """Matchers by their names, the references "identity" and "random" first; some ignore the examples or the seed."""

    def weights(count: int) -> Method:
        return lambda a, b, x, y, seed: (
            weight_matching(a.params, b.params, a.model.symmetry(), count, seed).permutations
        )

    def by_loss(search: Callable[..., Best]) -> Method:
        return lambda a, b, x, y, seed: (
            search(
                a.params, b.params, a.model.symmetry(), data_loss(a.model, x, y), steps=steps, seed=seed
            ).permutations
        )

    return {
        "identity": lambda a, b, x, y, seed: identity(a.model.symmetry(), len(a)),
        "random": lambda a, b, x, y, seed: random_permutations(
            a.model.symmetry(), len(a), torch_generator(seed, "random permutations")
        ),
        "weights": weights(1),
        "weights, restarts": weights(restarts),
        "activations": lambda a, b, x, y, seed: activation_matching(a, b, x, batch=batch).permutations,
        "straight-through": by_loss(straight_through),
        "Sinkhorn": by_loss(sinkhorn_rebasin),
    }


#: Kind of networks → norm, and σ_F of their fixed weights.
KINDS: dict[str, tuple[Norm, float | None]] = {
    "plain": ("none", None),
    "layer norm": ("layer", None),
    "σ_F = 0": ("layer", 0.0),
    "σ_F = 1": ("layer", 1.0),
}
WIDE = {"plain, wide": "plain", "layer norm, wide": "layer norm"}  #: wider networks → their kind
#: Plain networks from He's initial weights, six times as large in variance; the first have the seeds of the plain ones.
HE = "plain, He"
HE_TIMES = 4  # as many pairs of them as of plain ones: the ratio of their barriers lies near its border
NAMES = (*KINDS, *WIDE, HE, "small")  #: all runs
SMALL = 5  # neurons in a hidden layer of the small networks


@dataclass(frozen=True)
class Parameters:
    """The parameters of the chapter on which the networks depend."""

    dataset: str
    width: int
    pairs: int
    images: int
    epochs: int
    wide: int
    wide_pairs: int
    small_pairs: int
    small_epochs: int
    seed: int

    def by_name(self) -> dict[str, Run]:
        """The training runs of :data:`NAMES`, two networks for each pair."""
        runs = {kind: self._pairs_of(kind, self.width, self.pairs, kind) for kind in KINDS}
        runs |= {name: self._pairs_of(kind, self.wide, self.wide_pairs, name) for name, kind in WIDE.items()}
        plain = self._pairs_of("plain", self.width, HE_TIMES * self.pairs, "plain")
        runs[HE] = replace(plain, model=replace(cast(MLP, plain.model), init="he"))
        small = MLP((64, SMALL, SMALL, 10))
        descent = Descent(self.small_epochs, 128, "adamw", 1e-2, weight_decay=1e-2)
        return runs | {"small": Run(small, descent, DataSpec("digits"), self._seeds("small", 2 * self.small_pairs))}

    def _seeds(self, name: str, number: int) -> tuple[int, ...]:
        return drawn_seeds(self.seed, f"matched pairs, {name}", number)

    def _pairs_of(self, kind: str, units: int, number: int, drawn_for: str) -> Run:
        norm, sigma = KINDS[kind]
        every = DataSpec(choose((self.dataset, "digits"))[0])
        data = replace(every, n=min(self.images, every.size), seed=self.seed)
        descent = Descent(self.epochs, 128, "adamw", 1e-3, weight_decay=1e-2)
        model = MLP((math.prod(every.shape), units, units, units, 10), norm=norm)
        run = Run(model, descent, data, self._seeds(drawn_for, 2 * number))
        if sigma is None:
            return run
        masks = self._seeds(f"masks of {drawn_for}", number)
        return replace(run, scheme=schemes(model, "w", sigma), mask_seeds=masks)

    def runs(self) -> list[Run]:
        """All training runs."""
        return list(self.by_name().values())


def activation_correlations(W1: torch.Tensor, W2: torch.Tensor) -> torch.Tensor:
    """Exact Pearson correlations of the activations of all pairs of neurons, inputs uniform on the unit sphere.

        ρ(u, v) = (κ(cos θ) − c²)/(κ(1) − c²),      c = E σ(x₁) = Γ(d/2)/(2 √π Γ((d + 1)/2)),

    at the angle θ of u and v, with κ of Zhan, Li & Wu, eq. (8).
    """
    norms = [W.norm(dim=-1, keepdim=True) for W in (W1, W2)]
    d = W1.shape[-1]
    c = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / (2 * math.sqrt(math.pi))
    cosine = (W1 / norms[0]) @ (W2 / norms[1]).mT  # (..., m, m)
    return (kappa(cosine, d) - c**2) / (kappa(1.0, d) - c**2)


def compare_students(
    W1: torch.Tensor, W2: torch.Tensor, M: int, steps: int, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Matcher → barriers (n,) of the pairs of minima, and matcher → seconds for a pair."""
    n, m, _ = W1.shape
    symmetry, objective = Symmetry({"hidden": (Axis("W", 0),)}, {"hidden": m}), barrier_objective(M)

    def loss(params: dict[str, torch.Tensor]) -> torch.Tensor:
        return population_loss(params["W"], M)  # (n,)

    def search(method, **options) -> torch.Tensor:
        return method({"W": W1}, {"W": W2}, symmetry, loss, steps=steps, seed=seed, **options).permutations["hidden"]

    def pair_by_pair(method) -> torch.Tensor:
        return torch.stack([method(a, b) for a, b in zip(W1, W2, strict=True)])

    matchers = {
        "identity": lambda: torch.arange(m).repeat(n, 1),
        "random": lambda: random_permutations(symmetry, n, torch_generator(seed, "random"))["hidden"],
        "Algorithm 1": lambda: pair_by_pair(algorithm_1),
        "weights": lambda: assign(W1 @ W2.mT),
        "pair matching": lambda: pair_by_pair(pair_matching),
        "activations": lambda: assign(activation_correlations(W1, W2)),
        "straight-through": lambda: search(straight_through),
        "Sinkhorn": lambda: search(sinkhorn_rebasin),
        BEST: lambda: pair_by_pair(lambda a, b: best_permutation(a, b, objective)),
    }
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # the first optimiser takes seconds of imports
    barriers, seconds = {}, {}
    for name, matcher in matchers.items():
        began = time.perf_counter()
        p = matcher()
        seconds[name] = (time.perf_counter() - began) / n
        barriers[name] = loss_barrier(lambda W: population_loss(W, M), W1, permute(W2, p), GRID).clamp(min=0).numpy()
    return barriers, seconds


Examples = tuple[torch.Tensor, torch.Tensor]  # inputs (n, …) and labels (n,)


@dataclass(frozen=True, eq=False)
class Match:
    """The result of a matcher on P pairs."""

    permutations: dict[str, torch.Tensor]  # group → p (P, m)
    seconds: float  # of the matcher for one pair
    objective: torch.Tensor  # (P,), ⟨a, π b⟩ / (‖a‖ ‖b‖), which weight matching maximises
    barrier: torch.Tensor  # (P,), loss halfway less the mean of the ends
    drop: torch.Tensor  # (P,), mean accuracy of the ends less that halfway, in percentage points
    repaired_barrier: torch.Tensor  # (P,), with REPAIR


def match(
    a: Stack,
    b: Stack,
    matcher: Callable[[], Permutations],
    x: torch.Tensor,
    test: Examples,
    chord: tuple[torch.Tensor, torch.Tensor] | None = None,
) -> Match:
    """Run a matcher and measure its result on the examples ``test``."""
    began = time.perf_counter()
    p = dict(matcher())
    seconds = (time.perf_counter() - began) / len(a)
    moved = b.permuted(p)
    loss, accuracy = chord or _chord(a, b, test)
    line, merged = along_segments(a, moved, *test, [0.5]), scores(repair_stacks(a, moved, (x, x))[0], *test)
    size = (agreement(a.params, a.params) * agreement(b.params, b.params)).sqrt()
    return Match(
        permutations=p,
        seconds=seconds,
        objective=agreement(a.params, moved.params) / size,
        barrier=line.loss[:, 0] - loss,
        drop=100 * (accuracy - line.accuracy[:, 0]),
        repaired_barrier=merged.loss[:, 0] - loss,
    )


@dataclass(frozen=True, eq=False)
class Descents:
    """Objective and barrier halfway after R descents of weight matching for P pairs."""

    objective: torch.Tensor  # (R, P)
    barrier: torch.Tensor  # (R, P)

    def rank_correlations(self) -> np.ndarray:
        """Spearman's correlation of objective and barrier over the descents of each pair, (P,)."""
        return np.array([spearmanr(*pair).statistic for pair in zip(self.objective.T, self.barrier.T, strict=True)])


def descents(a: Stack, b: Stack, number: int, test: Examples, seed: int) -> Descents:
    """Local optima of weight matching from uniform starts, independent for each pair."""
    symmetry, size = a.model.symmetry(), (agreement(a.params, a.params) * agreement(b.params, b.params)).sqrt()
    objective, barrier, (chord, _) = [], [], _chord(a, b, test)
    for r in range(number):
        start = random_permutations(symmetry, len(a), torch_generator(seed, f"start of descent {r}"))
        moved = b.permuted(weight_matching(a.params, b.params, symmetry, 1, seed + r, start).permutations)
        objective.append(agreement(a.params, moved.params) / size)
        barrier.append(along_segments(a, moved, *test, [0.5]).loss[:, 0] - chord)
    return Descents(torch.stack(objective), torch.stack(barrier))


def cross_fitted_gain(values: Mapping[str, torch.Tensor]) -> np.ndarray:
    """By how much the best of several methods lies below the identity, (P,), cross-fitted."""
    others = [name for name in values if name != "identity"]
    table = np.stack([np.asarray(values[name], dtype=float) for name in others])  # (methods, P)
    gain = np.empty(table.shape[1])
    for half in (0, 1):
        best = table[:, 1 - half :: 2].mean(axis=1).argmin()
        gain[half::2] = np.asarray(values["identity"], dtype=float)[half::2] - table[best, half::2]
    return gain


class Pairs:
    """P pairs of one kind, and the result of each matcher, computed on first use."""

    def __init__(
        self, a: Stack, b: Stack, matchers: Mapping[str, Method], train: Examples, test: Examples, seed: int
    ) -> None:
        self.a, self.b, self.matchers, self.train, self.test, self.seed = a, b, matchers, train, test, seed
        self.chord = _chord(a, b, test)
        self._matches: dict[str, Match] = {}

    def __getitem__(self, name: str) -> Match:
        if name not in self._matches:
            matcher = self.matchers[name]
            run = lambda: matcher(self.a, self.b, *self.train, self.seed)  # noqa: E731
            self._matches[name] = match(self.a, self.b, run, self.train[0], self.test, self.chord)
        return self._matches[name]

    def moved(self, name: str) -> Stack:
        """The networks b after a matcher."""
        return self.b.permuted(self[name].permutations)

    def ratio(self, above: str, below: str) -> tuple[float, float]:
        """Ratio of the mean barriers of two matchers, and its standard error over pairs."""
        return ratio_of_means(self[above].barrier, self[below].barrier, paired=True)

    def repaired(self, name: str) -> tuple[float, float]:
        """Ratio of the mean barriers with and without REPAIR, and its standard error over pairs."""
        return ratio_of_means(self[name].repaired_barrier, self[name].barrier, paired=True)

    def wins(self, names: Iterable[str]) -> dict[str, int]:
        """Matcher → number of pairs with the lowest barrier without REPAIR; ties count for each."""
        names = tuple(names)
        values = torch.stack([self[name].barrier for name in names])
        return dict(zip(names, (values == values.amin(dim=0)).sum(dim=1).tolist(), strict=True))


def _chord(a: Stack, b: Stack, test: Examples) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean loss and accuracy of the two ends, (P,) each."""
    line = along_segments(a, b, *test, (0, 1))
    return line.loss.mean(dim=1), line.accuracy.mean(dim=1)
