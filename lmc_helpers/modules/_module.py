"""Preparation of a user's module, common to all methods here: unwrap, copy, check, run."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, nullcontext
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lmc_helpers._wrappers import bare
from lmc_helpers.modules._plain import Call, alike, duplicate, plain
from lmc_helpers.modules._precision import types_of
from lmc_helpers.progress import tick


def tensors(model: nn.Module) -> dict[str, Tensor]:
    """Parameters and buffers by name, tied ones once, detached."""
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: value.detach() for name, value in named}


def copied(model: nn.Module) -> nn.Module:
    """A copy of a module, in evaluation mode, whose computed weights are plain ones."""
    check_ready(model)
    made = plain(model)
    return (duplicate(made) if made is bare(model) else made).eval()


def filled(model: nn.Module, values: Mapping[str, Tensor]) -> nn.Module:
    """A copy of a module, in evaluation mode, with other values of some parameters and buffers."""
    made = copied(model)
    with torch.no_grad():
        for name, place in [*made.named_parameters(), *made.named_buffers()]:
            if name in values:
                place.copy_(values[name])
    return made


def check_ready(model: nn.Module) -> None:
    """Refuse parameters that have no shape yet, sparse tensors, and programs that run in one mode."""
    if any("eval" in vars(one) for one in model.modules()):
        raise ValueError("the module is an exported program; allowed: the module before torch.export")
    for name, value in [*model.named_parameters(), *model.named_buffers()]:
        if isinstance(value, (nn.parameter.UninitializedParameter, nn.parameter.UninitializedBuffer)):
            raise ValueError(f"{name!r} has no shape yet; allowed: lazy modules after a first call")
        if value.layout is not torch.strided:
            raise ValueError(f"{name!r} is {value.layout}; allowed: dense parameters and buffers, as of to_dense()")


def check_unscripted(model: nn.Module) -> None:
    """Refuse a module whose operations cannot be followed."""
    if any(isinstance(one, torch.jit.ScriptModule) for one in model.modules()):
        raise TypeError("the module is scripted; allowed: the module before torch.jit.script or torch.jit.trace")


def check_pair(a: nn.Module, b: nn.Module) -> tuple[nn.Module, nn.Module]:
    """Both without wrappers and with plain weights, or an error unless names and shapes are equal and values finite.

    Buffers that one of them has alone, or in another shape, pass: they may be made in a call.
    """
    check_ready(a)
    check_ready(b)
    a, b = alike(plain(a), plain(b))
    ends = [tensors(a), tensors(b)]
    weights = [{name: tuple(value.shape) for name, value in end.named_parameters()} for end in (a, b)]
    for name in weights[0] | weights[1]:
        one, two = weights[0].get(name, "missing"), weights[1].get(name, "missing")
        if one != two:
            raise ValueError(f"{name!r} is {one} in a and {two} in b; allowed: equal names and shapes")
    if not weights[0]:
        raise ValueError("the modules have no parameters; allowed: one or more")
    for which, end in zip("ab", ends, strict=True):
        for name, value in end.items():
            wrong = value.is_floating_point() and not (value.sum().isfinite() or value.isfinite().all())
            if wrong and not all(
                name in one and torch.equal(value.cpu(), one[name].cpu()) for one in ends
            ):  # a mask of −∞
                raise ValueError(f"{name!r} of {which} is not finite; allowed: finite parameters and buffers")
    return a, b


@contextmanager
def untouched(seed: int | None = None) -> Iterator[None]:
    """Run without gradients, with torch's random numbers from a seed if given; their state is restored afterwards."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    with torch.random.fork_rng(devices), torch.no_grad():
        if seed is not None:  # torch.manual_seed would also seed devices that are not in use yet
            torch.default_generator.manual_seed(seed)
            for device in devices:
                torch.cuda.default_generators[device].manual_seed(seed)
        yield


