"""A reader's model, weights and data, and measurements of a pair, for the chapter *your networks*."""

from __future__ import annotations

import copy
import importlib
import math
import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call

import lmc_helpers as lmc
from lmc_helpers.data.digits import digits
from lmc_helpers.error_bars import mean_and_error, ratio_of_means
from lmc_helpers.identifiability import least_norm_weight
from lmc_helpers.networks.permutations import permute
from lmc_helpers.seeds import torch_generator

Data = tuple[Tensor, Tensor]
Pair = tuple[nn.Module, nn.Module]


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


def factory(name: str) -> Callable[[], nn.Module]:
    """The function that ``"package.module:function"`` names; modules of the working directory count."""
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ValueError(f"model = {name!r}; allowed: 'package.module:factory'")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model = {name!r} cannot be imported ({error}); allowed: an importable factory") from None


def built(name: str) -> nn.Module:
    """A factory's model, in evaluation mode."""
    try:
        made = factory(name)()
    except TypeError as error:
        raise ValueError(f"the factory {name!r} failed ({error}); allowed: one without arguments") from None
    if not isinstance(made, nn.Module):
        raise ValueError(f"the factory {name!r} made a {type(made).__name__}; allowed: a torch.nn.Module")
    return made.eval()


#: What a training script may store beside tensors: NumPy's numbers, which are read without running code.
NUMBERS = [
    np._core.multiarray.scalar,  # type: ignore[attr-defined]
    np.dtype,
    *(type(np.dtype(kind)) for kind in "?bBhHiIlLefdg"),
]
LOADED = {".pt", ".pth", ".ckpt", ".bin", ".tar"}
WRAPPERS = ("module.", "_orig_mod.")  # of data parallelism, averages and torch.compile


def _content(path: str) -> Any:
    """What a file holds, read without unpickling code."""
    kind = Path(path).suffix
    if not Path(path).is_file():
        raise ValueError(f"{path!r} is not a file; allowed: a .safetensors, .npz, .pt or .pth file")
    try:
        if kind == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        if kind == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        if kind in LOADED:
            with torch.serialization.safe_globals(NUMBERS):
                return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        code = re.search(r"Unsupported (?:global|class): (?:GLOBAL )?(\S+)", str(error))
        first = re.sub(r"\x1b\[\d*m", "", str(error)).strip().splitlines()
        why = f"{code[1]} is code" if code else first[0].rstrip(". ") if first else type(error).__name__
        raise ValueError(
            f"{path!r} cannot be read ({why}); allowed: names → tensors, as of torch.save(net.state_dict(), path), "
            "without pickled code"
        ) from None
    raise ValueError(f"{path!r} ends in {kind!r}; allowed: .safetensors, .npz, {', '.join(sorted(LOADED))}")


def _states(content: Any, where: str = "") -> dict[str, dict[str, Tensor]]:
    """The dictionaries of tensors in a checkpoint, by their places in it."""
    if not isinstance(content, dict):
        return {}
    if content and all(isinstance(value, Tensor) for value in content.values()):
        return {where: content}
    inner = {str(key): value for key, value in content.items() if isinstance(value, dict)}
    return {place: state for key, one in inner.items() for place, state in _states(one, f"{where}[{key!r}]").items()}


def _fitted(state: dict[str, Tensor], own: dict[str, Tensor]) -> dict[str, Tensor]:
    """A state without the prefixes of wrappers, or the one that all names of a model have in it."""
    state = {name: value for name, value in state.items() if name != "n_averaged"}
    while own.keys() - state.keys() and (
        prefix := next((w for w in WRAPPERS if all(k.startswith(w) for k in state)), "")
    ):
        state = {name.removeprefix(prefix): value for name, value in state.items()}
    if own.keys() & state.keys():
        return state
    ends = {name[: -len(key)] for key in own for name in state if name.endswith(f".{key}")}
    inside = [prefix for prefix in ends if all(prefix + key in state for key in own)]
    return {key: state[inside[0] + key] for key in own} if len(inside) == 1 else state


