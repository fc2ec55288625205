"""What chapter *image networks* computes and no other part of the package needs."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import cast

import numpy as np
import torch
from torch.nn.functional import avg_pool2d

from lmc_helpers._chapters.asymmetric_mlps import Found, ends, measure
from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.repair import repair
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import choose, load
from lmc_helpers.device import device
from lmc_helpers.identifiability.asymmetric import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.model import Fixed, Model, Record, Stack
from lmc_helpers.networks.permutations import Symmetry
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.networks.vit import ViT
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

# ---------- head maps
#
# Linear maps inside an attention head that keep its function and fixed entries of its weights.
#
# A head sees its queries and keys only through their products, and its values only through the outputs. In one
# notation,
# U (h, d) makes h numbers and V (d', h) reads them,
#
# (U, V) ↦ (g U, V g⁻¹),      g in GL_h,
#
# with U = W_Q and V = W_Kᵀ, or U = W_V and V = W_O of one head, leaves V U and with it the function as it is; biases
# of
# queries and values go with U. In a W-asymmetric network (Bürgin et al., eq. (2) and App. G.4) some entries of U and
# V
# are fixed. Those g that keep them satisfy at g = I + A, to first order in A,
#
# (A U)_il = 0 at fixed entries of U,      (V A)_li = 0 at fixed entries of V.
#
# If these n equations are independent, n <= h², the g near I that keep all fixed entries are a manifold of dimension
# h² − n exactly (implicit function theorem).


ITERATIONS, ROUNDING = 50, 1e-13


def equations(U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor) -> torch.Tensor:
    """The linear equations for A, one row each; its h² entries are taken row by row."""
    h = len(U)
    if V.shape[-1] != h or fixed_U.shape != U.shape or fixed_V.shape != V.shape:
        shapes = [tuple(part.shape) for part in (U, V, fixed_U, fixed_V)]
        raise ValueError(f"U, V and their masks have shapes {shapes}; allowed: (h, d), (d', h), and those again")
    i, column = fixed_U.nonzero(as_tuple=True)
    row, j = fixed_V.nonzero(as_tuple=True)
    found = U.new_zeros(len(i) + len(j), h, h)
    found[torch.arange(len(i)), i] = U[:, column].mT  # Σ_k A_ik U_kl
    found[len(i) + torch.arange(len(j)), :, j] = V[row]  # Σ_k V_lk A_kj
    return found.flatten(1)


def kept_map(
    U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor, towards: torch.Tensor
) -> torch.Tensor:
    """A map g with (g U) = U and (V g⁻¹) = V at all fixed entries, at a finite distance from the identity."""
    h, size = len(U), U.abs().max() + V.abs().max()
    A = equations(U, V, fixed_U, fixed_V)
    g = torch.linalg.matrix_exp(towards - (torch.linalg.pinv(A) @ (A @ towards.flatten())).view(h, h))
    for _ in range(ITERATIONS):
        gU, Vg = g @ U, torch.linalg.solve(g, V, left=False)
        off = torch.cat([(gU - U)[fixed_U], (V - Vg)[fixed_V]])
        if not off.numel() or off.abs().max() <= ROUNDING * size:
            return g
        step = torch.linalg.lstsq(equations(gU, Vg, fixed_U, fixed_V), -off[:, None], driver="gelsd").solution
        step = step.view(h, h) * min(1.0, 0.5 / step.norm().item())
        g = torch.linalg.matrix_exp(step) @ g
    raise ValueError(
        f"fixed entries are off by {off.abs().max():.1e} after {ITERATIONS} steps; allowed: smaller distances, or "
        "fewer fixed entries"
    )


def move_heads(model: ViT, params: Tensors, fixed: Fixed, size: float, generator: torch.Generator) -> Tensors:
    """Another member of the family with the same function and fixed entries: a kept map in every head."""
    h = model.dimension // model.heads
    moved = {name: value.clone() for name, value in params.items()}

    def trained(name: str) -> torch.Tensor:
        return fixed[name][1] if name in fixed else torch.ones_like(params[name])

    for k in range(model.depth):
        names = {kind: f"{k}.{kind}.weight" for kind in ("query", "key", "value", "out")}
        W = {kind: moved[name][0] for kind, name in names.items()}  # (H, h, d), of outputs (d, H, h)
        held = {kind: trained(name)[0] == 0 for kind, name in names.items()}
        for head in range(model.heads):
            for up, V, held_V in (
                ("query", W["key"][head].mT, held["key"][head].mT),  # scores read W_Kᵀ W_Q
                ("value", W["out"][:, head], held["out"][:, head]),
            ):
                towards = torch.randn(h, h, generator=generator, dtype=torch.float64) * (size / h**0.5)
                g = kept_map(W[up][head], V, held[up][head], held_V, towards)
                V.copy_(torch.linalg.solve(g, V, left=False))  # a view: the weight itself changes
                for part in (W[up][head], moved[f"{k}.{up}.bias"][0, head]):
                    part.copy_(g @ part)
    return moved


# ---------- kept permutations
#
# Which permutations of hidden units an asymmetric architecture keeps, by colour refinement.
#
# F and D of W_eff = F + D ⊙ W are parts of the architecture (Bürgin et al., eq. (2)). A permutation of hidden units,
# applied to W, leaves the function for every W as soon as it maps F and D onto themselves. *Colour refinement* bounds
# these permutations without trying them: all units of a group start with one colour; then a unit is told apart from
# another if the entries of F and D on its axes, each with the colours of the units on the entry's other axes, are
# different collections; and so on until no colour splits. A permutation that keeps F and D keeps every colour. If all
# units of all groups have colours of their own, the identity is the only one: that is a proof. If not, nothing is
# proven,
# for some structures have cells that no permutation moves.
#
# Colours are compared by sums of products of 64-bit words. Equal collections have equal sums, so that units are never
# told apart without reason.


def cells(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> dict[str, torch.Tensor]:
    """The stable partition of the units of each group."""
    edges = {name: _edges(F, D, values) for name, (F, D) in fixed.items()}
    colours = {group: np.zeros(m, dtype=np.int64) for group, m in symmetry.sizes.items()}
    owner = {(axis.name, axis.axis): group for group, axes in symmetry.groups.items() for axis in axes}
    while True:
        finer = {}
        for group, axes in symmetry.groups.items():
            seen = [colours[group]]
            for place, (name, axis) in enumerate(axes):
                if name in edges:
                    index, words, shape = edges[name]
                    product = words.copy()
                    for other in range(len(shape)):
                        if other != axis:
                            label = _labels(name, other, shape[other], owner, colours)
                            product *= label[index[other]]
                    total = np.zeros(symmetry.sizes[group], dtype=np.uint64)
                    np.add.at(total, index[axis], product)
                    seen.append(total * _words(1, f"axis {place}")[0])
            finer[group] = np.unique(np.stack([part.astype(np.uint64) for part in seen]), axis=1, return_inverse=True)[
                1
            ]
        counts = [(len(np.unique(finer[g])), len(np.unique(colours[g]))) for g in finer]
        colours = {group: found.reshape(-1).astype(np.int64) for group, found in finer.items()}
        if all(new == old for new, old in counts):
            return {group: torch.from_numpy(found) for group, found in colours.items()}


def shared(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> int:
    """How many units share their cell of :func:`cells` with another; 0 if the identity alone keeps F and D."""
    found = cells(symmetry, fixed, values)
    return sum(int((torch.bincount(cell)[cell] > 1).sum()) for cell in found.values())


def _edges(
    F: torch.Tensor, D: torch.Tensor, values: bool
) -> tuple[tuple[np.ndarray, ...], np.ndarray, tuple[int, ...]]:
    """Entries that are not those of an ordinary weight (F = 0, D = 1): their indices, their words, and the shape."""
    f, d = (part[0].double().numpy() for part in (F if values else 0 * F, D))
    f, d = f + 0.0, d + 0.0  # −0 is the same as 0
    index = np.nonzero((f != 0) | (d != 1))
    bits = _mixed(f[index].view(np.uint64) + np.uint64(1)) + d[index].view(np.uint64)
    return index, _mixed(bits), f.shape


def _labels(name: str, axis: int, size: int, owner: dict, colours: dict[str, np.ndarray]) -> np.ndarray:
    """Words of the indices of an axis: of their colours if it belongs to a group, else of the indices themselves."""
    group = owner.get((name, axis))
    if group is None:
        return _words(size, "index")
    return _words(size, f"colour of {group}")[colours[group]]


def _words(size: int, purpose: str) -> np.ndarray:
    """Odd random 64-bit words."""
    drawn = numpy_generator(0, f"words, {purpose}").integers(0, 2**64, size, dtype=np.uint64, endpoint=False)
    return drawn | np.uint64(1)


def _mixed(words: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit words that scatters their bits (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


# ---------- averaged images
#
# Networks that see images at a lower resolution: means over squares of pixels, then any architecture.


@dataclass(frozen=True)
class Averaged(Model):
    """A model of images that are averaged over squares of pixels first; parameters and symmetry are those of the
    model."""

    model: Model  # of the small images
    side: int = 2  # of a square, in pixels; what is left over at the right and at the bottom is cut off
    input_shape: tuple[int, ...] = (1, 28, 28)  # channels, height and width of a large image

    def __post_init__(self) -> None:
        _C, _H, _W = self.input_shape

    @property
    def classes(self) -> int:
        """Number of outputs."""
        return self.model.classes

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of the model."""
        return self.model.shapes()

    def maps(self) -> tuple[str, ...]:
        """Those of the model."""
        return self.model.maps()

    def map_shape(self, name: str) -> tuple[int, ...]:
        """That of the model."""
        return self.model.map_shape(name)

    def widest(self) -> int:
        """That of the model."""
        return self.model.widest()

    def draw(self, generator: torch.Generator) -> Tensors:
        """Initial values of the model."""
        return self.model.draw(generator)

    def symmetry(self) -> Symmetry:
        """That of the model."""
        return self.model.symmetry()

    def averaged(self, x: torch.Tensor) -> torch.Tensor:
        """Images (…, C, H, W) as means over squares."""
        return avg_pool2d(x.flatten(0, -4), self.side).unflatten(0, x.shape[:-3])

    def _outputs(
        self, params: Tensors, x: torch.Tensor, record: Record | None = None, training: bool = False
    ) -> torch.Tensor:
        """Outputs of the model on the averaged images."""
        return self.model._outputs(params, self.averaged(x), record, training)


