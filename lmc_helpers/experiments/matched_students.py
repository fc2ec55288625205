"""Matchers on two-layer teacher–student minima, where the loss is exact and the best of all m! is known (chapter 56).

The student is Σ_i σ(w_i·x) on inputs uniform on the unit sphere (Zhan, Li & Wu), its loss L(W) a closed form. So are
the correlations of the activations of two neurons at the angle θ,

    ρ(u, v) = (κ(cos θ) − c²) / (κ(1) − c²),      κ eq. (8),      c = E σ(x₁) = Γ(d/2) / (2 √π Γ((d + 1)/2)).

They depend on the angle alone: the sizes ‖u‖ and ‖v‖ cancel.
"""

from __future__ import annotations

import math
import time

import numpy as np
import torch

from lmc_helpers import expect
from lmc_helpers.alignment.assignment import assign
from lmc_helpers.alignment.sinkhorn import sinkhorn_rebasin
from lmc_helpers.alignment.straight_through import straight_through
from lmc_helpers.barrier import GRID, loss_barrier
from lmc_helpers.matching import algorithm_1, best_permutation, permute
from lmc_helpers.networks.permutations import Axis, Symmetry, random_permutations
from lmc_helpers.seeds import torch_generator
from lmc_helpers.teacher_student.matchings import BEST, barrier_objective, pair_matching
from lmc_helpers.teacher_student.population import kappa, population_loss

__all__ = ["activation_correlations", "compare_students"]


def activation_correlations(W1: torch.Tensor, W2: torch.Tensor) -> torch.Tensor:
    """Exact Pearson correlations of the activations of all pairs of neurons, inputs uniform on the unit sphere.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (..., m, d), rows not 0.

    Returns
    -------
    torch.Tensor
        ρ (..., m, m).

    Examples
    --------
    Neurons of one direction, of whatever size, are perfectly correlated:

    >>> W = torch.tensor([[0.3, 0.0], [0.7, 0.0]], dtype=torch.float64)
    >>> activation_correlations(W, W).round(decimals=9).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    expect.tensor(W1, "W1", "... m d")
    expect.tensor(W2, "W2", "... m d")
    expect.same({"W1": W1, "W2": W2})
    norms = [W.norm(dim=-1, keepdim=True) for W in (W1, W2)]
    if not all((norm > 0).all() for norm in norms):
        raise ValueError("a row is 0; allowed: neurons with an activation that is not constant")
    d = W1.shape[-1]
    c = math.exp(math.lgamma(d / 2) - math.lgamma((d + 1) / 2)) / (2 * math.sqrt(math.pi))
    cosine = (W1 / norms[0]) @ (W2 / norms[1]).mT  # (..., m, m)
    return (kappa(cosine, d) - c**2) / (kappa(1.0, d) - c**2)


def compare_students(
    W1: torch.Tensor, W2: torch.Tensor, M: int, steps: int, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """The barrier of each pair of minima after every matcher, and what the matchers cost.

    Parameters
    ----------
    W1, W2 : torch.Tensor
        (n, m, d), n pairs of minima, m <= 9.
    M : int
        teacher neurons.
    steps : int
        of straight-through matching and of Sinkhorn re-basin, on the exact loss.
    seed : int
        of random permutations and searches.

    Returns
    -------
    (dict, dict)
        name → barriers (n,), on the paper's grid of λ; name → seconds for each pair. The last is ``"best of m!"``.

    Examples
    --------
    >>> from lmc_helpers.teacher_student.minima import sample_minima
    >>> found, _ = compare_students(*sample_minima(4, 2, 2, 6, seed=1).split(3), M=2, steps=5, seed=1)
    >>> bool(all((found["best of m!"] <= found[name] + 1e-12).all() for name in found))
    True
    """
    expect.tensor(W1, "W1", "n m d")
    expect.tensor(W2, "W2", "n m d")
    expect.same({"W1": W1, "W2": W2})
    expect.integer(M, "M", least=1)
    expect.integer(steps, "steps", least=0)
    n, m, _ = W1.shape
    symmetry, objective = Symmetry({"hidden": (Axis("W", 0),)}, {"hidden": m}), barrier_objective(M)

    def loss(params: dict[str, torch.Tensor]) -> torch.Tensor:
        return population_loss(params["W"], M)  # (n,)

    def search(method, **options) -> torch.Tensor:
        return method({"W": W1}, {"W": W2}, symmetry, loss, steps=steps, seed=seed, **options).permutations["hidden"]

    def each(one) -> torch.Tensor:
        return torch.stack([one(a, b) for a, b in zip(W1, W2, strict=True)])

    matchers = {
        "identity": lambda: torch.arange(m).repeat(n, 1),
        "random": lambda: random_permutations(symmetry, n, torch_generator(seed, "random"))["hidden"],
        "Algorithm 1": lambda: each(algorithm_1),
        "weights": lambda: assign(W1 @ W2.mT),
        "pair matching": lambda: each(pair_matching),
        "activations": lambda: assign(activation_correlations(W1, W2)),
        "straight-through": lambda: search(straight_through),
        "Sinkhorn": lambda: search(sinkhorn_rebasin),
        BEST: lambda: each(lambda a, b: best_permutation(a, b, objective)),
    }
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # the first one loads for seconds what the others use
    found, seconds = {}, {}
    for name, matcher in matchers.items():
        began = time.perf_counter()
        p = matcher()
        seconds[name] = (time.perf_counter() - began) / n
        found[name] = loss_barrier(lambda W: population_loss(W, M), W1, permute(W2, p), GRID).clamp(min=0).numpy()
    return found, seconds