def with_weights(name: str, path: str) -> nn.Module:
    """A reader's model with the weights of a file."""
    net, found = built(name), _states(_content(path))
    own, shapes = net.state_dict(), {key: value.shape for key, value in net.state_dict().items()}
    fitted = {place: _fitted(state, own) for place, state in found.items()}
    if len(fitted) > 1:
        fitted = {p: s for p, s in fitted.items() if all(s[k].shape == shapes[k] for k in own.keys() & s.keys())}
        most = max((len(own.keys() & state.keys()) for state in fitted.values()), default=0)
        fitted = {place: state for place, state in fitted.items() if len(own.keys() & state.keys()) == most}
    if len(fitted) != 1:
        held = ", ".join(fitted or found) or "no dictionary of tensors"
        raise ValueError(f"{path!r} holds {held}; allowed: one state_dict that fits the model")
    (state,) = fitted.values()
    for key, value in own.items():
        tied = [other for other in own if other != key and other in state and _is_same(own[other], value)]
        if key not in state and (tied or key.endswith("num_batches_tracked")):  # of tied weights files may keep one
            state[key] = state[tied[0]] if tied else value
        elif any(not torch.equal(state[key], state[other]) for other in tied):
            raise ValueError(
                f"{key!r} and {tied[0]!r} differ in {path!r} and are one in the model; allowed: equal ones"
            )
    for key in own.keys() | state.keys():
        one, two = (tuple(held[key].shape) if key in held else "missing" for held in (own, state))
        if one != two:
            raise ValueError(f"{key!r} is {two} in {path!r} and {one} in the model; allowed: equal names and shapes")
    for key, value in state.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"{key!r} of {path!r} is not finite; allowed: finite numbers")
    net.load_state_dict(state)
    return net


def _is_same(one: Tensor, two: Tensor) -> bool:
    """True for tied weights."""
    return one.numel() > 0 and one.data_ptr() == two.data_ptr() and one.shape == two.shape


def examples(path: str, loss: str, limit: int, seed: int) -> Data:
    """Inputs ``x`` and targets ``y`` of a file, or the digits, at most ``limit`` of them, drawn at random."""
    if not path:
        x, y = digits(1797, seed)
        x = x.float()
    else:
        arrays = _content(path)
        if not isinstance(arrays, dict) or not all(isinstance(arrays.get(name), Tensor) for name in "xy"):
            held = ", ".join(map(str, arrays)) if isinstance(arrays, dict) else type(arrays).__name__
            raise ValueError(f"{path!r} holds {held}; allowed: arrays x and y")
        x, y = arrays["x"], arrays["y"]
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"{len(x)} inputs and {len(y)} targets; allowed: as many, two or more")
    if x.is_floating_point() and not torch.isfinite(x).all():
        raise ValueError(f"inputs of {path!r} are not finite; allowed: finite numbers")
    if loss == "cross_entropy":
        if y.is_floating_point() or (y[y != -100] < 0).any():  # torch ignores −100
            raise ValueError(f"targets are {y.dtype} from {y.min().item()}; allowed: labels 0, 1, … for cross-entropy")
        y = y.long()
    chosen = torch.randperm(len(x), generator=torch_generator(seed, "examples of a reader"))[:limit]
    return x[chosen], y[chosen]


def networks_and_data(
    model: str, a: str, b: str, data: str, loss: str, limit: int, pairs: int, epochs: int, seed: int
) -> tuple[dict[str, list[Pair]], Data, Data]:
    """Architecture → pairs of networks, a reader's one pair or what the chapter trains; examples seen and unseen."""
    x, y = examples(data, loss, limit, seed)
    half = len(x) // 2
    seen, unseen = (x[:half], y[:half]), (x[half:], y[half:])
    if model or a or b:
        if not (model and a and b):
            raise ValueError(f"model = {model!r}, a = {a!r}, b = {b!r}; allowed: all three, or none")
        pair = with_weights(model, a), with_weights(model, b)
        kind = next(pair[0].parameters()).dtype
        x, y = (one.to(kind) if one.is_floating_point() else one for one in (x, y))
        seen, unseen = (x[:half], y[:half]), (x[half:], y[half:])
        for part in (seen, unseen):  # refuses what does not go together
            lmc.line(*pair, getattr(nn.functional, {"mse": "mse_loss"}.get(loss, loss)), part, [0, 1])
        return {"yours": [pair]}, seen, unseen
    if data or loss != "cross_entropy":
        raise ValueError(f"data = {data!r}, loss = {loss!r} without a model; allowed: a model with its weights a and b")
    trained_pairs = {
        name: [
            (trained(make, *seen, epochs, seed + 2 * k), trained(make, *seen, epochs, seed + 2 * k + 1))
            for k in range(pairs)
        ]
        for name, make in FACTORIES.items()
    }
    return trained_pairs, seen, unseen


def outputs(net: nn.Module, x: Any) -> Tensor:
    """Outputs in double precision."""
    with torch.no_grad():
        return copy.deepcopy(net).double()(x.double() if x.is_floating_point() else x)


def half_permuted(net: nn.Module, x: Any, seed: int) -> nn.Module:
    """The network with its first group reversed on all axes but one."""
    whole = lmc.symmetry(net, x)
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
        for name, d, offset, outer, inner in axes:
            if name in mine:
                differ = (mine[name] != yours[name]).narrow(d, offset, outer * m * inner)
                off |= differ.unflatten(d, (outer, m, inner)).movedim(d + 1, 0).flatten(1).any(dim=1)
        wrong += int(off.sum())
    return wrong / sum(whole.sizes.values())


