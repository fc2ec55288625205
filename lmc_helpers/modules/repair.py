"""REPAIR (Jordan, Sedghi, Saukh, Entezari & Neyshabur 2023) for any module.

The units of λ a + (1 − λ) b vary less over the data than those of a and b, and ever less from layer to layer. Every
unit z of the merged module gets the interpolated mean and deviation of its two ends, before the activation,

    E[z'] = λ E[z_a] + (1 − λ) E[z_b],      std[z'] = λ std[z_a] + (1 − λ) std[z_b],

by an affine map of each unit, z' = s z + t, which is absorbed by the parameters that make the unit: the weight and bias
of a linear map or a convolution, or the gain and shift of a norm. Layers are set in the order in which they run, each
with the earlier ones already right, hence at the end all means and deviations hold together. Pixels and steps count as
samples.

:func:`repair_stacks` is the same for stacks of this book's own architectures.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Literal, overload

import torch
from torch import Tensor, nn

from lmc_helpers._typing import Probability, checked
from lmc_helpers.alignment.activation_matching import CONSTANT
from lmc_helpers.modules._data import batches, check_apart, kept, run
from lmc_helpers.modules._ends import Ends, between
from lmc_helpers.modules._layers import PRODUCTS, storage
from lmc_helpers.modules._module import (
    check_pair,
    check_unscripted,
    copied,
    fitting,
    step_by_step,
    tensors_of,
    untouched,
)
from lmc_helpers.modules._plain import Reads, _home
from lmc_helpers.modules.line import halfway
from lmc_helpers.networks.model import Stack
from lmc_helpers.networks.permutations import change
from lmc_helpers.progress import progress

__all__ = ["Repaired", "repair", "repair_stacks"]

_CONVOLUTIONS = nn.modules.conv._ConvNd
_NORMS = (nn.modules.batchnorm._NormBase, nn.GroupNorm, nn.LayerNorm)
_MAKERS = (nn.Linear, _CONVOLUTIONS, *_NORMS, nn.RMSNorm)
_SLOPES = (nn.PReLU,)  # parameters that make no units
_OWN = (nn.MultiheadAttention, nn.Bilinear, nn.RNNBase)  # weights that no such module applies


@dataclass
class _Moments:
    """Streaming means and sums of squared deviations of units, float64."""

    n: int = 0
    mean: Tensor | float = 0.0
    square: Tensor | float = 0.0

    def add(self, z: Tensor) -> None:
        """One more batch (samples, m), merged as in Chan, Golub & LeVeque (1983)."""
        z = z.double()
        k, centre = len(z), z.mean(dim=0)
        spread = (z - centre).square().sum(dim=0)
        self.square = self.square + spread + self.n * k / (self.n + k) * (centre - self.mean).square()
        self.mean = self.mean + (centre - self.mean) * (k / (self.n + k))
        self.n += k

    def found(self) -> tuple[Tensor, Tensor]:
        """Means and standard deviations (m,)."""
        return torch.as_tensor(self.mean), (torch.as_tensor(self.square) / self.n).sqrt()


_Statistics = tuple[Tensor, Tensor]  # means and deviations


def _correction(ends: Iterable[_Statistics], shares: Sequence[float], merged: _Statistics) -> tuple[Tensor, ...]:
    """s and t of z' = s z + t, deviations relative to their targets, and which units are constant."""
    mean, std = merged
    weighted = (sum(w * one.to(mean) for w, one in zip(shares, of, strict=True)) for of in zip(*ends, strict=True))
    goal, goal_std = map(torch.as_tensor, weighted)
    dead = std <= CONSTANT * (std.square() + mean.square()).sqrt()
    s = torch.where(dead, 1, goal_std / torch.where(dead, 1, std))
    return s, goal - s * mean, std / goal_std, dead  # no number for a unit that is constant in all three


@dataclass(frozen=True, eq=False)
class Repaired:
    """Result of REPAIR."""

    #: module → (m,): deviation of each unit before its own module was set, with the earlier ones already right,
    #: relative to what it was set to; below 1 is the collapse that REPAIR undoes
    ratios: dict[str, Tensor]
    dead: dict[str, Tensor]  # module → (m,), bool: units that were constant, whose deviation could not be set
    left: dict[str, str]  # module → why its units stay as they were merged