@contextmanager
def step_by_step() -> Iterator[None]:
    """Transformer layers run as the modules and operations that they are made of, not as one fused operation."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


def called(model: nn.Module, x: Any, values: Mapping[str, Tensor] | None = None) -> Any:
    """Outputs for keyword arguments in a dict, positional ones in a tuple or list, or one tensor.

    If values are given, they take the place of some parameters and buffers. A module may write into its inputs: it is
    given copies.
    """
    tick()
    if values:
        check_unscripted(model)
    with types_of(model), x if isinstance(x, Call) else nullcontext(x) as x:
        several = isinstance(x, (tuple, list)) and not isinstance(x, nn.utils.rnn.PackedSequence)
        given = x if isinstance(x, Mapping) else dict(enumerate(x if several else (x,)))
        own: dict[Any, Any] = {key: one.clone() if isinstance(one, Tensor) else one for key, one in given.items()}
        args, kwargs = ((), own) if isinstance(x, Mapping) else (tuple(own.values()), {})
        return torch.func.functional_call(model, dict(values), args, kwargs) if values else model(*args, **kwargs)


def fitting(model: nn.Module, x: Any, targets: bool = False) -> Any:
    """Tensors on the device of a module, floating-point ones in the type of its parameters if they have one type.

    Targets are not rounded to a type of fewer bits.
    """
    numbers = [value for value in model.parameters() if value.is_floating_point()]
    types = {value.dtype for value in numbers}

    def fit(value: Tensor) -> Tensor:
        if not numbers:
            return value
        fits = value.is_floating_point() and len(types) == 1
        fits = fits and not (targets and numbers[0].dtype.itemsize < value.dtype.itemsize)
        return value.to(numbers[0].device, *types if fits else ())

    return mapped(fit, dict(x) if isinstance(x, Mapping) else x)


#: What holds no tensors of a batch.
_PLAIN = str, bytes, int, float, complex, type(None)
_WHOLE = nn.Module, type, ModuleType, FunctionType, torch.dtype, torch.device, *_PLAIN


def tensors_of(value: Any, seen: set[int] | None = None) -> Iterator[Tensor]:
    """All tensors of nested lists, tuples, mappings and objects with attributes."""
    seen = set() if seen is None else seen
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, _WHOLE) or id(value) in seen:
        return
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from tensors_of(each, seen)
    elif isinstance(value, (list, tuple, set)):
        for each in value:
            yield from tensors_of(each, seen)
    else:
        seen.add(id(value))
        slots = [name for kind in type(value).__mro__ for name in _listed(getattr(kind, "__slots__", ()))]
        yield from tensors_of([getattr(value, name, None) for name in slots], seen)
        yield from tensors_of(list(getattr(value, "__dict__", {}).values()), seen)


def outputs_of(value: Any) -> list[Tensor]:
    """All tensors of outputs but those of caches, which the next call reads."""
    if isinstance(value, Mapping):
        return [one for each in value.values() for one in outputs_of(each)]
    if isinstance(value, (list, tuple)):
        return [one for each in value for one in outputs_of(each)]
    return [] if type(value).__name__.endswith("Cache") else list(tensors_of(value))


def _listed(names: Any) -> Iterable[str]:
    return (names,) if isinstance(names, str) else names


def mapped(f: Callable[[Tensor], Any], value: Any) -> Any:
    """A function of all tensors of nested lists, tuples, mappings and objects, in their place; arrays too."""
    if isinstance(value, np.ma.MaskedArray) and value.mask.any():
        raise TypeError("an array has masked entries; allowed: arrays without, as of x.filled(0)")
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        value = torch.from_numpy(value.copy())
    if isinstance(value, Tensor):
        return f(value)
    if isinstance(value, Mapping):
        made = copy.copy(value) if isinstance(value, MutableMapping) else dict(value)
        for key in value:
            made[key] = mapped(f, value[key])
        return made
    if isinstance(value, (list, tuple)):
        parts = [mapped(f, each) for each in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, _WHOLE):
        return value
    made = {id(one): f(one) for one in tensors_of(value)}
    again = copy.deepcopy(value, made) if made else value  # of an object, a copy that holds the results
    if isinstance(again, torch.distributions.Distribution) and again.batch_shape:  # which knows its number of examples
        return again.expand(torch.Size([*next(iter(made.values())).shape[:1], *again.batch_shape[1:]]))
    return again
