"""A reader's networks or the chapter's own, and measurements of a pair, for the chapter *your networks*."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_map

import lmc_helpers as lmc
from lmc_helpers.barrier import GRID
from lmc_helpers.chapter import ParameterError
from lmc_helpers.data.digits import digits
from lmc_helpers.error_bars import mean_and_error, ratio_of_means
from lmc_helpers.identifiability import least_norm_weight
from lmc_helpers.modules import checkpoints
from lmc_helpers.modules.symmetry import outputs_in_double
from lmc_helpers.networks.permutations import permute, units_of
from lmc_helpers.seeds import torch_generator

Data = tuple[Any, Any]  # inputs, a tensor, several or by their names, and targets
Pair = tuple[nn.Module, nn.Module]
MOST = 2_000_000  # parameters of a network in which units meet


def mlp(width: int = 48) -> nn.Module:
    """The chapter's own network: three layers on the digits."""
    return nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))


class Residual(nn.Module):
    """Two convolutions beside a skip connection, with batch norm."""

    def __init__(self, channels: int):
        super().__init__()
        self.inner = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.outer = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.last = nn.BatchNorm2d(channels)

    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x + self.last(self.outer(torch.relu(self.norm(self.inner(x))))))


def cnn(channels: int = 12) -> nn.Module:
    """A small residual network with batch norm."""
    return nn.Sequential(
        *(nn.Unflatten(1, (1, 8, 8)), nn.Conv2d(1, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels)),
        *(nn.ReLU(), Residual(channels), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16 * channels, 10)),
    )


def transformer(width: int = 24) -> nn.Module:
    """PyTorch's own encoder layer on the eight rows of an image."""
    layer = nn.TransformerEncoderLayer(width, 3, 2 * width, dropout=0.0, batch_first=True)
    return nn.Sequential(*(nn.Unflatten(1, (8, 8)), nn.Linear(8, width), layer, nn.Flatten(), nn.Linear(8 * width, 10)))


#: Name → factory, the networks of the chapter.
FACTORIES: dict[str, Callable[[], nn.Module]] = {"MLP": mlp, "residual CNN": cnn, "transformer": transformer}


def trained(make: Callable[[], nn.Module], x: Tensor, y: Tensor, epochs: int, seed: int) -> nn.Module:
    """A network trained by Adam in plain PyTorch, on batches of 64; the global random numbers stay as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        net = make().to(x.dtype)
    generator = torch_generator(seed, "order of the images")
    adam = torch.optim.Adam(net.parameters(), lr=3e-3)
    for _ in range(epochs):
        for chosen in torch.randperm(len(x), generator=generator).split(64):
            adam.zero_grad()
            nn.functional.cross_entropy(net(x[chosen]), y[chosen]).backward()
            adam.step()
    return net.eval()


@dataclass(frozen=True)
class Given:
    """The chapter's pairs of networks by their architecture, a loss, examples, and groups by hand."""

    networks: dict[str, list[Pair]]
    loss: Callable
    seen: Data  # half of the examples, for matching and statistics
    unseen: Data  # the other half, for losses
    groups: lmc.Symmetry | None

    def symmetry(self, net: nn.Module) -> lmc.Symmetry:
        """The groups of a network."""
        return self.groups or lmc.symmetry(net, few(self.seen[0], 2))


def few(x: Any, most: int) -> Any:
    """The first examples of inputs."""
    return tree_map(lambda one: one[:most], x)


