"""Coherence and swap costs of the layers of MLPs on images, for the chapter *swaps on images*.

Bürgin et al., F.7, G.3 and G.5. The networks are those of ``asymmetric_mlps``, so that equal settings are trained once,
and the first networks of the same pairs trained with batch norm (F.7). The inputs of a layer are the images, or the
activations after norm and activation; its subspace U (d, k) is the smallest principal one with 90 % of their variance,
centred as in the authors' published code. Layers are counted from 0; the last map has no norm and is left out of swap
costs, as in Figs. 12 and 16 to 19.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import torch
from torch.nn.functional import gelu

from lmc_helpers.data.images import load
from lmc_helpers.error_bars import jackknife
from lmc_helpers.identifiability import leverages, ridge_swaps, swap_costs
from lmc_helpers.identifiability.printed_networks import CORE, Training
from lmc_helpers.networks.layers import EPS
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.training.runs import Result, Run

EXPLAINED = 0.9  # share of the variance in a subspace

#: Positions of Fig. 21: the inputs of the four maps, and the outputs.
POSITIONS = ("images", "layer 2", "layer 3", "layer 4", "outputs")
HIDDEN_POSITIONS = slice(1, 4)


@dataclass(frozen=True)
class Parameters:
    """The parameters of the chapter on which the networks depend."""

    dataset: str
    width: int
    images: int
    epochs: int
    stages: Sequence[int]
    batch: int
    pairs: int
    ridge_networks: int
    seed: int

    def by_name(self) -> dict[str, Run]:
        """Training runs of MLP, W-MLPs with σ_F = 0 and 1 and syre-MLP, with layer norm and with batch norm."""
        shared = {k: v for k, v in vars(self).items() if k != "ridge_networks"}
        runs = Training(**shared, sweep_pairs=self.pairs, sigmas=(), shares=()).training_runs()
        layer_norm = {name: runs[name] for name in CORE}
        batch_norm = {f"{name}, batch norm": _batch_normed(runs[name], self.ridge_networks) for name in CORE}
        return layer_norm | batch_norm

    def runs(self) -> list[Run]:
        """All training runs."""
        return list(self.by_name().values())


def _batch_normed(run: Run, networks: int) -> Run:
    """The first networks of the first pairs, with batch norm."""
    assert isinstance(run.model, MLP)
    return replace(
        run,
        model=replace(run.model, norm="batch"),
        seeds=run.seeds[: 2 * networks : 2],
        mask_seeds=run.mask_seeds[:networks],
        keep=(),
    )


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of the inputs of a layer, float64."""

    mean: torch.Tensor  # (d,)
    covariance: torch.Tensor  # (d, d)

    @cached_property
    def basis(self) -> torch.Tensor:
        """Basis U (d, k) of the smallest principal subspace with 90 % of the variance."""
        values, vectors = torch.linalg.eigh(self.covariance)
        energy = values.clamp(min=0).flip(0).cumsum(dim=0)
        k = int((energy < energy[-1] * (EXPLAINED - 1e-12)).sum()) + 1
        return vectors.flip(1)[:, :k].contiguous()


def _moments(Z: torch.Tensor) -> Moments:
    Z = Z.double()
    mean = Z.mean(dim=0)
    Z = Z - mean
    return Moments(mean, Z.mT @ Z / len(Z))


def layer_moments(stack: Stack, n: int, x: torch.Tensor, images: Moments | None = None) -> list[Moments]:
    """Moments at the :data:`POSITIONS` of network n."""
    record: dict[str, torch.Tensor] = {}
    with torch.no_grad():
        outputs = stack.ordinary([n]).forward(x.to(next(iter(stack.params.values()))), record)
    return [images or _moments(x), *(_moments(hidden[0]) for hidden in record.values()), _moments(outputs[0])]


