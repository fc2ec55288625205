"""Pairs of CNNs, ResNets and transformers on images, and the lines between them.

Three experiments of the papers, at any size: plain CNNs of depth 16 at several widths (Zhan et al., Fig. 15, B.5);
ResNet20s, W-ResNets and syre-ResNets (Bürgin et al., section 6, Figs. 3b, 4b, 4d and 9, F.2); transformers and
W-transformers (G.4, Fig. 20). Pair p has networks 2p and 2p + 1, which share F and D; every pair has its own. Fixed
entries are counted in rows, as in the published code.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import torch

from lmc_helpers import expect
from lmc_helpers.alignment.repair import repair
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import choose, load
from lmc_helpers.device import device
from lmc_helpers.experiments.asymmetric_mlps import Found, ends, measure
from lmc_helpers.experiments.averaged_images import Averaged
from lmc_helpers.identifiability.asymmetric import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.model import Model, Stack
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.networks.vit import ViT
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

__all__ = [
    "RESNET",
    "VIT",
    "Experiment",
    "choose_images",
    "entries",
    "networks",
    "runs",
    "schemes",
    "seconds_per_image",
    "table_3",
    "variants",
]

SPLIT = "train90"  # the training images of the published code; lines are followed on these
SHAPES = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
PATCH = {"digits": 2, "mnist": 7, "cifar10": 4}  # 4 in G.4

#: The networks of the paper: App. F.2 and G.4.
RESNET, VIT = ResNet20(width=8, init="torch"), ViT()


def table_3(name: str) -> int:
    """Fixed entries of a map of :data:`RESNET`, Table 3.

    Examples
    --------
    >>> [table_3(name) for name in ("stem.weight", "2.0.inner.weight", "3.0.shortcut.weight", "head.weight")]
    [12, 162, 24, 24]
    """
    expect.text(name, "name")
    group = name.split(".")[0]
    if "shortcut" in name:
        return {"2": 18, "3": 24}[group]
    return {"stem": 12, "1": 108, "2": 162, "3": 216, "head": 24}[group]


def entries(model: Model) -> dict[str, int]:
    """Fixed entries of each row of the maps of a ResNet20 or a ViT.

    A row has the share of its entries that the paper fixes at its own sizes, Table 3 for ResNets and 8 entries for
    transformers, and at least one.

    Parameters
    ----------
    model : Model
        of any size.

    Returns
    -------
    dict of int
        name of a map → fixed entries of a row.

    Examples
    --------
    >>> entries(RESNET)["1.0.inner.weight"], entries(ResNet20(width=1))["1.0.inner.weight"], entries(VIT)["head.weight"]
    (108, 14, 8)
    """
    if not isinstance(model, ResNet20 | ViT):
        raise ValueError(f"{model}; allowed: a ResNet20 or a ViT")
    printed = replace(RESNET, blocks=model.blocks) if isinstance(model, ResNet20) else replace(VIT, depth=model.depth)
    found = {}
    for name in model.maps():
        count = table_3(name) if isinstance(model, ResNet20) else 8
        here, there = (math.prod(one.map_shape(name)[1:]) for one in (model, printed))
        found[name] = min(max(1, round(count * here / there)), here)
    return found


def schemes(model: Model, kind: str, sigma: float) -> dict[str, Scheme]:
    """Name of a map → what draws its F and D.

    Parameters
    ----------
    model : Model
        a ResNet20 or a ViT.
    kind : str
        ``"w"``, or ``"syre"`` with D = 1, as in the published code.
    sigma : float
        σ_F.

    Returns
    -------
    dict
        of schemes.

    Examples
    --------
    >>> schemes(RESNET, "w", 2.0)["stem.weight"], schemes(VIT, "syre", 1.0)["head.weight"]
    (WAsymmetric(fixed=12, sigma=2.0, dim=0), Syre(sigma=1.0, epsilon=0.0))
    """
    if not isinstance(model, Model):
        raise ValueError(f"model is {type(model).__name__}; allowed: Model")
    expect.number(sigma, "sigma")
    if kind not in ("w", "syre"):
        raise ValueError(f"kind = {kind!r} is unknown; allowed: w, syre")
    if kind == "syre":
        return dict.fromkeys(model.maps(), Syre(sigma, 0.0))
    return {name: WAsymmetric(fixed, sigma) for name, fixed in entries(model).items()}


def networks(
    shape: tuple[int, ...], patch: int, widths: Sequence[int], resnet: Sequence[int], vit: Sequence[int], side: int = 1
) -> dict[str, Model]:
    """The architectures: ``"CNN w"`` for each width, ``"ResNet"`` and ``"ViT"``.

    Parameters
    ----------
    shape : tuple of int
        of an image.
    patch : int
        side of a patch.
    widths : sequence of int
        of CNNs.
    resnet : sequence of int
        width multiplier, channels at width 1, and blocks of a group; (8, 16, 3) in the paper.
    vit : sequence of int
        dimension, depth and heads; (384, 8, 6) in the paper.
    side : int
        of the squares of pixels over which images are averaged for CNNs and ResNets.

    Returns
    -------
    dict of Model
        by name.

    Examples
    --------
    >>> found = networks((3, 32, 32), 4, [8], (8, 16, 3), (384, 8, 6))
    >>> found["ResNet"] == RESNET, found["ViT"] == VIT, found["CNN 8"].depth
    (True, True, 16)
    """
    expect.sizes(shape, "shape")
    if len(shape) != 3:
        raise ValueError(f"shape = {shape!r}; allowed: channels, height and width")
    expect.integer(patch, "patch", least=1)
    expect.integer(side, "side", least=1)
    expect.array(widths, "widths", "k", empty=True)
    expect.sizes(resnet, "resnet")
    expect.sizes(vit, "vit")
    if len(resnet) != 3 or len(vit) != 3:
        raise ValueError(f"resnet = {resnet!r}, vit = {vit!r}; allowed: three numbers each")
    (width, base, blocks), (dimension, depth, heads) = resnet, vit
    small = (shape[0], shape[1] // side, shape[2] // side)
    found: dict[str, Model] = {f"CNN {w}": CNN(width=w, input_shape=small) for w in widths}
    found["ResNet"] = ResNet20(width=width, base=base, blocks=blocks, init="torch", input_shape=small)
    if side > 1:
        found = {key: Averaged(model, side, shape) for key, model in found.items()}
    found["ViT"] = ViT(patch=patch, dimension=dimension, depth=depth, heads=heads, input_shape=shape)
    return found


def choose_images(dataset: str) -> tuple[str, str]:
    """A data set, or what stands in for it, and a sentence for the page: CIFAR-10, then MNIST, then digits.

    Examples
    --------
    >>> choose_images("digits")[0]
    'digits'
    """
    expect.one_of(dataset, "dataset", ("cifar10", "mnist", "digits"))
    order = ("cifar10", "mnist", "digits")
    return choose(order[order.index(dataset) :])


def variants(widths: Sequence[int], sigmas: Sequence[float]) -> dict[str, tuple[str, str, float]]:
    """The networks by name: architecture of :func:`networks`, kind of :func:`schemes` or nothing, and σ_F.

    Parameters
    ----------
    widths : sequence of int
        of CNNs.
    sigmas : sequence of float
        σ_F of W-ResNets beside 0 and 2.

    Returns
    -------
    dict
        name → (architecture, kind, σ_F).

    Examples
    --------
    >>> list(variants([8], [0.5]))  # doctest: +NORMALIZE_WHITESPACE
    ['CNN 8', 'ResNet', 'W-ResNet 0', 'W-ResNet 2', 'syre-ResNet 2', 'ViT', 'W-ViT 0', 'W-ViT 1', 'W-ResNet 0.5']
    """
    expect.array(widths, "widths", "k", empty=True)
    expect.array(sigmas, "sigmas", "k", empty=True)
    found = {f"CNN {width}": (f"CNN {width}", "", 0.0) for width in widths}
    found |= {"ResNet": ("ResNet", "", 0.0), "W-ResNet 0": ("ResNet", "w", 0.0), "W-ResNet 2": ("ResNet", "w", 2.0)}
    found |= {"syre-ResNet 2": ("ResNet", "syre", 2.0)}
    found |= {"ViT": ("ViT", "", 0.0), "W-ViT 0": ("ViT", "w", 0.0), "W-ViT 1": ("ViT", "w", 1.0)}
    return found | {f"W-ResNet {sigma:g}": ("ResNet", "w", float(sigma)) for sigma in sigmas if sigma not in (0, 2)}


def _swept(name: str) -> bool:
    """Whether a network is only one of the sweep over σ_F."""
    return name.startswith("W-ResNet") and name not in ("W-ResNet 0", "W-ResNet 2")


def runs(
    *,
    dataset: str,
    widths: Sequence[int],
    resnet: Sequence[int],
    vit: Sequence[int],
    images: int,
    epochs: Sequence[int],
    warm_up: int,
    pairs: int,
    sweep_pairs: int,
    sigmas: Sequence[float],
    side: int = 1,
    together: int = 1000,
    batch: int = 128,
    seed: int = 0,
) -> list[Run]:
    """The training runs of all networks.

    Parameters
    ----------
    dataset : str
        ``"cifar10"``, ``"mnist"`` or ``"digits"``; what cannot be had is replaced by the next one.
    widths, resnet, vit, side : sequences of int, and int
        as for :func:`networks`; digits are not averaged.
    images : int
        training images, at most those that there are.
    epochs : sequence of int
        of CNNs, ResNets and transformers; (not stated, 100, 200) in the papers.
    warm_up : int
        epochs of the warm-up of ResNets, 20 in the paper; 0 for a constant rate.
    pairs, sweep_pairs : int
        pairs of networks, and those of W-ResNets with other σ_F than 0 and 2.
    sigmas : sequence of float
        these σ_F.
    together : int
        most pairs of a run; large networks are trained pair by pair.
    batch : int
        128 in the paper for transformers, and in its published code for ResNets.
    seed : int
        of all.

    Returns
    -------
    list of Run
        in the order of :func:`variants`.

    Examples
    --------
    >>> some = runs(dataset="digits", widths=[2], resnet=[1, 2, 1], vit=[8, 1, 2], images=100, epochs=[1, 1, 1],
    ...             warm_up=0, pairs=2, sweep_pairs=2, sigmas=[0.5], seed=1)
    >>> len(some), some[0].title
    (9, '4 × CNN(width=2, 1-8-8) on digits (train90, 100 images), 1 epochs of adam at 0.005')
    """
    expect.array(widths, "widths", "k", empty=True)
    expect.array(sigmas, "sigmas", "k", empty=True)
    expect.integer(images, "images", least=1)
    expect.integer(pairs, "pairs", least=1)
    expect.integer(together, "together", least=1)
    expect.integer(sweep_pairs, "sweep_pairs", least=0)
    expect.sizes(epochs, "epochs", least=0)
    if len(epochs) != 3:
        raise ValueError(f"epochs = {epochs!r}; allowed: those of CNNs, ResNets and transformers")
    name, _ = choose_images(dataset)
    models = networks(SHAPES[name], PATCH[name], widths, resnet, vit, 1 if name == "digits" else side)
    data = DataSpec(name, SPLIT, min(images, DataSpec(name, SPLIT).size), seed)
    augment = ("flip", "crop") if name == "cifar10" else ()  # App. F.3
    schedule = "warm-up" if warm_up else "constant"
    rising = Descent(
        epochs[1], batch, "adamw", 1e-2, 0.0, 1e-2, "all", schedule, warm_up, 1e-4 * bool(warm_up), augment
    )
    descents = {
        "CNN": Descent(epochs[0], batch, "adam", 5e-3),
        "ResNet": rising,
        "ViT": Descent(epochs[2], batch, "adamw", 1e-3, weight_decay=1e-2, schedule="cosine", augment=augment),
    }
    drawn = numpy_generator(seed, "image networks").integers(0, 2**32, 2 * max(pairs, sweep_pairs)).tolist()
    masks = numpy_generator(seed, "masks of image networks").integers(0, 2**32, max(pairs, sweep_pairs)).tolist()
    found = []
    for key, (architecture, kind, sigma) in variants(widths, sigmas).items():
        model, P = models[architecture], sweep_pairs if _swept(key) else pairs
        plain = model.model if isinstance(model, Averaged) else model
        for first in range(0, P, together):
            last = min(first + together, P)
            found.append(
                Run(
                    model,
                    descents[architecture.split()[0]],
                    data,
                    tuple(drawn[2 * first : 2 * last]),
                    schemes(plain, kind, sigma) if kind else {},
                    tuple(masks[first:last]),
                )
            )
    return found


class Experiment:
    """All pairs, each trained and measured when it is first asked for.

    Parameters
    ----------
    places : int
        intervals of a line, even.
    seen : int
        training images on which units are matched and lines are followed.
    **settings
        of :func:`runs`.

    Attributes
    ----------
    runs : dict
        name → list of Run.
    lambdas : list of float
        places of a line.
    verified : bool
        whether the images are the published ones.

    Examples
    --------
    >>> some = Experiment(2, 50, dataset="digits", widths=[2], resnet=[1, 2, 1], vit=[8, 1, 2], images=100,
    ...                   epochs=[1, 1, 1], warm_up=0, pairs=2, sweep_pairs=2, sigmas=[], seed=1)
    >>> list(some.runs)
    ['CNN 2', 'ResNet', 'W-ResNet 0', 'W-ResNet 2', 'syre-ResNet 2', 'ViT', 'W-ViT 0', 'W-ViT 1']
    """

    def __init__(self, places: int, seen: int, **settings) -> None:
        if type(places) is not int or places < 2 or places % 2:
            raise ValueError(f"places = {places!r}; allowed: an even integer >= 2")
        every, pairs, swept = iter(runs(**settings)), settings["pairs"], settings["sweep_pairs"]
        self.runs = {
            name: [next(every) for _ in range(0, swept if _swept(name) else pairs, settings.get("together", 1000))]
            for name in variants(settings["widths"], settings["sigmas"])
        }
        self.lambdas = [k / places for k in range(places + 1)]
        data = next(iter(self.runs.values()))[0].data
        images = load(data.name, data.split, data.n, data.seed)
        self.name, self.verified, where = data.name, images.verified, device()
        self.x, self.y = images.inputs(device=where)[:seen], images.y[:seen].to(where)
        self._found: dict[str, Found] = {}
        self._lines: dict[str, dict[str, torch.Tensor]] = {}

    def accuracy(self, name: str) -> float:
        """Training accuracy in the last epoch, mean over networks."""
        expect.one_of(name, "name", self.runs)
        return torch.cat([run.result().accuracies[-1] for run in self.runs[name]]).mean().item()

    def _pairs(self, run: Run) -> tuple[Stack, Stack, torch.Tensor]:
        """Pairs of a run as ordinary networks, and the images as they see them."""
        a, b = (end.to(self.x) for end in ends(run.result()))
        if not isinstance(run.model, Averaged):
            return a, b, self.x
        small = run.model.model
        return Stack(small, a.params), Stack(small, b.params), run.model.averaged(self.x)

    def found(self, name: str) -> Found:
        """Objectives of activation matching and accuracies on the lines, as they are and matched, of all pairs."""
        expect.one_of(name, "name", self.runs)
        if name not in self._found:
            pairs = (self._pairs(run) for run in self.runs[name])
            self._found[name] = _joined([measure(a, b, x, self.y, self.lambdas) for a, b, x in pairs])
        return self._found[name]

    def losses(self, name: str) -> dict[str, torch.Tensor]:
        """NLL on the lines of CNNs, (P, places), by way: as they are, matched, and repaired.

        ``"direct"``; ``"permuted"`` by weight matching; ``"repaired"`` (P, 1), half-way between the permuted networks
        with the statistics of their units set right on a quarter of the images.
        """
        expect.one_of(name, "name", self.runs)
        if name not in self._lines:
            parts = []
            for run in self.runs[name]:
                a, b, x = self._pairs(run)
                near = b.permuted(weight_matching(a.params, b.params, a.model.symmetry()).permutations)
                ways = {"direct": b, "permuted": near}
                lines = {way: along_segments(a, c, x, self.y, self.lambdas) for way, c in ways.items()}
                lines["repaired"] = scores(repair(a, near, x[: max(2, len(x) // 4)]).stack, x, self.y)
                parts.append({way: line.loss.cpu() for way, line in lines.items()})
            self._lines[name] = {way: torch.cat([part[way] for part in parts]) for way in parts[0]}
        return self._lines[name]


def _joined(parts: Sequence[Found]) -> Found:
    """What was found for some pairs, together."""

    def of(field: str):
        values = [getattr(part, field) for part in parts]
        if isinstance(values[0], Mapping):
            return {key: torch.cat([value[key] for value in values]).cpu() for key in values[0]}
        return torch.cat(values).cpu()

    return Found(**{field.name: of(field.name) for field in fields(Found)})


def seconds_per_image(model: Model, images: int = 1) -> float:
    """Measured seconds of a core for one image, forwards and backwards, of one network, float32, on this machine.

    Parameters
    ----------
    model : Model
        of any size.
    images : int
        of the one batch that is timed, after a smaller one.

    Returns
    -------
    float
        seconds.

    Examples
    --------
    >>> seconds_per_image(CNN(width=2, input_shape=(1, 8, 8))) > 0
    True
    """
    if not isinstance(model, Model):
        raise ValueError(f"model is {type(model).__name__}; allowed: Model")
    expect.integer(images, "images", least=1)
    stack = model.initial([0])
    params = {name: value.requires_grad_() for name, value in stack.params.items()}
    for count in (1, images):
        started = time.process_time()
        model.forward(params, torch.ones(count, *model.input_shape)).logsumexp(dim=-1).sum().backward()
    return (time.process_time() - started) / images
