"""Pairs of networks of one training run, 2p and 2p + 1, measured along their lines (chapters 53, 56 and 57)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch

from lmc_helpers.alignment.activation_matching import match_moments, recorded_moments
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.training.runs import Result

__all__ = ()  # what packages of ours lend each other


def complete(survivors: Sequence[int]) -> tuple[int, ...]:
    """Numbers p of the pairs of which neither network diverged."""
    return tuple(k // 2 for k in survivors if k % 2 == 0 and k + 1 in survivors)


def ends(result: Result, epoch: int | None = None) -> tuple[Stack, Stack]:
    """First and second networks of the pairs as ordinary networks with the weights F + D ⊙ W."""
    stack = result.stack if epoch is None else result.kept[epoch]
    firsts = [result.survivors.index(2 * p) for p in complete(result.survivors)]
    return stack.ordinary(firsts), stack.ordinary([k + 1 for k in firsts])


@dataclass(frozen=True, eq=False)
class Measurement:
    """Objectives L and accuracies of P pairs of networks with L hidden layers."""

    optimal: torch.Tensor  # (P, L): L(P*)
    identity: torch.Tensor  # (P, L): L(I)
    random: torch.Tensor  # (P, L): mean of L(P) over all m! permutations
    spread: torch.Tensor  # (P, L): standard deviation of L(P) over all m! permutations
    stays: torch.Tensor  # (P, L): share of the units that P* leaves fixed
    accuracy: dict[str, torch.Tensor]  # matching → accuracies (P, number of λ)

    def above_random(self) -> tuple[torch.Tensor, torch.Tensor]:
        """L(I) − L_r and L(P*) − L_r, (P, L) each."""
        return self.identity - self.random, self.optimal - self.random

    def drop(self, matching: str = "none") -> torch.Tensor:
        """Accuracy of the ends less that of the middle, (P,), in percentage points."""
        line = self.accuracy[matching]
        return 100 * ((line[:, 0] + line[:, -1]) / 2 - line[:, line.shape[1] // 2])

    @classmethod
    def joined(cls, some: Sequence[Measurement]) -> Measurement:
        """Measurements of several sets of pairs as one, on the CPU."""
        lines = {way: torch.cat([one.accuracy[way] for one in some]).cpu() for way in some[0].accuracy}
        return cls(**{part: torch.cat([getattr(one, part) for one in some]).cpu() for part in PARTS}, accuracy=lines)


PARTS = tuple(field.name for field in fields(Measurement) if field.name != "accuracy")


def measure(
    a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, lambdas: Sequence[float] = (), published: bool = False
) -> Measurement:
    """Objectives of P pairs, and accuracies on the lines between them, unmatched and matched."""
    moments = recorded_moments(a, b, x)
    best = match_moments(moments)
    law = best.random()
    groups = list(best.permutations)

    def stacked(of_group: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.stack([of_group[g] for g in groups], dim=-1)  # (P, L)

    matchings = {"none": None, "correlation": best.permutations} if len(lambdas) else {}
    if published and matchings:
        matchings |= {name: match_moments(moments, name).permutations for name in ("published", "absolute")}
    accuracy = {}
    for name, p in matchings.items():
        line = along_segments(a, b if p is None else b.permuted(p), x, y, lambdas).accuracy
        assert line is not None
        accuracy[name] = line
    fixed = {
        g: (p == torch.arange(p.shape[-1], device=p.device)).double().mean(dim=-1) for g, p in best.permutations.items()
    }
    return Measurement(
        stacked(best.objective()),
        stacked(best.identity()),
        stacked({g: mean for g, (mean, _) in law.items()}),
        stacked({g: spread for g, (_, spread) in law.items()}),
        stacked(fixed),
        accuracy,
    )
