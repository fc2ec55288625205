"""The experiment on coherence of Bürgin et al., App. F.5, for the chapter *coherence*.

An input is x = U z with z = (a, b) normal and U (d, 2) with orthonormal columns, eq. (275). Both families of the paper,
(276) and (277), leave d − 2k rows of U at 0 and give each of the others the squared norm 1/k, so that the coherence,
the largest leverage ν = max_ℓ (U Uᵀ)_ℓℓ, eq. (11), is exactly 1/k. A student is f(x) = Σ_i ReLU((D ⊙ W)_i · x + b_i).

A point of the experiment has G masks and r pairs of students for each. Masks are independent, pairs that share one are
not. A mask has its own data; the g-th masks of all points of one call have the same data and seeds, so that differences
between points are paired.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from scipy.stats import binom, norm

from lmc_helpers.barrier import check_lambdas
from lmc_helpers.matching import weight_matching
from lmc_helpers.seeds import normal, numpy_generator, torch_generator
from lmc_helpers.training.examples import epoch_order
from lmc_helpers.training.recipes import Descent

DIMENSION = 20  # d of App. F.5


def target(z: torch.Tensor) -> torch.Tensor:
    """ReLU(a + b); its mean square over normal latents is 1."""
    return torch.relu(z.sum(dim=-1))


def exact_copy(k: int, d: int = DIMENSION) -> torch.Tensor:
    """The embedding (276): coordinates 1, 3, …, 2k − 1 hold a/√k and 2, 4, …, 2k hold b/√k."""
    U = torch.zeros(d, 2, dtype=torch.float64)
    U[0 : 2 * k : 2, 0] = U[1 : 2 * k : 2, 1] = 1 / math.sqrt(k)
    return U


def unequal_copy(k: int, nu: float, d: int = DIMENSION) -> torch.Tensor:
    """Unequal copies on the coordinates of (276): one copy of each latent has leverage ν, the others share 1 − ν.

    Not in the paper: ν changes, but not which coordinates hold which latent.
    """
    U = exact_copy(k, d) * math.sqrt(k * (1 - nu) / (k - 1))
    U[0, 0] = U[1, 1] = math.sqrt(nu)
    return U


@dataclass(frozen=True)
class Frame:
    """The random part of (277), the same for all k."""

    permutation: torch.Tensor  # of the coordinates, (d,)
    angles: torch.Tensor  # (d/2,), in [0, π)


def sample_frame(seed: int, d: int = DIMENSION) -> Frame:
    """A random permutation of the coordinates and uniform angles."""
    generator = torch_generator(seed, "random frame")
    permutation = torch.randperm(d, generator=generator)
    return Frame(permutation, math.pi * torch.rand(d // 2, generator=generator, dtype=torch.float64))


def random_frame(k: int, frame: Frame) -> torch.Tensor:
    """The embedding (277): k pairs of coordinates, each pair a rotation of (a, b)/√k."""
    d = len(frame.permutation)
    cos, sin = frame.angles[:k].cos(), frame.angles[:k].sin()
    rows = torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], dim=1)  # (k, 2, 2)
    U = torch.zeros(d, 2, dtype=torch.float64)
    U[frame.permutation[: 2 * k]] = rows.flatten(0, 1) / math.sqrt(k)
    return U


RANK_TOLERANCE = 1e-12  # for eigenvalues of S_i, which are at most 1


def bernoulli_masks(G: int, m: int, d: int, p: float, seed: int) -> torch.Tensor:
    """G masks of independent Bernoulli(p) entries."""
    uniform = torch.rand(G, m, d, generator=torch_generator(seed, "masks"), dtype=torch.float64)
    return (uniform < p).double()


def ranks(U: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """Rank of S_i = Uᵀ Diag(d_i)² U, eq. (9), for every neuron: how many latent directions it sees."""
    M = D[..., None] * U[..., None, :, :]  # (..., m, d, k)
    return (torch.linalg.eigvalsh(M.mT @ M) > RANK_TOLERANCE).sum(dim=-1)


def rank_law(k: int, p: float, family: str) -> tuple[float, float, float]:
    """Probabilities that S_i has rank 0, 1 and 2 for a Bernoulli(p) mask."""
    blind = (1 - p) ** (2 * k)
    if family == "exact-copy":
        v = 1 - (1 - p) ** k
        return blind, 2 * v * (1 - v), v * v
    one = 2 * k * p * (1 - p) ** (2 * k - 1)
    return blind, one, 1 - blind - one


def mask_probability(k: int, v: float) -> float:
    """The p of a Bernoulli mask that sees at least one of k copies with probability v: 1 − (1 − v)^(1/k)."""
    return -math.expm1(math.log1p(-v) / k) if v < 1 else 1.0


def relative_anisotropy(k: int, p: float) -> float:
    """Var (S_i)_cc / (E (S_i)_cc)² = (1 − p)/(p k) in the exact-copy family, where k (S_i)_cc is binomial."""
    return (1 - p) / (p * k)


def mean_cost(k: int, p: float) -> float:
    """Mean squared realization cost of the direction (1, 1) with F = 0 for a neuron that sees both latents."""
    n = np.arange(1, k + 1)
    weight = binom.pmf(n, k, p)
    return float(2 * k * (weight / n).sum() / weight.sum())


def same_counts(k: int, p: float) -> float:
    """Probability of equal (n_a, n_b) for two neurons that see both latents, in the exact-copy family."""
    weight = binom.pmf(np.arange(1, k + 1), k, p)
    return float(((weight / weight.sum()) ** 2).sum() ** 2)


F5 = Descent(epochs=100, batch=512, optimiser="adamw", rate=1e-2, weight_decay=1e-2)  # App. F.5; biases decay too
SCALE = 0.05  # standard deviation of the initial weights
BETAS, EPS = (0.9, 0.999), 1e-8  # of AdamW
CHUNK = 2**18  # activations of a batch of networks: 1 MiB, which fits in a core's cache
_TRAINED: dict[int, torch.Tensor] = {}  # students by all that they depend on: several points share some


@dataclass(frozen=True)
class Students:
    """Trained students: G groups of r."""

    W: torch.Tensor  # weights (G, r, m, d)
    b: torch.Tensor  # biases (G, r, m)
    A: torch.Tensor  # (D ⊙ W) U, (G, r, m, 2)


def raw_weights(seeds: Sequence[int], m: int, d: int) -> torch.Tensor:
    """Initial weights W from N(0, 0.05²), unmasked, one network for each seed."""
    drawn = {seed: SCALE * normal((m, d), seed, "initial weights") for seed in dict.fromkeys(seeds)}
    return torch.stack([drawn[seed] for seed in seeds])


def train_students(
    U: torch.Tensor,
    D: torch.Tensor,
    z: torch.Tensor,
    seeds: Sequence[Sequence[int]],
    recipe: Descent = F5,
    dtype: torch.dtype = torch.float32,
    start: torch.Tensor | None = None,
) -> Students:
    """Train G groups of r students; a group shares U (d, 2), D (m, d) and the latents, of (G, n, 2) or (n, 2).

    AdamW acts on all of W (m, d) and b, but is computed in the latent plane with the same result:
    (D ⊙ W)_i · x = A_i · z with A = (D ⊙ W) U, and ∂L/∂W = D ⊙ (∂L/∂A Uᵀ). An entry that is masked, or whose row of U
    is 0, has gradient 0, and t steps multiply it by (1 − rate · decay)^t. A neuron that sees only zero rows of U keeps
    b_i = 0, since ReLU'(0) = 0, and is left out. Rounding in float32 is orders of magnitude below the noise from the
    order of the examples. One thread is faster than two on such small matrices; for more cores split the groups between
    processes.
    """
    groups = [list(group) for group in seeds]
    m, n = D.shape[1], z.shape[-2]
    flat = list(dict.fromkeys(seed for group in groups for seed in group))
    row = {seed: i for i, seed in enumerate(flat)}
    orders = _orders(tuple(flat), n, recipe.epochs)
    z = z.expand(len(groups), -1, -1)
    z3 = torch.cat([z, torch.ones(*z.shape[:2], 1)], dim=-1).to(dtype)  # (a, b, 1)
    y = target(z).to(dtype)
    raws: list[torch.Tensor] = []
    biases: list[torch.Tensor] = []
    for g, (u, mask, group) in enumerate(zip(U.double(), D.double(), groups, strict=True)):
        first = raw_weights(group, m, D.shape[2]) if start is None else start[g].double()  # (r, m, d)
        rows = (u != 0).any(dim=1)
        live = (mask[:, rows] != 0).any(dim=1)
        decay = (1 - recipe.rate * recipe.weight_decay) ** (recipe.epochs * -(-n // recipe.batch))
        raw, bias = first * decay, torch.zeros(len(group), m, dtype=torch.float64)
        chosen = torch.tensor([row[seed] for seed in group])
        size = max(1, CHUNK // (min(recipe.batch, n) * max(1, int(live.sum()))))
        for part in torch.arange(len(group)).split(_even(len(group), size)):
            if not live.any() or not recipe.epochs:
                break
            given = u[rows], mask[live][:, rows], first[part][:, live][..., rows], z3[g]
            seen = *(t.numpy().tobytes() for t in given), *(group[i] for i in part), recipe
            if (key := hash(seen)) not in _TRAINED:
                _TRAINED[key] = _train(*given, y[g], orders[:, chosen[part]], recipe)
            P = _TRAINED[key]
            neurons, columns = live.nonzero(), rows.nonzero().flatten()
            raw[part[:, None, None], neurons, columns] = P[:, :-1].mT
            bias[part[:, None], neurons.flatten()] = P[:, -1]
        raws.append(raw)
        biases.append(bias)
    W, b = torch.stack(raws), torch.stack(biases)
    return Students(W, b, (D.double()[:, None] * W) @ U.double()[:, None])


@lru_cache(maxsize=2)  # many points have the same seeds
def _orders(seeds: tuple[int, ...], n: int, epochs: int) -> torch.Tensor:
    """The orders (epochs, len(seeds), n) in which students see n examples."""
    kind = torch.int16 if n < 2**15 else torch.int64
    return torch.stack([epoch_order(seeds, n, epoch).to(kind) for epoch in range(epochs)] or [torch.empty(0)])


def _train(u, mask, start, z3, y, orders, recipe: Descent) -> torch.Tensor:
    """Train students of one group, restricted to live neurons and rows; P (r, l + 1, m), weights above biases."""
    r, m, rows = start.shape
    dtype = z3.dtype
    lift = torch.zeros(3, rows + 1, dtype=dtype)  # A and b from W and b
    lift[:2, :rows], lift[2, rows] = u.T, 1
    lift = lift.expand(r, -1, -1)
    D = torch.cat([mask.T, torch.ones(1, m)]).to(dtype)  # (l + 1, m)
    P = torch.cat([start.mT, torch.zeros(r, 1, m)], dim=1).to(dtype)  # (r, l + 1, m)
    first, second = torch.zeros_like(P), torch.zeros_like(P)
    shrink = torch.full((rows + 1, 1), 1 - recipe.rate * recipe.weight_decay, dtype=dtype)
    if recipe.decay == "weights":
        shrink[-1] = 1  # the biases
    step = 0
    for order in orders:
        order = order.long().flatten()
        inputs, targets = z3.index_select(0, order).view(r, -1, 3), y.index_select(0, order).view(r, -1)
        for x, t in zip(inputs.split(recipe.batch, dim=1), targets.split(recipe.batch, dim=1), strict=True):
            h = torch.bmm(x, torch.bmm(lift, D * P))  # preactivations (r, B, m)
            h.clamp_(min=0)
            residual = torch.sub(h.sum(dim=2), t).mul_(2 / t.shape[1])  # ∂L/∂f (r, B)
            h.gt_(0)  # ReLU'
            G = torch.bmm(lift.mT, torch.bmm(x.mT * residual[:, None], h)).mul_(D)  # ∂L/∂(W, b) (r, l + 1, m)
            step += 1
            first.lerp_(G, 1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(G, G, value=1 - BETAS[1])
            spread = second.sqrt().mul_(1 / math.sqrt(1 - BETAS[1] ** step)).add_(EPS)
            P.mul_(shrink).addcdiv_(first, spread, value=-recipe.rate / (1 - BETAS[0] ** step))
    return P.double()


def _even(total: int, size: int) -> int:
    """The part size, at most ``size``, that splits ``total`` as evenly as possible."""
    return -(-total // -(-total // size))


def line_losses(students: Students, pairs: torch.Tensor, z: torch.Tensor, lambdas: Sequence[float]) -> torch.Tensor:
    """Mean squared errors (G, pairs, L) of λ a + (1 − λ) b for pairs (a, b) of students of each group.

    The latents are (n, 2), or (G, n, 2), those of each group.
    """
    lam = check_lambdas(lambdas)[:, None, None]
    G, _r, _ = students.b.shape
    full = torch.cat([students.A, students.b[..., None]], dim=-1)  # (G, r, m, 3)
    z = z.expand(G, -1, -1)
    z3 = torch.cat([z, torch.ones(*z.shape[:2], 1)], dim=-1).float()
    y = target(z).float()
    losses = torch.empty(G, len(pairs), len(lam), dtype=torch.float64)
    for g in range(G):
        live = (students.A[g] != 0).any(dim=0).any(dim=-1) | (students.b[g] != 0).any(dim=0)  # the others are 0
        size = max(1, CHUNK // max(1, int(live.sum())))
        for p, (i, j) in enumerate(pairs.tolist()):
            a, b = full[g, i][live], full[g, j][live]
            nets = (lam * a + (1 - lam) * b).float().mT.contiguous()  # (L, 3, live)
            for q, net in enumerate(nets):
                total = 0.0
                for x, t in zip(z3[g].split(size), y[g].split(size), strict=True):
                    total += (torch.mm(x, net).clamp_(min=0).sum(dim=1) - t).square_().sum().item()
                losses[g, p, q] = total / z.shape[1]
    return losses


TRAINING, TEST = 1024, 2048  # numbers of examples, App. F.5
ENDS_AND_MIDDLE = (1.0, 0.5, 0.0)  # λ; λ = 1 is the first student


@dataclass(frozen=True)
class Point:
    """Losses on the lines between the students of one point."""

    test: torch.Tensor  # (G, r, L), loss on test examples at each λ
    train: torch.Tensor  # (G, r, 3), loss on the training examples at λ = 1, ½ and 0
    both: float  # mean number of neurons that see both latents (rank 2)


def data_sets(G: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Training and test latents of G masks, (G, 1024, 2) and (G, 2048, 2)."""
    return normal((G, TRAINING, 2), seed, "training latents"), normal((G, TEST, 2), seed, "test latents")


