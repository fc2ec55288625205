"""Networks, weights and data as people keep them, by the names of files and of functions; no file runs code."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lmc_helpers.modules._data import batches, is_whole, length
from lmc_helpers.modules._module import mapped, tensors_of
from lmc_helpers.modules.losses import OWN, joined
from lmc_helpers.networks.permutations import Symmetry

__all__ = ()  # what the command and chapter *your networks* share


def imported(name: str) -> Any:
    """The object that ``"package.module:name"`` names; modules of the working directory count."""
    module, colon, function = name.partition(":")
    if not (module and colon and function):
        raise ValueError(f"{name!r} names nothing; allowed: 'package.module:name'")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"{name!r} cannot be imported ({error}); allowed: an importable name") from None


def built(name: str) -> nn.Module:
    """A factory's model, in evaluation mode."""
    try:
        made = imported(name)()
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
    """The contents of a file, read without unpickling code."""
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
    prefix = inside[0] if len(inside) == 1 else ""
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


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
        one, two = (_form(held[key]) if key in held else "missing" for held in (own, state))
        if one != two:
            raise ValueError(f"{key!r} is {two} in {path!r} and {one} in the model; allowed: equal names and shapes")
    for key, value in state.items():
        if not (torch.isfinite(value) | (value == own[key])).all():  # a mask of −∞
            raise ValueError(f"{key!r} of {path!r} is not finite; allowed: finite numbers")
    net.load_state_dict(state)
    return net


def _form(value: Tensor) -> str:
    """The shape of a tensor, and what its numbers are unless real ones."""
    kinds = {"meta": value.is_meta, "complex": value.is_complex(), "whole": not value.is_floating_point()}
    return " ".join([*(kind for kind, holds in kinds.items() if holds), str(tuple(value.shape))])


def _is_same(one: Tensor, two: Tensor) -> bool:
    """True for tied weights."""
    return one.numel() > 0 and one.data_ptr() == two.data_ptr() and one.shape == two.shape


def objective(name: str) -> Any:
    """A loss of ``torch.nn.functional`` by its name, ``"mse"`` for short, or a caller's, ``"package.module:name"``."""
    own = getattr(nn.functional, {"mse": "mse_loss"}.get(name, name), None)
    return own if own in OWN else imported(name)


def groups(name: str) -> Symmetry | None:
    """Groups of units written by hand, what ``"package.module:name"`` names or gives; None for no name."""
    if not name:
        return None
    found = imported(name)
    found = found() if callable(found) else found
    if not isinstance(found, Symmetry):
        raise ValueError(f"{name!r} is a {type(found).__name__}; allowed: a lmc.Symmetry, or a function that makes one")
    return found


def examples(name: str, loss: str = "") -> Any:
    """Data in a file, arrays x and y or arrays by the names of forward's arguments and y, or what a function gives."""
    if ":" in name and not Path(name).exists():
        try:
            return imported(name)()
        except TypeError as error:
            raise ValueError(f"the function {name!r} failed ({error}); allowed: one without arguments") from None
    data = _content(name)
    if isinstance(data, Mapping) and data.keys() == {"x", "y"}:
        data = data["x"], data["y"]
    if not is_whole(data) or (isinstance(data, Mapping) and not ("y" in data and len(data) > 1)):
        held = ", ".join(map(str, data)) if isinstance(data, Mapping) else type(data).__name__
        allowed = "arrays x and y, or by the names of forward's arguments and y"
        raise ValueError(f"{name!r} holds {held}; allowed: {allowed}")
    x: Any
    if isinstance(data, Mapping):
        x, y = {key: value for key, value in data.items() if key != "y"}, data["y"]
    else:
        x, y = data[0] if len(data) == 2 else tuple(data[:-1]), data[-1]
    sizes = {len(one) if one.ndim else 0 for one in tensors_of((x, y))}
    if len(sizes) != 1 or min(sizes) < 2:
        raise ValueError(f"{name!r} has {sorted(sizes)} inputs and targets; allowed: as many, two or more")
    if not all(one.isfinite().all() for one in tensors_of(x)):
        raise ValueError(f"inputs of {name!r} are not finite; allowed: finite numbers")
    if loss == "cross_entropy" and isinstance(y, Tensor) and (y.ndim < 2 or not y.is_floating_point()):
        whole = y.long()
        if y.is_floating_point() or (whole[whole != -100] < 0).any():  # torch ignores −100
            raise ValueError(
                f"targets are {y.dtype} from {whole.min().item()}; allowed: labels 0, 1, … for cross-entropy"
            )
        y = whole
    return x, y


def gathered(model: nn.Module, data: Any, limit: int, generator: torch.Generator) -> tuple[Any, Any]:
    """Inputs and targets of data as one batch: so many examples at most, in random order."""
    found, n = None, 0
    for batch in batches(model, data, sys.maxsize):
        found, n = batch if found is None else joined(found, batch), n + length(*batch)
        if found is None:
            raise ValueError("the batches have several shapes; allowed: examples of one shape")
        if n >= limit:
            break
    chosen = torch.randperm(n, generator=generator)[:limit]
    return mapped(lambda one: one[chosen], found)
