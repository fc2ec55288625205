"""Neurons that one run uses and another does not, and what the middle of the line between the runs lacks.

A student of App. F.5 (Bürgin et al.) is a sum of ReLU(u_i) with output weights 1. ReLU is convex, so the student in
the middle between two others lies below the mean of their outputs, by the sum of the terms ::

    g_i = ½ min(|u_i|, |v_i|)  where the preactivations u_i and v_i at the two ends have opposite signs,

and 0 elsewhere. No two of these terms cancel.
"""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from scipy.stats import norm

from lmc_helpers import expect
from lmc_helpers.experiments.coherence_students import Students

__all__ = ["are_on", "middle_lacks", "switch_off", "two_state_barrier"]

ON = 0.25  # share of examples on which a neuron must be positive; those that fit ReLU(a + b) are so on a half


def _preactivations(students: Students, g: int, z: torch.Tensor) -> torch.Tensor:
    """(r, n, m) of group g."""
    return z @ students.A[g].mT + students.b[g][:, None]


def are_on(students: Students, z: torch.Tensor) -> torch.Tensor:
    """Which neurons are in use: positive on more than a quarter of the examples.

    Parameters
    ----------
    students : Students
        G groups of r.
    z : torch.Tensor
        latents (n, 2).

    Returns
    -------
    torch.Tensor
        (G, r, m), bool.

    Examples
    --------
    >>> A = torch.tensor([[[[1.0, 1.0], [0.1, 0.1]]]], dtype=torch.float64)
    >>> students = Students(A, torch.tensor([[[0.0, -1.0]]], dtype=torch.float64), A)
    >>> are_on(students, torch.tensor([[1.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)).tolist()
    [[[True, False]]]
    """
    if not isinstance(students, Students):
        raise ValueError(f"students is {type(students).__name__}; allowed: Students")
    expect.tensor(z, "z", "n two")
    if z.shape[1] != 2:
        raise ValueError(f"z has shape {tuple(z.shape)}; allowed: (n, 2)")
    groups = range(len(students.b))
    return torch.stack([(_preactivations(students, g, z) > 0).double().mean(dim=1) > ON for g in groups])


def switch_off(students: Students, on: torch.Tensor) -> Students:
    """Students whose other neurons have all weights and biases 0.

    Parameters
    ----------
    students : Students
        G groups of r.
    on : torch.Tensor
        (G, r, m), bool: the neurons that stay.

    Returns
    -------
    Students
        the rest is 0.

    Examples
    --------
    >>> A = torch.ones(1, 1, 2, 2, dtype=torch.float64)
    >>> switch_off(Students(A, A[..., 0], A), torch.tensor([[[True, False]]])).b.tolist()
    [[[1.0, 0.0]]]
    """
    if not isinstance(students, Students):
        raise ValueError(f"students is {type(students).__name__}; allowed: Students")
    expect.tensors({"on": on})
    if on.dtype != torch.bool or on.shape != students.b.shape:
        raise ValueError(f"on has shape {tuple(on.shape)}, {on.dtype}; allowed: {tuple(students.b.shape)}, torch.bool")
    keep = on.to(students.b)
    return replace(students, W=students.W * keep[..., None], b=students.b * keep, A=students.A * keep[..., None])


def middle_lacks(students: Students, z: torch.Tensor) -> torch.Tensor:
    """Mean of g_i over examples, for every neuron of every pair: what the middle lacks below the mean of the ends.

    Parameters
    ----------
    students : Students
        G groups of an even number; 2i and 2i + 1 are a pair.
    z : torch.Tensor
        latents (n, 2).

    Returns
    -------
    torch.Tensor
        (G, pairs, m), none of them negative.

    Examples
    --------
    >>> A = torch.tensor([[[[1.0, 0.0]], [[-3.0, 0.0]]]], dtype=torch.float64)
    >>> students = Students(A, torch.zeros(1, 2, 1, dtype=torch.float64), A)
    >>> middle_lacks(students, torch.tensor([[2.0, 0.0]], dtype=torch.float64)).item()
    1.0
    """
    if not isinstance(students, Students):
        raise ValueError(f"students is {type(students).__name__}; allowed: Students")
    expect.tensor(z, "z", "n two")
    if z.shape[1] != 2:
        raise ValueError(f"z has shape {tuple(z.shape)}; allowed: (n, 2)")
    G, r, _ = students.b.shape
    if r % 2:
        raise ValueError(f"groups of {r} students; allowed: pairs")
    found = []
    for g in range(G):
        u = _preactivations(students, g, z)
        u, v = u[0::2], u[1::2]  # (pairs, n, m)
        found.append((torch.minimum(u.abs(), v.abs()) * (u * v < 0) / 2).mean(dim=1))
    return torch.stack(found)


def two_state_barrier(N: float, on: float, beta: float) -> float:
    """Barrier between two students of N neurons, each on or off by a coin of its own in either run.

    A share π of the neurons is on, with preactivation s/(πN) for s = a + b; the others have −β everywhere. The middle
    lacks (1 − π) min(s₊, τ) with τ = πNβ, and the barrier is (1 − π)² E min(s₊, τ)², s normal with variance 2.

    Parameters
    ----------
    N, on, beta : float
        neurons that see both latents, the share π in [0, 1], and β >= 0.

    Returns
    -------
    float
        from 0 (τ = 0) to (1 − π)² (τ → ∞).

    Examples
    --------
    >>> round(two_state_barrier(1e6, 0.5, 0.1), 12), round(two_state_barrier(4, 0.5, 0.1), 4)
    (0.25, 0.0046)
    """
    expect.number(N, "N")
    expect.number(on, "on")
    expect.number(beta, "beta")
    if N < 0 or not 0 <= on <= 1 or beta < 0:
        raise ValueError(f"N = {N}, on = {on}, beta = {beta}; allowed: N >= 0, 0 <= on <= 1, beta >= 0")
    tau = on * N * beta
    x = tau / math.sqrt(2)
    mean = 2 * (norm.cdf(x) - 0.5 - x * norm.pdf(x)) + tau**2 * norm.sf(x)  # E min(s₊, τ)²
    return float((1 - on) ** 2 * mean)