@dataclass(frozen=True, eq=False)
class Coherences:
    """Coherence ν and dimension k of the subspaces at the P :data:`POSITIONS` of N networks.

    ν = max_l (UUᵀ)_ll, eq. (11), is in [k/d, 1].
    """

    nu: torch.Tensor  # (N, P), float64
    k: torch.Tensor  # (N, P), float64
    d: torch.Tensor  # (P,), numbers of coordinates

    @property
    def excess(self) -> torch.Tensor:
        """(ν − k/d)/(1 − k/d), (N, P): 0 for equal leverages, 1 if the subspace contains a coordinate axis."""
        least = self.k / self.d
        return torch.where(self.k < self.d, (self.nu - least) / (1 - least), 0)

    @property
    def relative(self) -> torch.Tensor:
        """ν d/k in [1, d/k], the coherence of Candès & Recht (2009), (N, P)."""
        return self.nu * self.d / self.k


def coherences(stack: Stack, x: torch.Tensor, images: Moments | None = None) -> Coherences:
    """Coherences of all networks."""
    nu, k, d = [], [], []
    images = images or _moments(x)
    for n in range(len(stack)):
        bases = [moments.basis for moments in layer_moments(stack, n, x, images)]
        nu.append([leverages(U).max().item() for U in bases])
        k.append([U.shape[1] for U in bases])
        d = [len(U) for U in bases]
    return Coherences(torch.tensor(nu, dtype=torch.float64), torch.tensor(k, dtype=torch.float64), torch.tensor(d))


class Experiment:
    """The networks of Figs. 12, 16 to 19 and 21, trained on first use."""

    def __init__(self, settings: Parameters, n_images: int) -> None:
        self.runs = settings.by_name()
        data = self.runs["MLP"].data
        self.x = load(data.name, data.split, data.n, data.seed).inputs(flat=True)[:n_images]
        self.images = _moments(self.x)

    @cache  # noqa: B019
    def result(self, name: str) -> Result:
        """The trained networks of a run."""
        return self.runs[name].result()

    @cache  # noqa: B019
    def coherences(self, name: str, epoch: int | None = None) -> Coherences:
        """Coherences of all networks of a run, at the end or after a stored epoch."""
        result = self.result(name)
        return coherences(result.stack if epoch is None else result.kept[epoch], self.x, self.images)

    def by_pair(self, name: str, epoch: int | None = None, quantity: str = "nu") -> torch.Tensor:
        """Means of ``nu``, ``k``, ``excess`` or ``relative`` over the two networks of a pair, (pairs, P)."""
        values = getattr(self.coherences(name, epoch), quantity)
        return values.unflatten(0, (-1, 2)).mean(dim=1)

    def hidden(self, name: str, epoch: int | None = None, quantity: str = "nu") -> torch.Tensor:
        """Mean of :meth:`by_pair` over the hidden positions, (pairs,)."""
        return self.by_pair(name, epoch, quantity)[:, HIDDEN_POSITIONS].mean(dim=1)

    def higher(self, name: str, epoch: int | None = None, quantity: str = "nu") -> tuple[float, float]:
        """:meth:`hidden` of one run over the larger of MLP and W-MLP with σ_F = 0, and its widened standard error."""
        values = [self.hidden(key, epoch, quantity) for key in (name, "MLP", "W 0")]
        return jackknife(lambda u, v, w: u / max(v, w), *values)


BETA = 0.01  # β of the relaxed costs, as in App. G.3
LAYERS = range(3)


