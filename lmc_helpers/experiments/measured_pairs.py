"""What is measured of pairs of asymmetric MLPs as runs: one a variant, trained where its networks are not there.

Networks take hundreds of megabytes, and hours; what chapter 53 measures of them takes kilobytes. So the measurement of
a variant is a run, as its training is one: data, a digest, a file. A file in ``book/recorded/runs`` counts as one that
lies here, so that what took hours stays with the book, and a large experiment can be made one variant at a time.
"""

from __future__ import annotations

import datetime
import math
import os
import platform
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import torch

from lmc_helpers import expect
from lmc_helpers.data.images import load
from lmc_helpers.device import device
from lmc_helpers.error_bars import jackknife
from lmc_helpers.experiments import asymmetric_mlps
from lmc_helpers.experiments.asymmetric_mlps import CORE, HIDDEN, Found, ends, measure, variants
from lmc_helpers.networks.mlp import MLP
from lmc_helpers.training.description import digest_of
from lmc_helpers.training.prices import BASE_MIB, FLOPS, Price
from lmc_helpers.training.run_files import alone, folder, read, unreadable, write
from lmc_helpers.training.runs import Result, Run

__all__ = ["Experiment", "Measured", "MeasuredPairs", "long_settings", "measurements", "recorded", "runs"]

#: Raised by hand when a change alters what is measured, so that files of before are not taken for those of after.
REVISION = 1

PARTS = tuple(field.name for field in fields(Found) if field.name != "accuracy")
WAYS = 4  # none, correlation, published, absolute
LINES_MIB = 1500  # of the batches in which lines are followed, and of the moments


def recorded() -> Path:
    """The folder of measurements that lie with the book.

    Examples
    --------
    >>> recorded().parts[-3:]
    ('book', 'recorded', 'runs')
    """
    return Path(__file__).resolve().parents[2] / "book" / "recorded" / "runs"


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of the pairs of one variant.

    Parameters
    ----------
    found : dict of Found
        epoch → what :func:`~lmc_helpers.experiments.asymmetric_mlps.measure` found; None is the end, with lines.
    accuracies : torch.Tensor
        training accuracies (N,) of the networks that did not diverge, in the last epoch.
    survivors, diverged : tuple of int
        as in :class:`~lmc_helpers.training.runs.Result`.
    provenance : dict
        date, seconds, versions, commit, and the provenance of the training.
    """

    found: dict[int | None, Found]
    accuracies: torch.Tensor
    survivors: tuple[int, ...]
    diverged: tuple[int, ...]
    provenance: dict

    @property
    def pairs(self) -> tuple[int, ...]:
        """The pairs, by their numbers, of which both networks are left; the rows of every Found."""
        return tuple(k // 2 for k in self.survivors if k % 2 == 0 and k + 1 in self.survivors)


@dataclass(frozen=True)
class MeasuredPairs:
    """The measurement of one variant: everything that it depends on.

    Parameters
    ----------
    training : Run
        of MLPs with three hidden layers; networks 2p and 2p + 1 are pair p.
    places : int
        intervals of the lines between the networks at the end, even.
    looked : int
        training images on which units are matched and accuracies are taken, the first ones.

    Examples
    --------
    >>> some = measurements(dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, sweep_pairs=2,
    ...                     sigmas=[5.0], shares=[], places=8, looked=100, seed=1)
    >>> some["MLP"].title
    'lines of 9 places and units on 100 images, of 6 × MLP(64-16-16-16-10, activation=gelu, norm=layer) on digits \
(train90, 200 images), 2 epochs of adamw at 0.001'
    """

    training: Run
    places: int
    looked: int

    def __post_init__(self) -> None:
        model = self.training.model if isinstance(self.training, Run) else None
        if not isinstance(model, MLP) or len(model.sizes) != HIDDEN + 2 or len(self.training.seeds) % 2:
            raise ValueError(
                f"training is {self.training!r:.80}; allowed: a Run of pairs of MLPs with {HIDDEN} hidden layers"
            )
        expect.integer(self.places, "places", least=2)
        expect.integer(self.looked, "looked", least=2, most=self.training.data.size)
        if self.places % 2:
            raise ValueError(f"places = {self.places!r}; allowed: an even integer >= 2")

    def __hash__(self) -> int:
        return int(self.digest, 16)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with what is measured."""
        return digest_of(self._identity())

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

    def done(self) -> bool:
        """Whether the file is there."""
        return self.path().exists()

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
        """What a job needs: cores, memory_mib, minutes; no gpu, as the networks are there when it starts."""
        cost, training = self.prices(), self.training.resources()
        return {
            "cores": 1,
            "memory_mib": max(cost.memory_mib, int(training["memory_mib"])),
            "minutes": 1 + math.ceil(60 * cost.cpu_hours),
            "gpu": False,
        }

    def result(self, show_progress: bool = False) -> Measured:
        """The result: read where its file is there, else measured, with the training where it is not there either.

        Parameters
        ----------
        show_progress : bool
            show a progress bar of the training where tqdm is installed.

        Returns
        -------
        Measured
            on the CPU.
        """
        expect.one_of(show_progress, "show_progress", (True, False))
        path = self.path()
        if not path.exists():
            with alone(path.with_name(f".{self.digest}.lock")):
                if not path.exists():
                    self._measure(path, show_progress)
        return self._read(path)

    def _measure(self, path: Path, show_progress: bool) -> None:
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
        provenance = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - start, 3),
            "threads": torch.get_num_threads(),
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
            "commit": os.environ.get("LMC_COMMIT", "unknown"),
            "training": trained.provenance,
        }
        write(path, self._identity(), provenance, tensors)

    def _read(self, path: Path) -> Measured:
        provenance, tensors = read(path, self._identity())
        try:
            survivors = tuple(tensors.pop("survivors").tolist())
            accuracies = tensors.pop("accuracies")
            found = {}
            for epoch in (*self.training.keep, None):
                lines = {k: v for k, v in tensors.items() if k.startswith(f"{epoch}/accuracy/")}
                parts = {part: tensors[f"{epoch}/{part}"] for part in PARTS}
                found[epoch] = Found(**parts, accuracy={k.rpartition("/")[2]: v for k, v in lines.items()})
            seeds = self.training.seeds
            lost = tuple(seed for k, seed in enumerate(seeds) if k not in survivors)
            whole = Measured(found, accuracies, survivors, lost, provenance)
            if any(len(one.optimal) != len(whole.pairs) for one in found.values()):
                raise ValueError(f"{len(whole.pairs)} pairs, and others")
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise unreadable(path, error) from error
        return whole


