"""What every method here does to a module of someone else before it computes: unwrap, copy, check, run, read data."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor, nn


def bare(model: nn.Module) -> nn.Module:
    """The module inside wrappers of torch.compile and of data parallelism."""
    inner: Any = model
    while isinstance(inner, (nn.DataParallel, nn.parallel.DistributedDataParallel)) or hasattr(inner, "_orig_mod"):
        inner = inner._orig_mod if hasattr(inner, "_orig_mod") else inner.module
    return inner


def tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, tied ones once, detached."""
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: value.detach() for name, value in named}


def filled(model: nn.Module, values: Mapping[str, Tensor]) -> nn.Module:
    """A copy of a module, in evaluation mode, with other values of some parameters and buffers."""
    made = copy.deepcopy(bare(model)).eval()
    with torch.no_grad():
        for name, place in [*made.named_parameters(), *made.named_buffers()]:
            if name in values:
                place.copy_(values[name])
    return made


def check_pair(a: nn.Module, b: nn.Module) -> tuple[nn.Module, nn.Module]:
    """Both without wrappers, or an error unless their parameters and buffers have equal names, shapes and finite values."""
    a, b = bare(a), bare(b)
    ends = [tensors(a), tensors(b)]
    shapes = [{name: tuple(value.shape) for name, value in end.items()} for end in ends]
    for name in shapes[0] | shapes[1]:
        one, two = shapes[0].get(name, "missing"), shapes[1].get(name, "missing")
        if one != two:
            raise ValueError(f"{name!r} is {one} in a and {two} in b; allowed: equal names and shapes")
    if not any(True for _ in a.parameters()):
        raise ValueError("the modules have no parameters; allowed: one or more")
    for which, end in zip("ab", ends, strict=True):
        for name, value in end.items():
            if value.is_floating_point() and not torch.isfinite(value).all():
                raise ValueError(f"{name!r} of {which} is not finite; allowed: finite parameters and buffers")
    return a, b


def arguments(x: Any) -> tuple[Any, ...]:
    """Positional arguments of a call: a tuple or list as it is, anything else alone."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def run(model: nn.Module, values: Mapping[str, Tensor], x: Any) -> Any:
    """Outputs of a module, in evaluation mode, with other parameters and buffers; the module stays as it is."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        return torch.func.functional_call(model, dict(values), arguments(x))
    finally:
        for module, mode in modes.items():
            module.training = mode


def batches(data: Any, size: int = 256) -> Iterator[tuple[Any, Tensor]]:
    """Batches (x, y) of data: a pair of tensors, cut into batches of a size, or what gives pairs, as a DataLoader does."""
    if isinstance(data, (tuple, list)) and len(data) == 2 and all(isinstance(one, Tensor) for one in data):
        x, y = data
        if len(x) != len(y) or not len(x):
            raise ValueError(f"data have {len(x)} inputs and {len(y)} targets; allowed: as many, one or more")
        yield from zip(x.split(size), y.split(size), strict=True)
        return
    if not isinstance(data, Iterable):
        raise TypeError(f"data is {type(data).__name__}; allowed: a pair of tensors (x, y), or batches of such pairs")
    count = 0
    for batch in data:
        if not isinstance(batch, (tuple, list)) or len(batch) != 2:
            raise TypeError(f"a batch is {type(batch).__name__}; allowed: pairs (x, y)")
        count += 1
        yield batch[0], batch[1]
    if not count:
        raise ValueError("data have no batch; allowed: one or more")