def random_order(units: lmc.Symmetry, seed: int) -> dict[str, Tensor]:
    """A random permutation of each group."""
    return lmc.random_permutations(units, 1, torch_generator(seed, "planted order"))


def first_hidden(net: nn.Module, x: Any) -> str:
    """Name of the first linear layer or convolution that makes interchangeable units."""
    made = {(p.name, p.axis) for places in lmc.symmetry(net, x).groups.values() for p in places}
    for name, module in net.named_modules():
        if isinstance(module, (nn.Linear, nn.modules.conv._ConvNd)) and (f"{name}.weight".strip("."), 0) in made:
            return name
    raise ValueError("no linear layer or convolution makes units that can be exchanged; allowed: name a layer")


def width(net: nn.Module, layer: str) -> int:
    """Number of units that a layer makes."""
    return len(net.get_submodule(layer).weight)  # type: ignore[arg-type]


def nearest_units(net: nn.Module, layer: str) -> tuple[int, int]:
    """The two units of a layer whose incoming weights are nearest to each other."""
    W = net.get_submodule(layer).weight.detach().flatten(1)  # type: ignore[operator]
    distance = torch.cdist(W, W).fill_diagonal_(math.inf)
    i, j = divmod(int(distance.argmin()), len(W))
    return min(i, j), max(i, j)


def largest_units(net: nn.Module, layer: str) -> tuple[int, int]:
    """The two units of a layer with the largest incoming weights."""
    norms = net.get_submodule(layer).weight.detach().flatten(1).norm(dim=1)  # type: ignore[operator]
    i, j = norms.topk(2).indices.tolist()
    return min(i, j), max(i, j)


def _group_of(whole: lmc.Symmetry, name: str) -> tuple[str, tuple[lmc.Axis, ...]]:
    """The group of the units that the rows of a weight make, with its axes."""
    return next((group, axes) for group, axes in whole.groups.items() if lmc.Axis(name, 0) in axes)


def exchanged(net: nn.Module, layer: str, i: int, j: int, whole: lmc.Symmetry) -> nn.Module:
    """The network with two units of a layer exchanged."""
    group, axes = _group_of(whole, f"{layer}.weight".strip("."))
    order = torch.arange(whole.sizes[group])
    order[[i, j]] = order[[j, i]]
    return lmc.permuted(net, lmc.Symmetry({group: axes}, {group: len(order)}), {group: order})


def attempt(function: Callable, *given: Any) -> tuple[Any, str]:
    """The value of a function, or None and the message of its ValueError."""
    try:
        return function(*given), ""
    except ValueError as error:
        return None, str(error)


@dataclass(frozen=True)
class Exchanges:
    """Exchanges of units of an asymmetric layer: the largest error of the theory, and what plain exchanges change."""

    error: float
    plain: float
    n: int


def exchanges(net: nn.Module, layer: str, scheme: Any, x: Tensor, seed: int) -> Exchanges:
    """Exchange the functions of every two units of a layer W_eff = F + D ⊙ W at least norm, and compare with (16)."""
    net, x = copy.deepcopy(net).double(), x.double()
    name, whole = f"{layer}.weight".strip("."), lmc.symmetry(net, x[:2])
    F, D, W, U = lmc.asymmetric_layer(lmc.asymmetrise(net, {name: scheme}, seed), layer, x, 1.0)
    a = (F + D * W) @ U  # coefficients of the units' functions, (m, k)
    least = least_norm_weight(a, F, D, U)  # (m, d)
    costs = lmc.swap_costs(F, D, W, U)
    group, axes = _group_of(whole, name)
    others = lmc.Symmetry({group: tuple(axis for axis in axes if axis.name != name)}, {group: len(W)})
    values = {key: value.detach()[None] for key, value in [*net.named_parameters(), *net.named_buffers()]}

    def outputs_with(V: Tensor, order: Tensor) -> Tensor:
        """Outputs with W = V in the layer, and all else that belongs to its units in some order."""
        moved = permute(values, others, {group: order[None]}) | {name: (F + D * V).view_as(values[name])}
        with torch.no_grad():
            return functional_call(net, {key: value[0] for key, value in moved.items()}, (x,))

    before = outputs_with(least, torch.arange(len(W)))
    pairs = [pair for pair in combinations(range(len(W)), 2) if costs[pair].isfinite()]
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


def mean(samples: np.ndarray) -> tuple[float, float]:
    """Mean and standard error, infinite for one sample."""
    if len(samples) < 2:
        return float(samples.mean()), math.inf
    found = mean_and_error([samples])
    return float(found[0][0]), float(found[1][0])


def ratio(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Ratio of the means of paired samples and its standard error, infinite for one pair."""
    return ratio_of_means(x, y, paired=True) if len(x) > 1 else (float(x[0] / y[0]), math.inf)
