"""Merges of trained classifiers as runs, one a pair of neurons (Brea et al., section 5, Fig. 3).

A path takes minutes, a chapter follows dozens of them. So each is a run, as the training of its network is one: data,
a digest, a file; computed by a chapter that asks for it, or by a job in front of it, and never twice.
"""

from __future__ import annotations

import datetime
import math
import os
import platform
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from lmc_helpers import expect
from lmc_helpers.data.images import choose, load
from lmc_helpers.experiments.merged_classifiers import (
    LAYER,
    Merge,
    Task,
    core_hours,
    flat,
    merge,
    permutation_point,
    principal,
    random_pair,
    towards,
)
from lmc_helpers.networks.mlp import MLP as Perceptron
from lmc_helpers.permutation_points.classifiers import most_similar_neurons
from lmc_helpers.permutation_points.converged import ConvergedPath
from lmc_helpers.permutation_points.mlp import MLP
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.description import described, digest_of
from lmc_helpers.training.prices import BASE_MIB, Price
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.run_files import alone, folder, read, unreadable, write
from lmc_helpers.training.runs import DataSpec, Run

__all__ = ["MergeRun", "Merged", "merges", "runs", "teachers_of_widths"]

#: Raised by hand when a change alters what a path is, so that paths of before are not taken for those of after.
REVISION = 2

TOLERANCE = 1e-5  # norm of the gradient at which a minimum has converged
BELOW = 4  # budgets of a distance for the permutation point, whose start is further off
PATH = ("theta", "loss", "gradient_norm", "outgoing")  # tensors of a path, in their order
WORTH_A_JOB_S = 30.0  # seconds of a merge below which a job of its own costs more than it saves
COPIES = 6  # of the images in double precision, at most, that are there at once


def teachers_of_widths(
    *, dataset: str, images: int, widths: Sequence[int], teachers: int, epochs: int, seed: int
) -> dict[int, Run]:
    """The run that trains the teachers of each width: Adam on the negative log-likelihood, tanh.

    Parameters
    ----------
    dataset : str
        ``"mnist"`` or ``"digits"``; digits stand in for what is not here.
    images : int
        training images, or all of them if there are fewer.
    widths : sequence of int
        H, neurons of each hidden layer.
    teachers, epochs : int
        networks of one width, passes through the images.
    seed : int
        of everything.

    Returns
    -------
    dict
        H → run.

    Examples
    --------
    >>> found = teachers_of_widths(dataset="digits", images=90, widths=[3, 4], teachers=2, epochs=1, seed=1)
    >>> found[4].title
    '2 × MLP(64-4-4-10, activation=tanh) on digits (train, 90 images), 1 epochs of adam at 0.003'
    """
    expect.integer(images, "images", least=1)
    expect.integer(teachers, "teachers", least=1)
    expect.array(widths, "widths", "k", empty=True)
    name, _ = choose((dataset, "digits"))
    data = DataSpec(name)
    if images < data.size:
        data = DataSpec(name, n=images, seed=seed)
    pixels, found = load(name).x[0].numel(), {}
    for H in widths:
        drawn = numpy_generator(seed, f"teachers of width {H}").integers(0, 2**32, teachers)
        descent = Descent(epochs, 100, "adam", 3e-3)
        found[H] = Run(Perceptron((pixels, H, H, 10), "tanh"), descent, data, tuple(drawn.tolist()))
    return found


@dataclass(frozen=True, eq=False)
class Merged(Merge):
    """One pair of neurons, merged, and what is below the end of its path.

    Parameters
    ----------
    path, accuracy, products
        as in :class:`~lmc_helpers.experiments.merged_classifiers.Merge`.
    pair : (int, int)
        the neurons of layer 2.
    point : (float, float, float)
        loss of the permutation point, norm of its gradient and its accuracy, from
        :func:`~lmc_helpers.experiments.merged_classifiers.permutation_point`.
    provenance : dict
        date, seconds, threads, versions, commit, and the provenance of the teachers.
    """

    pair: tuple[int, int]
    point: tuple[float, float, float]
    provenance: dict


