"""W-asymmetric networks on Gaussian mixtures, and their swap costs (chapters 44 and 50).

Bürgin et al., section 6, Q3, App. F and G.3. A sample of class c is x = P Q_c (μ_c + ε), eq. (278): μ_c has independent
N(0, σ_sep²) entries, ε is N(0, diag(s²)), Q_c is orthogonal with the Haar law, and P embeds k dimensions into d. The
paper does not specify P; here it is uniform among the matrices with orthonormal columns. The law of μ_c is isotropic,
so that the rotation affects only the noise.

A cluster has one mixture, one data set, one F and D for each layer and one pair, so that clusters are independent.
Cluster g has the same mixture (up to k), noise and masks in all settings: equal conditions for each.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from scipy.stats import spearmanr

from lmc_helpers.device import device
from lmc_helpers.general_linear import haar
from lmc_helpers.identifiability import WAsymmetric, pca_basis, swap_costs, swap_terms
from lmc_helpers.identifiability.printed_networks import fixed_entries
from lmc_helpers.matching import match_activations
from lmc_helpers.networks.mlp import MLP, Norm
from lmc_helpers.networks.model import Record, Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import seed_sequence, torch_generator
from lmc_helpers.training.fit import PRECISIONS, Precision, fit
from lmc_helpers.training.recipes import Descent

__all__ = ()  # what packages of ours lend each other

PUBLISHED_SEED, PUBLISHED_SEPARATION = 789, 0.3  # defaults of the authors' code


@dataclass(frozen=True)
class GaussianMixture:
    """A mixture of C equally likely Gaussian classes in k of d dimensions, float64."""

    centres: torch.Tensor  # μ_c, (C, k)
    rotations: torch.Tensor  # Q_c, (C, k, k)
    scales: torch.Tensor  # s, (k,), the standard deviations of ε up to sign
    embedding: torch.Tensor  # P, (d, k)

    def sample(self, n: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
        """n samples x (n, d) and their classes y (n,), in random order; the classes are balanced where C divides n."""
        C, k = self.centres.shape
        generator = torch_generator(seed, "samples of a Gaussian mixture")
        y = (torch.arange(n) % C)[torch.randperm(n, generator=generator)]
        noise = torch.randn(n, k, dtype=torch.float64, generator=generator) * self.scales
        z = (self.rotations[y] @ (self.centres[y] + noise)[..., None])[..., 0]
        return z @ self.embedding.mT, y

    def classify(self, x: torch.Tensor) -> torch.Tensor:
        """The most likely class of each sample in the span of P: no classifier has a larger expected accuracy."""
        z = x @ self.embedding  # (n, k)
        noise = z @ self.rotations - self.centres[:, None]  # (C, n, k): Q_cᵀ z − μ_c
        return (noise / self.scales).square().sum(dim=-1).argmin(dim=0)


def draw_mixture(
    k: int, *, d: int = 128, classes: int = 5, separation: float = 3.0, scales: Sequence[float] | None = None, seed: int
) -> GaussianMixture:
    """Draw the structure of a mixture; scales are drawn from N(0, 1) if not given.

    Centres, rotations, embedding and scales have separate streams, so that calls that differ only in ``separation`` or
    ``scales`` agree in all else.
    """

    def stream(what: str) -> torch.Generator:
        return torch_generator(seed, f"{what} of a Gaussian mixture")

    drawn = torch.randn(k, dtype=torch.float64, generator=stream("scales"))
    return GaussianMixture(
        centres=separation * torch.randn(classes, k, dtype=torch.float64, generator=stream("centres")),
        rotations=haar((classes, k, k), stream("rotations")),
        scales=drawn if scales is None else torch.as_tensor(scales, dtype=torch.float64),
        embedding=haar((d, k), stream("embedding")),
    )


def published_mixture(
    k: int, *, d: int = 128, classes: int = 5, separation: float = PUBLISHED_SEPARATION, seed: int = PUBLISHED_SEED
) -> GaussianMixture:
    """The structure that the authors' published code draws, with its default seed and separation.

    One generator gives, in this order and in float32, the centres, the rotations (QR of normal matrices), the scales
    and the embedding. The code adds the rotated noise to centres that it does not rotate, x = P(μ_c + Q_c ε); here the
    centres are Q_cᵀμ_c, so that eq. (278) gives the same samples.
    """
    generator = torch.Generator().manual_seed(seed)
    means = (torch.randn(classes, k, generator=generator) * separation).double()
    rotations = torch.linalg.qr(torch.randn(classes, k, k, generator=generator))[0].double()
    scales = torch.randn(1, k, generator=generator)[0].double()
    embedding = torch.linalg.qr(torch.randn(d, k, generator=generator))[0].double()
    return GaussianMixture((rotations.mT @ means[..., None])[..., 0], rotations, scales, embedding)


DIMENSION, CLASSES, WIDTH = 128, 5, 64
SCALED = fixed_entries(DIMENSION, WIDTH)  # in a row


@dataclass(frozen=True)
class Setting:
    """The settings of one experiment."""

    k: int  # intrinsic dimension
    sigma: float = 1.0  # σ_F of all layers
    separation: float = 0.3  # σ_sep of the mixture
    scales: tuple[float, ...] | None = None  # s of the mixture, k numbers
    fixed: tuple[int, ...] = SCALED  # fixed entries in each row of the four linear maps
    initial: str = "normal"  # law of W
    mixture: str = "drawn"  # ``"drawn"`` for each cluster, or ``"published"``


@dataclass(frozen=True, eq=False)
class TrainedPairs:
    """G trained pairs of one setting; networks 2g and 2g + 1 belong to cluster g. Everything is on the CPU."""

    setting: Setting
    mixtures: list[GaussianMixture]  # G of them
    x: torch.Tensor  # training inputs (G, n, 128)
    y: torch.Tensor  # labels (G, n)
    before: Stack  # 2G networks; the F and D of a layer are (G, m, d)
    after: Stack
    kept: dict[int, Stack] = field(default_factory=dict)  # epoch → networks

    def __len__(self) -> int:
        return len(self.x)

    def layer(self, g: int, k: int = 0, when: str | int = "after") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """F, D and W of linear map k of the first network of cluster g, (m, d) each, before or after training."""
        networks = self.kept[when] if isinstance(when, int) else {"before": self.before, "after": self.after}[when]
        F, D = networks.fixed[f"{k}.weight"]
        return F[g], D[g], networks.params[f"{k}.weight"][2 * g]

    def ends(self) -> tuple[Stack, Stack]:
        """First and second networks of all pairs as ordinary networks with the weights W_eff."""
        G = len(self)
        return self.after.ordinary(range(0, 2 * G, 2)), self.after.ordinary(range(1, 2 * G, 2))

    def aligned(self) -> tuple[Stack, Stack]:
        """The same networks, the second ones permuted by activation matching."""
        a, b = self.ends()
        hidden_b = hidden_layers(b, self.x)
        return a, b.permuted({k: match_activations(h, hidden_b[k]) for k, h in hidden_layers(a, self.x).items()})

    def accuracies(self, ends: tuple[Stack, Stack] | None = None) -> torch.Tensor:
        """Training accuracies (G, 3) at λ = 0, ½, 1 on the lines between the ends, or between given ones."""
        a, b = self.ends() if ends is None else ends
        return along_segments(a, b, self.x, self.y, (0, 0.5, 1)).accuracy

    def drops(self, ends: tuple[Stack, Stack] | None = None) -> torch.Tensor:
        """Mean accuracy of the ends less that of the middle, in percentage points, (G,)."""
        accuracy = self.accuracies(ends)
        return 100 * (accuracy[:, [0, 2]].mean(dim=1) - accuracy[:, 1])

    def ceiling(self) -> torch.Tensor:
        """Training accuracy of the Bayes classifier in per cent, (G,)."""
        right = [
            (mixture.classify(x.double()) == y).double().mean()
            for mixture, x, y in zip(self.mixtures, self.x, self.y, strict=True)
        ]
        return 100 * torch.stack(right)


def hidden_layers(networks: Stack, x: torch.Tensor) -> Record:
    """Activations of all hidden layers, layer → (N, n, m)."""
    record: Record = {}
    networks.forward(x, record)
    return record


def train_pairs(
    settings: Sequence[Setting],
    clusters: int,
    seed: int,
    *,
    samples: int,
    epochs: int,
    batch: int = 128,
    norm: Norm = "layer",
    precision: Precision = "float32",
    keep: Collection[int] = (),
    checkpoints: Path | str | None = None,
) -> list[TrainedPairs]:
    """Train pairs of four-layer GELU networks of width 64; all networks of a setting are trained at once."""
    settings = list(settings)
    model = MLP((DIMENSION, WIDTH, WIDTH, WIDTH, CLASSES), activation="gelu", norm=norm)
    descent = Descent(epochs, batch, "adamw", rate=1e-3, weight_decay=1e-2)
    numbers = [
        int(seed_sequence(seed, f"cluster {g} of Gaussian mixtures").generate_state(1)[0]) for g in range(clusters)
    ]
    seeds = [int(n) for number in numbers for n in seed_sequence(number, "networks of a pair").generate_state(2)]
    drawn: dict[tuple, tuple] = {}
    trained = []
    for index, setting in enumerate(settings):
        law = (setting.k, setting.separation, setting.scales, setting.mixture)
        if law not in drawn:
            drawn[law] = _data(setting, numbers, samples, PRECISIONS[precision])
        mixtures, x, y = drawn[law]
        before = _initial(model, setting, numbers, seeds, PRECISIONS[precision])
        file = None if checkpoints is None else Path(checkpoints) / f"{index}.npz"
        data = x.to(device()), y.to(device())
        done = fit(before, descent, *data, seeds, keep=keep, checkpoint=file, precision=precision)
        if done.diverged:
            raise ValueError(f"networks of seeds {done.diverged} diverged; allowed: settings in which none does")
        kept = {epoch: networks.to(x) for epoch, networks in done.kept.items()}  # on the CPU
        trained.append(TrainedPairs(setting, mixtures, x, y, before, done.stack.to(x), kept))
    return trained


def _data(
    setting: Setting, numbers: Sequence[int], samples: int, dtype: torch.dtype
) -> tuple[list[GaussianMixture], torch.Tensor, torch.Tensor]:
    """Mixtures, inputs (G, n, 128) and labels (G, n) of the clusters, on the CPU."""
    law: dict[str, Any] = {"d": DIMENSION, "classes": CLASSES, "separation": setting.separation}
    if setting.mixture == "published":
        mixtures = [published_mixture(setting.k, **law)] * len(numbers)
    else:
        mixtures = [draw_mixture(setting.k, scales=setting.scales, seed=number, **law) for number in numbers]
    x = torch.empty(len(numbers), samples, DIMENSION, dtype=dtype)
    y = torch.empty(len(numbers), samples, dtype=torch.int64)
    for g, (mixture, number) in enumerate(zip(mixtures, numbers, strict=True)):
        x[g], y[g] = mixture.sample(samples, seed=number)
    return mixtures, x, y


def _initial(model: MLP, setting: Setting, numbers: Sequence[int], seeds: Sequence[int], dtype: torch.dtype) -> Stack:
    """The 2G networks before training, with F and D of each cluster."""
    fixed: dict[str, tuple[torch.Tensor, torch.Tensor]] = {}
    params = dict(model.initial(seeds, dtype).params)
    for k, name in enumerate(model.maps()):
        shape = model.shapes()[name]
        scheme = WAsymmetric(setting.fixed[k], setting.sigma)
        drawn = [scheme.draw(shape, torch_generator(number, f"asymmetry of layer {k}")) for number in numbers]
        F, D = (torch.stack(part).to(dtype) for part in zip(*drawn, strict=True))
        fixed[name] = (F, D)
        if setting.initial == "normal":
            normal = [torch.randn(shape, generator=torch_generator(n, f"normal weights {k}")) for n in seeds]
            params[name] = (torch.stack(normal) / math.sqrt(shape[1])).to(dtype)
    return Stack(model, params, fixed)


EXPLAINED = 0.9  # share of the variance in the subspace
LOW = 0.1  # a swap cost is low if it is below LOW times the median cost at σ_F = 1


def neuron_pairs(m: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Indices i < j of all pairs of m neurons, (m(m − 1)/2,) each."""
    i, j = torch.triu_indices(m, m, 1)
    return i, j


