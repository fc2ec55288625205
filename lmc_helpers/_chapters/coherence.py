"""What chapter *coherence* computes and no other part of the package needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.stats import binom, norm

from lmc_helpers.barrier import check_places
from lmc_helpers.matching import weight_matching
from lmc_helpers.seeds import normal, numpy_generator, torch_generator
from lmc_helpers.training._examples import epoch_order
from lmc_helpers.training.recipes import Descent

# ---------- coherence inputs
#
# Inputs of a chosen coherence (Bürgin et al., App. F.5): two latent variables embedded into d coordinates.
#
# An input is x = U (a, b)ᵀ with (a, b) normal and U (d, 2) with orthonormal columns, eq. (275). Both families of the
# paper, :func:`exact_copy` and :func:`random_frame`, leave d − 2k rows of U at 0 and give each of the other 2k rows
# the
# squared norm 1/k, so that the coherence, the largest leverage
#
# ν = max_ℓ (U Uᵀ)_ℓℓ                                                                        (11)
#
# is exactly 1/k. :func:`unequal_copy` is this book's: it changes ν and not which coordinates hold which latent. The
# target is ReLU(a + b).


DIMENSION = 20  # d of App. F.5


def latents(n: int, seed: int, purpose: str = "latents") -> torch.Tensor:
    """n standard normal pairs (a, b)."""
    return normal((n, 2), seed, purpose)


def target(z: torch.Tensor) -> torch.Tensor:
    """ReLU(a + b); its mean square over normal latents is 1."""
    return torch.relu(z.sum(dim=-1))


def exact_copy(k: int, d: int = DIMENSION) -> torch.Tensor:
    """The embedding (276): coordinates 1, 3, …, 2k − 1 hold a/√k and 2, 4, …, 2k hold b/√k."""
    U = torch.zeros(d, 2, dtype=torch.float64)
    U[0 : 2 * k : 2, 0] = U[1 : 2 * k : 2, 1] = 1 / math.sqrt(k)
    return U


def unequal_copy(k: int, nu: float, d: int = DIMENSION) -> torch.Tensor:
    """Copies of unequal size on the coordinates of (276): of each latent one has leverage ν, the rest share 1 − ν."""
    U = exact_copy(k, d) * math.sqrt(k * (1 - nu) / (k - 1))
    U[0, 0] = U[1, 1] = math.sqrt(nu)
    return U


@dataclass(frozen=True)
class Frame:
    """What (277) draws once for all k: a permutation (d,) of the coordinates and d/2 angles in [0, π)."""

    permutation: torch.Tensor
    angles: torch.Tensor


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


# ---------- visibility
#
# What the neurons of a masked layer can see of a latent plane, and the exact laws of App. F.5 (Bürgin et al.).
#
# A neuron with mask d_i sees the plane through S_i = Uᵀ Diag(d_i)² U, eq. (9). Its rank is 0 (the neuron sees
# nothing),
# 1 (it sees one direction) or 2 (it sees the plane). For Bernoulli(p) masks the laws of the rank are elementary.


RANK_TOLERANCE = 1e-12  # of an eigenvalue of S_i; U has orthonormal columns


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
    """Mean squared realization cost of the target's direction (1, 1) with F = 0, given that a neuron sees both
    latents."""
    n = np.arange(1, k + 1)
    weight = binom.pmf(n, k, p)
    return float(2 * k * (weight / n).sum() / weight.sum())


def same_counts(k: int, p: float) -> float:
    """Probability that two neurons which see both latents see the same numbers of copies (n_a, n_b), exact-copy
    family."""
    weight = binom.pmf(np.arange(1, k + 1), k, p)
    return float(((weight / weight.sum()) ** 2).sum() ** 2)


# ---------- coherence students
#
# The students of the coherence experiment (Bürgin et al., App. F.5), trained in the two dimensions that they see.
#
# A student is f(x) = Σ_i ReLU((D ⊙ W)_i · x + b_i) with x = U z, z in the plane. Three facts keep the algorithm,
# AdamW on
# all entries of W (m × d) and b, and shrink the arithmetic:
#
# - (D ⊙ W)_i · x = A_i · z with A = (D ⊙ W) U, m × 2, so that the forward pass and ∂L/∂A need no product with d
# numbers;
# ∂L/∂W = D ⊙ (∂L/∂A Uᵀ).
# - An entry of W that is masked, or whose row of U is 0, has gradient 0. Its moments stay 0, and the decay is all
# that moves it: after t steps it is (1 − rate · decay)^t times what it was.
# - A neuron whose seen rows of U are all 0 starts with preactivation b_i = 0. As ReLU'(0) = 0, b_i never moves and
# the
# neuron is 0 for ever; it is left out.
#
# Gradients are written out. Networks are trained in float32 unless asked otherwise: the noise of the order of the
# examples is many orders above its rounding. The matrices are small, and one thread is faster than two; for more
# cores
# split the groups between processes.


F5 = Descent(epochs=100, batch=512, optimiser="adamw", rate=1e-2, weight_decay=1e-2)  # App. F.5; biases decay, too
SCALE = 0.05  # standard deviation of the initial weights
BETAS, EPS = (0.9, 0.999), 1e-8  # of AdamW
CHUNK = 2**18  # activations of one batch of networks: 1 MiB, which a core's cache holds


@dataclass(frozen=True)
class Students:
    """Trained students of G groups of r: weights W (G, r, m, d), biases b (G, r, m), and A = (D ⊙ W) U (G, r, m, 2)."""

    W: torch.Tensor
    b: torch.Tensor
    A: torch.Tensor


def raw_weights(seeds: Sequence[int], m: int, d: int) -> torch.Tensor:
    """Raw weights W from N(0, 0.05²) before training, with no mask applied; they depend on the seed only."""
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
    """Train G groups of r students; those of a group share U and D."""
    groups = [list(group) for group in seeds]
    m, n = D.shape[1], len(z)
    flat = list(dict.fromkeys(seed for group in groups for seed in group))
    place = {seed: i for i, seed in enumerate(flat)}
    kind = torch.int16 if n < 2**15 else torch.int64
    orders = torch.stack([epoch_order(flat, n, epoch).to(kind) for epoch in range(recipe.epochs)] or [torch.empty(0)])
    z3 = torch.cat([z, torch.ones(n, 1)], dim=1).to(dtype)  # (a, b, 1)
    y = target(z).to(dtype)
    raws: list[torch.Tensor] = []
    biases: list[torch.Tensor] = []
    for g, (u, mask, group) in enumerate(zip(U.double(), D.double(), groups, strict=True)):
        first = raw_weights(group, m, D.shape[2]) if start is None else start[g].double()  # (r, m, d)
        rows = (u != 0).any(dim=1)
        live = (mask[:, rows] != 0).any(dim=1)
        forgotten = (1 - recipe.rate * recipe.weight_decay) ** (recipe.epochs * -(-n // recipe.batch))
        raw, bias = first * forgotten, torch.zeros(len(group), m, dtype=torch.float64)
        chosen = torch.tensor([place[seed] for seed in group])
        size = max(1, CHUNK // (min(recipe.batch, n) * max(1, int(live.sum()))))
        for part in torch.arange(len(group)).split(_even(len(group), size)):
            if not live.any() or not recipe.epochs:
                break
            mine = orders[:, chosen[part]]
            P = _train(u[rows], mask[live][:, rows], first[part][:, live][..., rows], z3, y, mine, recipe)
            neurons, columns = live.nonzero(), rows.nonzero().flatten()
            raw[part[:, None, None], neurons, columns] = P[:, :-1].mT
            bias[part[:, None], neurons.flatten()] = P[:, -1]
        raws.append(raw)
        biases.append(bias)
    W, b = torch.stack(raws), torch.stack(biases)
    return Students(W, b, (D.double()[:, None] * W) @ U.double()[:, None])


def _train(u, mask, start, z3, y, orders, recipe: Descent) -> torch.Tensor:
    """Train some students of one group on their live neurons and rows."""
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
        for start_of, end_of in _batches(inputs.shape[1], recipe.batch):
            x, t = inputs[:, start_of:end_of], targets[:, start_of:end_of]
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


def _batches(n: int, batch: int) -> list[tuple[int, int]]:
    return [(s, min(s + batch, n)) for s in range(0, n, batch)]


def _even(total: int, size: int) -> int:
    """A size of at most ``size`` that splits ``total`` into parts as even as they can be."""
    return -(-total // -(-total // size))


def line_losses(
    students: Students,
    pairs: torch.Tensor,
    z: torch.Tensor,
    lambdas: Sequence[float],
    dtype: torch.dtype = torch.float32,
) -> torch.Tensor:
    """Mean squared errors of λ a + (1 − λ) b for pairs (a, b) of students of each group."""
    places = check_places(lambdas)
    G, _r, _ = students.b.shape
    full = torch.cat([students.A, students.b[..., None]], dim=-1)  # (G, r, m, 3)
    z3 = torch.cat([z, torch.ones(len(z), 1)], dim=1).to(dtype)
    y, lam = target(z).to(dtype), places[:, None, None]
    found = torch.empty(G, len(pairs), len(places), dtype=torch.float64)
    for g in range(G):
        live = (students.A[g] != 0).any(dim=0).any(dim=-1) | (students.b[g] != 0).any(dim=0)  # the others are 0
        size = max(1, CHUNK // max(1, int(live.sum())))
        for p, (i, j) in enumerate(pairs.tolist()):
            a, b = full[g, i][live], full[g, j][live]
            nets = (lam * a + (1 - lam) * b).to(dtype).mT.contiguous()  # (L, 3, live)
            for q, net in enumerate(nets):
                total = 0.0
                for x, goal in zip(z3.split(size), y.split(size), strict=True):
                    total += (torch.mm(x, net).clamp_(min=0).sum(dim=1) - goal).square_().sum().item()
                found[g, p, q] = total / len(z)
    return found


# ---------- coherence points
#
# Points of the coherence experiment: students of one U and one law of masks, in pairs (Bürgin et al., App. F.5).
#
# A point has G masks and r pairs of students for each of them. Pairs that share a mask are not independent, masks are
# (:func:`lmc_helpers.error_bars.over_clusters`). All points of one call train on the same latents, and the g-th mask
# of
# each has the same seeds of students, so that differences between points are paired.


TRAINING, TEST = 1024, 2048  # examples, App. F.5
PLACES = (1.0, 0.5, 0.0)  # λ of the two ends and the middle; λ = 1 is the first student


@dataclass(frozen=True)
class Point:
    """Losses on the lines between the students of one point."""

    test: torch.Tensor  # (G, r, L), loss on unseen examples at the places λ
    train: torch.Tensor  # (G, r, 3), loss on the training examples at λ = 1, ½ and 0
    both: float  # neurons that see both latents (rank 2), mean over the masks


def student_seeds(G: int, pairs: int, seed: int) -> list[list[int]]:
    """Seeds of 2 ``pairs`` students for each of G masks."""
    rng = numpy_generator(seed, "seeds of students")
    return rng.integers(2**32, size=(G, 2 * pairs)).tolist()


def measure_points(
    cells: Sequence[tuple[torch.Tensor, torch.Tensor]],
    pairs: int,
    seed: int,
    lambdas: Sequence[float] = PLACES,
    recipe: Descent = F5,
    dtype: torch.dtype = torch.float32,
) -> list[Point]:
    """Train the students of several points, each at its own U and masks, and measure the lines between them."""
    sizes = sorted({len(D) for _, D in cells})
    G = sizes[0]
    U = torch.cat([U.expand(G, -1, -1) for U, _ in cells])
    D = torch.cat([D for _, D in cells])
    z, unseen = latents(TRAINING, seed, "training latents"), latents(TEST, seed, "test latents")
    students = train_students(U, D, z, student_seeds(G, pairs, seed) * len(cells), recipe, dtype)
    two = torch.arange(2 * pairs).view(-1, 2)
    shape = (len(cells), G, pairs, -1)
    test = line_losses(students, two, unseen, lambdas).view(shape)
    train = line_losses(students, two, z, PLACES).view(shape)
    both = (ranks(U, D) == 2).sum(dim=1).double().view(len(cells), G)
    return [Point(*found) for found in zip(test, train, both.mean(dim=1).tolist(), strict=True)]


# ---------- exchangeable neurons
#
# Neurons that the exact-copy inputs of App. F.5 (Bürgin et al.) make exchangeable, and students matched within them.
#
# A neuron sees n_a copies of the one latent and n_b of the other. Neurons with equal (n_a, n_b) are exchangeable: to
# permute their (A_i, b_i) changes neither the student nor the law of its training, so that two runs on one mask may
# be
# matched within such a class as well as by the neurons' numbers.


def copies_seen(U: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """How many coordinates that hold a latent a neuron's mask lets through, for each latent."""
    holds = U != 0
    return ((D != 0).double() @ holds.double()).long()