@dataclass(frozen=True)
class MergeRun:
    """The merge of one pair of neurons: everything that the path depends on.

    Parameters
    ----------
    teachers : Run
        which trains the network, n_0 → H → H → n_d, tanh.
    network : int
        which of the teachers that did not diverge.
    components : int
        principal components of the images, or 0 for all.
    distances : int
        on the path, as :func:`~lmc_helpers.experiments.merged_classifiers.towards` has them.
    products : int
        with Hessians, budget at every distance; the permutation point has four times as many.
    seed : int, optional
        draws a random other pair; without it the most similar pair is merged.

    Examples
    --------
    >>> teachers = teachers_of_widths(dataset="digits", images=90, widths=[4], teachers=2, epochs=1, seed=1)[4]
    >>> MergeRun(teachers, network=1, components=5, distances=4, products=100).title
    'merge of the most similar pair of network 1 of 2, H = 4, on digits (90 images, 5 components), 4 distances'
    """

    teachers: Run
    network: int
    components: int
    distances: int
    products: int
    seed: int | None = None

    def __post_init__(self) -> None:
        model = self.teachers.model if isinstance(self.teachers, Run) else None
        if not isinstance(model, Perceptron) or len(model.sizes) != 4 or model.activation != "tanh":
            raise ValueError(
                f"teachers is {self.teachers!r:.80}; allowed: a Run of MLPs with two hidden layers of tanh"
            )
        expect.integer(self.network, "network", least=0, most=len(self.teachers.seeds) - 1)
        expect.integer(self.components, "components", least=0)
        expect.integer(self.distances, "distances", least=4)
        expect.integer(self.products, "products", least=1)
        if self.seed is not None:
            expect.integer(self.seed, "seed", least=0)

    def __hash__(self) -> int:
        return int(self.digest, 16)

    @property
    def neurons(self) -> int:
        """H, neurons of layer 2."""
        return _sizes(self.teachers, "teachers")[LAYER]

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that change with what is computed."""
        return digest_of(self._identity())

    def _identity(self) -> dict:
        return {"run": described(self), "teachers": self.teachers.digest, "revision": REVISION, "tol": TOLERANCE}

    @property
    def title(self) -> str:
        """The run in words, one line."""
        pair, data = "a random" if self.seed is not None else "the most similar", self.teachers.data
        inputs = f"{self.components} components" if self.components else "all pixels"
        return (
            f"merge of {pair} pair of network {self.network} of {len(self.teachers.seeds)}, H = {self.neurons}, on"
            f" {data.name} ({data.size} images, {inputs}), {self.distances} distances"
        )

    def path(self) -> Path:
        """The file of the result, in :func:`~lmc_helpers.training.run_files.folder`."""
        return folder() / f"{self.digest}.npz"

    def done(self) -> bool:
        """Whether the file is there."""
        return self.path().exists()

    def prices(self) -> Price:
        """Hours of one core if every budget is used up, and memory; it does not run on a GPU."""
        data, pixels = self.teachers.data, _sizes(self.teachers, "teachers")[0]
        inputs = min(self.components or pixels, pixels, data.size)
        hours = core_hours(data.size, inputs, [self.neurons], 1, self.distances + BELOW, self.products)
        return Price(hours, hours, BASE_MIB + math.ceil(COPIES * data.size * pixels * 8 / 2**20))

    def resources(self) -> dict[str, int | bool]:
        """What a job needs: cores, memory_mib, minutes; no gpu."""
        cost = self.prices()
        return {
            "cores": 1,
            "memory_mib": cost.memory_mib,
            "minutes": 1 + math.ceil(60 * cost.cpu_hours),
            "gpu": False,
        }

    def result(self, show_progress: bool = False) -> Merged:
        """The result: read where its file is there, else computed, with the teachers where they are not there either.

        Parameters
        ----------
        show_progress : bool
            show a progress bar where tqdm is installed.

        Returns
        -------
        Merged
            the path and what is below its end.
        """
        expect.one_of(show_progress, "show_progress", (True, False))
        path = self.path()
        if not path.exists():
            with alone(path.with_name(f".{self.digest}.lock")):
                if not path.exists():
                    self._merge(path, show_progress)
        return self._read(path)

    def _merge(self, path: Path, show_progress: bool) -> None:
        taught, data = self.teachers.result(show_progress), self.teachers.data
        if self.network >= len(taught.stack):
            raise ValueError(
                f"network = {self.network} of {len(taught.stack)} teachers that did not diverge; allowed: 0 to"
                f" {len(taught.stack) - 1}"
            )
        start = time.perf_counter()
        images = load(data.name, data.split, data.n, data.seed)
        z, Q, moments = principal(images.inputs(torch.float64, flat=True), self.components)
        net = MLP((len(moments), *_sizes(self.teachers, "teachers")[1:]), "tanh")
        theta = flat(net, taught.stack, Q)[self.network]
        task = Task(net, z, moments, net.forward(theta, z))
        pair = most_similar_neurons(net, theta, z, layer=LAYER)
        if self.seed is not None:
            pair = random_pair(self.neurons, pair, self.seed, f"pair of network {self.network}, width {self.neurons}")
        budget = self.products, TOLERANCE
        found = merge(task, theta, pair, towards(self.distances), images.y, *budget, show_progress)
        point = permutation_point(task, found.path.theta[-1], images.y, BELOW * self.products, TOLERANCE)
        provenance = {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "seconds": round(time.perf_counter() - start, 3),
            "threads": torch.get_num_threads(),
            "versions": {"python": platform.python_version(), "torch": torch.__version__},
            "commit": os.environ.get("LMC_COMMIT", "unknown"),
            "products": found.products,
            "teachers": taught.provenance,
        }
        tensors = {name: getattr(found.path, name) for name in PATH} | {"accuracy": found.accuracy}
        tensors |= {"pair": torch.tensor(pair), "point": torch.tensor(point, dtype=torch.float64)}
        write(path, self._identity(), provenance, tensors)

    def _read(self, path: Path) -> Merged:
        provenance, tensors = read(path, self._identity())
        try:
            found = ConvergedPath(*(tensors[name] for name in PATH))
            accuracy, (i, j) = tensors["accuracy"], tensors["pair"].tolist()
            loss, norm, share = tensors["point"].tolist()
            if any(len(one) != self.distances for one in (*vars(found).values(), accuracy)):
                raise ValueError(f"{len(found.theta)} distances")
            return Merged(found, accuracy, provenance["products"], (i, j), (loss, norm, share), provenance)
        except (KeyError, ValueError, TypeError) as error:
            raise unreadable(path, error) from error


def merges(
    teaching: Iterable[Run], components: int, distances: int, products: int, randoms: int = 0, seed: int = 0
) -> tuple[dict[int, list[MergeRun]], dict[int, list[MergeRun]]]:
    """The merges of the most similar pairs of all teachers, and of random pairs of some.

    Parameters
    ----------
    teaching : iterable of Run
        one a width.
    components, distances, products : int
        as in :class:`MergeRun`.
    randoms : int
        how many teachers of each width have a random other pair merged as well, at most all of them.
    seed : int
        of these pairs.

    Returns
    -------
    similar, random : dict
        H → merges.

    Examples
    --------
    >>> teaching = teachers_of_widths(dataset="digits", images=90, widths=[3, 4], teachers=2, epochs=1, seed=1)
    >>> similar, random = merges(teaching.values(), 5, 4, 100, randoms=1)
    >>> [len(similar[H]) for H in (3, 4)], [len(random[H]) for H in (3, 4)]
    ([2, 2], [1, 1])
    """
    expect.integer(randoms, "randoms", least=0)
    expect.integer(seed, "seed", least=0)
    if not isinstance(teaching, Iterable):
        raise ValueError(f"teaching is {teaching!r:.80}; allowed: runs, as teachers_of_widths has them")
    of = {_sizes(run, "teaching")[LAYER]: run for run in teaching}
    settings = components, distances, products
    similar = {H: [MergeRun(run, k, *settings) for k in range(len(run.seeds))] for H, run in of.items()}
    random = {H: [MergeRun(run, k, *settings, seed) for k in range(len(run.seeds))][:randoms] for H, run in of.items()}
    return similar, random


def runs(
    *,
    dataset: str,
    images: int,
    components: int,
    widths: Sequence[int],
    teachers: int,
    randoms: int,
    epochs: int,
    distances: int,
    products: int,
    seed: int,
) -> list[Run | MergeRun]:
    """The runs in front of chapter 52, for the book's jobs: teachers, one run a width, and merges.

    Merges of less than half a minute are left to the chapter, since a job has to be started, too.

    Parameters
    ----------
    dataset, images, widths, teachers, epochs, seed
        as in :func:`teachers_of_widths`.
    components, randoms, distances, products
        as in :func:`merges`.

    Returns
    -------
    list of Run and MergeRun
        the teachers first.
    """
    of = teachers_of_widths(dataset=dataset, images=images, widths=widths, teachers=teachers, epochs=epochs, seed=seed)
    teaching = list(of.values())
    found = merges(teaching, components, distances, products, randoms, seed)
    listed = (run for by_width in found for row in by_width.values() for run in row)
    return [*teaching, *(run for run in listed if 3600 * run.prices().cpu_hours >= WORTH_A_JOB_S)]


def _sizes(run: Run, name: str) -> tuple[int, ...]:
    """(n_0, H, H, n_d) of the perceptrons that a run trains."""
    if not isinstance(run, Run) or not isinstance(run.model, Perceptron):
        raise ValueError(f"{name} is {run!r:.80}; allowed: a Run of MLPs")
    return run.model.sizes