@overload
def repair(a: nn.Module, b: nn.Module, data: Any, lam: float = 0.5, details: Literal[False] = False) -> nn.Module: ...
@overload
def repair(
    a: nn.Module, b: nn.Module, data: Any, lam: float = 0.5, *, details: Literal[True]
) -> tuple[nn.Module, Repaired]: ...
@checked
def repair(
    a: nn.Module, b: nn.Module, data: Any, lam: Probability = 0.5, details: bool = False
) -> nn.Module | tuple[nn.Module, Repaired]:
    """Merge two modules to λ a + (1 − λ) b and set means and deviations of their hidden units right.

    Linear maps, convolutions and norms that run as modules are corrected, in evaluation mode; if a norm follows one of
    the others directly, only the norm is. Modules that make outputs, with at most functions such as a softmax behind
    them, stay as merged: heads beside the one whose units are returned are named in a warning. So is any module that
    stays since it has no bias to shift units by, shares its parameters with another module or a function, runs several
    times or not in all modules, is applied by something else, such as the projections of ``nn.MultiheadAttention``, or
    has parameters and is of another class, or of one whose units do not follow them.

    Parameters
    ----------
    a, b
        modules of one architecture; b is matched already.
    data
        a pair (x, y) or batches of such pairs, passed over once for each layer; the targets are not used.
    details
        whether to return what was done, :class:`Repaired`, beside the module.

    Examples
    --------
    >>> import torch
    >>> a, b = (nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3)).double() for _ in range(2))
    >>> x = torch.randn(50, 2, dtype=torch.float64)
    >>> merged = repair(a, b, (x, x))
    >>> first = [net[0](x).std(dim=0) for net in (a, b, merged)]
    >>> bool(torch.allclose(first[2], (first[0] + first[1]) / 2))
    True
    """
    a, b = check_pair(a, b)
    check_unscripted(a)
    data = kept(data)
    with untouched():
        ends = Ends(a, b)
        ends.check(next(batches(a, data, 8))[0], seeds=1)
        check_apart(copied(a), data)
    merged = halfway(ends, lam)
    done = _set_right(merged, (copied(a), copied(b)), (lam, 1 - lam), data)
    return (merged, done) if details else merged


def _set_right(merged: nn.Module, ends: Sequence[nn.Module], shares: Sequence[float], data: Any) -> Repaired:
    """Set means and deviations of a merged module's units to the weighted means of those of copies of the ends."""
    ratios, dead = {}, {}
    with untouched(), step_by_step():
        layers, left = _layers(merged, data)
        found = [_statistics(end, layers, data) for end in ends]
        if layers and not any(found):
            raise ValueError(f"fewer than 2 samples of the units of {layers[0]!r}; allowed: at least 2")
        for name in progress(layers, "layer"):
            each = [*found, _statistics(merged, [name], data)]  # an early exit, an expert may not run in all of them
            if not all(name in one for one in each):
                left[name] = "runs on fewer than two samples in one of the modules"
                continue
            *of, now = (one[name] for one in each)
            s, shift, ratios[name], dead[name] = _correction(of, shares, now)
            _rescale(merged.get_submodule(name), s, shift)
    if left:
        told = "; ".join(f"{name or 'the module'} {why}" for name, why in left.items())
        warnings.warn(f"units that stay as merged: {told}", stacklevel=6)
    return Repaired(ratios, dead, left)


@checked
def repair_stacks(a: Stack, b: Stack, data: Any, lam: Probability = 0.5) -> tuple[Stack, Repaired]:
    """Merge P pairs of networks, one by one, as :func:`repair`; the report is (P, m) for each module.

    Examples
    --------
    >>> from lmc_helpers.networks.mlp import MLP
    >>> nets, x = MLP((2, 8, 3)).initial([1, 2, 3, 4]), torch.eye(2)
    >>> merged, done = repair_stacks(nets.ordinary([0, 2]), nets.ordinary([1, 3]), (x, x))
    >>> len(merged), done.ratios["0._map"].shape
    (2, torch.Size([2, 8]))
    """
    if a.model != b.model or len(a) != len(b):
        raise ValueError(f"{len(a)} networks {a.model} and {len(b)} {b.model}; allowed: P pairs of one architecture")
    one, two, data = a.effective(), b.effective(), kept(data)
    nets = Stack(a.model, {name: between(one[name], two[name], lam) for name in one}).modules()
    ends = zip(a.modules(), b.modules(), strict=True)
    done = [_set_right(net, pair, (lam, 1 - lam), data) for net, pair in zip(nets, ends, strict=True)]
    ratios, dead = (
        {k: torch.stack([of[k] for of in each]) for k in each[0]}
        for each in zip(*((one.ratios, one.dead) for one in done), strict=True)
    )
    return Stack.from_modules(a.model, nets), Repaired(ratios, dead, done[0].left)


