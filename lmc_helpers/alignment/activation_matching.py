"""Activation matching: units that respond alike to the same inputs are matched (Bürgin et al., section 6 and F.4).

Z^A and Z^B (n, m) are the activations of the m units of a group of two networks. S_ij is the Pearson correlation of
unit i of the one and unit j of the other, and the matching maximises

    L(P) = ⟨P, S⟩_F = Σ_i S_ip(i).

The paper plots L(P)/m for the optimal P, the identity and random P, averaged over groups. Convolutions count every
pixel as a sample, and a residual stream every place where it is read (F.4); the model's record stacks them.

Sums over batches are merged as in Chan, Golub & LeVeque (1983), in float64, so that memory stays bounded. A unit whose
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

import torch

from lmc_helpers import expect
from lmc_helpers.alignment.assignment import assign, matched_sum
from lmc_helpers.networks.model import Record, Stack
from lmc_helpers.networks.permutations import Permutations

__all__ = [
    "OBJECTIVES",
    "ActivationMatching",
    "Moments",
    "activation_matching",
    "match_moments",
    "merge",
    "moments",
    "recorded_moments",
]

CONSTANT = 1e-9  # a unit is dead if its deviation is smaller, relative to its root mean square


@dataclass(frozen=True, eq=False)
class Moments:
    """First and second moments of the activations of m units of two networks on the same n samples, for P pairs.

    Parameters
    ----------
    n : int
        number of samples.
    means : torch.Tensor
        (2, P, m), float64.
    squares : torch.Tensor
        (2, P, m): Σ (z − mean)².
    products : torch.Tensor
        (P, m, m): Σ (z^A_i − mean)(z^B_j − mean).
    """

    n: int
    means: torch.Tensor
    squares: torch.Tensor
    products: torch.Tensor

    @property
    def dead(self) -> torch.Tensor:
        """Units that are constant on the samples, (2, P, m), bool."""
        return self.squares.sqrt() <= CONSTANT * (self.squares + self.n * self.means.square()).sqrt()

    @property
    def deviations(self) -> torch.Tensor:
        """Standard deviations, (2, P, m), of the n samples."""
        return (self.squares / self.n).sqrt()

    def correlations(self) -> torch.Tensor:
        """Pearson correlations S (P, m, m); those of dead units are 0."""
        size = torch.where(self.dead, torch.inf, self.squares.sqrt())  # (2, P, m)
        return self.products / size[0, :, :, None] / size[1, :, None, :]


def moments(za: torch.Tensor, zb: torch.Tensor) -> Moments:
    """Moments of one batch.

    Parameters
    ----------
    za, zb : torch.Tensor
        activations (P, n, m) on the same samples, n >= 1.

    Returns
    -------
    Moments
        in float64.

    Examples
    --------
    >>> z = torch.tensor([[[0.0, 5.0], [2.0, 5.0]]])
    >>> both = moments(z, -z)
    >>> both.correlations().round(decimals=9).tolist(), both.dead[0].tolist()
    ([[[-1.0, 0.0], [0.0, 0.0]]], [[False, True]])
    """
    expect.tensor(za, "za", finite=False)
    expect.tensor(zb, "zb", finite=False)
    if not za.numel():
        raise ValueError(f"za has shape {tuple(za.shape)}; allowed: (P, n, m), no axis empty")
    if za.shape != zb.shape or za.ndim != 3 or za.shape[1] < 1:
        raise ValueError(f"activations {tuple(za.shape)} and {tuple(zb.shape)}; allowed: equal shapes (P, n >= 1, m)")
    z = torch.stack([za.detach(), zb.detach()]).double()  # (2, P, n, m)
    if not torch.isfinite(z).all():
        raise ValueError("activations are not all finite; allowed: finite activations")
    means = z.mean(dim=2)
    z = z - means[:, :, None]
    return Moments(za.shape[1], means, z.square().sum(dim=2), z[0].mT @ z[1])


def merge(first: Moments, second: Moments) -> Moments:
    """Moments of two batches together, from those of each.

    Parameters
    ----------
    first, second : Moments
        of the same units on different samples.

    Returns
    -------
    Moments
        of all samples.

    Examples
    --------
    >>> z = torch.arange(6.0).reshape(1, 6, 1) ** 2
    >>> parts = merge(moments(z[:, :2], z[:, :2]), moments(z[:, 2:], z[:, 2:]))
    >>> bool(torch.allclose(parts.squares, moments(z, z).squares))
    True
    """
    if not isinstance(first, Moments):
        raise ValueError(f"first is {type(first).__name__}; allowed: Moments")
    if not isinstance(second, Moments):
        raise ValueError(f"second is {type(second).__name__}; allowed: Moments")
    if first.means.shape != second.means.shape:
        raise ValueError(
            f"first has means {tuple(first.means.shape)}, second {tuple(second.means.shape)}; allowed: the same units"
        )
    n = first.n + second.n
    shift = second.means - first.means  # (2, P, m)
    weight = first.n * second.n / n
    return Moments(
        n,
        first.means + shift * (second.n / n),
        first.squares + second.squares + weight * shift.square(),
        first.products + second.products + weight * shift[0, :, :, None] * shift[1, :, None, :],
    )


def recorded_moments(a: Stack, b: Stack, x: torch.Tensor, batch: int = 256) -> dict[str, Moments]:
    """Moments of the activations of P pairs of networks, from passes over batches of inputs.

    Parameters
    ----------
    a, b : Stack
        P networks each, of one architecture; fixed parts are allowed.
    x : torch.Tensor
        inputs (n, …) of all networks.
    batch : int
        inputs of a pass, at least 1.

    Returns
    -------
    dict of Moments
        for each group of the architecture's symmetry.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> nets = MLP((2, 5, 3)).initial([1, 2])
    >>> {g: (found.n, found.products.shape) for g, found in recorded_moments(nets, nets, torch.ones(7, 2), 4).items()}
    {'0': (7, torch.Size([2, 5, 5]))}
    """
    if not isinstance(a, Stack):
        raise ValueError(f"a is {type(a).__name__}; allowed: Stack")
    if not isinstance(b, Stack):
        raise ValueError(f"b is {type(b).__name__}; allowed: Stack")
    expect.tensor(x, "x")
    expect.integer(batch, "batch")
    if a.model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {a.model} and {len(b)} {b.model}; allowed: P pairs of one architecture")
    if len(x) < 1 or batch < 1:
        raise ValueError(f"{len(x)} inputs in batches of {batch}; allowed: at least 1 of each")

    def one(part: torch.Tensor) -> dict[str, Moments]:
        records: list[Record] = [{}, {}]
        for stack, record in zip((a, b), records, strict=True):
            stack.forward(part, record)
        return {group: moments(records[0][group], records[1][group]) for group in a.model.symmetry().groups}

    def add(so_far: dict[str, Moments], part: torch.Tensor) -> dict[str, Moments]:
        return {group: merge(so_far[group], new) for group, new in one(part).items()}

    with torch.no_grad():
        first, *rest = x.split(batch)
        return reduce(add, rest, one(first))


#: Name of an objective → its matrix (P, m, m), of which the sum over matched units is maximised.
OBJECTIVES: dict[str, Callable[[Moments], torch.Tensor]] = {
    "correlation": lambda found: found.correlations(),
    "product": lambda found: found.products / found.n + found.means[0, :, :, None] * found.means[1, :, None, :],
    "absolute": lambda found: found.correlations().abs(),
    "published": lambda found: 1 - found.correlations().abs(),
}


@dataclass(frozen=True, eq=False)
class ActivationMatching:
    """What activation matching finds for P pairs.

    Parameters
    ----------
    permutations : dict of torch.Tensor
        group → p (P, m): unit i of a is matched with unit p_i of b.
    gains : dict of torch.Tensor
        group → the matrix of the objective (P, m, m).
    dead : dict of torch.Tensor
        group → units of a and of b that are constant on the data, (2, P, m), bool.
    """

    permutations: dict[str, torch.Tensor]
    gains: dict[str, torch.Tensor]
    dead: dict[str, torch.Tensor]

    def objective(self, permutations: Permutations | None = None) -> dict[str, torch.Tensor]:
        """The objective ⟨P, S⟩/m of each group.

        Parameters
        ----------
        permutations : dict of torch.Tensor, optional
            group → (P, m); the optimal ones if left out.

        Returns
        -------
        dict of torch.Tensor
            group → (P,), float64.
        """
        expect.permutations({} if permutations is None else permutations, "permutations", self.permutations)
        chosen = self.permutations if permutations is None else permutations
        return {g: matched_sum(self.gains[g], p.to(self.gains[g].device)) / p.shape[-1] for g, p in chosen.items()}

    def identity(self) -> dict[str, torch.Tensor]:
        """⟨I, S⟩/m of each group, (P,)."""
        return {g: C.diagonal(dim1=-2, dim2=-1).mean(dim=-1) for g, C in self.gains.items()}

    def random(self) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
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


def match_moments(found: dict[str, Moments], objective: str = "correlation") -> ActivationMatching:
    """The permutations that maximise an objective, an exact assignment for each group.

    Parameters
    ----------
    found : dict of Moments
        of each group.
    objective : str
        a name of :data:`OBJECTIVES`.

    Returns
    -------
    ActivationMatching
        the permutations, the objective's matrices, and the dead units.

    Examples
    --------
    >>> z = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.0], [1.0, 1.0, 2.0]]])
    >>> match_moments({"hidden": moments(z, z[:, :, [2, 0, 1]])}).permutations["hidden"].tolist()
    [[1, 2, 0]]
    """
    if not isinstance(found, dict) or not found:
        raise ValueError(f"found is {type(found).__name__}; allowed: Moments of one group or more")
    expect.text(objective, "objective")
    if objective not in OBJECTIVES:
        raise ValueError(f"objective = {objective!r} is unknown; allowed: {', '.join(OBJECTIVES)}")
    few = {g: one.n for g, one in found.items() if one.n < 2}
    if few:
        raise ValueError(f"groups with samples {few}; allowed: at least 2 samples")
    gains = {g: OBJECTIVES[objective](one) for g, one in found.items()}
    return ActivationMatching(
        {g: assign(C) for g, C in gains.items()}, gains, {g: one.dead for g, one in found.items()}
    )


def activation_matching(
    a: Stack, b: Stack, x: torch.Tensor, objective: str = "correlation", batch: int = 256
) -> ActivationMatching:
    """Match units of P pairs of networks by their activations on given inputs.

    Parameters
    ----------
    a, b : Stack
        P networks each, of one architecture.
    x : torch.Tensor
        inputs (n, …), n >= 2.
    objective : str
        a name of :data:`OBJECTIVES`.
    batch : int
        inputs of a pass.

    Returns
    -------
    ActivationMatching
        for every group of the architecture.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> a = MLP((2, 4, 3)).initial([1])
    >>> x = torch.randn(50, 2, generator=torch.Generator().manual_seed(1))
    >>> activation_matching(a, a.permuted({"0": torch.tensor([[2, 0, 3, 1]])}), x).permutations["0"].tolist()
    [[1, 3, 0, 2]]
    """
    expect.text(objective, "objective")
    return match_moments(recorded_moments(a, b, x, batch), objective)
