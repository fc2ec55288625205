"""Types of arguments in signatures, and the decorator that checks them.

Shapes are written in signatures as in jaxtyping: in ``W: Float[Tensor, "*batch m d"], p: Int64[Tensor, "*batch m"]``
the axes of one name have one length. Numbers have a range: ``m: Positive``. A function that is :func:`checked` refuses
other arguments in one sentence: a ``TypeError`` for types, dtypes and shapes, a ``ValueError`` for numbers out of range
and unknown words. Axes with a name are not empty, but for a batch B, and all floating-point tensors of one call have
one dtype and device, unless a hint is ``Shaped``, ``Real`` or ``Reals``.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import math
import types
from collections.abc import Callable
from numbers import Integral, Real
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import jaxtyping
import numpy as np
import torch
from beartype import beartype
from beartype.door import is_bearable
from beartype.roar import BeartypeCallHintViolation
from beartype.vale import Is
from jaxtyping import AbstractArray, jaxtyped

F = TypeVar("F", bound=Callable)

RETURNS = False  # whether what functions return is checked, too; the tests set it
DTYPES = {
    "Float": "floating point",
    "Full": "torch.float32 or torch.float64",
    "Real": "real numbers",
    "Bool": "torch.bool",
    "Int64": "torch.int64",
    "Float64": "torch.float64",
}
MIXED = (jaxtyping.Shaped, jaxtyping.Real, jaxtyping.Int64, jaxtyping.Bool)  # tensors of these may differ in dtype
INTEGER, REAL = "an integer, ", "a finite number, "  # prefixes that errors on ranges omit
_WORDS: dict[object, str] = {}  # hint → its description
_ITEMS: dict[object, Any] = {}  # hint of a collection → hint of its items


def _ranged(kind: Any, words: str, condition: Callable[[Any], bool]) -> Any:
    """A hint for values of a kind, except bools, that satisfy a condition."""
    hint = Annotated[kind, Is[_named(words, lambda x: not isinstance(x, (bool, np.bool_)) and condition(x))]]
    _WORDS[hint] = words
    return hint


def _named(words: str, holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A test with a name: beartype reads and parses the source of an unnamed one, which takes tenths of a second."""
    holds.__name__ = holds.__qualname__ = words
    return holds


def _real(value: object) -> bool:
    """True if torch or NumPy can convert a value to real numbers."""
    if isinstance(value, torch.Tensor):
        return not (value.is_complex() or value.is_meta)
    try:
        return np.asarray(value).dtype.kind in "fiub"
    except (TypeError, ValueError, RuntimeError):
        return False


def many(item: Any, words: str, kinds: type | tuple[type, ...] = (list, tuple)) -> Any:
    """A hint for a list or a tuple of ``item``, or a dict; axes of one name have one length in all items."""
    hint = Annotated[object, Is[_named(words, lambda values: isinstance(values, kinds) and _all_fit(values, item))]]
    _WORDS[hint], _ITEMS[hint] = words, item
    return hint


def _all_fit(values: Any, item: Any) -> bool:
    return all(is_bearable(each, item) for each in (values.values() if isinstance(values, dict) else values))


if TYPE_CHECKING:
    Integer = int
    Integers = collections.abc.Sequence[int]
    Natural = int
    Positive = int
    Number = float
    NonNegative = float
    PositiveNumber = float
    Probability = float
    Reals = Any
    Seed = int
    Sizes = tuple[int, ...]
    Shape = tuple[int, ...]
    Tensors = dict[str, torch.Tensor]
    from jaxtyping import Float as Full