def _channel(module: nn.Module, z: Tensor) -> int:
    """The axis of the units in a module's output."""
    if isinstance(module, _CONVOLUTIONS):
        return z.ndim - 1 - len(module.kernel_size)
    return 1 if isinstance(module, _NORMS[:2]) else z.ndim - 1


def _units(module: nn.Module, z: Tensor) -> Tensor:
    """The units that a module makes, (samples, m)."""
    if isinstance(module, nn.LayerNorm):
        return z.reshape(-1, module.weight.numel())
    return z.movedim(_channel(module, z), -1).flatten(0, -2)


def _rescale(module: Any, s: Tensor, t: Tensor) -> None:
    """Let a module make s z + t instead of z, (m,)."""
    weight, bias = module.weight, module.bias
    if isinstance(module, _CONVOLUTIONS) and module.transposed:  # (inputs, m / groups, …), inputs by their groups
        split = weight.double().unflatten(0, (module.groups, -1))
        scaled = (split * s.view(module.groups, 1, -1, *[1] * (weight.ndim - 2))).flatten(0, 1)
    elif isinstance(module, nn.LayerNorm):
        s, t = s.view_as(bias), t.view_as(bias)
        scaled = weight.double() * s
    else:
        scaled = weight.double() * s.view(-1, *[1] * (weight.ndim - 1))
    weight.copy_(scaled)
    bias.copy_(s * bias.double() + t)


def _follows(module: Any, inputs: tuple, z: Tensor) -> bool:
    """True if a layer of a caller's class makes s z + t where its weight and bias are changed for that."""
    units, kept = _units(module, z), (module.weight.clone(), module.bias.clone())
    s = torch.linspace(0.5, 1.5, units.shape[1]).to(units)
    _rescale(module, s, s)
    found = _units(module, type(module).forward(module, *inputs))
    module.weight.copy_(kept[0]), module.bias.copy_(kept[1])
    return change([found], [s * units + s]) <= torch.finfo(z.dtype).eps ** 0.5


def _statistics(model: nn.Module, layers: Iterable[str], data: Any) -> dict[str, _Statistics]:
    """Module → means and deviations (m,) of its units over the data."""
    modules = {name: model.get_submodule(name) for name in layers}
    moments = {name: _Moments() for name in modules}

    def watch(name: str) -> Callable:
        return lambda module, _, z: moments[name].add(_units(module, z))

    with ExitStack() as hooks:
        for name, module in modules.items():
            hooks.enter_context(module.register_forward_hook(watch(name)))
        for x, _ in batches(model, data):
            run(model, fitting(model, x))
    found = {name: one.found() for name, one in moments.items() if one.n > 1}
    for name, (mean, std) in found.items():
        if not (mean.isfinite() & std.isfinite()).all():
            raise ValueError(f"the units of {name!r} are not all finite; allowed: finite activations")
    return found


class _From(Reads):
    """Also tells from what modules tensors come, with no other layer on the way: None for matrices without a module."""

    def __init__(self, tensors: Mapping[str, Tensor]):
        super().__init__(tensors)
        self.of: dict[int, set[Any]] = {_home(one): {None} for one in tensors.values() if one.ndim > 1}  # of memory
        self.into: set[Any] = set()  # what other layers take

    def makers(self, value: Any) -> set[Any]:
        """The modules of all tensors in a value, but those that a transform has wrapped."""
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor
        return set().union(*(self.of.get(_home(one), ()) for one in tensors_of(value) if not wrapped(one)))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out, found = super().__torch_dispatch__(func, types, args, kwargs), self.makers((args, kwargs))
        if None in found and func.overloadpacket.__name__ in (*PRODUCTS, "convolution"):
            self.into |= found
            found = {None}
        self.of |= {_home(one): found for one in tensors_of(out)}
        return out


