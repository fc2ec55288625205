"""Sinkhorn re-basin (Peña et al. 2023, Re-basin via implicit Sinkhorn differentiation): soft permutations.

A permutation matrix is replaced by a doubly stochastic one, the point that Sinkhorn's iterations reach from exp(X/τ):

    S_τ(X) = argmax_P ⟨P, X⟩ + τ H(P)      over doubly stochastic P, H the entropy.

As τ → 0 it tends to the permutation with the largest Σ_i X_ip(i), if that is unique. Networks b with their units mixed
by soft permutations are differentiable in X, so that Adam descends on a cost of a and the soft π b:

- ``"midpoint"``: the loss at (a + π b)/2;
- ``"random"``: the loss at λ a + (1 − λ) π b, λ uniform in [0, 1], drawn anew at every step;
- ``"distance"``: ‖a − π b‖², without data.

The soft π b is no network of b's function and may have less loss, alone or half-way, than any permuted b, so that the
cost of the midpoint often stops at soft permutations that harden badly; random λ ties π b itself to a small loss.

At the end the largest assignment of X is taken. Iterations run in log space. Gradients go through the iterations; the
paper differentiates their limit implicitly.
"""

from __future__ import annotations

import torch

from lmc_helpers import expect
from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.assignment import assign, check_ends
from lmc_helpers.alignment.midpoint import Best, Loss, interpolate, midpoint_losses
from lmc_helpers.networks.permutations import Permutations, Symmetry, identity
from lmc_helpers.seeds import torch_generator

__all__ = ["COSTS", "log_sinkhorn", "mix", "sinkhorn_rebasin"]

#: Costs of a soft permutation.
COSTS = ("midpoint", "random", "distance")


def log_sinkhorn(X: torch.Tensor, tau: float, iterations: int = 20) -> torch.Tensor:
    """The logarithm of a nearly doubly stochastic matrix, by alternating normalisation of columns and rows.

    Parameters
    ----------
    X : torch.Tensor
        (..., m, m).
    tau : float
        temperature, > 0.
    iterations : int
        normalisations of columns and rows, at least 1; the rows come last and sum to 1.

    Returns
    -------
    torch.Tensor
        log S_τ(X), (..., m, m).

    Examples
    --------
    >>> P = log_sinkhorn(torch.tensor([[1.0, 2.0], [3.0, 5.0]], dtype=torch.float64), tau=1.0).exp()
    >>> P.sum(dim=0).round(decimals=9).tolist(), round((P[0, 0] * P[1, 1] / P[0, 1] / P[1, 0]).log().item(), 9)
    ([1.0, 1.0], 1.0)
    """
    expect.tensor(X, "X", "... m m", finite=False)
    expect.number(tau, "tau")
    expect.integer(iterations, "iterations")
    if not tau > 0 or iterations < 1:
        raise ValueError(f"tau = {tau!r} and {iterations!r} iterations; allowed: tau > 0 and at least 1 iteration")
    log_P = X / tau
    for _ in range(iterations):
        log_P = log_P - log_P.logsumexp(dim=-2, keepdim=True)
        log_P = log_P - log_P.logsumexp(dim=-1, keepdim=True)
    return log_P


def mix(params: Tensors, symmetry: Symmetry, matrices: dict[str, torch.Tensor]) -> Tensors:
    """Units mixed by matrices in the place of permutations.

    Parameters
    ----------
    params : dict of torch.Tensor
        name → (N, …).
    symmetry : Symmetry
        of one network.
    matrices : dict of torch.Tensor
        group → M (N, m, m).

    Returns
    -------
    dict of torch.Tensor
        name → (N, …): unit i of a group is Σ_j M_ij (unit j of before), on each of its axes.

    Examples
    --------
    >>> from lmc_helpers.networks.permutations import Axis
    >>> symmetry = Symmetry({"h": (Axis("W", 0),)}, {"h": 2})
    >>> mix({"W": torch.tensor([[[1.0], [3.0]]])}, symmetry, {"h": torch.full((1, 2, 2), 0.5)})["W"].flatten()
    tensor([2., 2.])
    """
    if not isinstance(params, dict) or not params:
        raise ValueError(f"params = {params!r}; allowed: tensors by their names, one or more")
    expect.tensors(params, "params")
    if not isinstance(symmetry, Symmetry):
        raise ValueError(f"symmetry is {type(symmetry).__name__}; allowed: Symmetry")
    if not isinstance(matrices, dict):
        raise ValueError(f"matrices is {type(matrices).__name__}; allowed: tensors by their names")
    mixed = dict(params)
    for group, M in matrices.items():
        expect.one_of(group, "group", symmetry.groups)  # type: ignore[arg-type]
        expect.tensor(M, f"the matrix of group {group!r}", "N m m", finite=False)
        if M.shape[-1] != symmetry.sizes[group]:
            raise ValueError(f"the matrix of group {group!r} has shape {tuple(M.shape)}; allowed: those of its units")
        for name, axis in symmetry.groups[group]:
            expect.one_of(name, "a parameter of the symmetry", mixed)  # type: ignore[arg-type]
            if (mixed[name].shape[:1], mixed[name].shape[axis + 1 : axis + 2]) != (M.shape[:1], M.shape[1:2]):
                raise ValueError(
                    f"parameter {name!r} has shape {tuple(mixed[name].shape)}; allowed: {len(M)} networks with "
                    f"{M.shape[1]} units on axis {axis}"
                )
            value = mixed[name].movedim(axis + 1, 1)  # (N, m, …)
            mixed[name] = (M @ value.flatten(2) if value.ndim > 2 else M @ value[..., None]).view_as(value)
            mixed[name] = mixed[name].movedim(1, axis + 1)
    return mixed


