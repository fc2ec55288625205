"""Tables of bad arguments: a row holds a valid call of a public function or method, and what each argument is.

Bad calls follow mechanically from what each argument is, one wrong argument at a time; each must end in one sentence
that says what is allowed.
"""

import importlib
import inspect
import math
import pkgutil
import re
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch

from lmc_helpers import claims


@dataclass
class Tensor:
    """Numbers with ``axes`` axes; ``batch``: more in front are allowed; ``free``: axes that may have any length."""

    value: torch.Tensor
    batch: bool = True
    free: tuple[int, ...] = ()
    few: bool = True  # whether one axis fewer is an error
    empty: bool = True  # whether no numbers are an error
    numbers: bool = True  # whether it must be finite floating-point numbers
    number: bool = False  # whether a number will do
    kinds: bool = True  # whether it must be floating point
    holes: bool = True  # False where NaN and infinity are not looked for, as in inner loops
    counted: bool = False  # whether torch's meta is right, on which operations are counted

    def bad(self):
        x = self.value
        if self.numbers and self.holes:
            yield from ((str(hole), _with(x, hole)) for hole in (math.nan, math.inf, -math.inf))
        if self.numbers and self.kinds:
            yield "integers", torch.ones_like(x, dtype=torch.long)
            yield "bools", torch.ones_like(x, dtype=torch.bool)
            yield "complex", x + 0j
        for axis in range(x.ndim):
            if self.empty:
                yield f"axis {axis} empty", x.narrow(axis, 0, 0)
            if axis - x.ndim not in self.free:
                yield f"axis {axis} longer", torch.cat([x, x.narrow(axis, 0, 1)], dim=axis)
        if self.few:
            yield "an axis too few", x[0]
        if not self.batch:
            yield "an axis too many", x[None]
        if not self.counted:
            yield "no device", x.to("meta")
        yield from (("a string", "W"), ("nothing", None), ("NumPy", x.numpy()))
        if not self.number:
            yield "a number", 1.0


@dataclass
class Tensors:
    """A list of tensors of which each is bad in turn."""

    values: list[torch.Tensor]

    def __post_init__(self):
        self.value = self.values

    def bad(self):
        for k, one in enumerate(self.values):
            for label, wrong in Tensor(one).bad():
                yield f"{k}: {label}", [*self.values[:k], wrong, *self.values[k + 1 :]]
        yield from (("no tensors", []), ("a string", "W"), ("nothing", None), ("a number", 1.0))


@dataclass
class Array:
    """What NumPy takes for an array of numbers."""

    value: list
    free: tuple[int, ...] = ()
    few: bool = True
    holes: bool = True  # False where NaN stands for what is missing

    def bad(self):
        x = np.asarray(self.value, dtype=float)
        if self.holes:
            yield from ((str(hole), _with(torch.tensor(x), hole).numpy()) for hole in (math.nan, math.inf))
        for axis in range(x.ndim):
            yield f"axis {axis} empty", x.take([], axis=axis)
            if axis - x.ndim not in self.free:
                yield f"axis {axis} longer", np.concatenate([x, x.take([0], axis=axis)], axis=axis)
        if self.few:
            yield "an axis too few", x[0]
        yield from (("complex", x + 1j), ("strings", x.astype(str)), ("a string", "W"), ("nothing", None))


@dataclass
class Integer:
    value: int
    least: int | None = None
    most: int | None = None

    def bad(self):
        if self.least is not None:
            yield "too small", self.least - 1
            yield "negative", -7
        if self.most is not None:
            yield "too large", self.most + 1
        yield from (("a fraction", self.value + 0.5), ("nan", math.nan), ("a float", float(self.value)))
        yield from (("a string", str(self.value)), ("nothing", None), ("a bool", True), ("a list", [self.value]))


@dataclass
class Number:
    value: float
    least: float | None = None
    most: float | None = None

    def bad(self):
        if self.least is not None:
            yield "too small", self.least - 0.5
        if self.most is not None:
            yield "too large", self.most + 0.5
        yield from (("nan", math.nan), ("inf", math.inf), ("a string", "1"), ("nothing", None), ("complex", 1j))


@dataclass
class Choice:
    value: object

    def bad(self):
        yield from (("unknown", "nonsense"), ("empty", ""), ("a number", 7), ("nothing", None))


@dataclass
class Flag:
    value: bool = True

    def bad(self):
        yield from (("a string", "no"), ("a number", 3), ("nothing", None))


@dataclass
class Text:
    value: str

    def bad(self):
        yield from (("empty", ""), ("a number", 7), ("nothing", None))


@dataclass
class Function:
    value: object

    def bad(self):
        yield from (("a string", "loss"), ("nothing", None), ("a number", 1.0))


@dataclass
class Permutation:
    value: torch.Tensor
    sized: bool = True  # whether its length is given
    repeats: bool = False  # whether units may stand twice

    def bad(self):
        p = self.value
        yield from (("floats", p.double()),)
        if not self.repeats:
            yield "repeated", p.clamp(max=1)
        if self.sized:
            yield "too long", torch.arange(len(p) + 1)
        yield from (("negative", p - 1), ("empty", p[:0]), ("no axis", p[0]), ("ints of 32 bits", p.int()))
        yield from (("a string", "p"), ("nothing", None), ("a list", p.tolist()))