def given(
    model: str, a: str, b: str, data: str, loss: str, groups: str, limit: int, pairs: int, epochs: int, seed: int
) -> Given:
    """A reader's one pair, or the networks that the chapter trains."""
    generator = torch_generator(seed, "examples of a reader")
    if not (model or a or b):
        if data or groups or loss != "cross_entropy":
            raise ValueError(
                f"data = {data!r}, groups = {groups!r}, loss = {loss!r} without a model; allowed: a model with its "
                "weights a and b"
            )
        x, y = digits(1797, seed)
        chosen = torch.randperm(len(x), generator=generator)[:limit]
        seen, unseen = halves((x[chosen].float(), y[chosen]))
        trained_pairs = {
            name: [
                (trained(make, *seen, epochs, seed + 2 * k), trained(make, *seen, epochs, seed + 2 * k + 1))
                for k in range(pairs)
            ]
            for name, make in FACTORIES.items()
        }
        return Given(trained_pairs, nn.functional.cross_entropy, seen, unseen, None)
    if not (model and a and b and data):
        raise ValueError(f"model = {model!r}, a = {a!r}, b = {b!r}, data = {data!r}; allowed: all four, or none")
    pair = checkpoints.with_weights(model, a), checkpoints.with_weights(model, b)
    seen, unseen = halves(checkpoints.gathered(pair[0], checkpoints.examples(data, loss), limit, generator))
    found = Given({"yours": [pair]}, checkpoints.objective(loss), seen, unseen, checkpoints.groups(groups))
    for part in (seen, unseen):  # refuses what does not go together
        lmc.line(*pair, found.loss, part, [0, 1])
    return found


def halves(data: Data) -> tuple[Data, Data]:
    """The first and the second half of the examples."""
    n = len(tree_leaves(data)[0]) // 2
    return few(data, n), tree_map(lambda one: one[n:], data)


def estimate(this: Given, layer: str, restarts: int, steps: int, pairs: int) -> float:
    """Minutes that the chapter takes for a reader's pair, about: by the times of a line, a descent and a gradient."""
    net, other = this.networks["yours"][0]

    def seconds(function: Callable, *arguments: Any) -> float:
        start = time.perf_counter()
        attempt(function, *arguments)
        return time.perf_counter() - start

    first, whole = (seconds(lmc.line, net, other, this.loss, this.unseen, at) for at in ([0, 1], GRID))
    one = max(0.0, whole - first) / (len(GRID) - 2)  # a pass over half of the examples
    descent = seconds(partial(lmc.match, signs=False), net, other, few(this.seen[0], 2), "weights", 1, 0, this.groups)
    pairs = min(pairs, math.comb(width(net, layer), 2)) if layer else 0
    passes = 5 * len(GRID) + 4 * steps + 150 + 6 * pairs  # lines; descents; activations, REPAIR, pads; exchanges
    total = 5 * first + passes * one + (4 * restarts + steps + 10) * descent
    if layer and parameters_of(net) <= MOST:
        near = lmc.merge_path, net, layer, 0, 1, this.loss, this.seen, torch.ones(1), 1, 0.0, this.groups
        total += 2 * (37 * steps + 400) * seconds(*near) / 15  # a path, a point, and what bends there
    return total / 60


def begin(this: Given, layer: str, restarts: int, steps: int, pairs: int, minutes: float) -> str:
    """Say on the terminal how long the chapter takes for a reader's pair; raise if that is too long."""
    found = estimate(this, layer, restarts, steps, pairs)
    said = f"about {found:.0f} min" if found >= 2 else f"about {60 * found:.0f} s"
    print(f"this pair of networks takes {said}", file=sys.__stderr__)
    if found > minutes:
        less = "fewer examples, restarts, steps or exchanged"
        raise ParameterError(f"minutes = {minutes}, and this pair takes {said}; allowed: more minutes, {less}")
    return said


def change(net: nn.Module, other: nn.Module, x: Any) -> float:
    """Largest change of an output, relative to the largest, in float64."""
    one, two = (outputs_in_double(each, x)({}) for each in (net, other))
    return ((one - two).abs().max() / one.abs().max()).item()


def half_permuted(net: nn.Module, whole: lmc.Symmetry) -> nn.Module:
    """The network with its first group reversed on all axes but one."""
    group = next(iter(whole.groups))
    m, parameters = whole.sizes[group], dict(net.named_parameters())
    axes = [axis for axis in whole.groups[group] if axis.name in parameters]
    broken = lmc.Symmetry({group: tuple(axes[1:])}, {group: m})
    return lmc.permuted(net, broken, {group: torch.arange(m).flip(0)})


