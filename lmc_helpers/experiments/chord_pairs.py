"""Pairs of two-layer networks that share fixed weights, trained on images (Bürgin et al., Prop. 5.2; chapter 46).

A network computes z(x) = A ReLU((F + D ⊙ W) x). In each of its rows F has a fixed number of entries σ_F N(0, 1) in
uniform places, where the mask D is 0. Both networks of a pair share F and D; W and A start from independent numbers and
are trained with AdamW on batches of images, which all pairs share.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers import expect
from lmc_helpers.seeds import torch_generator

__all__ = ["Checkpoint", "ChordPairs", "cross_entropy", "train_pairs"]


@dataclass(frozen=True)
class Checkpoint:
    """The weights after some steps: W (n, 2, m, d) and A (n, 2, classes, m) of both networks of n pairs."""

    step: int
    W: torch.Tensor
    A: torch.Tensor


@dataclass(frozen=True)
class ChordPairs:
    """Trained pairs: F and D (n, 1, m, d), which both networks of a pair share, and their checkpoints in order."""

    F: torch.Tensor
    D: torch.Tensor
    checkpoints: list[Checkpoint]

    def outputs(self, W: torch.Tensor, A: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """z = A ReLU((F + D ⊙ W) x) for inputs x (N, d), (n, ends, N, classes)."""
        expect.tensor(W, "W", "n ends m d", finite=False)
        expect.tensor(A, "A", "n ends classes m", finite=False)
        expect.tensor(x, "x", "N d", finite=False)
        if len(W) != len(self.F) or W.shape[2:] != self.F.shape[2:] or x.shape[1] != W.shape[3]:
            raise ValueError(
                f"W and x have shapes {tuple(W.shape)} and {tuple(x.shape)}; allowed: (n, ends, m, d) and (N, d) with "
                f"(n, 1, m, d) = {tuple(self.F.shape)}"
            )
        if A.shape[:2] != W.shape[:2] or A.shape[3] != W.shape[2]:
            raise ValueError(
                f"A has shape {tuple(A.shape)}; allowed: (n, ends, classes, m) of W, {tuple(W.shape[:2])} first and "
                f"{W.shape[2]} last"
            )
        expect.same({"W": W, "A": A, "x": x, "F": self.F}, shape=False)
        return torch.relu(x @ (self.F + self.D * W).mT) @ A.mT


def cross_entropy(z: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy, the mean over examples.

    Parameters
    ----------
    z : torch.Tensor
        outputs (..., n, classes).
    labels : torch.Tensor
        classes (n,), long.

    Returns
    -------
    torch.Tensor
        (...).

    Examples
    --------
    >>> round(cross_entropy(torch.zeros(3, 10), torch.tensor([0, 4, 9])).item(), 4)  # ln 10
    2.3026
    """
    return (z.logsumexp(-1) - z[..., torch.arange(len(labels)), labels]).mean(-1)


def train_pairs(
    images: torch.Tensor,
    labels: torch.Tensor,
    *,
    scales: Sequence[float],
    networks: int,
    hidden: int,
    fixed: int,
    steps: int,
    seed: int,
) -> ChordPairs:
    """Train all pairs at once.

    Parameters
    ----------
    images, labels : torch.Tensor
        inputs (N, d), float64, and their classes (N,) from 0 to 9.
    scales : sequence of float
        σ_F of the pairs.
    networks : int
        pairs of each scale; n = len(scales) · networks, ordered by scale.
    hidden, fixed : int
        neurons m, and fixed weights of each.
    steps : int
        training steps; checkpoints are taken before the first, after the last, and after 1/15, 1/5 and 1/2 of them.
    seed : int
        of every random number, in [0, 2³²).

    Returns
    -------
    ChordPairs
        F, D and the checkpoints.

    Examples
    --------
    >>> x = torch.eye(6, dtype=torch.float64)
    >>> pairs = train_pairs(x, torch.arange(6), scales=[0.0, 1.0], networks=2, hidden=5, fixed=2, steps=3, seed=1)
    >>> [tuple(t.shape) for t in (pairs.F, pairs.checkpoints[0].W, pairs.checkpoints[0].A)]
    [(4, 1, 5, 6), (4, 2, 5, 6), (4, 2, 10, 5)]
    >>> [c.step for c in pairs.checkpoints], (pairs.D == 0).sum(dim=-1).unique().tolist()
    ([0, 1, 3], [2])
    """
    expect.tensor(images, "images", "N d")
    expect.tensors({"labels": labels})
    if labels.dtype != torch.long or labels.shape != images.shape[:1] or labels.amin() < 0 or labels.amax() > 9:
        raise ValueError(
            f"labels {tuple(labels.shape)}, {labels.dtype}; allowed: classes 0 to 9 of {len(images)} images"
        )
    expect.array(scales, "scales", "k", empty=True)
    expect.integer(networks, "networks")
    expect.integer(fixed, "fixed")
    expect.integer(steps, "steps")
    expect.integer(hidden, "hidden", least=1)
    d, n = images.shape[1], len(scales) * networks
    if n < 1 or steps < 1 or not 0 <= fixed < d:
        raise ValueError(
            f"{n} pairs, {steps} steps, {fixed} of {d} fixed; allowed: at least one pair, step and free weight"
        )
    generator = torch_generator(seed, "networks")

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    mask = normal(n, 1, hidden, d).argsort(dim=-1) < fixed
    scale = torch.tensor(scales).double().repeat_interleave(networks)
    F = scale[:, None, None, None] * mask * normal(n, 1, hidden, d)
    W = (normal(n, 2, hidden, d) / 8).requires_grad_()
    A = (normal(n, 2, 10, hidden) / 8).requires_grad_()
    pairs = ChordPairs(F, (~mask).double(), [])
    optimiser = torch.optim.AdamW([W, A], lr=0.01, weight_decay=0.01)
    kept = {0, steps // 15, steps // 5, steps // 2, steps}
    for step in range(steps + 1):
        if step in kept:
            pairs.checkpoints.append(Checkpoint(step, W.detach().clone(), A.detach().clone()))
        batch = torch.randint(len(images), (256,), generator=generator)
        loss = cross_entropy(pairs.outputs(W, A, images[batch]), labels[batch]).sum()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return pairs