def measurements(places: int, looked: int, only: Collection[str] | None = None, **settings) -> dict[str, MeasuredPairs]:
    """The measurements of all variants, by their names.

    Parameters
    ----------
    places : int
        intervals of the lines between networks of Fig. 4, even; other variants have ends and middle.
    looked : int
        training images on which units are matched and accuracies are taken, at most those that there are.
    only : collection of str, optional
        names of variants; without it all of them.
    **settings
        of :func:`~lmc_helpers.experiments.asymmetric_mlps.runs`.

    Returns
    -------
    dict of MeasuredPairs
        in the order of :func:`~lmc_helpers.experiments.asymmetric_mlps.variants`.

    Examples
    --------
    >>> small = dict(dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, sweep_pairs=2, seed=1)
    >>> list(measurements(8, 100, only=("MLP", "W 1"), sigmas=[5.0], shares=[], **small))
    ['MLP', 'W 1']
    """
    expect.integer(looked, "looked", least=2)
    trainings = asymmetric_mlps.runs(**settings)
    found = {
        name: MeasuredPairs(run, places if name in CORE else 2, min(looked, run.data.size))
        for name, run in zip(variants(settings["sigmas"], settings["shares"]), trainings, strict=True)
    }
    for name in () if only is None else only:
        expect.one_of(name, "only", found)
    return {name: one for name, one in found.items() if only is None or name in only}


def long_settings(long_epochs: int, long_pairs: int, **settings) -> dict:
    """The settings of the same experiment on the variants of Fig. 4 alone, trained for longer.

    Examples
    --------
    >>> long_settings(100, 8, epochs=20, pairs=6, stages=[0], width=512, sigmas=[5.0], shares=[])["epochs"]
    100
    """
    longer = {"epochs": long_epochs, "pairs": long_pairs, "stages": [], "sigmas": [], "shares": [], "only": CORE}
    return settings | longer