def out_of_place(net: nn.Module, other: nn.Module, whole: lmc.Symmetry) -> float:
    """Share of the units of all groups that have other weights in another network."""
    mine, yours = dict(net.named_parameters()), dict(other.named_parameters())
    wrong = 0
    for group, axes in whole.groups.items():
        m = whole.sizes[group]
        off = torch.zeros(m, dtype=torch.bool)
        for place in axes:
            if place.name in mine:
                differ = (mine[place.name] != yours[place.name])[None]
                off |= units_of(differ, place, m).movedim(place.axis + 2, 0).flatten(1).any(dim=1)
        wrong += int(off.sum())
    return wrong / sum(whole.sizes.values())


def random_order(units: lmc.Symmetry, seed: int) -> dict[str, Tensor]:
    """A random permutation of each group."""
    return lmc.random_permutations(units, 1, torch_generator(seed, "planted order"))


def layer_of(net: nn.Module, whole: lmc.Symmetry, layer: str) -> str:
    """A reader's layer, or the first linear one or convolution that makes interchangeable units; empty if none does."""
    made = {(p.name, p.axis) for g, places in whole.groups.items() for p in places if whole.sizes[g] > 1}
    names = {name: one for name, one in net.named_modules() if (_weight(name), 0) in made}
    if layer and layer not in names:
        raise ValueError(f"layer = {layer!r}; allowed: {', '.join(names) or 'none, since no layer makes such units'}")
    kinds = nn.Linear, nn.modules.conv._ConvNd
    return layer or next((name for name, one in names.items() if isinstance(one, kinds)), "")


def _weight(layer: str) -> str:
    return f"{layer}.weight".strip(".")


def width(net: nn.Module, layer: str) -> int:
    """Number of units that a layer makes."""
    return len(net.get_submodule(layer).weight)  # type: ignore[arg-type]


def pairs_of_units(net: nn.Module, layer: str) -> dict[str, tuple[int, int]]:
    """Two units of a layer, or none: nearest to each other by their incoming weights, and with the largest of them."""
    if not layer:
        return {}
    W = net.get_submodule(layer).weight.detach().flatten(1)  # type: ignore[operator]
    nearest = divmod(int(torch.cdist(W, W).fill_diagonal_(math.inf).argmin()), len(W))
    found = {"nearest": nearest, "largest": W.norm(dim=1).topk(2).indices.tolist()}
    return {name: (min(pair), max(pair)) for name, pair in found.items()}


def parameters_of(net: nn.Module) -> int:
    """Number of parameters."""
    return sum(value.numel() for value in net.parameters())


def meet(this: Given, net: nn.Module, layer: str, two: tuple[int, int], steps: int) -> Any:
    """The permutation point of two units, whose curvature takes some 200 vectors of all parameters."""
    if parameters_of(net) > MOST:
        raise ValueError(f"a permutation point in {parameters_of(net)} parameters; allowed: {MOST}")
    return lmc.permutation_point(net, layer, *two, this.loss, this.seen, steps=steps, decay=1e-3, symmetry=this.groups)


def _group_of(whole: lmc.Symmetry, name: str) -> tuple[str, tuple[lmc.Axis, ...]]:
    """The group of the units that the rows of a weight make, with its axes."""
    return next((group, axes) for group, axes in whole.groups.items() if lmc.Axis(name, 0) in axes)


def exchanged(net: nn.Module, layer: str, i: int, j: int, whole: lmc.Symmetry) -> nn.Module:
    """The network with two units of a layer exchanged."""
    group, axes = _group_of(whole, _weight(layer))
    order = torch.arange(whole.sizes[group])
    order[[i, j]] = order[[j, i]]
    return lmc.permuted(net, lmc.Symmetry({group: axes}, {group: len(order)}), {group: order})


def attempt(function: Callable, *given: Any, **named: Any) -> tuple[Any, str]:
    """The value of a function, or None and why it refuses."""
    try:
        return function(*given, **named), ""
    except (ValueError, TypeError, RuntimeError) as error:
        return None, " ".join(str(error).split()) or type(error).__name__


@dataclass(frozen=True)
class Exchanges:
    """Exchanges of units of an asymmetric layer: the largest error of the theory, and what plain exchanges change."""

    error: float
    plain: float
    n: int