@lru_cache(maxsize=256)
def first_layer_basis(pairs: TrainedPairs, g: int, centred: bool = True) -> torch.Tensor:
    """Principal directions (128, k) of the inputs of cluster g with 90 % of the variance."""
    X = pairs.x[g].double()
    if centred:
        X = X - X.mean(dim=0)
    return pca_basis(torch.linalg.qr(X, mode="r").R, explained=EXPLAINED)  # XᵀX = RᵀR


def first_layer_costs(pairs: TrainedPairs, when: str | int, centred: bool = True) -> torch.Tensor:
    """Swap costs, eq. (16), of all pairs of neurons in the first layer of the first network of each cluster."""
    costs = []
    for g in range(len(pairs)):
        cost = swap_costs(*pairs.layer(g, 0, when), first_layer_basis(pairs, g, centred))
        costs.append(cost[neuron_pairs(len(cost))])
    return torch.stack(costs)


def centre_shifts(pairs: TrainedPairs, when: str | int) -> tuple[torch.Tensor, torch.Tensor]:
    """δ² and ρ² of Thm 4.5 for all pairs of neurons of the first layers, from the fixed and the trained parts."""
    shifts, ratios = [], []
    for g in range(len(pairs)):
        F, D, W = pairs.layer(g, 0, when)
        U = first_layer_basis(pairs, g)
        v, r = F.double() @ U, (D * W).double() @ U  # (m, k)
        i, j = neuron_pairs(len(v))
        delta2 = 2 * (v[i] - v[j]).square().sum(dim=1)
        moved = r.square().sum(dim=1)
        shifts.append(delta2)
        ratios.append((moved[i] + moved[j]) / delta2)
    return torch.stack(shifts), torch.stack(ratios)


