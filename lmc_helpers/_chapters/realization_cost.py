"""Classes of functions of neurons, and pairs of syre networks, for the chapter *realization cost*."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment, linprog
from torch import Tensor

from lmc_helpers.identifiability import RTOL
from lmc_helpers.seeds import torch_generator


def determined(a: torch.Tensor, C: torch.Tensor) -> torch.Tensor:
    """True where the function of a ReLU neuron determines its weight: the active inputs span the space.

    On inputs c a weight a + n has the same function if and only if n·c = 0 on the active inputs (a·c > 0) and
    (a + n)·c <= 0 on the others. If no input has a·c = 0, small multiples of any n that is orthogonal to the active
    inputs do.
    """
    active = (a @ C.T > 0).double()
    return torch.linalg.matrix_rank(active[..., None] * C, rtol=1e-10) == C.shape[-1]


def twin_distance(a: torch.Tensor, C: torch.Tensor) -> float:
    """Largest distance, at most 1, in one coefficient from a to another weight a + n with the same ReLU function.

    The largest ``|n_j|`` is found by 2k linear programs over n with all ``|n_j| <= 1``. It is 0 if and only if the
    neuron is :func:`determined`.
    """
    s = (a @ C.T).numpy()
    inputs, active = C.numpy(), s > 0
    k = len(a)
    best = 0.0
    for j in range(k):
        for sign in (1.0, -1.0):
            objective = np.zeros(k)
            objective[j] = -sign
            solution = linprog(
                objective,
                A_ub=inputs[~active] if (~active).any() else None,
                b_ub=-s[~active] if (~active).any() else None,
                A_eq=inputs[active] if active.any() else None,
                b_eq=np.zeros(active.sum()) if active.any() else None,
                bounds=[(-1.0, 1.0)] * k,
                method="highs",
            )
            best = max(best, -float(solution.fun))
    return best


def class_dimension(D: Tensor, U: Tensor) -> Tensor:
    """Rank of M_i = Uᵀ diag(d_i), the dimension of neuron i's class of functions (Prop. 4.2)."""
    D, U = D.double(), U.double()
    s = torch.linalg.svdvals(U.mT[..., None, :, :] * D[..., None, :])
    return (s > RTOL * D.abs().amax(dim=-1, keepdim=True)).sum(dim=-1)


RATE = 1e-3


def train_syre(
    x: Tensor,
    y: Tensor,
    settings: Sequence[tuple[float, float, float]],
    pairs: int,
    stages: Sequence[int],
    seed: int,
    hidden: int = 64,
    redrawn: float = 0.0,
    rate: float = RATE,
) -> tuple[Tensor, Tensor]:
    """F + W of both networks of each pair, (stages, settings, pairs, 2, m, d), and accuracies (stages, settings).

    A setting is (σ_F, share of F that the start takes away, weight decay).

    The two-layer ReLU networks have F + W (D = 1) in the first layer, and W starts at Z − share F with independent Z.
    Pairs, Z, F/σ_F and batches are the same in all settings. A share of the labels is redrawn at every step.
    """
    draw, d = torch_generator(seed, "start or cost"), x.shape[1]
    sigma, share, decay = torch.tensor(settings, dtype=x.dtype).T[..., None, None, None, None]
    F = sigma * torch.randn(pairs, 1, hidden, d, dtype=x.dtype, generator=draw)
    Z = torch.randn(pairs, 2, hidden, d, dtype=x.dtype, generator=draw) / d**0.5
    A = torch.randn(pairs, 2, 10, hidden, dtype=x.dtype, generator=draw) / hidden**0.5
    W, A = (Z - share * F).requires_grad_(), A.expand(len(settings), -1, -1, -1, -1).clone().requires_grad_()
    optimiser = torch.optim.Adam([W, A], lr=rate)
    weights, accuracies = [], []
    for step in range(max(stages) + 1):
        if step in stages:
            with torch.no_grad():
                weights.append((F + W).clone())
                right = (torch.relu(x @ weights[-1].mT) @ A.mT).argmax(dim=-1) == y
                accuracies.append(right.double().mean(dim=(1, 2, 3)))
        batch = torch.randint(len(x), (2, 128), generator=draw)  # each network of a pair has its own
        z = torch.relu(x[batch] @ (F + W).mT) @ A.mT
        labels = y[batch]
        if redrawn:
            other = torch.rand(labels.shape, generator=draw) < redrawn
            labels = labels.where(~other, torch.randint(10, labels.shape, generator=draw))
        labels = labels.expand(*z.shape[:-1])
        loss = torch.nn.functional.cross_entropy(z.flatten(0, -2), labels.flatten(), reduction="sum") / 128
        optimiser.zero_grad()
        loss.backward()
        with torch.no_grad():
            W.mul_(1 - rate * decay)
        optimiser.step()
    return torch.stack(weights), torch.stack(accuracies)


def sum_of_moves(rate: float, decay: float, d: int, memory: float) -> float:
    """K of the theorem on two clocks: rate² d ℓ / (1 − (1 − rate decay)²)."""
    return d * rate * memory / (decay * (2 - rate * decay))


def agreement(tau: Tensor | float, sigma: float, d: int, K: float) -> Tensor:
    """ρ(τ), the mean product of equal rows over their mean square."""
    grown = torch.as_tensor(tau, dtype=torch.float64).exp()
    x2 = (grown - 1).square() * sigma**2 * d
    return x2 / (1 + x2 + K * (grown.square() - 1))


def moves_seen(tau: float, rho: float, sigma: float, d: int) -> float:
    """The K with which two runs whose start hides F agree by ρ at τ."""
    x2 = (math.expm1(tau) * sigma) ** 2 * d
    return (x2 / rho - 1 - x2) / math.expm1(2 * tau)


def rows_agree(weights: Tensor, Q: Tensor) -> Tensor:
    """Mean product of equal rows of two layers over their mean square in the norm of Q; weights (..., 2, m, d)."""
    weights = weights.double()
    product = torch.einsum("...amd,de,...bme->...ab", weights, Q.double(), weights)  # (..., 2, 2)
    return 2 * product[..., 0, 1] / product.diagonal(dim1=-2, dim2=-1).sum(dim=-1)


def at_half(values: np.ndarray, way: np.ndarray) -> float:
    """The value of a course where ``way`` comes to ½, by interpolation; an end of it if it never does."""
    late = int((way >= 0.5).argmax()) if way.max() >= 0.5 else len(way)
    return float(np.interp(0.5, way[max(late - 1, 0) :][:2], values[max(late - 1, 0) :][:2]))


def way_to_best(weights: Tensor, x: Tensor) -> float:
    """r of a pair of layers (2, m, d): how far the identity is on the way from random permutations to the best."""
    h = torch.relu(x @ weights.mT)
    h = h - h.mean(dim=-2, keepdim=True)
    h = h / h.norm(dim=-2, keepdim=True).clamp(min=1e-12)
    S = (h[0].mT @ h[1]).numpy()
    best = S[linear_sum_assignment(S, maximize=True)].mean()
    return float((S.diagonal().mean() - S.mean()) / (best - S.mean()))
