"""The weights that a module computes with, and copies that have them for their own.

Hooks and parametrisations compute weights from other tensors: the masks of a pruned network, a spectral or weight norm.
All methods here take the effective weights, those of the function. A copy is refused where it would run weights of the
original: in a closure over its layers, for instance.
"""

from __future__ import annotations

import copy
import dis
import gc
import itertools
import math
import sys
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from traceback import walk_stack
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize, prune, remove_spectral_norm, remove_weight_norm
from torch.nn.utils.spectral_norm import SpectralNorm
from torch.nn.utils.weight_norm import WeightNorm
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lmc_helpers._wrappers import bare

# ---------- weights that are computed

_HOOKS: dict[type, Any] = {  # of torch, which compute a weight before each call → what makes it a plain one
    prune.BasePruningMethod: lambda module, hook: prune.remove(module, hook._tensor_name),
    SpectralNorm: lambda module, hook: remove_spectral_norm(module, hook.name),
    WeightNorm: lambda module, hook: remove_weight_norm(module, hook.name),
}


def _computed(model: nn.Module, every: bool = False) -> tuple[list[tuple], list[tuple[str, str]]]:
    """The weights that hooks compute, with the hook and what removes it, and those that parametrisations compute."""
    modules = list(model.named_modules())
    hooks = [(name, hook) for name, one in modules for hook in one._forward_pre_hooks.values()]
    known = [(name, hook, remove) for name, hook in hooks for kind, remove in _HOOKS.items() if isinstance(hook, kind)]
    return known, [
        (n, tensor) for n, one in modules for tensor in _parametrised(one) if every or not _fixed(one, tensor)
    ]


def plain(model: nn.Module, every: bool = False) -> nn.Module:
    """A module without wrappers; a copy that holds its effective weights, if hooks or parametrisations compute them.

    A parametrisation that holds a fixed part in the weight's shape belongs to the architecture, and stays unless all
    are asked for.
    """
    model = bare(model)
    hooks, parametrised = _computed(model, every)
    if not hooks and not parametrised:
        return model
    made = duplicate(model).eval()
    with torch.no_grad():
        for name, hook, remove in hooks:
            remove(made.get_submodule(name), hook)
        for name, tensor in parametrised:
            one: Any = made.get_submodule(name)
            kind = {key: value for key, value in vars(type(one)).items() if key not in ("__dict__", "__weakref__")}
            one.__class__ = type(type(one).__name__, type(one).__bases__, kind)  # what is removed is an attribute of it
            value, buffer = getattr(one, tensor).detach().clone(), not [*one.parametrizations[tensor].parameters()]
            parametrize.remove_parametrizations(one, tensor)
            delattr(one, tensor)
            one.register_buffer(tensor, value) if buffer else one.register_parameter(tensor, nn.Parameter(value))
    return made


def _parametrised(module: Any) -> list[str]:
    return list(module.parametrizations) if parametrize.is_parametrized(module) else []


def _fixed(module: Any, tensor: str) -> bool:
    """True if they hold a fixed part in a weight's shape, and, unless of this package, not a mask alone."""
    parts, shape = module.parametrizations[tensor], getattr(module, tensor).shape
    for part in parts:
        home, own = type(part).__module__, [value for value in part.buffers() if value.shape == shape]
        mask = all(bool(((value == 0) | (value == 1)).all()) for value in own)
        if own and home != "torch.nn.utils.parametrizations" and (home.startswith("lmc_helpers.") or not mask):
            return True
    return False


def alike(a: nn.Module, b: nn.Module) -> tuple[nn.Module, nn.Module]:
    """Both, with plain weights unless halfway between parametrised ones is halfway between their originals."""
    others: dict[str, Any] = dict(b.named_modules())
    for name, one in [*a.named_modules()]:
        two: Any = others.get(name)
        for tensor in _parametrised(one):
            same = two is not None and tensor in _parametrised(two)
            if same:
                ends = [of.parametrizations[tensor] for of in (one, two)]
                half, slots = copy.deepcopy(ends[0]), [list(end.parameters()) for end in ends]
                with torch.no_grad():
                    for slot, u, v in zip(half.parameters(), *slots, strict=True):
                        slot.copy_((u + v.to(u)) / 2)
                    values = [end() for end in (half, *ends)]
                    mean = (values[1] + values[2].to(values[1])) / 2
                    bound = torch.finfo(mean.dtype).eps ** 0.5 * mean.abs().max()
                    same = bool(((values[0] - mean).abs() <= bound).all())
            if not same:
                return plain(a, every=True), plain(b, every=True)
    return a, b


