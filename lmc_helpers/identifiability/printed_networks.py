"""The asymmetric networks of Bürgin et al., section 6: their fixed entries, and MLPs with their training runs.

Chapters 44 and 53 to 57. The networks of a pair, 2p and 2p + 1, share F and D of every layer; initial weights and
orders of examples differ. Pairs have different masks, so that they are independent. Pair p of every variant has the
same seeds: W-MLPs that differ only in σ_F have equal masks and initial weights.

Where the paper leaves something open, we follow the authors' published code: batches of 64; 90 % of the training
images; W of asymmetric layers starts at N(0, 1/inputs), that of ordinary ones by torch's law; syre has ε = 0 in
Table 1, so D = 1; FiGLU has entries N(0, 1) and follows the layer norm. At another width, or on other images, the share
of fixed entries in a row is the same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from lmc_helpers.data.images import choose
from lmc_helpers.identifiability.asymmetric import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Fixed, Model, Stack
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.vit import ViT
from lmc_helpers.seeds import drawn_seeds
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

__all__ = ()  # what packages of ours lend each other

HIDDEN = 3  # hidden layers of an MLP, all of one width
SPLIT = "train90"  # the training images of the published code
RESNET, VIT = ResNet20(width=8, init="torch"), ViT()  # as printed


def table_3(name: str) -> int:
    """Fixed entries in each row of a map of :data:`RESNET`, Table 3."""
    group = name.split(".")[0]
    if "shortcut" in name:
        return {"2": 18, "3": 24}[group]
    return {"stem": 12, "1": 108, "2": 162, "3": 216, "head": 24}[group]


def entries(model: Model, share: float | None = None) -> dict[str, int]:
    """Fixed entries in each row of the maps: a share of the inputs, by default the printed one of F.1, F.2 and G.4."""
    inputs = {name: math.prod(model.map_shape(name)[1:]) for name in model.maps()}
    if share is not None:
        return {name: round(share * d) for name, d in inputs.items()}
    printed: Model
    if isinstance(model, ViT):
        printed, counts = replace(VIT, depth=model.depth), dict.fromkeys(inputs, 8)
    elif isinstance(model, ResNet20):
        printed, counts = replace(RESNET, blocks=model.blocks), {name: table_3(name) for name in inputs}
    else:
        printed, counts = MLP(), dict(zip(inputs, (64, 64, 64, 256), strict=True))
    whole = {name: math.prod(printed.map_shape(name)[1:]) for name in inputs}
    return {name: min(max(1, round(counts[name] * d / whole[name])), d) for name, d in inputs.items()}


def fixed_entries(pixels: int, width: int, share: float | None = None) -> tuple[int, ...]:
    """The :func:`entries` of the four maps of an MLP."""
    return tuple(entries(MLP((pixels, *[width] * HIDDEN, 10)), share).values())


def schemes(model: Model, kind: str, sigma: float, share: float | None = None) -> dict[str, Scheme]:
    """Name of a map → scheme that draws its F and D, of ``"w"`` or ``"syre"`` networks."""
    if kind == "syre":
        return dict.fromkeys(model.maps(), Syre(sigma, 0.0))
    return {name: WAsymmetric(fixed, sigma) for name, fixed in entries(model, share).items()}


@dataclass(frozen=True)
class HiddenStart(MLP):
    """An MLP whose maps start at W = Z − F, Z by the law ``init``: the start does not know F, and the costs do."""

    def initial(self, seeds: Sequence[int], dtype: torch.dtype = torch.float32, fixed: Fixed | None = None) -> Stack:
        """As of :class:`~lmc_helpers.networks.mlp.MLP`, less F."""
        stack = super().initial(seeds, dtype, fixed)
        of_group = {name: F.repeat_interleave(len(stack) // len(F), dim=0) for name, (F, _) in stack.fixed.items()}
        less = {name: stack.params[name] - F for name, F in of_group.items()}
        return Stack(self, {**stack.params, **less}, stack.fixed)


@dataclass(frozen=True)
class Variant:
    """An architecture of section 6."""

    kind: str  # ``"mlp"``, ``"w"``, ``"syre"`` or ``"sigma"``
    sigma: float = 0.0  # σ_F of all layers; unused for ``"mlp"`` and ``"sigma"``
    share: float | None = None  # of fixed entries in each row of all maps; None: the numbers of App. F.1
    hidden: bool = False  # whether W starts at Z − F, so that the start does not know F

    def model(self, pixels: int, width: int) -> MLP:
        """The architecture of one network."""
        sizes = (pixels, *[width] * HIDDEN, 10)
        normal = self.kind in ("w", "syre")
        of = HiddenStart if self.hidden else MLP
        return of(sizes, "figlu" if self.kind == "sigma" else "gelu", "layer", init="normal" if normal else "torch")

    def schemes(self, pixels: int, width: int) -> dict[str, Scheme]:
        """Name of a map → scheme that draws its F and D."""
        model = self.model(pixels, width)
        if self.kind in ("w", "syre"):
            return schemes(model, self.kind, self.sigma, self.share)
        return {name: WAsymmetric(width, 1.0) for name in model.maps() if name.endswith("gate")}


def variants(sigmas: Sequence[float], shares: Sequence[float], sparse: Sequence[float] = ()) -> dict[str, Variant]:
    """Architectures by name: those of Figs. 4 and 7, then sweeps over σ_F and over the share of fixed entries."""
    by_name = {"MLP": Variant("mlp"), "W 0": Variant("w", 0.0), "W 1": Variant("w", 1.0)}
    by_name |= {"syre 1": Variant("syre", 1.0), "sigma": Variant("sigma")}
    by_name["hidden"] = Variant("syre", 1.0, hidden=True)
    by_name |= {f"W {sigma:g}": Variant("w", float(sigma)) for sigma in sigmas}
    for sigma in (0, 1):
        some = shares if sigma else (*shares, *sparse)  # larger ones without fixed values only
        by_name |= {f"share {share:g}, {sigma:g}": Variant("w", float(sigma), share) for share in some}
    return by_name


CORE = ("MLP", "W 0", "W 1", "syre 1")  # Fig. 4, with all pairs and stages of training
FREE = CORE[:2]  # without fixed weights: their drops differ much from pair to pair
CLOCK = (0, 1, 2, 3, 4, 5, 7, 10)  # epochs at which networks whose start hides F are looked at


@dataclass(frozen=True)
class Training:
    """The parameters of chapter 53 on which the networks depend."""

    dataset: str
    width: int
    images: int
    epochs: int
    stages: Sequence[int]
    batch: int
    pairs: int
    sweep_pairs: int
    sigmas: Sequence[float]
    shares: Sequence[float]
    seed: int

    def pairs_of(self, key: str) -> int:
        """P, the number of pairs of a variant."""
        return self.pairs if key in CORE else self.sweep_pairs

    def _variants(self) -> dict[str, Variant]:
        return variants(self.sigmas, self.shares)

    def _data_set(self) -> str:
        return choose(tuple(dict.fromkeys((self.dataset, "digits"))))[0]

    def training_runs(self) -> dict[str, Run]:
        """The training run of each of :func:`variants`, by the recipe of App. F.1."""
        by_name = self._variants()
        most = max(self.sweep_pairs, *map(self.pairs_of, by_name))
        drawn = drawn_seeds(self.seed, "networks of asymmetric MLPs", 2 * most)
        masks = drawn_seeds(self.seed, "masks of asymmetric MLPs", most)
        every = DataSpec(self._data_set(), SPLIT)
        data, pixels = replace(every, n=min(self.images, every.size), seed=self.seed), math.prod(every.shape)
        descent = Descent(self.epochs, self.batch, "adamw", 1e-3, weight_decay=1e-2)
        stages = dict.fromkeys(CORE, self.stages) | {"hidden": CLOCK}
        runs = {}
        for key, variant in by_name.items():
            P = self.pairs_of(key)
            model, of_maps = variant.model(pixels, self.width), variant.schemes(pixels, self.width)
            kept = tuple(epoch for epoch in stages.get(key, ()) if epoch < self.epochs)
            runs[key] = Run(model, descent, data, drawn[: 2 * P], of_maps, masks[:P], kept)
        return runs