def masks_with_counts(counts: Sequence[tuple[int, int]], G: int, k: int, d: int, seed: int) -> torch.Tensor:
    """G masks whose i-th neuron sees given numbers of the k copies of each latent, at places drawn at random."""
    wanted = torch.tensor(counts, dtype=torch.long).view(-1, 2)
    uniform = torch.rand(G, len(wanted), 2, k, generator=torch_generator(seed, "places of the copies"))
    rank = uniform.argsort(dim=-1).argsort(dim=-1)  # (G, m, 2, k)
    D = torch.zeros(G, len(wanted), d, dtype=torch.float64)
    D[..., : 2 * k] = (rank < wanted[..., None]).double().mT.flatten(-2)  # a and b in turn
    return D


def align_in_classes(students: Students, copies: torch.Tensor) -> Students:
    """Every second student of a group, its neurons permuted within classes of equal counts towards its predecessor."""
    G, r, _m = students.b.shape
    full = torch.cat([students.A, students.b[..., None]], dim=-1)  # (G, r, m, 3)
    A, b = students.A.clone(), students.b.clone()
    for g in range(G):
        kinds = copies[g].unique(dim=0, return_inverse=True)[1]
        for kind in range(int(kinds.max()) + 1):
            members = (kinds == kind).nonzero().flatten()
            for i in range(0, r, 2):
                found = members[weight_matching(full[g, i, members], full[g, i + 1, members])]
                A[g, i + 1, members], b[g, i + 1, members] = students.A[g, i + 1, found], students.b[g, i + 1, found]
    return replace(students, A=A, b=b)