# ---------- copies that run the weights of the original


def duplicate(model: nn.Module) -> nn.Module:
    """A copy, or an error if it holds on to a module or tensor of the original's."""
    kept = [one for one in reached(model) if isinstance(one, Tensor) and not one.is_leaf]  # computed in a call
    try:
        made = copy.deepcopy(model, {id(value): value.detach().clone() for value in kept})
    except RuntimeError as error:
        raise TypeError(f"{type(model).__name__} is not copied: {error}; allowed: what copy.deepcopy copies") from error
    modules = [(name, one) for name, one in model.named_modules() if any(True for _ in tree_leaves(one.state_dict()))]
    own = {id(one): name for name, one in [*modules, *model.named_parameters(), *model.named_buffers()]}
    for one in reached(made):
        if id(one) in own:
            raise SecondRoad(own[id(one)])
    return made


class SecondRoad(ValueError):
    """A part of a module that its copies share."""

    def __init__(self, name: str):
        super().__init__(
            f"{name or 'the module'!r} is also reached through a closure, a global name or another object that a copy "
            "shares, so that a copy does not run its own weights; allowed: modules that reach their layers through "
            "their attributes"
        )


def reached(root: Any) -> Iterator[Any]:
    """All objects that an object holds on to: attributes, items, closures, defaults, and names that code refers to."""
    seen: dict[int, Any] = {}
    left = [root]
    while left:
        one = left.pop()
        if id(one) in seen or isinstance(one, (ModuleType, str, bytes, int, float, CodeType)) or _foreign(one):
            continue
        seen[id(one)] = one
        yield one
        if isinstance(one, FunctionType):
            left += [one.__defaults__, one.__kwdefaults__, *gc.get_referents(*one.__closure__ or ())]
            left += [one.__globals__[name] for name in _names(one.__code__) if name in one.__globals__]
        elif isinstance(one, type):
            left += vars(one).values()
        elif isinstance(one, weakref.ref):
            left += [one()] if not isinstance(one(), Tensor) else []  # a recurrent layer's own
        elif not isinstance(one, Tensor):
            left += gc.get_referents(one)
            left += [kind for kind in type(one).__mro__ if isinstance(one, nn.Module)]


def _foreign(one: Any) -> bool:
    """True for classes other than of a caller's modules, and for functions and objects of libraries."""
    home = getattr(one if isinstance(one, (type, FunctionType)) else type(one), "__module__", None) or ""
    library = home.partition(".")[0] in ("torch", "logging", "threading", "numpy")
    if isinstance(one, type):
        return library or not issubclass(one, nn.Module)
    return library and not isinstance(one, (nn.Module, Tensor))


@cache
def _names(code: CodeType) -> frozenset[str]:
    """The global names in a piece of code and those inside it."""
    found = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return frozenset(found.union(*(_names(one) for one in code.co_consts if isinstance(one, CodeType))))


def unsaved(model: nn.Module) -> set[str]:
    """The buffers that are not in the state_dict of a module."""
    modules = model.named_modules()
    return {f"{home}.{name}".removeprefix(".") for home, one in modules for name in one._non_persistent_buffers_set}


def remembered(model: nn.Module) -> Callable[[], None]:
    """A function that takes away what a module keeps from calls from now on: attributes, buffers, items of these."""
    kept = [one for module in model.modules() for one in [vars(module), *vars(module).values()]]
    kept = [one for one in kept if type(one) in (dict, list)]
    then = [copy.copy(one) for one in kept]

    def back() -> None:
        for now, before in zip(kept, then, strict=True):
            now.clear()
            now.update(before) if isinstance(now, dict) else now.extend(before)

    return back


class Reads(TorchDispatchMode):
    """Tells which of some tensors are read in a pass."""

    def __init__(self, tensors: Mapping[str, Tensor]):
        super().__init__()
        self.names = {memory(value): name for name, value in tensors.items() if value.numel()}
        self.read: set[str] = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.read |= {self.names[key] for key in map(memory, _tensors((args, kwargs))) if key in self.names}
        return func(*args, **(kwargs or {}))


Other = tuple[float | None, float]  # c and by, as in Call


