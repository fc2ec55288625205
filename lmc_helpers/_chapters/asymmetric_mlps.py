"""Measurements of pairs of asymmetric MLPs on images, for the chapter *asymmetric MLPs*.

Bürgin et al., section 6, F.1 and G.1. Networks take hours and hundreds of megabytes, their measurements kilobytes: so
each measurement is a run with a file, which may also lie in ``book/recorded/runs``.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

import torch
from torch.nn.functional import cosine_similarity

from lmc_helpers.alignment.pairs import PARTS, Measurement, complete, ends, measure
from lmc_helpers.data.images import load
from lmc_helpers.device import device
from lmc_helpers.error_bars import jackknife
from lmc_helpers.identifiability.printed_networks import CORE, FREE, HIDDEN, Training, Variant, variants
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.cached import Kept, provenance, recorded
from lmc_helpers.training.prices import BASE_MIB, FLOPS, Price
from lmc_helpers.training.runs import Result, Run

LATE = (30, 50, 70)  # and later ones, of the longer training


#: To be raised by hand when a change alters the measurement, so that older files are not used.
REVISION = 1

MATCHINGS = 4  # none, correlation, published, absolute
LINES_MIB = 1500  # for batches of networks on the lines, and for the moments


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
        return complete(self.survivors)


@dataclass(frozen=True)
class MeasuredPairs(Kept[MeasuredStages]):
    """The measurement of one variant: all that it depends on."""

    training: Run  # of MLPs with three hidden layers; networks 2p and 2p + 1 are pair p
    intervals: int  # even number of intervals on the lines between the trained networks
    images: int  # number of training images, the first ones, for matching and for accuracies

    def _identity(self) -> dict:
        settings = {"places": self.intervals, "looked": self.images}  # the names of old files
        return {"measured": settings, "training": self.training.digest, "revision": REVISION}

    @property
    def title(self) -> str:
        return f"lines at {self.intervals + 1} λ and units on {self.images} images, of {self.training.title}"

    @property
    def needs(self) -> tuple[Path, ...]:
        return (self.training.path(),)

    def prices(self) -> Price:
        """Core hours and memory of the measurement, without the training of missing networks."""
        model, pairs = self.training.model, len(self.training.seeds) // 2
        passes = MATCHINGS * (self.intervals + 1) + 2 * (1 + len(self.training.keep))  # of all images, a network each
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
        return MeasuredStages(
            {epoch: Measurement.joined([one.by_epoch[epoch] for one in found]) for epoch in epochs},
            torch.cat([one.accuracies for one in found]),
            tuple(2 * p + k for p, one in enumerate(found) for k in one.survivors),
            tuple(seed for one in found for seed in one.diverged),
            {epoch: torch.cat([one.rows[epoch] for one in found]) for epoch in epochs},
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
        return [*(run.training for run in measurements if not run.kept()), *measurements]


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

    @cache  # noqa: B019
    def result(self, name: str) -> Result:
        """The trained networks of a variant."""
        return self.runs[name].result()

    @cache  # noqa: B019
    def stages(self, name: str) -> MeasuredStages:
        """The measurements of a variant."""
        return self.measurements[name].result()

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
