"""Pairs of image classifiers as lists of neurons, and passes between students, for the chapter *four lenses*.

A network of one hidden ReLU layer without an output bias is a list of rows θ_i = (u_i, a_i): incoming weights, the bias
last, and outgoing ones. Its outputs are Σ_i a_i ReLU(u_i·x) with a 1 appended to x. Permuting neurons is permuting
rows, so that code for students W (..., m, d) applies to θ (..., m, p) as well. Both networks of a pair share F and D
(Bürgin et al., eq. (2)), θ = F + D ⊙ raw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import minimize
from torch.nn.functional import cross_entropy, normalize

from lmc_helpers.identifiability import WAsymmetric
from lmc_helpers.matching import check_permutation
from lmc_helpers.permutation_points.newton import minimise as minimise_newton
from lmc_helpers.seeds import normal, torch_generator
from lmc_helpers.teacher_student.gradient_descent import gradient_descent
from lmc_helpers.teacher_student.population import kappa, population_gradient, population_hessian, population_loss

Loss = Callable[[torch.Tensor], torch.Tensor]

CLASSES = 10
RATE = 0.03  # initial rate of Adam


@dataclass(frozen=True, eq=False)
class Pairs:
    """P pairs of networks of m neurons with p weights each."""

    raw: torch.Tensor  # trained weights, (P, 2, m, p)
    F: torch.Tensor  # fixed part, (P, 1, m, p)
    D: torch.Tensor  # multiplier, (P, 1, m, p)

    @property
    def theta(self) -> torch.Tensor:
        """θ = F + D ⊙ raw, (P, 2, m, p), float64."""
        return self.F.double() + self.D.double() * self.raw.double()


def with_bias(x: torch.Tensor) -> torch.Tensor:
    """Inputs (n, d) with a 1 appended, (n, d + 1)."""
    return torch.cat([x, torch.ones_like(x[:, :1])], dim=1)


def classifier_loss(x: torch.Tensor, labels: torch.Tensor) -> Loss:
    """Mean cross-entropy of Σ_i a_i ReLU(u_i·x) as a function of the neurons θ_i = (u_i, a_i)."""
    n, d = x.shape

    def loss(theta: torch.Tensor) -> torch.Tensor:
        m, shape = theta.shape[-2], theta.shape[:-2]
        hidden = torch.relu(theta[..., :d].reshape(-1, d) @ x.mT).view(-1, m, n)
        z = theta[..., d:].reshape(len(hidden), m, -1).mT @ hidden  # (N, classes, n)
        each = cross_entropy(z, labels.expand(len(z), n), reduction="none")
        return each.mean(dim=1).view(shape)

    return loss


def draw_pairs(pairs: int, neurons: int, inputs: int, seed: int, sigma: float | None = None) -> Pairs:
    """Untrained pairs: independent normal weights of variance 2/inputs and 1/neurons, biases 0."""
    p, purpose = inputs + 1 + CLASSES, f"four lenses, sigma={sigma}"
    raw = normal((pairs, 2, neurons, p), seed, purpose)
    raw[..., :inputs] *= math.sqrt(2 / inputs)
    raw[..., inputs] = 0
    raw[..., inputs + 1 :] /= math.sqrt(neurons)
    F, D = torch.zeros(pairs, 1, neurons, p).double(), torch.ones(pairs, 1, neurons, p).double()
    if sigma is not None:
        generator = torch_generator(seed, f"{purpose}, fixed weights")
        drawn = WAsymmetric(inputs // 2, sigma).draw((pairs * neurons, inputs), generator)
        F[..., :inputs], D[..., :inputs] = (part.view(pairs, 1, neurons, inputs) for part in drawn)
    return Pairs(raw.float(), F.float(), D.float())


def descend(start: Pairs, loss: Loss, steps: int, decay: float, tied: torch.Tensor | None = None) -> Pairs:
    """Train all networks on loss + ½ decay ``‖raw‖²`` by Adam; neuron i has the weights of ``tied[i]``.

    Batches are full and the rate falls to 0 like a cosine, so that networks end near stationary points.
    """

    def expanded(raw: torch.Tensor) -> torch.Tensor:
        return raw if tied is None else torch.take_along_dim(raw, tied[..., None], dim=-2)

    raw = start.raw.clone().requires_grad_()
    optimiser = torch.optim.Adam([raw], lr=RATE, fused=True)
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = RATE * (1 + math.cos(math.pi * step / steps)) / 2
        weights = expanded(raw)
        value = loss(start.F + start.D * weights).sum() + decay / 2 * weights.square().sum()
        optimiser.zero_grad()
        value.backward()
        optimiser.step()
    return replace(start, raw=expanded(raw.detach()))


def merge_pair(theta: torch.Tensor, i: int, j: int) -> torch.Tensor:
    """Neurons i and j replaced by their mean: the middle of the line to the network with i and j exchanged."""
    middle = theta.clone()
    middle[..., [i, j], :] = theta[..., [i, j], :].mean(dim=-2, keepdim=True)
    return middle


def reordering_path(theta: torch.Tensor, inputs: int, pair: tuple[int, int], p: torch.Tensor) -> torch.Tensor:
    """Corners of a path from θ to ``θ[p]`` on which the loss rises only towards the merge of one pair.

    Brea et al., section 4.2. If two neurons coincide, one can hand its outgoing weights to the other and becomes spare:
    it takes the incoming weights of a third neuron, then its outgoing ones, and now the third is spare. So the neurons
    are moved at equal loss, like the tiles of a puzzle with one hole.
    """
    i, j = pair
    check_permutation(p)
    corners = [theta, merge_pair(theta, i, j)]

    def move(slot: int, part: slice, value: torch.Tensor, empty: int | None = None) -> None:
        corner = corners[-1].clone()
        corner[slot, part] = value
        if empty is not None:
            corner[empty, part] = 0
        corners.append(corner)

    incoming, outgoing = slice(None, inputs), slice(inputs, None)
    move(i, outgoing, 2 * corners[-1][i, outgoing], empty=j)
    holds, hole = list(range(len(theta))), j  # the neuron in each slot; i stands for the merged pair
    target = p.tolist()
    while wrong := [k for k, goal in enumerate(target) if k != hole and holds[k] != goal]:
        neuron = target[hole]
        source = holds.index(neuron) if neuron != j else wrong[0]
        move(hole, incoming, corners[-1][source, incoming])
        move(hole, outgoing, corners[-1][source, outgoing], empty=source)
        holds[hole], holds[source] = holds[source], j
        hole = source
    slot = target.index(i)
    move(hole, incoming, corners[-1][slot, incoming])
    corners += [merge_pair(theta, i, j)[p], theta[p]]
    return torch.stack(corners)


def unexplained(x: torch.Tensor) -> torch.Tensor:
    """d E Var(f* | P_x z), what no function can explain that is blind to the direction x (..., M) of M = d inputs."""
    x = normalize(x.double(), dim=-1)
    same = torch.eye(x.shape[-1], dtype=x.dtype)
    return (kappa(same, 1) - kappa(same - x[..., :, None] * x[..., None, :], 1)).sum(dim=(-2, -1))


def least_blind_loss(M: int, starts: int, seed: int) -> float:
    """The least loss that descents from random starts find among M students W = V − V y yᵀ, ‖y‖ = 1, of M inputs."""

    def value(theta: np.ndarray) -> tuple[float, np.ndarray]:
        leaf = torch.from_numpy(theta).requires_grad_()
        V, y = leaf[:-M].view(M, M), normalize(leaf[-M:], dim=0)
        found = population_loss(V - torch.outer(V @ y, y), M)
        found.backward()
        assert leaf.grad is not None
        return found.item(), leaf.grad.numpy()

    drawn = normal((starts, M * M + M), seed, f"blind students, M={M}").numpy()
    return min(minimize(value, start, jac=True, method="BFGS", options={"gtol": 1e-6}).fun for start in drawn)


def relaxed_strings(M: int, d: int, strings: int, seed: int, steps: int = 400) -> float:
    """The largest loss on the lowest of some polygons on which two of M students change places, after descent.

    Their 41 corners follow the gradient, and are spread again at equal distances after every step.
    """
    a = torch.eye(d, dtype=torch.float64)[:M]
    b, place = a[[1, 0, *range(2, M)]], torch.linspace(0, 1, 41, dtype=a.dtype)
    bent = normal((strings, 1, *a.shape), seed, f"strings, M={M}, d={d}") / 3
    path = (
        torch.lerp(a, b, place[:, None, None]) + torch.sin(math.pi * place)[:, None, None] * bent
    )  # (strings, 41, m, d)
    rows = torch.arange(strings)[:, None]
    for _ in range(steps):
        path[:, 1:-1] -= d / 2 * population_gradient(path[:, 1:-1], M)
        arc = torch.cat([torch.zeros(strings, 1), path.diff(dim=1).flatten(2).norm(dim=2).cumsum(dim=1)], dim=1)
        even = arc[:, -1:] * place[1:-1]  # (strings, 39)
        after = torch.searchsorted(arc, even).clamp(1, 40)
        part = (even - arc[rows, after - 1]) / (arc[rows, after] - arc[rows, after - 1])
        path[:, 1:-1] = torch.lerp(path[rows, after - 1], path[rows, after], part[..., None, None])
    between = torch.linspace(0, 1, 21, dtype=a.dtype)[:, None, None, None, None]
    losses = population_loss(torch.lerp(path[:, :-1], path[:, 1:], between), M)  # (21, strings, 40)
    return losses.amax(dim=(0, 2)).min().item()


def mirrored_pass(M: int, seed: int) -> tuple[float, int, float]:
    """d times the least loss of M students blind to e_1 − e_2, its index, and the loss where a descent from it ends."""
    eye = torch.eye(M, dtype=torch.float64)
    C = torch.kron(eye, torch.cat([eye[1:2, 1:], eye[1:, 1:]]))  # the first column twice, (M², M (M − 1))

    def rows_of(theta: torch.Tensor) -> torch.Tensor:
        return (theta @ C.mT).unflatten(-1, (M, M))

    def loss(theta: torch.Tensor) -> torch.Tensor:
        return population_loss(rows_of(theta), M)

    def second(theta: torch.Tensor) -> torch.Tensor:
        return C.mT @ population_hessian(rows_of(theta), M) @ C

    found = minimise_newton(loss, normal((4, M * (M - 1)), seed, "passes"), steps=100, tol=1e-12, second=second)
    W = rows_of(found.theta[found.loss.argmin()])
    values, vectors = torch.linalg.eigh(population_hessian(W, M))
    done = gradient_descent((W + vectors[:, 0].view(M, M) / 100)[None], M, rate=M / 2, steps=20_000)
    return M * population_loss(W, M).item(), int((values < 0).sum()), done.loss.item()


def way_through(alpha: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    """d times the loss of ρ (cos α u ± sin α n), n = (1 − s²)^½ e_3 + s v, at the best ρ; (n, 1) to (n,), d = 3."""
    near, far = ((alpha.cos() + k * s * alpha.sin()) / math.sqrt(2) for k in (1, -1))
    size = (kappa(near, 1) + kappa(far, 1)) / (kappa(1.0, 1) + kappa((2 * alpha).cos(), 1))
    e1, e2, e3 = torch.eye(3, dtype=torch.float64)
    n = (1 - s * s).sqrt() * e3 + s * (e1 - e2) / math.sqrt(2)
    rows = [alpha.cos() * (e1 + e2) / math.sqrt(2) + k * alpha.sin() * n for k in (1, -1)]
    return 3 * population_loss(size[..., None] * torch.stack(rows, dim=1), 2)


def lost_direction(m: int, d: int, seed: int, cases: int = 200) -> torch.Tensor:
    """How outputs change along the direction seen least on random paths to an odd reordering of m neurons of d inputs.

    Of tanh networks with two hidden layers, where det W = 0 or, for m > d, where the least singular value is least;
    over the change along other directions.
    """
    W, bend = normal((2, cases, m, d), seed, f"first layers of {m}")
    V, z, other = (normal((cases, k, n), seed, f"{k} by {n}") for k, n in ((6, m), (40, d), (1, d)))

    def layer(t: torch.Tensor) -> torch.Tensor:
        return torch.lerp(W, W[:, [1, 0, *range(2, m)]], t) + torch.sin(math.pi * t) * bend

    if m == d:
        low, high = torch.zeros(cases, 1, 1, dtype=W.dtype), torch.ones(cases, 1, 1, dtype=W.dtype)
        for _ in range(60):
            t = (low + high) / 2
            before = (layer(t).det() * W.det() > 0)[:, None, None]
            low, high = torch.where(before, t, low), torch.where(before, high, t)
    else:
        places = torch.linspace(0, 1, 201, dtype=W.dtype)
        t = places[torch.linalg.svdvals(layer(places[:, None, None, None]))[..., -1].argmin(dim=0)][:, None, None]

    def outputs(z: torch.Tensor) -> torch.Tensor:
        return torch.tanh(torch.tanh(z @ layer(t).mT) @ V.mT)

    lost = torch.linalg.svd(layer(t)).Vh[:, -1:]  # (cases, 1, d)
    along, across = ((outputs(z + x) - outputs(z)).abs().flatten(1) for x in (lost, other))
    return along.amax(dim=1) / across.mean(dim=1)
