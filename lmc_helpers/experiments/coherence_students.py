"""The students of the coherence experiment (Bürgin et al., App. F.5), trained in the two dimensions that they see.

A student is f(x) = Σ_i ReLU((D ⊙ W)_i · x + b_i) with x = U z, z in the plane. Three facts keep the algorithm, AdamW on
all entries of W (m × d) and b, and shrink the arithmetic:

- (D ⊙ W)_i · x = A_i · z with A = (D ⊙ W) U, m × 2, so that the forward pass and ∂L/∂A need no product with d numbers;
  ∂L/∂W = D ⊙ (∂L/∂A Uᵀ).
- An entry of W that is masked, or whose row of U is 0, has gradient 0. Its moments stay 0, and the decay is all
  that moves it: after t steps it is (1 − rate · decay)^t times what it was.
- A neuron whose seen rows of U are all 0 starts with preactivation b_i = 0. As ReLU'(0) = 0, b_i never moves and the
  neuron is 0 for ever; it is left out.

Gradients are written out. Networks are trained in float32 unless asked otherwise: the noise of the order of the
examples is many orders above its rounding. The matrices are small, and one thread is faster than two; for more cores
split the groups between processes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.barrier import check_places
from lmc_helpers.data.coherence_inputs import check_orthonormal, target
from lmc_helpers.seeds import normal
from lmc_helpers.training.ensemble import Recipe, epoch_order

__all__ = ["F5", "Students", "line_losses", "raw_weights", "train_students"]

F5 = Recipe(epochs=100, batch=512, rate=1e-2, weight_decay=1e-2)  # App. F.5; decay of weights and biases
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
    """Raw weights W from N(0, 0.05²) before training, with no mask applied; they depend on the seed only.

    Parameters
    ----------
    seeds : sequence of int
        one a student.
    m, d : int
        neurons and coordinates.

    Returns
    -------
    torch.Tensor
        (N, m, d), float64.

    Examples
    --------
    >>> raw_weights([1, 2], 3, 4).shape
    torch.Size([2, 3, 4])
    """
    expect.array(seeds, "seeds", "N", empty=True)
    expect.sizes(seeds if isinstance(seeds, (list, tuple)) else (), "seeds", least=0)
    if not len(seeds):
        raise ValueError("no seeds; allowed: one a student")
    expect.integer(m, "m", least=1)
    expect.integer(d, "d", least=1)
    drawn = {seed: SCALE * normal((m, d), seed, "initial weights") for seed in dict.fromkeys(seeds)}
    return torch.stack([drawn[seed] for seed in seeds])


def train_students(
    U: torch.Tensor,
    D: torch.Tensor,
    z: torch.Tensor,
    seeds: Sequence[Sequence[int]],
    recipe: Recipe = F5,
    dtype: torch.dtype = torch.float32,
    start: torch.Tensor | None = None,
) -> Students:
    """Train G groups of r students; those of a group share U and D.

    Parameters
    ----------
    U : torch.Tensor
        embeddings (G, d, 2) with orthonormal columns.
    D : torch.Tensor
        diagonal factors (G, m, d), of zeros and ones for masks.
    z : torch.Tensor
        latents (n, 2) of the training examples; the targets are ReLU(a + b).
    seeds : sequence of sequences of int
        (G, r) seeds of the initial weights and of the order of the examples. Two groups may use the same ones.
    recipe : Recipe
        epochs, batch, rate and decay.
    dtype : torch.dtype
        of the computation; the result is float64.
    start : torch.Tensor, optional
        raw initial weights (G, r, m, d), in place of those that belong to the seeds.

    Returns
    -------
    Students
        in float64.

    Examples
    --------
    >>> from lmc_helpers.data.coherence_inputs import exact_copy, latents
    >>> U, D = exact_copy(2, d=4)[None], torch.ones(1, 8, 4)
    >>> train_students(U, D, latents(64, seed=1), [[1, 2]], Recipe(epochs=2, batch=32)).A.shape
    torch.Size([1, 2, 8, 2])
    """
    expect.tensor(U, "U")
    expect.tensor(D, "D")
    expect.tensor(z, "z", "n k")
    if not isinstance(seeds, (list, tuple)):
        raise ValueError(f"seeds is {type(seeds).__name__}; allowed: a list of seeds for each group")
    if not isinstance(recipe, Recipe):
        raise ValueError(f"recipe is {type(recipe).__name__}; allowed: Recipe")
    expect.floating(dtype, "dtype")
    if start is not None and not isinstance(start, torch.Tensor):
        raise ValueError(f"start is {type(start).__name__}; allowed: None, or a tensor (G, r, m, d)")
    groups = [list(group) for group in seeds]
    _check_shapes(U, D, z, groups)
    m, n = D.shape[1], len(z)
    wanted = (len(groups), len(groups[0]), *D.shape[1:])
    if start is not None and start.shape != wanted:
        raise ValueError(f"start has shape {tuple(start.shape)}; allowed: {wanted}")
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
    _check_finite(W, b, groups)
    return Students(W, b, (D.double()[:, None] * W) @ U.double()[:, None])


def _train(u, mask, start, z3, y, orders, recipe: Recipe) -> torch.Tensor:
    """Train some students of one group on their live neurons and rows.

    ``u`` (l, 2), ``mask`` (m, l), ``start`` (r, m, l), ``z3`` (n, 3), ``y`` (n,), ``orders`` (epochs, r, n). Returns
    raw weights and biases as (r, l + 1, m) in float64.
    """
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
    """Mean squared errors of λ a + (1 − λ) b for pairs (a, b) of students of each group.

    A is linear in W, so that the line between two W is the line between two A.

    Parameters
    ----------
    students : Students
        G groups of r.
    pairs : torch.Tensor
        (P, 2) indices of students, the same in all groups.
    z : torch.Tensor
        latents (n, 2) of the examples.
    lambdas : sequence of float
        L places; λ = 1 is the first student of a pair, λ = 0 the second.
    dtype : torch.dtype
        of the computation.

    Returns
    -------
    torch.Tensor
        (G, P, L), float64.

    Examples
    --------
    >>> from lmc_helpers.data.coherence_inputs import latents
    >>> z, A = latents(50, seed=1), torch.tensor([[[[1.0, 1.0]], [[0.0, 0.0]]]], dtype=torch.float64)
    >>> students = Students(A, torch.zeros(1, 2, 1, dtype=torch.float64), A)
    >>> losses = line_losses(students, torch.tensor([[0, 1]]), z, [1, 0.5, 0])
    >>> round(losses[0, 0, 0].item(), 12), round((losses[0, 0, 1] / losses[0, 0, 2]).item(), 6)
    (0.0, 0.25)
    """
    if not isinstance(students, Students):
        raise ValueError(f"students is {type(students).__name__}; allowed: Students")
    expect.tensors({"pairs": pairs})
    if pairs.dtype != torch.long or not pairs.numel():
        raise ValueError(f"pairs has shape {tuple(pairs.shape)} and {pairs.dtype}; allowed: (P, 2), P >= 1, torch.long")
    expect.tensor(z, "z", "n k")
    expect.floating(dtype, "dtype")
    places = check_places(lambdas)
    G, r, _ = students.b.shape
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not ((pairs >= 0) & (pairs < r)).all():
        raise ValueError(f"pairs = {pairs.tolist()}; allowed: (P, 2) indices from 0 to {r - 1}")
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


def _check_shapes(U: torch.Tensor, D: torch.Tensor, z: torch.Tensor, seeds: list[list[int]]) -> None:
    G = len(seeds)
    fits = U.ndim == D.ndim == 3 and len(U) == len(D) == G > 0 and U.shape[1] == D.shape[2] and U.shape[2] == 2
    if not fits:
        raise ValueError(
            f"U {tuple(U.shape)}, D {tuple(D.shape)}, {G} groups of seeds; allowed: (G, d, 2), (G, m, d) and G >= 1"
        )
    if z.ndim != 2 or z.shape[1] != 2 or not len(z):
        raise ValueError(f"latents {tuple(z.shape)}; allowed: (n, 2)")
    if len({len(group) for group in seeds}) > 1 or not seeds[0]:
        raise ValueError(f"groups of {sorted({len(group) for group in seeds})} seeds; allowed: equal groups, not empty")
    check_orthonormal(U)


def _check_finite(W: torch.Tensor, b: torch.Tensor, seeds: list[list[int]]) -> None:
    bad = ~(torch.isfinite(W).all(dim=-1) & torch.isfinite(b)).all(dim=-1)
    names = [f"group {g}, network {i} (seed {seeds[g][i]})" for g, i in bad.nonzero().tolist()]
    if names:
        raise ValueError(
            f"the weights are not finite after training for {', '.join(names[:8])}; "
            "allowed: finite ones, so a smaller rate"
        )
