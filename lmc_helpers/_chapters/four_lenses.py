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
from lmc_helpers.seeds import normal, torch_generator
from lmc_helpers.teacher_student.population import population_gradient, population_loss

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


def relaxed_strings(a: torch.Tensor, b: torch.Tensor, M: int, strings: int, seed: int, steps: int = 600) -> float:
    """The largest loss on the lowest of some polygons from a to b, (m, d), that descend to paths of steepest descent.

    Their 41 corners follow the gradient, and are spread again at equal distances after every step.
    """
    place = torch.linspace(0, 1, 41, dtype=a.dtype)
    bent = normal((strings, 1, *a.shape), seed, f"strings, M={M}, d={a.shape[1]}") / 3
    path = torch.lerp(a, b, place[:, None, None]) + torch.sin(math.pi * place)[:, None, None] * bent  # (strings, 41, m, d)
    rows = torch.arange(strings)[:, None]
    for _ in range(steps):
        path[:, 1:-1] -= a.shape[1] / 2 * population_gradient(path[:, 1:-1], M)
        arc = torch.cat([torch.zeros(strings, 1), path.diff(dim=1).flatten(2).norm(dim=2).cumsum(dim=1)], dim=1)
        even = arc[:, -1:] * place[1:-1]  # (strings, 39)
        after = torch.searchsorted(arc, even).clamp(1, 40)
        part = (even - arc[rows, after - 1]) / (arc[rows, after] - arc[rows, after - 1])
        path[:, 1:-1] = torch.lerp(path[rows, after - 1], path[rows, after], part[..., None, None])
    between = torch.linspace(0, 1, 21, dtype=a.dtype)[:, None, None, None, None]
    losses = population_loss(torch.lerp(path[:, :-1], path[:, 1:], between), M)  # (21, strings, 40)
    return losses.amax(dim=(0, 2)).min().item()