def student_seeds(G: int, pairs: int, seed: int) -> list[list[int]]:
    """Seeds of 2 ``pairs`` students for each of G masks."""
    rng = numpy_generator(seed, "seeds of students")
    return rng.integers(2**32, size=(G, 2 * pairs)).tolist()


def measure_points(
    cells: Sequence[tuple[torch.Tensor, torch.Tensor]],
    pairs: int,
    seed: int,
    lambdas: Sequence[float] = ENDS_AND_MIDDLE,
    recipe: Descent = F5,
    dtype: torch.dtype = torch.float32,
) -> list[Point]:
    """Train the students of several points, each with its U and masks, and measure the lines between them."""
    sizes = sorted({len(D) for _, D in cells})
    G = sizes[0]
    U = torch.cat([U.expand(G, -1, -1) for U, _ in cells])
    D = torch.cat([D for _, D in cells])
    z, z_test = (part.repeat(len(cells), 1, 1) for part in data_sets(G, seed))
    students = train_students(U, D, z, student_seeds(G, pairs, seed) * len(cells), recipe, dtype)
    two = torch.arange(2 * pairs).view(-1, 2)
    shape = (len(cells), G, pairs, -1)
    test = line_losses(students, two, z_test, lambdas).view(shape)
    train = line_losses(students, two, z, ENDS_AND_MIDDLE).view(shape)
    both = (ranks(U, D) == 2).sum(dim=1).double().view(len(cells), G)
    return [Point(*values) for values in zip(test, train, both.mean(dim=1).tolist(), strict=True)]