else:
    Integer = _ranged(Integral, "an integer", lambda x: True)
    Integers = many(Integer, "a list of integers", (list, tuple, range))
    Natural = _ranged(Integral, INTEGER + "{0} >= 0", lambda x: x >= 0)
    Positive = _ranged(Integral, INTEGER + "{0} >= 1", lambda x: x >= 1)
    Number = _ranged(Real, "a finite number", lambda x: math.isfinite(x))
    NonNegative = _ranged(Real, REAL + "{0} >= 0", lambda x: 0 <= x < math.inf)
    PositiveNumber = _ranged(Real, REAL + "{0} > 0", lambda x: 0 < x < math.inf)
    Probability = _ranged(Real, "0 <= {0} <= 1", lambda x: 0 <= x <= 1)
    Reals = Annotated[object, Is[_real]]  # a number, a list of lists, an array, a tensor
    _WORDS[Reals] = "real numbers"
    Seed = _ranged(Integral, INTEGER + "0 <= {0} < 2**32", lambda x: 0 <= x < 2**32)
    Sizes = _ranged(tuple, "a tuple of integers >= 1", lambda x: all(type(n) is int and n >= 1 for n in x))
    Shape = _ranged(tuple, "a tuple of integers >= 0", lambda x: all(type(n) is int and n >= 0 for n in x))
    Tensors = many(torch.Tensor, "tensors by their names", dict)

    class Full(jaxtyping.AbstractDtype):
        """Floating-point numbers that linear algebra takes."""

        dtypes = ("float32", "float64")


def checked(function: F) -> F:
    """Check the arguments of a function against its signature; ``__wrapped__`` is the function without checks.

    Of a dataclass, the fields are checked when it is made.

    Examples
    --------
    >>> @checked
    ... def root(x: NonNegative):
    ...     return x**0.5
    >>> root(-1)
    Traceback (most recent call last):
        ...
    ValueError: x = -1; allowed: x >= 0
    >>> root("4")
    Traceback (most recent call last):
        ...
    TypeError: x = '4'; allowed: a finite number, x >= 0
    """
    if isinstance(function, type):
        function.__init__ = checked(function.__init__)  # type: ignore[misc]
        return function
    signature = inspect.signature(function)
    bare = types.FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    bare.__kwdefaults__, bare.__qualname__, bare.__module__ = (
        function.__kwdefaults__,
        function.__qualname__,
        function.__module__,
    )
    bare.__annotations__ = {
        name: hint
        for name, hint in function.__annotations__.items()
        if name != "return" or (RETURNS and "[Tensor" in str(hint))
    }
    guarded = functools.cache(lambda: beartype(bare))  # made at the first call: it takes 5 ms

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, torch.Tensor)]
        kinds = {(x.dtype, x.device) for x in tensors if x.is_floating_point()}
        odd = any(not _is_dense(x) for x in _tensors((*args, *kwargs.values())))
        if len(kinds) > 1 or odd or not all(x.numel() for x in tensors):
            _check_dtypes_and_sizes(function, signature.bind(*args, **kwargs).arguments)
        try:
            with jaxtyped("context"):  # type: ignore[call-overload]
                return guarded()(*args, **kwargs)
        except BeartypeCallHintViolation:
            error = _refusal(function, signature.bind(*args, **kwargs))
            if error is None:  # raised by a function that this one calls, or about the returned value
                raise
        raise error

    call.__checked__ = True  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]


def returned(what: str, value: Any, shape: tuple[int, ...]) -> torch.Tensor:
    """Return the result of a caller's function, or raise unless it is a real tensor of this shape."""
    if isinstance(value, torch.Tensor) and value.is_floating_point() and value.shape == shape:
        return value
    error = ValueError if isinstance(value, torch.Tensor) else TypeError
    raise error(f"{what} returns {short(value)}; allowed: real numbers of shape {tuple(shape)}")


def require_finite(**tensors: torch.Tensor) -> None:
    """Raise unless all numbers are finite, for functions that would give a wrong answer instead of NaN."""
    for name, x in tensors.items():
        if x.numel() and not torch.isfinite(torch.stack(x.detach().aminmax())).all():
            index = tuple((~torch.isfinite(x)).nonzero()[0].tolist())
            raise ValueError(f"{name}{list(index) if index else ''} = {x[index].item()}; allowed: finite numbers")


