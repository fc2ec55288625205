"""Code of the chapter *image networks*."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from lmc_helpers._chapters.asymmetric_mlps import Measurement, ends, measure
from lmc_helpers._typing import Tensors
from lmc_helpers.alignment.repair import repair
from lmc_helpers.alignment.weight_matching import weight_matching
from lmc_helpers.data.images import choose, load
from lmc_helpers.device import device
from lmc_helpers.identifiability.asymmetric import Scheme, Syre, WAsymmetric
from lmc_helpers.networks.cnn import CNN
from lmc_helpers.networks.model import Fixed, Model, Record, Stack
from lmc_helpers.networks.permutations import Permutations, Symmetry
from lmc_helpers.networks.resnet import ResNet20
from lmc_helpers.networks.segments import along_segments, scores
from lmc_helpers.networks.vit import ViT
from lmc_helpers.seeds import numpy_generator
from lmc_helpers.training.recipes import Descent
from lmc_helpers.training.runs import DataSpec, Run

# ---------- head maps
#
# Linear maps inside an attention head that preserve its function and the fixed entries of its weights.
#
# A head uses its queries and keys only through their products, and its values only through the outputs. In one
# notation, U (h, d) makes h numbers and V (d', h) reads them,
#
# (U, V) ↦ (g U, V g⁻¹),      g in GL_h,
#
# with U = W_Q and V = W_Kᵀ, or U = W_V and V = W_O of one head, preserves V U and hence the function; biases of queries
# and values transform like U. In a W-asymmetric network (Bürgin et al., eq. (2) and App. G.4) some entries of U and V
# are fixed. The g = I + A that preserve them satisfy, to first order in A,
#
# (A U)_il = 0 at fixed entries of U,      (V A)_li = 0 at fixed entries of V.
#
# If these n equations are independent, n <= h², the g near I that preserve all fixed entries form a manifold of
# dimension exactly h² − n (implicit function theorem).


ITERATIONS, ROUNDING = 50, 1e-13


def equations(U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor) -> torch.Tensor:
    """The linear equations for A, (n, h²), with the entries of A row by row."""
    h = len(U)
    i, column = fixed_U.nonzero(as_tuple=True)
    row, j = fixed_V.nonzero(as_tuple=True)
    rows = U.new_zeros(len(i) + len(j), h, h)
    rows[torch.arange(len(i)), i] = U[:, column].mT  # Σ_k A_ik U_kl
    rows[len(i) + torch.arange(len(j)), :, j] = V[row]  # Σ_k V_lk A_kj
    return rows.flatten(1)


def preserving_map(
    U: torch.Tensor, V: torch.Tensor, fixed_U: torch.Tensor, fixed_V: torch.Tensor, towards: torch.Tensor
) -> torch.Tensor:
    """A g with (g U) = U and (V g⁻¹) = V at all fixed entries, at a finite distance from the identity."""
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
    """Parameters with the same function and fixed entries, moved by a :func:`preserving_map` in every head."""
    h = model.dimension // model.heads
    moved = {name: value.clone() for name, value in params.items()}

    def trained(name: str) -> torch.Tensor:
        return fixed[name][1] if name in fixed else torch.ones_like(params[name])

    for k in range(model.depth):
        names = {kind: f"{k}.{kind}.weight" for kind in ("query", "key", "value", "out")}
        W = {kind: moved[name][0] for kind, name in names.items()}  # (H, h, d), of outputs (d, H, h)
        frozen = {kind: trained(name)[0] == 0 for kind, name in names.items()}
        for head in range(model.heads):
            for up, V, frozen_V in (
                ("query", W["key"][head].mT, frozen["key"][head].mT),  # scores read W_Kᵀ W_Q
                ("value", W["out"][:, head], frozen["out"][:, head]),
            ):
                towards = torch.randn(h, h, generator=generator, dtype=torch.float64) * (size / h**0.5)
                g = preserving_map(W[up][head], V, frozen[up][head], frozen_V, towards)
                V.copy_(torch.linalg.solve(g, V, left=False))  # a view: the weight itself changes
                for part in (W[up][head], moved[f"{k}.{up}.bias"][0, head]):
                    part.copy_(g @ part)
    return moved


# ---------- kept permutations
#
# Permutations of hidden units that preserve an asymmetric architecture, by colour refinement.
#
# F and D of W_eff = F + D ⊙ W are parts of the architecture (Bürgin et al., eq. (2)). A permutation of hidden units
# preserves the function for every W if it maps F and D to themselves. *Colour refinement* bounds these permutations
# without trying them: all units of a group start with one colour; then two units get different colours if the multisets
# of the entries of F and D on their axes, each with the colours of the units on the entry's other axes, differ; and so
# on until no colour splits. A permutation that preserves F and D preserves every colour. If all units have different
# colours, the identity is the only such permutation. The converse is false: some structures have cells that no
# permutation moves.
#
# Colours are compared by sums of products of 64-bit words. Equal multisets have equal sums, so that no colour splits
# without reason.


def cells(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> dict[str, torch.Tensor]:
    """The stable partition of the units of each group."""
    edges = {name: _edges(F, D, values) for name, (F, D) in fixed.items()}
    colours = {group: np.zeros(m, dtype=np.int64) for group, m in symmetry.sizes.items()}
    owner = {(axis.name, axis.axis): group for group, axes in symmetry.groups.items() for axis in axes}
    while True:
        finer = {}
        for group, axes in symmetry.groups.items():
            signature = [colours[group]]
            for index_of_axis, place in enumerate(axes):
                name, axis = place.name, place.axis
                if name in edges:
                    index, words, shape = edges[name]
                    product = words.copy()
                    for other in range(len(shape)):
                        if other != axis:
                            label = _labels(name, other, shape[other], owner, colours)
                            product *= label[index[other]]
                    total = np.zeros(symmetry.sizes[group], dtype=np.uint64)
                    np.add.at(total, index[axis], product)
                    signature.append(total * _words(1, f"axis {index_of_axis}")[0])
            stacked = np.stack([part.astype(np.uint64) for part in signature])
            finer[group] = np.unique(stacked, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
        counts = [(len(np.unique(finer[g])), len(np.unique(colours[g]))) for g in finer]
        colours = finer
        if all(new == old for new, old in counts):
            return {group: torch.from_numpy(cell) for group, cell in colours.items()}


def shared(symmetry: Symmetry, fixed: Fixed, values: bool = True) -> int:
    """Number of units that share their cell of :func:`cells`; if 0, only the identity preserves F and D."""
    return sum(int((torch.bincount(cell)[cell] > 1).sum()) for cell in cells(symmetry, fixed, values).values())


def _edges(
    F: torch.Tensor, D: torch.Tensor, values: bool
) -> tuple[tuple[np.ndarray, ...], np.ndarray, tuple[int, ...]]:
    """Indices and words of the entries other than F = 0, D = 1 (an ordinary weight), and the shape."""
    f, d = (part[0].double().numpy() for part in (F if values else 0 * F, D))
    f, d = f + 0.0, d + 0.0  # −0 is the same as 0
    index = np.nonzero((f != 0) | (d != 1))
    bits = _mixed(f[index].view(np.uint64) + np.uint64(1)) + d[index].view(np.uint64)
    return index, _mixed(bits), f.shape


def _labels(name: str, axis: int, size: int, owner: dict, colours: dict[str, np.ndarray]) -> np.ndarray:
    """Words for the indices of an axis: of their colours if it belongs to a group, else of the indices."""
    group = owner.get((name, axis))
    if group is None:
        return _words(size, "index")
    return _words(size, f"colour of {group}")[colours[group]]


def _words(size: int, purpose: str) -> np.ndarray:
    """Odd random 64-bit words, the same for each purpose."""
    drawn = numpy_generator(0, f"words, {purpose}").integers(0, 2**64, size, dtype=np.uint64, endpoint=False)
    return drawn | np.uint64(1)


def _mixed(words: np.ndarray) -> np.ndarray:
    """A bijection of 64-bit words that scatters their bits (the finaliser of splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        words = (words ^ (words >> np.uint64(shift))) * np.uint64(factor)
    return words ^ (words >> np.uint64(31))


# ---------- averaged images
#
# Networks on images of lower resolution: means over squares of pixels, then any architecture.


@dataclass(frozen=True)
class Averaged(Model):
    """A model on images averaged over squares of pixels, with the parameters and the symmetry of that model."""

    model: Model  # of the small images
    side: int = 2  # of a square, in pixels; incomplete squares at the right and the bottom are cut off
    input_shape: tuple[int, ...] = (1, 28, 28)  # channels, height and width of a large image

    @property
    def classes(self) -> int:
        """Number of outputs."""
        return self.model.classes

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of ``model``."""
        return self.model.shapes()

    def maps(self) -> tuple[str, ...]:
        """Those of ``model``."""
        return self.model.maps()

    def map_shape(self, name: str) -> tuple[int, ...]:
        """That of ``model``."""
        return self.model.map_shape(name)

    def widest(self) -> int:
        """That of ``model``."""
        return self.model.widest()

    def draw(self, generator: torch.Generator) -> Tensors:
        """Initial values of ``model``."""
        return self.model.draw(generator)

    def symmetry(self) -> Symmetry:
        """That of ``model``."""
        return self.model.symmetry()

    def averaged(self, x: torch.Tensor) -> torch.Tensor:
        """Images (…, C, H, W) as means over squares."""
        return avg_pool2d(x.flatten(0, -4), self.side).unflatten(0, x.shape[:-3])

    def _outputs(
        self, params: Tensors, x: torch.Tensor, record: Record | None = None, training: bool = False
    ) -> torch.Tensor:
        """Outputs on the averaged images."""
        return self.model._outputs(params, self.averaged(x), record, training)


# ---------- image networks
#
# Pairs of CNNs, ResNets and transformers on images, and the lines between them.
#
# Three experiments, at any size: plain CNNs of depth 16 at several widths (Zhan et al., Fig. 15, B.5);
# ResNet20s, W-ResNets and syre-ResNets (Bürgin et al., section 6, Figs. 3b, 4b, 4d and 9, F.2); transformers and
# W-transformers (G.4, Fig. 20). Networks 2p and 2p + 1 are pair p and share F and D; pairs have different ones. The
# numbers of fixed entries are for each row, as in the published code.


SPLIT = "train90"  # the training images of the published code, on which lines are evaluated
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
    """Number of fixed entries in each row of the maps, at the printed share of the inputs."""
    printed: Model = replace(VIT, depth=model.depth) if isinstance(model, ViT) else replace(RESNET, blocks=model.blocks)
    counts = {}
    for name in model.maps():
        count = 8 if isinstance(model, ViT) else table_3(name)
        inputs, printed_inputs = (math.prod(net.map_shape(name)[1:]) for net in (model, printed))
        counts[name] = min(max(1, round(count * inputs / printed_inputs)), inputs)
    return counts


def schemes(model: Model, kind: str, sigma: float) -> dict[str, Scheme]:
    """Name of a map → scheme that draws its F and D."""
    if kind == "syre":
        return dict.fromkeys(model.maps(), Syre(sigma, 0.0))
    return {name: WAsymmetric(fixed, sigma) for name, fixed in entries(cast("ResNet20 | ViT", model)).items()}


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
        runs: dict[str, list[Run]] = {}
        for key, (architecture, kind, sigma) in variants(self.widths, self.sigmas).items():
            model = models[architecture]
            swept = kind == "w" and architecture == "ResNet" and sigma not in (0, 2)
            P = self.sweep_pairs if swept else self.pairs
            scheme = schemes(model.model if isinstance(model, Averaged) else model, kind, sigma) if kind else {}
            descent = descents[architecture.split()[0]]
            parts = [slice(first, min(first + self.together, P)) for first in range(0, P, self.together)]
            seeds = [tuple(drawn[2 * part.start : 2 * part.stop]) for part in parts]
            runs[key] = [
                Run(model, descent, data, networks, scheme, tuple(masks[part]))
                for networks, part in zip(seeds, parts, strict=True)
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
        self._measured: dict[str, Measurement] = {}
        self._lines: dict[str, dict[str, torch.Tensor]] = {}

    def accuracy(self, name: str) -> float:
        """Training accuracy in the last epoch, mean over networks."""
        return torch.cat([run.result().accuracies[-1] for run in self.runs[name]]).mean().item()

    def _pairs(self, run: Run) -> tuple[Stack, Stack, torch.Tensor]:
        """Pairs of a run as ordinary networks, and their inputs."""
        a, b = (end.to(self.x) for end in ends(run.result()))
        if not isinstance(run.model, Averaged):
            return a, b, self.x
        small = run.model.model
        return Stack(small, a.params), Stack(small, b.params), run.model.averaged(self.x)

    def measured(self, name: str) -> Measurement:
        """Objectives of activation matching and accuracies on the lines, unmatched and matched, of all pairs."""
        if name not in self._measured:
            pairs = (self._pairs(run) for run in self.runs[name])
            self._measured[name] = _joined([measure(a, b, x, self.y, self.lambdas) for a, b, x in pairs])
        return self._measured[name]

    def losses(self, name: str) -> dict[str, torch.Tensor]:
        """NLL on the lines of CNNs: direct, permuted or repaired → (P, number of λ)."""
        if name not in self._lines:
            parts = []
            for run in self.runs[name]:
                a, b, x = self._pairs(run)
                near = b.permuted(weight_matching(a.params, b.params, a.model.symmetry()).permutations)
                others = {"direct": b, "permuted": near}
                lines = {key: along_segments(a, end, x, self.y, self.lambdas) for key, end in others.items()}
                lines["repaired"] = scores(repair(a, near, x[: max(2, len(x) // 4)]).stack, x, self.y)
                parts.append({key: line.loss.cpu() for key, line in lines.items()})
            self._lines[name] = {key: torch.cat([part[key] for part in parts]) for key in parts[0]}
        return self._lines[name]


def _joined(parts: Sequence[Measurement]) -> Measurement:
    """Measurements of several sets of pairs as one."""

    def of(field: str):
        values = [getattr(part, field) for part in parts]
        if isinstance(values[0], Mapping):
            return {key: torch.cat([value[key] for value in values]).cpu() for key in values[0]}
        return torch.cat(values).cpu()

    return Measurement(**{field.name: of(field.name) for field in fields(Measurement)})


def seconds_per_image(model: Model, images: int = 1) -> float:
    """Measured seconds of one core for a forward and backward pass of one network on one image, float32."""
    stack = model.initial([0])
    params = {name: value.requires_grad_() for name, value in stack.params.items()}
    for count in (1, images):
        started = time.process_time()
        model.forward(params, torch.ones(count, *model.input_shape)).logsumexp(dim=-1).sum().backward()
    return (time.process_time() - started) / images


def inverse(permutations: Permutations) -> dict[str, Tensor]:
    """The permutations that undo others, q_{p_i} = i."""
    return {group: p.argsort(dim=-1) for group, p in permutations.items()}
