"""Activation matching: units that respond alike to the same inputs are matched (Bürgin et al., section 6 and F.4).

Z^A and Z^B (n, m) are the activations of the m units of a group of two networks. S_ij is the Pearson correlation of
unit i of the one and unit j of the other, and the matching maximises

    L(P) = ⟨P, S⟩_F = Σ_i S_ip(i).

The paper plots L(P)/m for the optimal P, the identity and random P, averaged over groups. Convolutions count every
pixel as a sample, and a residual stream every position at which it is read (F.4); the model's record stacks them.

Sums over batches are merged as in Chan, Golub & LeVeque (1983), in float64, and memory stays bounded. A unit whose
activation is constant on the data is *dead*: its correlations are undefined, count as 0, and are reported.

The objectives, all maximised, in the words of :data:`OBJECTIVES`:

- ``"correlation"``: S_ij, the text of the paper.
- ``"product"``: the mean of z_i z_j, not centred, which solves the least-squares problem of Ainsworth et al. (2023).
- ``"absolute"``: ``|S_ij|``; opposite responses count as alike.
- ``"published"``: ``1 − |S_ij|``. The paper's script for the barriers of aligned networks
  (measure_lmc_unaligned_aligned.py, commit c92eb82 of its repository) *maximises* it: units are matched whose responses
  are as little correlated as possible. Minimised, as a cost, it would be ``"absolute"``. The script for the objectives
  of section 6 uses ``"correlation"``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from lmc_helpers._typing import Positive, checked, require_finite
from lmc_helpers.alignment.assignment import _assign, matched_sum
from lmc_helpers.matching import check_permutation
from lmc_helpers.networks.model import Record, Stack
from lmc_helpers.networks.permutations import Permutations

__all__ = ["OBJECTIVES", "ActivationMatching", "Moments", "activation_matching", "match_moments", "recorded_moments"]

Objective = Literal["correlation", "product", "absolute", "published"]
CONSTANT = 1e-9  # a unit is dead if its deviation is smaller, relative to its root mean square


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of the activations of m units of two networks on the same n samples, for P pairs."""

    n: int  # number of samples
    means: Tensor  # (2, P, m), float64
    squares: Tensor  # (2, P, m): Σ (z − mean)²
    products: Tensor  # (P, m, m): Σ (z^A_i − mean)(z^B_j − mean)

    @property
    def dead(self) -> Tensor:
        """Units that are constant on the samples, (2, P, m), bool."""
        return self.squares.sqrt() <= CONSTANT * (self.squares + self.n * self.means.square()).sqrt()

    def correlations(self) -> Tensor:
        """Pearson correlations S (P, m, m); those of dead units are 0."""
        size = torch.where(self.dead, torch.inf, self.squares.sqrt())  # (2, P, m)
        return self.products / size[0, :, :, None] / size[1, :, None, :]


def moments_of(za: Tensor, zb: Tensor) -> Moments:
    """Moments of one batch of activations (P, n, m)."""
    z = torch.stack([za.detach(), zb.detach()]).double()  # (2, P, n, m)
    require_finite(activations=z)
    means = z.mean(dim=2)
    z = z - means[:, :, None]
    return Moments(za.shape[1], means, z.square().sum(dim=2), z[0].mT @ z[1])


def merged_moments(first: Moments, second: Moments) -> Moments:
    """Moments of two batches together, from those of each."""
    n = first.n + second.n
    shift = second.means - first.means  # (2, P, m)
    weight = first.n * second.n / n
    return Moments(
        n,
        first.means + shift * (second.n / n),
        first.squares + second.squares + weight * shift.square(),
        first.products + second.products + weight * shift[0, :, :, None] * shift[1, :, None, :],
    )


@checked
def recorded_moments(a: Stack, b: Stack, x: Float[Tensor, " n *shape"], batch: Positive = 256) -> dict[str, Moments]:
    """Moments of the activations of P pairs of networks, for each group of their symmetry, by batches of inputs."""
    if a.model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {a.model} and {len(b)} {b.model}; allowed: P pairs of one architecture")

    def one(part: Tensor) -> dict[str, Moments]:
        records: list[Record] = [{}, {}]
        for stack, record in zip((a, b), records, strict=True):
            stack.forward(part, record)
        return {group: moments_of(records[0][group], records[1][group]) for group in a.model.symmetry().groups}

    def add(so_far: dict[str, Moments], part: Tensor) -> dict[str, Moments]:
        return {group: merged_moments(so_far[group], new) for group, new in one(part).items()}

    with torch.no_grad():
        first, *rest = x.split(batch)
        return reduce(add, rest, one(first))


