"""Pairs of CNNs, ResNets and transformers on images, for the chapter *image networks*.

Plain CNNs of depth 16 at several widths (Zhan et al., Fig. 15, B.5); ResNet20s, W-ResNets and syre-ResNets (Bürgin et
al., section 6, Figs. 3b, 4b, 4d and 9, F.2); transformers and W-transformers (G.4, Fig. 20). Networks 2p and 2p + 1 are
pair p and share F and D; pairs have different ones. Numbers of fixed entries are for each row, as in the published
code.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import torch
from torch import nn

from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.pairs import Measurement, ends, measure
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import choose, load
from lmc_helpers.device import device
from lmc_helpers.identifiability.printed_networks import SPLIT, schemes
from lmc_helpers.modules.repair import repair_stacks
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.model import Model
from lmc_helpers.networks.permutations import Symmetry
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.networks.vit import ViT
from lmc_helpers.seeds import drawn_seeds
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run


@dataclass(frozen=True)
class Averaged(Model):
    """A model on images averaged over squares of pixels, with the parameters and the symmetry of that model."""

    model: Model  # of the small images
    side: int = 2  # of a square, in pixels; incomplete squares at the right and the bottom are cut off
    input_shape: tuple[int, ...] = (1, 28, 28)  # channels, height and width of a large image

    @property
    def classes(self) -> int:
        return self.model.classes

    def module(self) -> nn.Module:
        """Means of squares, then that of ``model``."""
        return nn.Sequential(OrderedDict(_means=nn.AvgPool2d(self.side), _model=self.model.module()))

    def units(self) -> dict[str, tuple[str, ...]]:
        return {group: tuple(f"_model.{part}" for part in parts) for group, parts in self.model.units().items()}

    def widest(self) -> int:
        return self.model.widest()

    def draw(self, generator: torch.Generator) -> Tensors:
        return self.model.draw(generator)

    def symmetry(self) -> Symmetry:
        return self.model.symmetry()


PATCH = {"digits": 2, "mnist": 7, "cifar10": 4}  # 4 in G.4


def networks(
    shape: tuple[int, ...], patch: int, widths: Sequence[int], resnet: Sequence[int], vit: Sequence[int], side: int = 1
) -> dict[str, Model]:
    """The architectures: ``"CNN w"`` for each width, ``"ResNet"`` and ``"ViT"``."""
    (width, base, blocks), (dimension, depth, heads) = resnet, vit
    small = (shape[0], shape[1] // side, shape[2] // side)
    models: dict[str, Model] = {f"CNN {w}": CNN(width=w, input_shape=small) for w in widths}
    models["ResNet"] = ResNet20(width=width, base=base, blocks=blocks, init="torch", input_shape=small)
    if side > 1:
        models = {key: Averaged(model, side, shape) for key, model in models.items()}
    models["ViT"] = ViT(patch=patch, dimension=dimension, depth=depth, heads=heads, input_shape=shape)
    return models


def choose_images(dataset: str) -> tuple[str, str]:
    """A data set or its substitute, and a sentence for the page; CIFAR-10, then MNIST, then digits."""
    order = ("cifar10", "mnist", "digits")
    return choose(order[order.index(dataset) :])


def variants(widths: Sequence[int], sigmas: Sequence[float]) -> dict[str, tuple[str, str, float]]:
    """Networks by name: architecture of :func:`networks`, kind of :func:`schemes` or "", and σ_F."""
    by_name = {f"CNN {width}": (f"CNN {width}", "", 0.0) for width in widths}
    by_name |= {"ResNet": ("ResNet", "", 0.0), "W-ResNet 0": ("ResNet", "w", 0.0), "W-ResNet 2": ("ResNet", "w", 2.0)}
    by_name |= {"syre-ResNet 2": ("ResNet", "syre", 2.0)}
    by_name |= {"ViT": ("ViT", "", 0.0), "W-ViT 0": ("ViT", "w", 0.0), "W-ViT 1": ("ViT", "w", 1.0)}
    return by_name | {f"W-ResNet {sigma:g}": ("ResNet", "w", float(sigma)) for sigma in sigmas if sigma not in (0, 2)}


@dataclass(frozen=True)
class Parameters:
    """The parameters of the chapter on which the networks depend."""

    dataset: str
    widths: Sequence[int]
    resnet: Sequence[int]
    vit: Sequence[int]
    side: int
    images: int
    epochs: Sequence[int]
    warm_up: int
    batch: int
    pairs: int
    sweep_pairs: int
    sigmas: Sequence[float]
    together: int
    seed: int

    def by_name(self) -> dict[str, list[Run]]:
        """The training runs of each of :func:`variants`."""
        name, _ = choose_images(self.dataset)
        side = 1 if name == "digits" else self.side
        every = DataSpec(name, SPLIT)
        models = networks(every.shape, PATCH[name], self.widths, self.resnet, self.vit, side)
        data = replace(every, n=min(self.images, every.size), seed=self.seed)
        augment = ("flip", "crop") if name == "cifar10" else ()  # App. F.3
        adamw = Descent(self.epochs[2], self.batch, "adamw", 1e-3, weight_decay=1e-2, augment=augment)
        flat = replace(adamw, epochs=self.epochs[1], rate=1e-2)
        rising = replace(flat, schedule="warm-up", warm_up=self.warm_up, start_rate=1e-4) if self.warm_up else flat
        descents = {
            "CNN": Descent(self.epochs[0], self.batch, "adam", 5e-3),
            "ResNet": rising,
            "ViT": replace(adamw, schedule="cosine"),
        }
        most = max(self.pairs, self.sweep_pairs)
        drawn = drawn_seeds(self.seed, "image networks", 2 * most)
        masks = drawn_seeds(self.seed, "masks of image networks", most)
        runs: dict[str, list[Run]] = {}
        for key, (architecture, kind, sigma) in variants(self.widths, self.sigmas).items():
            model = models[architecture]
            swept = kind == "w" and architecture == "ResNet" and sigma not in (0, 2)
            P = self.sweep_pairs if swept else self.pairs
            scheme = schemes(model.model if isinstance(model, Averaged) else model, kind, sigma) if kind else {}
            descent = descents[architecture.split()[0]]
            parts = [slice(first, min(first + self.together, P)) for first in range(0, P, self.together)]
            runs[key] = [
                Run(model, descent, data, drawn[2 * part.start : 2 * part.stop], scheme, masks[part]) for part in parts
            ]
        return runs

    def runs(self) -> list[Run]:
        """All training runs."""
        return [run for runs in self.by_name().values() for run in runs]


class Experiment:
    """All pairs, each trained and measured on first use."""

    def __init__(self, settings: Parameters, intervals: int, n_images: int) -> None:
        self.runs = settings.by_name()
        self.lambdas = [k / intervals for k in range(intervals + 1)]
        data = next(iter(self.runs.values()))[0].data
        images = load(data.name, data.split, data.n, data.seed)
        self.source, where = images.source, device()
        self.x, self.y = images.inputs(device=where)[:n_images], images.y[:n_images].to(where)

    def accuracy(self, name: str) -> float:
        """Training accuracy in the last epoch, mean over networks."""
        return torch.cat([run.result().accuracies[-1] for run in self.runs[name]]).mean().item()

    @cache  # noqa: B019
    def measured(self, name: str) -> Measurement:
        """Objectives of activation matching and accuracies on the lines, unmatched and matched, of all pairs."""
        pairs = [[end.to(self.x) for end in ends(run.result())] for run in self.runs[name]]
        return Measurement.joined([measure(a, b, self.x, self.y, self.lambdas) for a, b in pairs])

    @cache  # noqa: B019
    def losses(self, name: str) -> dict[str, torch.Tensor]:
        """NLL on the lines of CNNs: direct, permuted or repaired → (P, number of λ)."""
        parts, x, seen = [], self.x, max(2, len(self.x) // 4)
        for run in self.runs[name]:
            a, b = (end.to(self.x) for end in ends(run.result()))
            near = b.permuted(weight_matching(a.params, b.params, a.model.symmetry()).permutations)
            others = {"direct": b, "permuted": near}
            lines = {key: along_segments(a, end, x, self.y, self.lambdas) for key, end in others.items()}
            lines["repaired"] = scores(repair_stacks(a, near, (x[:seen], self.y[:seen]))[0], x, self.y)
            parts.append({key: line.loss.cpu() for key, line in lines.items()})
        return {key: torch.cat([part[key] for part in parts]) for key in parts[0]}
