"""Pairs of W-asymmetric networks on Gaussian mixtures (Bürgin et al., section 6, Q3, and App. F).

A cluster has one mixture, one data set and one F and D for each layer. Two networks are trained on it, with initial
weights and orders of examples of their own. Pairs of one cluster would share data and layers, so each cluster has one
pair, and clusters are independent. Clusters of one number share mixtures (up to k), noise and masks between settings,
so that settings are compared under equal conditions.

The paper does not state how many entries are fixed at width 64. Its counts for width 512, (64, 64, 64, 256) a row,
cannot be meant: the last layer has 64 inputs. ``SCALED`` has the same shares of the inputs: 64/784 of 128, 64/512 and
256/512 of 64.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from lmc_helpers import expect
from lmc_helpers.data.gaussian_mixture import GaussianMixture, draw_mixture, published_mixture
from lmc_helpers.device import device
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.matching import match_activations
from lmc_helpers.networks.lines import along_lines
from lmc_helpers.networks.stacked_mlp import Architecture, Fixed, Networks
from lmc_helpers.seeds import seed_sequence, torch_generator
from lmc_helpers.training.ensemble import Recipe, train

__all__ = ["CLASSES", "DIMENSION", "SCALED", "Setting", "TrainedPairs", "train_pairs"]

DIMENSION, CLASSES, WIDTH = 128, 5, 64
SCALED = (10, 8, 8, 32)


@dataclass(frozen=True)
class Setting:
    """What distinguishes one experiment from another.

    Parameters
    ----------
    k : int
        intrinsic dimension.
    sigma : float
        σ_F of all layers.
    separation : float
        σ_sep of the mixture.
    scales : tuple of float, optional
        s of the mixture, k numbers; drawn from N(0, 1) for each cluster if not given.
    fixed : tuple of int
        fixed entries in each row of the four linear maps.
    initial : str
        law of W: ``"normal"``, N(0, 1/inputs), or ``"uniform"``, U(±1/√inputs). Biases are uniform in both.
    mixture : str
        ``"drawn"`` for each cluster, or ``"published"``: one structure for all of them, that of the authors' code.

    Examples
    --------
    >>> Setting(k=2, sigma=0.0).fixed
    (10, 8, 8, 32)
    """

    k: int
    sigma: float = 1.0
    separation: float = 0.3
    scales: tuple[float, ...] | None = None
    fixed: tuple[int, ...] = SCALED
    initial: str = "normal"
    mixture: str = "drawn"

    def __post_init__(self) -> None:
        if self.initial not in ("normal", "uniform"):
            raise ValueError(f"initial = {self.initial!r} is unknown; allowed: normal, uniform")
        if self.mixture not in ("drawn", "published"):
            raise ValueError(f"mixture = {self.mixture!r} is unknown; allowed: drawn, published")
        if self.mixture == "published" and self.scales is not None:
            raise ValueError("scales of a published mixture; allowed: those of its own")
        if len(self.fixed) != 4:
            raise ValueError(f"fixed = {self.fixed}; allowed: four numbers, one for each linear map")


@dataclass(frozen=True, eq=False)
class TrainedPairs:
    """G trained pairs of one setting; networks 2g and 2g + 1 belong to cluster g. Everything is on the CPU.

    Attributes
    ----------
    setting : Setting
    mixtures : list of GaussianMixture
        G of them.
    x, y : torch.Tensor
        training data (G, n, 128), (G, n).
    before, after : Networks
        2G networks before and after training; the F and D of a layer are (G, m, d).
    kept : dict of Networks
        epoch → the 2G networks after it, for the epochs that were to be kept.
    """

    setting: Setting
    mixtures: list[GaussianMixture]
    x: torch.Tensor
    y: torch.Tensor
    before: Networks
    after: Networks
    kept: dict[int, Networks] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.x)

    def layer(self, g: int, k: int = 0, when: str | int = "after") -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """F, D and W of linear map k of the first network of cluster g, (m, d) each, before or after training."""
        expect.integer(g, "g", least=0, most=len(self) - 1)
        expect.integer(k, "k", least=0, most=len(self.setting.fixed) - 1)
        if isinstance(when, bool) or not isinstance(when, (str, int)):
            raise ValueError(f"when = {when!r}; allowed: 'before', 'after', or an epoch that was kept")
        states: dict[str | int, Networks] = {"before": self.before, "after": self.after}
        for epoch, networks in self.kept.items():
            states[epoch] = networks
        if when not in states:
            raise ValueError(f"when = {when!r}; allowed: {', '.join(map(str, states))}")
        networks = states[when]
        F, D = networks.fixed[k]
        return F[g], D[g], networks.params[f"{k}.weight"][2 * g]

    def ends(self) -> tuple[Networks, Networks]:
        """First and second networks of all pairs as ordinary ones, with W_eff in the place of W."""
        G = len(self)
        return self.after.ordinary(range(0, 2 * G, 2)), self.after.ordinary(range(1, 2 * G, 2))

    def aligned(self) -> tuple[Networks, Networks]:
        """The same ends, with the neurons of the second ones in the order that activations match best.

        The permutations maximise the sum of the Pearson correlations of the activations on the training data, layer by
        layer, and act on effective weights (footnote 7 of the paper).
        """
        a, b = self.ends()
        hidden = zip(a.layer_inputs(self.x)[1:], b.layer_inputs(self.x)[1:], strict=True)
        return a, b.permuted({k: match_activations(one, two) for k, (one, two) in enumerate(hidden)})

    def accuracies(self, ends: tuple[Networks, Networks] | None = None) -> torch.Tensor:
        """Training accuracies (G, 3) at λ = 0, ½, 1 of the lines between the ends, or between other ones."""
        if ends is not None and not (isinstance(ends, (tuple, list)) and len(ends) == 2):
            raise ValueError("ends is no pair; allowed: None, or (Networks, Networks)")
        if ends is not None and not (isinstance(ends[0], Networks) and isinstance(ends[1], Networks)):
            raise ValueError(f"ends hold {type(ends[0]).__name__}, {type(ends[1]).__name__}; allowed: Networks")
        if ends is not None and not len(ends[0]) == len(ends[1]) == len(self):
            raise ValueError(f"ends are {len(ends[0])} and {len(ends[1])} networks; allowed: {len(self)} each")
        a, b = self.ends() if ends is None else ends
        accuracy = along_lines(a, b, self.x, self.y, (0, 0.5, 1)).accuracy
        assert accuracy is not None  # the loss is the cross-entropy
        return accuracy

    def drops(self, ends: tuple[Networks, Networks] | None = None) -> torch.Tensor:
        """Mean accuracy of the ends less that of the middle, in percentage points, (G,)."""
        accuracy = self.accuracies(ends)
        return 100 * (accuracy[:, [0, 2]].mean(dim=1) - accuracy[:, 1])

    def ceiling(self) -> torch.Tensor:
        """Training accuracy of the most likely class, in per cent, (G,): what no network exceeds on new data."""
        right = [
            (mixture.classify(x.double()) == y).double().mean()
            for mixture, x, y in zip(self.mixtures, self.x, self.y, strict=True)
        ]
        return 100 * torch.stack(right)


def train_pairs(
    settings: Sequence[Setting],
    clusters: int,
    seed: int,
    *,
    samples: int,
    epochs: int,
    batch: int = 128,
    norm: str = "layer",
    dtype: torch.dtype = torch.float32,
    keep: Collection[int] = (),
    checkpoints: Path | str | None = None,
) -> list[TrainedPairs]:
    """Train pairs of four-layer GELU networks of width 64 for several settings, the 2G networks of a setting at once.

    AdamW with rate 10⁻³ and decay 10⁻² on all trained tensors, as in App. F.1.

    Parameters
    ----------
    settings : sequence of Setting
        what to train.
    clusters : int
        G, pairs of each setting.
    seed : int
        of everything.
    samples, epochs, batch : int
        samples of a data set, passes, examples a step.
    norm : str
        ``"layer"``, ``"batch"`` or ``"none"``.
    dtype : torch.dtype
        of inputs and parameters. What is drawn does not depend on it.
    keep : collection of int
        epochs after which the networks are kept, besides the last one.
    checkpoints : path, optional
        a folder, for this call alone, from which a run that was stopped goes on.

    Returns
    -------
    list of TrainedPairs
        one for each setting; settings that differ in F and D only share their data.

    Examples
    --------
    >>> found = train_pairs([Setting(k=2)], clusters=2, seed=1, samples=64, epochs=1)
    >>> found[0].accuracies().shape, found[0].x.shape
    (torch.Size([2, 3]), torch.Size([2, 64, 128]))
    """
    if isinstance(settings, (str, int, float, type(None))):
        raise ValueError(f"settings is {type(settings).__name__}; allowed: some Setting")
    expect.integer(clusters, "clusters")
    expect.integer(samples, "samples", least=1)
    expect.floating(dtype, "dtype")
    if isinstance(keep, (str, int, float, type(None))):
        raise ValueError(f"keep = {keep!r}; allowed: a collection of epochs")
    if checkpoints is not None and not isinstance(checkpoints, (str, Path)):
        raise ValueError(f"checkpoints = {checkpoints!r}; allowed: None, or a folder")
    settings = list(settings)
    if not settings or clusters < 1:
        raise ValueError(f"{len(settings)} settings, {clusters} clusters; allowed: at least 1 of each")
    net = Architecture((DIMENSION, WIDTH, WIDTH, WIDTH, CLASSES), activation="gelu", norm=norm)
    recipe = Recipe(epochs=epochs, batch=batch, rate=1e-3, weight_decay=1e-2)
    numbers = [
        int(seed_sequence(seed, f"cluster {g} of Gaussian mixtures").generate_state(1)[0]) for g in range(clusters)
    ]
    seeds = [int(n) for number in numbers for n in seed_sequence(number, "networks of a pair").generate_state(2)]
    data: dict[tuple, tuple] = {}
    found = []
    for place, setting in enumerate(settings):
        law = (setting.k, setting.separation, setting.scales, setting.mixture)
        if law not in data:
            data[law] = _data(setting, numbers, samples, dtype)
        mixtures, x, y = data[law]
        before = _initial(net, setting, numbers, seeds, dtype)
        file = None if checkpoints is None else Path(checkpoints) / f"{place}.npz"
        trained = train(before, recipe, x.to(device()), y.to(device()), seeds, keep=keep, checkpoint=file)
        after = trained.networks.to(x)  # on the CPU
        kept = {epoch: networks.to(x) for epoch, networks in trained.kept.items()}
        found.append(TrainedPairs(setting, mixtures, x, y, before, after, kept))
    return found


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


def _initial(
    net: Architecture, setting: Setting, numbers: Sequence[int], seeds: Sequence[int], dtype: torch.dtype
) -> Networks:
    """The 2G networks before training, with F and D of each cluster."""
    layers = {k: net.shapes()[f"{k}.weight"] for k in range(net.maps)}
    fixed: Fixed = {}
    for k, shape in layers.items():
        scheme = WAsymmetric(setting.fixed[k], setting.sigma)
        drawn = [scheme.draw(shape, torch_generator(number, f"asymmetry of layer {k}")) for number in numbers]
        F, D = (torch.stack(part).to(dtype) for part in zip(*drawn, strict=True))
        fixed[k] = (F, D)
    params = dict(net.initial(seeds, dtype).params)
    if setting.initial == "normal":
        for k, shape in layers.items():
            normal = [torch.randn(shape, generator=torch_generator(n, f"normal weights {k}")) for n in seeds]
            params[f"{k}.weight"] = (torch.stack(normal) / math.sqrt(shape[1])).to(dtype)
    return Networks(net, params, net.statistics(len(seeds), dtype), fixed)
