"""A training run is data → one digest → one file.

A :class:`Run` describes everything that its result depends on. The digest of this description names the file of the
result: whoever asks for a run gets the existing file, or trains it. A run can be computed anywhere and by anybody who
has the file's folder: a chapter, a job of a cluster, two of them at once.

>>> from lmc_helpers.networks.mlp import MLP
>>> run = Run(MLP((64, 8, 10)), Descent(epochs=2, batch=100), DataSpec("digits", n=300), seeds=(1, 2))
>>> run.title
'2 × MLP(64-8-10) on digits (train, 300 images), 2 epochs of sgd at 0.01'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any

import torch

from lmc_helpers._typing import Positive, Seed, Tensors, checked
from lmc_helpers.data.images import NAMES, PARTS, SPLITS, load
from lmc_helpers.device import describe as describe_device
from lmc_helpers.device import device
from lmc_helpers.networks.model import Fixed, Model, Scheme, Stack
from lmc_helpers.training._checkpoints import digest as digest_of_tensors
from lmc_helpers.training.cached import Cached, provenance
from lmc_helpers.training.description import canonical, described
from lmc_helpers.training.fit import PRECISIONS, Fitted, Precision, _AllDiverged, fit
from lmc_helpers.training.prices import Price, price
from lmc_helpers.training.recipes import Descent

__all__ = ["REVISION", "DataSpec", "Result", "Run"]

#: Raised by hand when a change alters what a run computes, hence old results are not taken for new ones.
REVISION = 1

GPU_HOURS = 4.0  # a run that costs more hours of a CPU core asks for a GPU
EVERY_S = 120.0  # seconds from one checkpoint to the next: what a kill loses at most
IMAGES = {"digits": (1437, 360), "mnist": (60_000, 10_000), "cifar10": (50_000, 10_000)}  # training, test
SHAPES = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "cifar10": (3, 32, 32)}  # channels, height, width


@checked
@dataclass(frozen=True)
class DataSpec:
    """The images that a run sees, as :func:`lmc_helpers.data.images.load` takes them."""

    name: str
    split: str = "train"
    n: Positive | None = None
    seed: Seed = 0

    def __post_init__(self) -> None:
        for name, allowed in (("name", NAMES), ("split", SPLITS)):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} = {getattr(self, name)!r}; allowed: {', '.join(allowed)}")
        if self.n is not None and self.n > self._all:
            raise ValueError(f"n = {self.n} images; allowed: 1 to {self._all}, or None")

    @property
    def _all(self) -> int:
        training, test = IMAGES[self.name]
        start, end = PARTS.get(self.split, (0.0, 1.0))
        return test if self.split == "test" else round(end * training) - round(start * training)

    @property
    def size(self) -> int:
        """Number of images, without reading them."""
        return self._all if self.n is None else self.n

    def at_most(self, images: int, seed: int) -> DataSpec:
        """These images, or a random choice of so many of them if there are more."""
        return self if images >= self.size else replace(self, n=images, seed=seed)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of an image, without reading it."""
        return SHAPES[self.name]


@dataclass(frozen=True, eq=False)
class Result(Fitted):
    """The result of a run, on the CPU, and its provenance.

    ``provenance``: date, seconds, device, threads, versions, whether the data are the published ones, their digest,
    commit.
    """

    provenance: dict = field(default_factory=dict)