# ---------- image networks
#
# Pairs of CNNs, ResNets and transformers on images, and the lines between them.
#
# Three experiments of the papers, at any size: plain CNNs of depth 16 at several widths (Zhan et al., Fig. 15, B.5);
# ResNet20s, W-ResNets and syre-ResNets (Bürgin et al., section 6, Figs. 3b, 4b, 4d and 9, F.2); transformers and
# W-transformers (G.4, Fig. 20). Pair p has networks 2p and 2p + 1, which share F and D; every pair has its own. Fixed
# entries are counted in rows, as in the published code.


SPLIT = "train90"  # the training images of the published code; lines are followed on these
SHAPES = {"digits": (1, 8, 8), "mnist": (1, 28, 28), "cifar10": (3, 32, 32)}
PATCH = {"digits": 2, "mnist": 7, "cifar10": 4}  # 4 in G.4

#: The networks of the paper: App. F.2 and G.4.
RESNET, VIT = ResNet20(width=8, init="torch"), ViT()


def table_3(name: str) -> int:
    """Fixed entries of a map of :data:`RESNET`, Table 3."""
    group = name.split(".")[0]
    if "shortcut" in name:
        return {"2": 18, "3": 24}[group]
    return {"stem": 12, "1": 108, "2": 162, "3": 216, "head": 24}[group]


