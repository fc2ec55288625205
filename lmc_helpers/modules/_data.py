"""Batches as people have them: pairs, several inputs, mappings; data in memory are cut, others passed over."""

import inspect
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

from lmc_helpers._wrappers import bare
from lmc_helpers.modules._module import called, copied, fitting, mapped, tensors_of
from lmc_helpers.modules._precision import Types
from lmc_helpers.networks.permutations import change

LABELS = dict.fromkeys(("labels", "label", "targets", "target", "y")).keys()  # names of targets in a mapping
FORMS = "(x, y), (inputs, …, y), or a mapping with labels"
TOGETHER = (
    "the outputs for an example change with the others of its batch; allowed: networks that give each example an "
    "output of its own, or batches [(x, y), …] that are run as they are"
)


def length(x: Any, y: Any = None) -> int:
    """Number of examples of a batch: the first axis of the first tensor of its targets, or else of its inputs."""
    first = next(tensors_of((y, x)), None)
    if first is None or not first.ndim or not len(first):
        raise ValueError("a batch has no examples; allowed: tensors with one or more on the first axis")
    return len(first)


def kept(data: Any) -> Any:
    """Data that can be iterated again: an iterator that gives its batches only once becomes a list."""
    return list(data) if isinstance(data, Iterator) else _Alike(data) if isinstance(data, DataLoader) else data


class _Alike:
    """A loader that begins each pass with the same random numbers, torch's and those of its own."""

    def __init__(self, loader: DataLoader):
        self.loader = loader
        parts = loader, loader.sampler, getattr(loader.batch_sampler, "sampler", None)
        own = [torch.default_generator, *(getattr(part, "generator", None) for part in parts)]
        self.states = [(one, one.get_state()) for one in own if one is not None]

    def __len__(self) -> int:
        return len(self.loader)

    def __iter__(self) -> Iterator[Any]:
        for generator, state in self.states:
            generator.set_state(state)
        yield from self.loader


def is_whole(data: Any) -> bool:
    """True if data in memory are one batch, to be cut: a mapping, a pair, or a tuple of inputs and targets."""
    if isinstance(data, Mapping):
        return True
    if not isinstance(data, (tuple, list)) or len(data) < 2:
        return False
    array, last = (Tensor, np.ndarray), data[-1]
    if _is_unclear(data):
        kinds = " and ".join(dict.fromkeys(f"{type(one).__name__}s" for one in data))
        raise TypeError(f"data are {len(data)} {kinds}, inputs and targets or batches; allowed: batches [{FORMS}, …]")
    if len(data) == 2 and (isinstance(last, array) or (isinstance(last, Mapping) and not isinstance(data[0], Mapping))):
        return True
    return isinstance(data, tuple) and (isinstance(data[0], array) or isinstance(last, (*array, Mapping)))


def _is_unclear(data: tuple | list) -> bool:
    """True if data may be inputs and targets as well as batches: two tuples, for instance."""
    if isinstance(data, list):
        kinds = [one.shape[1:] for one in data if isinstance(one, (Tensor, np.ndarray)) and one.ndim > 1]
        return len(data) == len(kinds) == 2 and kinds[0] == kinds[1]
    if all(isinstance(one, Mapping) for one in data):
        return all(one.keys() == data[0].keys() for one in data)
    return len(data) == 2 and all(isinstance(one, (tuple, list)) for one in data)


def part(x: Any, at: int, size: int) -> Any:
    """Some examples of all tensors."""
    return mapped(lambda one: one[at : at + size], x)


def split(model: nn.Module, batch: Any) -> tuple[Any, Any]:
    """Inputs and targets of a batch."""
    if isinstance(batch, Mapping):
        return _named(model, batch)
    if not isinstance(batch, (tuple, list)) or not batch:
        raise TypeError(f"a batch is {type(batch).__name__}; allowed: {FORMS}")
    x, y = (batch[0], None) if len(batch) == 1 else (batch[0] if len(batch) == 2 else tuple(batch[:-1]), batch[-1])
    if isinstance(y, (int, float)) or getattr(y, "ndim", None) == 0:
        raise ValueError(
            "a batch has one number for its targets; allowed: several examples, as of DataLoader(data, 64)"
        )
    return mapped(lambda one: one, x), mapped(lambda one: one, y)


def _named(model: nn.Module, batch: Mapping) -> tuple[Any, Any]:
    """Inputs and targets of a mapping: what forward takes by name, and what is called labels, or all that is left."""
    takes = inspect.signature(bare(model).forward).parameters
    every = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in takes.values())
    found = {key: mapped(lambda one: one, value) for key, value in batch.items()}
    label = next((key for key in LABELS if key in found), None)
    x: Any = {key: value for key, value in found.items() if every or key in takes}
    left = {key: value for key, value in found.items() if key not in x}
    if not x or list(x) == [label]:
        names = [key for key in found if key != label]
        if len(names) != 1 or label is None:
            raise TypeError(
                f"a batch has {', '.join(map(repr, found))}, and forward takes {', '.join(map(repr, takes))}; allowed: "
                f"inputs by the names that forward takes, and labels, or {FORMS}"
            )
        return found[names[0]], found[label]
    return x, found[label] if label is not None else next(iter(left.values())) if len(left) == 1 else left or None