def short(value: object) -> str:
    """A short description of a value."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}, {value.dtype}"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {value.shape}, {value.dtype}"
    if isinstance(value, torch.nn.Module):
        return f"a module, {type(value).__name__}"
    if isinstance(value, (list, tuple)) and any(isinstance(item, (torch.Tensor, np.ndarray)) for item in value):
        shapes = ", ".join(str(tuple(getattr(item, "shape", ()))) for item in value[:4])
        return f"a {type(value).__name__} of {len(value)}, shapes {shapes}{', …' if len(value) > 4 else ''}"
    if type(value).__module__ != "builtins" and len(repr(value)) > 60:
        return f"{type(value).__name__}(...)"
    shown = " ".join(repr(value).split())
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def _tensors(values: collections.abc.Iterable) -> collections.abc.Iterator[torch.Tensor]:
    """The tensors among some values, those in lists, tuples and dicts too."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif type(value) in (list, tuple):
            yield from _tensors(value)
        elif type(value) is dict:
            yield from _tensors(value.values())


def _is_dense(x: torch.Tensor) -> bool:
    """True if a tensor has all its numbers in memory."""
    return x.layout == torch.strided and not x.is_meta


@functools.cache
def _hints(function: Any) -> dict[str, Any]:
    return get_type_hints(function, include_extras=True)


def _is_array(hint: object) -> bool:
    return isinstance(hint, type) and issubclass(hint, AbstractArray)


def _is_many(word: str) -> bool:
    """True if a word of a hint matches any number of axes."""
    return word.startswith(("*", "#*", "..."))


def _axes(hint: Any, shape: tuple[int, ...]) -> dict[str, Any]:
    """Name of an axis → its length, or lengths, in a shape that fits the hint."""
    words = hint.dim_str.split()
    many = next((k for k, word in enumerate(words) if _is_many(word)), None)
    if many is None:
        return dict(zip(words, shape, strict=False))
    behind = len(words) - many - 1
    middle = shape[many : len(shape) - behind]
    return (
        dict(zip(words[:many], shape, strict=False))
        | {words[many]: middle}
        | dict(zip(words[many + 1 :], shape[len(shape) - behind :], strict=False))
    )


def _written(hint: Any) -> str:
    """The axes of a hint as a docstring writes them."""
    words = ["..." if _is_many(word) else word for word in hint.dim_str.split()]
    return f"({words[0]},)" if len(words) == 1 and words != ["..."] else f"({', '.join(words)})"


def _allowed(hint: Any, name: str) -> str:
    if hint in _WORDS:
        return _WORDS[hint].format(name)
    if _is_array(hint):
        kind = DTYPES.get(hint.dtype.__name__, hint.dtype.__name__)
        return f"a torch.Tensor {_written(hint)} of {kind}"
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(_allowed(each, name) for each in get_args(hint))
    if origin is Literal:
        return ", ".join(map(repr, get_args(hint)))
    if origin is collections.abc.Mapping:
        return "a mapping"
    if origin is tuple:
        return "a tuple: " + " and ".join(_allowed(each, name) for each in get_args(hint))
    if origin is collections.abc.Callable or hint is collections.abc.Callable:
        return "a function"
    if origin is Annotated:
        return _allowed(get_args(hint)[0], name)
    if hint is type(None):
        return "None"
    if isinstance(hint, type) and origin is None:
        return f"{'' if hint.__module__ == 'builtins' else hint.__module__.partition('.')[0] + '.'}{hint.__name__}"
    return str(hint)


