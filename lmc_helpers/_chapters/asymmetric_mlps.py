"""What chapter *asymmetric mlps* computes and no other part of the package needs."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch

from lmc_helpers.alignment.activation_matching import match_moments, recorded_moments
from lmc_helpers.data.images import choose, load
from lmc_helpers.device import device
from lmc_helpers.error_bars import jackknife
from lmc_helpers.identifiability.asymmetric import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training._run_files import folder
from lmc_helpers.training.cached import Cached, provenance
from lmc_helpers.training.prices import BASE_MIB, FLOPS, Price
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Result, Run

# ---------- asymmetric mlps
#
# Pairs of asymmetric MLPs on images, their lines and what matches their units (Bürgin et al., section 6, F.1, G.1).
#
# A pair is two networks with one F and D for each layer and with initial weights and orders of examples of their own.
# Pairs have masks of their own, so that they are independent. Pair p of every variant has the same seeds: W-MLPs
# that differ in σ_F alone are compared on equal masks and equal first weights.
#
# Readings where the paper leaves it open, all from the code that the authors have published: batches of 64; 90 % of
# the
# training images; W of asymmetric layers starts at N(0, 1/inputs), that of ordinary ones by the law of torch; syre
# has
# ε = 0 in Table 1, so D = 1; FiGLU has entries N(0, 1) and stands behind the layer norm. At another width or other
# images
# a row has the same share of fixed entries.


PIXELS = {"digits": 64, "mnist": 784}
HIDDEN = 3  # hidden layers, all of one width
PRINTED = (784, 512, 512, 512, 10)
FIXED = (64, 64, 64, 256)  # entries of a row, App. F.1
SPLIT = "train90"


@dataclass(frozen=True)
class Variant:
    """An architecture of section 6."""

    kind: str  # ``"mlp"``, ``"w"``, ``"syre"`` or ``"sigma"``
    sigma: float = 0.0  # σ_F of all layers; of no account for ``"mlp"`` and ``"sigma"``
    share: float | None = None  # fixed entries of each row of all maps, as a share; those of App. F.1 if not given

    def model(self, pixels: int, width: int) -> MLP:
        """The architecture of one network."""
        sizes = (pixels, *[width] * HIDDEN, 10)
        normal = self.kind in ("w", "syre")
        return MLP(sizes, "figlu" if self.kind == "sigma" else "gelu", "layer", init="normal" if normal else "torch")

    def schemes(self, pixels: int, width: int) -> dict[str, Scheme]:
        """Name of a map → what draws its F and D."""
        maps = self.model(pixels, width).maps()
        if self.kind == "w":
            counts = fixed_entries(pixels, width, self.share)
            return {name: WAsymmetric(fixed, self.sigma) for name, fixed in zip(maps, counts, strict=True)}
        if self.kind == "syre":
            return dict.fromkeys(maps, Syre(self.sigma, 0.0))
        return {name: WAsymmetric(width, 1.0) for name in maps if name.endswith("gate")}


def fixed_entries(pixels: int, width: int, share: float | None = None) -> tuple[int, ...]:
    """Fixed entries in a row of each of the four maps."""
    inputs = (pixels, *[width] * HIDDEN)
    if share is not None:
        return tuple(round(share * d) for d in inputs)
    printed = zip(FIXED, PRINTED, inputs, strict=False)
    return tuple(max(1, round(fixed * d / before)) for fixed, before, d in printed)


def variants(sigmas: Sequence[float], shares: Sequence[float]) -> dict[str, Variant]:
    """The architectures by name: those of Figs. 4 and 7, then the sweeps over σ_F and over shares of fixed entries."""
    named = {"MLP": Variant("mlp"), "W 0": Variant("w", 0.0), "W 1": Variant("w", 1.0)}
    named |= {"syre 1": Variant("syre", 1.0), "sigma": Variant("sigma")}
    named |= {f"W {sigma:g}": Variant("w", float(sigma)) for sigma in sigmas}
    named |= {f"share {share:g}, {sigma:g}": Variant("w", float(sigma), share) for sigma in (0, 1) for share in shares}
    return named


CORE = ("MLP", "W 0", "W 1", "syre 1")  # Fig. 4, with all pairs and stages of training


@dataclass(frozen=True)
class Training:
    """What the networks depend on, by the names that the parameters of chapter 53 have."""

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

    def training_runs(self) -> dict[str, Run]:
        """The training run of each of :func:`variants`, by the recipe of App. F.1."""
        name, _ = choose(tuple(dict.fromkeys((self.dataset, "digits"))))
        most, pixels = max(self.pairs, self.sweep_pairs), PIXELS[name]
        drawn = numpy_generator(self.seed, "networks of asymmetric MLPs").integers(0, 2**32, 2 * most)
        masks = numpy_generator(self.seed, "masks of asymmetric MLPs").integers(0, 2**32, most)
        data = DataSpec(name, SPLIT, min(self.images, DataSpec(name, SPLIT).size), self.seed)
        descent = Descent(self.epochs, self.batch, "adamw", 1e-3, weight_decay=1e-2)
        stages = tuple(epoch for epoch in self.stages if epoch < self.epochs)
        found = {}
        for key, variant in variants(self.sigmas, self.shares).items():
            P = self.pairs if key in CORE else self.sweep_pairs
            model, schemes = variant.model(pixels, self.width), variant.schemes(pixels, self.width)
            seeds, mask_seeds = tuple(drawn[: 2 * P].tolist()), tuple(masks[:P].tolist())
            found[key] = Run(model, descent, data, seeds, schemes, mask_seeds, stages if key in CORE else ())
        return found


def ends(result: Result, epoch: int | None = None) -> tuple[Stack, Stack]:
    """First and second networks of the pairs as ordinary ones, with F + D ⊙ W in the place of W."""
    stack = result.stack if epoch is None else result.kept[epoch]
    at = {network: place for place, network in enumerate(result.survivors)}
    whole = [k for k in at if k % 2 == 0 and k + 1 in at]
    return stack.ordinary([at[k] for k in whole]), stack.ordinary([at[k + 1] for k in whole])


@dataclass(frozen=True, eq=False)
class Found:
    """What :func:`measure` finds for P pairs of networks with L hidden layers."""

    optimal: torch.Tensor  # (P, L): L(P*), L(I), and mean and standard deviation of L(P) over all m! permutations
    identity: torch.Tensor  # (P, L): L(P*), L(I), and mean and standard deviation of L(P) over all m! permutations
    random: torch.Tensor  # (P, L): L(P*), L(I), and mean and standard deviation of L(P) over all m! permutations
    spread: torch.Tensor  # (P, L): L(P*), L(I), and mean and standard deviation of L(P) over all m! permutations
    stays: torch.Tensor  # (P, L): share of the units that P* leaves in their place
    accuracy: dict[str, torch.Tensor]  # way of matching → accuracies (P, places)

    def way(self) -> tuple[torch.Tensor, torch.Tensor]:
        """L(I) − L_r and L(P*) − L_r, (P, L) each; their ratio is how far on the way the identity is."""
        return self.identity - self.random, self.optimal - self.random

    def drop(self, matched: str = "none") -> torch.Tensor:
        """Accuracy of the ends less that of the middle, (P,), in points."""
        line = self.accuracy[matched]
        return 100 * ((line[:, 0] + line[:, -1]) / 2 - line[:, line.shape[1] // 2])


def measure(
    a: Stack, b: Stack, x: torch.Tensor, y: torch.Tensor, lambdas: Sequence[float] = (), published: bool = False
) -> Found:
    """Objectives of P pairs, and accuracies on the lines between them, as they are and matched."""
    moments = recorded_moments(a, b, x)
    best = match_moments(moments)
    law = best.random()
    groups = list(best.permutations)

    def stacked(of_group: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.stack([of_group[g] for g in groups], dim=-1)  # (P, L)

    ways = {"none": None, "correlation": best.permutations} if len(lambdas) else {}
    if published and ways:
        ways |= {name: match_moments(moments, name).permutations for name in ("published", "absolute")}
    accuracy = {}
    for name, p in ways.items():
        line = along_segments(a, b if p is None else b.permuted(p), x, y, lambdas).accuracy
        assert line is not None
        accuracy[name] = line
    in_place = {
        g: (p == torch.arange(p.shape[-1], device=p.device)).double().mean(dim=-1) for g, p in best.permutations.items()
    }
    return Found(
        stacked(best.objective()),
        stacked(best.identity()),
        stacked({g: mean for g, (mean, _) in law.items()}),
        stacked({g: spread for g, (_, spread) in law.items()}),
        stacked(in_place),
        accuracy,
    )


class TrainedPairs:
    """The variants of section 6, each trained and measured when it is first asked for."""

    def __init__(self, settings: Training, places: int) -> None:
        self.runs = settings.training_runs()
        self.lambdas = [k / places for k in range(places + 1)]
        data = self.runs["MLP"].data
        images = load(data.name, data.split, data.n, data.seed)
        self.x, self.y = images.inputs(flat=True), images.y
        self._results: dict[str, Result] = {}
        self._found: dict[tuple[str, int | None], Found] = {}

    def result(self, name: str) -> Result:
        """The trained networks of a variant."""
        if name not in self._results:
            self._results[name] = self.runs[name].result()
        return self._results[name]

    def found(self, name: str, epoch: int | None = None) -> Found:
        """What :func:`measure` finds, at the end, or without lines after an epoch that was kept."""
        if (name, epoch) not in self._found:
            lambdas = () if epoch is not None else self.lambdas if name in CORE else (0.0, 0.5, 1.0)
            a, b = ends(self.result(name), epoch)
            self._found[name, epoch] = measure(a, b, self.x, self.y, lambdas, published=epoch is None)
        return self._found[name, epoch]

    def way(self, name: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """(L(I) − L_r)/(L(P*) − L_r), averaged over layers or of one, and its widened standard error over pairs."""
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        ahead, whole = (part[:, layers] for part in self.found(name, epoch).way())
        return jackknife(lambda u, v: u / v, ahead, whole)

    def lead(self, name: str, other: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """:meth:`way` of one variant less that of another, on the pairs that both have."""
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        parts = [part[:, layers] for one in (name, other) for part in self.found(one, epoch).way()]
        P = min(map(len, parts))
        return jackknife(lambda u, v, w, z: u / v - w / z, *(part[:P] for part in parts))


# ---------- measured pairs
#
# What is measured of pairs of asymmetric MLPs as runs: one a variant, trained where its networks are not there.
#
# Networks take hundreds of megabytes, and hours; what chapter 53 measures of them takes kilobytes. So the measurement
# of
# a variant is a run, as its training is one: data, a digest, a file. A file in ``book/recorded/runs`` counts as one
# that
# lies here, so that what took hours stays with the book, and a large experiment can be made one variant at a time.


#: Raised by hand when a change alters what is measured, so that files of before are not taken for those of after.
REVISION = 1

PARTS = tuple(field.name for field in fields(Found) if field.name != "accuracy")
WAYS = 4  # none, correlation, published, absolute
LINES_MIB = 1500  # of the batches in which lines are followed, and of the moments


def recorded() -> Path:
    """The folder of measurements that lie with the book."""
    return Path(__file__).resolve().parents[2] / "book" / "recorded" / "runs"


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of the pairs of one variant."""

    found: dict[int | None, Found]  # epoch → what :func:`measure` found
    accuracies: torch.Tensor  # training accuracies (N,) of the networks that did not diverge, in the last epoch
    survivors: tuple[int, ...]  # as in :class:`~lmc_helpers.training.runs.Result`
    diverged: tuple[int, ...]  # as in :class:`~lmc_helpers.training.runs.Result`
    provenance: dict  # date, seconds, versions, commit, and the provenance of the training

    @property
    def pairs(self) -> tuple[int, ...]:
        """The pairs, by their numbers, of which both networks are left; the rows of every Found."""
        return tuple(k // 2 for k in self.survivors if k % 2 == 0 and k + 1 in self.survivors)


@dataclass(frozen=True)
class MeasuredPairs(Cached[Measured]):
    """The measurement of one variant: everything that it depends on."""

    training: Run  # of MLPs with three hidden layers; networks 2p and 2p + 1 are pair p
    places: int  # intervals of the lines between the networks at the end, even
    looked: int  # training images on which units are matched and accuracies are taken, the first ones

    __hash__ = Cached.__hash__

    def _identity(self) -> dict:
        asked = {"places": self.places, "looked": self.looked}
        return {"measured": asked, "training": self.training.digest, "revision": REVISION}

    @property
    def title(self) -> str:
        """The run in words, one line."""
        return f"lines of {self.places + 1} places and units on {self.looked} images, of {self.training.title}"

    def path(self) -> Path:
        """The file of the result: with the book where it is recorded, else among the runs."""
        kept = recorded() / f"{self.digest}.npz"
        return kept if kept.exists() else folder() / kept.name

    @property
    def needs(self) -> tuple[Path, ...]:
        """The files of the runs that come before."""
        return (self.training.path(),)

    @property
    def shelf(self) -> Path:
        """The folder to which a confirmatory run copies the file, so that it stays with the book."""
        return recorded()

    def prices(self) -> Price:
        """Hours of one core for the measurement alone, and memory; where networks are missing they cost extra."""
        model, pairs = self.training.model, len(self.training.seeds) // 2
        passes = WAYS * (self.places + 1) + 2 * (1 + len(self.training.keep))  # of all images, through one network
        assert isinstance(model, MLP)
        products = len(self.training.keep) + 1, sum(m * m for m in model.sizes[1:-1])  # moments
        work = 2 * self.looked * pairs * (passes * model.parameters() + math.prod(products)) / FLOPS
        numbers = len(self.training.seeds) * model.parameters() * (2 + len(self.training.keep))
        return Price(work / 3600, work / 3600, BASE_MIB + LINES_MIB + math.ceil(4 * numbers / 2**20))

    def resources(self) -> dict[str, int | bool]:
        """What a job needs; no gpu, as the networks are there when it starts."""
        own, training = super().resources(), self.training.resources()
        return own | {"memory_mib": max(own["memory_mib"], training["memory_mib"])}

    def _compute(self, show_progress: bool) -> tuple[dict, dict[str, torch.Tensor]]:
        trained, data, where = self.training.result(show_progress), self.training.data, device()
        start = time.perf_counter()
        images = load(data.name, data.split, data.n, data.seed)
        x, y = (part[: self.looked].to(where) for part in (images.inputs(flat=True), images.y))
        tensors = {"accuracies": trained.accuracies[-1:].flatten(), "survivors": torch.tensor(trained.survivors)}
        for epoch in (*trained.kept, None):
            a, b = (end.to(x) for end in ends(trained, epoch))
            lambdas = [k / self.places for k in range(self.places + 1)] if epoch is None else []
            found = measure(a, b, x, y, lambdas, published=epoch is None)
            tensors |= {f"{epoch}/{part}": getattr(found, part).cpu() for part in PARTS}
            tensors |= {f"{epoch}/accuracy/{way}": line.cpu() for way, line in found.accuracy.items()}
        return provenance(time.perf_counter() - start, training=trained.provenance), tensors

    def _result(self, provenance: dict, tensors: dict[str, torch.Tensor]) -> Measured:
        survivors = tuple(tensors.pop("survivors").tolist())
        accuracies = tensors.pop("accuracies")
        found = {}
        for epoch in (*self.training.keep, None):
            lines = {k: v for k, v in tensors.items() if k.startswith(f"{epoch}/accuracy/")}
            parts = {part: tensors[f"{epoch}/{part}"] for part in PARTS}
            found[epoch] = Found(**parts, accuracy={k.rpartition("/")[2]: v for k, v in lines.items()})
        lost = tuple(seed for k, seed in enumerate(self.training.seeds) if k not in survivors)
        whole = Measured(found, accuracies, survivors, lost, provenance)
        if any(len(one.optimal) != len(whole.pairs) for one in found.values()):
            raise ValueError(f"{len(whole.pairs)} pairs, and others")
        return whole


@dataclass(frozen=True)
class Parameters(Training):
    """What the measurements depend on, too."""

    places: int
    looked: int
    long_epochs: int = 0
    long_pairs: int = 2

    def measurements(self, only: Collection[str] | None = None) -> dict[str, MeasuredPairs]:
        """The measurements of all variants, or of some, by their names."""
        return {
            name: MeasuredPairs(run, self.places if name in CORE else 2, min(self.looked, run.data.size))
            for name, run in self.training_runs().items()
            if only is None or name in only
        }

    def longer(self) -> Parameters:
        """The same experiment, trained for longer: for the variants of Fig. 4, :data:`CORE`."""
        return replace(self, epochs=self.long_epochs, pairs=self.long_pairs, stages=(), sigmas=(), shares=())

    def runs(self) -> list[Run | MeasuredPairs]:
        """The runs in front of the chapter, for the book's jobs: trainings, then measurements."""
        found = [*self.measurements().values()]
        if self.long_epochs:
            found += self.longer().measurements(CORE).values()
        return [*(one.training for one in found if one.path().parent != recorded()), *found]


class Experiment(TrainedPairs):
    """All variants of section 6, each trained and measured when it is first asked for."""

    def __init__(self, settings: Parameters, only: Collection[str] | None = None) -> None:
        self.measurements = settings.measurements(only)
        self.runs = {name: one.training for name, one in self.measurements.items()}
        self.looked = self.measurements["MLP"].looked
        self.lambdas = [k / settings.places for k in range(settings.places + 1)]
        self._results: dict[str, Result] = {}
        self._measured: dict[str, Measured] = {}

    def measured(self, name: str) -> Measured:
        """The measurement of a variant."""
        if name not in self._measured:
            self._measured[name] = self.measurements[name].result()
        return self._measured[name]

    def found(self, name: str, epoch: int | None = None) -> Found:
        """What was measured at the end, or without lines after an epoch that was kept."""
        found = self.measured(name).found
        return found[epoch]

    def together(self, *parts: tuple[str, torch.Tensor]) -> list[torch.Tensor]:
        """Quantities of several variants, one row a pair, of the pairs that all of them still have."""
        have = [self.measured(name).pairs for name, _ in parts]
        common = sorted(set.intersection(*map(set, have))) if have else []
        return [values[[mine.index(p) for p in common]] for (_, values), mine in zip(parts, have, strict=True)]

    def lead(self, name: str, other: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """``way`` of one variant less that of another, on the pairs that both have."""
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        both = ((one, part[:, layers]) for one in (name, other) for part in self.found(one, epoch).way())
        return jackknife(lambda u, v, w, z: u / v - w / z, *self.together(*both))