def unlabelled(model: nn.Module, x: Any) -> Any:
    """Inputs by name without labels that forward can do without, for a trace of the network alone."""
    if not isinstance(x, Mapping):
        return x
    takes = inspect.signature(bare(model).forward).parameters
    needed = {key for key, one in takes.items() if one.default is inspect.Parameter.empty} | {"y"}
    return {key: value for key, value in x.items() if key not in LABELS or key in needed}


def batches(model: nn.Module, data: Any, size: int = 256) -> Iterator[tuple[Any, Any]]:
    """Batches (x, y) of data in memory, which are cut into a size, or of an iterable such as a DataLoader.

    The inputs x are a tensor, a tuple or list of arguments, or a dict of keyword arguments.
    """
    if is_whole(data):
        x, y = split(model, data)
        sizes = {len(one) if one.ndim else 0 for one in tensors_of((x, y))}
        if len(sizes) != 1 or 0 in sizes:
            raise ValueError(f"data have {sorted(sizes)} inputs and targets; allowed: equal numbers, one or more")
        for at in range(0, n := sizes.pop(), size):
            yield part(x, at, min(size, n - at)), part(y, at, min(size, n - at))
        return
    if not isinstance(data, Iterable) or isinstance(data, (Tensor, str)):
        raise TypeError(f"data is {type(data).__name__}; allowed: a pair (x, y), or a list of batches, each {FORMS}")
    count = 0
    for batch in data:
        count += 1
        yield split(model, batch)
    if not count:
        raise ValueError("data have no batch, or give them only once; allowed: one or more, list(data)")


def run(model: nn.Module, x: Any) -> Any:
    """Outputs for a batch; errors of torch in one sentence."""
    try:
        return called(model, x)
    except (RuntimeError, TypeError, IndexError, AttributeError, KeyError) as error:
        if "; allowed: " in str(error):
            raise
        kinds = ", ".join(f"{tuple(one.shape)} {one.dtype}".replace("torch.", "") for one in tensors_of(x))
        why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise ValueError(
            f"the module fails on inputs {kinds or type(x).__name__} ({why}); allowed: what its forward takes, in "
            f"batches {FORMS}"
        ) from error


def in_double(model: nn.Module, x: Any) -> tuple[nn.Module, Any]:
    """A copy of a module in double precision, whatever types its code names, and inputs of it."""
    made, given = copied(model), copied(model)
    made._apply(lambda one: one.double() if one.is_floating_point() else _wide(one))
    x = mapped(_wide, fitting(made, x))
    with torch.no_grad():
        watch = Types(replace=False)
        with suppress(ValueError), watch:
            run(made, x)
            if not watch.seen:
                return made, x
        made.reads_double = True  # type: ignore[assignment]
        double, single = (list(tensors_of(run(net, fitting(net, x)))) for net in (made, given))
    bound = (
        max((torch.finfo(one.dtype).eps for one in given.parameters() if one.is_floating_point()), default=1e-7) ** 0.5
    )
    found = change([one.double() for one in single], [one.double() for one in double])
    if not found <= bound:
        raise ValueError(
            f"the outputs change by {found:.1g} of the largest in double precision; allowed: modules that run in it"
        )
    return made, x


def _wide(one: Tensor) -> Tensor:
    return one.to(torch.complex128) if one.is_complex() else one


def is_apart(model: nn.Module, x: Any, size: int) -> bool:
    """True if outputs for the first examples of a batch are its first outputs: examples know nothing of each other."""
    n = length(x)
    if any(one.shape[:1] != (n,) for one in tensors_of(x)):
        return False
    try:
        whole, *ends = ([*tensors_of(called(model, given))] for given in (x, part(x, 0, size), part(x, n - size, size)))
    except (RuntimeError, IndexError, ValueError, TypeError):
        return False
    pairs = [(u, v, at) for end, at in zip(ends, (0, n - size), strict=True) for u, v in zip(whole, end, strict=False)]
    found = [_is_part(u, v, at, size) for u, v, at in pairs if u.shape[:1] == (n,)]  # beside others, of a batch
    return all(len(end) == len(whole) for end in ends) and bool(found) and all(found)


def check_apart(model: nn.Module, data: Any, size: int = 256) -> None:
    """Raise if data in memory are to be cut into parts of a size, in which examples have other outputs."""
    if is_whole(data):
        x, y = next(batches(model, data, 2 * size))
        if (n := length(x, y)) > size and not is_apart(model, fitting(model, x), n // 2):
            raise ValueError(TOGETHER)


def few(model: nn.Module, x: Any, size: int) -> Any:
    """The first examples of a batch where they know nothing of the others, else all."""
    with torch.no_grad():
        return part(x, 0, size) if length(x) > size and is_apart(model, x, size) else x


def _is_part(u: Tensor, v: Tensor, at: int, size: int) -> bool:
    """True if v is a part of u, up to rounding."""
    if v.shape != (size, *u.shape[1:]):
        return False
    if u.is_complex():
        u, v = torch.view_as_real(u), torch.view_as_real(v)
    u, largest = u[at : at + size], u
    if not u.is_floating_point():
        return torch.equal(u, v)
    bound = torch.finfo(u.dtype).eps ** 0.5 * largest.nan_to_num().abs().max()
    return bool(((u - v).nan_to_num().abs() <= bound).all())
