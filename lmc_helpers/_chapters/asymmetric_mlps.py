"""Pairs of asymmetric MLPs on images and the lines between them, for the chapter *asymmetric MLPs*.

Bürgin et al., section 6, F.1 and G.1. The networks of a pair share F and D of every layer; initial weights and orders
of examples differ. Pairs have different masks, so that they are independent. Pair p of every variant has the same
seeds: W-MLPs that differ only in σ_F have equal masks and initial weights.

Where the paper leaves something open, we follow the authors' published code: batches of 64; 90 % of the training
images; W of asymmetric layers starts at N(0, 1/inputs), that of ordinary ones by torch's law; syre has ε = 0 in
Table 1, so D = 1; FiGLU has entries N(0, 1) and follows the layer norm. At another width, or on other images, the share
of fixed entries in a row is the same.

Networks take hours and hundreds of megabytes, their measurements kilobytes: so each measurement is a run with a file,
which may also lie in ``book/recorded/runs``.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import torch
from torch.nn.functional import cosine_similarity

from lmc_helpers.alignment.activation_matching import match_moments, recorded_moments
from lmc_helpers.data.images import choose, load
from lmc_helpers.device import device
from lmc_helpers.error_bars import jackknife
from lmc_helpers.identifiability import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.networks.model import Fixed, Stack
from lmc_helpers.networks.segments import along_segments
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.cached import Cached, provenance
from lmc_helpers.training.prices import BASE_MIB, FLOPS, Price
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.run_files import folder
from lmc_helpers.training.runs import DataSpec, Result, Run

PIXELS = {"digits": 64, "mnist": 784}
HIDDEN = 3  # hidden layers, all of one width
PRINTED = (784, 512, 512, 512, 10)
FIXED = (64, 64, 64, 256)  # entries of a row, App. F.1
SPLIT = "train90"


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
LATE = (30, 50, 70)  # and later ones, of the longer training


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
        name = self._data_set()
        by_name, pixels = self._variants(), PIXELS[name]
        most = max(self.sweep_pairs, *map(self.pairs_of, by_name))
        drawn = numpy_generator(self.seed, "networks of asymmetric MLPs").integers(0, 2**32, 2 * most)
        masks = numpy_generator(self.seed, "masks of asymmetric MLPs").integers(0, 2**32, most)
        data = DataSpec(name, SPLIT, min(self.images, DataSpec(name, SPLIT).size), self.seed)
        descent = Descent(self.epochs, self.batch, "adamw", 1e-3, weight_decay=1e-2)
        stages = dict.fromkeys(CORE, self.stages) | {"hidden": CLOCK}
        runs = {}
        for key, variant in by_name.items():
            P = self.pairs_of(key)
            model, schemes = variant.model(pixels, self.width), variant.schemes(pixels, self.width)
            seeds, mask_seeds = tuple(drawn[: 2 * P].tolist()), tuple(masks[:P].tolist())
            kept = tuple(epoch for epoch in stages.get(key, ()) if epoch < self.epochs)
            runs[key] = Run(model, descent, data, seeds, schemes, mask_seeds, kept)
        return runs


def ends(result: Result, epoch: int | None = None) -> tuple[Stack, Stack]:
    """First and second networks of the pairs as ordinary networks with the weights F + D ⊙ W."""
    stack = result.stack if epoch is None else result.kept[epoch]
    row = {network: k for k, network in enumerate(result.survivors)}
    firsts = [k for k in row if k % 2 == 0 and k + 1 in row]
    return stack.ordinary([row[k] for k in firsts]), stack.ordinary([row[k + 1] for k in firsts])


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


#: To be raised by hand when a change alters the measurement, so that older files are not used.
REVISION = 1

PARTS = tuple(field.name for field in fields(Measurement) if field.name != "accuracy")
MATCHINGS = 4  # none, correlation, published, absolute
LINES_MIB = 1500  # for batches of networks on the lines, and for the moments


def recorded() -> Path:
    """The folder of measurements that are stored in the repository."""
    return Path(__file__).resolve().parents[2] / "book" / "recorded" / "runs"


@dataclass(frozen=True, eq=False)
class MeasuredStages:
    """The measurements of one variant at several epochs."""

    by_epoch: dict[int | None, Measurement]  # None: the last epoch
    accuracies: torch.Tensor  # training accuracies (N,) of the networks that did not diverge, in the last epoch
    survivors: tuple[int, ...]  # as in :class:`~lmc_helpers.training.runs.Result`
    diverged: tuple[int, ...]  # as in :class:`~lmc_helpers.training.runs.Result`
    rows: dict[int | None, torch.Tensor]  # mean cosine of equal rows of the weights (P, L); not in older files
    provenance: dict  # date, seconds, versions, commit, and the provenance of the training

    @property
    def pairs(self) -> tuple[int, ...]:
        """Numbers of the pairs of which neither network diverged: the rows of every measurement."""
        return tuple(k // 2 for k in self.survivors if k % 2 == 0 and k + 1 in self.survivors)


@dataclass(frozen=True)
class MeasuredPairs(Cached[MeasuredStages]):
    """The measurement of one variant: all that it depends on."""

    training: Run  # of MLPs with three hidden layers; networks 2p and 2p + 1 are pair p
    intervals: int  # even number of intervals on the lines between the trained networks
    images: int  # number of training images, the first ones, for matching and for accuracies

    __hash__ = Cached.__hash__

    def _identity(self) -> dict:
        settings = {"places": self.intervals, "looked": self.images}  # the names of old files
        return {"measured": settings, "training": self.training.digest, "revision": REVISION}

    @property
    def title(self) -> str:
        """The run in words, one line."""
        return f"lines at {self.intervals + 1} λ and units on {self.images} images, of {self.training.title}"

    def path(self) -> Path:
        """The file of the result: in :func:`recorded` if it exists there, else among the runs."""
        file = recorded() / f"{self.digest}.npz"
        return file if file.exists() else folder() / file.name

    @property
    def needs(self) -> tuple[Path, ...]:
        """The files of the runs to be finished first."""
        return (self.training.path(),)

    @property
    def stored_in(self) -> Path:
        """The folder to which a confirmatory run copies the file."""
        return recorded()

    def prices(self) -> Price:
        """Core hours and memory of the measurement, without the training of missing networks."""
        model, pairs = self.training.model, len(self.training.seeds) // 2
        passes = MATCHINGS * (self.intervals + 1) + 2 * (
            1 + len(self.training.keep)
        )  # of all images, through one network
        assert isinstance(model, MLP)
        products = len(self.training.keep) + 1, sum(m * m for m in model.sizes[1:-1])  # moments
        work = 2 * self.images * pairs * (passes * model.parameters() + math.prod(products)) / FLOPS
        numbers = len(self.training.seeds) * model.parameters() * (2 + len(self.training.keep))
        return Price(work / 3600, work / 3600, BASE_MIB + LINES_MIB + math.ceil(4 * numbers / 2**20))

    def resources(self) -> dict[str, int | bool]:
        """The resources of a job; no GPU, since the networks are trained before it starts."""
        measuring, training = super().resources(), self.training.resources()
        return measuring | {"memory_mib": max(measuring["memory_mib"], training["memory_mib"])}

    def _compute(self, show_progress: bool) -> tuple[dict, dict[str, torch.Tensor]]:
        trained, data, where = self.training.result(show_progress), self.training.data, device()
        start = time.perf_counter()
        images = load(data.name, data.split, data.n, data.seed)
        x, y = (part[: self.images].to(where) for part in (images.inputs(flat=True), images.y))
        tensors = {"accuracies": trained.accuracies[-1:].flatten(), "survivors": torch.tensor(trained.survivors)}
        for epoch in (*trained.kept, None):
            a, b = (end.to(x) for end in ends(trained, epoch))
            lambdas = [k / self.intervals for k in range(self.intervals + 1)] if epoch is None else []
            measured = measure(a, b, x, y, lambdas, published=epoch is None)
            tensors |= {f"{epoch}/{part}": getattr(measured, part).cpu() for part in PARTS}
            maps = [(a.params[name], b.params[name]) for name in a.model.maps()[:HIDDEN]]  # F + D ⊙ W
            tensors[f"{epoch}/rows"] = torch.stack([cosine_similarity(*m, dim=-1).mean(dim=1) for m in maps], 1).cpu()
            tensors |= {f"{epoch}/accuracy/{name}": line.cpu() for name, line in measured.accuracy.items()}
        return provenance(time.perf_counter() - start, training=trained.provenance), tensors

    def _result(self, provenance: dict, tensors: dict[str, torch.Tensor]) -> MeasuredStages:
        survivors = tuple(tensors.pop("survivors").tolist())
        accuracies = tensors.pop("accuracies")
        by_epoch = {}
        for epoch in (*self.training.keep, None):
            lines = {k: v for k, v in tensors.items() if k.startswith(f"{epoch}/accuracy/")}
            parts = {part: tensors[f"{epoch}/{part}"] for part in PARTS}
            by_epoch[epoch] = Measurement(**parts, accuracy={k.rpartition("/")[2]: v for k, v in lines.items()})
        diverged = tuple(seed for k, seed in enumerate(self.training.seeds) if k not in survivors)
        rows = {epoch: tensors[f"{epoch}/rows"] for epoch in by_epoch if f"{epoch}/rows" in tensors}
        stages = MeasuredStages(by_epoch, accuracies, survivors, diverged, rows, provenance)
        if any(len(measured.optimal) != len(stages.pairs) for measured in by_epoch.values()):
            raise ValueError(f"not all measurements are of {len(stages.pairs)} pairs")
        return stages


@dataclass(frozen=True)
class PairByPair:
    """The measurements of single pairs, which are runs of their own, as one measurement."""

    of: tuple[MeasuredPairs, ...]

    @property
    def training(self) -> Run:
        """All pairs as one training run, which is not made."""
        runs = [one.training for one in self.of]
        seeds, mask_seeds = (tuple(s for run in runs for s in getattr(run, name)) for name in ("seeds", "mask_seeds"))
        return replace(runs[0], seeds=seeds, mask_seeds=mask_seeds)

    @property
    def images(self) -> int:
        """As of each pair."""
        return self.of[0].images

    def result(self) -> MeasuredStages:
        """All pairs, one row each."""
        found = [one.result() for one in self.of]
        epochs = found[0].by_epoch

        def together(values: Sequence[torch.Tensor]) -> torch.Tensor:
            return torch.cat(list(values))

        def joined(epoch: int | None) -> Measurement:
            rows = [one.by_epoch[epoch] for one in found]
            lines = {way: together([row.accuracy[way] for row in rows]) for way in rows[0].accuracy}
            return Measurement(
                **{part: together([getattr(row, part) for row in rows]) for part in PARTS}, accuracy=lines
            )

        return MeasuredStages(
            {epoch: joined(epoch) for epoch in epochs},
            together([one.accuracies for one in found]),
            tuple(2 * p + k for p, one in enumerate(found) for k in one.survivors),
            tuple(seed for one in found for seed in one.diverged),
            {epoch: together([one.rows[epoch] for one in found]) for epoch in epochs},
            found[0].provenance,
        )


@dataclass(frozen=True)
class Parameters(Training):
    """The parameters of chapter 53 on which networks and measurements depend."""

    places: int
    looked: int
    long_epochs: int = 0
    long_pairs: int = 2
    long_free_pairs: int = 2
    long_hidden_pairs: int = 0
    sparse: Sequence[float] = ()
    again: Sequence[str] = ()

    def _variants(self) -> dict[str, Variant]:
        return variants(self.sigmas, self.shares, self.sparse)

    def measurements(self, only: Collection[str] | None = None) -> dict[str, MeasuredPairs | PairByPair]:
        """The measurements of all or some variants by name."""
        return {
            name: MeasuredPairs(run, self.places if name in CORE else 2, min(self.looked, run.data.size))
            for name, run in self.training_runs().items()
            if only is None or name in only
        }

    def longer(self) -> Parameters:
        """The same experiment with longer training, for :attr:`long_names`."""
        return _Longer(**vars(self) | {"epochs": self.long_epochs} | UNSWEPT)

    @property
    def long_names(self) -> tuple[str, ...]:
        """The variants that are trained for longer."""
        return (*CORE, *["hidden"] * bool(self.long_hidden_pairs))

    def second(self) -> Parameters:
        """The same experiment with other seeds, for rejections that have to be repeated."""
        return replace(self, seed=(self.seed + 1) % 2**32)

    def runs(self) -> list[Run | MeasuredPairs]:
        """The runs to be finished before the chapter: trainings, then measurements."""
        found = [*self.measurements().values()]
        if self.long_epochs:
            found += self.longer().measurements(self.long_names).values()
        if self.again:
            found += self.second().measurements(self.again).values()
        measurements = [one for each in found for one in (each.of if isinstance(each, PairByPair) else (each,))]
        return [*(run.training for run in measurements if run.path().parent != recorded()), *measurements]


UNSWEPT: dict = {"stages": (), "sigmas": (), "shares": (), "sparse": ()}


class _Longer(Parameters):
    def pairs_of(self, key: str) -> int:
        """P, the number of pairs of a variant."""
        if key == "hidden":
            return self.long_hidden_pairs or self.sweep_pairs
        return self.long_free_pairs if key in FREE else self.long_pairs

    def measurements(self, only: Collection[str] | None = None) -> dict[str, MeasuredPairs | PairByPair]:
        """The start that hides F pair by pair, as a pair takes long."""
        found = super().measurements(only)
        if isinstance(whole := found.get("hidden"), MeasuredPairs):
            found["hidden"] = PairByPair(tuple(_single_pairs(whole)))
        return found


def _single_pairs(every: MeasuredPairs) -> Iterator[MeasuredPairs]:
    run = every.training
    keep = tuple(epoch for epoch in LATE if epoch < run.descent.epochs)
    for a, b, mask in zip(run.seeds[::2], run.seeds[1::2], run.mask_seeds, strict=True):
        yield replace(every, training=replace(run, seeds=(a, b), mask_seeds=(mask,), keep=keep))


class _Stored(Parameters):
    def _data_set(self) -> str:
        return self.dataset  # also where the images are missing


class _Printed(_Stored, _Longer):
    pass


class Experiment:
    """All variants of section 6, each trained and measured on first use."""

    def __init__(self, settings: Parameters, only: Collection[str] | None = None) -> None:
        self.measurements = settings.measurements(only)
        self.runs = {name: run.training for name, run in self.measurements.items()}
        self.images = next(iter(self.measurements.values())).images
        self.lambdas = [k / settings.places for k in range(settings.places + 1)]
        self._results: dict[str, Result] = {}
        self._measured: dict[str, MeasuredStages] = {}

    @classmethod
    def printed(cls, only: Collection[str] = CORE) -> Experiment:
        """Measurements of the recorded run in the printed sizes, which the book keeps: Fig. 4, or other variants."""
        records = json.loads((recorded().parent / "paper.json").read_text(encoding="utf-8"))
        given = next(record["parameters"] for record in records if record["part"] == "I11.standard")
        settings = {field.name: given[field.name] for field in fields(Parameters) if field.name in given}
        if only == CORE:
            long = _Printed(**settings | {"epochs": given["long_epochs"]} | UNSWEPT)
            return cls(long, long.long_names)
        return cls(_Stored(**settings), only)

    def result(self, name: str) -> Result:
        """The trained networks of a variant."""
        if name not in self._results:
            self._results[name] = self.runs[name].result()
        return self._results[name]

    def stages(self, name: str) -> MeasuredStages:
        """The measurements of a variant."""
        if name not in self._measured:
            self._measured[name] = self.measurements[name].result()
        return self._measured[name]

    def measured(self, name: str, epoch: int | None = None) -> Measurement:
        """The measurement after the last epoch, or, without lines, after a stored one."""
        return self.stages(name).by_epoch[epoch]

    def relative(self, name: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """(L(I) − L_r)/(L(P*) − L_r) of one layer, or averaged over layers, and its widened standard error."""
        return jackknife(lambda u, v: u / v, *self._above_random(name, epoch, layer))

    def lead(self, name: str, other: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """:meth:`relative` of one variant less that of another, on the pairs of both."""
        parts = [(key, part) for key in (name, other) for part in self._above_random(key, epoch, layer)]
        return jackknife(lambda u, v, w, z: u / v - w / z, *self.on_common_pairs(*parts))

    def on_common_pairs(self, *parts: tuple[str, torch.Tensor]) -> list[torch.Tensor]:
        """Quantities of several variants, one row a pair, restricted to the pairs that none of them has lost."""
        pairs = [self.stages(name).pairs for name, _ in parts]
        common = sorted(set.intersection(*map(set, pairs))) if pairs else []
        return [values[[rows.index(p) for p in common]] for (_, values), rows in zip(parts, pairs, strict=True)]

    def _above_random(self, name: str, epoch: int | None, layer: int | None) -> list[torch.Tensor]:
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        return [part[:, layers] for part in self.measured(name, epoch).above_random()]