def entries(model: ResNet20 | ViT) -> dict[str, int]:
    """Fixed entries of each row of the maps of a ResNet20 or a ViT."""
    printed: Model = replace(VIT, depth=model.depth) if isinstance(model, ViT) else replace(RESNET, blocks=model.blocks)
    found = {}
    for name in model.maps():
        count = 8 if isinstance(model, ViT) else table_3(name)
        here, there = (math.prod(one.map_shape(name)[1:]) for one in (model, printed))
        found[name] = min(max(1, round(count * here / there)), here)
    return found


def schemes(model: Model, kind: str, sigma: float) -> dict[str, Scheme]:
    """Name of a map → what draws its F and D."""
    if kind == "syre":
        return dict.fromkeys(model.maps(), Syre(sigma, 0.0))
    return {name: WAsymmetric(fixed, sigma) for name, fixed in entries(cast("ResNet20 | ViT", model)).items()}


def networks(
    shape: tuple[int, ...], patch: int, widths: Sequence[int], resnet: Sequence[int], vit: Sequence[int], side: int = 1
) -> dict[str, Model]:
    """The architectures: ``"CNN w"`` for each width, ``"ResNet"`` and ``"ViT"``."""
    (width, base, blocks), (dimension, depth, heads) = resnet, vit
    small = (shape[0], shape[1] // side, shape[2] // side)
    found: dict[str, Model] = {f"CNN {w}": CNN(width=w, input_shape=small) for w in widths}
    found["ResNet"] = ResNet20(width=width, base=base, blocks=blocks, init="torch", input_shape=small)
    if side > 1:
        found = {key: Averaged(model, side, shape) for key, model in found.items()}
    found["ViT"] = ViT(patch=patch, dimension=dimension, depth=depth, heads=heads, input_shape=shape)
    return found


def choose_images(dataset: str) -> tuple[str, str]:
    """A data set, or what stands in for it, and a sentence for the page: CIFAR-10, then MNIST, then digits."""
    order = ("cifar10", "mnist", "digits")
    return choose(order[order.index(dataset) :])


def variants(widths: Sequence[int], sigmas: Sequence[float]) -> dict[str, tuple[str, str, float]]:
    """The networks by name: architecture of :func:`networks`, kind of :func:`schemes` or nothing, and σ_F."""
    found = {f"CNN {width}": (f"CNN {width}", "", 0.0) for width in widths}
    found |= {"ResNet": ("ResNet", "", 0.0), "W-ResNet 0": ("ResNet", "w", 0.0), "W-ResNet 2": ("ResNet", "w", 2.0)}
    found |= {"syre-ResNet 2": ("ResNet", "syre", 2.0)}
    found |= {"ViT": ("ViT", "", 0.0), "W-ViT 0": ("ViT", "w", 0.0), "W-ViT 1": ("ViT", "w", 1.0)}
    return found | {f"W-ResNet {sigma:g}": ("ResNet", "w", float(sigma)) for sigma in sigmas if sigma not in (0, 2)}


def _swept(name: str) -> bool:
    """Whether a network is only one of the sweep over σ_F."""
    return name.startswith("W-ResNet") and name not in ("W-ResNet 0", "W-ResNet 2")


@dataclass(frozen=True)
class Parameters:
    """What the networks depend on, by the names that the chapter's parameters have."""

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
        models = networks(SHAPES[name], PATCH[name], self.widths, self.resnet, self.vit, side)
        data = DataSpec(name, SPLIT, min(self.images, DataSpec(name, SPLIT).size), self.seed)
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
        drawn = numpy_generator(self.seed, "image networks").integers(0, 2**32, 2 * most).tolist()
        masks = numpy_generator(self.seed, "masks of image networks").integers(0, 2**32, most).tolist()
        found: dict[str, list[Run]] = {}
        for key, (architecture, kind, sigma) in variants(self.widths, self.sigmas).items():
            model, P = models[architecture], self.sweep_pairs if _swept(key) else self.pairs
            scheme = schemes(model.model if isinstance(model, Averaged) else model, kind, sigma) if kind else {}
            descent = descents[architecture.split()[0]]
            parts = [slice(first, min(first + self.together, P)) for first in range(0, P, self.together)]
            seeds = [tuple(drawn[2 * part.start : 2 * part.stop]) for part in parts]
            found[key] = [
                Run(model, descent, data, own, scheme, tuple(masks[part]))
                for own, part in zip(seeds, parts, strict=True)
            ]
        return found

    def runs(self) -> list[Run]:
        """All of them."""
        return [run for some in self.by_name().values() for run in some]


class Experiment:
    """All pairs, each trained and measured when it is first asked for."""

    def __init__(self, settings: Parameters, places: int, seen: int) -> None:
        self.runs = settings.by_name()
        self.lambdas = [k / places for k in range(places + 1)]
        data = next(iter(self.runs.values()))[0].data
        images = load(data.name, data.split, data.n, data.seed)
        self.name, self.verified, where = data.name, images.verified, device()
        self.x, self.y = images.inputs(device=where)[:seen], images.y[:seen].to(where)
        self._found: dict[str, Found] = {}
        self._lines: dict[str, dict[str, torch.Tensor]] = {}

    def accuracy(self, name: str) -> float:
        """Training accuracy in the last epoch, mean over networks."""
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
        if name not in self._found:
            pairs = (self._pairs(run) for run in self.runs[name])
            self._found[name] = _joined([measure(a, b, x, self.y, self.lambdas) for a, b, x in pairs])
        return self._found[name]

    def losses(self, name: str) -> dict[str, torch.Tensor]:
        """NLL on the lines of CNNs, (P, places), by way: as they are, matched, and repaired."""
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
    """Measured seconds of a core for one image, forwards and backwards, of one network, float32, on this machine."""
    stack = model.initial([0])
    params = {name: value.requires_grad_() for name, value in stack.params.items()}
    for count in (1, images):
        started = time.process_time()
        model.forward(params, torch.ones(count, *model.input_shape)).logsumexp(dim=-1).sum().backward()
    return (time.process_time() - started) / images
