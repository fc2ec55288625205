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
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lmc_helpers.data.gaussian_mixture import GaussianMixture, draw_mixture
from lmc_helpers.device import device
from lmc_helpers.identifiability.asymmetric import WAsymmetric
from lmc_helpers.networks.lines import along_lines
from lmc_helpers.networks.stacked_mlp import Architecture, Fixed, Tensors
from lmc_helpers.seeds import seed_sequence, torch_generator
from lmc_helpers.training.ensemble import Recipe, Trained, pick, train

__all__ = ["CLASSES", "DIMENSION", "SCALED", "Pairs", "Setting", "train_pairs"]

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

    Raises
    ------
    ValueError
        if a word is unknown or the number of maps is not four.
    """

    k: int
    sigma: float = 1.0
    separation: float = 0.3
    scales: tuple[float, ...] | None = None
    fixed: tuple[int, ...] = SCALED
    initial: str = "normal"

    def __post_init__(self) -> None:
        if self.initial not in ("normal", "uniform"):
            raise ValueError(f"initial = {self.initial!r} is unknown; allowed: normal, uniform")
        if len(self.fixed) != 4:
            raise ValueError(f"fixed = {self.fixed}; allowed: four numbers, one for each linear map")


@dataclass(frozen=True)
class Pairs:
    """G trained pairs of one setting; networks 2g and 2g + 1 belong to cluster g. Everything is on the CPU.

    Attributes
    ----------
    setting : Setting
    architecture : Architecture
    mixtures : list of GaussianMixture
        G of them.
    x, y : torch.Tensor
        training data (G, n, 128), (G, n).
    fixed : dict
        layer → (F, D), (G, m, d) each.
    initial : dict of torch.Tensor
        parameters before training, (2G, …).
    trained : Trained
        after it.
    """

    setting: Setting
    architecture: Architecture
    mixtures: list[GaussianMixture]
    x: torch.Tensor
    y: torch.Tensor
    fixed: Fixed
    initial: Tensors
    trained: Trained

    def ends(self) -> tuple[tuple[Tensors, Tensors], tuple[Tensors, Tensors]]:
        """First and second networks of all pairs as ordinary ones, with W_eff in the place of W."""
        G = len(self.x)
        first, second = (range(start, 2 * G, 2) for start in (0, 1))
        return tuple(pick(self.architecture, self.trained, list(which), self.fixed) for which in (first, second))

    def accuracies(self, ends=None) -> torch.Tensor:
        """Training accuracies (G, 3) at λ = 0, ½, 1 of the lines between the ends, or between other ones."""
        a, b = self.ends() if ends is None else ends
        return along_lines(self.architecture, a, b, self.x, self.y, (0, 0.5, 1)).accuracy

    def drops(self, ends=None) -> torch.Tensor:
        """Mean accuracy of the ends less that of the middle, in percentage points, (G,)."""
        accuracy = self.accuracies(ends)
        return 100 * (accuracy[:, [0, 2]].mean(dim=1) - accuracy[:, 1])


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
) -> list[Pairs]:
    """Train pairs of four-layer GELU networks of width 64 for several settings, all at once.

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

    Returns
    -------
    list of Pairs
        one for each setting.

    Raises
    ------
    ValueError
        if there is no setting or cluster, or what is said in the modules that draw and train.

    Examples
    --------
    >>> found = train_pairs([Setting(k=2)], clusters=2, seed=1, samples=64, epochs=1)
    >>> found[0].accuracies().shape, found[0].x.shape
    (torch.Size([2, 3]), torch.Size([2, 64, 128]))
    """
    settings = list(settings)
    if not settings or clusters < 1:
        raise ValueError(f"{len(settings)} settings, {clusters} clusters; allowed: at least 1 of each")
    net = Architecture((DIMENSION, WIDTH, WIDTH, WIDTH, CLASSES), activation="gelu", norm=norm)
    numbers = [
        int(seed_sequence(seed, f"cluster {g} of Gaussian mixtures").generate_state(1)[0]) for g in range(clusters)
    ]
    mixtures = [
        draw_mixture(s.k, d=DIMENSION, classes=CLASSES, separation=s.separation, scales=s.scales, seed=number)
        for s in settings
        for number in numbers
    ]
    data = []
    for mixture, number in zip(mixtures, numbers * len(settings), strict=True):
        inputs, labels = mixture.sample(samples, seed=number)
        data.append((inputs.to(dtype), labels))
    where = device()
    x, y = (torch.stack(part).to(where) for part in zip(*data, strict=True))
    layers = {k: net.shapes()[f"{k}.weight"] for k in range(net.maps)}
    fixed = {
        k: tuple(
            torch.stack(part).to(dtype)
            for part in zip(
                *(
                    WAsymmetric(s.fixed[k], s.sigma).draw(shape, torch_generator(number, f"asymmetry of layer {k}"))
                    for s in settings
                    for number in numbers
                ),
                strict=True,
            )
        )
        for k, shape in layers.items()
    }
    seeds = [int(n) for number in numbers for n in seed_sequence(number, "networks of a pair").generate_state(2)]
    one = net.initial(seeds, dtype)  # (2G, …)
    normal = {
        f"{k}.weight": torch.stack(
            [
                torch.randn(shape, generator=torch_generator(n, f"normal weights {k}")) / math.sqrt(shape[1])
                for n in seeds
            ]
        ).to(dtype)
        for k, shape in layers.items()
    }
    initial = {
        name: torch.cat([normal.get(name, value) if s.initial == "normal" else value for s in settings])
        for name, value in one.items()
    }
    recipe = Recipe(epochs=epochs, batch=batch, rate=1e-3, weight_decay=1e-2)
    done = train(net, recipe, x, y, seeds * len(settings), fixed=fixed, initial=initial, dtype=dtype)

    def part(tensors: Tensors, i: int) -> Tensors:
        return {name: value.cpu()[2 * clusters * i : 2 * clusters * (i + 1)] for name, value in tensors.items()}

    found = []
    for i, setting in enumerate(settings):
        own = slice(clusters * i, clusters * (i + 1))
        trained = Trained(
            part(done.params, i), part(done.statistics, i), done.losses[:, 2 * own.start : 2 * own.stop].cpu()
        )
        sides = {k: (F[own], D[own]) for k, (F, D) in fixed.items()}
        found.append(Pairs(setting, net, mixtures[own], x[own].cpu(), y[own].cpu(), sides, part(initial, i), trained))
    return found