@dataclass
class Named:
    """A dict of tensors, or a list of some number of them, of which each is bad in turn; ``options`` are of Tensor."""

    value: dict | list | tuple
    options: dict = field(default_factory=dict)
    length: bool = True  # whether one more is an error
    free: tuple = ()  # for each tensor the axes that may have any length

    def bad(self):
        named = self.value if isinstance(self.value, dict) else dict(enumerate(self.value))
        free = self.free or [()] * len(named)
        for (key, one), axes in zip(named.items(), free, strict=True):
            for label, wrong in Tensor(one, free=axes, **self.options).bad():
                yield f"{key}: {label}", self._like(named | {key: wrong})
        yield "no tensors", self._like({})
        if self.length:
            yield "one too many", self._like(named | {len(named): torch.ones(2, 2).double()})
        yield from (("a string", "W"), ("nothing", None), ("a number", 1.0))

    def _like(self, named):
        return named if isinstance(self.value, dict) else type(self.value)(named.values())


@dataclass
class Labels:
    """Classes of examples, 0 to classes − 1."""

    value: torch.Tensor
    classes: int
    batch: bool = False

    def bad(self):
        y = self.value
        yield from (("floats", y.double()), ("bools", y > 0), ("negative", y - 1 - y.min()))
        yield from (("too large", y + self.classes), ("longer", torch.cat([y, y])), ("empty", y[..., :0]))
        yield from (("no axis", y.flatten()[0]), ("a string", "y"), ("nothing", None), ("NumPy", y.numpy()))
        if not self.batch:
            yield "too many axes", y[None, None]


@dataclass
class Many:
    """A sequence of numbers or words, each bad in turn, as ``item`` says of the first."""

    value: list | tuple
    item: object
    empty: bool = True  # whether none is an error

    def bad(self):
        for label, wrong in self.item.bad():
            yield f"first: {label}", type(self.value)([wrong, *self.value[1:]])
        if self.empty:
            yield "empty", self.value[:0]
        yield from (("one number", 1), ("a string", "ab"), ("nothing", None))


@dataclass
class Given:
    """An argument that other tests look at."""

    value: object

    def bad(self):
        return ()


@dataclass
class Other:
    """Bad values by hand."""

    value: object
    wrong: dict = field(default_factory=dict)

    def bad(self):
        yield from self.wrong.items()


@dataclass
class Row:
    function: object
    arguments: dict
    call: object = None  # if names are not enough

    def run(self, **changed):
        values = {name: argument.value for name, argument in self.arguments.items()} | changed
        return (self.call or self.function)(**values)


def _with(x: torch.Tensor, hole: float) -> torch.Tensor:
    out = x.clone(memory_format=torch.contiguous_format)
    out.view(-1)[-1] = hole
    return out


def normal(*shape, seed=1):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def public(room):
    """All public functions of a room whose door lists none: (file, name)."""
    package = importlib.import_module(f"lmc_helpers.{room}")
    found = set()
    for module in pkgutil.iter_modules(package.__path__):
        file = importlib.import_module(f"lmc_helpers.{room}.{module.name}")
        own = [
            name
            for name, value in vars(file).items()
            if inspect.isfunction(value) and value.__module__ == file.__name__
        ]
        found |= {(module.name, name) for name in own if not name.startswith("_")}
    return found


def without_a_row(room, table, others):
    """Public functions of a room that have neither a row nor a reason."""
    known = {(row.function.__module__.rpartition(".")[2], row.function.__name__) for row in table}
    known |= {(file, name) for file, names in others.items() for name in names}
    assert known <= public(room)
    return public(room) - known


def methods(room):
    """All public methods with arguments of a room's public classes: (file, class.method)."""
    found = set()
    package = importlib.import_module(f"lmc_helpers.{room}")
    for module in pkgutil.iter_modules(package.__path__):
        file = importlib.import_module(f"lmc_helpers.{room}.{module.name}")
        own = [value for value in vars(file).values() if inspect.isclass(value) and value.__module__ == file.__name__]
        for kind in own:
            for name, value in vars(kind).items():
                function = getattr(value, "__func__", value)  # of a classmethod
                if inspect.isfunction(function) and len(inspect.signature(function).parameters) > 1:
                    found.add((module.name, f"{kind.__name__}.{name}"))
    return {(file, name) for file, name in found if not re.search(r"^_|\._", name)}


def methods_without_a_row(room, table, others):
    """Public methods of a room that have neither a row nor a reason; rows of a class are of its constructor."""
    known = {
        (row.function.__module__.rpartition(".")[2], row.function.__qualname__)
        for row in table
        if not inspect.isclass(row.function)
    }
    known |= {(file, name) for file, names in others.items() for name in names}
    assert known <= methods(room)
    return methods(room) - known


def rows(table):
    """The rows as parameters of a test."""
    return pytest.mark.parametrize("row", table, ids=lambda row: row.function.__qualname__)


def runs(row):
    """The valid call runs, and says what every argument is."""
    if row.call is None:
        assert set(inspect.signature(row.function).parameters) == set(row.arguments)
    row.run()


def refused(row):
    """Each bad call of a row ends in one sentence."""
    wrong = [
        f"{name}, {label}: {fault}"
        for name, argument in row.arguments.items()
        for label, value in argument.bad()
        if (fault := _fault(row, name, value))
    ]
    assert not wrong, "\n".join(wrong)


def _fault(row, name, value):
    """What is wrong with the outcome of a bad call, or nothing."""
    try:
        row.run(**{name: value})
    except (ValueError, TypeError, claims.LedgerError) as error:
        said = str(error)
        good = re.search(r"\b(allowed|known)\b", said) and "\n" not in said and len(said) < 400
        return None if good else f"{type(error).__name__}: {said}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "it ran"