@checked
@dataclass(frozen=True)
class Run(Cached[Result]):
    """N networks trained at once: everything that the result depends on.

    Parameters
    ----------
    seeds
        one per network: of initial weights, order of examples, flips and crops.
    scheme
        draws F and D of eq. (2) of Bürgin et al. for all maps of the model; or name of a map → scheme. A frozen
        dataclass, for example one of :mod:`lmc_helpers.identifiability.asymmetric`.
    mask_seeds
        one per group of neighbouring networks that share F and D; G of them, G a divisor of N. (0,) without
        scheme, where it does not matter.
    keep
        epochs after which copies are kept; 0 is the beginning.

    Examples
    --------
    >>> from lmc_helpers.identifiability.asymmetric import WAsymmetric
    >>> from lmc_helpers.networks.mlp import MLP
    >>> scheme = {"0.weight": WAsymmetric(fixed=16, sigma=1.0)}
    >>> run = Run(MLP((64, 8, 10)), Descent(2, 100), DataSpec("digits"), (1, 2, 3, 4), scheme, mask_seeds=(5, 6))
    >>> run.fixed()["0.weight"][0].shape  # networks 0 and 1 share the first F, 2 and 3 the second
    torch.Size([2, 8, 64])
    """

    model: Model
    descent: Descent
    data: DataSpec
    seeds: tuple[int, ...]
    scheme: Scheme | Mapping[str, Scheme] | None = None
    mask_seeds: tuple[int, ...] = (0,)
    keep: tuple[int, ...] = ()
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        _check_seeds("seeds", self.seeds)
        _check_seeds("mask_seeds", self.mask_seeds)
        if isinstance(self.scheme, Mapping):
            object.__setattr__(self, "scheme", dict(sorted(self.scheme.items())) or None)
        object.__setattr__(self, "mask_seeds", (0,) if self.scheme is None else self.mask_seeds)
        object.__setattr__(self, "keep", tuple(sorted(set(self.keep))))
        if len(self.seeds) % len(self.mask_seeds):
            raise ValueError(
                f"{len(self.mask_seeds)} mask_seeds of {len(self.seeds)} networks; allowed: a divisor of their number"
            )
        if not set(self.schemes()) <= set(self.model.maps()):
            raise ValueError(f"schemes of {list(self.schemes())}; allowed: {', '.join(self.model.maps())}")
        if not set(self.keep) <= set(range(self.descent.epochs + 1)):
            raise ValueError(f"epochs {list(self.keep)} to keep; allowed: 0 to {self.descent.epochs}")
        self.describe()  # raises for an unknown data set

    def schemes(self) -> dict[str, Scheme]:
        """Name of a map → its scheme; empty for ordinary networks."""
        if self.scheme is None:
            return {}
        return dict(self.scheme) if isinstance(self.scheme, Mapping) else dict.fromkeys(self.model.maps(), self.scheme)

    def describe(self) -> str:
        """Everything that the result depends on, as text: JSON with sorted keys, floats by ``repr``."""
        return canonical(self)

    def _identity(self) -> dict:
        return {"run": described(self), "revision": REVISION}

    @property
    def title(self) -> str:
        """The run in words, one line."""
        d, model = self.descent, _short(self.model)
        rate = f"{d.optimiser} at {d.rate:g}" + ("" if d.schedule == "constant" else f" ({d.schedule})")
        schemes = {_short(scheme) for scheme in self.schemes().values()}
        by = f" with {', '.join(sorted(schemes))}" if schemes else ""
        images = f"{self.data.name} ({self.data.split}, {self.data.size} images)"
        return f"{len(self.seeds)} × {model}{by} on {images}, {d.epochs} epochs of {rate}"

    def prices(self) -> Price:
        """Estimated hours of one CPU core, or of a GPU, and memory."""
        shapes = self.model.shapes()
        masked = sum(math.prod(shapes[name]) for name in self.schemes())
        return price(self.model, self.descent, self.data.size, len(self.seeds), len(self.keep), masked)

    def resources(self) -> dict[str, int | bool]:
        """Resources of a job, on a GPU where it takes many hours of a core.

        The minutes are estimated (:mod:`lmc_helpers.training.prices`): a limit of time should be a multiple of them.
        """
        cost = self.prices()
        if cost.cpu_hours <= GPU_HOURS:
            return super().resources()
        return super().resources() | {"minutes": 1 + math.ceil(60 * cost.gpu_hours), "gpu": True}

    def fixed(self) -> Fixed:
        """F and D by name of the weight, (G, …), float64."""
        groups = [self.model.fixed_parts(self.schemes(), seed) for seed in self.mask_seeds]
        return {
            name: (torch.cat([group[name][0] for group in groups]), torch.cat([group[name][1] for group in groups]))
            for name in self.schemes()
        }

    def _compute(self, show_progress: bool) -> tuple[dict, Tensors]:
        images, where = load(self.data.name, self.data.split, self.data.n, self.data.seed), device()
        try:
            done = fit(
                self.model.initial(self.seeds, PRECISIONS[self.precision], self.fixed()),
                self.descent,
                images.x.to(where),
                images.y.to(where),
                self.seeds,
                normal=(images.mean.tolist(), images.deviation.tolist()),
                keep=self.keep,
                checkpoint=self._checkpoint,  # from which a killed run resumes
                every_s=EVERY_S,
                precision=self.precision,
                show_progress=show_progress,
            )
        except _AllDiverged:
            self._checkpoint.unlink(missing_ok=True)
            raise
        origin = provenance(
            done.seconds,
            device=describe_device(where),
            verified=images.verified,
            images=digest_of_tensors(images.x, images.y),
            diverged=list(done.diverged),
        )
        tensors = {"losses": done.losses, "accuracies": done.accuracies, "survivors": torch.tensor(done.survivors)}
        tensors |= {f"final/{name}": value for name, value in done.stack.state().items()}
        for epoch, stack in done.kept.items():  # F and D are those of the final networks
            tensors |= {f"kept {epoch}/params/{name}": value for name, value in stack.params.items()}
        return origin, tensors

    def _result(self, provenance: dict, tensors: Tensors) -> Result:
        losses, accuracies, survivors = (tensors.pop(name) for name in ("losses", "accuracies", "survivors"))
        parts: dict[str, Tensors] = {}
        for key, value in tensors.items():
            kind, _, name = key.partition("/")
            parts.setdefault(kind, {})[name] = value
        final = parts.pop("final")
        fixed = {name: value for name, value in final.items() if not name.startswith("params/")}
        stack = Stack.from_state(self.model, final)
        kept = {
            int(kind.removeprefix("kept ")): Stack.from_state(self.model, part | fixed) for kind, part in parts.items()
        }
        shape = (self.descent.epochs, len(stack))
        fits = losses.shape == accuracies.shape == shape and survivors.shape == shape[1:]
        if not fits or set(kept) != set(self.keep) or any(len(one) != len(stack) for one in kept.values()):
            raise ValueError(f"{len(stack)} networks, losses {tuple(losses.shape)}, kept epochs {sorted(kept)}")
        where = tuple(survivors.tolist())
        lost = tuple(seed for i, seed in enumerate(self.seeds) if i not in where)
        return Result(stack, losses, accuracies, kept, where, lost, provenance["seconds"], provenance)


def _check_seeds(name: str, seeds: Any) -> None:
    if not seeds or not all(type(seed) is int and 0 <= seed < 2**32 for seed in seeds):
        raise ValueError(f"{name} = {seeds!r}; allowed: integers in [0, 2**32), at least one")


def _short(value: Any) -> str:
    """A dataclass as its name and the fields that differ from their defaults: MLP(784-15-10, norm=layer)."""
    words = []
    for one in fields(value):
        mine = getattr(value, one.name)
        if one.default is MISSING or mine != one.default:
            sizes = isinstance(mine, tuple) and all(type(size) is int for size in mine)
            words.append("-".join(map(str, mine)) if sizes else f"{one.name}={mine}")
    return f"{type(value).__name__}({', '.join(words)})"
