"""The line between two modules: the tensors that have a halfway, by kind, and a check that nothing else counts."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from lmc_helpers.modules._data import run
from lmc_helpers.modules._module import called, copied, fitting, outputs_of, tensors, tensors_of, untouched
from lmc_helpers.modules._plain import Reads, SecondRoad, reached, unsaved
from lmc_helpers.modules._precision import Types
from lmc_helpers.networks.permutations import change

Values = dict[str, Tensor]
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")
_OWN = set(vars(nn.Module()))  # attributes of every module


def norms(model: nn.Module) -> dict[str, nn.Module]:
    """The batch and instance norms with running statistics, by their names."""
    kind = nn.modules.batchnorm._NormBase
    return {n: one for n, one in model.named_modules() if isinstance(one, kind) and one.running_mean is not None}


class Ends:
    """Two modules and their values on a line: those of names that are in both and have a halfway.

    A buffer that only one of them has, that has another shape, or that is not in the state of the module, is taken for
    one that a call makes: a place on the line has that of a. A mask has no halfway.
    """

    def __init__(self, a: nn.Module, b: nn.Module, called: bool = True):
        self.modules, self.u, self.v = (a, b), tensors(a), tensors(b)
        self.own: list[str] = []  # buffers that are those of a
        self.like_weights: list[str] = []
        self.equal = 0
        made = unsaved(a)
        known = {f"{name}.{kind}".removeprefix(".") for name in norms(a) for kind in STATISTICS}
        for name in dict.fromkeys(name for end in (a, b) for name, _ in end.named_buffers()):
            u, v = self.u.get(name), self.v.get(name)
            alike = u is not None and v is not None and u.shape == v.shape
            if u is not None and v is not None and alike and torch.equal(u, v.to(u)):
                self.equal += name not in known
            elif u is None or v is None or not alike or name in made:
                if not called:
                    shapes = ["missing" if one is None else tuple(one.shape) for one in (u, v)]
                    raise ValueError(
                        f"{name!r}, {shapes[0]} in a and {shapes[1]} in b, may be made in calls; allowed: equal "
                        "buffers, but for those of one shape in the state_dict"
                    )
                self.own.append(name)
            elif name in known:
                continue
            elif u.numel() > 1 and all(_is_mask(one) for one in (u, v)):
                raise ValueError(
                    f"the buffer {name!r}, a mask or integers, differs between a and b and has no halfway; allowed: "
                    "equal ones, or masks multiplied into the weights, as torch.nn.utils.prune does"
                )
            else:
                (self.like_weights if u.is_floating_point() or u.is_complex() else self.own).append(name)
        if not called:
            self._check_attributes()
        for name in self.own:
            self.u.pop(name, None), self.v.pop(name, None)

    def _check_attributes(self) -> None:
        """Raise if classes, attributes or what else a state holds differ between the modules."""
        one, two = (dict(end.named_modules()) for end in self.modules)
        state = {id(value) for end in self.modules for value in [*end.parameters(), *end.buffers()]}
        for home in one | two:
            kinds = [type(end[home]).__qualname__ if home in end else "nothing" for end in (one, two)]
            if kinds[0] != kinds[1]:
                raise ValueError(
                    f"{home or 'the module'!r} is {kinds[0]} in a and {kinds[1]} in b; allowed: equal ones"
                )
            for name in (name for name in vars(one[home]) if name not in _OWN):
                u, v = ([t for t in _said(vars(end[home]).get(name)) if id(t) not in state] for end in (one, two))
                if len(u) != len(v) or not all(map(_equal, u, v)):
                    where = f"{home}.{name}".removeprefix(".")
                    raise ValueError(
                        f"the attribute {where!r} differs between a and b, or is missing in b, and is not a parameter "
                        "or buffer; allowed: equal ones, or modules without it"
                    )
        others = self.modules[1].state_dict()
        for name, u in self.modules[0].state_dict().items():  # of quantised layers, for example
            if name not in self.u and not all(map(_equal, tree_leaves(u), tree_leaves(others.get(name)))):
                raise ValueError(f"{name!r}, of the state, differs between a and b; allowed: equal ones")
        hidden = []
        for end in self.modules:
            own = {id(value) for value in end.parameters()}
            hidden.append([one for one in reached(end) if isinstance(one, nn.Parameter) and id(one) not in own])
        if len(hidden[0]) != len(hidden[1]) or not all(map(_equal, *hidden)):
            raise ValueError(
                "a and b hold parameters that are not registered; allowed: nn.ModuleList, nn.ParameterList"
            )

    def words(self, statistics: str, inside: int = 0) -> str:
        """The treatment of each kind of buffer, in words."""
        kinds = [isinstance(one, nn.modules.batchnorm._BatchNorm) for one in norms(self.modules[0]).values()]
        counts = {"batch": sum(kinds), "instance": len(kinds) - sum(kinds)}
        named = " and ".join(f"{n} {kind} norms" for kind, n in counts.items() if n)
        where = {"interpolated": "interpolated like weights", "recomputed": "recomputed on the data at each place"}
        told = [f"running statistics of {named} {where[statistics]}" if kinds else "no running statistics"]
        told += [f"{_listed(self.like_weights)} interpolated like weights"] if self.like_weights else []
        told += [f"{_listed(self.own)} as in a, or made in the call"] if self.own else []
        told += [f"{inside} weights computed by hooks or parametrisations taken as they come out"] if inside else []
        return "; ".join(told + ([f"{self.equal} equal buffers kept"] if self.equal else []))

    def check(self, x: Any, seeds: int = 0) -> None:
        """Raise unless both are functions of their inputs, which a copy of a with the values of either computes."""
        for which, end, values in (("a", self.modules[0], self.u), ("b", self.modules[1], self.v)):
            work, reference = copied(self.modules[0]), copied(end)
            for name, slot in [*work.named_parameters(), *work.named_buffers()]:
                if name in values:
                    slot.data.copy_(values[name])
            reads = Reads(dict(work.named_parameters()))
            expected, again = (_outputs(reference, x, seed) for seed in (0, 0 if seeds else 1))
            bound = _rounding(expected)
            if not change(again, expected) <= bound:
                more = "" if seeds else ", or seeds=10, say, in line, to average over the numbers that torch draws"
                raise ValueError(
                    f"{which} gives other outputs at every call on the same inputs; allowed: functions of inputs{more}"
                )
            with reads:
                found = _outputs(work, x, 0)
            if not change(found, expected) <= bound:
                suspects = f", such as {_listed(self.own)}" if self.own else ""
                raise ValueError(
                    f"a copy of a with the weights of {which} gives other outputs than {which}: something else than "
                    f"parameters and saved buffers differs{suspects}; allowed: modules that these determine"
                )
            for name in self.like_weights:
                self._check_cache(name, reads.read)

    def _check_cache(self, name: str, read: set[str]) -> None:
        """Raise if a buffer may have been made of a parameter beside it, which is not read now."""
        home = name.rpartition(".")[0]
        unread = [
            other
            for other, u in self.modules[0].named_parameters()
            if other not in read
            and other.startswith(f"{home}." if home else "")
            and not torch.equal(u, self.v[other].to(u))
        ]
        if unread:
            raise ValueError(
                f"{unread[0]!r} is not read while the buffer {name!r} is, which may be made of it; allowed: modules "
                "whose parameters are read, without copies of them in buffers"
            )


def check_same(b: nn.Module, made: nn.Module, x: Any, chosen: Callable | None = None) -> None:
    """Raise unless a module with its units in another order gives the outputs of the one that it was made of."""
    with Types(replace=False) as types:
        expected, found = (_outputs(copied(end), x, 0, chosen or (lambda out: out)) for end in (b, made))
    changed = change(found, expected)
    if not changed <= _rounding(expected, types.seen):
        raise ValueError(
            f"b gives other outputs when its units are permuted, by {changed:.1e} of the largest: its groups are not "
            "those of a on these inputs; allowed: modules of one architecture, and its groups"
        )


def leads_to_ensemble(a: nn.Module, b: nn.Module, middle: nn.Module, x: Any) -> bool:
    """True if the outputs of a module are the means of those of two."""
    with Types(replace=False) as types:
        found, u, v = ([one for one in _outputs(net, x, 0) if one.is_floating_point()] for net in (middle, a, b))
    expected = [(one + two) / 2 for one, two in zip(u, v, strict=True)]
    return change(found, expected) <= _rounding(expected, types.seen)


def check_followed(model: nn.Module, x: Any) -> None:
    """Raise if a module reads its parameters past values that stand in for them in a call."""
    values = {name: value.clone() for name, value in tensors(model).items()}
    reads = Reads(dict(model.named_parameters()))
    with untouched(), reads:
        called(model, x, values)
    if reads.read:
        raise SecondRoad(min(reads.read))


def _outputs(model: nn.Module, x: Any, seed: int, chosen: Callable = lambda out: out) -> list[Tensor]:
    with untouched(seed=seed):
        return [one.clone() for one in outputs_of(chosen(run(model, fitting(model, x))))]


def _rounding(outputs: list[Tensor], inside: float = 0.0) -> float:
    """A change that rounding makes in the types of outputs, and in one of a precision ``inside`` of the call."""
    types = [one.dtype for one in outputs if one.is_floating_point() or one.is_complex()]
    return max(0.0, inside, *(torch.finfo(kind).eps for kind in types)) ** 0.5


def _equal(u: Any, v: Any) -> bool:
    if isinstance(u, Tensor) and isinstance(v, Tensor):
        return u.shape == v.shape and (u.is_meta or torch.equal(u, v.to(u)))
    return type(u) is type(v) and u == v


def _said(u: Any) -> list[Any]:
    """What an attribute says: tensors, numbers, words and functions, one after the other."""
    if isinstance(u, partial):
        u = [u.func, *u.args, *u.keywords.items()]
    if isinstance(u, (list, tuple)):
        return [one for each in u for one in _said(each)]
    if isinstance(u, (Tensor, Mapping)):
        return list(tensors_of(u))
    u = u.tolist() if isinstance(u, np.ndarray) else u
    return [
        u if isinstance(u, (bool, int, float, str, list)) else getattr(u, "__code__", getattr(u, "__qualname__", 0))
    ]


def _is_mask(value: Tensor) -> bool:
    return not (value.is_floating_point() or value.is_complex()) or bool(((value == 0) | (value == 1)).all())


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(map(repr, names[:3])) + more


def between(u: Tensor, v: Tensor, lam: float) -> Tensor:
    """λ u + (1 − λ) v in the type of u, exactly u at 1 and v at 0; u itself if these are integers or equal."""
    if lam == 1 or not (u.is_floating_point() or u.is_complex()) or torch.equal(u, v):
        return u
    return v if lam == 0 else torch.lerp(v, u, lam)


def placed(slots: Mapping[str, Tensor], u: Mapping[str, Tensor], v: Mapping[str, Tensor], lam: float) -> None:
    """Set tensors to their values at a place λ of the line from v to u."""
    for name, slot in slots.items():
        if name in u and name in v:
            slot.copy_(between(u[name], v[name].to(u[name]), lam))