# ---------- switched neurons
#
# Neurons that one run uses and another does not, and what the middle of the line between the runs lacks.
#
# A student of App. F.5 (Bürgin et al.) is a sum of ReLU(u_i) with output weights 1. ReLU is convex, so the student in
# the middle between two others lies below the mean of their outputs, by the sum of the terms ::
#
# g_i = ½ min(|u_i|, |v_i|)  where the preactivations u_i and v_i at the two ends have opposite signs,
#
# and 0 elsewhere. No two of these terms cancel.


ON = 0.25  # share of examples on which a neuron must be positive; those that fit ReLU(a + b) are so on a half


def _preactivations(students: Students, g: int, z: torch.Tensor) -> torch.Tensor:
    """(r, n, m) of group g."""
    return z @ students.A[g].mT + students.b[g][:, None]


def are_on(students: Students, z: torch.Tensor) -> torch.Tensor:
    """Which neurons are in use: positive on more than a quarter of the examples."""
    groups = range(len(students.b))
    return torch.stack([(_preactivations(students, g, z) > 0).double().mean(dim=1) > ON for g in groups])


def switch_off(students: Students, on: torch.Tensor) -> Students:
    """Students whose other neurons have all weights and biases 0."""
    keep = on.to(students.b)
    return replace(students, W=students.W * keep[..., None], b=students.b * keep, A=students.A * keep[..., None])


def middle_lacks(students: Students, z: torch.Tensor) -> torch.Tensor:
    """Mean of g_i over examples, for every neuron of every pair: what the middle lacks below the mean of the ends."""
    G, _r, _ = students.b.shape
    found = []
    for g in range(G):
        u = _preactivations(students, g, z)
        u, v = u[0::2], u[1::2]  # (pairs, n, m)
        found.append((torch.minimum(u.abs(), v.abs()) * (u * v < 0) / 2).mean(dim=1))
    return torch.stack(found)


def two_state_barrier(N: float, on: float, beta: float) -> float:
    """Barrier between two students of N neurons, each on or off by a coin of its own in either run."""
    tau = on * N * beta
    x = tau / math.sqrt(2)
    mean = 2 * (norm.cdf(x) - 0.5 - x * norm.pdf(x)) + tau**2 * norm.sf(x)  # E min(s₊, τ)²
    return float((1 - on) ** 2 * mean)