def _is_domain(hint: Any, value: object) -> bool:
    """True if a refused value has the right type and only its range is wrong."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_is_domain(each, value) for each in get_args(hint))
    if origin is Literal:
        return any(type(value) is type(word) for word in get_args(hint))
    if origin is Annotated and get_args(hint)[0] in (Integral, Real):
        return isinstance(value, get_args(hint)[0]) and not isinstance(value, (bool, np.bool_))
    return False


def _refusal(function: Callable, bound: inspect.BoundArguments) -> Exception | None:
    """The error for the first argument that does not fit its hint; None if all fit."""
    hints = _hints(function)
    earlier: dict[str, tuple[torch.Tensor, Any]] = {}
    with jaxtyped("context"):  # type: ignore[call-overload]
        for name, value in bound.arguments.items():
            if name not in hints:
                continue
            several = bound.signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
            for each in value if several else (value,):
                if not is_bearable(each, hints[name]):
                    return _first_of(name, each, hints[name], earlier)
            if isinstance(value, torch.Tensor) and _is_array(hints[name]):
                earlier[name] = (value, hints[name])
    return None


def _first_of(name: str, value: Any, hint: Any, earlier: dict[str, tuple[torch.Tensor, Any]]) -> Exception:
    if hint not in _ITEMS or not isinstance(value, (list, tuple, dict)):
        return _sentence(name, value, hint, earlier)
    item = _ITEMS[hint]
    with jaxtyped("context"):  # type: ignore[call-overload]
        for tensor, its_hint in earlier.values():
            is_bearable(tensor, its_hint)
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            path = f"{name}[{key!r}]"
            if not is_bearable(each, item):
                return _sentence(path, each, item, earlier)
            if _is_array(item):
                earlier = earlier | {path: (each, item)}
    return _sentence(name, value, hint, earlier)


def _sentence(name: str, value: Any, hint: Any, earlier: dict[str, tuple[torch.Tensor, Any]]) -> Exception:
    if not (_is_array(hint) and isinstance(value, torch.Tensor)):
        allowed = _allowed(hint, name)
        if _is_domain(hint, value):
            return ValueError(f"{name} = {short(value)}; allowed: {allowed.removeprefix(INTEGER).removeprefix(REAL)}")
        return TypeError(f"{name} = {short(value)}; allowed: {allowed}")
    with jaxtyped("context"):  # type: ignore[call-overload]
        fits = is_bearable(value, hint)
    shape = tuple(value.shape)
    if fits:
        axes = _axes(hint, shape)
        for other, (tensor, other_hint) in earlier.items():
            other_axes = _axes(other_hint, tuple(tensor.shape))
            differ = [axis for axis in axes if axis in other_axes and axes[axis] != other_axes[axis]]
            if differ:
                axis = differ[0]
                return TypeError(
                    f"{name} has shape {shape} and {other} {tuple(tensor.shape)}; allowed: {name} {_written(hint)} and "
                    f"{other} {_written(other_hint)} with one {axis.lstrip('*')}"
                )
    return TypeError(f"{name} has shape {shape} and dtype {value.dtype}; allowed: {_allowed(hint, name)}")


def _may_differ(hint: Any) -> bool:
    """True if an argument may differ in dtype from the others."""
    return hint == Reals or any(getattr(part, "dtype", None) in MIXED for part in (hint, *get_args(hint)))


def _check_dtypes_and_sizes(function: Callable, arguments: dict[str, Any]) -> None:
    hints = _hints(function)
    for name, value in arguments.items():
        for x in _tensors([value]):
            if not _is_dense(x):
                raise TypeError(f"{name} is or holds a tensor that is {x.layout} on {x.device}; allowed: dense tensors")
    tensors = {name: x for name, x in arguments.items() if isinstance(x, torch.Tensor)}
    floating = [(name, x) for name, x in tensors.items() if x.is_floating_point() and not _may_differ(hints.get(name))]
    for name, x in floating[1:]:
        first, reference = floating[0]
        if (x.dtype, x.device) != (reference.dtype, reference.device):
            both = f"{x.dtype} on {x.device} and {first} {reference.dtype} on {reference.device}"
            raise TypeError(f"{name} is {both}; allowed: the same")
    for name, x in tensors.items():
        hint = hints.get(name)
        named = _axes(hint, tuple(x.shape)) if _is_array(hint) else {}
        if any(
            length == 0 for axis, length in named.items() if axis != "B" and not axis.startswith(("*", "#*", "..."))
        ):
            raise ValueError(f"{name} has shape {tuple(x.shape)}; allowed: {_written(hint)}, no axis empty")
