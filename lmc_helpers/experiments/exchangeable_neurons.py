"""Neurons that the exact-copy inputs of App. F.5 (Bürgin et al.) make exchangeable, and students matched within them.

A neuron sees n_a copies of the one latent and n_b of the other. Neurons with equal (n_a, n_b) are exchangeable: to
permute their (A_i, b_i) changes neither the student nor the law of its training, so that two runs on one mask may be
matched within such a class as well as by the neurons' numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch

from lmc_helpers import expect
from lmc_helpers.experiments.coherence_students import Students
from lmc_helpers.matching import weight_matching
from lmc_helpers.seeds import torch_generator

__all__ = ["align_in_classes", "copies_seen", "masks_with_counts"]


def copies_seen(U: torch.Tensor, D: torch.Tensor) -> torch.Tensor:
    """How many coordinates that hold a latent a neuron's mask lets through, for each latent.

    Parameters
    ----------
    U : torch.Tensor
        (d, k), at most one entry of a row not 0, as in the exact-copy family (276).
    D : torch.Tensor
        (..., m, d), masks.

    Returns
    -------
    torch.Tensor
        (..., m, k), long; (n_a, n_b) for two latents.

    Examples
    --------
    >>> from lmc_helpers.data.coherence_inputs import exact_copy
    >>> copies_seen(exact_copy(2, d=5), torch.tensor([[1.0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])).tolist()
    [[2, 1], [0, 1]]
    """
    expect.tensor(U, "U", "d k")
    expect.tensor(D, "D", "... m d")
    if U.shape[0] != D.shape[-1]:
        raise ValueError(f"U and D have shapes {tuple(U.shape)} and {tuple(D.shape)}; allowed: (d, k) and (..., m, d)")
    holds = U != 0
    if (holds.sum(dim=-1) > 1).any():
        raise ValueError("a row of U holds more than one latent; allowed: exact copies")
    return ((D != 0).double() @ holds.double()).long()


def masks_with_counts(counts: Sequence[tuple[int, int]], G: int, k: int, d: int, seed: int) -> torch.Tensor:
    """G masks whose i-th neuron sees given numbers of the k copies of each latent, at places drawn at random.

    Parameters
    ----------
    counts : sequence of (int, int)
        (n_a, n_b) of each of the m neurons, from 0 to k.
    G, k, d : int
        masks, copies of each latent, coordinates; the copies lie as in (276).
    seed : int
        seed of the places.

    Returns
    -------
    torch.Tensor
        (G, m, d), float64.

    Examples
    --------
    >>> from lmc_helpers.data.coherence_inputs import exact_copy
    >>> D = masks_with_counts([(1, 3), (2, 2)], G=2, k=3, d=7, seed=1)
    >>> D.shape, copies_seen(exact_copy(3, d=7), D[1]).tolist()
    (torch.Size([2, 2, 7]), [[1, 3], [2, 2]])
    """
    expect.array(counts, "counts", "m two")
    expect.sizes(counts[0], "counts[0]", least=-(2**31))
    if len(counts[0]) != 2:
        raise ValueError(f"counts[0] = {counts[0]!r}; allowed: two counts a neuron")
    expect.integer(G, "G", least=1)
    expect.integer(k, "k", least=1)
    expect.integer(d, "d", least=1)
    wanted = torch.tensor(counts, dtype=torch.long).view(-1, 2)
    if 2 * k > d or not ((wanted >= 0) & (wanted <= k)).all():
        raise ValueError(f"counts = {wanted.tolist()}, k = {k}, d = {d}; allowed: counts from 0 to k, 2k <= d")
    uniform = torch.rand(G, len(wanted), 2, k, generator=torch_generator(seed, "places of the copies"))
    rank = uniform.argsort(dim=-1).argsort(dim=-1)  # (G, m, 2, k)
    D = torch.zeros(G, len(wanted), d, dtype=torch.float64)
    D[..., : 2 * k] = (rank < wanted[..., None]).double().mT.flatten(-2)  # a and b in turn
    return D


def align_in_classes(students: Students, copies: torch.Tensor) -> Students:
    """Every second student of a group, its neurons permuted within classes of equal counts towards the one before it.

    In each class the permutation is the one with the largest Σ_i ⟨(A_i, b_i), (A'_p(i), b'_p(i))⟩.

    Parameters
    ----------
    students : Students
        G groups of an even number; 2i and 2i + 1 are a pair.
    copies : torch.Tensor
        (G, m, 2), of :func:`copies_seen`.

    Returns
    -------
    Students
        the same functions; W is left as it was, since masks within a class may differ.

    Examples
    --------
    >>> A = torch.tensor([[[[1.0, 1.0], [0.0, 0.1]], [[0.1, 0.0], [1.0, 1.0]]]], dtype=torch.float64)
    >>> students = Students(A, torch.zeros(1, 2, 2, dtype=torch.float64), A)
    >>> align_in_classes(students, torch.ones(1, 2, 2, dtype=torch.long)).A[0, 1].tolist()
    [[1.0, 1.0], [0.1, 0.0]]
    """
    if not isinstance(students, Students):
        raise ValueError(f"students is {type(students).__name__}; allowed: Students")
    expect.tensors({"copies": copies})
    G, r, m = students.b.shape
    if r % 2 or copies.shape != (G, m, 2):
        raise ValueError(f"groups of {r}, copies {tuple(copies.shape)}; allowed: even groups and {(G, m, 2)}")
    if copies.dtype != torch.long:
        raise ValueError(f"copies has dtype {copies.dtype}; allowed: torch.long")
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