def exchanges(
    net: nn.Module, layer: str, scheme: Any, x: Any, seed: int, whole: lmc.Symmetry | None = None, most: int = 1200
) -> Exchanges:
    """Exchange the functions of units of a layer W_eff = F + D ⊙ W at least norm, ``most`` pairs, and check (16)."""
    whole = whole or lmc.symmetry(net, few(x, 2))
    name, outputs = _weight(layer), outputs_in_double(net, x)
    net = lmc.interpolate(net, net, 0.0)  # with plain weights
    F, D, W, U = lmc.asymmetric_layer(lmc.asymmetrise(net, {name: scheme}, seed), layer, x, 1.0)
    a = (F + D * W) @ U  # coefficients of the units' functions, (m, k)
    least = least_norm_weight(a, F, D, U)  # (m, d)
    costs = lmc.swap_costs(F, D, W, U)
    group, axes = _group_of(whole, name)
    others = lmc.Symmetry({group: tuple(axis for axis in axes if axis.name != name)}, {group: len(W)})
    named = [*net.named_parameters(), *net.named_buffers()]
    values = {key: value.detach().to(W if value.is_floating_point() else value)[None] for key, value in named}

    def outputs_with(V: Tensor, order: Tensor) -> Tensor:
        """Outputs with W = V in the layer, and all else that belongs to its units in some order."""
        moved = permute(values, others, {group: order[None]}) | {name: (F + D * V).view_as(values[name])}
        return outputs({key: value[0] for key, value in moved.items()})

    before = outputs_with(least, torch.arange(len(W)))
    pairs = [pair for pair in combinations(range(len(W)), 2) if costs[pair].isfinite()]
    if len(pairs) > most:
        drawn = torch.randperm(len(pairs), generator=torch_generator(seed, "pairs of units"))[:most]
        pairs = [pairs[k] for k in drawn.tolist()]
    i, j = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    at_i, at_j = least_norm_weight(a[j], F[i], D[i], U), least_norm_weight(a[i], F[j], D[j], U)  # (pairs, d)
    errors, plain = [0.0], [math.inf]
    for two, rows in zip(pairs, torch.stack([at_i, at_j], dim=1), strict=True):
        here, order, kept, swapped = list(two), torch.arange(len(W)), least.clone(), W.clone()
        kept[here], order[here], swapped[here] = rows, order[here[::-1]], W[here[::-1]]
        change, without = (
            ((outputs_with(V, order) - before).abs().max() / before.abs().max()).item() for V in (kept, swapped)
        )
        cost = kept.square().sum() - least.square().sum() - costs[two]
        errors += [change, (cost.abs() / costs[costs.isfinite()].abs().max()).item()]
        plain.append(without)
    return Exchanges(max(errors), min(plain), len(pairs))


def price(net: nn.Module, layer: str, pair: tuple[int, int] | None, scheme: Any, x: Any, seed: int) -> tuple:
    """The change of the squared norm by the exchange of two units of a layer, and that of (16)."""
    if pair is None:
        raise ValueError("no layer makes units that can be exchanged; allowed: a network with a hidden layer")
    F, D, W, U = lmc.asymmetric_layer(lmc.asymmetrise(net, {_weight(layer): scheme}, seed), layer, x, 1.0)
    a = (F + D * W) @ U  # coefficients of the units' functions, (m, k)
    least, here = least_norm_weight(a, F, D, U), list(pair)
    after = least.clone()
    after[here] = least_norm_weight(a[here[::-1]], F[here], D[here], U)
    return (after.square().sum() - least.square().sum()).item(), lmc.swap_costs(F, D, W, U)[pair].item()


def mean(samples: np.ndarray) -> tuple[float, float]:
    """Mean and standard error, infinite for one sample."""
    if len(samples) < 2:
        return float(samples.mean()), math.inf
    found = mean_and_error([samples])
    return float(found[0][0]), float(found[1][0])


def ratio(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Ratio of the means of paired samples and its standard error, infinite for one pair."""
    return ratio_of_means(x, y, paired=True) if len(x) > 1 else (float(x[0] / y[0]), math.inf)