def sinkhorn_rebasin(
    a: Tensors,
    b: Tensors,
    symmetry: Symmetry,
    loss: Loss,
    cost: str = "random",
    steps: int = 100,
    rate: float = 0.1,
    tau: float = 1.0,
    iterations: int = 20,
    seed: int = 0,
    start: Permutations | None = None,
    judge_every: int = 10,
) -> Best:
    """Permute b so that a cost of a and π b is small, by descent over soft permutations.

    Parameters
    ----------
    a, b : dict of torch.Tensor
        name → (P, …), P pairs.
    symmetry : Symmetry
        of one network.
    loss : callable
        parameters name → (P, …) to losses (P,); it judges the hardened permutations, and gives the cost with data.
    cost : str
        ``"midpoint"``, ``"random"`` or ``"distance"``.
    steps : int
        number of steps of Adam, at least 0.
    rate : float
        its learning rate, > 0.
    tau : float
        temperature, > 0.
    iterations : int
        Sinkhorn's iterations of a step.
    seed : int
        of the noise of the start and of the random λ, in [0, 2³²).
    start : dict of torch.Tensor, optional
        group → p (P, m), whose matrix X begins with, plus noise of size 0.1; the identity if it is left out.
    judge_every : int
        after how many steps X is hardened and judged, at least 1; the end is judged in any case.

    Returns
    -------
    Best
        the permutations with the least loss half-way, among the start and those that were judged.

    Examples
    --------
    >>> from lmc_helpers.alignment.midpoint import data_loss
    >>> from lmc_helpers.networks.mlp import MLP
    >>> from lmc_helpers.networks.permutations import permute
    >>> model, x = MLP((2, 4, 3)), torch.randn(50, 2, generator=torch.Generator().manual_seed(1))
    >>> a = model.initial([1]).params
    >>> loss = data_loss(model, x, model.forward(a, x)[0].argmax(dim=1))
    >>> b = permute(a, model.symmetry(), {"0": torch.tensor([[2, 0, 3, 1]])})
    >>> sinkhorn_rebasin(a, b, model.symmetry(), loss, cost="distance").permutations["0"].tolist()
    [[1, 3, 0, 2]]
    """
    expect.function(loss, "loss")
    expect.number(rate, "rate")
    expect.number(tau, "tau")
    expect.integer(judge_every, "judge_every")
    expect.integer(iterations, "iterations")
    if tau <= 0:
        raise ValueError(f"tau = {tau}; allowed: a finite number > 0")
    if start is not None and not isinstance(start, dict):
        raise ValueError(f"start is {type(start).__name__}; allowed: None, or permutations by their groups")
    expect.tensors(start or {}, "start")
    P = check_ends(a, b, symmetry)
    if cost not in COSTS:
        raise ValueError(f"cost = {cost!r} is unknown; allowed: {', '.join(COSTS)}")
    if type(steps) is not int or steps < 0 or not rate > 0 or judge_every < 1:
        raise ValueError(
            f"steps = {steps!r}, rate = {rate!r}, judge_every = {judge_every!r}; allowed: an integer >= 0, a rate > 0 "
            "and an integer >= 1"
        )
    like = next(iter(a.values()))
    generator = torch_generator(seed, "Sinkhorn re-basin")
    p = {g: one.to(like.device) for g, one in (identity(symmetry, P) | dict(start or {})).items()}
    best = Best(p, midpoint_losses(a, b, symmetry, p, loss)[None])
    X = {g: (_matrix(one) + 0.1 * _noise(one, generator)).to(like).requires_grad_() for g, one in p.items()}
    adam = torch.optim.Adam(X.values(), lr=rate)
    for step in range(steps + 1):
        if step % judge_every == 0 or step == steps:
            hard = {g: assign(one) for g, one in X.items()}
            best = best.seen(hard, midpoint_losses(a, b, symmetry, hard, loss))
        if step < steps:
            soft = mix(b, symmetry, {g: log_sinkhorn(one, tau, iterations).exp() for g, one in X.items()})
            lam = torch.rand((), generator=generator).item() if cost == "random" else 0.5
            adam.zero_grad()
            (_squared_distance(a, soft) if cost == "distance" else loss(interpolate(a, soft, lam))).sum().backward()
            adam.step()
    return best


def _squared_distance(a: Tensors, b: Tensors) -> torch.Tensor:
    """‖a − b‖² of each pair, (P,)."""
    return torch.stack([(value - b[name]).square().flatten(1).sum(dim=1) for name, value in a.items()]).sum(dim=0)


def _matrix(p: torch.Tensor) -> torch.Tensor:
    """Permutation matrices (P, m, m) with M_ip(i) = 1, float64."""
    return torch.eye(p.shape[-1], dtype=torch.float64, device=p.device)[p]


def _noise(p: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Normal numbers (1, m, m), the same for all pairs, so that none depends on those beside it."""
    m = p.shape[-1]
    return torch.randn(1, m, m, dtype=torch.float64, generator=generator).to(p.device)