def low_partners(costs: torch.Tensor, median: torch.Tensor | None = None, m: int = 64) -> torch.Tensor:
    """Mean number of partners with which a neuron can be swapped for less than LOW times the median cost."""
    median = costs.median(dim=1).values if median is None else median
    return (costs < LOW * median[:, None]).double().mean(dim=1) * (m - 1)


def what_orders(pairs: TrainedPairs, when: str | int) -> dict[str, torch.Tensor]:
    """Rank correlations of the swap costs of the first layers with δ² and with initial costs; sizes of the terms."""
    costs, initial = first_layer_costs(pairs, when), first_layer_costs(pairs, "before")
    delta2, rho2 = centre_shifts(pairs, when)
    dominated = []
    for g in range(len(pairs)):
        terms = swap_terms(*pairs.layer(g, 0, when), first_layer_basis(pairs, g))
        centre, cross, mismatch = (term[neuron_pairs(len(term))] for term in terms)
        dominated.append((centre > (cross + mismatch).abs()).double().mean())

    def ranks(other: torch.Tensor) -> torch.Tensor:
        return torch.tensor([spearmanr(a, b).statistic for a, b in zip(costs, other, strict=True)])

    return {
        "centres": ranks(delta2),
        "before": ranks(initial),
        "ratio": (rho2 <= 1).double().mean(dim=1),
        "dominated": torch.stack(dominated),
    }
