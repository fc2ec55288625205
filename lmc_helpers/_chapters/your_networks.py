"""Code of the chapter *your networks*: a reader's model, weights and data, each read with one clear error, and defaults."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from lmc_helpers.data.digits import digits
from lmc_helpers.seeds import torch_generator

Data = tuple[Tensor, Tensor]


def mlp(width: int = 48) -> nn.Module:
    """The chapter's own network: three layers on the digits."""
    return nn.Sequential(
        nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10)
    )


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
    return nn.Sequential(
        *(nn.Unflatten(1, (8, 8)), nn.Linear(8, width), layer, nn.Flatten(), nn.Linear(8 * width, 10)),
    )


#: Name → factory, the networks of the chapter.
FACTORIES: dict[str, Callable[[], nn.Module]] = {"MLP": mlp, "residual CNN": cnn, "transformer": transformer}


def trained(make: Callable[[], nn.Module], x: Tensor, y: Tensor, epochs: int, seed: int) -> nn.Module:
    """A network trained by Adam in plain PyTorch, on batches of 64; it leaves torch's own random numbers as they were."""
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


# ---------- what a reader brings


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
    """What a factory makes, in evaluation mode."""
    try:
        made = factory(name)()
    except TypeError as error:
        raise ValueError(f"the factory {name!r} failed ({error}); allowed: one without arguments") from None
    if not isinstance(made, nn.Module):
        raise ValueError(f"the factory {name!r} made a {type(made).__name__}; allowed: a torch.nn.Module")
    return made.eval()


def _tensors(path: str) -> dict[str, Tensor]:
    """Tensors of a file, read without unpickling code."""
    kind = Path(path).suffix
    if not Path(path).is_file():
        raise ValueError(f"{path!r} is no file; allowed: a .safetensors, .npz, .pt or .pth file")
    try:
        if kind == ".safetensors":
            from safetensors.torch import load_file

            return load_file(path)
        if kind == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        if kind in {".pt", ".pth"}:
            read = torch.load(path, map_location="cpu", weights_only=True)
            if isinstance(read, dict) and all(isinstance(value, Tensor) for value in read.values()):
                return read
            raise ValueError("it holds no dictionary of tensors")
    except Exception as error:
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"{path!r} cannot be read ({why}); allowed: names → tensors, without pickled code") from None
    raise ValueError(f"{path!r} ends in {kind!r}; allowed: .safetensors, .npz, .pt, .pth")


def with_weights(name: str, path: str) -> nn.Module:
    """A reader's model with the weights of a file."""
    net, state = built(name), _tensors(path)
    own = net.state_dict()
    for key in own.keys() | state.keys():
        one, two = (tuple(found[key].shape) if key in found else "missing" for found in (own, state))
        if one != two:
            raise ValueError(f"{key!r} is {two} in {path!r} and {one} in the model; allowed: equal names and shapes")
    for key, value in state.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"{key!r} of {path!r} is not finite; allowed: finite numbers")
    net.load_state_dict(state)
    return net


def examples(path: str, loss: str, limit: int, seed: int) -> Data:
    """Inputs ``x`` and targets ``y`` of a file, or the digits, at most ``limit`` of them, drawn at random."""
    if not path:
        x, y = digits(1797, seed)
        x = x.float()
    else:
        arrays = _tensors(path)
        if {"x", "y"} - arrays.keys():
            raise ValueError(f"{path!r} holds {', '.join(arrays)}; allowed: arrays x and y")
        x, y = arrays["x"], arrays["y"]
    if len(x) != len(y) or len(x) < 2:
        raise ValueError(f"{len(x)} inputs and {len(y)} targets; allowed: as many, two or more")
    if x.is_floating_point() and not torch.isfinite(x).all():
        raise ValueError(f"inputs of {path!r} are not finite; allowed: finite numbers")
    if loss == "cross_entropy":
        if y.is_floating_point() or y.min() < 0:
            raise ValueError(f"targets are {y.dtype} from {y.min().item()}; allowed: labels 0, 1, … for cross-entropy")
        y = y.long()
    chosen = torch.randperm(len(x), generator=torch_generator(seed, "examples of a reader"))[:limit]
    return x[chosen], y[chosen]