def copies_seen(U: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """(n_a, n_b) of each neuron: the number of unmasked coordinates that hold each latent."""
    holds = U != 0
    return ((D != 0).double() @ holds.double()).long()


def masks_with_counts(counts: Sequence[tuple[int, int]], G: int, k: int, d: int, seed: int) -> torch.Tensor:
    """G masks whose i-th neuron sees given numbers of the k copies of each latent, at random positions."""
    visible = torch.tensor(counts, dtype=torch.long).view(-1, 2)
    uniform = torch.rand(G, len(visible), 2, k, generator=torch_generator(seed, "places of the copies"))
    rank = uniform.argsort(dim=-1).argsort(dim=-1)  # (G, m, 2, k)
    D = torch.zeros(G, len(visible), d, dtype=torch.float64)
    D[..., : 2 * k] = (rank < visible[..., None]).double().mT.flatten(-2)  # a and b in turn
    return D


def align_in_classes(students: Students, copies: torch.Tensor) -> Students:
    """Students in pairs, the second one matched to the first within classes of equal counts (n_a, n_b).

    For exact copies such neurons are exchangeable: permuting their (A_i, b_i) changes neither the student nor the law
    of its training.
    """
    G, r, _m = students.b.shape
    full = torch.cat([students.A, students.b[..., None]], dim=-1)  # (G, r, m, 3)
    A, b = students.A.clone(), students.b.clone()
    for g in range(G):
        classes = copies[g].unique(dim=0, return_inverse=True)[1]
        for c in range(int(classes.max()) + 1):
            members = (classes == c).nonzero().flatten()
            for i in range(0, r, 2):
                p = members[weight_matching(full[g, i, members], full[g, i + 1, members])]
                A[g, i + 1, members], b[g, i + 1, members] = students.A[g, i + 1, p], students.b[g, i + 1, p]
    return replace(students, A=A, b=b)


ON = 0.25  # a neuron is on if positive on more than this share of the examples; ReLU(a + b) is positive on half


def _preactivations(students: Students, g: int, z: torch.Tensor) -> torch.Tensor:
    """Preactivations (r, n, m) of group g; latents as in :func:`line_losses`."""
    return z.expand(len(students.b), -1, -1)[g] @ students.A[g].mT + students.b[g][:, None]


def shares_on(students: Students, z: torch.Tensor) -> torch.Tensor:
    """Share of the examples on which each neuron is positive, (G, r, m)."""
    groups = range(len(students.b))
    return torch.stack([(_preactivations(students, g, z) > 0).double().mean(dim=1) for g in groups])


def are_on(students: Students, z: torch.Tensor) -> torch.Tensor:
    """True for neurons that are on, (G, r, m): positive on more than a quarter of the examples."""
    return shares_on(students, z) > ON


def switch_off(students: Students, on: torch.Tensor) -> Students:
    """Students with all weights and biases of the other neurons set to 0."""
    keep = on.to(students.b)
    return replace(students, W=students.W * keep[..., None], b=students.b * keep, A=students.A * keep[..., None])


def middle_lacks(students: Students, z: torch.Tensor) -> torch.Tensor:
    """Mean of g_i over examples for each neuron of each pair, (G, pairs, m).

    g_i is ½ min(``|u_i|, |v_i|``) where the preactivations u_i and v_i at the ends have opposite signs, and else 0. As
    ReLU is convex, the student in the middle lies below the mean of the ends by Σ_i g_i.
    """
    G, _r, _ = students.b.shape
    deficits = []
    for g in range(G):
        u = _preactivations(students, g, z)
        u, v = u[0::2], u[1::2]  # (pairs, n, m)
        deficits.append((torch.minimum(u.abs(), v.abs()) * (u * v < 0) / 2).mean(dim=1))
    return torch.stack(deficits)


def two_state_barrier(N: float, on: float, beta: float) -> float:
    """Barrier between two students of N neurons, each on with probability ``on``, independently in both runs."""
    tau = on * N * beta
    x = tau / math.sqrt(2)
    mean = 2 * (norm.cdf(x) - 0.5 - x * norm.pdf(x)) + tau**2 * norm.sf(x)  # E min(s₊, τ)²
    return float((1 - on) ** 2 * mean)