#: Name of an objective → its matrix (P, m, m), of which the sum over matched units is maximised.
OBJECTIVES: dict[str, Callable[[Moments], Tensor]] = {
    "correlation": lambda found: found.correlations(),
    "product": lambda found: found.products / found.n + found.means[0, :, :, None] * found.means[1, :, None, :],
    "absolute": lambda found: found.correlations().abs(),
    "published": lambda found: 1 - found.correlations().abs(),
}


@dataclass(frozen=True, eq=False)
class ActivationMatching:
    """Result of activation matching for P pairs."""

    permutations: dict[str, Tensor]  # group → p (P, m): unit i of a is matched with unit p_i of b
    gains: dict[str, Tensor]  # group → the matrix of the objective (P, m, m)
    dead: dict[str, Tensor]  # group → units of a and of b that are constant on the data, (2, P, m), bool

    @checked
    def objective(self, permutations: Permutations | None = None) -> dict[str, Tensor]:
        """The objective ⟨P, S⟩/m of each group, (P,), at the optimal permutations or at others."""
        chosen = self.permutations if permutations is None else permutations
        expected = {g: tuple(C.shape[:-1]) for g, C in self.gains.items()}
        for g, p in chosen.items():
            if tuple(p.shape) != expected.get(g):
                raise ValueError(f"p of group {g!r} has shape {tuple(p.shape)}; allowed: {expected}")
            check_permutation(p)
        return {g: matched_sum(self.gains[g], p.to(self.gains[g].device)) / p.shape[-1] for g, p in chosen.items()}

    def identity(self) -> dict[str, Tensor]:
        """⟨I, S⟩/m of each group, (P,)."""
        return {g: C.diagonal(dim1=-2, dim2=-1).mean(dim=-1) for g, C in self.gains.items()}

    def random(self) -> dict[str, tuple[Tensor, Tensor]]:
        """Mean and standard deviation of ⟨P, S⟩/m over all m! permutations, (P,) each, exactly.

            mean = Σ_ij S_ij/m²,      variance = Σ_ij D_ij²/(m² (m − 1)),

        with D the doubly centred S: each entry less the means of its row and of its column, plus the mean of all
        (Hoeffding 1951). One permutation drawn at random deviates by this much; its sum is nearly normal for large m.
        """
        law = {}
        for g, C in self.gains.items():
            m = C.shape[-1]
            D = C - C.mean(dim=-1, keepdim=True) - C.mean(dim=-2, keepdim=True) + C.mean(dim=(-2, -1), keepdim=True)
            law[g] = (C.mean(dim=(-2, -1)), D.square().sum(dim=(-2, -1)).sqrt() / (m * max(m - 1, 1) ** 0.5))
        return law


@checked
def match_moments(found: dict[str, Moments], objective: Objective = "correlation") -> ActivationMatching:
    """The permutations that maximise an objective, an exact assignment for each group.

    ``objective``: see :data:`OBJECTIVES`.
    """
    few = {g: one.n for g, one in found.items() if one.n < 2}
    if few:
        raise ValueError(f"groups with samples {few}; allowed: at least 2 samples")
    gains = {g: OBJECTIVES[objective](one) for g, one in found.items()}
    return ActivationMatching(
        {g: _assign(C) for g, C in gains.items()}, gains, {g: one.dead for g, one in found.items()}
    )


@checked
def activation_matching(
    a: Stack, b: Stack, x: Float[Tensor, " n *shape"], objective: Objective = "correlation", batch: Positive = 256
) -> ActivationMatching:
    """Match units of P pairs of networks by their activations on two or more inputs.

    ``objective``: see :data:`OBJECTIVES`. ``batch``: inputs of a pass.
    """
    return match_moments(recorded_moments(a, b, x, batch), objective)