@cache
def _compared(code: CodeType) -> tuple[set[float], set[str]]:
    """The numbers and the names on the lines of a piece of code that compare something."""
    steps = [(one, one.positions and one.positions.lineno) for one in dis.get_instructions(code)]
    lines = {line for one, line in steps if one.opname == "COMPARE_OP"}
    here = [one.argval for one, line in steps if line in lines and one.opname.startswith("LOAD_")]
    return {value for value in here if type(value) in (int, float)}, {value for value in here if type(value) is str}


def _is_torch(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__", "").partition(".")[0] == "torch"


def _others(n: float, frames: Iterable[FrameType]) -> set[Other]:
    """Other values of a number: smaller and larger ones, and those about numbers that the caller's code compares."""
    found: set[Other] = {(None, -1), (None, 1), (None, 16)}
    if isinstance(n, float):
        found |= {(math.nan, 0), (math.inf, 0), (-math.inf, 0)}
    for frame in itertools.islice((one for one in frames if not _is_torch(one)), 3):
        numbers, names = _compared(frame.f_code)
        held = {**frame.f_globals, **frame.f_locals}
        for _ in range(2):  # attributes, and theirs
            held |= {k: v for name in names for k, v in getattr(held.get(name), "__dict__", {}).items() if k in names}
        numbers = numbers | {held[name] for name in names if type(held.get(name)) in (int, float)}
        for c in sorted(numbers)[:MOST]:
            if isinstance(n, float):
                found |= {(c, by) for by in (-1e-3, 0, 1e-3)}
            elif abs(c) <= LARGEST * (1 + abs(n)):  # it may be a length
                found |= {(c + by, 0) for by in (-1, 0, 1)}
    return found


MOST = 8  # numbers of a piece of code
LARGEST = 100


class Call(TorchDispatchMode):
    """A call of a module, the operations that it is made of, and their numbers.

    Some numbers that the module reads may be others in it, c + (1 + |c|) · by for c, by default the number itself;
    bools, and what a search for entries takes, are their opposite; distinct entries are one, or all.
    """

    def __init__(
        self, x: Any, inputs: Sequence[Tensor], names: Mapping[tuple, str], which: Collection[int], other: Other
    ):
        super().__init__()
        self.x, self.inputs, self.names, self.which, self.other = x, inputs, names, which, other
        self.broken = False  # whether the module does not run to its end with these numbers

    def __enter__(self):
        self.read: set[str] = set()  # of the names
        #: operation, numbers, shapes of the first tensor that it takes and of results
        self.steps: list[tuple[Any, dict[str, Any], tuple[int, ...], list[torch.Size]]] = []
        self.path = self.count = 0  # of operations and what they read; of numbers that the module has read
        #: place in the code that reads numbers which depend on inputs → which these are, and others that may count
        self.sites: dict[int, tuple[list[int], set[Other]]] = {}
        self.known = set(map(_home, self.inputs))  # memory of what depends on inputs
        super().__enter__()
        return self.x

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        tensors, kwargs = _tensors((args, kwargs)), kwargs or {}
        read = {self.names[key] for key in map(memory, tensors) if key in self.names}
        self.read |= read
        self.path = hash((self.path, func, *sorted(read)))
        depends = torch.Tag.nondeterministic_seeded in func.tags or not self.known.isdisjoint(map(_home, tensors))
        name = func.overloadpacket.__name__
        searches = name in SEARCHES and (name != "index" or any(one.dtype == torch.bool for one in tensors[1:]))
        if searches and self.count in self.which:
            args = SEARCHES[name](args, int(self.other[1]))
        out = func(*args, **kwargs)
        made = _tensors(out)
        (self.known.update if depends else self.known.difference_update)(map(_home, made))
        keys = (argument.name for argument in func._schema.arguments)
        numbers = {key: _number(one) for key, one in [*zip(keys, args, strict=False), *kwargs.items()]}
        if name.startswith("lift_fresh"):  # made of Python's numbers
            numbers["data"] = repr(made[0].tolist())
        self.steps.append((func, numbers, tensors[0].shape if tensors else (), [one.shape for one in made]))
        if searches or isinstance(out, (bool, int, float)):
            if depends:
                frames = [frame for frame, _ in walk_stack(sys._getframe(1))]
                site = hash(tuple((frame.f_code, frame.f_lineno) for frame in frames))
                which, others = self.sites.setdefault(site, ([], set()))
                which.append(self.count)
                simple = {(None, 0.0), (None, float("unique" in name))}
                others |= simple if searches or isinstance(out, bool) else _others(out, frames)
            self.count += 1
            if self.count - 1 in self.which and not searches:
                c, by = self.other
                c = out if c is None else c
                return not out if isinstance(out, bool) else type(out)(c + (1 + abs(c)) * by if by else c)
        return out

    def varied(self, others: Iterable[Call]) -> dict[int, list[set[int]]]:
        """The operations whose numbers are others in other calls, and the axes of results that have other lengths.

        There are none of these if the axes that an operation goes along are others. Not those of axes in another shape
        that have the lengths of others before.
        """
        found: dict[int, list[set[int]]] = {}
        for other in others:
            if [one.shape for one in self.inputs] != [one.shape for one in other.inputs]:
                continue
            for k, (one, two) in enumerate(zip(self.steps, other.steps, strict=False)):
                (func, u, own, made), (name, v, its, also) = one, two
                if func is not name:
                    break
                differ = {key for key in {**u, **v} if u.get(key) != v.get(key)} - HARMLESS
                ratios = {1.0, *(m / n for m, n in zip(own, its, strict=False) if n)}
                if "view" in str(func) and all(n and m / n in ratios for m, n in zip(made[0], also[0], strict=False)):
                    continue
                if any(not isinstance(u.get(key), float) for key in differ):
                    pairs = zip(made, also, strict=False)
                    lengths = [{d for d, n in enumerate(a) if len(a) != len(b) or n != b[d]} for a, b in pairs]
                    along = any(key.startswith("dim") for key in differ)
                    known = found.setdefault(k, lengths)
                    found[k] = [] if along else [a | b for a, b in zip(known, lengths, strict=False)]
        return found


class Leaving(TorchFunctionMode):
    """Tells how numbers leave torch in a call: by what methods those that depend on inputs, and whether shapes do."""

    def __init__(self, call: Call):
        super().__init__()
        self.call, self.by = call, set[str]()
        self.lengths: dict[tuple, set[float]] = {}  # code of a caller's that reads shapes → numbers to compare with

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        if name in ("numpy", "tolist", "__array__") and _home(args[0]) in self.call.known:
            self.by.add(name)
        if name in ("size", "__len__", "numel") or getattr(func, "__self__", None) is Tensor.shape:
            methods = ("torch._tensor", "torch.overrides")
            every = (frame for frame, _ in walk_stack(sys._getframe(1)) if frame.f_globals["__name__"] not in methods)
            frames = [*itertools.islice(every, 3)]
            if not _is_torch(frames[0]) and (site := tuple(frame.f_code for frame in frames)) not in self.lengths:
                self.lengths[site] = {c for c, _ in _others(0, frames) if c is not None}
        return func(*args, **(kwargs or {}))


#: A search, the number of whose finds a module may read → arguments by which it finds other ones.
SEARCHES: dict[str, Callable[[tuple, int], tuple]] = {
    "nonzero": lambda args, k: (args[0] == 0,),
    "masked_select": lambda args, k: (args[0], ~args[1]),
    "index": lambda args, k: (args[0], [one if one is None or one.dtype != torch.bool else ~one for one in args[1]]),
    **dict.fromkeys(
        ("_unique2", "unique_dim", "unique_consecutive"),
        lambda args, k: (torch.arange(args[0].numel()).view(args[0].shape).to(args[0]) * k, *args[1:]),
    ),
}
HARMLESS = {"alpha", "beta", "fill_value", "k", "value"}  # numbers on which no axis depends


def _tensors(value: Any) -> list[Tensor]:
    """The tensors in arguments or results of an operation."""
    if isinstance(value, Tensor):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [one for part in parts for one in _tensors(part)]


def _number(value: Any) -> Any:
    """An argument of an operation, without tensors."""
    if isinstance(value, (list, tuple)):
        return [*map(_number, value)]
    return None if isinstance(value, (Tensor, torch.ScriptObject)) else value


def _home(tensor: Tensor) -> int:
    """Key of the memory that a tensor is a part of."""
    return (tensor.layout is torch.strided and tensor.untyped_storage().data_ptr()) or id(tensor)


def memory(tensor: Tensor) -> tuple:
    """Key of a tensor's memory: equal for two views of the same numbers."""
    if tensor.layout is not torch.strided or not tensor.numel():
        return (id(tensor),)
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
