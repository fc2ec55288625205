"""Parameters of architectures, and what fixes some of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import torch

from lmc_helpers.expect.choices import one_of
from lmc_helpers.expect.refusal import refuse, short
from lmc_helpers.expect.torch_tensors import same, tensor


class Shaped(Protocol):
    """What knows the names and shapes of its parameters; every architecture does."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name → shape of every trained tensor of one network."""


def parameter(value: object, name: str, model: Shaped) -> None:
    """The name of a parameter of an architecture.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> parameter("gain", "name", MLP((2, 3, 2), bias=False))
    Traceback (most recent call last):
        ...
    ValueError: name = 'gain'; allowed: '0.weight', '1.weight'
    """
    one_of(value, name, model.shapes())


def parameters(values: object, name: str, model: Shaped, x: object) -> None:
    """Name → (N, …), the parameters of N >= 1 networks of an architecture, and inputs x of their type, on their device.

    The numbers are not looked at: a forward pass calls this.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> parameters({"0.weight": torch.ones(1, 3, 2)}, "params", MLP((2, 3, 2), bias=False), torch.ones(4, 2))
    Traceback (most recent call last):
        ...
    ValueError: params lacks '1.weight'; allowed: all parameters of the architecture
    """
    if not isinstance(values, Mapping):
        refuse(name, f"= {short(values)}", "tensors by their names")
        return
    shapes = model.shapes()
    missing, unknown = shapes.keys() - values.keys(), values.keys() - shapes.keys()
    if missing:
        refuse(name, f"lacks {next(key for key in shapes if key in missing)!r}", "all parameters of the architecture")
    if unknown:
        refuse(name, f"holds {short(next(iter(unknown)))}", "parameters of the architecture only")
    for other, value in (*values.items(), (None, x)):
        floating = isinstance(value, torch.Tensor) and value.is_floating_point()
        if not floating:
            found = f"has dtype {value.dtype}" if isinstance(value, torch.Tensor) else f"= {short(value)}"
            refuse("x" if other is None else f"{name}[{other!r}]", found, "a tensor of floating point")
    start = next(iter(shapes))
    first = values[start]
    N = len(first) if first.ndim else 0
    for key, shape in shapes.items():
        if not N or values[key].shape != (N, *shape):
            refuse(f"{name}[{key!r}]", f"has shape {tuple(values[key].shape)}", str((N or "N", *shape)))
    for other, value in (*values.items(), (None, x)):
        if value.dtype != first.dtype or value.device != first.device:  # torch's meta may be, where prices are found
            found = f"is {value.dtype} on {value.device} and {start!r} {first.dtype} on {first.device}"
            refuse("x" if other is None else f"{name}[{other!r}]", found, "the same")


def fixed_parts(values: object, name: str) -> None:
    """None, or a weight's name → (F, D), finite tensors of one type.

    Examples
    --------
    >>> fixed_parts({"0.weight": torch.ones(1)}, "fixed")
    Traceback (most recent call last):
        ...
    ValueError: fixed['0.weight'] = a tensor of shape (1,); allowed: a pair of tensors, F and D
    """
    if values is None:
        return
    if not isinstance(values, Mapping):
        refuse(name, f"= {short(values)}", "None, or pairs of tensors by the names of weights")
        return
    for key, pair in values.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            refuse(f"{name}[{key!r}]", f"= {short(pair)}", "a pair of tensors, F and D")
        for letter, part in zip("FD", pair, strict=True):
            tensor(part, f"{letter} of {key!r}")
        same({f"F of {key!r}": pair[0], f"D of {key!r}": pair[1]}, shape=False)


def schemes(values: object, name: str) -> None:
    """A weight's name → an object whose method ``draw`` gives F and D.

    Examples
    --------
    >>> schemes({"0.weight": "w"}, "schemes")
    Traceback (most recent call last):
        ...
    ValueError: schemes['0.weight'] = 'w'; allowed: a scheme, with a method draw(shape, generator)
    """
    if not isinstance(values, Mapping):
        refuse(name, f"= {short(values)}", "schemes by the names of weights")
        return
    for key, scheme in values.items():
        if not isinstance(key, str):
            refuse(name, f"holds {short(key)}", "schemes by the names of weights")
        if not callable(getattr(scheme, "draw", None)):
            refuse(f"{name}[{key!r}]", f"= {short(scheme)}", "a scheme, with a method draw(shape, generator)")