def runs(
    *,
    dataset: str,
    width: int,
    images: int,
    epochs: int,
    stages: Sequence[int],
    pairs: int,
    sweep_pairs: int,
    sigmas: Sequence[float],
    shares: Sequence[float],
    places: int,
    looked: int,
    long_epochs: int = 0,
    long_pairs: int = 2,
    batch: int = 64,
    seed: int = 0,
) -> list[Run | MeasuredPairs]:
    """The runs in front of chapter 53, for the book's jobs: trainings, then measurements.

    A training whose measurement is recorded with the book is left out.

    Parameters
    ----------
    dataset, width, images, epochs, stages, pairs, sweep_pairs, sigmas, shares, batch, seed
        as in :func:`~lmc_helpers.experiments.asymmetric_mlps.runs`.
    places, looked
        as in :func:`measurements`.
    long_epochs, long_pairs : int
        epochs and pairs of the variants of Fig. 4 that are trained once more, for longer; 0 epochs: none.

    Returns
    -------
    list of Run and MeasuredPairs
        the trainings first.
    """
    expect.integer(long_epochs, "long_epochs", least=0)
    expect.integer(long_pairs, "long_pairs", least=1)
    settings: dict[str, Any] = dict(dataset=dataset, width=width, images=images, epochs=epochs, stages=stages)
    settings |= dict(pairs=pairs, sweep_pairs=sweep_pairs, sigmas=sigmas, shares=shares, batch=batch, seed=seed)
    settings |= dict(places=places, looked=looked)
    found = [*measurements(**settings).values()]
    if long_epochs:
        found += measurements(**long_settings(long_epochs, long_pairs, **settings)).values()
    return [*(one.training for one in found if one.path().parent != recorded()), *found]


class Experiment(asymmetric_mlps.Experiment):
    """All variants of section 6, each trained and measured when it is first asked for.

    Parameters
    ----------
    **settings
        of :func:`measurements`.

    Attributes
    ----------
    runs : dict of Run
        the trainings, by the names of :func:`~lmc_helpers.experiments.asymmetric_mlps.variants`.
    measurements : dict of MeasuredPairs
        by the same names.
    lambdas : list of float
        places of the lines of Fig. 4.
    looked : int
        images on which units are matched and accuracies are taken.

    Examples
    --------
    >>> some = Experiment(dataset="digits", width=16, images=200, epochs=2, stages=[0], pairs=3, sweep_pairs=2,
    ...                   sigmas=[5.0], shares=[0.5], places=2, looked=100, seed=1)
    >>> some.lambdas, some.looked, some.runs["W 5"].seeds == some.runs["W 0"].seeds[:4]
    ([0.0, 0.5, 1.0], 100, True)
    """

    def __init__(self, **settings) -> None:  # without the images: a file that lies here needs none
        self.measurements = measurements(**settings)
        self.runs = {name: one.training for name, one in self.measurements.items()}
        places, self.looked = (getattr(self.measurements["MLP"], name) for name in ("places", "looked"))
        self.lambdas = [k / places for k in range(places + 1)]
        self._results: dict[str, Result] = {}
        self._measured: dict[str, Measured] = {}

    def measured(self, name: str) -> Measured:
        """The measurement of a variant."""
        expect.one_of(name, "name", self.measurements)
        if name not in self._measured:
            self._measured[name] = self.measurements[name].result()
        return self._measured[name]

    def found(self, name: str, epoch: int | None = None) -> Found:
        """What was measured at the end, or without lines after an epoch that was kept."""
        found = self.measured(name).found
        expect.integer(0 if epoch is None else epoch, "epoch", least=0)
        expect.one_of(epoch, "epoch", tuple(found))
        return found[epoch]

    def together(self, *parts: tuple[str, torch.Tensor]) -> list[torch.Tensor]:
        """Quantities of several variants, one row a pair, of the pairs that all of them still have.

        Parameters
        ----------
        *parts : (str, torch.Tensor)
            name of a variant, and values (P, …) of its pairs.

        Returns
        -------
        list of torch.Tensor
            the same, row by row of one pair.
        """
        have = [self.measured(name).pairs for name, _ in parts]
        common = sorted(set.intersection(*map(set, have))) if have else []
        if not common:
            raise ValueError(f"{len(parts)} variants with pairs {have}; allowed: at least one pair that all have")
        for (name, values), mine in zip(parts, have, strict=True):
            if len(values) != len(mine):
                raise ValueError(f"{name} has {len(mine)} pairs and values of {len(values)}; allowed: one row a pair")
        return [values[[mine.index(p) for p in common]] for (_, values), mine in zip(parts, have, strict=True)]

    def lead(self, name: str, other: str, epoch: int | None = None, layer: int | None = None) -> tuple[float, float]:
        """``way`` of one variant less that of another, on the pairs that both have."""
        expect.integer(0 if layer is None else layer, "layer", least=0, most=HIDDEN - 1)
        layers = slice(None) if layer is None else slice(layer, layer + 1)
        both = ((one, part[:, layers]) for one in (name, other) for part in self.found(one, epoch).way())
        return jackknife(lambda u, v, w, z: u / v - w / z, *self.together(*both))