def layer_parts(stack: Stack, n: int, layer: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """F, D and W (m, d) of a layer of network n, float64; F = 0 and D = 1 for an ordinary layer."""
    name = f"{layer}.weight"
    W = stack.params[name][n].double()
    if name not in stack.fixed:
        return torch.zeros_like(W), torch.ones_like(W), W
    F, D = (part[n * len(part) // len(stack)].double() for part in stack.fixed[name])
    return F, D, W


def neighbours(m: int) -> torch.Tensor:
    """Disjoint consecutive pairs of neurons, (0, 1), (2, 3), …, as in Figs. 12 and 13."""
    return torch.arange(2 * (m // 2)).view(-1, 2)


def one_metric_costs(F: torch.Tensor, W: torch.Tensor, U: torch.Tensor) -> torch.Tensor:
    """Swap costs, eq. (16), of a layer with D = 1: 2 ⟨v_i − v_j, a_i − a_j⟩, with a_i = v_i + r_i."""
    v, a = F @ U, (F + W) @ U  # (m, k)
    G = v @ a.mT  # ⟨v_i, a_j⟩
    diagonal = G.diagonal()
    return 2 * (diagonal[:, None] + diagonal - G - G.mT)


def fixed_norm(stack: Stack, n: int, layer: int, inputs: Moments) -> tuple[torch.Tensor, torch.Tensor]:
    """α and γ (m,) of a layer, with the statistics of its inputs.

    A unit with effective weight a computes η(α a·h + γ) with α = gain/√(a·Ca + ε) and γ = shift − α a·E h; its bias
    cancels. The paper leaves the statistics of fixed norms (F.7) open; here they are the mean E h and covariance C of
    the chapter's images, not running ones.
    """
    F, D, W = layer_parts(stack, n, layer)
    a = F + D * W
    gain, shift = (stack.params[f"{layer}.{name}"][n].double() for name in ("gain", "shift"))
    alpha = gain * (((a @ inputs.covariance) * a).sum(dim=1) + EPS).rsqrt()
    return alpha, shift - alpha * (a @ inputs.mean)


class Swaps:
    """Swap costs in the first network of each pair, one cluster each."""

    def __init__(self, experiment: Experiment, name: str) -> None:
        self.experiment, self.stack = experiment, experiment.result(name).stack
        model = self.stack.model
        assert isinstance(model, MLP)
        self.networks = range(0, len(self.stack), 1 if model.norm == "batch" else 2)  # the first of each pair

    @cached_property
    def moments(self) -> list[list[Moments]]:
        """Moments of the inputs of each layer, networks × positions."""
        x, images = self.experiment.x, self.experiment.images
        return [layer_moments(self.stack, n, x, images) for n in self.networks]

    @cached_property
    def bases(self) -> list[list[torch.Tensor]]:
        """U (d, k) of each layer's inputs, networks × layers."""
        return [[moments[layer].basis for layer in LAYERS] for moments in self.moments]

    @cached_property
    def matrices(self) -> list[torch.Tensor]:
        """Swap costs of eq. (16) of all pairs of neurons, layer → (networks, m, m)."""
        return [
            torch.stack(
                [
                    swap_costs(*layer_parts(self.stack, n, layer), bases[layer])
                    for n, bases in zip(self.networks, self.bases, strict=True)
                ]
            )
            for layer in LAYERS
        ]

    def costs(self, layer: int) -> torch.Tensor:
        """Swap costs of the disjoint :func:`neighbours`, (networks, pairs)."""
        matrices = self.matrices[layer]
        return matrices[:, *neighbours(matrices.shape[-1]).T]

    def ridge(self, layer: int, count: int, inputs: int, beta: float = BETA) -> tuple[torch.Tensor, torch.Tensor]:
        """Relaxed swap costs, eq. (254), of the first ``count`` neighbours with fixed norms, and their parts ‖w‖²."""
        x, costs = self.experiment.x, []
        for n, moments in zip(self.networks, self.moments, strict=True):
            h = x if layer == 0 else self._hidden(n)[str(layer - 1)][0]
            X = h[:inputs].double()
            pairs = neighbours(self.stack.params[f"{layer}.weight"].shape[1])[:count]
            neurons = slice(pairs.numel())  # those of the pairs
            F, D, W = (part[neurons] for part in layer_parts(self.stack, n, layer))
            alpha, gamma = (part[neurons] for part in fixed_norm(self.stack, n, layer, moments[layer]))
            costs.append(ridge_swaps(F, D, W, X, pairs, beta, gelu, alpha, gamma))
        values, norms = zip(*costs, strict=True)
        return torch.stack(values), torch.stack(norms)

    def _hidden(self, n: int) -> dict[str, torch.Tensor]:
        record: dict[str, torch.Tensor] = {}
        with torch.no_grad():
            self.stack.ordinary([n]).forward(self.experiment.x, record)
        return record