def _layers(model: nn.Module, data: Any) -> tuple[list[str], dict[str, str]]:
    """The modules whose units can be set, in the order in which they run, and the reasons why others cannot."""
    names = {module: name for name, module in model.named_modules()}
    makers = [module for module in names if isinstance(module, _MAKERS)]
    unknown = [
        module
        for module in names
        if any(value is not None for value in module._parameters.values())
        and not isinstance(module, (*_MAKERS, *_OWN, *_SLOPES))
    ]
    order: list[nn.Module] = []
    made: dict[int, tuple[nn.Module, Tensor, int]] = {}  # storage → what was made there, kept alive, and its version
    before_norm: set[nn.Module] = set()
    reads, active, elsewhere = _From(dict(model.named_parameters())), [""], set[str]()
    odd: dict[nn.Module, tuple] = {}  # of a caller's class → inputs and output

    def reading() -> None:
        elsewhere.update(name for name in reads.read if name.rpartition(".")[0] != active[-1])
        reads.read = set()

    def enter(module: nn.Module, inputs: tuple) -> None:
        reading()
        active.append(names[module])
        whole = isinstance(module, _NORMS) and module.weight is not None and module.bias is not None
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor
        if whole and inputs and isinstance(inputs[0], Tensor) and not wrapped(inputs[0]) and storage(inputs[0]) in made:
            maker, z, version = made[storage(inputs[0])]
            if z._version == version and not isinstance(maker, _NORMS):
                before_norm.add(maker)

    vectors: set[nn.Module] = set()  # whose outputs are one vector
    inside: set[nn.Module] = set()  # of a transform

    def take(_: Any, args: tuple, kwargs: dict) -> None:
        reads.into |= reads.makers((args, kwargs))

    def leave(module: nn.Module, inputs: tuple, z: Any) -> None:
        reading()
        active.pop()
        if not isinstance(z, Tensor):
            order.append(module)
            odd[module] = (), z
            return leave_own(module, inputs, z)
        if torch._C._functorch.is_functorch_wrapped_tensor(z):
            inside.add(module)
            return
        reads.of[_home(z)] = {module}
        if z.ndim < 2:
            vectors.add(module)
        elif not type(module).forward.__module__.startswith("torch."):
            odd[module] = inputs, z.clone()
        made[storage(z)] = (module, z, z._version)
        order.append(module)

    def leave_own(module: nn.Module, _: Any, z: Any) -> None:
        for one in tensors_of(z):
            reads.of[_home(one)] = {module} | (set() if isinstance(module, _OWN) else reads.makers(one))
            known = made.get(storage(one))
            if known is None or known[2] != one._version:  # not what a layer inside has just made
                made[storage(one)] = (module, one, one._version)

    with ExitStack() as hooks:
        for part in (module for module in names if isinstance(module, (*_MAKERS, *_OWN)) or module in unknown):
            hooks.enter_context(part.register_forward_pre_hook(take, with_kwargs=True))
        for part in (module for module in names if isinstance(module, _OWN) or module in unknown):
            hooks.enter_context(part.register_forward_hook(leave_own))
        for part in makers:
            hooks.enter_context(part.register_forward_pre_hook(enter))
            hooks.enter_context(part.register_forward_hook(leave))
        x, _ = next(batches(model, data))
        with reads:
            outputs = run(model, fitting(model, x))
    last = {made[storage(z)][0] for z in tensors_of(outputs) if storage(z) in made}
    ends = reads.makers(outputs)
    heads = ends - reads.into - {None}
    unsure = last & reads.into | (heads - last if len(heads) > 1 else set())
    last |= heads if ends else set(order[-1:])
    owners = Counter(id(value) for module in names for value in module._parameters.values() if value is not None)
    layers, left = [], {names[module]: "applies its weights itself" for module in names if isinstance(module, _OWN)}
    for module in unknown:
        if names[module] == "":
            left[""] = "has parameters of its own"
        elif module not in last:
            left[names[module]] = f"is a {type(module).__name__}, which is not known to REPAIR"
    left |= {names[module]: "runs inside a transform of torch.func" for module in inside}
    inner = tuple(f"{names[module]}." for module in names if isinstance(module, _OWN))
    reading()
    for module in makers:
        name = names[module]
        alone = (
            module not in inside and not name.startswith(inner) and owners[id(module._parameters.get("weight"))] == 1
        )
        if alone and f"{name}.weight" in elsewhere:
            left[name] = "has a weight that another module reads"
    for module in dict.fromkeys(order):
        if module in unsure and names[module] not in left:
            left[names[module]] = "makes outputs, beside others"
        if module in last or module in before_norm or names[module] in left:
            continue
        own = [module._parameters.get(kind) for kind in ("weight", "bias")]
        if getattr(module, "weight", None) is not None and own[0] is None:
            left[names[module]] = "has a parametrised weight"
        elif own[0] is None or own[1] is None:
            left[names[module]] = "has no bias" if not isinstance(module, _NORMS) else "has no gain and shift"
        elif any(owners[id(value)] > 1 for value in own):
            left[names[module]] = "shares its parameters"
        elif module in vectors:
            left[names[module]] = "runs on one vector, without a batch"
        elif module in odd and not (odd[module][0] and _follows(module, *odd[module])):
            left[names[module]] = "makes its units not as its weight and bias do"
        elif order.count(module) > 1:
            left[names[module]] = "runs several times"
        else:
            layers.append(names[module])
    return layers, left
